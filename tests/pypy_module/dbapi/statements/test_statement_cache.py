"""Prepared statements: kept, lent, taken back; nothing stays behind in the database."""

import gc
import os
import sqlite3
import subprocess
import sys
import time

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.dbapi.statements import statement_cache
from pypy_module.ffi.place import ROOT


def busy(connection):
    """The SQL of the statements that are in use."""
    return [statement.sql for statement in session_of(connection).all if statement.busy]


def test_statements_are_kept_for_their_sql(numbers):
    sql = 'SELECT a FROM t WHERE a = ?'
    numbers.execute(sql, (1,)).fetchall()
    statement = session_of(numbers).statements[sql]
    count = len(session_of(numbers).all)
    for i in range(10):
        assert numbers.execute(sql, (i,)).fetchall() == [(i,)]
    assert session_of(numbers).statements[sql] is statement
    assert len(session_of(numbers).all) == count


def test_statements_are_free_when_their_rows_are_at_an_end(numbers):
    # Nobody fetches these rows. There is no index on a, so there may be a second one.
    cursors = [numbers.execute(sql) for sql in ('SELECT a FROM t WHERE a = 3',
                                                'SELECT count(*) FROM t',
                                                'SELECT b FROM t WHERE rowid = 3')]
    assert busy(numbers) == ['SELECT a FROM t WHERE a = 3']
    cursors[0].fetchall()
    assert busy(numbers) == []
    cursor = numbers.execute('SELECT a FROM t')
    assert len(busy(numbers)) == 1
    cursor.fetchall()
    assert busy(numbers) == []
    cursor.execute('SELECT a FROM t').close()
    assert busy(numbers) == []


def test_errors_free_statements(numbers):
    numbers.create_function('fail_at', 1, lambda a: 1 // (a - 5))
    for use in (lambda: numbers.execute('SELECT fail_at(5)'),
                lambda: numbers.execute('SELECT fail_at(a) FROM t').fetchall(),
                lambda: numbers.executemany('INSERT INTO t(a) VALUES (fail_at(?))', [(1,), (5,)])):
        with pytest.raises(sqpyte.OperationalError):
            use()
        assert busy(numbers) == []


@pytest.mark.parametrize('capacity', [0, 1, 3, 128])
def test_the_cache_has_its_size(path, capacity):
    connection = sqpyte.connect(path, cached_statements=capacity)
    for _ in range(3):
        for i in range(capacity + 3):
            assert connection.execute('SELECT %d' % i).fetchall() == [(i,)]
            assert len(session_of(connection).statements) <= capacity
            assert len(session_of(connection).all) <= capacity
    connection.close()


def test_the_statement_used_least_recently_goes(path):
    connection = sqpyte.connect(path, cached_statements=3)
    for sql in ('SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 1', 'SELECT 4'):
        connection.execute(sql).fetchall()
    assert set(session_of(connection).statements) == {'SELECT 1', 'SELECT 3', 'SELECT 4'}
    connection.close()


def test_a_statement_that_goes_while_it_is_used(path):
    connection = sqpyte.connect(path, cached_statements=1)
    cursors = [connection.execute('SELECT %d UNION ALL SELECT 0' % i) for i in range(20)]
    assert [cursor.fetchall() for cursor in cursors] == [[(i,), (0,)] for i in range(20)]
    connection.execute('SELECT 21').fetchall()
    assert len(session_of(connection).all) <= 2
    connection.close()


def test_the_same_sql_many_times_at_once(numbers):
    sql = 'SELECT a FROM t'
    cursors = [numbers.execute(sql) for _ in range(50)]
    assert [cursor.fetchone() for cursor in cursors] == [(0,)] * 50
    for cursor in cursors:
        assert len(cursor.fetchall()) == 9
    count = len(session_of(numbers).all)
    cursors = [numbers.execute(sql) for _ in range(50)]
    assert len(session_of(numbers).all) == count
    assert len(busy(numbers)) == 50


def test_dropped_cursors_do_not_keep_their_statements(numbers, collect):
    sql = 'SELECT a FROM t WHERE a >= ?'
    for i in range(3 * statement_cache.MANY):
        assert numbers.execute(sql, (i % 10,)).fetchone() == (i % 10,)
    assert len(session_of(numbers).all) <= statement_cache.MANY + 20
    collect()
    assert numbers.execute(sql, (1,)).fetchone() == (1,)
    assert len(busy(numbers)) <= 1


def test_a_dropped_cursor_does_not_lock(numbers):
    """Dropping a table fails while it is read; the cursor that reads it is garbage."""
    numbers.execute('SELECT a FROM t').fetchone()
    numbers.execute('DROP TABLE t')


def test_a_cursor_that_is_there_does_lock(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    with pytest.raises(sqpyte.OperationalError, match='database table is locked') as caught:
        numbers.execute('DROP TABLE t')
    assert caught.value.sqlite_errorname == 'SQLITE_LOCKED'
    assert len(cursor.fetchall()) == 10
    numbers.execute('DROP TABLE t')


def test_other_connections_may_write_after_a_cursor_was_dropped(path, collect):
    reader = sqpyte.connect(path, isolation_level=None)
    reader.execute('CREATE TABLE t(a)')
    reader.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(10)])
    writer = sqpyte.connect(path, timeout=0)
    reader.execute('SELECT a FROM t').fetchone()
    collect()
    writer.execute('INSERT INTO t VALUES (1)')
    writer.commit()
    reader.close()
    writer.close()


