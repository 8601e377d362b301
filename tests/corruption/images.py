"""The sound databases that are then damaged: small pages, so that trees are deep and texts and
blobs overflow; and the queries over them, which take every way through a page.
"""

SCHEMA = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c REAL, d TEXT, e BLOB, f DATE);
CREATE TABLE u(k TEXT, v INTEGER, w, PRIMARY KEY(k, v)) WITHOUT ROWID;
CREATE TABLE x(a INTEGER, b INT, n NUMERIC, long TEXT);
CREATE INDEX tb ON t(b);
CREATE INDEX td ON t(d COLLATE NOCASE, c);
CREATE INDEX te ON t(e) WHERE b > 10;
CREATE UNIQUE INDEX xa ON x(a DESC, b);
"""

_NUMBERED = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT ROWS) "
FILL = [
    "INSERT INTO t " + _NUMBERED + """SELECT CASE n % 11 WHEN 0 THEN -n * 1000003 ELSE n * n END,
     CASE n % 7 WHEN 0 THEN NULL WHEN 1 THEN n * 1000000007 WHEN 2 THEN n % 2 ELSE n - 60 END,
     n / 8.0, substr('name ' || (n % 13) || ' of some length', 1, 4 + n % 20),
     CASE n % 9 WHEN 0 THEN zeroblob(n * 7) WHEN 1 THEN NULL WHEN 2 THEN x'' ELSE x'00ff' || n END,
     date('1992-01-01', '+' || (n * 5) || ' days') FROM r""",
    "INSERT INTO u " + _NUMBERED + """SELECT 'key ' || (n * 7919 % 101), n,
     CASE n % 5 WHEN 0 THEN n * 0.5 WHEN 1 THEN zeroblob(n * 3) ELSE 'w' || n END FROM r""",
    "INSERT INTO x " + _NUMBERED + """SELECT n * 37 % 97, n, n * 1.5,
     CASE n % 6 WHEN 0 THEN printf('%.*c', n * 9, 'y') ELSE 'short ' || n END FROM r""",
]

QUERIES = [
    "SELECT count(*), sum(b), avg(c), min(d), max(e), total(a) FROM t",
    "SELECT * FROM t",
    "SELECT count(*), sum(b * 2 + a), max(c) FROM t WHERE b > -20 AND c < 20.5",
    "SELECT d, count(*), sum(c), min(b), max(f) FROM t WHERE f >= '1992-03-01' GROUP BY d",
    "SELECT a, b, d FROM t ORDER BY d, b DESC, a",
    "SELECT sum(length(e)), sum(length(d)) FROM t WHERE e IS NOT NULL",
    "SELECT a, c FROM t WHERE b BETWEEN -10 AND 40",
    "SELECT b FROM t INDEXED BY tb WHERE b > 0 ORDER BY b DESC",
    "SELECT d, c FROM t WHERE d COLLATE NOCASE > 'name 5' ORDER BY d COLLATE NOCASE, c",
    "SELECT a, e FROM t WHERE e > x'00' AND b > 10",
    "SELECT a, d FROM t WHERE a IN (4, 9, 16, 25, -11000033, 400, 10000)",
    "SELECT k, v, w FROM u",
    "SELECT k, count(*), sum(v), max(w) FROM u GROUP BY k",
    "SELECT w FROM u WHERE k = 'key 20' AND v > 3",
    "SELECT t.a, x.b, x.n FROM t JOIN x ON x.a = t.b WHERE x.n > 3",
    "SELECT count(*), sum(x.b * u.v) FROM x, u WHERE u.v = x.b AND x.a > 5",
    "SELECT x.b, y.b, y.d, y.e FROM x CROSS JOIN t AS y ON y.a = (x.b % 10) * (x.b % 10)",
    "SELECT length(long), substr(long, 1, 12), b FROM x WHERE a > 10 ORDER BY a",
    "SELECT DISTINCT n FROM x WHERE b % 3 = 1",
    "SELECT b, (SELECT count(*) FROM x WHERE x.a < t.b) FROM t WHERE t.c > 9",
    "SELECT d FROM t WHERE d LIKE 'name 1%' UNION SELECT k FROM u WHERE v < 9 ORDER BY 1",
    "SELECT max(a), min(a) FROM t",
    "SELECT b, row_number() OVER (ORDER BY c DESC) FROM t LIMIT 20",
    "PRAGMA integrity_check(3)",
]
# Damage meets writers too; they go on where the engine lets them.
WRITES = [
    "UPDATE t SET b = b + 1 WHERE c > 3 AND a % 5 = 0",
    "DELETE FROM u WHERE v % 4 = 0",
    "INSERT INTO x SELECT a + 1000, b, c, d FROM t WHERE b > 0",
    "DELETE FROM t WHERE d > 'name 3'",
]

# Page size in bytes, rows of each table, auto_vacuum.
SHAPES = [(512, 130, "NONE"), (4096, 130, "FULL"), (1024, 60, "NONE"), (512, 60, "FULL"),
          (1024, 250, "FULL"), (2048, 130, "NONE")]


def statements(shape):
    """The SQL statements (list of str) that make a sound database of one of SHAPES."""
    size, rows, vacuum = shape
    made = ["PRAGMA page_size = %d" % size, "PRAGMA auto_vacuum = " + vacuum]
    made += [text for text in SCHEMA.split(";") if text.strip()]
    return made + [text.replace("ROWS", str(rows)) for text in FILL]
