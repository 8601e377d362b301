"""Functions that roll back the transaction of the query that calls them."""

import os
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.ffi.place import ROOT
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import planned

QUERIES = [
    'SELECT f(a), b FROM t', 'SELECT DISTINCT f(b), c FROM t', 'SELECT a FROM t WHERE f(a) >= 0',
    'SELECT f(t.a) FROM t JOIN t AS u USING(a)', 'SELECT f(a) FROM t ORDER BY -a',
    'SELECT a FROM t WHERE (SELECT f(t.a) FROM t AS u) >= 0']


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('query', QUERIES)
@pytest.mark.parametrize('name', ['C', 'inlined'])
def test_a_function_that_rolls_back(query, name):
    """Not compared: sqlite3 resets the statement that is being stepped, and crashes."""
    with planned(name):
        for at in (1, 2, 30):
            connection = sqpyte.connect(':memory:', isolation_level=None)
            connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
            connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [(a, a, a % 7) for a in range(100)])
            calls = []

            def f(value):
                calls.append(value)
                if len(calls) == at:
                    connection.execute('BEGIN')
                    connection.execute('UPDATE t SET b = -1')
                    connection.rollback()
                return value
            connection.create_function('f', 1, f)
            cursor = connection.cursor()
            found = outcome(lambda: cursor.execute(query).fetchall())
            assert len(found) == 100, found
            assert connection.execute('SELECT sum(b) FROM t').fetchall() == [(4950,)]
            assert cursor.execute('SELECT 1').fetchall() == [(1,)]
            connection.close()


PROGRAM = '''
import sys
import sqpyte
connection = sqpyte.connect(':memory:', isolation_level=None)
connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
connection.executemany('INSERT INTO t VALUES(?, ?, 5)', [(a, a) for a in range(160)])
calls = []

def f(value):
    calls.append(value)
    if len(calls) == 2:
        connection.execute('BEGIN')
        connection.execute('UPDATE t SET b = 1')
        connection.rollback()
    return value
connection.create_function('f', 1, f)
cursor = connection.cursor()
try:
    for row in cursor.execute(sys.argv[1]):
        pass
except sqpyte.InterfaceError:
    print('InterfaceError')
print(connection.execute('SELECT sum(b) FROM t').fetchone())
'''


@pytest.mark.parametrize('query', QUERIES)
@pytest.mark.parametrize('inline', ['0', 'always'])
def test_before_python_3_11(query, inline):
    """Where a rollback has every cursor give up its rows; the statement that is being stepped can't be reset."""
    environment = dict(os.environ, SQPYTE_INLINE=inline, SQPYTE_SEMANTICS='3.9', PYTHONPATH=ROOT)
    done = subprocess.run([sys.executable, '-c', PROGRAM, query], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    assert (done.returncode, done.stdout) == (0, 'InterfaceError\n(12720,)\n')
