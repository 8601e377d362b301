"""What a statement with RETURNING has written in autocommit is committed, whatever becomes of its cursor and rows."""
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.dbapi.statements import result_set
from pypy_module.ffi import place
from tests.outcome import outcome

WRITES = ["INSERT INTO t VALUES('a'), ('b') RETURNING a, typeof(a)",
          "UPDATE t SET a = a || 'x' WHERE a < 9 RETURNING a",
          'DELETE FROM t WHERE a < 3 RETURNING rowid, a', "REPLACE INTO t VALUES('c') RETURNING *",
          "INSERT INTO t VALUES(CAST(x'41ff' AS TEXT)), (1) RETURNING a", "DELETE FROM t WHERE a = 77 RETURNING a"]
CURSOR = [lambda cursor: None, lambda cursor: cursor.fetchone(), lambda cursor: cursor.fetchmany(2),
          lambda cursor: cursor.close()]


def pair(data):
    """A converter."""
    return 'pair', data


def connected(module, path=':memory:', **keywords):
    """A connection in autocommit with a table of five rows."""
    connection = module.connect(path, isolation_level=None, **keywords)
    connection.execute('CREATE TABLE t(a pair)')
    connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(5)])
    return connection


# Before, sqlite3 takes rowcount and the rows otherwise: docs/versions.md.
COMPARED = sys.implementation.name == 'cpython' and sys.version_info >= (3, 11)


def same(action):
    """What an action, a function of a module, gives, which is what it gives with sqlite3. (PyPy's own leaves the rows
    to the garbage collector, too.)"""
    found = action(sqpyte)
    assert not COMPARED or found == action(sqlite3)
    return found


def both_ways(action, monkeypatch):
    """The same, whether the rows are read at once or one by one."""
    found = []
    for at_once in (True, False):
        monkeypatch.setattr(result_set, 'reads_at_once', lambda session, statement: at_once and not statement.readonly)
        found.append(same(action))
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize('use', CURSOR)
@pytest.mark.parametrize('write', WRITES)
def test_what_follows_is_committed(write, use):
    def action(module):
        connection = connected(module)
        outcome(lambda: use(connection.execute(write)) and None)     # of a text that isn't UTF-8
        connection.execute('INSERT INTO t VALUES(7)')
        connection.execute('BEGIN')
        connection.execute('INSERT INTO t VALUES(8)')
        connection.execute('ROLLBACK')
        connection.text_factory = bytes
        return connection.execute('SELECT a FROM t').fetchall()
    rows = same(action)
    assert (7,) in rows and (8,) not in rows


def test_a_process_that_is_killed(path):
    program = '''
import os, signal, sqpyte
connection = sqpyte.connect(%r, isolation_level=None)
connection.execute('CREATE TABLE t(a)')
connection.execute('INSERT INTO t VALUES(0), (1) RETURNING a').fetchone()
for i in range(50):
    connection.execute('INSERT INTO t VALUES(?)', (i,))
os.kill(os.getpid(), signal.SIGKILL)
''' % path
    done = subprocess.run([sys.executable, '-c', program], env=dict(os.environ, PYTHONPATH=place.ROOT), timeout=60)
    assert done.returncode == -signal.SIGKILL
    with sqpyte.connect(path) as connection:
        assert connection.execute('SELECT count(*) FROM t').fetchone() == (52,)


@pytest.mark.parametrize('settings', [{}, {'detect_types': sqpyte.PARSE_DECLTYPES}])
@pytest.mark.parametrize('factory', [None, bytes, str.lower])
@pytest.mark.parametrize('write', WRITES)
def test_the_rows(write, factory, settings, monkeypatch):
    """One by one, with text factories that come and go, and converters."""
    def action(module):
        module.register_converter('pair', pair)
        try:
            connection = connected(module, **settings)
            cursor = connection.cursor()
            found = []
            for change in range(4):
                connection.text_factory = str
                found.append(outcome(cursor.execute, write) is cursor)
                for n in range(5):
                    if n == change and factory is not None:
                        connection.text_factory = factory
                    found += [outcome(cursor.fetchone), cursor.rowcount if n > 3 else 0, cursor.lastrowid]
            connection.text_factory = bytes
            return found, connection.execute('SELECT CAST(a AS BLOB) FROM t').fetchall()
        finally:
            del module.converters['PAIR']
    both_ways(action, monkeypatch)


def test_the_number_of_rows():
    connection = connected(sqpyte)
    cursor = connection.execute('UPDATE t SET a = a + 1 RETURNING a')
    assert [row for row in cursor] == [(i + 1,) for i in range(5)] and cursor.rowcount == 5
    cursor.execute('DELETE FROM t WHERE a > 100 RETURNING a')
    assert cursor.fetchall() == [] and cursor.rowcount == 0


def test_an_error_at_the_end(monkeypatch):
    """It comes with the last row, as the statement ends then."""
    def action(module):
        connection = module.connect(':memory:', isolation_level=None)
        connection.executescript('PRAGMA foreign_keys = ON; CREATE TABLE p(a PRIMARY KEY);'
                                 'CREATE TABLE c(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)')
        cursor = connection.execute('INSERT INTO c VALUES(1), (2), (3) RETURNING a')
        found = [outcome(cursor.fetchone) for _ in range(5)]
        return found, connection.in_transaction, connection.execute('SELECT count(*) FROM c').fetchone()
    assert both_ways(action, monkeypatch)[0][:2] == [(1,), (2,)]


@pytest.mark.parametrize('kept', ['blob = ', ''])
def test_a_blob_at_the_end(path, kept):
    program = """
import sqpyte
connection = sqpyte.connect(%r, isolation_level=None)
connection.execute('CREATE TABLE t(a)')
connection.execute('INSERT INTO t VALUES(zeroblob(3))')
%sconnection.blobopen('t', 'a', 1).write(b'abc')
connection.execute('INSERT INTO t VALUES(1)')
""" % (path, kept)
    done = subprocess.run([sys.executable, '-c', program], env=dict(os.environ, PYTHONPATH=place.ROOT), timeout=60)
    assert done.returncode == 0
    with sqpyte.connect(path) as connection:
        assert connection.execute('SELECT a FROM t').fetchall() == [(b'abc',), (1,)]
