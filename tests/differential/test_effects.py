"""In the checking build of the C tier, whose opcodes run alone, queries and writes answer as stock."""
from hypothesis import given

from tests.differential.budget import examples
from tests.differential.generate import joins, queries
from tests.differential.generate.scripts_over import scripts_over
from tests.differential.sessions.scripts import script
from tests.differential.test_functions import AGGREGATES, OVER, WINDOWED, table
from tests.differential.test_queries import cases, check


@examples(15)
@given(case=cases(queries.selects))
def test_selects(checked_tiers, case):
    check(checked_tiers, case)


@examples(15)
@given(case=cases(queries.aggregations))
def test_aggregations(checked_tiers, case):
    check(checked_tiers, case)


@examples(25)
@given(case=cases(queries.others, 4))
def test_other_queries(checked_tiers, case):
    check(checked_tiers, case)


@examples(25)
@given(case=cases(queries.writes, 4))
def test_writes(checked_tiers, case):
    check(checked_tiers, case, [("run", 0, "SELECT * FROM t"), ("run", 0, "PRAGMA integrity_check"),
                                ("image", 0)])


@examples(10)
@given(case=scripts_over(joins))
def test_joins_and_unions(checked_tiers, case):
    checked_tiers.check(case)


def test_windows_and_aggregates(checked_tiers):
    texts = ["SELECT %s %s FROM t LIMIT 60" % (call, over) for call in WINDOWED for over in OVER]
    texts += ["SELECT typeof(b), %s FROM t GROUP BY typeof(b)" % call for call in AGGREGATES]
    checked_tiers.check(script(table() + [("run", 0, text) for text in texts]))
