"""Generated queries and writes over generated tables: every tier answers as stock does."""
from hypothesis import given
from hypothesis import strategies as st

from tests.differential.budget import examples
from tests.differential.generate import queries
from tests.differential.generate.tables import tables
from tests.differential.sessions.scripts import script


@st.composite
def cases(draw, statements, most=6):
    """A table and statements over it, with a progress handler or without: (tables.Table, storage, pragmas, threshold,
    actions)."""
    table = draw(tables())
    columns = queries.names(table)
    texts = draw(st.lists(statements(columns), min_size=1, max_size=most))
    actions = [("run", 0, text) + draw(queries.parameters) for text in texts]
    storage = draw(st.sampled_from(["memory", "memory", "memory", "file", "wal", "shared"]))
    period = draw(st.sampled_from([0, 0, 0, 0, 1, 3, 100]))
    if period:
        actions = [("progress", 0, period)] + actions + [("progress", 0, 0)]
    pragmas = draw(st.lists(st.sampled_from([
        "PRAGMA cache_size=3", "PRAGMA mmap_size=1000000", "PRAGMA automatic_index=OFF",
        "PRAGMA reverse_unordered_selects=ON"]), max_size=2, unique=True))
    return table, storage, pragmas, draw(st.sampled_from([1, 1, 2, 5])), actions


def check(tiers, case, last=()):
    table, storage, pragmas, threshold, actions = case
    image = tiers.image(table.statements())
    tiers.check(script(actions + list(last), image, storage, pragmas, threshold))


@examples(100)
@given(case=cases(queries.selects))
def test_selects(capi_tiers, case):
    check(capi_tiers, case)


@examples(100)
@given(case=cases(queries.aggregations))
def test_aggregations(capi_tiers, case):
    check(capi_tiers, case)


@examples(100)
@given(case=cases(queries.others, 4))
def test_other_queries(capi_tiers, case):
    check(capi_tiers, case)


@examples(100)
@given(case=cases(queries.writes, 4))
def test_writes_leave_the_same_file(capi_tiers, case):
    check(capi_tiers, case, [("run", 0, "SELECT * FROM t"), ("run", 0, "PRAGMA integrity_check"),
                             ("image", 0)])


@examples(100)
@given(table=tables())
def test_making_the_table_leaves_the_same_file(capi_tiers, table):
    capi_tiers.check(script(table.statements() + [("image", 0)]))
