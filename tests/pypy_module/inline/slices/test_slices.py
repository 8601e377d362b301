"""Functions and aggregates written in Python over joins, index scans and sorters (slices.py).

Each scenario also records the calls of the functions, with their arguments, in order.
"""
import pytest
from tests.pypy_module.inline.test_between import WRITES

import sqpyte
from tests.extent import everything
from tests.pypy_module.inline.inlining import (
    Side,
    at_once_and_one_by_one,
    compare,
    defined_again_between_rows,
    dropped_in_the_middle,
    odd_results,
    outcome,
    planned,
    row_by_row,
    until_error,
    written_between_rows,
)

# Inlined from the first row on.
INLINED = [
    'SELECT f(t.a), u.y FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a, u.y), f(u.z), u.z, f(u.x), t.c FROM t JOIN u ON u.x = t.a WHERE t.b > 2',
    'SELECT u.y FROM t CROSS JOIN u ON u.x = t.a WHERE f(t.b + u.y) > 9',
    'SELECT u.y, u.z FROM t CROSS JOIN u ON u.x = t.a WHERE f(t.b + u.y) > 9 AND u.y < 250 '
    'LIMIT 9 OFFSET 4',
    'SELECT f(t.a), u.y FROM t JOIN u ON u.x = t.a LIMIT 7',
    'SELECT f(t.a), u.y FROM t JOIN u ON u.x = t.a LIMIT 7 OFFSET 3',
    'SELECT f(t.a), f(u.y) FROM t LEFT JOIN u ON u.x = t.a AND u.y > 100',
    'SELECT CASE WHEN f(t.b) > 5 THEN u.y ELSE u.z END, t.c FROM t JOIN u ON u.x = t.a',
    'SELECT CASE WHEN f(t.b) > 5 THEN f(u.y) END, f(t.c) FROM t JOIN u ON u.x = t.a',
    'SELECT coalesce(f(nullif(t.b, 3)), f(u.y), 7) FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a) + u.y, f(t.a) * 2 - t.b FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a), f(u.y), length(u.z), f(upper(u.z)) FROM t JOIN u ON u.x = t.a',
    'SELECT f(x) FROM u INDEXED BY ux WHERE x > 20',
    'SELECT f(t.a) FROM t ORDER BY t.a DESC',
    'SELECT f(u.y), u.x FROM u INDEXED BY ux ORDER BY u.x',
    'SELECT f(a), b FROM (SELECT t.a, u.y AS b FROM t JOIN u ON u.x = t.a WHERE u.y > 4)',
    'SELECT f(a), c FROM v',
    'WITH c AS MATERIALIZED (SELECT a, c FROM t) SELECT f(a), c FROM c',
    'SELECT s(t.a), s(u.y, t.b) FROM t JOIN u ON u.x = t.a',
    'SELECT s(t.a), count(*), sum(u.y), total(t.b), avg(u.y) FROM t JOIN u ON u.x = t.a',
    'SELECT s(DISTINCT t.b), count(*) FROM t JOIN u ON u.x = t.a',
    'SELECT s(t.a) FILTER (WHERE u.y > 40) FROM t JOIN u ON u.x = t.a',
    'SELECT sum(f(t.a)), sum(f(u.y) * u.y) FROM t JOIN u ON u.x = t.a',
    'SELECT s(f(t.a)) FROM t CROSS JOIN u ON u.x = t.a WHERE f(u.y) > 3',
    'SELECT t.c, s(u.y) FROM t JOIN u ON u.x = t.a GROUP BY t.c',
    'SELECT t.b, sum(u.y), s(u.y, t.a), max(u.z) FROM t JOIN u ON u.x = t.a GROUP BY 1 '
    'HAVING count(*) > 3',
    'SELECT t.a, s(u.y), count(*) FROM t JOIN u ON u.x = t.a GROUP BY t.a',
    'SELECT x, s(y) FROM u INDEXED BY ux GROUP BY x',
    'SELECT b, s(c), s(a) FROM t GROUP BY b',
]
# The same functions in places that are left to callbacks, wholly or in part.
OTHERS = [
    'SELECT t.a FROM t JOIN u ON u.x = t.a WHERE f(t.a) > 9',
    'SELECT DISTINCT f(t.b) FROM t JOIN u ON u.x = t.a',
    'SELECT f(u.y) FROM t JOIN u ON u.x = t.a ORDER BY f(u.y) DESC, u.x',
    'SELECT f(t.a), (SELECT max(y) FROM u WHERE x = t.a) FROM t',
    'SELECT f(a) FROM t UNION ALL SELECT f(y) FROM u WHERE x > 20',
    'SELECT f(a) FROM t UNION SELECT f(b) FROM t',
    'SELECT upper(f(u.z)), f(u.z) || t.c FROM t JOIN u ON u.x = t.a',
    'SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE x = t.a AND f(y) > 50)',
    'SELECT s(t.a), max(u.y) FROM t JOIN u ON u.x = t.a',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 30) SELECT f(n) FROM r',
    'SELECT a, s(b) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t',
    'SELECT f(a) FROM (SELECT a FROM t ORDER BY b LIMIT 20)',
]
FEW = [INLINED[i] for i in (0, 1, 3, 11, 19, 24, 25)]
ROUNDS = (0, 1, 2, 3, 20, 55) if everything() else (1, 3, 20)      # rows before a write


