"""The stack ends amid a row that is inlined, and once more while the rows are given up: the connection can be used."""
import contextlib
import sys

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from tests.pypy_module.inline.inlining import Sum, planned

QUERIES = ['SELECT f(a) FROM t', 'SELECT x.a, f(x.a) FROM t AS x JOIN t AS y ON x.a = y.a',
           'SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a', 'SELECT a, total_of(a) FROM t GROUP BY a',
           'SELECT a, total_of(a) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t']
LIMIT = 300


def deep(levels, call):
    return call() if levels == 0 else deep(levels - 1, call)


@pytest.fixture
def limited():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(LIMIT)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.skipif(sys.implementation.name != 'cpython',
                    reason='PyPy limits the bytes of the stack, of which machine code takes less')
@pytest.mark.parametrize('closes', [True, False])
@pytest.mark.parametrize('query', QUERIES)
def test_the_stack_ends_amid_a_row(query, closes, limited):
    failed = 0
    for levels in range(100, LIMIT):
        with planned('inlined'):
            connection = sqpyte.connect(':memory:', isolation_level=None)
            connection.create_function('f', 1, lambda value: value)
            connection.create_window_function('total_of', 1, Sum)
            connection.execute('CREATE TABLE t(a INTEGER)')
            connection.execute('CREATE TABLE w(a)')
            connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(9)])
            cursor = connection.execute(query)
            cursor.fetchone()
            try:
                deep(levels, cursor.fetchone)
                deep(levels, cursor.fetchone)
            except RecursionError:
                failed += 1
                with contextlib.suppress(sqpyte.OperationalError):      # that they are lost
                    assert len(cursor.fetchall()) > 5
            if closes:
                cursor.close()
            rows = 0
            for _ in connection.execute(query):
                connection.execute('INSERT INTO w VALUES(1)')
                rows += 1
            assert rows == 9
            connection.execute('INSERT INTO t VALUES(1)')
            assert connection.execute('SELECT count(*) FROM t').fetchall() == [(10,)]
            connection.close()
    assert failed > 9


@pytest.mark.parametrize('query', QUERIES)
def test_a_runner_whose_statement_is_somebody_elses(query):
    """It was broken off where it was to be detached, too. It goes, and leaves the statement alone."""
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', isolation_level=None)
        connection.create_function('f', 1, lambda value: value)
        if 'OVER' in query and not hasattr(connection, 'create_window_function'):
            pytest.skip('window functions are newer than this version')
        getattr(connection, 'create_window_function', connection.create_aggregate)('total_of', 1, Sum)
        connection.execute('CREATE TABLE t(a INTEGER)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(9)])
        cursor = connection.execute(query)
        cursor.fetchone()
        runner, = session_of(connection).runners
        runner.statement.inlined.runner = None
        runner.give_up()
        assert not session_of(connection).runners and runner.statement.busy
        cursor.close()
        connection.execute('INSERT INTO t VALUES(1)')
        assert len(connection.execute(query).fetchall()) >= 9
        connection.close()


@pytest.mark.skipif(sys.implementation.name != 'cpython',
                    reason='PyPy limits the bytes of the stack, of which machine code takes less')
@pytest.mark.parametrize('query', QUERIES)
def test_a_connection_is_dropped_after_that(query, path, collect, limited):
    def once(levels):
        connection = sqpyte.connect(path, isolation_level=None)
        connection.create_function('f', 1, lambda value: value)
        connection.create_window_function('total_of', 1, Sum)
        cursor = connection.execute(query)
        cursor.fetchone()
        with contextlib.suppress(RecursionError):
            deep(levels, cursor.fetchone)

    writer = sqpyte.connect(path, isolation_level=None, timeout=0)
    writer.execute('CREATE TABLE t(a INTEGER)')
    writer.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(9)])
    with planned('inlined'):
        for levels in range(100, LIMIT, 3):
            once(levels)
    collect()
    writer.execute('INSERT INTO t VALUES(1)')
    writer.close()
