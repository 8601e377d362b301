"""Rows that are sought by rowid again and again, kept beside the B-tree (row_cache.c): the same rows as stock,
whatever is written meanwhile, and fewer visits to pages."""

import ctypes
import gc
import os
import random
import sqlite3
import subprocess
import sys

import pytest

import sqpyte
from c_engine.build import build
from pypy_module.ffi import library
from tests.c_engine.test_page_cache import used
from tests.differential.sessions import capi

ROWS = 4000
KEYS = 700
SCHEMA = (
    'CREATE TABLE o(id INTEGER PRIMARY KEY, k, s INTEGER, v)',
    'CREATE TABLE d(id INTEGER PRIMARY KEY, a, b TEXT, c, e)',
    'CREATE TABLE s(id INTEGER PRIMARY KEY, n TEXT, d INTEGER)',
    'CREATE INDEX d_a ON d(a)',
    "ALTER TABLE d ADD COLUMN late DEFAULT 'later'",
)
QUERIES = [
    'SELECT o.id, d.a, d.b, d.c, d.e, d.late FROM o CROSS JOIN d ON d.id = o.k',
    'SELECT o.id, d.id, d.e, s.n FROM o CROSS JOIN d ON d.id = o.k CROSS JOIN s ON s.id = o.s',
    'SELECT o.id, d.rowid, d.late, typeof(d.c) FROM o LEFT JOIN d ON d.id = o.k',
    'SELECT o.id, d.b, s.n, t.n FROM o LEFT JOIN d ON d.id = o.k AND d.a > 30 LEFT JOIN s ON s.id = o.s '
    'LEFT JOIN s AS t ON t.id = d.id % 40',
    'SELECT s.n, count(*), sum(d.c), max(d.b), min(d.late) FROM o CROSS JOIN d ON d.id = o.k '
    'CROSS JOIN s ON s.id = d.id % 7 GROUP BY s.n',
    'SELECT o.id, (SELECT d.b FROM d WHERE d.id = o.k), '
    '(SELECT n FROM s WHERE s.id = o.s AND s.d > o.id % 3) FROM o',
    'SELECT o.id, s.n, p.v FROM o CROSS JOIN s ON s.id = o.s '
    'CROSS JOIN o AS p ON p.id BETWEEN s.d AND s.d + 3',
    'SELECT o.id, d.c FROM o CROSS JOIN d ON d.id = o.k OR d.a = o.s WHERE o.id < 900',
    'SELECT o.id, d.c FROM o CROSS JOIN d ON d.id IN (o.k, o.s, o.k + 1)',
    'SELECT o.id, d.b FROM o CROSS JOIN d ON d.id = o.k WHERE o.id IN (SELECT id FROM s) OR d.a < 4',
    'SELECT o.id, d.b, d.e FROM (SELECT * FROM o ORDER BY k, id) AS o CROSS JOIN d ON d.id = o.k',
    'SELECT o.id, d.id, d.b FROM o, d WHERE d.id = o.k AND d.b > ?1 ORDER BY d.b, o.id',
]


def fill(connection, page_size, scale=1):
    """Make the tables, the same for a number: o's keys come again, at random and in turns."""
    numbers = random.Random(page_size)
    connection.execute('PRAGMA page_size=%d' % page_size)
    kinds = [None, 1, -1, 2 ** 62, 1.5, b'blob', 'text', 0.0, b'x' * 30]
    for sql in SCHEMA[:-1]:
        connection.execute(sql)
    connection.executemany('INSERT INTO d VALUES(?, ?, ?, ?, ?)', [
        (i * i * 97 if i % 9 == 5 else -i if i % 9 == 4 else i, i % 60,
         'b%d' % i + 'y' * (1300 if i % 50 == 3 else 200 if i % 31 == 2 else i % 8),
         kinds[i % 9], numbers.random() * i) for i in range(KEYS)])
    connection.execute(SCHEMA[-1])
    connection.execute("UPDATE d SET late = 'early' WHERE id % 4 = 1")
    keys = [row[0] for row in connection.execute('SELECT id FROM d ORDER BY id')]
    connection.executemany('INSERT INTO o VALUES(?, ?, ?, ?)', [
        (i, numbers.choice(keys) if i % 3000 < 1500 else keys[i % KEYS] if i % 11 else -7 if i % 2 else None,
         i % 45, i % 13) for i in range(ROWS * scale)])
    connection.executemany('INSERT INTO s VALUES(?, ?, ?)', [(i, 'name %d' % i, i * 5) for i in range(40)])
    connection.commit()


