"""Statements that are planned anew amid their rows, because a function, a collation or a hook is another one."""
import pytest
from tests.pypy_module.inline.test_row_batches import QUERIES, many

import sqpyte
from pypy_module.dbapi.statements import tiers
from tests.pypy_module.inline.inlining import Counter, answers

PLANNED_ANEW = {
    'create_function': lambda connection: connection.create_function('another', 0, len),
    'create_aggregate': lambda connection: connection.create_aggregate('another', 1, dict),
    'create_collation': lambda connection: connection.create_collation('another', lambda a, b: 0),
    'set_trace_callback': lambda connection: connection.set_trace_callback(None),
    'set_progress_handler': lambda connection: connection.set_progress_handler(None, 0),
    'set_authorizer': lambda connection: connection.set_authorizer(lambda *args: 0),
    'configure': lambda connection: (tiers.planner and sqpyte.configure(inline=False),
                                     connection.create_function('another', 0, len)),
}


@pytest.mark.parametrize('what', list(PLANNED_ANEW))
@pytest.mark.parametrize('query', [
    QUERIES[0], 'SELECT a, d FROM t ORDER BY +b, d',
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 80) SELECT n, 'x' || n FROM r"])
def test_statements_are_planned_anew_while_the_result_set_hands_out_the_rows(query, what):
    """C is ahead of it: none is lost, nor comes later."""
    def action(side):
        connection = many(side)
        cursor = connection.execute(query)
        found = cursor.fetchmany(20)
        connection.text_factory = bytes
        found += cursor.fetchmany(2)
        PLANNED_ANEW[what](connection)
        return found + cursor.fetchmany(5) + cursor.fetchall()
    before = Counter.started
    found = answers(action, ('C', 'later', 'inlined'))
    assert found['later'] == found['inlined'] == found['C']
    assert Counter.started > before + 1
