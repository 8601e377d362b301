"""Generated joins, subqueries and unions over tables with indexes: every tier answers as stock."""
from hypothesis import given

from tests.differential.budget import examples
from tests.differential.generate import joins
from tests.differential.generate.scripts_over import scripts_over


@examples(150)
@given(case=scripts_over(joins))
def test_joins(capi_tiers, case):
    capi_tiers.check(case)
