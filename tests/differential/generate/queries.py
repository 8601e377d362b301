"""Generated statements over one generated table: SELECTs of many shapes, and writes."""
import functools

from hypothesis import strategies as st

from tests.differential.generate.expressions import (
    ARITHMETIC,
    COMPARISONS,
    PARAMETERS,
    aggregates,
    conditions,
    expressions,
    weighted,
)
from tests.differential.generate.values import integers, long_texts, short_values

parameters = st.lists(
    weighted((5, short_values), (3, integers), (1, long_texts)),
    min_size=PARAMETERS, max_size=PARAMETERS).map(tuple)


def _optional(strategy):
    return st.one_of(st.just(""), strategy)


def _commas(strategy, most):
    return st.lists(strategy, min_size=1, max_size=most).map(", ".join)


@functools.lru_cache(maxsize=None)
def keys(columns):
    """What to sort or group by: a column or an expression of one (a number alone would be
    the number of a result column)."""
    column = st.sampled_from(columns)
    return weighted((2, column), (1, st.builds(
        "({0} {1} {2})".format, column, st.sampled_from(ARITHMETIC + COMPARISONS),
        expressions(columns, 1))))


@functools.lru_cache(maxsize=None)
def _clauses(columns):
    """The clauses of a SELECT by name, each with what precedes it, or empty."""
    where = weighted((1, st.just("")), (2, conditions(columns, 2).map(" WHERE {}".format)))
    term = st.builds(
        "{0}{1}{2}".format, keys(columns), st.sampled_from(["", "", " COLLATE NOCASE"]),
        st.sampled_from(["", " ASC", " DESC", " DESC NULLS LAST", " NULLS LAST"]))
    order = _optional(_commas(term, 3).map(" ORDER BY {}".format))
    number = st.sampled_from(["0", "1", "2", "5", "30", "-1", "9 % 5", "?1"])
    limit = _optional(st.builds(
        " LIMIT {0}{1}".format, number, _optional(number.map(" OFFSET {}".format))))
    return where, order, limit


@functools.lru_cache(maxsize=None)
def selects(columns):
    """A SELECT over t, without aggregates.

    Args: columns, their names (tuple of str), "rowid" among them if t has one.
    """
    where, order, limit = _clauses(columns)
    item = weighted((1, st.sampled_from(columns)), (1, expressions(columns, 3)))
    items = weighted((1, st.just("*")), (4, _commas(item, 4)))
    return st.builds("SELECT {0}{1} FROM t{2}{3}{4}".format, st.sampled_from(["", "", "DISTINCT "]),
                     items, where, order, limit)


@functools.lru_cache(maxsize=None)
def aggregations(columns):
    """A SELECT over t with aggregates, mostly with GROUP BY and at times HAVING."""
    where, order, limit = _clauses(columns)
    aggregate = aggregates(columns)
    having = weighted(
        (2, st.just("")), (1, aggregate.map(" HAVING {}".format)),
        (1, st.builds(" HAVING {0} {1} {2}".format, aggregate,
                      st.sampled_from(["<", ">", "=", "<>"]), expressions(columns, 0))))
    whole = st.builds("SELECT {0} FROM t{1}{2}".format, _commas(aggregate, 4), where, having)
    bare = st.builds("SELECT {0}({1}), {2} FROM t{3}".format, st.sampled_from(["min", "max"]),
                     st.sampled_from(columns), st.sampled_from(columns), where)
    grouped = st.builds(
        lambda by, items, *clauses: "SELECT {0}, {1} FROM t{3} GROUP BY {0}{2}{4}{5}".format(
            by, items, *clauses),
        _commas(keys(columns), 2), _commas(aggregate, 3), having, where, order, limit)
    return weighted((2, whole), (1, bare), (2, grouped))