def commits(writer):
    writer.execute('INSERT INTO t VALUES (1)')
    writer.commit()


def inserts_many(writer):
    writer.isolation_level = None
    writer.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(300)])


def inserts(writer):
    writer.isolation_level = None
    writer.execute('INSERT INTO t VALUES (1)')


@pytest.mark.parametrize('age', [0, 200000])
@pytest.mark.parametrize('write', [commits, inserts, inserts_many])
def test_dropped_cursors_do_not_make_other_connections_wait(path, write, age):
    """Nor does it take the program to collect garbage."""
    reader = sqpyte.connect(path, isolation_level=None)
    reader.execute('CREATE TABLE t(a)')
    reader.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(10)])
    cursor = reader.execute('SELECT a FROM t')
    cursor.fetchone()
    kept = [[] for _ in range(age)]     # the cursor may grow old before it is dropped
    writer = sqpyte.connect(path, timeout=1200)     # seconds; far more than the busiest machine needs
    before = time.monotonic()
    del cursor
    write(writer)
    assert time.monotonic() - before < 600
    assert writer.execute('PRAGMA busy_timeout').fetchone() == (1200000,)
    assert len(kept) == age
    reader.close()
    writer.close()


@pytest.mark.parametrize('write', [commits, inserts, inserts_many])
def test_cursors_that_are_there_make_other_connections_wait(path, write):
    reader = sqpyte.connect(path, isolation_level=None)
    reader.execute('CREATE TABLE t(a)')
    reader.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(10)])
    cursor = reader.execute('SELECT a FROM t')
    cursor.fetchone()
    writer = sqpyte.connect(path, timeout=0.3)
    before = time.monotonic()
    with pytest.raises(sqpyte.OperationalError, match='database is locked'):
        write(writer)
    assert time.monotonic() - before > 0.25
    assert len(cursor.fetchall()) == 9
    writer.rollback()
    write(writer)
    reader.close()
    writer.close()


def open_files(path):
    """How many descriptors of this process are of the database or its journals."""
    found = 0
    for number in os.listdir('/proc/self/fd'):
        try:
            found += os.readlink('/proc/self/fd/' + number).startswith(path)
        except OSError:
            pass
    return found


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='looks into /proc; CI is Linux')
def test_close_leaves_nothing_open(path):
    connection = sqpyte.connect(path)
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(10)])
    connection.execute("INSERT INTO t VALUES (x'0011')")
    cursors = [connection.execute('SELECT a FROM t') for _ in range(3)]
    blob = connection.blobopen('t', 'a', 11)
    assert open_files(path) > 0
    connection.close()
    assert open_files(path) == 0
    for use in (cursors[0].fetchone, lambda: cursors[1].execute('SELECT 1'), cursors[2].close,
                blob.read, connection.commit, connection.cursor, lambda: connection.in_transaction,
                lambda: connection.execute('SELECT 1')):
        with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed database.'):
            use()
    connection.close()


