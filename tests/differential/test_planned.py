"""Generated queries whose plans depend on statistics: every tier answers as stock."""
from hypothesis import given

from tests.differential.budget import examples
from tests.differential.generate import planned
from tests.differential.generate.scripts_over import scripts_over


@examples(150)
@given(case=scripts_over(planned, ["PRAGMA encoding='UTF-16le'"]))
def test_planned(capi_tiers, case):
    capi_tiers.check(case)
