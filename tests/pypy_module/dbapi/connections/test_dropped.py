"""Cursors, blobs and connections that are dropped hold nobody up. What is collected while SQLite calls a function of
another connection of a shared cache is closed when that function has ended: it would wait for the cache, which that
function's statement has locked."""

import contextlib
import gc
import os
import queue
import subprocess
import sys
import threading
import time

import pytest

import sqpyte
from pypy_module.dbapi.statements.dropped import REFERENCE_COUNTS
from pypy_module.ffi import place

SHARED = '''
import gc, sys
import sqpyte
from pypy_module.dbapi.connections.session import POSTPONED
name = 'file:shared?mode=memory&cache=shared'
first = sqpyte.connect(name, uri=True)
first.execute('CREATE TABLE t(x)')
first.execute('INSERT INTO t VALUES(1)')
first.commit()
'''
CONNECTION = SHARED + '''
class Mine(sqpyte.Connection):
    pass
def make():
    second = sqpyte.connect(name, uri=True, factory=Mine)
    second.execute('SELECT * FROM t').fetchall()
    second.cycle = second
seen = []
def collect(x):
    for i in range(3):
        gc.collect()
    seen.append(len(POSTPONED))
    return x
first.create_function('collect', 1, collect)
gc.disable()                    # so that the function collects it, not a collection due before
make()
print(first.execute('SELECT collect(x) FROM t').fetchall(), seen, len(POSTPONED))
first.execute('SELECT 1')
print(len(POSTPONED))
first.close()
'''

CURSOR_AND_BLOB = SHARED + '''
second = sqpyte.connect(name, uri=True)
second.execute('INSERT INTO t VALUES(?)', (b'abcd',))
second.commit()
class Holder:
    pass
def make():
    holder = Holder()
    holder.cursor = second.execute('SELECT * FROM t')
    holder.cursor.fetchone()
    holder.blob = second.blobopen('t', 'x', 2, readonly=True)
    holder.cycle = holder
def collect(x):
    for i in range(3):
        gc.collect()
    return x
first.create_function('collect', 1, collect)
gc.disable()                    # so that the function collects them, not a collection due before
make()
print(first.execute('SELECT collect(x) FROM t').fetchall())
gc.collect()
gc.collect()
second.execute('DELETE FROM t')
second.commit()
first.execute('DROP TABLE t')
print('dropped')
'''


def run(program):
    """What a program prints; it has a minute."""
    environment = dict(os.environ, PYTHONPATH=place.ROOT, SQPYTE_BACKEND='cffi', SQPYTE_INLINE='0')
    done = subprocess.run([sys.executable, '-c', program], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_connection():
    assert run(CONNECTION) == '[(1,)] [1] 1\n0\n'


@pytest.mark.skipif(sys.implementation.name != 'pypy', reason='CPython hangs with sqlite3, too')
def test_a_cursor_in_the_middle_of_its_rows_and_a_blob():
    assert run(CURSOR_AND_BLOB) == "[(1,), (b'abcd',)]\ndropped\n"


def test_a_cursor_with_rows_of_returning_left_ends_with_its_transaction(tmp_path):
    """Nobody has the cursor any more, so COMMIT doesn't find it in progress."""
    connection = sqpyte.connect(str(tmp_path / 'a.db'))
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a)')
    connection.commit()
    connection.execute("INSERT INTO t(a) VALUES('x') RETURNING id")
    connection.commit()
    with connection:
        assert connection.execute("INSERT INTO t(a) VALUES('y'), ('z') RETURNING id").fetchone() == (2,)
    connection.execute('SAVEPOINT s')
    connection.execute("INSERT INTO t(a) VALUES('w') RETURNING id")
    connection.execute('RELEASE s')
    connection.isolation_level = None
    connection.execute("INSERT INTO t(a) VALUES('v'), ('u') RETURNING id").fetchone()
    target = sqpyte.connect(':memory:')
    connection.backup(target)
    assert target.execute('SELECT count(*) FROM t').fetchone() == (6,)


@pytest.mark.parametrize('isolation_level', ['', None])
def test_what_a_dropped_cursor_has_written_is_counted(isolation_level):
    connection = sqpyte.connect(':memory:', isolation_level=isolation_level)
    connection.execute('CREATE TABLE t(a)')
    connection.execute('INSERT INTO t VALUES(1), (2), (3) RETURNING a').fetchone()
    assert connection.total_changes == 3
    connection.execute('UPDATE t SET a = a + 1 WHERE a < 3 RETURNING a')
    assert connection.execute('SELECT changes(), total_changes()').fetchone() == (2, 5)
    connection.execute('DELETE FROM t WHERE a = 2')
    gc.collect()
    assert connection.execute('SELECT changes(), last_insert_rowid()').fetchone() == (1, 3)


