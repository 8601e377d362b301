"""What opcodes reach beyond their own operands: registers of a calling program, keys of other opcodes,
columns of an index beyond those that make an entry unique.  In every tier, dead registers poisoned too."""
import pytest

from tests.differential.sessions.scripts import script

NUMBERED = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d) "


def check(capi_tiers, poisoned_tiers, texts, threshold=2):
    case = script([("run", 0) + (text if isinstance(text, tuple) else (text,)) for text in texts],
                  threshold=threshold)
    capi_tiers.check(case)
    poisoned_tiers.check(case)


@pytest.mark.parametrize("rowid", ["", " WITHOUT ROWID"])
@pytest.mark.parametrize("when", ["BEFORE", "AFTER"])
def test_a_trigger_reads_the_row_that_is_written(capi_tiers, poisoned_tiers, when, rowid):
    check(capi_tiers, poisoned_tiers, [
        "CREATE TABLE t(a PRIMARY KEY, b, c)" + rowid, "CREATE TABLE log(a, b, c)",
        "CREATE TRIGGER i %s INSERT ON t BEGIN INSERT INTO log VALUES (new.a, new.b, new.c); END" % when,
        "CREATE TRIGGER u %s UPDATE ON t "
        "BEGIN INSERT INTO log SELECT old.c || new.c, old.b, new.b; END" % when,
        "CREATE TRIGGER d %s DELETE ON t "
        "BEGIN INSERT INTO log VALUES (old.a, old.b, old.c || 'x'); END" % when,
        "INSERT INTO t VALUES (1, 2, 3)", "INSERT INTO t VALUES ('some text', 'other', NULL)",
        ("INSERT INTO t VALUES (?1, ?2, ?1 || ?2)", "bound", 7.5),
        "INSERT INTO t(a, c) VALUES (10, (SELECT max(b) FROM log)), (11, (SELECT count(*) FROM log))",
        "INSERT INTO t SELECT a || 'y', c, b FROM t", "UPDATE t SET c = b, b = 5 WHERE a <> 1",
        "REPLACE INTO t VALUES (1, 20, 30)",
        "INSERT INTO t VALUES (1, 1, 1) ON CONFLICT DO UPDATE SET b = 99",
        "DELETE FROM t WHERE a = 10", "SELECT * FROM log", "SELECT * FROM t ORDER BY 1"])


def test_a_trigger_of_one_column_and_triggers_of_triggers(capi_tiers, poisoned_tiers):
    check(capi_tiers, poisoned_tiers, [
        "PRAGMA recursive_triggers = 1", "CREATE TABLE t1(k)", "CREATE TABLE t2(k)", "CREATE TABLE log(k, m)",
        "CREATE TRIGGER a AFTER INSERT ON t1 BEGIN INSERT INTO t2 SELECT new.k; "
        "INSERT INTO log SELECT new.k, 'x' || new.k; END",
        "CREATE TRIGGER b AFTER INSERT ON t2 WHEN new.k < 3 BEGIN INSERT INTO t1 VALUES (new.k + 1); END",
        "CREATE VIEW v AS SELECT k FROM t1",
        "CREATE TRIGGER c INSTEAD OF INSERT ON v BEGIN INSERT INTO t1 VALUES (new.k || '!'); END",
        "CREATE TABLE p(id INTEGER PRIMARY KEY, n)",
        "CREATE TABLE q(p REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE)", "PRAGMA foreign_keys = 1",
        "INSERT INTO t1 VALUES (1)", "INSERT INTO t1 VALUES ('some text')", "INSERT INTO v VALUES ('view')",
        "INSERT INTO p VALUES (1, 'a'), (2, 'b')", "INSERT INTO q VALUES (1), (2), (1)",
        "UPDATE p SET id = id + 10", "DELETE FROM p WHERE n = 'a'",
        "SELECT * FROM t1", "SELECT * FROM t2", "SELECT * FROM log", "SELECT * FROM q"])


KEYS = ["(a, b) <= (3, 'CCC')", "(a, b) > (3, 'ccc')", "(a, b) BETWEEN (2, 'B') AND (4, 'aa')",
        "a = 3 AND b <= 'CCC'", "(a, b, c) < (3, 'ccc', 'X ')", "(a, b) IN (VALUES (3, 'AAA'), (1, 'a'))"]


