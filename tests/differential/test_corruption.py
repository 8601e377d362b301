"""Damaged files: every tier gives stock's rows and stock's errors, and none crashes."""
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.budget import examples
from tests.differential.generate import queries
from tests.differential.generate.corruption import damaged, damages
from tests.differential.generate.tables import tables
from tests.differential.sessions.scripts import script


@st.composite
def cases(draw):
    """(tables.Table, damage, storage, actions)."""
    table = draw(tables())
    columns = queries.names(table)
    texts = draw(st.lists(st.one_of(
        queries.selects(columns), queries.aggregations(columns)), min_size=1, max_size=4))
    actions = [("run", 0, "SELECT * FROM t"), ("run", 0, "SELECT count(*), max(c0) FROM t")]
    actions += [("run", 0, text) + draw(queries.parameters) for text in texts]
    return table, draw(damages), draw(st.sampled_from(["memory", "memory", "file"])), actions


@examples(150)
@given(case=cases())
def test_reading_damaged_files(capi_tiers, witnesses, case):
    table, damage, storage, actions = case
    image = damaged(capi_tiers.image(table.statements()), table.page_size, damage)
    capi_tiers.check(script(actions, image, storage), witnesses=witnesses)
