"""Known traps, by name: every tier against stock, and stock against what SQL says."""
import pytest

from tests.differential import tiers
from tests.differential.sessions.scripts import render_row, script

INT_MAX, INT_MIN = 2 ** 63 - 1, -2 ** 63

# name: (rows of a table t(a, b), query over it, rows or error expected)
EXAMPLES = {
    "addition overflows to real": (
        [(INT_MAX, 1)], "SELECT a + b, typeof(a + b) FROM t", [(2.0 ** 63, "real")]),
    "subtraction overflows to real": (
        [(INT_MIN, 1)], "SELECT a - b, -a FROM t", [(float(INT_MIN), 2.0 ** 63)]),
    "multiplication overflows to real": (
        [(INT_MAX, 2), (2 ** 32, 2 ** 31)], "SELECT a * b FROM t", [(2.0 ** 64,), (2.0 ** 63,)]),
    "division truncates": (
        [(7, 2), (-7, 2), (7, -2), (-7, -2)], "SELECT a / b, a % b FROM t",
        [(3, 1), (-3, -1), (-3, 1), (3, -1)]),
    "division of the smallest integer": (
        [(INT_MIN, -1)], "SELECT a / b, a % b FROM t", [(2.0 ** 63, 0)]),
    "division by zero is NULL": (
        [(1, 0), (1.5, 0.0), (1, None)], "SELECT a / b, a % b FROM t", [(None, None)] * 3),
    "remainder of reals": (
        [(7.9, 2.9), (-7.5, 2)], "SELECT a % b FROM t", [(1.0,), (-1.0,)]),
    "infinity minus infinity is NULL": (
        [(float("inf"), float("inf"))], "SELECT a - b, a * 0 FROM t", [(None, None)]),
    "NULLs are skipped by aggregates": (
        [(1, None), (None, None), (3, None)],
        "SELECT count(*), count(a), sum(a), avg(a), total(a), min(a), max(a), sum(b), avg(b),"
        " total(b), max(b) FROM t",
        [(3, 2, 4, 2.0, 4.0, 1, 3, None, None, 0.0, None)]),
    "aggregates of no row": (
        [], "SELECT count(*), sum(a), avg(a), total(a), min(a), max(b) FROM t",
        [(0, None, None, 0.0, None, None)]),
    "groups of no row": ([], "SELECT a, count(*) FROM t GROUP BY a", []),
    "no row": ([], "SELECT a, b FROM t WHERE a > 1", []),
    "sum of integers overflows": (
        [(INT_MAX, 0), (1, 0)], "SELECT sum(a) FROM t", "error 1: integer overflow"),
    "sum with a real doesn't overflow": (
        [(INT_MAX, 0), (1, 0), (0.5, 0)], "SELECT sum(a), total(a) FROM t",
        [(2.0 ** 63, 2.0 ** 63)]),
    "sum loses no small addend": (
        [(1e100, 0), (1.0, 0), (-1e100, 0)], "SELECT sum(a), avg(a) FROM t", [(1.0, 1.0 / 3)]),
    "sum of texts": ([("12", 0), ("1.5x", 0), ("x", 0)], "SELECT sum(a) FROM t", [(13.5,)]),
    "order of storage classes": (
        [(b"a", 0), ("a", 0), (1, 0), (None, 0), (0.5, 0)],
        "SELECT a FROM t ORDER BY a", [(None,), (0.5,), (1,), ("a",), (b"a",)]),
    "min and max of mixed types": (
        [(b"a", 0), ("a", 0), (1, 0), (None, 0), (0.5, 0)],
        "SELECT min(a), max(a) FROM t", [(0.5, b"a")]),
    "min keeps the first of equals": (
        [(1.0, 1), (1, 2)], "SELECT min(a), b, typeof(min(a)) FROM t", [(1.0, 1, "real")]),
    "integers beside reals beyond 2**53": (
        [(2 ** 53 + 1, 2.0 ** 53), (INT_MAX, 2.0 ** 63)],
        "SELECT a > b, a = b, a < b FROM t", [(1, 0, 0), (0, 0, 1)]),
    "NULL compares to nothing": (
        [(None, 1), (None, None)], "SELECT a = b, a <> b, a IS b, a IS NOT b FROM t",
        [(None, None, 0, 1), (None, None, 1, 0)]),
    "three-valued logic": (
        [(None, 0), (None, 1)], "SELECT a AND b, a OR b, NOT a FROM t",
        [(0, None, None), (None, 1, None)]),
    "texts with NUL": (
        [("a\x00b", "a\x00c")], "SELECT a < b, length(a), a || b FROM t",
        [(1, 1, "a\x00ba\x00c")]),
    "empty text and empty blob": (
        [("", b"")], "SELECT a, b, a = b, typeof(a), typeof(b), a || b FROM t",
        [("", b"", 0, "text", "blob", "")]),
    "negative zero": ([(-0.0, 0)], "SELECT a, a = b, -a FROM t", [(-0.0, 1, 0.0)]),
    "zeroblobs at the end of records that are sorted": (
        [(2, 0), (1, 0)], "SELECT coalesce(zeroblob(3), rowid) FROM t ORDER BY CAST(a AS TEXT)",
        [(b"\x00" * 3,), (b"\x00" * 3,)]),
    "zeroblobs at the end of records that are distinct": (
        [(2, 0), (1, 0)],
        "SELECT DISTINCT coalesce(zeroblob(3), rowid) FROM t UNION SELECT zeroblob(b) FROM t",
        [(b"",), (b"\x00" * 3,)]),
    "error after rows": (
        [(1, 0), (2, 0), (None, 0)], "SELECT a, fail(a IS NULL) FROM t", None),
}