@pytest.mark.since(3, 13)
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='looks into /proc; CI is Linux')
def test_a_dropped_connection_is_closed(path, collect):
    def use():
        connection = sqpyte.connect(path)
        connection.create_function('f', 1, lambda a: a)
        connection.create_collation('c', lambda a, b: 0)
        connection.set_authorizer(lambda *args: 0)
        connection.execute('CREATE TABLE t(a)')
        return connection.execute('SELECT f(1) UNION ALL SELECT 2').fetchone()
    with pytest.warns(ResourceWarning, match='unclosed database in <sqpyte.Connection') as warned:
        assert use() == (1,)
        collect()
    assert warned[0].filename.startswith(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))    # the user's
    assert open_files(path) == 0


def test_opening_a_connection_anew(numbers):
    """Cursors go on with the database that they began with."""
    cursor = numbers.execute('SELECT a FROM t')
    assert cursor.fetchone() == (0,)
    numbers.__init__(':memory:')
    assert numbers.execute('SELECT * FROM sqlite_master').fetchall() == []
    assert len(cursor.fetchall()) == 9
    assert busy(numbers) == []


def test_a_connection_without_init():
    class Broken(sqpyte.Connection):
        def __init__(self, *args):
            pass
    connection = Broken(':memory:')
    for use in (connection.cursor, connection.commit, connection.close,
                lambda: connection.execute('SELECT 1'), lambda: connection.total_changes):
        with pytest.raises(sqpyte.ProgrammingError, match='Base Connection.__init__ not called.'):
            use()


def test_a_schema_that_changes(numbers):
    sql = 'SELECT * FROM t WHERE a = 1'
    assert numbers.execute(sql).fetchall() == [(1, 'row 1')]
    for i in range(3):
        numbers.execute('ALTER TABLE t ADD COLUMN c%d DEFAULT %d' % (i, i))
        row = (1, 'row 1') + tuple(range(i + 1))
        assert numbers.execute(sql).fetchall() == [row]
    for i in range(3):
        numbers.execute('ALTER TABLE t DROP COLUMN c%d' % i)
    assert numbers.execute(sql).fetchall() == [(1, 'row 1')]
    assert len(numbers.execute(sql).description) == 2


def test_long_texts_of_single_rows(connection):
    """The row buffer grows until the texts of the only row fit behind it."""
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    lengths = [10, 1000, 5000, 5000, 5000, 5000, 5000, 100000, 10]
    connection.executemany('INSERT INTO t VALUES (?, ?)',
                           [(i, 'x' * length) for i, length in enumerate(lengths)])
    for i, length in enumerate(lengths):
        row = connection.execute('SELECT b, ? FROM t WHERE a = ?', ('y' * length, i)).fetchone()
        assert row == ('x' * length, 'y' * length)
    assert session_of(connection).statements['SELECT b, ? FROM t WHERE a = ?'].cells[0] > 1000


@pytest.mark.parametrize('use', [
    lambda connection: connection.execute('COMMIT'), lambda connection: connection.commit(),
    lambda connection: connection.executescript('INSERT INTO t VALUES(2, 3)'),
    lambda connection: (connection.rollback(), connection.executescript('INSERT INTO t VALUES(2, 3)')),
    lambda connection: (connection.rollback(), connection.execute('VACUUM')),
    lambda connection: (connection.rollback(), connection.execute('CREATE INDEX i ON t(a)')),
    lambda connection: (connection.rollback(), connection.execute('PRAGMA journal_mode = wal').fetchall()),
    lambda connection: (connection.rollback(), connection.execute('BEGIN EXCLUSIVE')),
])
def test_a_dropped_cursor_of_another_connection_holds_nobody_up(path, use):
    reader = sqpyte.connect(path, isolation_level=None, timeout=60)
    writer = sqpyte.connect(path, isolation_level=None, timeout=60)
    reader.execute('CREATE TABLE t(a, b)')
    reader.execute('BEGIN')
    reader.executemany('INSERT INTO t VALUES(?, 0)', [(i,) for i in range(5000)])
    reader.execute('COMMIT')
    writer.execute('BEGIN')
    writer.execute('INSERT INTO t VALUES(1, 1)')
    reader.execute('SELECT a FROM t').fetchone()
    use(writer)


class Cyclic(sqpyte.Cursor):
    """Has attributes of its own."""


