"""What the VM once left to C: UTF-16 databases, shared caches, loops of triggers, statements under a progress handler.
In every tier; in hot ones the VM has such statements, and the handler is called as often as by stock."""
import pytest

from tests.differential.sessions.scripts import script

COUNT = 400
FILL = ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d) "
        "INSERT INTO t SELECT x, x %% 17, CASE x %% 6 WHEN 0 THEN NULL WHEN 1 THEN x / 4.0 WHEN 2 THEN '' || x "
        "WHEN 3 THEN 'Näme ' || x %% 11 || '  ' WHEN 4 THEN CAST('b' || x AS BLOB) ELSE x END, "
        "date('2020-01-01', x || ' days'), char(0x1F600 + x %% 5, 65 + x %% 20, 233) FROM n" % COUNT)
TABLE = ["CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c, d DATE, e TEXT COLLATE NOCASE)", FILL,
         "CREATE INDEX tc ON t(c)", "CREATE INDEX te ON t(e, b)"]
SCAN = "SELECT count(*), sum(b), sum(c), min(d), max(e), avg(c + 1) FROM t WHERE d >= '2020-03-01' AND b > 2"
QUERIES = [
    SCAN,
    "SELECT b, count(c), max(d), min(e), group_concat(e, ',') FROM t GROUP BY b ORDER BY 3 DESC, 1",
    "SELECT c, d FROM t WHERE c > 'Näme' ORDER BY c DESC, d LIMIT 30",
    "SELECT e, count(*) FROM t WHERE e < 'z' GROUP BY e HAVING count(*) > 1 ORDER BY e COLLATE BINARY",
    "SELECT e, sum(b) FROM t WHERE e BETWEEN '😀' AND '😃é' GROUP BY e COLLATE RTRIM",
    "SELECT count(*) FROM t AS x JOIN t AS y ON y.c = x.c AND y.e = x.e",
    "SELECT sum(a) FROM t WHERE e IN (SELECT e FROM t WHERE b = 5) OR c IN ('2', 7, x'623130')",
    "SELECT c || '|' || d || x'41', c + 1, -c, c * '2', c % 3, c AND 1, NOT c, c & 3 FROM t WHERE a < 40",
    "SELECT CAST(c AS TEXT), CAST(c AS BLOB), CAST(c AS INT), CAST(c AS REAL), CAST(c AS NUMERIC), "
    "typeof(c), length(c), quote(c), hex(e), octet_length(e) FROM t WHERE a % 3",
    "SELECT CAST(CAST(e || 'x' AS BLOB) AS TEXT), CAST(x'413042' AS TEXT), CAST(x'31003200' AS INT), x'3100' + 1 "
    "FROM t",
    "SELECT upper(e), lower(c), substr(e, 2), substr(c, -3, 2), instr(e, 'é'), trim(c), replace(c, 'N', 'é'), "
    "unicode(e), c LIKE 'n%', e GLOB '*A*', max(c, e, b), min(c, d), nullif(c, 7), abs(c), round(c, 1), "
    "strftime('%Y', d), date(d, '+1 day'), coalesce(c, e), iif(c > '3', c, e) FROM t",
    "SELECT a, (SELECT count(*) FROM t AS y WHERE y.c < x.c), (SELECT max(e) FROM t AS y WHERE y.b = x.b) FROM t AS x "
    "WHERE a < 60",
    "SELECT DISTINCT c, CASE e WHEN '😀Aé' THEN 'one' WHEN ?1 THEN 'two' ELSE c END FROM t",
    "SELECT b, e, row_number() OVER (PARTITION BY b ORDER BY e), lag(c, 1, 'none') OVER (ORDER BY a) FROM t",
    "SELECT c FROM t WHERE c = ?1 OR c > ?2 OR d = ?3 UNION SELECT e FROM t WHERE e > ?1 EXCEPT SELECT 'Näme 1  '",
    "UPDATE t SET c = c || e, e = upper(e) WHERE b % 2", "DELETE FROM t WHERE e LIKE '%é' AND c > 'N'",
    "INSERT INTO t SELECT a + 1000, b, e, c, d FROM t", "SELECT * FROM t ORDER BY e, c, a", "PRAGMA integrity_check"]
