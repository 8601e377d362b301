"""What can be seen of a statement beside its rows: marks of values, counters, which error comes first."""
import pytest

from tests.differential.sessions.scripts import script

ROWS = [(i, i % 7, "text %d" % i, float(i) / 4) for i in range(40)]
SQL = {
    "table": [("run", 0, "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b, c)"),
              ("many", 0, "INSERT INTO t VALUES (?, ?, ?, ?)", ROWS),
              ("run", 0, "CREATE TABLE u(x, y, PRIMARY KEY (x)) WITHOUT ROWID"),
              ("many", 0, "INSERT INTO u VALUES (?, ?)", [("text %d" % i, i) for i in range(0, 40, 3)])],
}
PARAMETERS = ("text 5", 3, 2.5, None, b"blob")


def check(capi_tiers, actions, threshold=2):
    capi_tiers.check(script(SQL["table"] + actions, threshold=threshold))


BOUND = {
    "as they are": ["probe(?1, ?2, ?3, ?4, ?5)"],
    "in a loop": ["probe(?1, a, ?2) FROM t", "probe(a, ?1), a + ?2 FROM t WHERE k < ?2 + 20"],
    "copied": ["probe(x) FROM (SELECT ?1 AS x)", "probe(x), a FROM t, (SELECT ?2 AS x LIMIT 1)",
               "probe((SELECT ?1)), probe((SELECT ?2 FROM t WHERE a = 3 LIMIT 1))",
               "probe(CASE WHEN a > 3 THEN a ELSE ?1 END) FROM t", "probe(iif(a > 3, ?1, ?2)) FROM t",
               "probe(x) FROM t, (WITH y AS MATERIALIZED (SELECT ?1 AS x) SELECT * FROM y)"],
    "passed on by functions": ["probe(coalesce(?4, ?1))", "probe(nullif(?1, b)) FROM t",
                               "probe(max(a, ?2), min(b, ?1)) FROM t", "probe(likely(?1)) FROM t",
                               "probe(abs(?2), upper(?1), substr(?1, 1)) FROM t"],
    "passed on by aggregates": ["probe(max(?2), min(?1)) FROM t", "a, probe(max(?2)) FROM t GROUP BY a",
                                "probe(max(a)), probe(sum(?2)) FROM t WHERE b > ?1"],
    "converted": ["probe(CAST(?2 AS TEXT), CAST(?1 AS INT), CAST(?3 AS REAL))", "probe(?1 || ?2)",
                  "probe(?2 + 1, -?2, ?2 * a, ?1 || a) FROM t", "probe(?1 COLLATE NOCASE) FROM t"],
    "in registers used again": ["probe(?1), probe(a), probe(b || 'x'), probe(?2), probe(k) FROM t",
                                "probe(a), ?1, probe(b) FROM t ORDER BY ?2, b"],
}


@pytest.mark.parametrize("name", sorted(BOUND))
def test_functions_see_which_arguments_are_bound(capi_tiers, name):
    check(capi_tiers, [("run", 0, "SELECT " + text) + PARAMETERS for text in BOUND[name]])


@pytest.mark.parametrize("name", sorted(BOUND))
def test_rows_show_which_columns_are_bound(capi_tiers, name):
    check(capi_tiers, [("marks", 0, "SELECT " + text.replace("probe", "", 1)) + PARAMETERS
                       for text in BOUND[name] if ", " not in text] + [
        ("marks", 0, "SELECT ?1, a, ?2 + a FROM t WHERE k < 20") + PARAMETERS])


def test_triggers_see_which_values_are_bound(capi_tiers):
    check(capi_tiers, [
        ("run", 0, "CREATE TABLE log(words)"),
        ("run", 0, "CREATE TRIGGER i AFTER INSERT ON t BEGIN "
                   "INSERT INTO log SELECT probe(new.a, new.b) || probe(new.c); END"),
        ("run", 0, "CREATE TRIGGER j BEFORE UPDATE ON t BEGIN "
                   "INSERT INTO log SELECT probe(old.a, new.a, new.b); END"),
        ("run", 0, "INSERT INTO t VALUES (100, ?1, ?2, 3)") + PARAMETERS,
        ("run", 0, "UPDATE t SET a = ?1 WHERE k > ?2 + 30") + PARAMETERS,
        ("run", 0, "SELECT * FROM log")])


