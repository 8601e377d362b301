"""Rows that C has computed ahead: what is done between two of them is seen as in the C tier."""
import gc
import sys

import pytest
from tests.outcome import outcome
from tests.pypy_module.inline.test_between import WRITES
from tests.pypy_module.inline.test_loops import ROWS, filled

import sqpyte
from pypy_module.inline.runtime import rows as inline_rows
from tests.extent import everything
from tests.pypy_module.inline.inlining import Counter, answers, planned

AT = [0, 1, 5, 20, 57, 2]        # rows after which it happens

QUERIES = [
    'SELECT t.a, u.d, t.c FROM t JOIN t AS u ON u.a = t.b + 1',
    'SELECT t.a, u.a, u.d FROM t LEFT JOIN t AS u ON u.b = t.b AND u.a > t.a WHERE t.b <> 4',
    'SELECT a, d || \'!\', abs(b) FROM t WHERE b IN (1, 3, 5, 7, 9)',
    'SELECT a, (SELECT count(*) FROM t AS u WHERE u.b < t.b), d FROM t ORDER BY a DESC',
    'SELECT a, d FROM t UNION ALL SELECT x, 1 FROM log UNION ALL SELECT a, b FROM t',
    'SELECT b, count(*), max(d) FROM t INDEXED BY ib GROUP BY b, a',
    'SELECT k, v FROM w WHERE k > \'text 1\'',
    'SELECT w.v, t.d FROM w JOIN t ON t.a = w.v WHERE t.d > \'text 2\' LIMIT 90 OFFSET 3',
    'SELECT DISTINCT t.b, u.b FROM t, t AS u WHERE u.a > 60',
    'SELECT DISTINCT a % 40, c COLLATE NOCASE FROM t',
    'SELECT a, d FROM t ORDER BY b, a',
    'SELECT b, d, group_concat(a) FROM t GROUP BY b, d',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 80) '
    'SELECT n, d FROM r LEFT JOIN t ON a = n',
    'SELECT a, sum(b) OVER (ORDER BY a) FROM t',
]
# Elsewhere nothing is inlined unless asked for.
SOME = QUERIES if sys.implementation.name == 'pypy' else QUERIES[::5]
WRITES_HERE = WRITES + [
    'DELETE FROM w WHERE v > {here}', 'UPDATE w SET k = k || \'x\' WHERE v = {next}', 'DROP TABLE w',
    'DROP INDEX ib', 'REINDEX', 'INSERT INTO log SELECT a FROM t', 'ANALYZE',
    'SELECT count(*) FROM t, w', 'PRAGMA integrity_check']


@pytest.fixture(autouse=True)
def shared_early(monkeypatch):
    """Texts that come again are found from the second batch on."""
    monkeypatch.setattr(inline_rows, 'INTERNED_FROM', 2)


def compare(action, oracle='sqlite3'):
    """Assert that the action gives the same in all tiers, and that rows were computed ahead."""
    before = Counter.started
    found = answers(action, (oracle, 'C', 'inlined'))
    assert found['inlined'] == found[oracle] == found['C']
    assert Counter.started > before


def many(side, path=':memory:', rows=90, **keywords):
    """A connection with an index and a table without rowid, too."""
    connection = filled(side, ROWS[:rows], path, **keywords)
    connection.execute('CREATE INDEX ib ON t(b, a)')
    connection.execute('CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID')
    connection.execute('INSERT INTO w SELECT d, a FROM t')
    connection.execute('INSERT INTO log SELECT a FROM t WHERE a < 30')
    if connection.in_transaction:
        connection.commit()
    return connection


@pytest.mark.parametrize('query', QUERIES)
def test_the_same_rows(query):
    def action(side):
        connection = many(side)
        cursor = connection.execute(query)
        found = [cursor.fetchone(), cursor.fetchmany(3), next(cursor)]
        found.append([row for row, _ in zip(cursor, range(20))])
        found += [cursor.fetchall(), cursor.fetchone(), cursor.fetchall()]
        return found, connection.execute(query).fetchall()
    compare(action)


