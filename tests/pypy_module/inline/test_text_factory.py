"""Text factories between rows of every way to run ahead: one that raises loses no row and doubles none.

A factory may also fetch from the cursor whose text it makes, which is an error of its own.
"""
import pytest

from tests.outcome import outcome
from tests.pypy_module.dbapi.connections.test_functions import Sum
from tests.pypy_module.inline.inlining import compare

QUERIES = [
    'SELECT a, c FROM t',
    'SELECT c, f(a) FROM t',
    'SELECT f(a), c FROM t WHERE f(a) % 3 > 0',
    'SELECT u.y, f(t.a), t.c FROM t JOIN u ON u.x = t.a',
    'SELECT t.c FROM t CROSS JOIN u ON u.x = t.a WHERE f(u.y) % 3 > 0',
    'SELECT t.c, u.y FROM t CROSS JOIN u ON u.x = t.a WHERE f(t.b) % 3 > 0',
    'SELECT a, c, s(a) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t',
    'SELECT c, s(a) OVER (PARTITION BY a / 7 ORDER BY a), a FROM t',
    'SELECT c, s(a) FROM t GROUP BY c',
]
WRITES = [None, "UPDATE t SET b = 1, c = c || '+'", 'DELETE FROM t WHERE a % 3 = 0']


def refusing(data):
    """A text factory that raises."""
    raise ValueError(data)


def filled(side):
    """A connection with the tables; one text in 40 isn't UTF-8."""
    connection = side.connect()
    connection.create_function('f', 1, lambda value: value)
    connection.create_window_function('s', 1, Sum)
    connection.executescript('''
        CREATE TABLE t(a INTEGER PRIMARY KEY, b, c TEXT);
        CREATE TABLE u(x INTEGER PRIMARY KEY, y);
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 300)
        INSERT INTO t SELECT n, n % 7, 'text ' || n || iif(n % 40 = 11, CAST(x'ff' AS TEXT), '')
            FROM r;
        INSERT INTO u SELECT a, a FROM t''')
    return connection


def fetched(cursor, count):
    """What that many fetches give."""
    return [outcome(cursor.fetchone) for _ in range(count)]


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', QUERIES)
def test_one_that_raises(query, write):
    def action(side):
        connection = filled(side)
        cursor = connection.execute(query)
        found = fetched(cursor, 5)
        for count in (1, 3, 2):
            connection.text_factory = refusing
            found += fetched(cursor, count)
            if write is not None:
                connection.execute(write)
            connection.text_factory = bytes
            found += fetched(cursor, count)
            connection.text_factory = str
            found += fetched(cursor, 7)
        return found + fetched(cursor, 30)
    compare(action, oracle='C')


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', QUERIES)
def test_a_text_that_is_not_utf_8(query, write):
    def action(side):
        connection = filled(side)
        cursor = connection.execute(query)
        found = []
        for _ in range(3):
            found += fetched(cursor, 2)
            while not isinstance(found[-1], str) and found[-1] is not None:
                found += fetched(cursor, 1)
            if write is not None:
                connection.execute(write)
            found += fetched(cursor, 1)
            connection.text_factory = bytes
            found += fetched(cursor, 1)
            if write is not None:
                connection.execute(write)
            connection.text_factory = str
        return found + fetched(cursor, 10)
    compare(action, oracle='C')


@pytest.mark.parametrize('query', QUERIES)
def test_one_that_fetches(query):
    def action(side):
        connection = filled(side)
        cursor = connection.execute(query)
        found = fetched(cursor, 5)
        inside = []

        def fetching(data):
            inside.append(outcome(cursor.fetchone))
            return data
        connection.text_factory = fetching
        found += fetched(cursor, 4)
        connection.text_factory = str
        return found + fetched(cursor, 4), inside
    compare(action, oracle='C')


SET_INSIDE = [
    'SELECT a, s(a) OVER (PARTITION BY a / 7 ORDER BY c), c FROM t',
    'SELECT s(a), c FROM t GROUP BY c',
    'SELECT t.a, t.c FROM t LEFT JOIN u ON u.x = t.a AND f(t.a)',
    'SELECT f(a), c FROM t',
    'SELECT f(t.a), t.c FROM t JOIN u ON u.x = t.a',
    'SELECT a, c FROM t ORDER BY f(a)',
]


@pytest.mark.parametrize('at', [(1,), (150,), (1, 200), (100, 110), (90, 91, 92, 93)])
@pytest.mark.parametrize('query', SET_INSIDE)
def test_one_that_is_set_by_a_function(query, at):
    """From the row on that is computed next; in a function, in a step, and in one that C calls."""
    def action(side):
        connection = filled(side)
        connection.execute("UPDATE t SET c = 'text ' || a")
        factories = [bytes, bytearray, str, bytes]
        calls = []

        def note(value):
            calls.append(value)
            if len(calls) in at:
                connection.text_factory = factories[at.index(len(calls))]
            return value

        class Noting(Sum):
            def step(self, value):
                super().step(note(value))
        connection.create_function('f', 1, note)
        connection.create_window_function('s', 1, Noting)
        return [type(row[-1]).__name__ for row in connection.execute(query)], calls
    compare(action, inlined=1 not in at, oracle='C')     # one that is set at the first row keeps the query in C


@pytest.mark.parametrize('sets', [False, True])
@pytest.mark.parametrize('query', QUERIES)
def test_the_first_row(query, sets):
    """Before Python 3.11 `execute` makes it, also if a function has set a text factory on the way to it."""
    def action(side):
        connection = filled(side)
        connection.execute("UPDATE t SET c = CAST(x'41ff' AS TEXT) WHERE a = 1 OR c LIKE 'text 1%'")
        made = []

        def factory(data):
            made.append(data)
            return data

        def function(value):
            if sets:
                connection.text_factory = factory
            return value
        connection.create_function('f', 1, function)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query) is cursor, list(made)]
        return found + fetched(cursor, 3) + made
    compare(action, inlined=False, oracle='C')


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', ['SELECT a, c FROM t', 'SELECT c, s(a) FROM t GROUP BY c',
                                   'SELECT u.y, t.c FROM t JOIN u ON u.x = t.a'])
def test_one_that_is_set_before_the_first_row(query, write):
    """Before Python 3.11 `execute` has made that row."""
    def action(side):
        connection = filled(side)
        cursor = connection.execute(query)
        connection.text_factory = lambda data: ('made', bytes(data))
        if write is not None:
            connection.execute(write)
        return fetched(cursor, 5)
    compare(action, inlined=False, oracle='C')