def test_virtual_tables_see_what_is_bound_and_texts_end_with_zero(capi_tiers):
    check(capi_tiers, [
        ("run", 0, "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)"),
        ("run", 0, "CREATE VIRTUAL TABLE f USING fts5(words)"),
        ("run", 0, "INSERT INTO r SELECT k, k, k + ?2 FROM t") + PARAMETERS,
        ("run", 0, "INSERT INTO f SELECT b || ' ' || ?1 FROM t") + PARAMETERS,
        ("run", 0, "SELECT count(*) FROM r WHERE x0 > ?2 AND x1 < ?2 + 20") + PARAMETERS,
        ("run", 0, "SELECT rowid FROM f WHERE f MATCH 'text AND ' || ?2") + PARAMETERS,
        ("run", 0, "SELECT k, value FROM t, json_each('[' || k || ',' || a || ']') WHERE k < 9"),
        ("run", 0, "SELECT count(*), sum(value) FROM t, generate_series(1, a)")])


def test_numbers_in_texts_keep_their_type_beside_the_number(capi_tiers):
    texts = ["SELECT numeric('12'), numeric(?2), numeric(b), numeric(substr(b, 6)) FROM t",
             "SELECT numeric(x), x, x + 1 FROM (SELECT substr(b, 6) AS x FROM t LIMIT 9)",
             "SELECT numeric(x), typeof(x), x || 'y' FROM (SELECT DISTINCT b || a AS x FROM t)"]
    check(capi_tiers, [("run", 0, text) + PARAMETERS for text in texts])


def test_subtypes_go_with_values_and_no_further(capi_tiers):
    texts = ["SELECT probe(json('[1]'), '[1]', json(?1)) FROM t LIMIT 3",
             "SELECT probe(x), probe(x || ''), json_array(x, x || '') "
             "FROM (SELECT json('[1]') AS x, a FROM t)",
             "SELECT probe(CASE WHEN a > 3 THEN json('{}') ELSE b END) FROM t",
             "SELECT probe(json_group_array(a)), json_array(json_group_array(a)) FROM t GROUP BY a",
             "SELECT probe(max(json('[1]'), a)) FROM t", "SELECT probe(json('[1]') COLLATE NOCASE, a) FROM t",
             "SELECT probe(json('[1]')), probe(a), probe(json('[2]')), probe(b) FROM t",
             "SELECT probe(x) FROM (SELECT json('[1]') AS x FROM t ORDER BY a LIMIT 3)"]
    check(capi_tiers, [("run", 0, text, "[2]") for text in texts]
          + [("marks", 0, "SELECT json('[1]'), a, json_array(a) FROM t")])


def test_columns_that_an_update_leaves_are_passed_on_as_such(capi_tiers):
    check(capi_tiers, [
        ("run", 0, "CREATE VIRTUAL TABLE f USING fts4(a, b, notindexed=b)"),
        ("run", 0, "INSERT INTO f SELECT b, c FROM t"),
        ("run", 0, "UPDATE f SET a = 'new ' || a WHERE docid % 3 = 1"),
        ("run", 0, "UPDATE f SET b = probe(a, b) WHERE docid % 5 = 1"),
        ("run", 0, "SELECT a, b FROM f")])


def test_zeroblobs_stay_as_long_as_they_are(capi_tiers):
    texts = ["SELECT length(zeroblob(a)), hex(zeroblob(a)), zeroblob(a) = x'00' FROM t",
             "SELECT probe(x), length(x), x || 'y', typeof(x) FROM (SELECT zeroblob(a) AS x FROM t LIMIT 8)",
             "SELECT count(DISTINCT zeroblob(a)), max(zeroblob(a)) FROM t",
             "INSERT INTO t(a, b) SELECT zeroblob(a), zeroblob(k) FROM t",
             "SELECT k, length(a), length(b) FROM t WHERE typeof(a) = 'blob'"]
    check(capi_tiers, [("run", 0, text) for text in texts])


def test_aggregates_are_told_of_their_own_steps(capi_tiers):
    texts = ["SELECT a, steps(k) FROM t GROUP BY a", "SELECT steps(k), steps(a) FROM t WHERE a = 1",
             "SELECT a, steps(k), count(*), sum(k), steps(b) FROM t GROUP BY a ORDER BY a DESC",
             "SELECT steps(k) FROM t WHERE k < 0", "SELECT a, steps(DISTINCT c) FROM t GROUP BY a",
             "SELECT (SELECT steps(k) FROM t AS v WHERE v.a = t.a) FROM t",
             "SELECT a, steps(k) FILTER (WHERE k > 9) FROM t GROUP BY a"]
    check(capi_tiers, [("run", 0, text) for text in texts])


