"""The shape of the VM's traces: an optimisation lost is a test failed."""
import os
import subprocess

import pytest

from .traces import loops_of

# The C functions that a row of a scan within a leaf page may call: comparisons of texts.
TEXT_CALLS = {'sqpyte_compare_bytes', 'sqpyte_compare_numeric_texts'}


@pytest.fixture(scope='module')
def command(paths, vm_library):
    return os.path.join(paths.build, 'sqpyte')


@pytest.fixture(scope='module')
def database(command, tmp_path_factory):
    path = tmp_path_factory.mktemp('jit') / 'shape.db'
    subprocess.run([command, str(path), '''
        CREATE TABLE t(a INTEGER, b REAL, c TEXT, d DATE);
        INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000)
            SELECT 1000 + n % 17, n + 0.5, 'some text ' || (1000 + n % 7), '1994-01-01' FROM r;
        '''], check=True)
    return path


def only_loop(command, database, sql, tmp_path):
    output, loops = loops_of(command, database, sql, tmp_path / 'log')
    assert output.strip()
    assert len(loops) == 1
    return loops[0]


QUERIES = [
    'SELECT sum(a) FROM t',
    'SELECT sum(b), count(*) FROM t WHERE a > 1003',
    'SELECT total(a * b + a), max(b) FROM t',
    "SELECT count(*) FROM t WHERE c >= 'some text 1003'",
    "SELECT sum(b) FROM t WHERE d >= '1993-01-01' AND d < '1995-01-01'",
]


@pytest.mark.parametrize('sql', QUERIES)
def test_a_scan(command, database, sql, tmp_path):
    """Registers are unboxed, nothing is allocated, nothing dispatched, no C call but to compare
    texts."""
    loop = only_loop(command, database, sql, tmp_path)
    assert loop.count('new') == 0
    assert loop.count('setfield_gc') == 0 and loop.count('setarrayitem_gc') == 0
    assert loop.count('getfield_gc') == 0 and loop.count('getarrayitem_gc') == 0
    assert set(loop.calls) <= TEXT_CALLS
    assert loop.names[-1] == 'jump'


def test_size_of_the_simplest_scan(command, database, tmp_path):
    """The whole of an iteration: cell, record header, column, sum, Next, interrupt check."""
    loop = only_loop(command, database, 'SELECT sum(a) FROM t', tmp_path)
    assert len(loop.names) < 130
    assert loop.count('guard') < 32