def values():
    """The rows of the two tables."""
    t = [(i, i * 7 % 13, 'name %d' % (i % 5)) for i in range(60)]
    u = [(i * 11 % 70, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
          'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(260)]
    return t, u


def joined(side, path=':memory:', **keywords):
    """A connection with two tables, and functions that record their calls in the list returned."""
    connection = side.connect(path, **keywords)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.execute('CREATE TABLE u(x, y, z)')
    connection.execute('CREATE TABLE log(x)')
    connection.execute('CREATE INDEX ux ON u(x)')
    connection.execute('CREATE VIEW v AS SELECT t.a, u.z AS c FROM t JOIN u ON u.x = t.a')
    t, u = values()
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', t)
    connection.executemany('INSERT INTO u VALUES(?, ?, ?)', u)
    calls = []

    def f(*given):
        calls.append(given)
        return given[0]
    connection.create_function('f', -1, f)
    connection.create_aggregate('s', -1, aggregate(calls))
    return connection, calls


def aggregate(calls, step=lambda *given: None):
    """An aggregate class that records its steps, and does `step` as well."""
    class Listing:
        def __init__(self):
            self.found = []
            calls.append('new')

        def step(self, *given):
            calls.append(given)
            step(*given)
            self.found.append(given)

        def finalize(self):
            calls.append(len(self.found))
            return repr(self.found)
    return Listing


@pytest.mark.parametrize('query', INLINED + OTHERS)
def test_answers_and_calls(query):
    compare(at_once_and_one_by_one(joined, query, 6), inlined=query in INLINED,
            oracle='C' if 'OVER' in query or 'RECURSIVE' in query else 'sqlite3')


JSON = "json_array(t.c, t.b)"
SUBTYPES = [
    "SELECT json_array(%s, f(u.y)) FROM t JOIN u ON u.x = t.a AND typeof(u.y) <> 'blob'",
    "SELECT json_object('a', %s, 'b', f(u.x)) FROM t LEFT JOIN u ON u.x = t.a",
    "SELECT json_insert('{}', '$.a', %s, '$.b', f(u.x)) FROM t JOIN u ON u.x = t.a",
    "SELECT json_array(%s, f(t.b)) FROM t ORDER BY t.a DESC",
    "SELECT json_array(json(f(%s))) FROM t JOIN u ON u.x = t.a",
    "SELECT json_array(coalesce(f(NULL), %s)) FROM t JOIN u ON u.x = t.a",
    "SELECT json_array(CASE WHEN f(t.b) %% 2 THEN %s ELSE 'text' END) FROM t JOIN u ON u.x = t.a",
    "SELECT json_group_array(json(f(%s))) FROM t JOIN u ON u.x = t.a",
    "SELECT json_group_object(f(t.c), %s) FROM t JOIN u ON u.x = t.a",
    "SELECT json_extract(json_array(%s, f(t.b)), '$[0][1]') FROM t JOIN u ON u.x = t.a",
    "SELECT json_array(max(%s)) FROM t JOIN u ON u.x = t.a WHERE f(t.b) < 9",
    "SELECT json_array(min(json(f(%s)))) FROM t JOIN u ON u.x = t.a GROUP BY t.b",
    "SELECT json_array(%s, f(t.b)) FROM t",
    "SELECT json_array(%s, s(t.b) OVER (ORDER BY t.a)) FROM t"]


@pytest.mark.parametrize('query', SUBTYPES)
def test_subtypes(query):
    """JSON that one function gives another isn't a text, though nothing but a register knows it."""
    compare(at_once_and_one_by_one(joined, query % JSON, 6), inlined=False, oracle='C')


@pytest.mark.parametrize('query', INLINED)
def test_explained(query):
    with planned('inlined'):
        connection, _ = joined(Side('inlined', ''))
        plan, = sqpyte.explain(connection, query)
        assert plan.tier == 'inliner' and 'calls at' in plan.reason, plan.reason
        connection.close()


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', [INLINED[i] for i in (0, 2, 19, 24)])
def test_writes_inside_functions(write, query):
    def action(side):
        found = []
        for at in (130,):
            connection, calls = joined(side)
            count = []

            def act(*given):
                count.append(given)
                if len(count) == at:
                    for part in write.split(';'):
                        part = part.format(here=at // 4, next=at // 4 + 1).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))

            def f(*given):
                calls.append(given)
                act(*given)
                return given[0]
            connection.create_function('f', -1, f)
            connection.create_aggregate('s', -1, aggregate(calls, act))
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('write', [
    'UPDATE u SET y = y + 1000 WHERE rowid > 100', 'DELETE FROM u WHERE rowid % 3 = 0',
    'DELETE FROM t', 'INSERT INTO u SELECT x, y + 1, z FROM u', 'DROP INDEX ux', 'VACUUM',
    'UPDATE t SET b = b + 1'])
@pytest.mark.parametrize('query', [INLINED[i] for i in (0, 1, 2, 8, 12, 24, 26)])
def test_writes_between_rows(write, query):
    compare(written_between_rows(joined, query, write, ROUNDS), oracle='C')


def test_writes_in_every_call():
    def action(side):
        connection, calls = joined(side)

        def f(*given):
            connection.execute('INSERT INTO log VALUES(?)', given[:1])
            connection.execute('UPDATE u SET y = y + 1 WHERE rowid = ?', (len(calls) + 7,))
            calls.append(given)
            return given[0]
        connection.create_function('f', -1, f)
        found = connection.execute('SELECT f(t.a), f(u.y) FROM t JOIN u ON u.x = t.a').fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
@pytest.mark.parametrize('error', [ValueError('x'), MemoryError(), OverflowError(), KeyError])
def test_exceptions(query, error):
    def action(side):
        found = []
        for at in (1, 2, 50):
            connection, calls = joined(side)
            count = []

            def act(*given):
                count.append(given)
                if len(count) == at:
                    raise error

            def f(*given):
                calls.append(given)
                act()
                return given[0]
            connection.create_function('f', -1, f)
            connection.create_aggregate('s', -1, aggregate(calls, act))
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            rows = []
            while True:
                row = outcome(cursor.fetchone)
                rows.append(row)
                if row is None or isinstance(row, str):
                    break
            found += [rows, list(calls)]
            found.append(connection.execute('SELECT count(*) FROM u').fetchall())
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('result', [None, 1.5, 'text', b'blob', 2 ** 70, object(), float('nan'),
                                    True, '\ud800', 'x' * 5000],
                         ids=lambda value: type(value).__name__)
@pytest.mark.parametrize('query', [INLINED[i] for i in (0, 2, 9, 10, 22)])
def test_results(query, result):
    compare(odd_results(joined, query, result), oracle='C')


@pytest.mark.parametrize('size', [3000, 70000, 400000, 1100000])
@pytest.mark.parametrize('query', ['SELECT f(t.a, u.z), u.z FROM t JOIN u ON u.x = t.a',
                                   'SELECT s(u.x), s(length(u.z)), s(u.z) FROM t JOIN u ON u.x = t.a',
                                   'SELECT t.b, s(length(u.z)), s(u.z) FROM t JOIN u ON u.x = t.a '
                                   'GROUP BY t.b'])
def test_long_texts(size, query):
    def action(side):
        connection, calls = joined(side)
        connection.execute('UPDATE u SET z = printf(\'%.*c\', ?, \'x\') WHERE rowid % 40 = 3', (size,))
        connection.execute('UPDATE u SET z = zeroblob(?) WHERE rowid % 60 = 5', (size,))
        connection.create_function('f', -1, lambda *given: calls.append(
            [len(value) for value in given[1:] if isinstance(value, (str, bytes))]))

        class Lengths:
            def __init__(self):
                self.found = []

            def step(self, value):
                calls.append(value if isinstance(value, int) else len(value))

            def finalize(self):
                return len(calls)
        connection.create_aggregate('s', -1, Lengths)
        rows = connection.execute(query).fetchall()
        return [[value if isinstance(value, (int, type(None))) else len(value) for value in row]
                for row in rows], calls
    compare(action)


@pytest.mark.parametrize('query', [
    'SELECT f(t.a), u.z, f(u.z) FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a), u.z FROM t JOIN u ON u.x = t.a',
    'SELECT s(u.z) FROM t JOIN u ON u.x = t.a',
    'SELECT t.b, s(u.z) FROM t JOIN u ON u.x = t.a GROUP BY t.b'])
def test_texts_that_are_not_utf_8(query):
    change = 'UPDATE u SET z = CAST(x\'61ff62\' AS TEXT) WHERE rowid = 100'
    compare(row_by_row(joined, query, change), oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT f(t.a), abs(u.y) FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a), abs(u.y), f(u.z) FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a), CASE WHEN f(u.z) = 1 THEN abs(u.y) END FROM t JOIN u ON u.x = t.a',
    'SELECT f(t.a) FROM t CROSS JOIN u ON u.x = t.a AND abs(u.y) > -1',
    'SELECT s(t.a), s(abs(u.y)) FROM t JOIN u ON u.x = t.a',
    'SELECT t.b, s(u.x), s(abs(u.y)) FROM t JOIN u ON u.x = t.a GROUP BY t.b'])
