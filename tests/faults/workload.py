"""What is done while something fails: scans, groups, sorters that spill to files, joins, texts
that are made and kept, and transactions that write.
"""
import hashlib

from tests.differential.sessions import capi
from tests.differential.sessions.scripts import render_row

_NUMBERED = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 150) "
SOUND = [
    "PRAGMA page_size = 512",
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c REAL, d TEXT, e)",
    "CREATE INDEX td ON t(d)",
    "CREATE TABLE u(k PRIMARY KEY, v) WITHOUT ROWID",
    "INSERT INTO t " + _NUMBERED + """SELECT n, n % 17 - 5, n / 4.0, 'name ' || (n % 7),
     CASE n % 6 WHEN 0 THEN printf('%.*c', 150 + n * 4, 'z') WHEN 1 THEN NULL ELSE n * n END FROM r""",
    "INSERT INTO u " + _NUMBERED + "SELECT 'k' || n, n * 3 FROM r WHERE n < 60",
]

STATEMENTS = [
    "SELECT count(*), sum(b), avg(c), min(d), max(e) FROM t WHERE b > -3",
    "SELECT d, count(*), sum(c), max(e) FROM t GROUP BY d",
    "SELECT d || '/' || b, length(e) FROM t WHERE b IN (1, 2, 7) AND d > 'name 2'",
    "SELECT b, c, e FROM t ORDER BY b DESC, c",
    "SELECT b, group_concat(d || a, ', ') FROM t WHERE a < 90 GROUP BY b",
    "SELECT count(*), max(u.k || t.d) FROM u, t WHERE t.a = u.v",
    "SELECT x.d, count(*) FROM t AS x JOIN t AS y ON y.b = x.b + 3 WHERE x.a < 40 GROUP BY x.d",
    "SELECT x.a, y.d, y.c FROM t AS x CROSS JOIN t AS y ON y.a = x.b + 6 WHERE x.a < 90",
    "SELECT DISTINCT upper(substr(d, 2)) || round(c / 10) FROM t LIMIT 12",
    "SELECT a, sum(b) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t WHERE a % 9 = 0",
    "BEGIN",
    "UPDATE t SET b = b * 2, e = e || '!' WHERE a % 4 = 1",
    "INSERT INTO t(b, c, d) SELECT v, v / 8.0, k || ' again' FROM u WHERE v > 60",
    "SELECT count(*), sum(b), sum(length(e)) FROM t",
    "COMMIT",
    "DELETE FROM u WHERE v % 2",
    "SELECT min(k), max(v), total(v) FROM u",
]
JOURNALS = ("delete", "wal")


def statements(journal):
    """The SQL statements (list of str) of the workload, with one of JOURNALS."""
    return ["PRAGMA journal_mode = " + journal, "PRAGMA cache_size = 12",
            "PRAGMA cache_spill = 5"] + STATEMENTS


def run(connection, sql):
    """(extended result code, rows) of a statement, rows rendered."""
    rows = []
    try:
        statement = connection.prepare(sql)
    except capi.Error as error:
        return error.code, rows
    code = 0
    try:
        row = statement.step()
        while row is not None:
            rows.append(render_row(row))
            row = statement.step()
    except capi.Error as error:
        code = error.code
    statement.finalize()
    return code, rows


def digest(rows):
    """Few characters for many rows (list of str)."""
    return "%d:%s" % (len(rows), hashlib.sha1("\n".join(rows).encode()).hexdigest()[:12])


def content(library, path):
    """What another connection finds in the file when nothing fails any more (list of str).
    Whoever still holds a lock keeps it from the exclusive one."""
    connection = capi.Connection(library, path)
    found = [run(connection, sql) for sql in (
        "PRAGMA integrity_check", "SELECT * FROM t", "SELECT * FROM u", "BEGIN EXCLUSIVE",
        "ROLLBACK")]
    connection.close()
    return ["%d %s" % (code, digest(rows)) for code, rows in found]
