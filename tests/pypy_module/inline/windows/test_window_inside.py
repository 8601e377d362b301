"""What may happen inside a window function written in Python, and between the rows of its query: writes,
interrupts, the end of the cursor, the connection or the transaction.

The oracle is the C tier, as in test_window.py.
"""
import pytest
from tests.outcome import outcome
from tests.pypy_module.inline.test_between import WRITES

from tests.extent import everything
from tests.pypy_module.inline.inlining import (
    Side, compare, dropped_in_the_middle, other_text_factories, planned, written_between_rows)
from tests.pypy_module.inline.windows.queries import BRIEF, FEW, SORTED, filled, window_class


@pytest.mark.parametrize('write', WRITES if everything() else WRITES[::3])
@pytest.mark.parametrize('query', BRIEF)
def test_writes_inside(write, query):
    def action(side):
        found = []
        for at in (9, 130):
            def act(name, *given):
                if len(calls) == at:
                    for part in write.split(';'):
                        part = part.format(here=at // 4, next=at // 4 + 1).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))
            connection, calls = filled(side, act=act)
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('write', [
    'UPDATE u SET y = y + 1000 WHERE rowid > 40', 'DELETE FROM u WHERE rowid % 3 = 0',
    'DELETE FROM t', 'INSERT INTO u SELECT x, y + 1, z FROM u', 'DROP INDEX ux', 'VACUUM',
    'UPDATE t SET b = b + 1', 'DELETE FROM t WHERE a > 60'])
@pytest.mark.parametrize('query', FEW)
def test_writes_between_rows(write, query):
    compare(written_between_rows(filled, query, write, (1, 2, 55) if everything() else (2,)), oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_writes_in_every_call(query):
    def action(side):
        def act(name, *given):
            connection.execute('INSERT INTO log VALUES(?)', (name,))
            connection.execute('UPDATE t SET b = b + 1 WHERE a = ?', (len(calls),))
        connection, calls = filled(side, act=act)
        found = connection.execute(query).fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_text_factory_between_rows(query):
    compare(other_text_factories(filled, query, 8, (bytes, lambda data: data[::-1], str)), oracle='C')


@pytest.mark.parametrize('name', ['step', 'inverse', 'value'])
@pytest.mark.parametrize('query', BRIEF)
def test_interrupts(query, name):
    def action(side):
        found = []
        for at in (5, 70, 120):
            def act(called, *given):
                if called == name and len(calls) >= at and not done:
                    done.append(1)
                    connection.interrupt()
            done: list = []
            connection, calls = filled(side, act=act)
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            while found[-1] is not None and not (isinstance(found[-1], str)):
                found.append(outcome(cursor.fetchone))
            found.append(list(calls))
            connection, calls = filled(side)
            cursor = connection.execute(query)
            found += [cursor.fetchone() for _ in range(at % 50)]
            connection.interrupt()
            found += [outcome(cursor.fetchall), list(calls)]
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_the_connection_is_closed_inside(query):
    with planned('inlined'):
        for at in (1, 50, 130):
            def act(*given):
                if len(calls) >= at:
                    connection.close()
            connection, calls = filled(Side('inlined', ''), act=act)
            found = outcome(lambda: connection.execute(query).fetchall())
            assert found == 'ProgrammingError: Cannot operate on a closed database.' or len(calls) < at


@pytest.mark.parametrize('query', FEW)
def test_the_same_query_inside(query):
    def action(side):
        depth: list = []

        def act(*given):
            if len(depth) < 2 and len(calls) in (30, 50, 130):
                depth.append(1)
                try:
                    connection.execute(query).fetchall()
                    connection.execute(query).fetchone()
                finally:
                    depth.pop()
        connection, calls = filled(side, act=act)
        return connection.execute(query).fetchall(), calls
    compare(action, oracle='C')


def test_recursive_use_of_the_cursor():
    def action(side):
        found = []

        def act(*given):
            if len(calls) > 40:
                found.append(outcome(cursor.fetchone))
                found.append(outcome(cursor.close))
        connection, calls = filled(side, act=act)
        cursor = connection.cursor()
        cursor.execute(SORTED[0])
        return [cursor.fetchone() for _ in range(30)], found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_dropped_in_the_middle(query):
    compare(dropped_in_the_middle(filled, query), oracle='C')


def test_errors_of_sqlite_come_with_their_row():
    def action(side):
        found = []
        for at in (1, 2, 60, 89):
            for order in ('b, a', 'a'):
                connection, calls = filled(side)
                connection.execute('UPDATE t SET c = -9223372036854775808 WHERE a = ?', (at,))
                cursor = connection.cursor()
                query = 'SELECT abs(c), w(b) OVER (ORDER BY %s ROWS 2 PRECEDING) FROM t' % order
                found.append(outcome(cursor.execute, query).__class__ is str)
                while found[-1] is not None and not isinstance(found[-1], str):
                    found.append(outcome(cursor.fetchone))
                found.append(calls)
        return found
    compare(action, oracle='C')


def test_transactions_end_inside():
    def action(side):
        found = []
        for query in FEW:
            for what in ('commit', 'rollback'):
                def act(*given):
                    if len(calls) == 60:
                        connection.execute('DELETE FROM u WHERE rowid > 50')
                        found.append(outcome(getattr(connection, what)))
                connection, calls = filled(side, act=act, isolation_level='')
                connection.commit()
                found += [outcome(lambda: connection.execute(query).fetchall()), calls]
        return found
    compare(action, oracle='C')


def test_functions_are_defined_again_between_rows():
    def action(side):
        connection, calls = filled(side)
        cursor = connection.execute(SORTED[0])
        found = [cursor.fetchone() for _ in range(5)]
        found.append(outcome(connection.create_window_function, 'w', -1, window_class([])))
        return found, outcome(cursor.fetchall), calls
    compare(action, oracle='C')
