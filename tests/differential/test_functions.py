"""SQL functions, casts and aggregates over values of every kind: every tier against stock."""
import pytest

from tests.differential.generate.values import EDGE_INTEGERS, EDGE_REALS, NUMBER_LIKE, SHORT_BLOBS, WORDS
from tests.differential.sessions.scripts import script

DATES = ["1995-03-17", "1996-02-29", "1995-02-29", "2000-02-30", "1995-13-01", "1995-12-31 10:20:30",
         "0000-01-01", "9999-12-31", "-123-01-01", "1995-04-31", "1995-1-1", "12:30", "2450000.5"]
TEXTS = ["PROMO BRASS", "promo brass", "special requests", "the specially made requests",
         "special\x00requests", "Customer Complaints", "a" * 15 + "bc", "x" * 70 + "needle", "ab" * 40,
         "\u00e9t\u00e9 \u00c9T\u00c9", "100%", "a_b", "a*b", "aab", "[a]", "aXb" * 20 + "aXc", "B" * 16,
         "x" * 300]
VALUES = ([None] + EDGE_INTEGERS[::3] + EDGE_REALS + NUMBER_LIKE + WORDS + SHORT_BLOBS + DATES + TEXTS)

PATTERNS = ["%", "", "%%", "promo%", "%brass", "%special%requests%", "%a%b%", "a%b", "a%b%c", "%needle",
            "%bc", "b%b", "_", "a_b", "%_b", "\u00e9%", "%\u00c9%", "a\\%", "%" + "b" * 16 + "%", "xx%xx",
            "%xa%xc", "%k%", "%[%", "x" * 130]
GLOBS = ["*", "PROMO*", "*BRASS", "*special*requests*", "a*b", "?", "[a-c]*", "*[a]*", "a[*]b", "*needle",
         "*\u00e9*", "%", "A*"]

FUNCTIONS = {
    "like": ["a LIKE %s" % ("'%s'" % pattern) for pattern in PATTERNS],
    "not like": ["a NOT LIKE '%s' AND b LIKE '%%1%%'" % pattern for pattern in PATTERNS[::3]],
    "glob": ["a GLOB '%s'" % pattern for pattern in GLOBS],
    "pattern from a row": ["a LIKE b", "b GLOB a", "a LIKE ?1", "a LIKE '%a' ESCAPE 'a'",
                           "like(a, 'abc')", "like('%b', a, '\\')"],
    "substr": ["substr(a, %s)" % arguments for arguments in (
        "1", "2", "0", "-1", "-3", "1, 2", "2, 3", "0, 2", "-2, 1", "3, -2", "-1, -5", "1, 0",
        "NULL", "1, NULL", "9223372036854775807", "-9223372036854775807, 3", "1.5, 2", "'2'", "1, 4000",
        "b", "1, b", "-9223372036854775808, -9223372036854775808")],
    "sizes": ["length(a)", "octet_length(a)", "typeof(a)", "length(substr(a, 2))", "unicode(a)",
              "char(length(a), 65)", "hex(a)", "length(a || b)"],
    "numbers": ["abs(CASE WHEN a = -9223372036854775808 THEN 1 ELSE a END)", "round(a)", "round(a, 1)",
                "round(a, 3)", "round(a, -1)", "round(a, NULL)", "round(a, 40)", "round(a, '2')",
                "sign(a)", "a + b", "a - b", "a * b", "a / b", "a % b", "-a", "+a", "a + '1e3'", "'7x' % a"],
    "case": ["upper(a)", "lower(a)", "upper(lower(a)) || lower(b)", "substr(upper(a), 1, 3)",
             "lower(substr(upper(a), 2))", "upper(a) = upper(b)"],
    "instr": ["instr(a, b)", "instr(a, 'a')", "instr(a, '')", "instr(a, x'61')", "instr(b, a)",
              "instr('h\u00e9llo', substr(a, 1, 1))"],
    "extremes": ["min(a, b)", "max(a, b)", "min(a, b, 5)", "max(a, 'b', b)", "min(a COLLATE NOCASE, b)",
                 "max(a COLLATE RTRIM, b)", "nullif(a, b)", "nullif(a, 1)", "nullif(a COLLATE NOCASE, b)"],
    "choices": ["coalesce(a, b, 3)", "ifnull(a, b)", "iif(a, b, 7)", "a AND b", "a OR b", "NOT a",
                "a IS TRUE", "a IS NOT FALSE", "CASE WHEN a THEN 1 ELSE 0 END"],
    "casts": ["CAST(a AS %s)" % name for name in ("INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC")] + [
        "typeof(CAST(a AS NUMERIC))", "CAST(CAST(a AS TEXT) AS BLOB)", "CAST(CAST(a AS BLOB) AS TEXT) || b",
        "CAST(substr(a, 1, 4) AS INTEGER)", "CAST(strftime('%Y', a) AS INTEGER)"],
    "bits": ["a & b", "a | b", "a << b", "a >> b", "a << 3", "a >> 1", "~a", "a << -70", "a >> -64",
             "1 << a"],
    "dates": ["date(a)", "strftime('%Y', a)", "strftime('%m', a)", "strftime('%d', a)",
              "strftime('%Y-%m', a)", "strftime('%F', a)", "strftime('%j', a)", "strftime('%Y', a, '+1 day')",
              "date(a, '+1 month')", "julianday(a)", "date('1995-01-01')", "strftime(b, a)"],
    "in C": ["printf('%s %d', a, b)", "quote(a)", "trim(a)", "replace(a, 'a', b)", "json_quote(hex(a))",
             "json_array(json('[1]'), hex(a))", "zeroblob(length(a) % 5)", "concat(a, b)", "unhex(a)"],
    "subtypes": ["json_array(x, a) FROM (SELECT json('[1]') AS x, hex(a) AS a, b FROM t LIMIT 5", ],
    "user code": ["echo(a)", "echo(a) || echo(b)", "run('SELECT count(*) FROM t WHERE a > 1')",
                  "a || run('SELECT 1') || b"],
    "affinities": ["r.a = r.i", "r.a < r.r", "r.i || r.r || r.x",
                   "typeof(r.i) || typeof(r.r) || typeof(r.x)"],
}
AGGREGATES = ["group_concat(a)", "group_concat(a, b)", "string_agg(a, '-')", "sum(a)", "avg(a)", "total(b)",
              "min(a)", "max(a)", "count(a)", "count(*)", "count(DISTINCT a)", "group_concat(DISTINCT b)",
              "min(a COLLATE NOCASE)", "json_group_array(hex(a))", "sum(length(a))",
              "group_concat(a, ',' ORDER BY b)", "total(a) FILTER (WHERE a LIKE '%1%')", "median(length(a))"]
