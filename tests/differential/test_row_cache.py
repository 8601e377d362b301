"""Rows that are sought by rowid again and again (c_engine/storage/row_cache.c): every tier reads the copies as stock
reads the rows, whatever is written between two rows or within one."""
import pytest

from tests.differential.sessions.scripts import script

_NUMBERED = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d) "
FILL = [
    "CREATE TABLE o(id INTEGER PRIMARY KEY, k INTEGER, s INTEGER)",
    "CREATE TABLE d(id INTEGER PRIMARY KEY, a, b TEXT, c REAL)",
    "CREATE TABLE s(id INTEGER PRIMARY KEY, n TEXT)",
    "INSERT INTO d " + _NUMBERED % 50 + """SELECT n * 3, CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN n * 1000
     WHEN 2 THEN x'0102' ELSE n / 8.0 END, 'text ' || n || CASE n % 17 WHEN 3 THEN hex(zeroblob(300))
     ELSE '' END, n FROM r""",
    "INSERT INTO s " + _NUMBERED % 9 + "SELECT n, 'name ' || n FROM r",
    "INSERT INTO o " + _NUMBERED % 240 + "SELECT n, n * 7 % 23 * 3, n % 11 FROM r",
]
QUERIES = [
    "SELECT o.id, d.b, d.a, d.c, d.id, s.n FROM o CROSS JOIN d ON d.id = o.k CROSS JOIN s ON s.id = o.s",
    "SELECT o.id, d.rowid, d.a, s.n || d.b FROM o LEFT JOIN d ON d.id = o.k LEFT JOIN s ON s.id = d.id % 13",
    "SELECT s.n, count(*), sum(d.c), max(d.b) FROM o CROSS JOIN d ON d.id = o.k CROSS JOIN s ON s.id = o.s "
    "GROUP BY s.n",
    # The copy is read in a loop inside.
    "SELECT o.id, d.b, p.id, d.a FROM o CROSS JOIN d ON d.id = o.k CROSS JOIN o AS p ON p.id BETWEEN o.s "
    "AND o.s + 3 WHERE d.c < p.id + 9",
    "SELECT o.id, (SELECT d.b FROM d WHERE d.id = o.k AND d.c > s.id) FROM o CROSS JOIN s ON s.id = o.s",
]
# Within a row: what follows the call is read from the table as it is then, or isn't there.
WITHIN = [
    "SELECT o.id, d.b, CASE o.id WHEN 150 THEN run('%s') END, d.c, d.a, d.id FROM o "
    "CROSS JOIN d ON d.id = o.k",
    "SELECT o.id, d.id, d.a FROM o CROSS JOIN d ON d.id = o.k "
    "WHERE CASE o.id WHEN 150 THEN run('%s') ELSE 1 END IS NOT NULL AND d.c >= 0",
]
CHANGES = ["UPDATE d SET b = b || id, c = -1", "DELETE FROM d WHERE id % 2", "DELETE FROM d",
           "INSERT INTO s(n) VALUES(1)", "UPDATE s SET n = id"]


def _cases():
    for sql in QUERIES:
        yield [("run", 0, sql), ("run", 0, sql)]
        for change in CHANGES:
            yield [("prepare", 0, "r0", sql), ("step", 0, "r0", 120), ("run", 0, "SAVEPOINT p"),
                   ("run", 0, change), ("step", 0, "r0", 9), ("run", 0, "ROLLBACK TO p"),
                   ("step", 0, "r0", 9), ("run", 0, "RELEASE p"), ("run", 0, change),
                   ("step", 0, "r0", 1000), ("finalize", 0, "r0")]
    for sql in WITHIN:
        for change in CHANGES:
            yield [("run", 0, sql % change), ("run", 0, "SELECT count(*), sum(c) FROM d")]


CASES = list(_cases())


@pytest.mark.parametrize("number", range(len(CASES)))
def test_rows(capi_tiers, number):
    transcript = capi_tiers.check(script([("run", 0, sql) for sql in FILL] + CASES[number],
                                         pragmas=["PRAGMA page_size=512"]))
    assert "error" not in str(transcript[:len(FILL)])


@pytest.mark.parametrize("number", range(0, len(CASES), 2))
def test_rows_with_dead_registers_overwritten(poisoned_tiers, number):
    poisoned_tiers.check(script([("run", 0, sql) for sql in FILL] + CASES[number],
                                pragmas=["PRAGMA page_size=512"]))
