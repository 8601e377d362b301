"""Generated queries whose plans depend on statistics: every tier answers as stock."""
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.budget import examples
from tests.differential.generate import planned
from tests.differential.sessions.scripts import script


@st.composite
def cases(draw):
    """A script: the tables and their statistics, and statements over them."""
    actions = draw(planned.contents())
    actions += [("run", 0, text) for text in draw(st.lists(planned.statements, min_size=1, max_size=8))]
    pragmas = draw(st.lists(st.sampled_from([
        "PRAGMA cache_size=3", "PRAGMA page_size=512", "PRAGMA automatic_index=OFF",
        "PRAGMA encoding='UTF-16le'", "PRAGMA reverse_unordered_selects=ON"]), max_size=2, unique=True))
    return script([("run", 0, text) for text in planned.SCHEMA] + actions, pragmas=pragmas,
                  threshold=draw(st.sampled_from([1, 1, 2, 5])))


@examples(150)
@given(case=cases())
def test_planned(capi_tiers, case):
    capi_tiers.check(case)
