"""Generated interleavings: statements stepped a few rows at a time, and what happens between."""
from hypothesis import strategies as st

from tests.differential.generate.expressions import conditions, expressions, weighted
from tests.differential.generate.queries import names, parameters
from tests.differential.generate.tables import tables

READERS = ["r0", "r1"]

# {k} is the table's key: rowid, or c0 in a WITHOUT ROWID table.
_SELECTS = [
    "SELECT {k}, {c} FROM t",
    "SELECT {k}, * FROM t",
    "SELECT {k}, {c}, {e} FROM t WHERE {w}",
    "SELECT {k}, {c} FROM t WHERE {k} > ?1",
    "SELECT {k}, {d} FROM t WHERE {c} >= ?2",
    "SELECT {k}, {c} FROM t ORDER BY {k} DESC",
    "SELECT {k}, {c} FROM t ORDER BY {d}",
    "SELECT {k}, sum({c}), count(*) FROM t GROUP BY {d}",
    "SELECT {d}, {c} FROM t GROUP BY {k} HAVING {w}",
    "SELECT a.{k}, b.{c} FROM t AS a, t AS b WHERE a.{c} = b.{c}",
    "SELECT {k}, (SELECT count(*) FROM t WHERE {w}) FROM t",
    "SELECT {k}, {c}, run('INSERT INTO log VALUES (' || quote({d}) || ')') FROM t",
    "SELECT {k}, run(printf('DELETE FROM t WHERE {k} = %Q', {k})), {c} FROM t",
    "SELECT {k}, {c}, run(printf('DELETE FROM t WHERE {k} > %Q', {k})), {d} FROM t",
    "SELECT {k}, {c}, run(printf('UPDATE t SET {c} = ''changed'' WHERE {k} = %Q', {k})), {c} FROM t",
    "SELECT sum(length({c})), max(run('UPDATE t SET {d} = {d} || 1')), min({d}) FROM t",
    "SELECT {k}, {c}, run('ROLLBACK'), {c}, {d} FROM t",
    "SELECT {k}, {c} FROM t WHERE {c} IS NOT run('DELETE FROM log') AND {c} IS NOT ?3",
    "SELECT {k}, {c}, {d} FROM t LIMIT 6 OFFSET 1",
    "SELECT DISTINCT {c}, {k} FROM t",
    "SELECT a.{k}, b.{c}, b.{d} FROM t AS a JOIN t AS b ON b.{k} = a.{k} + 1",
    "SELECT a.{k}, b.{c} FROM t AS a LEFT JOIN t AS b ON b.{c} = a.{d} AND b.{k} > a.{k}",
    "SELECT a.{k}, b.{k}, c.{c} FROM t AS a, t AS b, t AS c WHERE b.{k} = a.{k} + 1 AND c.{k} < b.{k}",
    "SELECT {k}, (SELECT max({d}) FROM t AS u WHERE u.{c} >= t.{c}) FROM t",
    "SELECT {k}, (SELECT group_concat(u.{k}) FROM t AS u WHERE u.{c} IS t.{c}) FROM t",
    "SELECT {k}, run(printf('DELETE FROM t WHERE {k} = %Q', {k} + 1)), "
    "(SELECT count(*) FROM t AS u WHERE typeof(u.{c}) = typeof(t.{c})) FROM t",
    "SELECT {k}, {c} || {d}, abs(length({c})), {e} FROM t WHERE {c} IN (SELECT {c} FROM t WHERE {w})",
    "SELECT {k}, CASE WHEN {k} > 9 THEN abs(-9223372036854775807 - 1) ELSE upper({c}) END FROM t",
    "SELECT max({k}), {c}, CASE WHEN count(*) > 1 THEN abs(-9223372036854775807 - 1) END FROM t "
    "GROUP BY {c}",
    "SELECT {k}, {c} FROM t UNION ALL SELECT {k}, length({d}) FROM t UNION ALL SELECT x, 1 FROM log",
    "SELECT {k}, {c} FROM t UNION SELECT {k}, {d} FROM t ORDER BY 2, 1",
    "SELECT {k}, {c} FROM t WHERE {k} NOT IN (SELECT x FROM log) ORDER BY {c}, {k} LIMIT 20 OFFSET 2",
    "SELECT {k}, sum(length({c})) OVER (ORDER BY {k} ROWS 2 PRECEDING) FROM t",
    "WITH RECURSIVE r(n, m) AS (SELECT 1, 0 UNION ALL SELECT n + 1, (SELECT count(*) FROM t WHERE {k} > n)"
    " FROM r WHERE n < 40) SELECT n, m FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n * 3 % 101 FROM r) SELECT r.n, t.{k} FROM r, t "
    "WHERE t.{k} = r.n",
    "WITH m AS MATERIALIZED (SELECT {k} AS k, {c} AS c FROM t WHERE {w}) "
    "SELECT m.k, u.{d}, m.c FROM m, t AS u WHERE u.{k} >= m.k",
    "SELECT g.k, t.{d} FROM (SELECT max({k}) AS k FROM t GROUP BY {c}) AS g JOIN t ON t.{k} = g.k",
    "SELECT {k}, changes(), {c} FROM t ORDER BY {c}",
    "DELETE FROM t WHERE {w} RETURNING {k}, {c}",
    "UPDATE t SET {d} = {e} WHERE {k} < 20 RETURNING {k}, {d}",
]