OVER = ["OVER (ORDER BY rowid ROWS 3 PRECEDING)", "OVER (PARTITION BY typeof(a) ORDER BY rowid)",
        "OVER (ORDER BY rowid ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)"]
WINDOWED = ["sum(length(a))", "min(a)", "max(b)", "count(*)", "avg(octet_length(a))",
            "group_concat(typeof(a))",
            "row_number()", "lag(a, 2)", "ntile(3)", "first_value(a)", "total(b)"]


def table():
    """Actions that make t(a, b), and r with columns of all affinities."""
    rows = [(value, VALUES[(7 * i + 3) % len(VALUES)]) for i, value in enumerate(VALUES)]
    return [("run", 0, "CREATE TABLE t(a, b)"),
            ("run", 0, "CREATE TABLE r(a TEXT, i INTEGER, r REAL, n NUMERIC, x)"),
            ("many", 0, "INSERT INTO t VALUES (?, ?)", rows),
            ("run", 0, "INSERT INTO r SELECT a, a, a, a, a FROM t"),
            ("run", 0, "CREATE INDEX rr ON r(r, i)")]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function(capi_tiers, name):
    queries = []
    for expression in FUNCTIONS[name]:
        source = "r" if "r." in expression else "t"
        if " FROM " in expression and "run(" not in expression:
            queries.append("SELECT %s)" % expression)
            continue
        queries.append("SELECT %s FROM %s" % (expression, source))
        if source == "t":
            queries.append(
                "SELECT count(*), sum(length(x)) FROM (SELECT %s AS x FROM t) WHERE x" % expression)
            queries.append("SELECT %s AS x, count(*) FROM t GROUP BY x ORDER BY x LIMIT 40" % expression)
    capi_tiers.check(script(table() + [("run", 0, query, "%a", 2, 3) for query in queries], threshold=2))


def test_errors(capi_tiers):
    queries = ["SELECT abs(a) FROM t", "SELECT sum(a) FROM t WHERE typeof(a) = 'integer'",
               "SELECT sum(a) OVER (ORDER BY a DESC ROWS 2 PRECEDING) FROM t WHERE typeof(a) = 'integer'",
               "SELECT json(a) FROM t", "SELECT a LIKE b ESCAPE 'xy' FROM t", "SELECT fail(a) FROM t",
               "SELECT unhex(a, 5) FROM t LIMIT a"]
    capi_tiers.check(script(table() + [("run", 0, query) for query in queries], threshold=2))


def test_aggregates(capi_tiers):
    queries = ["SELECT %s FROM t" % call for call in AGGREGATES]
    queries += ["SELECT typeof(b), %s FROM t GROUP BY typeof(b)" % call for call in AGGREGATES]
    capi_tiers.check(script(table() + [("run", 0, query) for query in queries], threshold=2))


@pytest.mark.parametrize("over", OVER)
def test_windows(capi_tiers, over):
    queries = ["SELECT %s %s FROM t LIMIT 60" % (call, over) for call in WINDOWED]
    capi_tiers.check(script(table() + [("run", 0, query) for query in queries], threshold=2))


def test_writes(capi_tiers):
    """Affinities of records, of which the file's bytes speak; row sets; autoincrement."""
    texts = ["INSERT INTO r SELECT b, b, b, b, b FROM t", "UPDATE r SET r = i, i = r WHERE a LIKE '%1%'",
             "UPDATE r SET i = i + 1 WHERE r > 3 OR i < 9 OR a GLOB '*a*'",
             "DELETE FROM r WHERE i = 1 OR r = 2.0 OR r BETWEEN 7 AND 100",
             "SELECT count(*) FROM r WHERE i = 1 OR r = 2 OR r > 5 OR i < 0",
             "CREATE TABLE auto(k INTEGER PRIMARY KEY AUTOINCREMENT, v REAL)",
             "INSERT INTO auto(v) SELECT length(a) FROM t", "INSERT INTO auto SELECT rowid + 1000, a FROM t",
             "INSERT INTO auto(k) VALUES ('12x')",
             "SELECT * FROM auto WHERE k = '1001.0' OR k IN (7, '9', 1.5)",
             "SELECT * FROM r LIMIT '5' OFFSET 2.0", "SELECT * FROM r LIMIT 3 OFFSET -1",
             "PRAGMA integrity_check"]
    capi_tiers.check(script(table() + [("run", 0, text) for text in texts] + [("image", 0)], threshold=2))