@pytest.mark.parametrize('use', [
    lambda connection: connection.execute('DROP TABLE t'), lambda connection: connection.execute('VACUUM'),
    lambda connection: connection.execute('DETACH other'),
    lambda connection: connection.executescript('ALTER TABLE t DROP COLUMN b'),
    lambda connection: connection.create_function('f', 1, lambda x: 0),
    lambda connection: connection.create_collation('c', lambda x, y: 0),
    lambda connection: connection.deserialize(sqpyte.connect(':memory:').serialize()),
])
def test_a_dropped_cursor_fails_nothing_on_its_own_connection(use):
    """Where cursors aren't freed at once, all garbage is collected before one is said to be in use."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.execute('CREATE TABLE t(a, b)')
    connection.execute("ATTACH ':memory:' AS other")
    connection.execute('CREATE TABLE other.u(a)')
    connection.executemany('INSERT INTO t VALUES(?, 0)', [(i,) for i in range(500)])
    connection.executemany('INSERT INTO u VALUES(?)', [(i,) for i in range(500)])
    connection.create_function('f', 1, lambda x: x)
    connection.create_collation('c', lambda x, y: (x > y) - (x < y))
    for sql in ('SELECT a FROM t', 'SELECT f(a) FROM t', 'SELECT a FROM u'):
        for _ in range(3):
            cursor = connection.cursor(Cyclic).execute(sql)
            [cursor.fetchone() for _ in range(20)]
            cursor.cycle = [cursor]     # garbage of the old kind
            del cursor
    getattr(gc, 'collect_step', gc.collect)()       # so they aren't young any more
    use(connection)


def test_busy_timeout_is_told_as_it_is(numbers):
    """Trying without waiting first, beside a cursor in the middle of its rows, doesn't show."""
    cursor = numbers.execute('SELECT a FROM t')
    cursor.fetchone()
    assert numbers.execute('PRAGMA busy_timeout').fetchone() == (5000,)
    assert numbers.execute('SELECT * FROM pragma_busy_timeout').fetchone() == (5000,)
    numbers.execute('PRAGMA busy_timeout = 0')
    assert numbers.execute('PRAGMA busy_timeout').fetchone() == (0,)
    numbers.execute('PRAGMA busy_timeout = 70')
    assert numbers.execute('SELECT * FROM pragma_busy_timeout').fetchone() == (70,)
    assert cursor.fetchall() == [(i,) for i in range(1, 10)]


@pytest.mark.parametrize('many', [False, True])
def test_functions_are_called_once_where_the_commit_meets_a_lock(path, many):
    """A statement that is BUSY at its commit goes on there; it isn't executed anew."""
    results = []
    for module in (sqlite3, sqpyte):
        name = path + module.__name__
        reader = module.connect(name, isolation_level=None, timeout=0)
        writer = module.connect(name, isolation_level=None, timeout=0)
        reader.execute('CREATE TABLE t(a)')
        reader.execute('BEGIN')
        reader.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(50)])
        reader.execute('COMMIT')
        cursor = reader.execute('SELECT a FROM t')
        cursor.fetchone()
        calls = []
        writer.create_function('f', 1, lambda x, calls=calls: calls.append(x) or x)
        with pytest.raises(module.OperationalError, match='locked'):
            if many:
                writer.executemany('UPDATE t SET a = f(a) WHERE a = ?', [(i,) for i in range(300)])
            else:
                writer.execute('UPDATE t SET a = f(a) WHERE a < 5')
        results.append((calls, writer.total_changes, cursor.fetchall()))
    assert results[0] == results[1]


@pytest.mark.parametrize('pragma', [
    'journal_mode = delete', 'journal_mode = wal', 'wal_checkpoint', 'synchronous'])
def test_a_pragma_of_one_row_is_done_at_once(path, pragma):
    """Nobody fetches its row. A statement that writes holds up others' commits as long as it runs."""
    writer = sqpyte.connect(path, isolation_level=None)
    cursor = writer.execute('PRAGMA ' + pragma)
    assert busy(writer) == []
    writer.execute('CREATE TABLE t(a)')
    writer.execute('INSERT INTO t VALUES(1)')
    assert sqpyte.connect(path).execute('SELECT * FROM t').fetchall() == [(1,)]
    assert len(cursor.fetchall()) == 1