COUNTED = [
    "SELECT sum(a), max(b) FROM t", "SELECT k FROM t WHERE a = 3 AND c > 2 OR b = 'text 7'",
    "SELECT a, count(*) FROM t GROUP BY a", "SELECT a, b FROM t ORDER BY c DESC LIMIT 7 OFFSET 2",
    "SELECT t.k, u.y FROM t, u WHERE t.b = u.x AND t.a < 5", "SELECT count(*) FROM t, u WHERE t.a + 1 > u.y",
    "SELECT CASE a WHEN 1 THEN 'x' WHEN 2 THEN b ELSE c END FROM t", "SELECT DISTINCT a FROM t",
    "SELECT a FROM t UNION SELECT y FROM u", "SELECT a FROM t EXCEPT SELECT y FROM u ORDER BY 1",
    "SELECT sum(a) OVER (ORDER BY k ROWS 2 PRECEDING) FROM t",
    "SELECT a IN (1, 2, 3), a NOT IN (SELECT y FROM u) FROM t", "SELECT * FROM (VALUES (1), (2), (3))",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30) SELECT sum(x) FROM n",
    "SELECT count(*) FROM t AS v JOIN t AS w ON v.c = w.c", "SELECT max(k) FROM t", "SELECT min(x) FROM u",
    "SELECT count(*) FROM t WHERE echo(b) > 'text 2'", "UPDATE t SET a = a + 1 WHERE c > 3",
    "INSERT INTO t(a, b) SELECT y, x FROM u", "DELETE FROM t WHERE a = 4",
]


@pytest.mark.parametrize("text", COUNTED)
def test_counters_of_a_statement(capi_tiers, text):
    actions = [("prepare", 0, "s", text), ("step", 0, "s", 4), ("counters", 0, "s"),
               ("step", 0, "s", 100), ("counters", 0, "s"), ("reset", 0, "s"),
               ("step", 0, "s", 100), ("counters", 0, "s")]
    check(capi_tiers, actions)


def test_an_interrupt_from_a_function_comes_where_the_program_jumps_back(capi_tiers):
    texts = ["SELECT interrupt(1)", "SELECT interrupt(a) FROM t LIMIT 3",
             "SELECT interrupt(a), b FROM t", "SELECT count(interrupt(a)) FROM t",
             "INSERT INTO u VALUES (interrupt('new'), 1)", "SELECT * FROM u WHERE x = 'new'",
             "SELECT CASE WHEN interrupt(1) THEN 2 ELSE 3 END", "SELECT max(interrupt(k)) FROM t WHERE k = 3"]
    check(capi_tiers, [("run", 0, text) for text in texts])


def test_an_interrupt_from_a_collation_comes_where_the_program_jumps(capi_tiers):
    texts = ["SELECT CASE WHEN b = 'text 1' COLLATE interrupting THEN 1 ELSE 2 END FROM t WHERE k = %d" % k
             for k in (3, 1)]
    texts += ["SELECT 'a' < 'b' COLLATE interrupting",
              "SELECT a FROM t WHERE b > 'text 1' COLLATE interrupting",
              "SELECT count(*) FROM t WHERE b IN ('x', 'text 3' COLLATE interrupting)",
              "SELECT max(b COLLATE interrupting) FROM t WHERE k < 2",
              "SELECT a FROM t WHERE k = 2 AND (b = 'x' COLLATE interrupting OR a < 90)",
              "SELECT DISTINCT b COLLATE interrupting FROM t",
              "SELECT b FROM t ORDER BY b COLLATE interrupting",
              "INSERT INTO u SELECT b, a FROM t WHERE k = 4 AND b <> 'x' COLLATE interrupting",
              "SELECT x FROM u UNION SELECT b COLLATE interrupting FROM t LIMIT 2"]
    check(capi_tiers, [("run", 0, text) for text in texts])


def test_an_interrupt_from_a_hook_comes_where_the_program_jumps(capi_tiers):
    texts = ["INSERT INTO u VALUES ('a', 1)", "INSERT INTO u VALUES ('b', 1), ('c', 2)",
             "INSERT INTO u SELECT b, a FROM t", "UPDATE t SET a = 7 WHERE k = 3", "UPDATE t SET a = 7",
             "DELETE FROM t WHERE k = 5", "DELETE FROM t WHERE a > 3", "DELETE FROM u",
             "INSERT INTO t(k, a) VALUES (3, 9) ON CONFLICT(k) DO UPDATE SET a = 8",
             "REPLACE INTO t(k, a) VALUES (4, 9)", "INSERT INTO u VALUES ('d', 1) RETURNING x",
             "SELECT * FROM u", "SELECT * FROM t"]
    check(capi_tiers, [("interrupt_writes", 0)] + [("run", 0, text) for text in texts])


