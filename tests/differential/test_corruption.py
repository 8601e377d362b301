"""Damaged files: every tier gives stock's rows and stock's errors, and none crashes."""
import pytest
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


STATEMENTS = ["PRAGMA page_size = 512", "CREATE TABLE t(a, b, c)", "CREATE INDEX i ON t(a)"] + [
    "INSERT INTO t VALUES (%d, %d, 'x')" % (1000 + n, n % 20 + 1) for n in range(20)]
QUERIES = ["SELECT a, b, c FROM t", "SELECT c FROM t", "SELECT count(*), sum(b), max(c) FROM t", "SELECT rowid FROM t",
           "SELECT a FROM t ORDER BY a", "SELECT a, rowid FROM t WHERE a BETWEEN 1003 AND 1010",
           "SELECT b FROM t WHERE a > 1004", "SELECT u.a, u.c FROM t CROSS JOIN t AS u ON u.rowid = t.b",
           "SELECT b, count(*) FROM t GROUP BY a"]
# The cells of the row with a = 1007 and of its index entry: what is before the record, and the record.
RECORDS = {"row": (bytes([8, 8]), bytes([4, 2, 1, 15]) + (1007).to_bytes(2, "big") + b"\x08x"),
           "entry": (bytes([6]), bytes([3, 2, 1]) + (1007).to_bytes(2, "big") + b"\x08")}


@pytest.mark.parametrize("size", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("header", range(6))
@pytest.mark.parametrize("what", RECORDS)
def test_a_record_with_another_header(capi_tiers, what, header, size):
    """An empty header, too, of which upstream reads the first type all the same; and fewer bytes."""
    head, record = RECORDS[what]
    image = capi_tiers.image([("run", 0, statement) for statement in STATEMENTS])
    assert image.count(head + record) == 1
    other = (head if size is None else bytes([size]) + head[1:]) + bytes([header]) + record[1:]
    image = image.replace(head + record, other)
    capi_tiers.check(script([("run", 0, query) for query in QUERIES], image, "memory"))