def test_errors_of_sqlite_come_with_their_row(query):
    def action(side):
        found = []
        for at in (1, 2, 100, 260):
            connection, calls = joined(side)
            connection.execute('UPDATE u SET y = -9223372036854775808 WHERE rowid = ?', (at,))
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            for _ in range(300):
                found.append(outcome(cursor.fetchone))
            found.append(calls)
        return found
    compare(action)


@pytest.mark.parametrize('query', FEW)
def test_interrupt_in_a_function(query):
    def action(side):
        connection, calls = joined(side)

        def act(*given):
            if len(calls) == 90:
                connection.interrupt()

        def f(*given):
            calls.append(given)
            act()
            return given[0]
        connection.create_function('f', -1, f)
        connection.create_aggregate('s', -1, aggregate(calls, act))
        return outcome(lambda: connection.execute(query).fetchall()), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_the_connection_is_closed_inside(query):
    with planned('inlined'):
        for at in (1, 50):
            connection, calls = joined(Side('inlined', ''))

            def act(*given):
                if len(calls) >= at:
                    connection.close()

            def f(*given):
                calls.append(given)
                act()
                return given[0]
            connection.create_function('f', -1, f)
            connection.create_aggregate('s', -1, aggregate(calls, act))
            found = outcome(lambda: connection.execute(query).fetchall())
            if isinstance(found, str):
                assert found == 'ProgrammingError: Cannot operate on a closed database.'
            else:
                assert len(calls) < at


