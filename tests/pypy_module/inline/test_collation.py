"""Comparisons by collations written in Python, inlined where they decide on rows."""

import pytest

import sqpyte
from tests.outcome import outcome
from tests.pypy_module.dbapi.connections.test_collation_rank import filled, texts
from tests.pypy_module.inline.inlining import Side, compare, failing_collation, planned

CONDITIONS = [
    'k = \'ab\' COLLATE mine', 'k <> \'ab\' COLLATE mine', 'k < \'b\' COLLATE mine', 'k <= ? COLLATE mine',
    'k > m COLLATE mine', 'k >= \'b\' COLLATE mine', 'k IS m COLLATE mine', 'k IS NOT m COLLATE odd',
    'k COLLATE mine BETWEEN \'A\' AND \'bz\'', 'NOT k < m COLLATE odd', 'k < \'b\' COLLATE mine OR a % 3 = 0',
    'a % 5 AND k < m COLLATE mine AND m > \'x\' COLLATE odd', 'm COLLATE mine = \'X\'',
    'f(k < \'b\' COLLATE mine)',
    'f(a) > 1 AND k < \'b\' COLLATE mine', 'k < \'b\' COLLATE mine AND f(a) > 1', 'c = \'20\' COLLATE mine',
    'c < k COLLATE mine', 'k COLLATE mine IN (\'a\', \'b\', \'ab\')', '(k COLLATE mine, a) > (\'b\', 20)',
]
QUERIES = [
    'SELECT a, k FROM t WHERE %s', 'SELECT count(*), max(a), sum(c) FROM t WHERE %s',
    'SELECT a, k FROM t WHERE %s LIMIT 5 OFFSET 3', 'SELECT s(a) FROM t WHERE %s',
    'SELECT x, a FROM u CROSS JOIN t ON u.x = t.a %% 7 WHERE %s',
    'SELECT x, count(*) FROM t CROSS JOIN u ON u.x = t.a %% 7 WHERE %s GROUP BY x',
    'SELECT a FROM t WHERE %s ORDER BY m, a', 'SELECT a FROM t WHERE %s ORDER BY m COLLATE mine, a',
    'SELECT x, a FROM t CROSS JOIN u ON u.x = t.a %% 7 WHERE %s', 'SELECT DISTINCT m FROM t WHERE %s',
    'SELECT a, %s FROM t', 'SELECT a, CASE WHEN %s THEN 1 ELSE f(a) END FROM t',
]


class Sum:
    """An aggregate."""

    def __init__(self):
        self.sum = 0

    def step(self, value):
        self.sum += value

    def finalize(self):
        return self.sum


def tables(side, count=150, kinds=7):
    """A connection with a table of any values, and functions."""
    connection = filled(side, texts(count, kinds))
    connection.execute('ALTER TABLE t ADD COLUMN c TEXT')
    connection.execute('UPDATE t SET c = a')
    connection.execute('CREATE TABLE u(x INTEGER PRIMARY KEY)')
    connection.executemany('INSERT INTO u VALUES(?)', [(i,) for i in range(6)])
    connection.create_function('f', 1, lambda value: value)
    connection.create_aggregate('s', 1, Sum)
    return connection


@pytest.mark.parametrize('query', QUERIES)
def test_conditions(query):
    def action(side):
        connection = tables(side)
        return [connection.execute(query % condition, ('Ba',) * condition.count('?')).fetchall()
                for condition in CONDITIONS]
    inlined = not query.startswith(('SELECT DISTINCT', 'SELECT x, a FROM t')) and 'BY m COLLATE' not in query
    assert type(compare(action, inlined=inlined)) is list


