"""Functions written in Python whose results C stores: sorters, temporary tables, aggregates of its own
(sinks.py).

Each scenario also records the calls of the functions, with their arguments, in order.
"""
import pytest
from tests.pypy_module.inline.test_between import WRITES
from tests.pypy_module.inline.slices.test_slices import aggregate, joined

import sqpyte
from tests.extent import everything
from tests.pypy_module.inline.inlining import (
    Side,
    at_once_and_one_by_one,
    compare,
    dropped_in_the_middle,
    odd_results,
    outcome,
    planned,
    row_by_row,
    written_between_rows,
)

SINKS = [
    'SELECT a FROM t ORDER BY f(b)',
    'SELECT f(u.z), count(*), sum(u.y) FROM u GROUP BY f(u.z)',
    'SELECT f(u.y) FROM t JOIN u ON u.x = t.a ORDER BY f(u.y) DESC, u.x',
    'SELECT count(*), max(u.z), min(u.y), avg(u.y) FROM t CROSS JOIN u ON u.x = t.a WHERE f(u.y) > 4',
    'SELECT f(t.c), s(u.y), max(u.z) FROM t JOIN u ON u.x = t.a GROUP BY f(t.c)',
    'SELECT u.z, f(u.y) FROM t JOIN u ON u.x = t.a ORDER BY f(u.y) LIMIT 9 OFFSET 3',
    'SELECT f(a) FROM t UNION SELECT f(b) FROM t',
    'SELECT count(DISTINCT f(u.z)), sum(u.y), max(u.z) FROM u',
    'SELECT a, f(c) FROM t ORDER BY f(b) DESC, f(c)',
    'SELECT a, c FROM t WHERE f(b) > 4 ORDER BY c, b',
    'SELECT u.z, f(u.y) + 1 FROM t JOIN u ON u.x = t.a WHERE f(t.b + u.y) > 9 ORDER BY 2, u.rowid',
    'SELECT a FROM t ORDER BY f(b) LIMIT 7',
    'SELECT s(t.a), max(u.y) FROM t JOIN u ON u.x = t.a',
    'SELECT CASE WHEN f(t.b) > 5 THEN u.y ELSE u.z END AS k, t.c FROM t JOIN u ON u.x = t.a ORDER BY k',
    'SELECT upper(f(u.z)) AS k, count(*) FROM u GROUP BY k',
    'WITH c AS MATERIALIZED (SELECT f(t.a) AS x, u.z FROM t JOIN u ON u.x = t.a) SELECT * FROM c',
    'SELECT \'x\', f(u.y) AS k FROM t JOIN u ON u.x = t.a ORDER BY k, \'x\'',
    'SELECT a FROM t WHERE a IN (SELECT f(y) FROM u)',
    'SELECT max(f(u.y)), min(u.z) FROM t JOIN u ON u.x = t.a',
    'SELECT f(u.y) AS k, sum(f(u.x)), count(DISTINCT u.z) FROM u GROUP BY k HAVING f(k) > 20',
]
# Refused, or with a part that is.
OTHERS = [
    'SELECT x.x, s(y.y), count(*), max(x.y) FROM u AS x LEFT JOIN u AS y ON x.x = y.x GROUP BY x.x',
    'SELECT t.a, (SELECT u.z FROM u WHERE u.x = t.a ORDER BY f(u.y) LIMIT 1) FROM t',
    'SELECT max(f(u.y)), sum(f(t.a)), min(u.z) FROM t JOIN u ON u.x = t.a',
    'SELECT a FROM (SELECT a, f(b) AS k FROM t ORDER BY k LIMIT 20) ORDER BY f(a) DESC',
    'SELECT max(f(u.y)), u.z FROM u',
    'SELECT u.x, max(f(u.y)), u.z FROM u GROUP BY u.x',
    'SELECT sum(u.y), group_concat(u.z) FROM u WHERE f(u.x) > 3',
]
FEW = SINKS[:8] if everything() else SINKS[1:6:2]
CALLING = SINKS[:6] if everything() else [SINKS[0], SINKS[4]]
SOME = slice(None, None, None if everything() else 3)


