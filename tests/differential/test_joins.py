"""Generated joins, subqueries and unions over tables with indexes: every tier answers as stock."""
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.budget import examples
from tests.differential.generate import joins
from tests.differential.sessions.scripts import script


@st.composite
def cases(draw):
    """A script: the tables, and statements over them."""
    actions = draw(joins.contents())
    actions += [("run", 0, text) for text in draw(st.lists(joins.statements, min_size=1, max_size=6))]
    pragmas = draw(st.lists(st.sampled_from([
        "PRAGMA cache_size=3", "PRAGMA page_size=512", "PRAGMA automatic_index=OFF",
        "PRAGMA reverse_unordered_selects=ON"]), max_size=2, unique=True))
    return script([("run", 0, text) for text in joins.SCHEMA] + actions, pragmas=pragmas,
                  threshold=draw(st.sampled_from([1, 1, 2, 5])))


@examples(150)
@given(case=cases())
def test_joins(capi_tiers, case):
    capi_tiers.check(case)