def rows_of(entry):
    return [render_row(row) for row in entry] if isinstance(entry, list) else [entry]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(capi_tiers, name):
    rows, query, expected = EXAMPLES[name]
    actions = [("run", 0, "CREATE TABLE t(a, b)"),
               ("many", 0, "INSERT INTO t VALUES (?, ?)", rows), ("run", 0, query)]
    transcript = capi_tiers.check(script(actions))
    if expected is not None:
        assert transcript[2] == rows_of(expected)


def test_more_columns_than_collations(capi_tiers):
    """UPDATE FROM puts rows into a table of temporary ones, whose KeyInfo knows its key's collations only."""
    actions = [("run", 0, "CREATE TABLE t(a, PRIMARY KEY(a DESC)) WITHOUT ROWID"),
               ("run", 0, "CREATE TABLE u(b)"),
               ("many", 0, "INSERT INTO u VALUES (?)", [(2,), (3,)]),
               ("many", 0, "INSERT INTO t VALUES (?)", [(1,), (2,), (3,)]),
               ("run", 0, "UPDATE t SET a = 'x' || a FROM u WHERE a >= b"),
               ("run", 0, "SELECT a FROM t")]
    assert capi_tiers.check(script(actions))[5] == rows_of([("x3",), ("x2",), (1,)])


SEEK_SCANS = [
    "SELECT x, (SELECT count(*) FROM t WHERE a = o.x AND b IN (%s)) FROM o",
    "SELECT x, (SELECT group_concat(c) FROM t WHERE a = o.x AND b IN (SELECT v FROM v)) FROM o",
    "SELECT x FROM o WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = o.x AND b IN (%s))",
    "SELECT x FROM o WHERE x IN (SELECT a FROM t WHERE t.a = o.x AND b IN (%s))",
    "UPDATE o SET y = (SELECT count(*) FROM t WHERE a = o.x AND b IN (%s))",
    "DELETE FROM o WHERE (SELECT count(*) FROM t WHERE a = o.x AND b IN (%s)) = 0"]


