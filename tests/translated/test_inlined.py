"""The inliner above the VM: what a query that Python has begun leaves to the VM."""
import os
import subprocess
import sys

import pytest

PROGRAM = '''
import sqpyte
connection, calls = sqpyte.connect(':memory:'), []
def function(value):
    calls.append(value)
    if len(calls) == 20:
        raise KeyError('late')
    return value
connection.create_function('f', 1, function)
connection.execute('CREATE TABLE t(a)')
connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(40)])
for query in ('SELECT f(a) FROM t', 'SELECT a, f(a), f(1) FROM t', 'SELECT f(1), f(a) FROM t',
              'SELECT sum(f(a)) FROM t', 'SELECT f(a) FROM t ORDER BY -a', 'SELECT a FROM t WHERE f(a) < 90 AND f(1)'):
    try:
        connection.execute(query).fetchall()
    except sqpyte.OperationalError as error:
        print(error, len(calls), query)
    calls.clear()
'''


@pytest.mark.parametrize('mode', ['off', 'hot', 'always'])
def test_no_function_is_called_behind_one_that_fails(vm_library, tmp_path, mode):
    """The error that it has noted is raised before the VM executes anything."""
    if sys.implementation.name != 'pypy':
        pytest.skip("the inliner is PyPy's")
    environment = dict(os.environ, SQPYTE_LIBRARY=vm_library, SQPYTE_VM=mode, SQPYTE_VM_THRESHOLD='1',
                       SQPYTE_INLINE='always')
    done = subprocess.run([sys.executable, '-c', PROGRAM], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 6, done.stderr
    assert all(line.startswith('user-defined function raised exception 20 ') for line in lines), lines
