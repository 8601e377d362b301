"""The batches: every value that a record can hold, and records that are damaged."""
import random
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.extent import everything
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import answers, compare

EDGES = [2 ** n + d for n in (0, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 62, 63) for d in (-2, -1, 0, 1)]
INTEGERS = [value for value in EDGES + [-value for value in EDGES] if -2 ** 63 <= value < 2 ** 63]
REALS = [0.0, -0.0, 1.0, 1.5, -2.0 ** 63, 2.0 ** 63, 1e300, -1e-300, float('inf'), -float('inf'),
         9007199254740993.0]
TEXTS = ['', 'a', 'ü', '\0', 'a\0b', '\U0001f600' * 3, 'x' * 57, 'x' * 58, 'y' * 400, 'z' * 9000]
BLOBS = [b'', b'\0', b'\xff' * 57, b'\x80' * 1000]
VALUES = INTEGERS + REALS + TEXTS + BLOBS + [None]


def table(side, rows, page_size=512, declared='a, b REAL, c TEXT'):
    """A connection with the table t that holds the rows."""
    connection = side.connect()
    connection.execute('PRAGMA page_size=%d' % page_size)
    connection.execute('CREATE TABLE t(%s)' % declared)
    connection.execute('BEGIN')
    for row in rows:
        connection.execute('INSERT INTO t VALUES(%s)' % ', '.join('?' * len(row)), row)
    connection.execute('COMMIT')
    return connection


QUERIES = [
    'SELECT * FROM t',
    'SELECT rowid, c FROM t',
    'SELECT a, typeof(b) FROM t',
    'SELECT a FROM t WHERE a > b',
    'SELECT a FROM t WHERE b <= c OR a IS c',
    'SELECT a FROM t WHERE a = ?',
    'SELECT a + b, a - c, b * 2, a / b, a % b FROM t',
    'SELECT f(a), f(b), f(c) FROM t',
    'SELECT c FROM t WHERE f(a) > ?',
]


def run(side, rows, page_size, parameter):
    """What the queries return of a table with these rows."""
    connection = table(side, rows, page_size)
    connection.create_function('f', 1, lambda value: value)
    found = []
    for query in QUERIES:
        values = (parameter,) if '?' in query else ()
        found.append(connection.execute(query, values).fetchall())
    return repr(found)      # which tells 1 from 1.0, and -0.0 from 0.0


@pytest.mark.parametrize('page_size', [512, 4096, 65536])
def test_all_values(page_size):
    rows = [(a, VALUES[(i * step + 5) % len(VALUES)], VALUES[(i * 7 + step) % len(VALUES)])
            for i, a in enumerate(VALUES) for step in (1, 11, 17)]
    compare(lambda side: run(side, rows, page_size, 3), oracle='C')


value = st.one_of(
    st.none(), st.integers(-2 ** 63, 2 ** 63 - 1), st.integers(-3, 3), st.floats(allow_nan=False),
    st.sampled_from(VALUES), st.text(max_size=20), st.binary(max_size=20),
    st.binary(min_size=300, max_size=700))


# CPython runs the same code again and again.
@settings(max_examples=60 if everything() else 30 if sys.implementation.name == 'pypy' else 10,
          suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(value, value, value), min_size=3, max_size=60),
       st.sampled_from([512, 1024, 65536]), value)
def test_some_values(rows, page_size, parameter):
    compare(lambda side: run(side, rows, page_size, parameter), oracle='C')


class Wide(str):
    """A text that looks longer than it is."""

    def __len__(self):
        return 2 * str.__len__(self)


class Other(str):
    """A text that would like to be another."""

    def __str__(self):
        return 'another'

    def encode(self, *arguments):
        return b'another'


class Aggregate:
    def __init__(self):
        self.last = None

    def step(self, value):
        self.last = value

    inverse = step

    def value(self):
        return (Wide, Other)[self.last % 2]('abc')

    finalize = value


@pytest.mark.parametrize('query', ['SELECT f(a) FROM t', 'SELECT s(a) FROM t GROUP BY a',
                                   'SELECT s(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t'])
def test_texts_of_other_classes(query):
    def action(side):
        connection = table(side, [(i, 0, 0) for i in range(50)])
        connection.create_function('f', 1, lambda value: (Wide, Other)[value % 2]('abc'))
        connection.create_window_function('s', 1, Aggregate)
        return [(type(value), value, len(value), value + '!', value[:9]) for value, in connection.execute(query)]
    found = answers(action, ('C', 'inlined'))
    assert found['C'] == found['inlined'] == [(str, 'abc', 3, 'abc!', 'abc')] * 50