def test_a_cursor_that_somebody_has_keeps_its_rows():
    """Where dropped cursors are freed at once it is in progress, as in sqlite3."""
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(a)')
    cursor = connection.execute('INSERT INTO t VALUES(1), (2) RETURNING a')
    if REFERENCE_COUNTS:
        with pytest.raises(sqpyte.OperationalError, match='SQL statements in progress'):
            connection.commit()
    else:
        connection.commit()
    assert cursor.fetchall() == [(1,), (2,)]
    connection.commit()


def test_dropped_blobs_hold_nobody_up():
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, b)')
    connection.execute('INSERT INTO t VALUES(1, zeroblob(10))')
    connection.commit()
    connection.blobopen('t', 'b', 1).write(b'x')
    connection.execute('INSERT INTO t VALUES(2, 3)')
    connection.commit()
    connection.blobopen('t', 'b', 1)
    connection.execute('DROP TABLE t')
    connection.commit()


def test_a_dropped_reader_does_not_keep_its_connection_at_an_old_snapshot(tmp_path):
    first, second = [sqpyte.connect(str(tmp_path / 'a.db'), isolation_level=None) for _ in range(2)]
    first.execute('PRAGMA journal_mode=wal').fetchall()
    first.execute('CREATE TABLE t(a)')
    first.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(500)])
    first.execute('SELECT a FROM t').fetchone()
    second.execute('INSERT INTO t VALUES(1000)')
    first.execute('INSERT INTO t VALUES(1001)')
    assert first.execute('SELECT count(*) FROM t').fetchone() == (502,)


@pytest.mark.parametrize('run', [
    lambda connection: [connection.execute(sql) for sql in ('BEGIN', 'UPDATE t SET a = a + 1', 'COMMIT')],
    lambda connection: [connection.execute(sql) for sql in ('SAVEPOINT s', 'UPDATE t SET a = a + 1', 'RELEASE s')],
    lambda connection: connection.executescript('BEGIN; UPDATE t SET a = a + 1; COMMIT')])
def test_nor_in_a_transaction_that_it_begins(run, tmp_path):
    """Major collections end now and then while the program drops cursors: garbage is older than one of them then."""
    first, second = [sqpyte.connect(str(tmp_path / 'a.db'), isolation_level=None, timeout=0.1) for _ in range(2)]
    first.execute('PRAGMA journal_mode=wal').fetchall()
    first.execute('CREATE TABLE t(a)')
    first.executemany('INSERT INTO t VALUES(?)', [(0,) for i in range(10)])
    for _ in range(20):
        first.execute('SELECT a FROM t').fetchone()
        second.execute('INSERT INTO t VALUES(1)')
        run(first)
    assert first.execute('SELECT max(a), count(*) FROM t').fetchone() == (21, 30)


@pytest.mark.parametrize('sql', ['SELECT stop(), a FROM t', 'SELECT a FROM t ORDER BY stop()',
                                 'DELETE FROM t WHERE stop() = 1'])
def test_an_interrupt_ends_with_what_it_interrupts(sql):
    """SQLite forgets it when no statement is in the middle of its rows."""
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(100)])
    connection.commit()
    connection.create_function('stop', 0, connection.interrupt)
    connection.execute('SELECT a FROM t').fetchone()
    with pytest.raises(sqpyte.OperationalError, match='interrupted'):
        connection.execute(sql).fetchall()
    assert connection.execute('SELECT count(*) FROM t').fetchone() == (100,)


@pytest.mark.parametrize('run', [lambda connection, sql: connection.execute(sql).fetchall(),
                                 lambda connection, sql: connection.executescript('/* a */ ' + sql)])
def test_dropped_cursors_do_not_hold_up_what_runs_alone(tmp_path, run):
    for i, sql in enumerate(('VACUUM', 'DETACH z', 'PRAGMA journal_mode = delete', 'PRAGMA main.journal_mode(wal)')):
        connection = sqpyte.connect(str(tmp_path / ('%d.db' % i)), isolation_level=None)
        connection.execute("ATTACH ':memory:' AS z")
        connection.executescript('CREATE TABLE z.q(a); INSERT INTO q VALUES(1), (2)')
        connection.execute('PRAGMA journal_mode = %s' % ('delete' if 'wal' in sql else 'wal')).fetchall()
        connection.execute('CREATE TABLE t(a)')
        connection.execute('INSERT INTO t VALUES(1), (2), (3)')
        connection.execute('SELECT a FROM t').fetchone()
        connection.execute('SELECT a FROM q').fetchone()
        connection.execute('INSERT INTO t VALUES(4), (5) RETURNING a').fetchone()
        run(connection, sql)
        if 'journal' in sql:
            assert connection.execute('PRAGMA main.journal_mode').fetchone()[0] in sql
        assert connection.execute('SELECT count(*) FROM t').fetchone() == (5,)


@pytest.mark.skipif(sys.implementation.name != 'pypy', reason='where cursors are freed at once nothing is collected')
@pytest.mark.parametrize('run', [
    lambda connection: connection.execute('PRAGMA journal_mode = wal'), lambda connection: connection.execute('VACUUM'),
    lambda connection: connection.executescript('PRAGMA journal_mode = wal'),
    lambda connection: connection.executescript('VACUUM'), lambda connection: connection.execute('DROP TABLE t'),
    lambda connection: connection.commit(), lambda connection: connection.create_function('f', 1, str),
    lambda connection: connection.create_collation('c', lambda a, b: 0),
    lambda connection: connection.deserialize(sqpyte.connect(':memory:').serialize()),
    lambda connection: sqpyte.connect(':memory:').backup(connection)])