def test_a_query_of_one_row_is_compiled_again_to_one_of_many(connection):
    """As long as a unique index holds it has one row."""
    connection.execute('CREATE TABLE t(a, b)')
    connection.execute('CREATE UNIQUE INDEX i ON t(b)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, i) for i in range(20)])
    sql = 'SELECT a FROM t WHERE b = 7'
    assert connection.execute(sql).fetchall() == [(7,)]
    connection.execute('DROP INDEX i')
    connection.execute('UPDATE t SET b = 7')
    for _ in range(2):
        assert connection.execute(sql).fetchall() == [(i,) for i in range(20)]
    assert connection.execute('PRAGMA table_info(t)').fetchall()[1:] == [(1, 'b', '', 0, None, 0)]
    connection.execute('CREATE TABLE u(x)')
    assert len(connection.execute('PRAGMA table_info(u)').fetchall()) == 1
    connection.execute('ALTER TABLE u ADD COLUMN y')
    assert len(connection.execute('PRAGMA table_info(u)').fetchall()) == 2


def test_no_finalizer_runs_where_no_cursor_is_dropped(numbers, collect, monkeypatch):
    """PyPy would make it a part of whatever loop is traced: see Sentinel."""
    made, dropped = [], []
    made_before = statement_cache.Sentinel.__init__
    monkeypatch.setattr(statement_cache.Sentinel, '__init__',
                        lambda self, cache: made.append(1) or made_before(self, cache))
    monkeypatch.setattr(session_of(numbers), 'cursor_dropped', dropped.append, raising=False)
    for _ in range(20):
        cursors = [numbers.execute('SELECT a FROM t WHERE a >= ?', (i,)) for i in range(5)]
        assert [len(cursor.fetchall()) for cursor in cursors] == [10, 9, 8, 7, 6]
        first, second = numbers.execute('SELECT a FROM t'), numbers.execute('SELECT b FROM t')
        assert next(first) == (0,) and next(second) == ('row 0',)
        first.close()
        second.execute('SELECT 1')
        assert [row for row in numbers.execute('SELECT a FROM t ORDER BY b')][-1] == (9,)
        collect()
    assert not dropped and not session_of(numbers).held and id(session_of(numbers)) not in statement_cache.watching
    assert len(made) <= (0 if statement_cache.REFERENCE_COUNTS else 5)


def test_a_finalizer_runs_for_each_cursor_that_is_dropped(numbers, collect):
    for _ in range(3):
        for i in range(4):
            numbers.execute('SELECT a FROM t WHERE a > ?', (i,)).fetchone()
        assert statement_cache.REFERENCE_COUNTS or session_of(numbers).held
        collect()
        session = session_of(numbers)
        assert not session.held and not busy(numbers) and id(session) not in statement_cache.watching


@pytest.mark.parametrize('inline', ['0', 'always'])
@pytest.mark.parametrize('end', ['execute', 'close', 'drop'])
def test_a_finalize_that_takes_its_own_statement_out_of_the_cache(path, inline, end):
    # In a process of its own: it ended with a crash.
    program = """if True:
        import gc
        import sqpyte
        connection = sqpyte.connect(%r, cached_statements=1)
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(12)])

        class Sum:
            def __init__(self):
                self.sum = 0
            def step(self, value):
                self.sum += value
            inverse = value = step
            def value(self):
                return self.sum
            def finalize(self):
                for n in range(3):
                    connection.execute('SELECT a, %%d FROM t' %% n).fetchone()
                return self.sum
        connection.create_window_function('w', 1, Sum)
        for _ in range(5):
            cursor = connection.execute('SELECT a, w(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t')
            assert cursor.fetchone() == (0, 0)
            if %r == 'execute':
                assert cursor.execute('SELECT a FROM t').fetchall() == [(i,) for i in range(12)]
            elif %r == 'close':
                cursor.close()
            del cursor
            gc.collect()
        print('fine', connection.execute('PRAGMA integrity_check').fetchall())
    """ % (path, end, end)
    done = subprocess.run([sys.executable, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, SQPYTE_INLINE=inline, PYTHONPATH=ROOT))
    assert done.stdout == b"fine [('ok',)]\n", (done.returncode, done.stderr[-2000:])
