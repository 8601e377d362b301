"""The map of a database file: pages need no system calls, and show what any process writes."""

import pytest

import sqpyte
from tests.outcome import outcome

ROWS = 6000
PAGES_AT_LEAST = 1500


def make(path, mode):
    """Make a table of some 1 500 pages; return a connection with a small page cache."""
    connection = sqpyte.connect(path, isolation_level=None)
    assert connection.execute('PRAGMA journal_mode=%s' % mode).fetchone() == (mode,)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, filler TEXT)')
    connection.execute('BEGIN')
    connection.executemany('INSERT INTO t VALUES(?, 1, ?)', ((i, 'x' * 1000) for i in range(ROWS)))
    connection.execute('COMMIT')
    assert connection.execute('PRAGMA page_count').fetchone()[0] >= PAGES_AT_LEAST
    return opened(path)


def opened(path):
    """Return a connection with a cache of ten pages."""
    connection = sqpyte.connect(path, isolation_level=None, timeout=0)
    connection.execute('PRAGMA cache_size=10')
    return connection


def reads():
    """Return how many read calls this process has made."""
    with open('/proc/self/io', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('syscr'))


@pytest.fixture(params=['delete', 'wal'])
def path(request, tmp_path):
    """A database in a journal mode."""
    name = str(tmp_path / 'a.db')
    make(name, request.param).close()
    return name


def test_a_scan_needs_few_calls(path):
    connection = opened(path)
    before = reads()
    assert connection.execute('SELECT sum(n), count(*) FROM t').fetchone() == (ROWS, ROWS)
    assert reads() - before < 100