@pytest.mark.parametrize('query', SINKS)
def test_answers_and_calls(query):
    compare(at_once_and_one_by_one(joined, query, 6), oracle='C')


@pytest.mark.parametrize('query', OTHERS)
def test_others(query):
    compare(at_once_and_one_by_one(joined, query, 6), oracle='C', inlined=False)


@pytest.mark.parametrize('query', SINKS)
def test_explained(query):
    with planned('inlined'):
        connection, _ = joined(Side('inlined', ''))
        plan, = sqpyte.explain(connection, query)
        assert plan.tier == 'inliner' and 'what they return it stores' in plan.reason, plan.reason
        connection.close()


@pytest.mark.parametrize('write', WRITES[SOME])
@pytest.mark.parametrize('query', CALLING)
def test_writes_inside_functions(write, query):
    def action(side):
        found = []
        for at in (1, 40):
            connection, calls = joined(side)

            def act(*given):
                if len(calls) == at:
                    for part in write.split(';'):
                        part = part.format(here=at // 4, next=at // 4 + 1).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))

            def f(*given):
                calls.append(given)
                act()
                return given[0]
            connection.create_function('f', -1, f)
            connection.create_aggregate('s', -1, aggregate(calls, act))
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_writes_in_every_call(query):
    def action(side):
        connection, calls = joined(side)

        def f(*given):
            calls.append(given)
            connection.execute('INSERT INTO log VALUES(?)', given[:1])
            if len(calls) < 300:
                connection.execute('UPDATE u SET y = y + 1 WHERE rowid = ?', (len(calls) + 7,))
            return given[0]
        connection.create_function('f', -1, f)
        found = connection.execute(query).fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
@pytest.mark.parametrize('error', [ValueError('x'), MemoryError(), KeyError][SOME])
def test_exceptions(query, error):
    def action(side):
        found = []
        for at in (1, 2, 50):
            connection, calls = joined(side)

            def f(*given):
                calls.append(given)
                if len(calls) == at:
                    raise error
                return given[0]
            connection.create_function('f', -1, f)
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
            found.append(outcome(lambda: connection.execute(query).fetchall()))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('result', [None, 1.5, 'text', b'blob', '', b'', 2 ** 62, object(), float('nan'),
                                    True, 'a\0b', 'x' * 5000, b'y' * 40000],
                         ids=lambda value: type(value).__name__)
@pytest.mark.parametrize('query', FEW)
def test_results(query, result):
    compare(odd_results(joined, query, result), oracle='C')


@pytest.mark.parametrize('size', [3000, 70000, 400000, 1100000])
@pytest.mark.parametrize('query', [
    'SELECT length(u.z) FROM t JOIN u ON u.x = t.a ORDER BY f(u.z)',
    'SELECT length(f(u.z)) AS n, count(*) FROM u GROUP BY n',
    'SELECT count(DISTINCT f(u.z)), length(max(u.z)) FROM u'])
def test_long_texts(size, query):
    def action(side):
        connection, calls = joined(side)
        connection.execute('UPDATE u SET z = printf(\'%.*c\', ?, \'x\') WHERE rowid % 40 = 3', (size,))
        connection.execute('UPDATE u SET z = zeroblob(?) WHERE rowid % 60 = 5', (size,))

        def f(value):
            calls.append(len(value))
            return value
        connection.create_function('f', 1, f)
        return connection.execute(query).fetchall(), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('limit', [100, 1000, 100000])
def test_limit_of_lengths(limit):
    """A record may be too large although its values aren't; the next call is not made then."""
    def action(side):
        if not hasattr(side.module.Connection, 'setlimit'):
            return None
        connection, calls = joined(side)

        def f(value):
            calls.append(value)
            return 'x' * (limit * 6 // 10) if len(calls) > 30 else value
        connection.create_function('f', 1, f)
        connection.setlimit(0, limit)
        found = []
        for query in ('SELECT a FROM t ORDER BY f(b)', 'SELECT a FROM t ORDER BY f(b), f(c)',
                      'SELECT f(b), f(c), count(*) FROM t GROUP BY 1, 2'):
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(len(calls))
            del calls[:]
        return found
    compare(action, oracle='C', inlined=False)


@pytest.mark.parametrize('query', [
    'SELECT u.z FROM t JOIN u ON u.x = t.a ORDER BY f(u.y)',
    'SELECT count(*) FROM t JOIN u ON u.x = t.a GROUP BY f(u.z)',
    'SELECT s(u.y), max(u.z) FROM t JOIN u ON u.x = t.a'])
def test_texts_that_are_not_utf_8(query):
    change = 'UPDATE u SET z = CAST(x\'ff61ff62\' AS TEXT) WHERE rowid = 100'
    compare(row_by_row(joined, query, change), oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT abs(u.y) FROM t JOIN u ON u.x = t.a ORDER BY f(t.a)',
    'SELECT f(t.a), max(abs(u.y)) FROM t JOIN u ON u.x = t.a GROUP BY 1',
    'SELECT max(u.y), max(abs(u.y)) FROM t CROSS JOIN u ON u.x = t.a WHERE f(u.x) > 3',
    'SELECT f(u.x), sum(u.y * 1) FROM u GROUP BY 1'])
def test_errors_of_sqlite_come_with_their_row(query):
    def action(side):
        found = []
        for at in (1, 2, 100, 260):
            connection, calls = joined(side)
            connection.execute('UPDATE u SET y = -9223372036854775808 WHERE rowid = ?', (at,))
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(calls)
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_interrupt_in_a_function(query):
    def action(side):
        connection, calls = joined(side)

        def f(*given):
            calls.append(given)
            if len(calls) == 50:
                connection.interrupt()
            return given[0]
        connection.create_function('f', -1, f)
        return outcome(lambda: connection.execute(query).fetchall()), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_the_connection_is_closed_inside(query):
    with planned('inlined'):
        for at in (1, 50):
            connection, calls = joined(Side('inlined', ''))

            def f(*given):
                calls.append(given)
                if len(calls) == at:
                    connection.close()
                return given[0]
            connection.create_function('f', -1, f)
            found = outcome(lambda: connection.execute(query).fetchall())
            assert found == 'ProgrammingError: Cannot operate on a closed database.'


@pytest.mark.parametrize('query', FEW)
def test_the_same_query_inside(query):
    def action(side):
        connection, calls = joined(side)
        depth = []

        def f(*given):
            calls.append(given)
            if len(depth) < 2 and len(calls) in (3, 5, 55):
                depth.append(1)
                connection.execute(query).fetchall()
                connection.execute(query).fetchone()
                depth.pop()
            return given[0]
        connection.create_function('f', -1, f)
        return connection.execute(query).fetchall(), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_dropped_in_the_middle(query):
    compare(dropped_in_the_middle(joined, query), oracle='C')


@pytest.mark.parametrize('write', ['UPDATE u SET y = y + 1000', 'DELETE FROM t', 'DROP INDEX ux', 'VACUUM'])
@pytest.mark.parametrize('query', [query for query in FEW if 'max(' not in query])
def test_writes_between_rows(write, query):
    compare(written_between_rows(joined, query, write, (0, 1, 3)), oracle='C')


@pytest.mark.parametrize('names', [['json'], ['hex', 'json'], ['json', 'hex']])
def test_functions_of_sqlite_s_own_that_can_fail(names):
    """What was found out of a query is asked for by another only if it calls the same of SQLite's functions."""
    def action(side):
        connection = side.connect()
        calls: list = []
        connection.executescript('''
            CREATE TABLE t(a, b);
            CREATE TABLE u(k INTEGER PRIMARY KEY, c);
            WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r LIMIT 300) INSERT INTO t SELECT n, n FROM r;
            INSERT INTO u SELECT a, a FROM t''')
        connection.create_function('f', 1, lambda value: calls.append(value) or ('[' if value == 150 else '1'))
        found = []
        for name in names:
            found.append(outcome(lambda name=name: connection.execute(
                'SELECT %s(f(t.a)), count(*) FROM t JOIN u ON u.k = t.b GROUP BY 1' % name).fetchall()))
            found.append(len(calls))
        return found
    compare(action, inlined='hex' in names, oracle='C')