def both(page_size=1024, scale=1):
    """Connections of stock and of ours to equal databases in memory."""
    connections = sqlite3.connect(':memory:'), sqpyte.connect(':memory:')
    for connection in connections:
        fill(connection, page_size, scale)
    return connections


def highest():
    """Return the most bytes that the engine has had allocated since the last call."""
    function = ctypes.CDLL(library.path).sqlite3_memory_highwater
    function.restype = ctypes.c_int64
    return function(1)


def typed(rows):
    """Rows (list) with the types of their values."""
    return [(row, [type(value) for value in row]) for row in rows]


@pytest.mark.parametrize('page_size', [512, 4096])
@pytest.mark.parametrize('sql', QUERIES)
def test_rows_are_stocks(page_size, sql):
    stock, ours = both(page_size)
    parameters = ('b3',) if '?' in sql else ()
    expected = typed(stock.execute(sql, parameters).fetchall())
    for _ in range(2):
        assert typed(ours.execute(sql, parameters).fetchall()) == expected


CHANGES = [
    'UPDATE d SET b = b || id, c = id WHERE id % 3 = 1',
    'UPDATE s SET n = n || 1',
    'DELETE FROM d WHERE id % 17 = 3',
    "INSERT OR REPLACE INTO d(id, a, b) SELECT id + 1, 7, 'new' FROM d WHERE id % 13 = 1",
    'SAVEPOINT p; UPDATE d SET c = 77; DELETE FROM s; ROLLBACK TO p; RELEASE p',
    'CREATE TABLE IF NOT EXISTS other(x)',
    'INSERT INTO other VALUES(1)',
    "UPDATE d SET b = 'shrunk' WHERE id > 50",
    "UPDATE d SET b = 'grown' || hex(zeroblob(300)) WHERE id % 7 = 0",
    'DELETE FROM s WHERE id % 5 = 2',
    'DELETE FROM d',
]


def changed_between(connection, sql, seed):
    """The rows (list) of a query between which changes are made at places by `seed` (int)."""
    numbers = random.Random(seed)
    rows = []
    parameters = ('b3',) if '?' in sql else ()
    next_change = 40 + numbers.randrange(1200)
    changes = CHANGES[:-1] * 2
    numbers.shuffle(changes)
    changes = ['CREATE TABLE IF NOT EXISTS other(x)'] + changes + CHANGES[-1:]
    for i, row in enumerate(connection.execute(sql, parameters)):
        rows.append(row)
        if i == next_change and changes:
            for change in changes.pop(0).split(';'):
                connection.execute(change)
            next_change += 1 + numbers.randrange(500)
    return rows


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('sql', QUERIES)
def test_what_is_written_between_rows_is_seen(sql, seed):
    results = [changed_between(connection, sql, seed) for connection in both()]
    assert results[0] == results[1]


# In the middle of a row: before the row's columns are read, between two of them, and after.
WITHIN = [
    'SELECT o.id, tick(o.id), d.b, d.c, d.id FROM o CROSS JOIN d ON d.id = o.k',
    'SELECT o.id, d.b, tick(o.id), d.c, d.id, s.n FROM o CROSS JOIN d ON d.id = o.k '
    'CROSS JOIN s ON s.id = o.s',
    'SELECT o.id, d.c, d.e, d.id FROM o CROSS JOIN d ON d.id = o.k AND tick(o.id) >= 0 AND d.a >= 0',
    'SELECT count(*), sum(d.c), group_concat(d.b) FROM o CROSS JOIN d ON d.id = o.k WHERE tick(o.id) < 9',
]


