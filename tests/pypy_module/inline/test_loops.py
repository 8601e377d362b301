"""The inliner: rows, Python functions and aggregates, beside the C tier and sqlite3."""
import pytest

from tests.outcome import outcome
from tests.pypy_module.inline.inlining import compare

ROWS = [(i, i * 7 % 13, i / 4.0 if i % 3 else None, 'text %d' % i, b'\0\xff%d' % i)
        for i in range(700)]


def filled(side, rows=ROWS, path=':memory:', **keywords):
    """A connection to a database with the table t(a, b, c, d, e) of several pages and levels."""
    connection = side.connect(path, **keywords)
    connection.execute('PRAGMA page_size=512')
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c REAL, d TEXT, e BLOB)')
    connection.execute('CREATE TABLE log(x)')
    connection.execute('BEGIN')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?, ?, ?)', rows)
    connection.execute('COMMIT')
    return connection


QUERIES = [
    'SELECT * FROM t',
    'SELECT a, e, d FROM t',
    'SELECT d FROM t',
    'SELECT 1 FROM t',
    'SELECT c, c, b, c + 1 FROM t',
    'SELECT a FROM t WHERE b > 5',
    'SELECT a FROM t WHERE b > 5 AND c < 100 AND d <> \'text 7\'',
    'SELECT a FROM t WHERE b = 3 OR c IS NULL OR d = \'text 50\'',
    'SELECT a FROM t WHERE b BETWEEN 3 AND 7 AND NOT (c > 10 AND c < 20)',
    'SELECT a FROM t WHERE d >= \'text 5\' AND d < \'text 6\'',
    'SELECT a FROM t WHERE d COLLATE NOCASE = \'TEXT 5\'',
    'SELECT a FROM t WHERE e > x\'00ff35\'',
    'SELECT a FROM t WHERE c IS NOT NULL AND b + a * 2 - 1 > a / 3 % 7',
    'SELECT a FROM t WHERE a > 100 AND a < 300',
    'SELECT a FROM t WHERE a < 30',
    'SELECT a FROM t LIMIT 10',
    'SELECT a FROM t WHERE b > 5 LIMIT 10 OFFSET 20',
    'SELECT a FROM t LIMIT 0',
    'SELECT a FROM t LIMIT 5 OFFSET 698',
    'SELECT CASE WHEN b > 5 THEN d WHEN c IS NULL THEN b ELSE c END FROM t',
    'SELECT CASE b WHEN 1 THEN \'one\' WHEN 2 THEN 2 END, a FROM t WHERE b < 4',
    'SELECT a FROM t WHERE b',
    'SELECT a FROM t WHERE NOT b',
    'SELECT a FROM t WHERE c > b AND d > b AND d < c',
    'SELECT rowid, _rowid_, a FROM t',
    'SELECT a FROM t WHERE a IN (SELECT a FROM t WHERE b = 3 LIMIT 1)',
    'SELECT a FROM t WHERE b > (SELECT min(b) FROM t)',
    'SELECT a FROM t UNION ALL SELECT b FROM t',
]


@pytest.mark.parametrize('query', QUERIES)
def test_queries(query):
    def action(side):
        connection = filled(side)
        return connection.execute(query).fetchall(), connection.execute(query).fetchall()
    compare(action, inlined=False)


DISTINCT = ['SELECT DISTINCT m FROM u WHERE m IS NULL AND f(n) >= 0', 'SELECT DISTINCT m FROM u WHERE m IS NULL',
            'SELECT DISTINCT m, n FROM u WHERE m IS NULL AND n IS NULL AND f(x) > 0',
            'SELECT DISTINCT m, n FROM u WHERE m IS NULL AND n = 2 AND f(x) > 3',
            'SELECT DISTINCT m FROM u WHERE m IS ? AND f(n) >= 0', 'SELECT DISTINCT n FROM u WHERE n IS ? AND f(x) > 1',
            'SELECT count(*) FROM (SELECT DISTINCT m FROM u WHERE m IS NULL AND f(n) >= 0)',
            'SELECT DISTINCT m COLLATE mine FROM u WHERE m IS NULL', 'SELECT DISTINCT m FROM u WHERE f(m) IS NULL',
            'SELECT DISTINCT m FROM u WHERE f(n) >= 0 ORDER BY m', 'SELECT DISTINCT m, f(n) FROM u WHERE m IS NULL',
            'SELECT DISTINCT i FROM u WHERE i IS NULL AND f(n) > 0', 'SELECT i, f(max(n)) FROM u GROUP BY i',
            'SELECT DISTINCT i FROM u INDEXED BY u_i WHERE f(i) IS NULL OR f(n) IS NULL',
            'SELECT x, f(count(*)) FROM u WHERE m IS NULL GROUP BY m, i', 'SELECT x FROM u WHERE m IS i AND f(n) IS n']