PARAMETERS = ("Näme 3  ", 12.5, "2020-02-02")
PROGRAM = [("run", 0, text) for text in TABLE] + [("run", 0, text) + PARAMETERS for text in QUERIES] + [("image", 0)]


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_utf_16(capi_tiers, poisoned_tiers, encoding):
    for tiers in capi_tiers, poisoned_tiers:
        tiers.check(script([("run", 0, "PRAGMA encoding = '%s'" % encoding)] + PROGRAM, threshold=2))


def test_two_connections_of_a_shared_cache(capi_tiers):
    """A reader of uncommitted changes, between two of whose rows the other connection writes."""
    between = [
        ("run", 1, "PRAGMA read_uncommitted = 1"), ("run", 0, "BEGIN"),
        ("prepare", 1, "r", "SELECT a, c, e FROM t WHERE b < 9 ORDER BY a"), ("step", 1, "r", 20),
        ("run", 0, "UPDATE t SET c = 'new', b = 1 WHERE a > 30"), ("run", 1, SCAN), ("step", 1, "r", 20),
        ("run", 0, "DELETE FROM t WHERE a BETWEEN 60 AND 300"), ("run", 1, SCAN), ("step", 1, "r", 20),
        ("run", 0, "ROLLBACK"), ("run", 1, SCAN), ("step", 1, "r", 400), ("finalize", 1, "r")]
    capi_tiers.check(script([("run", 0, text) for text in TABLE] + between + PROGRAM[len(TABLE):],
                            storage="shared", threshold=2))


TRIGGERS = [
    "CREATE TABLE log(n INTEGER PRIMARY KEY AUTOINCREMENT, x, y)", "CREATE TABLE seen(x UNIQUE, y)",
    # Loops, one within another; AUTOINCREMENT, whose counter is a register of the main program; a trigger's trigger.
    "CREATE TRIGGER i AFTER INSERT ON t BEGIN "
    "INSERT INTO log(x, y) SELECT new.a, sum(b * 2) FROM t WHERE a % 3 = new.a % 3 AND b > new.b; "
    "INSERT INTO log(x) SELECT count(*) FROM t AS x, t AS y WHERE x.a = y.b AND x.c IS NOT new.c; END",
    "CREATE TRIGGER j AFTER INSERT ON log WHEN new.x > 3 BEGIN "
    "INSERT OR IGNORE INTO seen SELECT x, max(y) FROM log WHERE n < new.n GROUP BY x; END",
    "CREATE TRIGGER u BEFORE UPDATE ON t BEGIN UPDATE seen SET y = y + (SELECT count(*) FROM t WHERE b = old.b); "
    "SELECT raise(IGNORE) FROM t WHERE a = new.a AND a % 7 = 0; END",
    "CREATE TRIGGER d AFTER DELETE ON t BEGIN "
    "SELECT raise(ABORT, 'too many') FROM t GROUP BY b HAVING count(*) < 3; END"]
FIRING = ["INSERT INTO t SELECT a + 500, b, c, d, e FROM t WHERE a < 25", "UPDATE t SET b = b + 1 WHERE a < 30",
          "DELETE FROM t WHERE b = 4", "REPLACE INTO t SELECT a, b, 'new', d, e FROM t WHERE a < 5",
          "INSERT INTO t(c) VALUES ('x'), (NULL), (7) RETURNING a, c",
          "SELECT * FROM log", "SELECT * FROM seen", "SELECT * FROM t", "SELECT * FROM sqlite_sequence"]