def test_a_busy_handler_is_told_of_all_calls_of_a_step(capi_tiers):
    actions = SQL["table"] + [("contend", 0, text) for text in (
        "INSERT INTO t VALUES (100, 1, 2, 3)", "UPDATE t SET a = a + 1 WHERE k > 5",
        "DELETE FROM t WHERE a > 3")] + [("run", 0, "SELECT * FROM t")]
    assert capi_tiers.check(script(actions, storage="file"))[-5][0] == "[0, 1, 2, 3, 4]"


LENGTHS = [
    "SELECT b || b FROM t", "SELECT hex(zeroblob(k * 4)) FROM t", "SELECT ?1", "SELECT length(?1) FROM t",
    "SELECT hex(zeroblob(90)) || '', a FROM t ORDER BY 1", "SELECT json_group_array(b) FROM t",
    "UPDATE t SET c = hex(zeroblob(25))", "SELECT upper(b), substr(b, 2), max(b, 'z'), nullif(b, 'z') FROM t",
    "SELECT CAST(b AS BLOB), CAST(c AS TEXT), round(c, 2) || b FROM t", "SELECT group_concat(b, ',') FROM t",
    "SELECT a, b, c FROM t ORDER BY c, b", "INSERT INTO u SELECT b || b, a FROM t WHERE k > 35",
    "SELECT replace(b, 'text', 'other text'), printf('%s%s%s', b, b, b) FROM t",
    "SELECT x FROM (SELECT b AS x FROM t UNION SELECT b || b FROM t)",
    "UPDATE w SET y = hex(zeroblob(25))", "SELECT hex(zeroblob(90)) || '', x, y FROM w ORDER BY x, y",
]


@pytest.mark.parametrize("limit", [10, 60, 200, 1000, 150000])
def test_lengths_are_limited_where_sqlite_asks_for_them(capi_tiers, limit):
    long = ["UPDATE t SET b = hex(zeroblob(65)) WHERE k = 2",
            "UPDATE t SET b = hex(zeroblob(90)) WHERE k = 5",
            "INSERT INTO t(a, b) VALUES (1, hex(zeroblob(74990)))",
            "CREATE TABLE w(k INTEGER PRIMARY KEY, x, y)",
            "INSERT INTO w VALUES (1, hex(zeroblob(65)), 3), (2, hex(zeroblob(90)), 4)"]
    check(capi_tiers, [("run", 0, text) for text in long] + [("limit", 0, 0, limit)] + [
        ("run", 0, text, "x" * 100) for text in LENGTHS])


def test_a_limit_of_lengths_that_is_met_by_a_large_text(capi_tiers):
    made = [("run", 0, "CREATE TABLE w(x)"), ("many", 0, "INSERT INTO w VALUES (zeroblob(?))", [
        (140000 + 500 * i,) for i in range(16)])]
    texts = ["SELECT length(hex(x)) FROM w", "SELECT length(x || x) FROM w", "SELECT length(upper(x)) FROM w",
             "SELECT length(CAST(x AS TEXT) || 'z') FROM w WHERE length(x) < 144000",
             "SELECT length(max(x, x'')) FROM w", "SELECT length(substr(x, 2)) FROM w",
             "SELECT count(*) FROM (SELECT DISTINCT x FROM w)", "SELECT length(?1), length(?1 || 'x')"]
    check(capi_tiers, made + [("limit", 0, 0, 144000)] + [("run", 0, text, "y" * 144000) for text in texts])


@pytest.mark.parametrize("pragma", ["auto_vacuum=INCREMENTAL", "auto_vacuum=FULL", "cache_size=10"])
def test_bytes_of_the_file(capi_tiers, pragma):
    # ALTER TABLE updates in two passes: no Rowid of the cursor that writes tells it what the cell's size is.
    columns = ", ".join("column%d DECIMAL" % i for i in range(8))
    texts = ["PRAGMA page_size=1024", "PRAGMA " + pragma, "CREATE TABLE t1(c0, PRIMARY KEY(c0))",
             "CREATE TABLE t2(%s)" % columns, "ALTER TABLE t1 RENAME COLUMN c0 TO c14",
             "CREATE TABLE t3(x, y CHECK(%s))" % " OR ".join("y = %d" % i for i in range(200)),
             "ALTER TABLE t1 RENAME TO t4", "ALTER TABLE t2 DROP COLUMN column3"]
    capi_tiers.check(script([("run", 0, text) for text in texts] + [("image", 0)], threshold=2))
