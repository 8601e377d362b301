"""What the optimizer of RPython's JIT makes of traces, with our mends of it (sqpyte/vm/base/jit_fixes.py)."""
import os
import random
import subprocess

import pytest

from tests.extent import count, everything
from tools import environments

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'optimizer_check.py')
TRACES = 20000 if everything() else 700


@pytest.fixture(scope='module')
def python27():
    try:
        return environments.find_python27()
    except environments.NoEnvironment as missing:
        pytest.skip(str(missing))


def checked(python27, *arguments):
    """What the check says (CompletedProcess)."""
    environment = dict(os.environ, PYTHONPATH=environments.make_rpython(python27))
    return subprocess.run([python27, CHECK] + [str(argument) for argument in arguments], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def test_random_traces_do_the_same(python27):
    seed = random.randrange(10 ** 6)
    done = checked(python27, seed, TRACES)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    count('traces optimized', TRACES)


def test_the_check_finds_what_rpython_has(python27):
    done = checked(python27, 1, 200, 'plain')
    assert done.returncode == 1 and 'optimized:' in done.stdout, done.stdout


def test_an_impossible_flag_ends_the_trace_only(python27):
    assert checked(python27, 1, 0).returncode == 0
    assert 'AssertionError: uh?' in checked(python27, 1, 0, 'plain').stderr


# Loops that are traced again, and jump to other versions of themselves.
RETRACED = '''
    CREATE TABLE t1(c0, c1);
    CREATE TABLE t2(c0, c1, c2, c3);
    INSERT INTO t1 VALUES(-5, 6), (-4, 32), (-3, 26), (-2, NULL), (-1, 32), (0, -5), (1, 13);
    INSERT INTO t2 WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 400)
        SELECT n, -n, n / 3.0, n FROM r;
    SELECT a.c1 FROM t1 AS a JOIN t2 AS b ON a.c0 = b.c1 WHERE NOT EXISTS (
        WITH RECURSIVE w(c0, c1) AS (VALUES (1, 'a') UNION SELECT c0 * 3 % 31, c1 FROM w)
        SELECT a.c1 - a.c1 FROM w EXCEPT SELECT 'b' FROM w INTERSECT SELECT round(b.c1) FROM w WHERE a.c1 > -1
        ORDER BY 1 COLLATE NOCASE) ORDER BY nullif(b.rowid, b.c3) ASC NULLS LAST;
    '''


def test_loops_that_are_traced_again(paths, vm_library):
    outcomes = []
    for vm in ({'SQPYTE_VM': 'off'}, {'SQPYTE_VM_THRESHOLD': '1', 'SQPYTE_JIT': (
            'threshold=4,trace_eagerness=3,retrace_limit=3,max_unroll_loops=2')}):
        done = subprocess.run([os.path.join(paths.build, 'sqpyte'), ':memory:', RETRACED], env=dict(os.environ, **vm),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        outcomes.append((done.returncode, done.stdout, done.stderr))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == 0 and outcomes[0][1].count(b'\n') == 5
