"""Cursors that a finalizer of garbage uses once more: a generator that is closed, an asynchronous one that the event
loop closes later, an object with a `__del__`. They go on with their rows, whoever runs the same SQL meanwhile."""
import asyncio

import pytest

import sqpyte
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Sum, planned

ROWS = 300
QUERIES = [
    'SELECT a, c FROM t',
    'SELECT a, c FROM t WHERE b > 2',
    'SELECT f(a), c FROM t',
    'SELECT x.a, y.c FROM t AS x JOIN t AS y ON y.a = x.b',
    'SELECT x.a, f(y.c) FROM t AS x JOIN t AS y ON y.a = x.b',
    'SELECT x.a, y.c FROM t AS x CROSS JOIN t AS y ON y.a = x.b WHERE f(x.a)',
    'SELECT a, c FROM t ORDER BY c',
    'SELECT a % 100, g(a) FROM t GROUP BY 1',
    'SELECT a, g(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t',
]
TAKEN = 3       # rows, before the cursor is garbage


def filled():
    """A connection with a table and functions."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.executescript('''
        CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
        CREATE TABLE w(a);
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d)
        INSERT INTO t SELECT n, n %% 7 + 1, 'text ' || n FROM r''' % ROWS)
    connection.create_function('f', 1, lambda value: value)
    if hasattr(connection, 'create_window_function'):
        connection.create_window_function('g', 1, Sum)
    else:
        connection.create_aggregate('g', 1, Sum)
    return connection


def usable(query):
    """Skip a query that this version has no functions for."""
    if 'OVER' in query and not hasattr(sqpyte.Connection, 'create_window_function'):
        pytest.skip('window functions are newer than this version')


def in_a_cycle(generator):
    """Take some rows from a generator, and leave it to the garbage collector."""
    for _ in range(TAKEN):
        next(generator)
    cycle = [generator]
    cycle.append(cycle)


DEEDS = {
    'fetches': lambda connection, cursor, query: cursor.fetchall(),
    'fetches one by one': lambda connection, cursor, query: [cursor.fetchone(), cursor.fetchone(), *cursor],
    'writes': lambda connection, cursor, query: [connection.execute('INSERT INTO w VALUES(1)').rowcount, *cursor],
    'writes there': lambda connection, cursor, query: [
        connection.execute('INSERT INTO t VALUES(-1, 1, 2)').rowcount, *cursor],
    'runs it too': lambda connection, cursor, query: [
        next(connection.execute(query)), *connection.execute(query), *cursor],
    'drops the table': lambda connection, cursor, query: outcome(lambda: connection.execute('DROP TABLE t')),
    'closes': lambda connection, cursor, query: cursor.close(),
    'closes it all': lambda connection, cursor, query: (connection.close(), outcome(cursor.fetchone)),
    'goes back': lambda connection, cursor, query: (
        connection.executescript('BEGIN; INSERT INTO w VALUES(2)') and connection.rollback(),
        outcome(cursor.fetchall)),
}


@pytest.mark.parametrize('planner', ['C', 'inlined'])
@pytest.mark.parametrize('deed', DEEDS)
@pytest.mark.parametrize('query', QUERIES)
def test_a_generator_uses_its_cursor_when_it_is_closed(query, deed, planner, collect):
    usable(query)

    def rows(connection):
        cursor = connection.execute(query)
        try:
            for row in cursor:      # `yield from` would close it
                yield row
        finally:
            found.append(DEEDS[deed](connection, cursor, query))
    outcomes = []
    for garbage in (False, True):
        found: list = []
        with planned(planner):
            connection = filled()
            connection.execute(query).fetchall()
            generator = rows(connection)
            if garbage:
                in_a_cycle(generator)
                del generator
                collect()
            else:
                for _ in range(TAKEN):
                    next(generator)
                generator.close()
            outcomes.append(found)
            connection.close()
    assert len(outcomes[0]) == 1
    assert outcomes[1] == outcomes[0]


@pytest.mark.parametrize('planner', ['C', 'inlined'])
@pytest.mark.parametrize('query', QUERIES)
def test_others_run_the_same_sql_before_the_loop_closes_a_generator(query, planner, collect):
    usable(query)

    async def rows(connection):
        cursor = connection.execute(query)
        try:
            for row in cursor:
                yield row
                await asyncio.sleep(0)
        finally:
            left.append(cursor.fetchone())

    async def first(connection):
        async for row in rows(connection):
            return row

    async def main():
        connection = filled()
        expected = connection.execute(query).fetchall()
        for _ in range(4):
            left.clear()
            assert await first(connection) == expected[0]
            collect()
            cursor = connection.execute(query)
            found = [next(cursor) for _ in range(5)]
            for _ in range(5):
                await asyncio.sleep(0)
            found += cursor.fetchall()
            assert found == expected
            assert left == [expected[1]]
        connection.close()
    left: list = []
    with planned(planner):
        asyncio.run(main())


@pytest.mark.parametrize('planner', ['C', 'inlined'])
@pytest.mark.parametrize('query', QUERIES)
def test_an_object_keeps_the_cursor_when_it_is_finalised(query, planner, collect):
    usable(query)

    class Owner:
        def __init__(self, connection):
            self.cursor = connection.execute(query)

        def __del__(self):
            kept.append(self.cursor)

    kept: list = []
    with planned(planner):
        connection = filled()
        expected = connection.execute(query).fetchall()
        owner = Owner(connection)
        assert [next(owner.cursor) for _ in range(TAKEN)] == expected[:TAKEN]
        owner.me = owner
        del owner
        collect()
        assert next(connection.execute(query)) == expected[0]
        collect()
        assert kept[0].fetchall() == expected[TAKEN:]
        connection.close()


def test_a_collation_raises_for_a_connection_that_is_garbage(collect):
    def raises(one, other):
        raise ZeroDivisionError

    def rows():
        connection = filled()
        connection.create_collation('raises', raises)
        try:
            yield 1
            yield 2
            yield 3
        finally:
            with pytest.raises(ZeroDivisionError):
                connection.execute("SELECT a FROM t WHERE c COLLATE raises > 'x'").fetchall()
            done.append(1)
    done: list = []
    in_a_cycle(rows())
    collect()
    assert done == [1]


def test_dropped_cursors_are_found_young():
    """Many of them, in the middle of their rows: their statements are used again."""
    connection = filled()
    for number in range(20000):
        assert next(connection.execute('SELECT a FROM t WHERE a > ?', (number % 7,))) == (number % 7 + 1,)
    from pypy_module.dbapi.connections.session import session_of
    assert len(session_of(connection).all) < 6000
    connection.execute('DROP TABLE t')
    connection.close()