@pytest.mark.parametrize('query', FEW)
def test_the_same_query_inside(query):
    def action(side):
        connection, calls = joined(side)
        depth = []

        def act(*given):
            if len(depth) < 2 and len(calls) in (3, 5, 130):
                depth.append(1)
                try:
                    connection.execute(query).fetchall()
                    connection.execute(query).fetchone()
                finally:
                    depth.pop()

        def f(*given):
            calls.append(given)
            act()
            return given[0]
        connection.create_function('f', -1, f)
        connection.create_aggregate('s', -1, aggregate(calls, act))
        return connection.execute(query).fetchall(), calls
    compare(action)


def test_recursive_use_of_the_cursor():
    def action(side):
        connection, calls = joined(side)
        cursor = connection.cursor()

        def f(*given):
            calls.append(outcome(cursor.fetchone))
            calls.append(outcome(cursor.close))
            return given[0]
        connection.create_function('f', -1, f)
        cursor.execute(INLINED[0])
        return [cursor.fetchone() for _ in range(10)], calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_dropped_in_the_middle(query):
    compare(dropped_in_the_middle(joined, query))


def test_functions_are_defined_again_between_rows():
    compare(defined_again_between_rows(joined, INLINED[0]), oracle='C')


def test_text_factory_and_rows():
    def action(side):
        found = []
        for query in FEW:
            connection, calls = joined(side)
            cursor = connection.execute(query)
            found.append(cursor.fetchone())
            connection.text_factory = bytes
            found += [outcome(cursor.fetchone), outcome(cursor.fetchone)]
            connection.text_factory = str
            found += [outcome(cursor.fetchall), calls]
        return found
    compare(action, oracle='C')