@pytest.mark.parametrize('query', DISTINCT)
def test_rows_that_are_like_the_one_before(query):
    """The first row is compared with a NULL that doesn't equal NULL."""
    def action(side):
        connection = side.connect()
        connection.create_function('f', 1, lambda value: value)
        connection.create_collation('mine', lambda a, b: (a > b) - (a < b))
        connection.execute('CREATE TABLE u(m, n, x, i)')
        connection.execute('CREATE INDEX u_i ON u(i)')
        connection.executemany('INSERT INTO u VALUES(?, ?, ?, ?)', [
            (None if i < 300 else i % 2, i % 3 or None, i, i % 5 or None) for i in range(400)])
        values = [()] if '?' not in query else [(None,), (1,), ('x',)]
        return [connection.execute(query, value).fetchall() for value in values for _ in range(2)]
    compare(action, inlined=False)


@pytest.mark.parametrize('query', QUERIES[:20])
def test_these_are_inlined(query):
    def action(side):
        return filled(side).execute(query).fetchall()
    compare(action, inlined='LIMIT 0' not in query)


def test_parameters():
    def action(side):
        connection = filled(side)
        query = 'SELECT a, ?2 FROM t WHERE b > ?1 AND d < ?2'
        return [connection.execute(query, values).fetchall()
                for values in [(5, 'text 3'), (5.5, b'x'), (None, 'u'), ('3', 'text 2')]]
    compare(action)


def test_ways_to_fetch():
    def action(side):
        connection = filled(side)
        cursor = connection.execute('SELECT a, d FROM t')
        found = [cursor.fetchone(), cursor.fetchmany(3), next(cursor)]
        found.append([row for row, _ in zip(cursor, range(200))])
        found.append(cursor.fetchmany(10000))
        found += [cursor.fetchone(), cursor.fetchall(), cursor.fetchmany()]
        return found, cursor.description, cursor.rowcount
    compare(action)


def test_row_factory():
    def action(side):
        connection = filled(side)
        connection.row_factory = lambda cursor, row: (row[0], cursor.description[0][0])
        return connection.execute('SELECT a, d FROM t WHERE b > 2').fetchall()
    compare(action)


def test_text_factory_changed_between_rows():
    def action(side):
        connection = filled(side)
        cursor = connection.execute('SELECT d FROM t')
        found = [cursor.fetchone() for _ in range(60)]
        connection.text_factory = bytes
        found += cursor.fetchmany(3)
        connection.text_factory = str
        return found + cursor.fetchall()
    compare(action, oracle='C')


# Functions

FUNCTIONS = [
    'SELECT f(a) FROM t',
    'SELECT a, f(c), f(d), f(e) FROM t',
    'SELECT f(f(b)) FROM t WHERE b > 3',
    'SELECT a FROM t WHERE f(b) > 5',
    'SELECT f(a) FROM t WHERE f(d) = \'text 7\' OR f(b) = 2',
    'SELECT f(a) + 1, f(c) * 2 FROM t WHERE f(c) IS NOT NULL AND b > 1',
    'SELECT f(a) FROM t LIMIT 5',
    'SELECT f(a) FROM t LIMIT 5 OFFSET 3',
    'SELECT f(1), f(\'x\'), f(NULL) FROM t',
    'SELECT g(a, b, c), g(), g(d) FROM t',
    'SELECT CASE WHEN f(b) > 4 THEN f(d) ELSE f(e) END FROM t',
    'SELECT d FROM t WHERE d < f(d) OR f(b) = 3',
    'SELECT a FROM t WHERE d = \'text 9\' AND f(b) > 1 AND d > \'a\'',
    # With opcodes that are done in C one at a time:
    'SELECT f(abs(a) + 1), f(length(d)), upper(f(d)) FROM t',
    'SELECT f(d || \'x\' || a), f(a & 6 | b), ~f(b), f(a << 2 >> 1) FROM t',
    'SELECT a FROM t WHERE f(d) LIKE \'%7%\' AND length(d) < 9',
    'SELECT f(CAST(a AS TEXT)), CAST(f(c) AS INTEGER), f(b > 3 AND c), f(NOT b), f(b OR c) FROM t',
    'SELECT f(substr(d, 3) || f(substr(d, 2))), f(b IS TRUE), max(a, f(b), c) FROM t',
    'SELECT f(zeroblob(3)), length(f(zeroblob(b))) FROM t',
    'SELECT f(abs(CASE WHEN a = 50 THEN -9223372036854775808 ELSE a END)) FROM t',
    'SELECT coalesce(f(c), f(d)), nullif(f(a), 5), iif(f(b) > 3, d, e), quote(f(d)) FROM t',
]