@pytest.mark.parametrize("sql", SEEK_SCANS)
def test_a_subquery_scans_before_it_seeks(capi_tiers, sql):
    """SeekScan asks where its cursor stands: after OpenRead nowhere, though a reopened one keeps its place."""
    sql = sql.replace("%s", ", ".join(map(str, range(100))))
    actions = [("run", 0, "CREATE TABLE t(a, b, c)"), ("run", 0, "CREATE INDEX i ON t(a, b)"),
               ("run", 0, "CREATE TABLE o(id INTEGER PRIMARY KEY, x, y)"), ("run", 0, "CREATE TABLE v(v)"),
               ("many", 0, "INSERT INTO t VALUES (?, ?, ?)", [(i // 10, i % 10 * 3, i) for i in range(1000)]),
               ("many", 0, "INSERT INTO o VALUES (?, ?, 0)", [(i, 99 - 7 * i) for i in range(10)]),
               ("many", 0, "INSERT INTO v VALUES (?)", [(i,) for i in range(100)]),
               ("run", 0, "ANALYZE"), ("run", 0, sql), ("run", 0, "SELECT x, y FROM o")]
    transcript = capi_tiers.check(script(actions))
    assert len(transcript[len(actions) - 1]) == 10      # nothing is deleted


TABLES = {"sqlite_schema": "TABLE", "sqlite_temp_schema": "TEMP TABLE"}     # what is in which schema
SCHEMA_READERS = [
    "SELECT column1, (SELECT count(*) FROM {schema} AS s WHERE rowid < column1 + 9) FROM (VALUES (1),(2),(3),(4),(5))",
    "SELECT column1, EXISTS (SELECT 1 FROM {schema} AS s WHERE rowid < column1 + 9) FROM (VALUES (1),(2),(3),(4),(5))",
    "SELECT column1 IN (SELECT rowid + column1 - 1 FROM {schema}) FROM (VALUES (1),(2),(3),(4),(5))",
    "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 6) "
    "SELECT n, (SELECT count(*) FROM {schema} AS a JOIN {schema} AS b WHERE a.rowid < n + 9) FROM r"]


@pytest.mark.parametrize("sql", SCHEMA_READERS)
@pytest.mark.parametrize("schema", TABLES)
def test_a_database_that_is_empty_no_more(capi_tiers, sql, schema):
    """Whether the schema has a root page is asked whenever its cursor is opened, by a reopened one too."""
    capi_tiers.check(script([
        ("prepare", 0, "r0", sql.format(schema=schema)), ("step", 0, "r0", 2),
        ("run", 0, "CREATE %s t(a)" % TABLES[schema]),
        ("step", 0, "r0", 9), ("finalize", 0, "r0")]))


@pytest.mark.parametrize("sql", SCHEMA_READERS)
@pytest.mark.parametrize("schema", TABLES)
def test_a_database_that_is_empty_again(capi_tiers, sql, schema):
    elsewhere = [table for name, table in TABLES.items() if name != schema]
    capi_tiers.check(script([
        ("run", 0, "CREATE %s t(a)" % elsewhere[0]), ("run", 0, "BEGIN"),
        ("run", 0, "CREATE %s tt(a)" % TABLES[schema]),
        ("prepare", 0, "r0", sql.format(schema=schema)), ("step", 0, "r0", 2), ("run", 0, "ROLLBACK"),
        ("run", 0, "CREATE INDEX i ON t(a)"), ("step", 0, "r0", 9), ("finalize", 0, "r0")]))


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_constants_that_functions_have_changed(capi_tiers, encoding):
    """A blob that was asked for as a text is one afterwards; the next row's call finds it so."""
    actions = [("run", 0, "CREATE TABLE t(y)"), ("many", 0, "INSERT INTO t VALUES (?)", [(i,) for i in range(20)])]
    actions += [("run", 0, sql) for sql in (
        "SELECT concat(x'3331', y) FROM t", "SELECT concat_ws(x'3331', y, x'4142') FROM t",
        "SELECT group_concat(concat(y, x'33')) FROM t", "SELECT instr(x'3132', y), quote(x'31' || y) FROM t",
        "SELECT replace(x'313233', y, x'41'), printf('%s %d', x'3233', y) FROM t")]
    capi_tiers.check(script(actions, pragmas=["PRAGMA encoding='%s'" % encoding]))


@pytest.mark.parametrize("name", tiers.chosen(
    [name for name in tiers.MODES if name not in ("stock",) + tiers.POISONED]))
def test_tier_is_there(capi_tiers, name):
    """Nothing is left out in silence; a scan and a sum run where the tier's name says."""
    if name in capi_tiers.missing:
        pytest.fail("%s: %s" % (name, capi_tiers.missing[name]), pytrace=False)
    tier = [tier for tier in capi_tiers.others if tier.name == name][0]
    made = [("run", 0, "CREATE TABLE t(a)"),
            ("many", 0, "INSERT INTO t VALUES (?)", [(i,) for i in range(20)])]
    looked = [("prepare", 0, "r0", "SELECT sum(a + 1) FROM t WHERE a < 15"),
              ("step", 0, "r0", 1), ("tier", 0, "r0")]
    transcript = tier.worker.run(script(made + looked))
    hot = [name for name in tiers.MODES if name not in ("engine",) + tiers.CHECKED]
    assert transcript[3] == ["(120)"]
    assert transcript[4][0].endswith("why 1" if name in hot else "why 0")     # 1: it was hot
