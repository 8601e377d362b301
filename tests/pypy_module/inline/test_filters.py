"""Calls of user code that decide whether C does the rest of a row (analysis/filters.py).

Each scenario also records the calls of the functions, with their arguments, in order.
"""
import pytest

import sqpyte
from pypy_module.inline.runtime import filters
from tests.extent import everything
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import (
    Side,
    at_once_and_one_by_one,
    compare,
    defined_again_between_rows,
    dropped_in_the_middle,
    odd_results,
    other_text_factories,
    planned,
    planned_by_default,
    row_by_row,
    written_between_rows,
)

QUERIES = [
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3',
    'SELECT t.a, t.c, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) > 500',
    'SELECT t.a, u.z FROM t CROSS JOIN u ON u.x = t.b WHERE f(t.a) % 40 = 1',
    'SELECT t.a, u.z FROM t CROSS JOIN u ON u.x = t.b WHERE f(t.a) % 40 = 1 AND f(u.y) > 50',
    'SELECT t.a, f(w.d, t.c) FROM t CROSS JOIN w ON w.k = t.b WHERE t.b > 2 AND f(t.a) % 5 = 0',
    'SELECT t.a, w.d FROM t LEFT JOIN w ON w.k = t.b AND w.d > 20 WHERE f(t.a) % 9 < 2',
    'SELECT t.a, w.d FROM t LEFT JOIN w ON w.k = t.b AND f(t.a) % 9 < 2',
    'SELECT t.a FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 LIMIT 9 OFFSET 4',
    'SELECT w.d, t.a FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 ORDER BY w.d DESC, t.a LIMIT 20',
    'SELECT w.d, count(*), max(t.a) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 GROUP BY w.d',
    'SELECT sum(w.d), count(*), group_concat(w.k) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) < 60',
    'SELECT t.a FROM t WHERE f(t.a) % 9 = 2 AND EXISTS (SELECT 1 FROM u WHERE x = t.b)',
    'SELECT t.a, (SELECT max(y) FROM u WHERE x = t.b) FROM t WHERE f(t.a) % 19 = 2',
    'SELECT t.a FROM t WHERE f(t.a) % 9 = 2 AND t.b IN (SELECT x FROM u WHERE y > 40)',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE t.b = 5 OR f(t.a) % 7 = 3',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE CASE WHEN t.b > 5 THEN f(t.a) ELSE t.a + 1 END % 8 = 1',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = f(t.b) WHERE f(t.a) % 8 = 1',
    'SELECT f(t.c), w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.c) = \'name 3\'',
    'SELECT x.a, y.d FROM t AS x CROSS JOIN w AS y ON y.k = x.b WHERE f(x.c) IS NULL OR f(x.a, y.d) > 690',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE t.c > \'name 2\' COLLATE mine AND t.a % 3',
    'SELECT t.a, u.y FROM t CROSS JOIN u ON u.rowid = t.b + 1 WHERE f(t.a) % 9 = 2 AND u.z > \'text 5\' COLLATE mine',
    'SELECT DISTINCT f(b) FROM t',
    'SELECT DISTINCT f(b), c FROM t WHERE a > 3',
    'SELECT DISTINCT c, f(b) FROM t WHERE f(a) % 2',
    'SELECT DISTINCT f(z) FROM m',
    'SELECT DISTINCT f(b) FROM t LIMIT 5 OFFSET 3',
    'SELECT DISTINCT f(a) FROM t',
]
# Left to callbacks, and to row batches.
LEFT = [
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = CAST(f(t.c) AS INTEGER) WHERE t.b > 1',
    'SELECT DISTINCT f(z) + 0, typeof(z) FROM m',
    'SELECT DISTINCT f(z) COLLATE NOCASE FROM m',
    'SELECT DISTINCT f(t.b), w.d FROM t CROSS JOIN w ON w.k = t.b',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 ORDER BY t.a DESC',
    'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 AND t.a BETWEEN 70 AND 300 '
    'ORDER BY t.a DESC',
    'SELECT max(t.a) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3',
    'SELECT max(t.a) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3 AND t.a < 300',
    'SELECT DISTINCT f(b) FROM t ORDER BY a DESC LIMIT 5',
    # What is before the rest reads a register that the rest writes.
    'SELECT max(b) FILTER (WHERE b < 9), a, c FROM t WHERE f(a) > 2',
    'SELECT min(b) FILTER (WHERE a % 2), a, c FROM t WHERE f(a) > 2',
    # The rest leaves the loop, which begins anew before its Next: each term of an OR calls it.
    'SELECT group_concat((SELECT t.a FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 5 = 3 AND w.d > o.a LIMIT 1)) '
    'FROM o WHERE o.a = 2 OR o.x = \'x3\'',
    'SELECT count(*) FROM o WHERE (o.a = 2 OR o.x = \'x3\') AND EXISTS (SELECT 1 FROM t CROSS JOIN w ON w.k = t.b '
    'WHERE f(t.a) % 5 = 3 AND w.d > o.a)',
]
FEW = [QUERIES[n] for n in (0, 2, 4, 7, 10, 20, 22)]
ROUNDS = (0, 1, 2, 3, 20, 90) if everything() else (1, 3, 20)      # rows before a write
MIXED = [1, 1.0, '1', b'1', None, True, 0, 0.0, -0.0, 2 ** 53, 2 ** 53 + 1, 2.0 ** 53, 1e300, 'a', 'A', b'a', 'a\0', '',
         b'', 'é', 'é', -2 ** 63, 9.2e18, float('inf')]