@pytest.mark.parametrize('query', SOME)
def test_writes_between_rows(query):
    """Each query with a third of the writes, and in `make test-all` with all of them."""
    index = QUERIES.index(query)
    writes = [(number, write) for number, write in enumerate(WRITES_HERE)
              if everything() or (number // 3 + index) % 3 == 0]

    def action(side):
        found = []
        for number, write in writes:
            for at in AT[number % 3::3]:
                connection = many(side, rows=70)
                cursor = connection.execute(query)
                rows = [cursor.fetchone() for _ in range(at)]
                here = rows[-1][0] if rows and rows[-1] and isinstance(rows[-1][0], int) else -1
                for part in write.split(';'):
                    found.append((write, outcome(lambda: connection.execute(
                        part.format(here=here, next=here + 1)).fetchall())))
                found.append(outcome(cursor.fetchall))
                side.close()
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', SOME)
def test_a_write_after_each_row(query):
    def action(side):
        found = []
        for write in ('UPDATE t SET d = d || a WHERE a = ?', 'DELETE FROM t WHERE a = ?',
                      'INSERT INTO log VALUES(?)', 'UPDATE t SET b = b + 1 WHERE a > ?'):
            connection = many(side)
            for row in connection.execute(query):
                found.append(row)
                connection.execute(write, row[:1])
                if len(found) > 300:
                    break
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('what', ['commit', 'rollback', 'close', 'interrupt'])
def test_what_ends_the_transaction(what):
    def action(side):
        found = []
        for query in QUERIES:
            for at in AT if what != 'interrupt' or everything() else AT[:2]:    # each interrupt collects garbage
                connection = many(side, isolation_level='')
                connection.execute('INSERT INTO log VALUES(1)')
                cursor = connection.execute(query)
                for _ in range(at):
                    cursor.fetchone()
                found.append(outcome(getattr(connection, what)))
                found += [outcome(cursor.fetchone) for _ in range(3)]
                found.append(outcome(cursor.fetchall))
                side.close()
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('order', ['', 'ORDER BY b'])
def test_errors_come_with_their_row(order):
    def action(side):
        found = []
        for bad in (0, 1, 2, 3, 30, 63, 64, 89):
            connection = many(side)
            if order:       # the error is found when the sorted rows are read
                query = ('SELECT a, (SELECT abs(-9223372036854775807 - (a = %d))) FROM '
                         '(SELECT a FROM t ORDER BY b LIMIT 80)' % bad)
            else:
                query = ('SELECT t.a, abs(-9223372036854775807 - (t.a = %d)) FROM t, t AS u '
                         'WHERE u.a = t.a' % bad)
            cursor = connection.cursor()
            found.append(outcome(lambda: cursor.execute(query) and None))
            for _ in range(100):
                found.append(outcome(cursor.fetchone))
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            cursor = connection.cursor()
            outcome(lambda: cursor.execute(query))
            found.append(outcome(cursor.fetchone))
            connection.execute('DELETE FROM t WHERE a = %d' % bad)
            found.append(outcome(cursor.fetchall))
        return found
    compare(action)


def test_locks_are_kept_to_the_last_row():
    def action(side):
        first = many(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        found = []
        for query in QUERIES[:4] + QUERIES[8:12]:
            cursor = first.execute(query)
            count = len(first.execute(query).fetchall())
            for _ in range(count - 1):
                cursor.fetchone()
            found.append(outcome(lambda: other.execute('DELETE FROM log').fetchall()))
            cursor.fetchone()
            found.append(outcome(lambda: other.execute('DELETE FROM log').fetchall()))
            found.append(cursor.fetchone())
        return found
    compare(action)


def test_dropped_cursors_free_the_lock():
    def action(side):
        first = many(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        for query in QUERIES[::5]:
            cursor = first.execute(query)
            cursor.fetchmany(20)
            cursor.close()
            other.execute('DELETE FROM log')
            cursor = first.execute(query)
            cursor.fetchmany(20)
            cursor.execute('SELECT 1')
            other.execute('DELETE FROM log')
            cursor = first.execute(query)
            cursor.fetchmany(20)
            del cursor
            for _ in range(4):
                gc.collect()
            other.execute('DELETE FROM log')
        return True
    compare(action)


@pytest.mark.parametrize('query', [QUERIES[0], QUERIES[10]])
def test_another_text_factory_between_rows(query):
    def action(side):
        connection = many(side)
        cursor = connection.execute(query)
        found = [cursor.fetchone() for _ in range(9)]
        connection.text_factory = bytes
        found += cursor.fetchmany(3)
        connection.text_factory = str
        found += cursor.fetchmany(20)

        def refusing(data):
            raise ValueError(data)
        connection.text_factory = refusing
        found += [outcome(cursor.fetchone) for _ in range(2)]
        connection.text_factory = str
        return found + cursor.fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('order', ['', 'ORDER BY b'])
def test_texts_that_are_not_utf_8(order):
    def action(side):
        connection = many(side)
        connection.execute('UPDATE t SET d = CAST(x\'ff\' || d AS TEXT) WHERE a = 40')
        cursor = connection.execute('SELECT t.a, t.d, t.b FROM t, log WHERE x = 1 %s' % order)
        return [outcome(cursor.fetchone) for _ in range(60)]
    compare(action, oracle='C')


@pytest.mark.parametrize('size', [10, 3000, 70000, 200000])
def test_long_texts(size):
    def action(side):
        connection = many(side, rows=20)
        connection.execute('UPDATE t SET d = hex(zeroblob(?)) || a, e = zeroblob(?) WHERE a % 3 = 0',
                           (size // 2, size))
        found = connection.execute('SELECT t.a, t.d, t.e FROM t, log WHERE x = 1').fetchall()
        cursor = connection.execute('SELECT t.a, t.d, t.e FROM t, log WHERE x = 1 ORDER BY t.b')
        found += cursor.fetchmany(5)
        connection.execute('DELETE FROM t')
        return found + cursor.fetchall()
    compare(action)


KINDS_OF_TEXTS = {
    'runs': 'i / 4', 'few': 'i % 5', 'as many as are kept': 'i % 256', 'more': 'i % 1100',
    'distinct': 'i', 'later': 'CASE WHEN i < 20000 THEN i ELSE i % 3 END',
    'at first': 'CASE WHEN i < 700 THEN i % 3 ELSE i END',
}
SHAPES_OF_TEXTS = ['x', '\'a text of some length \' || x', 'substr(hex(zeroblob(40)), 1, x % 67)',
                   'CASE x % 3 WHEN 0 THEN x\'61\' WHEN 1 THEN \'a\' ELSE NULL END',
                   'char(228, 8364, 128512) || x', 'substr(\'0123456789\', 1, x % 10)']


@pytest.mark.parametrize('kind', sorted(KINDS_OF_TEXTS))
def test_texts_that_come_again(kind):
    rows = 45000 if kind in ('later', 'distinct') else 3000

    def action(side):
        connection = side.connect()
        connection.execute('CREATE TABLE n AS WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL '
                           'SELECT i + 1 FROM r WHERE i < %d) SELECT i FROM r' % rows)
        connection.execute('CREATE TABLE x AS SELECT CAST(%s AS TEXT) AS x FROM n'
                           % KINDS_OF_TEXTS[kind])
        query = ('SELECT %s, x.rowid FROM x CROSS JOIN n ON n.rowid = x.rowid'
                 % ', '.join(SHAPES_OF_TEXTS))
        found = [connection.execute(query).fetchall()]
        cursor = connection.execute(query)
        for row in cursor:
            found.append(row)
            if row[-1] in (7, 300, 2000):   # to C and ahead again
                connection.execute('DELETE FROM n WHERE i = 2500')
        return found, [tuple(map(type, row)) for row in found[0]]
    compare(action)


@pytest.mark.parametrize('order', ['', 'ORDER BY u.b'])
def test_texts_that_come_again_are_one_object(order):
    query = 'SELECT t.d, u.d FROM t AS u CROSS JOIN t INDEXED BY ib ON t.b >= 0 %s' % order
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(b, d)')
        connection.execute('CREATE INDEX ib ON t(b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [
            (i, 'text %d' % i) for i in range(50)])
        left, right = zip(*connection.execute(query).fetchall())
        assert len(left) == 2500 and len(set(left)) == len(set(right)) == 50
        assert len(set(map(id, left))) < 3 * 50
        assert len(set(map(id, right))) < 3 * 50


def joined(side, rows=12000, dimension=1500):
    """A connection with a table of `rows` rows that refer to `dimension` rows, each again and again."""
    connection = side.connect(':memory:', isolation_level=None)
    connection.execute('CREATE TABLE d(id INTEGER PRIMARY KEY, name, other)')
    connection.executemany('INSERT INTO d VALUES(?, ?, ?)', [
        (i * (1 if i % 50 else 4099), SHAPES[i % len(SHAPES)](i), 'other %d' % i)
        for i in range(dimension)])
    connection.execute('CREATE TABLE f(d, e)')
    connection.executemany('INSERT INTO f VALUES(?, ?)', [
        (i * 7 % dimension, i // 3 % 400) for i in range(rows)])
    return connection


SHAPES: list = [lambda i: 'name %d' % i, lambda i: 'n\u00e4me %d' % i, lambda i: 'x' * (i % 80), lambda i: i,
          lambda i: b'blob %d' % i, lambda i: None, lambda i: '\U0001f600' * (i % 20)]
JOINS = [
    'SELECT f.rowid, d.name FROM f CROSS JOIN d ON d.id = f.d',
    'SELECT d.name, d.other, b.other, f.rowid FROM f CROSS JOIN d ON d.id = f.d '
    'CROSS JOIN d AS b ON b.id = f.e',
    'SELECT d.other, f.rowid FROM f LEFT JOIN d ON d.id = f.d AND f.e > 100',
    'SELECT a.other, b.other FROM f CROSS JOIN d AS a ON a.id = f.e CROSS JOIN d AS b ON b.id = f.d '
    'WHERE a.id > b.id',
    # The cursor has moved when the row is given.
    'SELECT max(f.rowid), d.other, f.e FROM f CROSS JOIN d ON d.id = f.d GROUP BY f.rowid / 2',
    'SELECT f.rowid, (SELECT d.other FROM d WHERE d.id = f.d) FROM f',
    'SELECT d.other FROM f CROSS JOIN d ON d.id = f.d UNION ALL SELECT d.name FROM d',
]


@pytest.mark.parametrize('number', range(len(JOINS)))
def test_texts_of_rows_that_come_again(number):
    """Those that a join comes back to, and that are written to in between."""
    def action(side):
        connection = joined(side)
        found = connection.execute(JOINS[number]).fetchall()
        for write in ('UPDATE d SET other = other || \'!\' WHERE id % 3 = 0',
                      'INSERT INTO d SELECT id + 100000, name, other FROM d WHERE id < 90',
                      'SAVEPOINT s', 'UPDATE d SET name = id, other = id || \'?\'', 'ROLLBACK TO s'):
            cursor = connection.execute(JOINS[number])
            found += cursor.fetchmany(7000)
            connection.execute(write)
            found += cursor.fetchmany(9000)
            cursor.close()
        return found, [tuple(map(type, row)) for row in found]
    compare(action)


@pytest.mark.parametrize('count', [2, 60])
def test_rows_that_fill_the_buffer(count):
    """A row that doesn't fit in has made no text known."""
    def action(side):
        connection = side.connect()
        connection.execute('CREATE TABLE t(a, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [
            ('text %d' % (i // 3), 'x' * (i * 977 % 9000)) for i in range(600)])
        return connection.execute('SELECT %s FROM t CROSS JOIN t AS u ON u.rowid = t.rowid' % ', '.join(
            ['t.a', 'u.b'] * (count // 2))).fetchall()
    compare(action)


def test_hooks_between_rows():
    def action(side):
        connection = many(side)
        found = []
        for query in QUERIES:
            cursor = connection.execute(query)
            found += cursor.fetchmany(10)
            calls = []
            connection.set_progress_handler(lambda: calls.append(1), 20)
            found += cursor.fetchmany(10)
            connection.set_progress_handler(None, 0)
            connection.set_authorizer(lambda *args: 0)
            found += cursor.fetchall()
        return found
    compare(action)


def test_many_columns():
    def action(side):
        connection = many(side)
        names = ', '.join('t.a + %d, t.d' % n for n in range(40))
        return connection.execute('SELECT %s FROM t, log WHERE x < 2' % names).fetchall()
    compare(action)


def test_batches_grow_and_are_bounded():
    """Who reads one row pays for one more; and buffers are used again."""
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(1000)])
        query = 'SELECT t.a FROM t JOIN t AS u ON u.rowid = t.rowid'
        cursor = connection.execute(query)
        sizes = []
        for _ in range(1000):
            cursor.fetchone()
            runner = cursor._result_.runner
            if runner is not None:
                size = (runner.end - runner.first) // runner.stride
                if not sizes or sizes[-1] != size:
                    sizes.append(size)
        assert sizes[:7] == [2, 4, 8, 16, 32, 64, 128]
        assert max(sizes) <= inline_rows.MOST_ROWS
        count = len(inline_rows.free)
        for _ in range(10):
            connection.execute(query).fetchmany(100)
        assert len(inline_rows.free) <= count + 1
        connection.close()


def test_blobs_that_end_a_transaction():
    """With auto_vacuum, which moves pages then."""
    def action(side):
        found = []
        for way in ('close', 'with', 'drop'):
            connection = side.connect()
            connection.execute('PRAGMA page_size=512')
            connection.execute('PRAGMA auto_vacuum=FULL')
            connection.execute('CREATE TABLE old(x)')
            connection.execute('INSERT INTO old VALUES(zeroblob(100000))')
            connection.execute('CREATE TABLE b(x)')
            connection.execute('INSERT INTO b VALUES(zeroblob(100))')
            connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, d)')
            connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 'text %d' % i) for i in range(300)])
            blob = connection.blobopen('b', 'x', 1)
            cursor = connection.execute('SELECT t.a, u.d FROM t, t AS u WHERE u.a = t.a')
            found += cursor.fetchmany(30)
            blob.write(b'abc')
            found.append(outcome(connection.execute, 'DROP TABLE old') == 1)
            found += cursor.fetchmany(100)
            if way == 'with':
                with blob:
                    pass
            elif way == 'close':
                blob.close()
            del blob
            gc.collect()
            gc.collect()
            found += cursor.fetchall()
            found += connection.execute('PRAGMA integrity_check').fetchall()
        return found
    compare(action, oracle='C')


RECURSIONS = [
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n * 3 % 101 FROM r) SELECT r.n, t.rowid FROM r '
    'CROSS JOIN t ON t.rowid = r.n % 9 + 1',
    'WITH RECURSIVE r(n, m) AS (SELECT 1, 0 UNION SELECT n * 3 % 101, m FROM r ORDER BY 1 DESC) SELECT r.n, t.rowid '
    'FROM r CROSS JOIN t ON t.rowid = r.n',
    'SELECT DISTINCT a % 7 FROM t',
    'SELECT a FROM t UNION SELECT a + 5 FROM t',
]


@pytest.mark.parametrize('query', RECURSIONS)
@pytest.mark.parametrize('first', range(6))
def test_what_stops_running_ahead_stops_it(query, first):
    """A key that goes into an index of a recursion's: nothing behind it is run, for it can't be rolled back."""
    def action(side):
        connection = many(side, rows=30)
        cursor = connection.execute(query)
        rows = [cursor.fetchone() for _ in range(first)]
        connection.execute('INSERT INTO log VALUES (1)')
        return rows + cursor.fetchmany(2), connection.execute('DELETE FROM log').rowcount, cursor.fetchall()
    compare(action)


SUBQUERIES = [
    'SELECT q.b, (SELECT sum(v) FROM w WHERE v > q.b) FROM (SELECT b FROM t ORDER BY d LIMIT 80) AS q',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 80) '
    'SELECT n, (SELECT sum(v) FROM w WHERE v > n % 4) FROM r',
]


@pytest.mark.parametrize('query', SUBQUERIES)
def test_results_of_subqueries_that_come_again(query):
    """They are kept (c_engine/storage/memoize.c) and are of tables, though the rows come from a sorter."""
    def action(side):
        found = []
        for first in (1, 5, 20, 40):
            connection = many(side)
            cursor = connection.execute(query)
            found.append([cursor.fetchone() for _ in range(first)])
            connection.execute('UPDATE w SET v = v * 2')
            found.append(cursor.fetchall())
        return found
    compare(action, oracle='C')