@pytest.mark.parametrize("recursive", [0, 1])
def test_loops_of_triggers(capi_tiers, poisoned_tiers, recursive):
    texts = TABLE + TRIGGERS + ["PRAGMA recursive_triggers = %d" % recursive] + FIRING
    for tiers in capi_tiers, poisoned_tiers:
        tiers.check(script([("run", 0, text) for text in texts] + [("image", 0)], threshold=2))


@pytest.mark.parametrize("period", [1, 2, 13, 1000])
def test_a_progress_handler_is_called_as_often(capi_tiers, poisoned_tiers, period):
    actions = PROGRAM[:len(TABLE)]
    for text in QUERIES[:-1]:
        actions = actions + [("progress", 0, period), ("run", 0, text) + PARAMETERS]
    actions += [("run", 0, text) for text in TRIGGERS]
    for text in FIRING:
        actions += [("progress", 0, period), ("run", 0, text)]
    for tiers in capi_tiers, poisoned_tiers:        # of these one has each opcode run by C, alone
        tiers.check(script(actions + [("progress", 0, 0)], threshold=2))


@pytest.mark.parametrize("text", [SCAN, QUERIES[1], QUERIES[5], QUERIES[15]])
def test_a_progress_handler_ends_a_statement(capi_tiers, text):
    actions = PROGRAM[:len(TABLE)]
    for period, stop in (1, 1), (1, 70), (1, 1500), (10, 3), (100, 1), (100, 20), (1000, 1), (1000, 2):
        actions = actions + [("progress", 0, period, stop), ("run", 0, text) + PARAMETERS, ("progress", 0, 0),
                             ("run", 0, SCAN)]
    capi_tiers.check(script(actions, threshold=2))


SHORT = ["BEGIN IMMEDIATE", "CREATE VIEW v AS SELECT c FROM t", "ANALYZE", "INSERT INTO t(c) VALUES ('x'), (2)",
         "UPDATE t SET b = 1 WHERE a = 3", "SELECT a, c FROM t LIMIT 5", "SELECT sum(b) FROM t WHERE a < 5"]


@pytest.mark.parametrize(
    "period, stop", [(1, 1), (1, 4), (1, 9), (2, 2), (3, 1), (3, 2), (3, 9), (7, 1), (7, 3), (20, 1)])
def test_a_progress_handler_ends_a_short_statement_where_stocks_does(capi_tiers, period, stop):
    """So it can be at its end, when a transaction has begun or all is written: opcodes that C runs alone change nothing
    of that."""
    actions = PROGRAM[:len(TABLE)]
    for text in SHORT:
        actions = actions + [
            ("progress", 0, period, stop), ("run", 0, text), ("progress", 0, 0), ("run", 0, "ROLLBACK"),
            ("run", 0, "SELECT count(*), sum(b) FROM t"), ("run", 0, "SELECT name FROM sqlite_schema")]
    capi_tiers.check(script(actions, threshold=1))


def left_in(tiers, actions, text):
    """Where a statement's last run was left, in the tiers that have hot loops."""
    case = script(actions + [("prepare", 0, "s", text), ("step", 0, "s", 1), ("tier", 0, "s")], threshold=2)
    found = [tier.worker.run(case) for tier in tiers.others if tier.name.endswith("-hot")]
    if not found:
        pytest.skip("none of the tiers that are asked for has hot loops")
    return {transcript[-2][0].split(", ")[1] for transcript in found}


@pytest.mark.parametrize("text, before", [
    (SCAN, [("run", 0, "PRAGMA encoding = 'UTF-16le'")]), (SCAN, [("progress", 0, 5)]),
    ("INSERT INTO t SELECT a + 500, b, c, d, e FROM t WHERE a < 2", [])])
def test_the_vm_has_them(capi_tiers, text, before):
    fill = before + [("run", 0, sql) for sql in TABLE[:2]]
    if text.startswith("INSERT"):
        fill += [("run", 0, sql) for sql in TRIGGERS[:3]]
    assert left_in(capi_tiers, fill, text) == {"why 1"}         # SQPYTE_WHY_HOT