def test_transactions_end_inside():
    def action(side):
        found = []
        for query in FEW:
            for what in ('commit', 'rollback'):
                connection, calls = joined(side, isolation_level='')
                connection.commit()

                def act(*given):
                    if len(calls) == 60:
                        connection.execute('DELETE FROM u WHERE rowid > 100')
                        found.append(outcome(getattr(connection, what)))

                def f(*given):
                    calls.append(given)
                    act()
                    return given[0]
                connection.create_function('f', -1, f)
                connection.create_aggregate('s', -1, aggregate(calls, act))
                found += [outcome(lambda: connection.execute(query).fetchall()), calls]
        return found
    compare(action, oracle='C')


def test_writes_that_keep_coming_leave_more_to_c():
    """C does twice as many rows as the last time before the loop is inlined again."""
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY)')
        connection.execute('CREATE TABLE log(x)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(1000)])
        connection.create_function('f', 1, lambda a: a + 1)
        found, runners = [], set()
        cursor = connection.execute('SELECT f(u.a) FROM t CROSS JOIN t AS u ON u.a = t.a')
        for row in cursor:
            found += row
            if cursor._result_.runner is not None:
                runners.add(cursor._result_.runner)
            connection.execute('INSERT INTO log VALUES(1)')
        assert found == list(range(1, 1001))
        assert 5 <= len(runners) <= 12
        connection.close()


@pytest.mark.parametrize('query', ['SELECT abs(f(t.a)), u.y FROM t JOIN u ON u.x = t.a',
                                   'SELECT abs(f(a)) FROM t ORDER BY a DESC',
                                   'SELECT f(a), abs(f(b)) FROM t'])
def test_an_opcode_that_c_does_fails(query):
    """With its own message, and behind the rows before it."""
    def action(side):
        connection, calls = joined(side)
        connection.create_function('f', 1, lambda value: calls.append(value) or (
            -2 ** 63 if len(calls) > 20 else -len(calls)))
        found = until_error(connection.cursor(), query)
        return found, calls, connection.execute('SELECT count(*) FROM t').fetchall()
    found, _, _ = compare(action, oracle='C')
    assert 'integer overflow' in found[-1]