@pytest.mark.parametrize('query', FUNCTIONS)
def test_functions(query):
    def action(side):
        connection = filled(side)
        calls = []

        def f(value):
            calls.append(value)
            return value
        connection.create_function('f', 1, f)
        connection.create_function('g', -1, lambda *args: len(args))
        rows = []
        cursor = connection.execute(query)
        while True:
            row = outcome(cursor.fetchone)
            # How far the calls are ahead of the rows is part of the answer.
            rows.append((row, len(calls)))
            if row is None or isinstance(row, str):
                return rows, calls
    compare(action)


RESULTS = [
    0, -2 ** 63, 2 ** 63 - 1, 2 ** 63, -2 ** 63 - 1, 10 ** 30, True, 1.5, float('inf'),
    float('nan'), '', 'ü\0x', '\ud800', b'', b'\0', bytearray(b'ab'), memoryview(b'abc'), None,
    [], object, type('Int', (int,), {})(7), type('Float', (float,), {})(7.5),
    type('Str', (str,), {})('s'), memoryview(b'abcdef')[::2],
]


@pytest.mark.parametrize('result', RESULTS, ids=repr)
@pytest.mark.parametrize('query', ['SELECT f(a) FROM t', 'SELECT a FROM t WHERE f(a) IS NOT NULL',
                                   'SELECT f(a) > 3, typeof(b) FROM t WHERE f(a) <> \'x\''])
def test_results_of_functions(result, query):
    def action(side):
        connection = filled(side, ROWS[:30])
        calls = []

        def f(value):
            calls.append(value)
            return result if len(calls) > 6 else value
        connection.create_function('f', 1, f)
        cursor = connection.execute(query)
        return [outcome(cursor.fetchone) for _ in range(40)], len(calls)
    compare(action, oracle='C', inlined='typeof' not in query)


@pytest.mark.parametrize('error', [ValueError('x'), MemoryError(), OverflowError(),
                                   StopIteration(), AttributeError('y')], ids=repr)
def test_exceptions_in_functions(error):
    def action(side):
        connection = filled(side)

        def f(value):
            if value == 50:
                raise error
            return value
        connection.create_function('f', 1, f)
        cursor = connection.execute('SELECT f(a) FROM t')
        found = [outcome(cursor.fetchone) for _ in range(60)]
        connection.execute('DROP TABLE t')      # nothing holds it
        return found
    compare(action, oracle='C')


class Longer:
    """A window function whose results are texts, as long as its last value."""

    def __init__(self):
        self.last = 0

    def step(self, value):
        self.last = value

    def inverse(self, value):
        pass

    def value(self):
        return 'x' * (SCALE * self.last)

    finalize = value


SCALE = 1400        # with a lower limit nothing is inlined
RESULTS = [
    'SELECT f(a) FROM t',
    "SELECT a FROM t WHERE f(a) <> 'y'",
    'SELECT f(t.a) FROM t JOIN t AS u ON u.a = t.a',
    'SELECT w(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t',
    'SELECT w(a) OVER (ORDER BY -a DESC) FROM t',
    'SELECT a FROM t ORDER BY f(a)',
    'SELECT count(f(a)) FROM t',
]


@pytest.mark.parametrize('query', RESULTS)
@pytest.mark.parametrize('type', [str, bytes])
def test_limit_on_the_length_of_results(query, type):
    def action(side):
        connection = filled(side)
        connection.setlimit(0, 100 * SCALE)     # SQLITE_LIMIT_LENGTH
        connection.create_function('f', 1, lambda value: ('x' if type is str else b'x') * (SCALE * value))
        connection.create_window_function('w', 1, Longer)
        found = [outcome(connection.execute, query)]
        if isinstance(found[0], str):
            return found
        cursor = connection.execute(query)
        return [outcome(cursor.fetchone) for _ in range(110)]
    compare(action, oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT a, b FROM long',
    'SELECT a, f(b) FROM long',
    'SELECT f(a) FROM long WHERE b > 0',
    'SELECT sum(f(a)) FROM long WHERE b IS NOT NULL'])