def test_a_finalizer_closes_the_connection(run):
    """What is collected before a second try may be a program's, which closes it."""
    class Closing:
        def __del__(self):
            connection.close()
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.create_function('f', 1, int)
    connection.create_collation('c', lambda a, b: 0)
    connection.execute('CREATE TABLE t(a)')
    connection.execute('BEGIN')
    connection.execute('INSERT INTO t VALUES(1), (2) RETURNING f(a), a COLLATE c').fetchone()
    cycle: list = [Closing()]
    cycle.append(cycle)
    del cycle
    with contextlib.suppress(sqpyte.Error):     # or it goes well at once
        run(connection)
    gc.collect()
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        connection.execute('SELECT 1')


def test_what_returning_has_written_is_committed_at_the_program_s_end(tmp_path):
    program = """
import sys, sqpyte
connection = sqpyte.connect(sys.argv[1], isolation_level=None)
connection.execute('CREATE TABLE t(a)')
connection.execute('INSERT INTO t VALUES(1), (2) RETURNING a')
kept = connection.execute('INSERT INTO t VALUES(3), (4) RETURNING a')
"""
    path = str(tmp_path / 'a.db')
    subprocess.run([sys.executable, '-c', program, path], cwd=place.ROOT, check=True)
    assert sqpyte.connect(path).execute('SELECT count(*) FROM t').fetchone() == (4,)


def test_parameters_that_wait_for_another_thread():
    """`executemany` holds no lock while it is given its next row."""
    connection = sqpyte.connect(':memory:', check_same_thread=False)
    connection.execute('CREATE TABLE t(a)')
    asked, answered = queue.Queue(), queue.Queue()

    def serve():
        for i in iter(asked.get, None):
            answered.put(connection.execute('SELECT ?', (i,)).fetchone())
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def rows():
        for i in range(20):
            asked.put(i)
            yield answered.get(timeout=60)
    connection.executemany('INSERT INTO t VALUES(?)', rows())
    asked.put(None)
    thread.join()
    assert connection.execute('SELECT sum(a) FROM t').fetchone() == (190,)


def test_the_first_write_of_a_transaction_has_a_new_snapshot(path):
    first, second = sqpyte.connect(path), sqpyte.connect(path, isolation_level=None)
    first.execute('PRAGMA journal_mode=wal').fetchall()
    first.execute('CREATE TABLE t(a)')
    first.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(10)])
    first.commit()
    first.execute('SELECT a FROM t').fetchone()
    second.execute('INSERT INTO t VALUES(100)')
    assert first.execute('UPDATE t SET a = a + 1').rowcount == 11
    assert first.in_transaction
    first.commit()


@pytest.mark.parametrize('mode', ['passive', 'full', 'truncate'])
def test_a_checkpoint_beside_a_dropped_cursor_copies_all(path, mode):
    first, second = sqpyte.connect(path, isolation_level=None), sqpyte.connect(path, isolation_level=None)
    first.execute('PRAGMA journal_mode=wal').fetchall()
    first.execute('CREATE TABLE t(a)')
    first.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(10)])
    second.execute('SELECT a FROM t').fetchone()
    first.execute('INSERT INTO t VALUES(100)')
    busy, pages, copied = first.execute('PRAGMA wal_checkpoint(%s)' % mode).fetchone()
    assert (busy, pages) == (0, copied)


def test_an_old_one_and_a_young_one(path, collect):
    """A statement that meets both locks waits for neither."""
    first, second = sqpyte.connect(path, timeout=60), sqpyte.connect(path, timeout=60)
    first.execute('CREATE TABLE t(a)')
    first.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(10)])
    first.commit()
    old = first.execute('SELECT a FROM t')
    old.fetchone()
    collect()
    del old
    first.execute('SELECT a, 1 FROM t').fetchone()
    begun = time.monotonic()
    second.execute('INSERT INTO t VALUES(1)')
    second.commit()
    assert time.monotonic() - begun < 50


@pytest.mark.parametrize('run', [lambda connection, sql: connection.execute(sql),
                                 lambda connection, sql: connection.executescript(sql),
                                 lambda connection, sql: connection.executemany(sql, [()])])
def test_an_interrupt_that_comes_late(run):
    """A watchdog's, when nothing runs any more but a dropped cursor has rows left."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.execute('CREATE TABLE t(a)')
    connection.execute('INSERT INTO t VALUES(1), (2), (3)')
    for _ in range(3):
        connection.execute('SELECT a FROM t').fetchone()
        connection.interrupt()
        run(connection, 'INSERT INTO t VALUES(4)')
    assert connection.execute('SELECT count(*) FROM t').fetchone() == (6,)