def values():
    """The rows of the tables: of t more than a page has."""
    t = [(a, a * 7 % 13, 'name %d' % (a % 5)) for a in range(700)]
    u = [(i * 11 % 17, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
          'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(120)]
    w = [(k, k * 5 % 44) for k in range(11)]
    return t, u, w


def made(side, act=lambda *given: None, **keywords):
    """A connection with the tables, and functions that record their calls in the list returned; `act` is called with
    the connection and that list."""
    connection = side.connect(':memory:', **keywords)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.execute('CREATE TABLE u(x, y, z)')
    connection.execute('CREATE TABLE w(k INTEGER PRIMARY KEY, d)')
    connection.execute('CREATE TABLE m(z)')
    connection.execute('CREATE TABLE log(x)')
    connection.execute('CREATE TABLE o(a INTEGER PRIMARY KEY, x UNIQUE NOT NULL)')
    connection.executemany('INSERT INTO o VALUES(?, ?)', [(a, 'x%d' % a) for a in range(9)])
    connection.execute('CREATE INDEX ux ON u(x)')
    for table, rows in zip('tuw', values()):
        connection.executemany('INSERT INTO %s VALUES(%s)' % (table, ', '.join('?' * len(rows[0]))), rows)
    connection.executemany('INSERT INTO m VALUES(?)', [(value,) for value in MIXED * 3])
    if connection.in_transaction:
        connection.commit()
    calls = []

    def f(*given):
        calls.append(given)
        act(connection, calls)
        return given[0]
    connection.create_function('f', -1, f)

    def mine(x, y):
        calls.append((x, y))
        act(connection, calls)
        return (x > y) - (x < y)
    connection.create_collation('mine', mine)
    return connection, calls


@pytest.mark.parametrize('query', QUERIES + LEFT)
def test_answers_and_calls(query):
    compare(at_once_and_one_by_one(made, query, 6), inlined=query in QUERIES, oracle='C')


@pytest.mark.parametrize('query', QUERIES[:21])
def test_explained(query):
    with planned('inlined'):
        connection, _ = made(Side('inlined', ''))
        plan, = sqpyte.explain(connection, query)
        assert plan.tier == 'inliner', plan.reason
        connection.close()


WRITES = ['UPDATE t SET c = \'changed\' WHERE a > {here}', 'DELETE FROM t WHERE a = {next}', 'DELETE FROM t',
          'INSERT INTO t SELECT a + 1000, b, c FROM t', 'UPDATE w SET d = d + 1', 'DELETE FROM w WHERE k % 2',
          'ALTER TABLE t ADD COLUMN e DEFAULT 7', 'CREATE INDEX i ON t(b)', 'DROP TABLE w', 'VACUUM',
          'BEGIN; DELETE FROM t; ROLLBACK', 'SAVEPOINT s; DELETE FROM t WHERE a % 2; ROLLBACK TO s; RELEASE s',
          'PRAGMA cache_size = 5', 'UPDATE t SET a = a + 10000 WHERE a = {next}']


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', FEW)
def test_writes_inside_functions(write, query):
    def action(side):
        found = []
        for at in (1, 150, 423):
            def act(connection, calls):
                if len(calls) == at:
                    for part in write.split(';'):
                        part = part.format(here=at, next=at + 1)
                        found.append(outcome(lambda: connection.execute(part).fetchall()))
            connection, calls = made(side, act)
            found += [outcome(lambda: connection.execute(query).fetchall()), calls]
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('write', [
    'UPDATE t SET b = b + 1', 'DELETE FROM t WHERE rowid % 3 = 0', 'DELETE FROM t', 'DELETE FROM w', 'DROP INDEX ux',
    'INSERT INTO t SELECT a + 1000, b, c FROM t', 'UPDATE w SET d = d + 1', 'VACUUM'])
@pytest.mark.parametrize('query', FEW)
def test_writes_between_rows(write, query):
    compare(written_between_rows(made, query, write, ROUNDS), oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_dropped_in_the_middle(query):
    compare(dropped_in_the_middle(made, query), oracle='C')


def test_writes_in_every_call():
    def action(side):
        def act(connection, calls):
            connection.execute('INSERT INTO log VALUES(?)', calls[-1][:1])
            connection.execute('UPDATE w SET d = d + 1 WHERE k = ?', (len(calls) % 11,))
        connection, calls = made(side, act)
        found = connection.execute(QUERIES[0]).fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
@pytest.mark.parametrize('error', [ValueError('x'), MemoryError(), OverflowError(), KeyError])
def test_exceptions(query, error):
    def action(side):
        found = []
        for at in (1, 2, 50, 423):
            def act(connection, calls):
                if len(calls) == at:
                    raise error
            connection, calls = made(side, act)
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            rows = [outcome(cursor.fetchone)]
            while rows[-1] is not None and not isinstance(rows[-1], str):
                rows.append(outcome(cursor.fetchone))
            found += [rows, calls, connection.execute('SELECT count(*) FROM u').fetchall()]
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('result', [None, 1.5, 'text', b'blob', 2 ** 70, object(), float('nan'), True, '\ud800',
                                    'x' * 5000], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize('query', FEW)
def test_results(query, result):
    compare(odd_results(made, query, result), oracle='C')


@pytest.mark.parametrize('query', [QUERIES[n] for n in (1, 4, 17, 19, 22, 23)])
@pytest.mark.parametrize('change', [
    'UPDATE t SET c = CAST(x\'61ff62\' AS TEXT) WHERE a = 301', 'UPDATE t SET c = zeroblob(9000) WHERE a = 301',
    'UPDATE t SET c = printf(\'%.*c\', 70000, \'x\') WHERE a = 301', 'ALTER TABLE t ADD COLUMN e DEFAULT 7',
    'UPDATE w SET d = printf(\'%.*c\', 70000, \'x\') WHERE k = 5',
    'UPDATE w SET d = CAST(x\'ff\' AS TEXT) WHERE k = 5'])
def test_unusual_values(query, change):
    compare(row_by_row(made, query, change), oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT t.a, abs(w.d) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3',
    'SELECT sum(abs(w.d)) FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) % 7 = 3'])
def test_an_error_of_sqlite_comes_with_its_row(query):
    compare(row_by_row(made, query, 'UPDATE w SET d = -9223372036854775808 WHERE k = 7'), oracle='C')


@pytest.mark.parametrize('query', FEW + [QUERIES[3]])
def test_interrupt_in_a_function(query):
    def action(side):
        def act(connection, calls):
            if len(calls) == 90:
                connection.interrupt()
        connection, calls = made(side, act)
        return outcome(lambda: connection.execute(query).fetchall()), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW + [QUERIES[3]])
def test_the_connection_is_closed_inside(query):
    with planned('inlined'):
        for at in (1, 50, 90):
            def act(connection, calls):
                if len(calls) >= at:
                    connection.close()
            connection, calls = made(Side('inlined', ''), act)
            found = outcome(lambda: connection.execute(query).fetchall())
            assert found == 'ProgrammingError: Cannot operate on a closed database.'


@pytest.mark.parametrize('query', FEW + [QUERIES[3]])
def test_the_same_query_inside(query):
    def action(side):
        depth = []

        def act(connection, calls):
            if len(depth) < 2 and len(calls) in (3, 5, 130):
                depth.append(1)
                try:
                    connection.execute(query).fetchall()
                    connection.execute(query).fetchone()
                finally:
                    depth.pop()
        connection, calls = made(side, act)
        return connection.execute(query).fetchall(), calls
    compare(action, oracle='C')


@pytest.mark.parametrize('at', [5, 60])
@pytest.mark.parametrize('what', ['close', 'fetchone', 'execute'])
def test_the_cursor_is_used_inside(what, at):
    def action(side):
        found, cursors = [], []

        def act(connection, calls):
            if len(calls) == at:
                found.append(outcome(getattr(cursors[0], what), *['SELECT 1'] * (what == 'execute')))
        connection, calls = made(side, act)
        cursors.append(connection.cursor())
        found.append(outcome(cursors[0].execute, QUERIES[3]) is cursors[0])
        return [outcome(cursors[0].fetchone) for _ in range(30)], found, calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_text_factory_and_rows(query):
    compare(other_text_factories(made, query, 1, (bytes, str)), oracle='C')


@pytest.mark.parametrize('what', ['commit', 'rollback'])
@pytest.mark.parametrize('query', FEW)
def test_transactions_end_inside(what, query):
    def action(side):
        found = []

        def act(connection, calls):
            if len(calls) == 60:
                connection.execute('DELETE FROM w WHERE k > 3')
                found.append(outcome(getattr(connection, what)))
        connection, calls = made(side, act, isolation_level='')
        return outcome(lambda: connection.execute(query).fetchall()), found, calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_functions_are_defined_again_between_rows(query):
    compare(defined_again_between_rows(made, query), oracle='C')


def test_long_keys_are_not_kept():
    runner = filters.FilterRunner.__new__(filters.FilterRunner)
    runner.keys = set()
    keys = ['x' * 200, 'x' * 201, (1, 'x' * 200), (1, 'x' * 201), 5, (5, None)]
    assert not any(runner.is_known(key) for key in keys)
    assert [key for key in keys if key in runner.keys] == [keys[0], keys[2], keys[4], keys[5]]


@pytest.mark.parametrize('passing, reason', [(2, filters.PASSING), (100, None)])
def test_a_filter_that_lets_many_rows_pass_is_left_to_c(monkeypatch, passing, reason):
    query = 'SELECT t.a, w.d FROM t CROSS JOIN w ON w.k = t.b WHERE f(t.a) %% %d = 1' % passing

    def found(side):
        connection, calls = made(side)
        connection.execute('INSERT INTO t SELECT column1 * 1000 + a, b, c FROM t, (VALUES(1), (2), (3), (4), (5), (6))')
        return connection, [connection.execute(query).fetchall() for _ in range(4)], calls
    side = Side('inlined', '')
    with planned('C'):
        expected = found(side)
    planned_by_default(monkeypatch, 1000)
    connection, *rest = found(side)
    assert rest == list(expected[1:]) and len(rest[1]) == 4 * 4900
    plan, = sqpyte.explain(connection, query)
    assert plan.tier == 'inliner' if reason is None else reason in plan.reason, plan.reason
    for one in connection, expected[0]:
        one.close()


@pytest.mark.parametrize('inner, reason', [(400, filters.WITHIN), (2, None)])
def test_a_long_rest_is_left_to_c(monkeypatch, inner, reason):
    planned_by_default(monkeypatch, 100, LONG=100)
    monkeypatch.setattr(filters, 'LONG_REST', 1000)
    connection, calls = made(Side('inlined', ''))
    query = 'SELECT t.a, (SELECT sum(y.a + t.a) FROM t AS y WHERE y.a < %d) FROM t WHERE f(t.a) %% 5 = 1' % inner
    for _ in range(5):
        rows = connection.execute(query).fetchall()
    assert rows == [(a, inner * (inner - 1) // 2 + inner * a) for a in range(1, 700, 5)]
    assert len(calls) == 5 * 700
    plan, = sqpyte.explain(connection, query)
    assert plan.tier == 'inliner' if reason is None else reason in plan.reason, plan.reason
    connection.close()