_SHAPES = [
    "SELECT count(*), sum({e}) FROM (SELECT {e} AS {c} FROM t WHERE {w} ORDER BY {d} LIMIT 9)",
    "SELECT {c}, {e} FROM t WHERE {c} IN (SELECT {d} FROM t WHERE {w})",
    "SELECT {c}, EXISTS (SELECT 1 FROM t AS u WHERE u.{c} = t.{d} AND {w}) FROM t",
    "SELECT {c}, (SELECT {e} FROM t AS u WHERE u.{d} >= t.{c} ORDER BY 1 LIMIT 1) FROM t LIMIT 20",
    "SELECT a.{c}, b.{d} FROM t AS a JOIN t AS b ON a.{c} = b.{d} LIMIT 50",
    "SELECT a.{c}, b.{d} FROM t AS a LEFT JOIN t AS b ON a.{c} > b.{d} LIMIT 50",
    "SELECT {c} FROM t WHERE {w} UNION SELECT {d} FROM t",
    "SELECT {c} FROM t WHERE {w} UNION ALL SELECT {e} FROM t ORDER BY 1 LIMIT 40",
    "SELECT {c} FROM t EXCEPT SELECT {d} FROM t WHERE {w}",
    "SELECT {c} FROM t INTERSECT SELECT {d} FROM t WHERE {w}",
    "SELECT {c}, sum({e}) OVER (ORDER BY {d} ROWS 3 PRECEDING) FROM t",
    "SELECT row_number() OVER (PARTITION BY {c} ORDER BY {d}), max({e}) OVER (PARTITION BY {c}) FROM t",
    "WITH RECURSIVE r(i, v) AS (SELECT 0, {p} UNION ALL SELECT i + 1, v || i FROM r WHERE i < 30)"
    " SELECT i, v, (SELECT count(*) FROM t WHERE {c} < i) FROM r",
    "WITH m AS MATERIALIZED (SELECT {c}, {e} AS x FROM t) SELECT x, {c} FROM m WHERE x > {p}",
    "SELECT x, json_array(x) FROM (SELECT json('[1]') AS x, {c} FROM t LIMIT 3) WHERE {c} IS NOT 7",
    "SELECT {c}, x FROM (SELECT {c}, zeroblob(7) AS x, {d} FROM t LIMIT 9 OFFSET 1) WHERE {d} < x",
    "SELECT {c}, fail({c} IS {p}) FROM t WHERE {w}",
    "SELECT {e}, run('SELECT count(*) FROM t WHERE {c} > 1') FROM t LIMIT 20",
    "SELECT sum({c}), avg({c}), total({c}), min({d}), max({d}), count({d}) FROM t WHERE {w}",
    "SELECT max({c}), min({c}), {d} FROM t GROUP BY {d} HAVING {w}",
    "VALUES ({p}), ({p}), (3)",
]


@functools.lru_cache(maxsize=None)
def others(columns):
    """SELECTs beyond single-table scans: subqueries, joins, compounds, windows, recursion."""
    column = st.sampled_from(columns)
    return st.builds(
        lambda shape, c, d, e, w, p: shape.format(c=c, d=d, e=e, w=w, p=p),
        st.sampled_from(_SHAPES), column, column, expressions(columns, 1), conditions(columns, 1),
        st.sampled_from(["?1", "?2", "0", "'a'"]))


_WRITES = [
    "UPDATE t SET {c} = {e} WHERE {w}",
    "UPDATE OR IGNORE t SET {c} = {e}, {d} = {c} WHERE {w}",
    "DELETE FROM t WHERE {w}",
    "DELETE FROM t WHERE {w} RETURNING {e}",
    "INSERT INTO t({c}) SELECT {e} FROM t WHERE {w} LIMIT 20",
    "INSERT OR REPLACE INTO t({c}) SELECT {d} FROM t WHERE {w} LIMIT 20",
    "INSERT OR IGNORE INTO t({c}) VALUES ({p}) RETURNING *",
    "UPDATE t SET {c} = {e} WHERE {w} ORDER BY {d} LIMIT 3",
    "CREATE TABLE IF NOT EXISTS copy AS SELECT {e} AS x, {c} AS y FROM t WHERE {w}",
    "CREATE INDEX IF NOT EXISTS later ON t({c}, {d} DESC)",
    "CREATE INDEX IF NOT EXISTS partial ON t({c}) WHERE {d} IS NOT NULL",
    "CREATE TRIGGER IF NOT EXISTS one AFTER UPDATE ON t WHEN new.{c} > 5"
    " BEGIN DELETE FROM t WHERE {d} IS old.{c}; END",
    "CREATE TRIGGER IF NOT EXISTS two BEFORE DELETE ON t"
    " BEGIN INSERT INTO copy SELECT total({c}), old.{d} FROM t; END",
    "INSERT INTO t({c}) SELECT {d} FROM t WHERE {w} LIMIT 9 ON CONFLICT DO UPDATE SET {d} = 7",
    "REINDEX", "VACUUM", "ANALYZE",
]


@functools.lru_cache(maxsize=None)
def writes(columns):
    """INSERT, UPDATE, DELETE and other statements that change the file."""
    column = st.sampled_from([name for name in columns if name != "rowid"])
    return st.builds(
        lambda shape, c, d, e, w, p: shape.format(c=c, d=d, e=e, w=w, p=p),
        st.sampled_from(_WRITES), column, column, expressions(columns, 2), conditions(columns, 1),
        st.sampled_from(["?1", "?2", "NULL", "1.0"]))


def names(table):
    """The columns that statements over a tables.Table may use (tuple of str)."""
    rowid = () if table.kind == "without rowid" else ("rowid",)
    return tuple(table.column_names()) + rowid
