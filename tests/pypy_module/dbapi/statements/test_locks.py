"""A lock that is met: nobody waits for a dropped cursor, nothing is touched amid a COMMIT, and what is refused
again and again is refused at once."""

import contextlib
import gc
import threading
import time

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.dbapi.statements import locks
from pypy_module.dbapi.statements.dropped import REFERENCE_COUNTS


def rows(connection):
    with contextlib.closing(connection.execute('SELECT a FROM t')) as cursor:
        yield from cursor


@pytest.fixture
def pair(path):
    """Two connections to a file."""
    connection = sqpyte.connect(path, isolation_level=None, timeout=0.05)
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES(1), (2); CREATE TABLE w(a)')
    other = sqpyte.connect(path, isolation_level=None, timeout=0.05)
    yield connection, other
    connection.close()
    other.close()


@pytest.mark.parametrize('drop', [lambda connection: connection.execute('SELECT a FROM t').fetchone(),
                                  lambda connection: next(rows(connection))])
@pytest.mark.parametrize('begin, end', [
    ('BEGIN IMMEDIATE', lambda connection: connection.commit()),
    ('BEGIN IMMEDIATE', lambda connection: connection.execute('COMMIT')),
    ('BEGIN', lambda connection: connection.execute(' /* the */ end transaction')),
    ('SAVEPOINT s', lambda connection: connection.execute('RELEASE s'))])
def test_a_commit_that_meets_a_lock(pair, begin, end, drop):
    """Beside a cursor of its own connection that is garbage. It can be done again, and leaves nothing locked."""
    connection, other = pair
    reader = other.execute('SELECT a FROM t')
    reader.fetchone()
    connection.execute(begin)
    drop(connection)
    connection.execute('INSERT INTO w VALUES(1)')
    with pytest.raises(sqpyte.OperationalError, match='locked'):
        end(connection)
    assert connection.in_transaction
    reader.close()
    end(connection)
    assert not connection.in_transaction
    other.execute('INSERT INTO w VALUES(2)')
    connection.execute('DROP TABLE t')
    assert other.execute('SELECT a FROM w').fetchall() == [(1,), (2,)]


def test_a_script_s_commit_that_meets_a_lock(pair):
    connection, other = pair
    reader = other.execute('SELECT a FROM t')
    reader.fetchone()
    connection.execute('SELECT a FROM t').fetchone()
    with pytest.raises(sqpyte.OperationalError, match='locked'):
        connection.executescript('BEGIN IMMEDIATE; INSERT INTO w VALUES(1); COMMIT')
    reader.close()
    connection.commit()
    other.execute('INSERT INTO w VALUES(2)')
    connection.execute('DROP TABLE t')


@pytest.mark.parametrize('end', [lambda connection: connection.commit(),
                                 lambda connection: connection.execute('COMMIT'),
                                 lambda connection: connection.executescript('SELECT 1')])
def test_a_commit_does_not_wait_for_a_dropped_cursor(pair, end):
    """Neither for one of its own connection, nor for another's."""
    connection, other = pair
    for reader in connection, other:
        connection.execute('BEGIN')
        connection.execute('INSERT INTO w VALUES(1)')
        reader.execute('SELECT a FROM t').fetchone()
        end(connection)     # a script begins with a COMMIT
        assert not connection.in_transaction
    other.executescript('BEGIN; INSERT INTO w VALUES(2); COMMIT')


@pytest.mark.skipif(REFERENCE_COUNTS, reason='nothing is collected where dropped cursors are freed at once')
def test_refusals_do_not_collect_garbage_each_time(pair, monkeypatch):
    connection, other = pair
    reading = connection.execute('SELECT a FROM t')
    reading.fetchone()
    other.execute('BEGIN IMMEDIATE')
    collections = []
    collect = gc.collect
    monkeypatch.setattr(gc, 'collect', lambda: collections.append(1) or collect())

    def refused():
        with pytest.raises(sqpyte.OperationalError, match='locked'):
            connection.execute('INSERT INTO w VALUES(1)')
    for _ in range(10):
        refused()
    assert 0 < len(collections) < 30
    before = len(collections)
    refused()
    assert len(collections) == before
    dropped = connection.execute('SELECT a FROM w')      # a cursor more: it may have been dropped
    connection.execute('SELECT a FROM t').fetchone()
    before = len(collections)
    refused()
    assert len(collections) > before
    assert reading.fetchall() == [(2,)] and dropped.fetchall() == []
    other.execute('COMMIT')
    connection.execute('INSERT INTO w VALUES(1)')