@pytest.mark.parametrize("key", ["PRIMARY KEY (a)", "PRIMARY KEY (a DESC)", "UNIQUE (a)"])
def test_a_key_may_reach_beyond_the_columns_that_make_it_unique(capi_tiers, poisoned_tiers, key):
    """The same texts on tables that differ only in what the other columns' collations are."""
    texts = []
    for collations in ("NOCASE", "RTRIM"), ("BINARY", "NOCASE"), ("RTRIM", "BINARY"):
        unique = key if key.startswith("PRIMARY") else "PRIMARY KEY (a, b), " + key
        texts += ["CREATE TABLE t(a INT, b TEXT COLLATE %s, c TEXT COLLATE %s, %s) WITHOUT ROWID"
                  % (collations + (unique,)), "CREATE INDEX tb ON t(b DESC, c)",
                  "INSERT INTO t " + NUMBERED % 6 + "SELECT x, substr('aaBBcc', x, 2) || 'c', 'x ' FROM n"]
        texts += ["SELECT a, b FROM t WHERE " + where for where in KEYS]
        texts += ["SELECT a FROM t WHERE (b, a) >= ('bbc', 2) ORDER BY b DESC, a", "DROP TABLE t"]
    check(capi_tiers, poisoned_tiers, texts)


def test_a_key_that_ends_a_long_scan(capi_tiers):
    """The range's end is compared in the VM for each entry."""
    texts = ["CREATE TABLE t(a INT PRIMARY KEY, b TEXT COLLATE NOCASE) WITHOUT ROWID",
             "INSERT INTO t " + NUMBERED % 400 + "SELECT x, 'a' FROM n"]
    texts += ["SELECT count(*), sum(a), min(b) FROM t WHERE (a, b) <= (300, 'CCC')"] * 4
    capi_tiers.check(script([("run", 0, text) for text in texts], threshold=2))


def test_a_seek_by_steps_uses_the_key_of_the_seek_behind_it(capi_tiers, poisoned_tiers):
    check(capi_tiers, poisoned_tiers, [
        "CREATE TABLE t(a, b, c)", "CREATE INDEX i ON t(a, b, c)",
        "INSERT INTO t " + NUMBERED % 600 + "SELECT x % 5, x % 11, x FROM n", "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = '100000 20000 2 1' WHERE idx = 'i'", "ANALYZE sqlite_schema",
        "SELECT count(*), sum(c) FROM t WHERE a = 3 AND b IN (1, 2, 5, 7)",
        "SELECT count(*), sum(c) FROM t WHERE a IN (1, 3) AND b IN (1, 2, 5, 7, 9) AND c < 300",
        "SELECT sum(u.c), count(*) FROM (SELECT DISTINCT a FROM t) s, t u "
        "WHERE u.a = s.a AND u.b IN (1, 2, 5, 7, 9)",
        "SELECT sum(u.c), count(*) FROM t s, t u WHERE s.a = 0 AND u.a = s.c % 5 AND u.b IN (1, 2, 9) "
        "AND u.c < 200",
        "CREATE TABLE t1(a, b, c)", "CREATE INDEX t1abc ON t1(a, b, c)", "CREATE INDEX t1bca ON t1(b, c, a)",
        "INSERT INTO t1 VALUES (56, 1119, 1115), (57, 1147, 1137), (100, 1050, 1023), (101, 1050, 1023)",
        "INSERT INTO sqlite_stat1 VALUES ('t1', 't1abc', '358677 2 2 1'), ('t1', 't1bca', '358677 4 2 1')",
        "ANALYZE sqlite_schema",
        "SELECT * FROM t1 WHERE (b = 1137 AND c IN (97, 98)) OR (b = 1119 AND c IN (1115, 1023))"])


def reasons(capi_tiers, rows):
    """Where the sum of so many rows of VALUES was left in the tiers that have hot loops."""
    text = "SELECT sum(column1 + 1) FROM (VALUES %s)" % ", ".join("(%d)" % i for i in range(rows))
    case = script([("prepare", 0, "s", text), ("step", 0, "s", 1), ("tier", 0, "s")], threshold=2)
    found = [tier.worker.run(case) for tier in capi_tiers.others if tier.name.endswith("-hot")]
    assert all(transcript[1] == ["(%d)" % (rows * (rows + 1) // 2)] for transcript in found)
    return {transcript[2][0].split(", ")[1] for transcript in found}


def test_a_coroutine_with_an_end_for_each_row_stays_in_c(capi_tiers):
    assert reasons(capi_tiers, 8) <= {"why 1"}          # SQPYTE_WHY_HOT
    assert reasons(capi_tiers, 300) <= {"why 7"}        # SQPYTE_WHY_OPCODE