def test_rowids():
    rowids = sorted(set(INTEGERS))

    def action(side):
        connection = side.connect()
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [(rowid, 'x') for rowid in rowids])
        return (connection.execute('SELECT * FROM t').fetchall(),
                connection.execute('SELECT a FROM t WHERE b = \'x\' AND a <> 5').fetchall())
    compare(action)


def test_columns_added_later():
    def action(side):
        connection = table(side, [(i, i + 0.5, 'c%d' % i) for i in range(40)])
        for default in ('7', '2.5', '\'text ü\'', 'x\'00ff\'', 'NULL', '-9223372036854775808', '\'\''):
            name = 'x%d' % len(connection.execute('PRAGMA table_info(t)').fetchall())
            connection.execute('ALTER TABLE t ADD COLUMN %s REAL DEFAULT %s' % (name + 'r', default))
            connection.execute('ALTER TABLE t ADD COLUMN %s DEFAULT %s' % (name, default))
            connection.execute('INSERT INTO t(a) VALUES(1000)')
        found = [connection.execute('SELECT * FROM t').fetchall()]
        for column in connection.execute('PRAGMA table_info(t)').fetchall():
            found.append(connection.execute(
                'SELECT a, %s FROM t WHERE %s > 0' % (column[1], column[1])).fetchall())
        return repr(found)
    compare(action)


def test_many_columns():
    def action(side):
        count = 150
        rows = [[i * j if (i + j) % 5 else 'text %d' % j for j in range(count)] for i in range(40)]
        connection = table(side, rows, 1024, ', '.join('c%d' % j for j in range(count)))
        return (connection.execute('SELECT * FROM t').fetchall(),
                connection.execute('SELECT c149, c0, c17, c16, c15 FROM t WHERE c80 > 200').fetchall())
    compare(action)


def test_texts_that_are_no_utf8():
    bad = [b'\xff', b'ok\x80', b'\xed\xa0\x80', b'\xc0\x80', b'\xf5\x80\x80\x80', b'\xe2\x82']

    def action(side):
        connection = side.connect()
        connection.execute('CREATE TABLE t(a, b)')
        for i in range(60):
            connection.execute('INSERT INTO t VALUES(?, CAST(? AS TEXT))',
                               (i, bad[i // 20] if i % 20 == 19 else b'good %d' % i))
        connection.create_function('f', 1, lambda text: text)
        found = []
        for query in ('SELECT a, b FROM t', 'SELECT a FROM t WHERE b > \'go\'',
                      'SELECT f(b) FROM t', 'SELECT a FROM t WHERE f(b) = b'):
            cursor = connection.execute(query)
            found.append([outcome(cursor.fetchone) for _ in range(25)])
        return found
    compare(action, oracle='C')


def test_utf16():
    def action(side):
        connection = side.connect()
        connection.execute('PRAGMA encoding = \'UTF-16\'')
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [('ü%d' % i,) for i in range(50)])
        return connection.execute('SELECT a FROM t').fetchall()
    compare(action, inlined=False)


@pytest.mark.parametrize('seed', range(12))
def test_damaged_pages(seed):
    """Whatever a page holds, the answer is upstream's: the same rows, then the same error."""
    import sqpyte
    source = sqpyte.connect(':memory:', isolation_level=None)
    rng = random.Random(seed)
    source.execute('PRAGMA page_size=512')
    source.execute('CREATE TABLE t(a, b REAL, c TEXT, d)')
    for i in range(60):
        source.execute('INSERT INTO t VALUES(?, ?, ?, ?)', (
            i, i + 0.5 if i % 3 else i, 'text %d' % i * rng.randrange(4), bytes(i * 20 % 700)))
    image = bytearray(source.serialize())
    source.close()
    pages = len(image) // 512

    def action(side):
        found = []
        rng = random.Random(seed)
        for _ in range(25):
            damaged = bytearray(image)
            page = rng.randrange(1, pages)
            for _ in range(rng.choice((1, 1, 2, 5))):
                at = rng.choice((rng.randrange(512), rng.randrange(40), 511 - rng.randrange(60)))
                damaged[page * 512 + at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
            connection = side.connect()
            connection.create_function('f', 1, lambda value: value)
            connection.deserialize(bytes(damaged))
            for query in ('SELECT rowid, a, b FROM t', 'SELECT a, c FROM t WHERE b > 3',
                          'SELECT f(d), c FROM t', 'SELECT d FROM t WHERE f(a) <> 5'):
                cursor = outcome(connection.execute, query)
                if isinstance(cursor, str):
                    found.append(cursor)
                    continue
                for _ in range(200):
                    row = outcome(cursor.fetchone)
                    found.append(row)
                    if row is None or isinstance(row, str):
                        break
            connection.close()
            side.connections.remove(connection)
        return found
    found = answers(action, ('C', 'inlined'))
    assert found['inlined'] == found['C']
