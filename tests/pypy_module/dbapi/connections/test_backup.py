"""Copies of databases, and blobs opened in place."""

import threading
import time

import pytest

import sqpyte
from pypy_module.dbapi.statements import held
from tests.outcome import outcome


def content(connection):
    return connection.execute('SELECT a, b FROM t ORDER BY a').fetchall()


def test_backup(numbers):
    calls = []
    with sqpyte.connect(':memory:') as target:
        numbers.backup(target)
        assert content(target) == content(numbers)
        numbers.executemany('INSERT INTO t VALUES (?, ?)', [(i, 'x' * 1000) for i in range(50)])
        numbers.commit()
        numbers.backup(target, pages=5, progress=lambda *args: calls.append(args))
        assert content(target) == content(numbers)
        assert len(calls) > 2
        assert calls[-1][:2] == (sqpyte.SQLITE_DONE, 0)
        assert calls[0][0] == sqpyte.SQLITE_OK
    target.close()


def test_backup_refuses(numbers):
    target = sqpyte.connect(':memory:')
    with pytest.raises(ValueError, match='target cannot be the same connection instance'):
        numbers.backup(numbers)
    with pytest.raises(TypeError, match='progress argument must be a callable'):
        numbers.backup(target, progress=5)
    with pytest.raises(TypeError):
        numbers.backup('target')
    with pytest.raises(sqpyte.OperationalError, match='unknown database'):
        numbers.backup(target, name='nothing')
    with pytest.raises(ZeroDivisionError):
        numbers.backup(target, progress=lambda *args: 1 // 0)
    target.close()
    with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed database.'):
        numbers.backup(target)


class Thread(threading.Thread):
    """Has a connection of its own, and reads from it until it is told to stop."""

    def __init__(self, reads):
        super().__init__(daemon=True)
        self.reads = reads
        self.begun, self.end = threading.Event(), threading.Event()
        self.found = []
        self.start()
        self.begun.wait()

    def run(self):
        self.connection = connection = sqpyte.connect(':memory:')
        connection.execute('CREATE TABLE t(a, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [(0, i) for i in range(3000)])
        connection.commit()
        connection.create_function('f', 1, lambda x: x)
        self.begun.set()
        while self.reads and not self.end.is_set():
            # Of one state of the table, unless it begins in the middle of a backup: the database that is replaced is
            # not to be used then, says SQLite, and one of a thread that was about to ask is.
            assert {a for a, in connection.execute('SELECT f(a) FROM t')} <= set(range(9))
            time.sleep(0.002)
        self.end.wait()
        self.found = connection.execute('SELECT count(*) FROM t').fetchall()
        connection.close()


@pytest.mark.parametrize('reads', [False, True])
def test_backup_to_a_connection_of_another_thread(reads):
    """Which is idle, or in the middle of a query, or begins one after the other."""
    source = sqpyte.connect(':memory:')
    source.execute('CREATE TABLE t(a, b)')
    thread = Thread(reads)
    for value in range(1, 9):
        source.execute('DELETE FROM t')
        source.executemany('INSERT INTO t VALUES(?, ?)', [(value, i) for i in range(2000)])
        source.commit()
        while True:
            found = outcome(lambda pages=-1 if value % 2 else 3: source.backup(thread.connection, pages=pages))
            if found is None:
                break
            assert reads and 'in use' in found      # SQLite's own: not while rows are being read
            time.sleep(0.0005)      # on an idle machine the reader's pauses would be missed again and again
    with pytest.raises(sqpyte.ProgrammingError, match='created in a thread'):
        thread.connection.execute('SELECT 1')
    thread.end.set()
    thread.join()
    assert thread.found == [(2000,)]


def test_a_backup_that_a_signal_breaks_off_while_it_waits(numbers, monkeypatch):
    """The target is its own thread's again."""
    thread = Thread(False)

    class Stop(Exception):
        pass

    def in_the_middle(session):
        raise Stop
    monkeypatch.setattr(held, 'in_the_middle', in_the_middle)
    with pytest.raises(Stop):
        numbers.backup(thread.connection)
    thread.end.set()
    thread.join(60)
    assert thread.found == [(3000,)]


def test_serialize_and_deserialize(numbers):
    data = numbers.serialize()
    assert data.startswith(b'SQLite format 3\0')
    other = sqpyte.connect(':memory:')
    for given in (data, bytearray(data), memoryview(data)):
        other.deserialize(given)
        assert content(other) == content(numbers)
    with pytest.raises(TypeError):
        other.deserialize(5)
    with pytest.raises(BufferError):
        other.deserialize(memoryview(data)[::2])
    with pytest.raises(sqpyte.OperationalError, match="unable to serialize 'nothing'"):
        other.serialize(name='nothing')
    other.deserialize(b'\0' * 1000)
    with pytest.raises(sqpyte.DatabaseError, match='file is not a database'):
        other.execute('SELECT * FROM t')
    other.close()


@pytest.mark.parametrize('anew', [False, True])
def test_an_authorizer_closes_within_serialize(numbers, anew):
    """SQLite runs a PRAGMA, or ATTACH, and goes on with the database."""
    left = []

    def authorizer(*what):
        if left:
            left.pop()
            if anew:
                numbers.__init__(':memory:')
            else:
                numbers.close()
        return sqpyte.SQLITE_OK
    data = numbers.serialize()
    numbers.set_authorizer(authorizer)
    left.append(1)
    assert numbers.serialize() == data and not left
    numbers.__init__(':memory:')
    numbers.set_authorizer(authorizer)
    left.append(1)
    assert numbers.deserialize(data) is None and not left


def test_deserialize_while_reading(numbers):
    data = numbers.serialize()
    cursor = numbers.execute('SELECT a FROM t')
    with pytest.raises(sqpyte.OperationalError):
        numbers.deserialize(data)
    assert len(cursor.fetchall()) == 10
    numbers.deserialize(data)
    assert len(content(numbers)) == 10


def test_dump(connection):
    connection.executescript("""
        CREATE TABLE "a ""table"(a INTEGER PRIMARY KEY AUTOINCREMENT, "b ""c" TEXT, d BLOB, e REAL);
        INSERT INTO "a ""table" VALUES (1, 'it''s ä', x'00ff', 2.5), (7, NULL, NULL, 1e100);
        CREATE INDEX i ON "a ""table"(e);
        CREATE VIEW v AS SELECT * FROM "a ""table";
        CREATE TRIGGER tr AFTER INSERT ON "a ""table" BEGIN SELECT 1; END;
        CREATE VIRTUAL TABLE words USING fts5(w);
        INSERT INTO words VALUES ('some words');
        ANALYZE
    """)
    script = list(connection.iterdump())
    assert script[0] == 'BEGIN TRANSACTION;'
    assert script[-1] == 'COMMIT;'
    copy = sqpyte.connect(':memory:')
    copy.executescript('\n'.join(script))
    # A virtual table is written into the schema, which SQLite has to read again.
    copy.deserialize(copy.serialize())
    for sql in ('SELECT * FROM "a ""table"', 'SELECT * FROM v', 'SELECT * FROM sqlite_sequence',
                'SELECT * FROM words(\'some\')',
                'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name'):
        assert copy.execute(sql).fetchall() == connection.execute(sql).fetchall()
    assert list(connection.iterdump(filter='v')) == [
        'BEGIN TRANSACTION;', 'CREATE VIEW v AS SELECT * FROM "a ""table";', 'COMMIT;']
    copy.close()


@pytest.fixture
def blob(connection):
    connection.execute('CREATE TABLE t(b BLOB)')
    connection.execute('INSERT INTO t VALUES (?)', (b'0123456789',))
    return connection.blobopen('t', 'b', 1)


def stored(connection):
    return connection.execute('SELECT b FROM t').fetchone()[0]


def test_blobs_are_read_like_files(blob):
    assert len(blob) == 10
    assert [blob.read(3), blob.tell(), blob.read(), blob.read()] == [b'012', 3, b'3456789', b'']
    blob.seek(-2, 2)
    assert blob.read(100) == b'89'
    blob.seek(2)
    blob.seek(2, 1)
    assert blob.read(1) == b'4'
    for offset, origin in [(-1, 0), (11, 0), (1, 2), (0, 3)]:
        with pytest.raises(ValueError):
            blob.seek(offset, origin)
    with pytest.raises(OverflowError):
        blob.seek(2 ** 31 - 1, 1)


def test_blobs_are_written_like_files(connection, blob):
    blob.write(b'ab')
    blob.seek(5)
    blob.write(bytearray(b'cd'))
    assert stored(connection) == b'ab234cd789'
    with pytest.raises(ValueError, match='data longer than blob length'):
        blob.write(b'x' * 10)
    with pytest.raises(TypeError):
        blob.write('x')
    read = connection.blobopen('t', 'b', 1, readonly=True)
    with pytest.raises(sqpyte.OperationalError, match='readonly'):
        read.write(b'x')
    read.close()


def test_blobs_are_indexed_like_bytes(connection, blob):
    data = b'0123456789'
    for index in [0, 5, -1, slice(2, 5), slice(None, None, -1), slice(8, 1, -3), slice(5, 2),
                  slice(1, 9, 2)]:
        assert blob[index] == data[index]
    blob[0] = ord('x')
    blob[-1] = ord('y')
    blob[2:4] = b'zz'
    blob[4:9:2] = b'...'
    assert stored(connection) == b'x1zz.5.7.y'
    for index, value, kind in [(10, 1, IndexError), (-11, 1, IndexError), ('a', 1, TypeError),
                               (0, 'a', TypeError), (0, 256, ValueError),
                               (slice(0, 2), b'x', IndexError), (slice(0, 2, 0), b'x', ValueError)]:
        with pytest.raises(kind):
            blob[index] = value
    for index in (10, -11, 2 ** 100):
        with pytest.raises(IndexError):
            blob[index]
    with pytest.raises(TypeError):
        del blob[0]
    with pytest.raises(TypeError):
        iter(blob)


def test_blobs_whose_row_has_changed(connection, blob):
    """They have no bytes any more, and say so where bytes are asked for."""
    blob.seek(0, 2)
    connection.execute("UPDATE t SET b = 'aaaa'")
    assert [blob.read(), blob.read(0), len(blob)] == [b'', b'', 10]
    blob.seek(0)
    with pytest.raises(sqpyte.OperationalError):
        blob.read()
    assert [blob.read(), len(blob)] == [b'', 0]
    with pytest.raises(IndexError):
        blob[0]
    with pytest.raises(sqpyte.OperationalError):
        blob[0:0]


def test_blobs_end(connection, blob):
    connection.execute("UPDATE t SET b = 'aaaa'")
    with pytest.raises(sqpyte.OperationalError):
        blob.read()
    blob.close()
    for use in (blob.read, blob.tell, lambda: blob.write(b''), lambda: len(blob), lambda: blob[0]):
        with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed blob.'):
            use()
    with pytest.raises(sqpyte.OperationalError, match='no such rowid: 5'):
        connection.blobopen('t', 'b', 5)
    with pytest.raises(OverflowError):
        connection.blobopen('t', 'b', 2 ** 64)
    connection.execute('INSERT INTO t VALUES (zeroblob(3))')
    with connection.blobopen('t', 'b', 2) as other:
        assert other.read() == b'\0\0\0'
    with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed blob.'):
        other.read()


@pytest.mark.parametrize('closes', ['source', 'target'])
def test_a_progress_function_that_closes_a_connection(closes):
    source, target = sqpyte.connect(':memory:'), sqpyte.connect(':memory:')
    source.execute('CREATE TABLE t(a)')
    source.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(5000)])
    source.commit()
    connection = source if closes == 'source' else target
    calls = []

    def progress(*numbers):
        calls.append(numbers)
        connection.close()
    if closes == 'source':
        source.backup(target, pages=1, progress=progress)
        assert target.execute('SELECT count(*) FROM t').fetchone() == (5000,) and len(calls) > 5
    else:
        with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
            source.backup(target, pages=1, progress=progress)
        assert len(calls) == 1 and source.execute('SELECT count(*) FROM t').fetchone() == (5000,)
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        connection.execute('SELECT 1')
