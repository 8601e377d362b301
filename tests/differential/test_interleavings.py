"""Writers, rollbacks and interrupts between two rows: every tier goes on as stock does."""
from hypothesis import given

from tests.differential.budget import examples
from tests.differential.generate.interleavings import interleavings
from tests.differential.sessions.scripts import script

_FINALLY = [("finalize", 0, "r0"), ("finalize", 0, "r1"), ("run", 0, "ROLLBACK"),
            ("run", 1, "ROLLBACK"), ("run", 0, "SELECT * FROM t"), ("run", 0, "SELECT * FROM log"),
            ("run", 0, "PRAGMA integrity_check"), ("image", 0)]


def test_a_function_deletes_its_row_in_a_shared_cache(capi_tiers):
    """Then the checking build can't know where the cursor stands."""
    image = capi_tiers.image([("run", 0, sql) for sql in (
        "CREATE TABLE t(a, b)", "CREATE INDEX i ON t(a)", "INSERT INTO t VALUES(1, 2)", "CREATE TABLE log(x)")])
    actions = [("prepare", 0, "r0", "SELECT rowid, run(printf('DELETE FROM t WHERE rowid = %Q', rowid)), rowid FROM t"),
               ("step", 0, "r0", 9)]
    capi_tiers.check(script(actions + _FINALLY, image, "shared"))


@examples(200)
@given(case=interleavings())
def test_what_happens_between_rows(capi_tiers, case):
    table, storage, pragmas, threshold, actions = case
    image = capi_tiers.image(table.statements() + [("run", 0, "CREATE TABLE log(x)")])
    capi_tiers.check(script(actions + _FINALLY, image, storage, pragmas, threshold))