def test_what_is_inlined():
    with planned('inlined'):
        side = Side('inlined', '')
        connection = tables(side)
        connection.create_collation('apart', lambda x, y: (x > y) - (x < y))
        for sql, how in [('SELECT a FROM t WHERE k < m COLLATE apart', 'computed in the program'),
                         ('SELECT count(*) FROM t WHERE k < m COLLATE apart', 'runs as one loop in Python'),
                         ('SELECT a, x FROM t CROSS JOIN u WHERE k < x || m COLLATE apart',
                          'they run in the program'),
                         ('SELECT DISTINCT m FROM t WHERE k < m COLLATE apart',
                          'of rows that pass C does the rest'),
                         ('SELECT DISTINCT m FROM t WHERE k < m COLLATE apart ORDER BY a DESC',
                          'a collation written in Python is called')]:
            text = str(sqpyte.explain(connection, sql))
            assert how in text, text
        side.close()


@pytest.mark.parametrize('late', [1, 2, 60, 149])
@pytest.mark.parametrize('query', ['SELECT a FROM t WHERE k <> \'#\' COLLATE fails',
                                   'SELECT a FROM t WHERE k = \'#\' COLLATE fails',
                                   'SELECT count(*) FROM t WHERE k <> \'#\' COLLATE fails',
                                   'SELECT f(a) FROM t CROSS JOIN u WHERE k <> \'#\' COLLATE fails'])
def test_what_a_collation_raises(query, late):
    def action(side):
        calls = []
        connection = tables(side, kinds=1)
        connection.create_collation('fails', failing_collation(calls, late))
        found: list = []
        cursor = outcome(connection.execute, query)
        while not isinstance(cursor, str):
            found.append(outcome(cursor.fetchone))
            if found[-1] is None or isinstance(found[-1], str):
                cursor = 'done'
        found += [cursor, len(calls)]
        return found + connection.execute('SELECT count(*) FROM t WHERE k <> \'#\' COLLATE fails').fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('query', ['SELECT a, m FROM t WHERE k <> \'#\' COLLATE asks AND m > \'\'',
                                   'SELECT m, f(a) FROM t WHERE m >= \'X\' COLLATE asks LIMIT 100',
                                   'SELECT a, x FROM t CROSS JOIN u WHERE x < 5 AND m >= \'X\' COLLATE asks',
                                   'SELECT count(*), max(m) FROM t WHERE m >= \'X\' COLLATE asks'])
@pytest.mark.parametrize('write', ['UPDATE t SET m = \'z\' || a WHERE a > 100',
                                   'INSERT INTO t SELECT a + 1000, k, m, c FROM t WHERE a < 9',
                                   'DELETE FROM t WHERE a > 120', 'SELECT count(*) FROM t'])
def test_a_collation_that_writes(query, write):
    def action(side):
        connection = tables(side, kinds=1)
        calls = []

        def asks(x, y):
            calls.append(x)
            if len(calls) in (30, 60):
                connection.execute(write).fetchall()
            return (x > y) - (x < y)
        connection.create_collation('asks', asks)
        found = outcome(lambda: connection.execute(query).fetchall())
        return found, len(calls), connection.execute('SELECT count(*), max(m) FROM t').fetchall()
    compare(action, oracle='C')


def test_texts_that_are_not_utf_8():
    def action(side):
        connection = tables(side, kinds=1)
        connection.execute('UPDATE t SET k = CAST(x\'ff\' AS TEXT) WHERE a = 77')
        return [outcome(lambda: connection.execute(query % 'k <> \'b\' COLLATE mine').fetchall())
                for query in QUERIES]
    compare(action, oracle='C')


def test_collations_that_change():
    def action(side):
        connection = tables(side)
        sql = 'SELECT a FROM t WHERE k < \'b\' COLLATE changing'
        found = []
        for compared in (lambda x, y: (x > y) - (x < y), lambda x, y: (x < y) - (x > y), lambda x, y: 0):
            connection.create_collation('changing', compared)
            found.append(connection.execute(sql).fetchall())
        connection.create_collation('changing', None)
        return found + [outcome(connection.execute, sql)]
    compare(action)