@pytest.mark.parametrize('sql', WITHIN)
@pytest.mark.parametrize('change', [
    'UPDATE d SET c = 5, b = ?1 WHERE id = (SELECT k FROM o WHERE id = ?1)',
    'DELETE FROM d WHERE id = (SELECT k FROM o WHERE id = ?1)',
    'INSERT INTO s(n) VALUES(?1)',
    "INSERT INTO d(id, b) VALUES(1000000 + ?1, 'x')",
])
def test_what_is_written_within_a_row_is_seen(sql, change):
    results = []
    for connection in both():
        def tick(i, c=connection):
            if i % 700 == 640:
                c.execute(change, (i,))
            return i % 10
        connection.create_function('tick', 1, tick)
        results.append(connection.execute(sql).fetchall())
    assert results[0] == results[1]


def test_a_roll_back_ends_the_query_as_in_stock():
    results = []
    for connection in both():
        connection.isolation_level = None
        connection.execute('BEGIN')
        connection.execute('UPDATE d SET c = 9')
        rows = []
        error = None
        try:
            for row in connection.execute(QUERIES[0]):
                rows.append(row)
                if len(rows) == 2500:
                    connection.execute('ROLLBACK')
                if len(rows) == 2600:
                    break
        except (sqlite3.Error, sqpyte.Error) as raised:
            error = type(raised).__name__
        results.append((rows[:2500], error, connection.execute('SELECT sum(c) FROM d').fetchall()))
    assert results[0] == results[1]


@pytest.mark.parametrize('journal', ['delete', 'wal'])
def test_another_connection_writes(tmp_path, journal):
    """It can in WAL mode only; a query sees what was there when it began, the next one what is there now."""
    results = []
    for module in (sqlite3, sqpyte):
        name = str(tmp_path / (module.__name__ + '.db'))
        reader = module.connect(name, isolation_level=None)
        reader.execute('PRAGMA journal_mode=' + journal).fetchall()
        reader.execute('BEGIN')
        fill(reader, 1024)
        writer = module.connect(name, timeout=0, isolation_level=None)
        seen = []
        for round_number in range(3):
            for i, row in enumerate(reader.execute(QUERIES[round_number])):
                seen.append(row)
                if i == 2000:
                    try:
                        writer.execute("UPDATE d SET b = 'other ' || ?, c = NULL", (round_number,))
                        seen.append('written')
                    except module.OperationalError:
                        seen.append('locked')
            writer.execute("UPDATE d SET e = ?", (round_number,))
        reader.execute('VACUUM')
        seen.append(reader.execute(QUERIES[0]).fetchall())
        reader.close()
        writer.close()
        results.append(seen)
    assert results[0] == results[1]


@pytest.mark.parametrize('sql', [
    'UPDATE o SET v = (SELECT a FROM d WHERE d.id = o.k)',
    'UPDATE d SET a = (SELECT count(*) FROM o CROSS JOIN s ON s.id = o.s WHERE o.k = d.id AND s.d > 9)',
    'DELETE FROM o WHERE (SELECT a FROM d WHERE d.id = o.k) < 20',
    'INSERT INTO s(n) SELECT d.b FROM o CROSS JOIN d ON d.id = o.k CROSS JOIN s AS t ON t.id = o.s',
    'UPDATE d SET a = o.v FROM o WHERE o.k = d.id',
])
def test_statements_that_write(sql):
    results = []
    for connection in both():
        connection.execute(sql)
        results.append([connection.execute('SELECT * FROM %s ORDER BY 1' % name).fetchall()
                        for name in ('o', 'd', 's')])
    assert results[0] == results[1]