def test_rows_all_over_a_large_file_are_read_until_a_map_pays(path):
    writer = opened(path)
    writer.execute('BEGIN')
    writer.executemany('INSERT INTO t VALUES(?, 1, ?)', ((ROWS + i, 'x' * 1000) for i in range(4 * ROWS)))
    writer.execute('COMMIT')
    writer.close()
    connection = opened(path)
    rows = 5 * ROWS
    pages = connection.execute('PRAGMA page_count').fetchone()[0]

    def calls(first, count):
        before = reads()
        for i in range(first, first + count):
            key = i * 7919 % rows
            assert connection.execute('SELECT id, n FROM t WHERE id=?', (key,)).fetchall() == [(key, 1)]
        return reads() - before

    assert calls(0, pages // 32) >= pages // 32
    calls(pages // 32, pages // 8)
    assert calls(pages // 4, 500) < 50


def test_the_file_grows_and_is_mapped_further(path):
    """Within the map's room, and beyond it."""
    reader, writer = opened(path), opened(path)
    rows = ROWS
    for more in (100, 2000, 20000):
        assert reader.execute('SELECT count(*) FROM t').fetchone() == (rows,)
        writer.execute('BEGIN')
        writer.executemany('INSERT INTO t VALUES(?, 1, ?)', ((rows + i, 'x' * 1000) for i in range(more)))
        writer.execute('COMMIT')
        rows += more
        assert reader.execute('SELECT count(*), sum(n), max(length(filler)) FROM t').fetchone() == (rows, rows, 1000)
    writer.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
    assert reader.execute('SELECT sum(n) FROM t').fetchone() == (rows,)
    before = reads()
    assert reader.execute('SELECT sum(n) FROM t').fetchone() == (rows,)
    assert reads() - before < 100


def test_the_next_scan_sees_what_others_have_written(path):
    reader, writer = opened(path), opened(path)
    for n in (2, 3):
        assert reader.execute('SELECT sum(n) FROM t').fetchone() == (ROWS * (n - 1),)
        writer.execute('UPDATE t SET n=?', (n,))
        assert reader.execute('SELECT sum(n) FROM t').fetchone() == (ROWS * n,)


def test_a_scan_sees_what_this_connection_writes_meanwhile(path):
    connection = opened(path)
    rows = iter(connection.execute('SELECT id, n FROM t ORDER BY id'))
    seen = [next(rows) for _ in range(100)]
    connection.execute('UPDATE t SET n=5 WHERE id>=200')
    seen += list(rows)
    assert seen == [(i, 5 if i >= 200 else 1) for i in range(ROWS)]


def test_a_snapshot_stays_as_it_is(tmp_path):
    name = str(tmp_path / 'a.db')
    make(name, 'wal').close()
    reader, writer = opened(name), opened(name)
    rows = iter(reader.execute('SELECT n FROM t ORDER BY id'))
    seen = [next(rows) for _ in range(100)]
    writer.execute('UPDATE t SET n=7')
    writer.execute('PRAGMA wal_checkpoint(PASSIVE)')
    seen += list(rows)
    assert seen == [(1,)] * ROWS
    assert reader.execute('SELECT sum(n) FROM t').fetchone() == (7 * ROWS,)
    writer.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    assert reader.execute('SELECT sum(n) FROM t').fetchone() == (7 * ROWS,)


@pytest.mark.parametrize('mode', ['wal', 'delete'])
def test_a_function_rolls_back_what_goes_on_to_write(tmp_path, mode):
    """The statement's OpenWrite comes when its transaction is over: the pager only reads, and a page of the map can't
    be written to. SQLite writes to its cache then, as without a map."""
    def found(number, mapped):
        name = str(tmp_path / ('%d.db' % number))
        connection = sqpyte.connect(name, isolation_level=None)
        connection.execute('PRAGMA page_size=1024')
        connection.execute('PRAGMA auto_vacuum=1')
        connection.execute('PRAGMA journal_mode=%s' % mode)
        connection.executescript('''
            CREATE TABLE log(a);
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);
            WITH RECURSIVE r(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM r LIMIT 20000)
            INSERT INTO t(a, b) SELECT n, 'some text ' || n FROM r''')
        connection.close()
        connection = sqpyte.connect(name, isolation_level=None)
        if not mapped:
            connection.execute('PRAGMA mmap_size=0')
        calls = []

        def f(value):
            calls.append(value)
            if len(calls) == 5:
                connection.execute('INSERT INTO log VALUES(1)')
            if len(calls) == 20:
                connection.execute('ROLLBACK')
            return value
        connection.create_function('f', 1, f)
        assert connection.execute('SELECT sum(a) FROM t').fetchone() == (200010000,)
        connection.execute('BEGIN')
        result = [outcome(lambda: connection.execute(
            'INSERT INTO t(a, b) SELECT f(a), b FROM t WHERE id % 500 = 1').rowcount)]
        result += [outcome(lambda: connection.execute('SELECT count(*) FROM t').fetchall()), connection.in_transaction]
        connection.close()
        connection = sqpyte.connect(name)
        result.append(connection.execute('SELECT count(*) FROM t').fetchall())
        connection.close()
        return result
    assert found(0, mapped=True) == found(1, mapped=False)


def test_a_file_that_became_shorter(path):
    reader, writer = opened(path), opened(path)
    assert reader.execute('SELECT count(*) FROM t').fetchone() == (ROWS,)
    writer.execute('DELETE FROM t WHERE id>=1000')
    writer.execute('VACUUM')
    assert reader.execute('SELECT count(*), sum(n) FROM t').fetchone() == (1000, 1000)


@pytest.mark.parametrize('mode', ['delete', 'truncate', 'persist', 'wal'])
@pytest.mark.parametrize('vfs', ['unix', 'unix-dotfile', 'unix-excl', 'unix-none'])
def test_every_built_in_vfs(tmp_path, vfs, mode):
    """Only where locks are POSIX locks is the file mapped."""
    uri = 'file:%s?vfs=%s' % (tmp_path / 'a.db', vfs)
    writer = sqpyte.connect(uri, uri=True, isolation_level=None)
    writer.execute('PRAGMA journal_mode=%s' % mode)
    writer.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, v, filler)')
    writer.executemany('INSERT INTO t VALUES(?, 0, ?)', ((i, 'x' * 1000) for i in range(70)))
    reader = sqpyte.connect(uri, uri=True, isolation_level=None)
    for n in range(4):
        assert reader.execute('SELECT sum(v), count(filler) FROM t').fetchone() == (70 * n, 70)
        writer.execute('UPDATE t SET v = v + 1')
        if n % 2:
            writer.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
    reader.execute('UPDATE t SET v = v + 10')
    assert writer.execute('SELECT sum(v) FROM t').fetchone() == (70 * 14,)
