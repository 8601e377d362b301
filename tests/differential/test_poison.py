"""Declared register effects: with dead registers overwritten, queries and writes answer as stock."""
import pytest
from hypothesis import given

from tests.differential import test_joins
from tests.differential.budget import examples
from tests.differential.generate import queries
from tests.differential.sessions.scripts import script
from tests.differential.test_functions import AGGREGATES, OVER, WINDOWED, table
from tests.differential.test_queries import cases, check


@examples(40)
@given(case=cases(queries.selects))
def test_selects(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(40)
@given(case=cases(queries.aggregations))
def test_aggregations(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(60)
@given(case=cases(queries.others, 4))
def test_other_queries(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(60)
@given(case=cases(queries.writes, 4))
def test_writes(poisoned_tiers, case):
    check(poisoned_tiers, case, [("run", 0, "SELECT * FROM t"), ("run", 0, "PRAGMA integrity_check"),
                                 ("image", 0)])


@examples(20)
@given(case=test_joins.cases())
def test_joins_and_unions(poisoned_tiers, case):
    poisoned_tiers.check(case)


@pytest.mark.parametrize("over", OVER)
def test_windows_and_aggregates(poisoned_tiers, over):
    texts = ["SELECT %s %s FROM t LIMIT 60" % (call, over) for call in WINDOWED]
    texts += ["SELECT typeof(b), %s FROM t GROUP BY typeof(b)" % call for call in AGGREGATES]
    poisoned_tiers.check(script(table() + [("run", 0, text) for text in texts]))