def test_statements_that_are_not_cached_go_with_their_cursors(path, collect):
    connection = sqpyte.connect(path, cached_statements=0)
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES(1), (2)')
    for _ in range(50):
        connection.execute('SELECT a FROM t').fetchone()
    collect()
    connection.execute('SELECT 1').fetchall()
    assert len(session_of(connection).all) <= 2
    connection.close()


class Conforming:
    """Adapts itself, and counts how often."""

    times = 0

    def __conform__(self, protocol):
        self.times += 1
        return 0


@pytest.mark.parametrize('sql', ['SELECT a FROM t WHERE a > ?', 'SELECT f(a) FROM t WHERE a > ?',
                                 'INSERT INTO w VALUES(?)'])
def test_parameters_are_adapted_once(pair, sql):
    connection, other = pair
    connection.create_function('f', 1, lambda value: value)
    value = Conforming()
    connection.execute(sql, (value,)).fetchall()
    other.execute('BEGIN EXCLUSIVE')
    with pytest.raises(sqpyte.OperationalError, match='locked'):
        connection.execute(sql, (value,))
    assert value.times == 2


@pytest.fixture
def writing(path):
    """A function that has another connection write for a while, in a thread; returns the thread, and the list of what
    that raises."""
    def write():
        raised, ready = [], threading.Event()

        def run():
            with contextlib.closing(sqpyte.connect(path, isolation_level=None)) as other:
                other.execute('BEGIN IMMEDIATE')
                other.execute('UPDATE w SET a = 0')
                ready.set()
                time.sleep(0.1)
                try:
                    other.execute('COMMIT')
                except sqpyte.Error as error:
                    raised.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        ready.wait()
        return thread, raised
    return write


@pytest.mark.parametrize('begins', [None, 'BEGIN', 'SAVEPOINT s'])
@pytest.mark.parametrize('journal', ['DELETE', 'WAL'])
def test_a_transaction_does_not_have_a_dropped_cursors_lock(path, pair, writing, begins, journal):
    """Its first write waits for who writes, who can commit."""
    pair[0].execute('PRAGMA journal_mode = ' + journal).fetchall()
    with contextlib.closing(sqpyte.connect(path)) as connection:
        connection.execute('SELECT a FROM t').fetchone()
        thread, raised = writing()
        if begins:
            connection.execute(begins)
        connection.execute('INSERT INTO w VALUES(1)')
        thread.join()
        connection.commit()
    assert raised == []


@pytest.mark.parametrize('begins', ['BEGIN', 'SAVEPOINT s', '/* a */ begin deferred'])
def test_who_begins_a_transaction_frees_dropped_cursors(pair, begins):
    connection, other = pair
    connection.execute('SELECT a FROM t').fetchone()
    connection.execute(begins)
    other.execute('INSERT INTO w VALUES(1)')
    connection.execute('ROLLBACK')


def test_a_blob_that_is_dropped_after_a_refusal(pair):
    connection, other = pair
    other.execute("INSERT INTO w VALUES(x'00')")
    reading = connection.execute('SELECT a FROM t')
    reading.fetchone()
    for _ in range(2):
        blob = other.blobopen('w', 'a', 1)
        blob.write(b'1')
        with pytest.raises(sqpyte.OperationalError, match='locked'):
            connection.execute('INSERT INTO w VALUES(1)')
        del blob
        connection.execute('INSERT INTO w VALUES(1)')
        connection.rollback()


@pytest.mark.skipif(REFERENCE_COUNTS, reason='nothing is collected where dropped cursors are freed at once')
@pytest.mark.parametrize('refused', [
    lambda connection: connection.commit(), lambda connection: connection.execute('COMMIT'),
    lambda connection: connection.executescript('COMMIT'),
    lambda connection: sqpyte.connect(connection.execute('PRAGMA database_list').fetchone()[2], timeout=0,
                                      isolation_level=None).execute('INSERT INTO w VALUES(1)')])
def test_who_does_not_wait_collects_garbage_no_longer(path, pair, monkeypatch, refused):
    collections = []
    collect = gc.collect
    monkeypatch.setattr(gc, 'collect', lambda: collections.append(1) or collect())
    monkeypatch.setattr(locks, 'vain', locks.Vain())
    reading = pair[1].execute('SELECT a FROM t')
    reading.fetchone()
    with contextlib.closing(sqpyte.connect(path, timeout=0)) as connection:
        connection.execute('INSERT INTO w VALUES(1)')
        for number in range(20):
            with pytest.raises(sqpyte.OperationalError, match='locked'):
                refused(connection)
            assert collections or number >= 3
        assert len(collections) < 20
        monkeypatch.setattr(locks.vain, 'until', 0.0)
        del reading
        connection.commit()