_OF_CURRENT_ROW = [
    "DELETE FROM t WHERE {k} = ?1",
    "DELETE FROM t WHERE {k} >= ?1",
    "DELETE FROM t WHERE {k} <= ?1",
    "UPDATE t SET {c} = ?2 WHERE {k} = ?1",
    "UPDATE t SET {c} = zeroblob(700) WHERE {k} >= ?1",
    "UPDATE OR REPLACE t SET {k} = {k} + 3 WHERE {k} = ?1",
    "INSERT OR REPLACE INTO t({k}) VALUES (?1)",
    "INSERT OR IGNORE INTO t({k}) VALUES (?1 + 1), (?1 + 2)",
    "SELECT {c} FROM t WHERE {k} = ?1",
]

_WRITES = [
    "DELETE FROM t",
    "DELETE FROM t WHERE {w}",
    "UPDATE t SET {c} = {e}",
    "UPDATE t SET {c} = {c} || 'longer' WHERE {w}",
    "UPDATE OR REPLACE t SET {k} = -{k}",
    "INSERT OR IGNORE INTO t({c}) SELECT {e} FROM t LIMIT 30",
    "INSERT OR IGNORE INTO t({c}) VALUES (?1), (?2), (zeroblob(3000))",
    "INSERT INTO log SELECT {c} FROM t",
    "CREATE INDEX IF NOT EXISTS later ON t({c})",
    "DROP INDEX IF EXISTS later",
    "ALTER TABLE t ADD COLUMN extra DEFAULT 5",
    "CREATE TABLE IF NOT EXISTS other(x)",
    "DROP TABLE t",
    "REINDEX",
    "VACUUM",
    "PRAGMA wal_checkpoint",
    "PRAGMA incremental_vacuum",
]

_TRANSACTIONS = ["BEGIN", "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "ROLLBACK", "SAVEPOINT s",
                 "SAVEPOINT s", "ROLLBACK TO s", "ROLLBACK TO s", "RELEASE s"]


@st.composite
def interleavings(draw, most=14):
    """(tables.Table, storage, pragmas, threshold, actions)."""
    table = draw(tables(max_rows=60))
    columns = names(table)
    column = st.sampled_from(columns)
    key = "c0" if table.kind == "without rowid" else "rowid"

    def filled(shapes):
        return st.builds(
            lambda shape, c, d, e, w: shape.format(k=key, c=c, d=d, e=e, w=w),
            st.sampled_from(shapes), column, column, expressions(columns, 1), conditions(columns, 1))

    def action(verb, *arguments):
        return st.tuples(st.just(verb), connection, *arguments)

    def with_parameters(strategy):
        return st.builds(lambda start, values: start + values, strategy, parameters)

    connection = st.sampled_from([0, 0, 0, 1])
    reader = st.sampled_from(READERS)
    one = weighted(
        (3, with_parameters(action("prepare", reader, filled(_SELECTS)))),
        (8, action("step", reader, st.sampled_from([1, 1, 2, 3, 10, 1000]))),
        (4, with_parameters(action("current", reader, filled(_OF_CURRENT_ROW)))),
        (3, with_parameters(action("run", filled(_WRITES)))),
        (3, action("run", st.sampled_from(_TRANSACTIONS))),
        (1, with_parameters(action("reset", reader))),
        (1, action("finalize", reader)),
        (1, action("interrupt")))
    start = draw(with_parameters(action("prepare", st.just(READERS[0]), filled(_SELECTS))))
    actions = [start, ("step", 0, READERS[0], draw(st.integers(1, 4)))]
    if draw(st.booleans()):
        actions.insert(0, ("run", 0, "BEGIN"))
    actions += draw(st.lists(one, min_size=2, max_size=most))
    actions += [("step", 0, name, 1000) for name in READERS]
    storage = draw(st.sampled_from(["memory", "memory", "file", "wal", "shared"]))
    pragmas = draw(st.sampled_from([[], ["PRAGMA cache_size=3"], ["PRAGMA read_uncommitted=ON"],
                                    ["PRAGMA mmap_size=1000000"]]))
    return table, storage, pragmas, draw(st.sampled_from([1, 1, 3])), actions