@pytest.mark.parametrize('path', [build.Paths().engine_library, build.Paths().stock_library])
def test_blobs_that_are_reopened(path):
    """Their programs seek by rowid, and then the cursor is read past the program."""
    connection = capi.Connection(capi.Library(path))
    connection.execute('CREATE TABLE d(id INTEGER PRIMARY KEY, c)')
    connection.execute("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60) "
                       "INSERT INTO d SELECT n, 'text ' || n FROM r")
    blob = capi.ffi.new('sqlite3_blob **')
    connection.check(connection.c.sqlite3_blob_open(connection.db, b'main', b'd', b'c', 1, 0, blob))
    for i in range(400):
        connection.check(connection.c.sqlite3_blob_reopen(blob[0], i % 50 + 1))
        size = connection.c.sqlite3_blob_bytes(blob[0])
        found = capi.ffi.new('char[]', size)
        connection.check(connection.c.sqlite3_blob_read(blob[0], found, size, 0))
        assert capi.ffi.buffer(found)[:] == b'text %d' % (i % 50 + 1)
    connection.check(connection.c.sqlite3_blob_close(blob[0]))
    connection.close()


def test_all_memory_is_given_back():
    ours = both(512, 8)[1]
    before = []
    for sql in QUERIES * 2:
        ours.execute(sql, ('b3',) if '?' in sql else ()).fetchall()
    for _ in range(3):
        cursor = ours.execute(QUERIES[0])
        cursor.fetchmany(3000)
        held = used()
        cursor.close()
        gc.collect()
        before.append(used())
        assert used() <= held
    assert before[0] == before[-1]


def test_memory_is_bounded():
    """A table of 4 MB, some of whose rows come again more than others."""
    ours = sqpyte.connect(':memory:')
    ours.execute('CREATE TABLE d(id INTEGER PRIMARY KEY, b)')
    ours.executemany('INSERT INTO d VALUES(?, ?)', ((i, 'x' * 100) for i in range(40000)))
    ours.execute('CREATE TABLE o(k)')
    numbers = random.Random(1)
    ours.executemany('INSERT INTO o VALUES(?)',
                     ((int(40000 * numbers.random() ** 4),) for _ in range(150000)))
    ours.commit()
    sql = 'SELECT count(*), sum(length(d.b)) FROM o CROSS JOIN d ON d.id = o.k'
    assert ours.execute(sql).fetchall() == [(150000, 15000000)]
    gc.collect()
    before = used()
    assert highest() >= before
    assert ours.execute(sql).fetchall() == [(150000, 15000000)]
    assert 300000 < highest() - before < 2 << 20


_HITS = '''
import sys
from tests.differential.sessions import capi
from tests.c_engine import test_row_cache
from pypy_module.ffi import library
connection = capi.Connection(capi.Library(library.path))
for sql in ('PRAGMA page_size=512',) + test_row_cache.SCHEMA:
    connection.execute(sql)
connection.execute("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 2000) "
                   "INSERT INTO d(id, a, b) SELECT n * 7, n, 'text ' || n FROM r")
connection.execute("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20000) "
                   "INSERT INTO o(k) SELECT " + sys.argv[1] + " FROM r")
found = capi.ffi.new('int[2]')
connection.c.sqlite3_db_status(connection.db, 7, found, found + 1, 1)
rows = connection.execute('SELECT count(d.b), sum(d.a) FROM o CROSS JOIN d ON d.id = o.k')
connection.c.sqlite3_db_status(connection.db, 7, found, found + 1, 1)
print(rows[0][0], rows[0][1], found[0])
'''


def visits(key, without):
    """(count, sum, visits to pages) of a join by the SQL expression `key` (str) of row numbers n."""
    room = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, '-c', _HITS, key], cwd=room, stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, SQPYTE_WITHOUT=without, SQPYTE_VM='off'))
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize('key', ['7 * (n * 7919 % 2000 + 1)', '7 * (n % 3 * 600 + n / 3 % 600 + 1)',
                                 '7 * (n * 7919 % 150 + 1)'])
def test_pages_are_visited_once_or_twice(key):
    """At random, in turns, and few of many; SQPYTE_WITHOUT=row-cache switches it off."""
    count, total, kept = visits(key, '')
    assert [count, total] == visits(key, 'row-cache')[:2]
    assert count == 20000
    assert kept < visits(key, 'row-cache')[2] / 2.5


def test_rows_that_never_come_again_are_not_kept():
    kept, sought = visits('n * 7', '')[2], visits('n * 7', 'row-cache')[2]
    assert kept == sought