@pytest.mark.parametrize('within', [0, 3])
def test_limit_on_the_length_of_values(query, within):
    """SQLite meets it where it copies a column of a page; one that is read in the page has no copy."""
    def action(side):
        connection, log = filled(side), []
        connection.execute('CREATE TABLE long(a INTEGER PRIMARY KEY, b)')
        connection.executemany('INSERT INTO long VALUES(?, ?)',
                               [(i, 'x' * (900 if i % 40 == 30 else 9)) for i in range(99)])
        connection.create_function('f', 1, lambda value: log.append(value) or 1)
        if not within:
            connection.setlimit(0, 200)         # SQLITE_LIMIT_LENGTH
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query)] + [outcome(cursor.fetchone) for _ in range(within)]
        connection.setlimit(0, 200)
        return found[1:] + [outcome(cursor.fetchall), log]
    compare(action, inlined=within > 0, oracle='C')


@pytest.mark.parametrize('query', RESULTS)
@pytest.mark.parametrize('within', [False, True])
def test_limit_that_is_lowered_in_the_middle(query, within):
    def action(side):
        connection = filled(side)
        calls = []

        def f(value):
            calls.append(value)
            if within and len(calls) == 20:
                connection.setlimit(0, 60)
            return 'x' * value

        class Noted(Longer):
            def value(self):
                return f(self.last)

            finalize = value
        connection.create_function('f', 1, f)
        connection.create_window_function('w', 1, Noted)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query).__class__ is str]
        found += [outcome(cursor.fetchone) for _ in range(15)]
        if not within:
            connection.setlimit(0, 60)
        found += [outcome(cursor.fetchone) for _ in range(90)]
        return found, calls
    compare(action, oracle='C')


# Aggregates

class Sum:
    """Sums what is a number."""

    made = 0

    def __init__(self):
        Sum.made += 1
        self.values = []

    def step(self, *values):
        self.values.append(values)

    def finalize(self):
        return repr(self.values[:3]) + repr(self.values[-2:]) + str(len(self.values))


AGGREGATES = [
    'SELECT s(a) FROM t',
    'SELECT s(a, b, c, d, e), s(b) FROM t',
    'SELECT s(c) FROM t WHERE b > 3 AND c < 50',
    'SELECT s(a) FROM t WHERE b > 300',
    'SELECT s(f(a)) FROM t',
    'SELECT s(f(a)) FROM t WHERE f(b) < 4',
    'SELECT s(DISTINCT b) FROM t',
    'SELECT s() FROM t',
    'SELECT b, s(a) FROM t GROUP BY b',
    'SELECT s(a), 1 FROM t LIMIT 1',
    'SELECT s(a) FILTER (WHERE b > 5) FROM t',
    'SELECT s(a), count(*), sum(c), max(d) FROM t',
    'SELECT s(a) || \'x\' FROM t',
    'SELECT s(upper(d)), s(abs(a)), group_concat(b, f(\'-\')) FROM t WHERE d LIKE \'%3%\'',
    'SELECT min(c), s(f(b)), avg(b), sum(a * c) FROM t WHERE f(a) < 600',
    'SELECT s(a), count(b), b, d FROM t WHERE f(a) < 600',
    'SELECT s(a), abs(f(CASE WHEN a = 50 THEN -9223372036854775808 ELSE a END)) FROM t',
    'SELECT s(abs(CASE WHEN a = 50 THEN -9223372036854775808 ELSE a END)) FROM t',
]


@pytest.mark.parametrize('query', AGGREGATES)
def test_aggregates(query):
    def action(side):
        connection = filled(side)
        connection.create_aggregate('s', -1, Sum)
        connection.create_function('f', 1, lambda value: value)
        before = Sum.made
        return outcome(lambda: connection.execute(query).fetchall()), Sum.made - before
    compare(action, inlined=not any(word in query for word in ('GROUP', 'DISTINCT')))


@pytest.mark.parametrize('where', ['__init__', 'step', 'finalize', 'no step', 'no finalize'])
def test_exceptions_in_aggregates(where):
    def action(side):
        connection = filled(side)
        finals = []

        class Bad:
            def __init__(self):
                if where == '__init__':
                    raise ValueError
                self.count = 0

            if where != 'no step':
                def step(self, value):
                    self.count += 1
                    if where == 'step' and self.count == 40:
                        raise KeyError

            if where != 'no finalize':
                def finalize(self):
                    finals.append(self.count)
                    if where == 'finalize':
                        raise IndexError
                    return self.count
        connection.create_aggregate('bad', 1, Bad)
        found = outcome(lambda: connection.execute('SELECT bad(a) FROM t').fetchall())
        connection.execute('DROP TABLE t')
        return found, finals
    compare(action, oracle='C')


def test_nothing_found():
    def action(side):
        connection = filled(side, [])
        connection.create_aggregate('s', -1, Sum)
        connection.create_function('f', 1, lambda value: value)
        return [connection.execute(query).fetchall()
                for query in ('SELECT a FROM t', 'SELECT s(a) FROM t', 'SELECT f(a) FROM t')]
    compare(action, inlined=False)
