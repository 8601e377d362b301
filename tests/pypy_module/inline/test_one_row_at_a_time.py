"""Rows of which none can be computed ahead of the one before: C goes on with them."""
import pytest

from pypy_module.dbapi.connections.session import session_of
from pypy_module.inline.runtime import rows as inline_rows
from tests.outcome import outcome
from tests.pypy_module.inline.test_row_batches import compare, many


@pytest.mark.parametrize('deed', ['', 'INSERT INTO log VALUES(1)', 'DROP TABLE w'])
def test_rows_one_at_a_time_are_cs(deed):
    """Between two rows a function is called, so none can be computed ahead."""
    def action(side):
        connection = many(side)
        calls, found = [], []
        connection.create_function('next_of', 1, lambda n: calls.append(n) or n + 1)
        query = 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT next_of(n) FROM r WHERE n < 300) SELECT n FROM r'
        for at in 3, inline_rows.MOST_POOR + 1, 250:
            cursor = connection.execute(query)
            for _ in range(at):
                found.append((cursor.fetchone(), len(calls)))
            if deed:
                found.append(outcome(connection.execute, deed).__class__)
            found += [(row, len(calls)) for row in cursor]
        if side.name == 'inlined':
            statement, = [each for each in session_of(connection).all if 'RECURSIVE' in each.sql]
            assert statement.inlined.known.poor > 0
        return found
    compare(action, oracle='C')
