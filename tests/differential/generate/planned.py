"""Generated queries whose plans depend on statistics: skip-scans, SeekScan, several indexes for an OR.

The tables: o(x, y), the outer one, without an index; t(a, b, c, d) with indexes of several columns, a partial one and
one of an expression; w, WITHOUT ROWID, with a key of three columns.  The statistics are ANALYZE's, or written by hand:
the planner believes them, so that a few hundred rows get the plans of millions.
"""
from hypothesis import strategies as st

from tests.differential.generate.expressions import weighted

SCHEMA = (
    "CREATE TABLE o(x, y)",
    "CREATE TABLE t(a, b, c, d TEXT)",
    "CREATE INDEX t_abc ON t(a, b, c)",
    "CREATE INDEX t_cb ON t(c DESC, b)",
    "CREATE INDEX t_d ON t(d COLLATE NOCASE, a) WHERE b > 3",
    "CREATE INDEX t_sum ON t(a + b, c)",
    "CREATE TABLE w(a, b, c, d, PRIMARY KEY(a, b DESC, c)) WITHOUT ROWID",
)

_STATISTICS = (     # table, index, stat
    ("t", "t_abc", "100000 20000 2 1"), ("t", "t_abc", "1000000 500000 250000 1"), ("t", "t_abc", "100000 2 2 1"),
    ("t", "t_cb", "100000 30000 10"), ("t", "t_cb", "100000 2 1"), ("t", "t_d", "50000 10000 3"),
    ("t", "t_sum", "100000 4 1"), ("w", "w", "1000000 200000 20 1"), ("w", "w", "300 100 100 1"))

_EXTREME = [None, 2.5, "3", "x", b"3", 2 ** 60]


@st.composite
def contents(draw):
    """INSERTs and statistics as actions of a script."""
    actions = []
    odd = draw(st.lists(st.sampled_from(_EXTREME), max_size=3))
    for name in ("t", "w"):
        first, second = draw(st.sampled_from([(3, 11), (5, 40), (50, 7), (1, 200), (2, 2)]))
        rows = [(i % first, i * 7 % second, i, "text %d" % (i % 9)) for i in range(draw(st.sampled_from([0, 40, 400])))]
        if name == "t":
            rows += [(value, other, len(rows), value) for value in odd for other in odd]
        actions.append(("many", 0, "INSERT OR IGNORE INTO %s VALUES (?, ?, ?, ?)" % name, rows))
    outer = list(range(draw(st.integers(1, 12)))) + odd
    if draw(st.booleans()):
        outer.reverse()
    actions.append(("many", 0, "INSERT INTO o VALUES (?, ?)", [(x, i % 3) for i, x in enumerate(outer)]))
    if draw(st.integers(0, 4)):
        actions.append(("run", 0, "ANALYZE"))
        for table, index, stat in draw(st.lists(st.sampled_from(_STATISTICS), max_size=3)):
            actions.append(("run", 0, "DELETE FROM sqlite_stat1 WHERE idx = '%s'" % index))
            actions.append(("run", 0, "INSERT INTO sqlite_stat1 VALUES ('%s', '%s', '%s')" % (table, index, stat)))
        actions.append(("run", 0, "ANALYZE sqlite_schema"))
    return actions


@st.composite
def lists(draw):
    """What stands after IN: a short list, a long one, or a subquery."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return "(SELECT %s FROM %s WHERE %s)" % (
            draw(st.sampled_from(["a", "b", "c % 40"])), draw(st.sampled_from(["t", "w"])), draw(_plain("")))
    count = draw(st.sampled_from([2, 5, 32, 60, 150]))
    step, start = draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from([0, 5, -3]))
    values = [str(start + i * step) for i in range(count)]
    values += draw(st.lists(st.sampled_from(["NULL", "2.5", "'x'", "'3'"]), max_size=1))
    if draw(st.booleans()):
        values.reverse()
    return "(%s)" % ", ".join(values)


def _literal():
    return st.sampled_from(["0", "1", "2", "3", "7", "100", "2.5", "'x'", "'3'", "NULL"])


def _plain(alias):
    """A comparison of a column with a literal."""
    return st.builds("{0}{1} {2} {3}".format, st.just(alias), st.sampled_from("abc"),
                     st.sampled_from(["=", "=", "<", ">=", "<>", "IS"]), _literal())


@st.composite
def terms(draw, outer):
    """A WHERE clause over t or w: terms that indexes of several columns can take.

    Args: outer, what column a is compared with, or "" for a query that is not correlated.
    """
    found = []
    kind = draw(st.integers(0, 7))
    if kind == 7:
        return draw(st.sampled_from([
            "(a, b) > (%s, %s)", "(a, b, c) <= (%s, %s, 200)", "(a, b) IN (VALUES (%s, %s), (1, 2), (2, 9))",
            "(a, b) IN (SELECT x, y FROM o WHERE x <> %s OR y = %s)"])) % (
                outer or draw(_literal()), draw(_literal()))
    if kind == 6:
        return "(%s)" % " OR ".join(draw(st.lists(
            st.one_of(_plain(""), st.builds("a = {0} AND b IN {1}".format, st.just(outer or "2"), lists()),
                      st.just("d = 'TEXT 4' COLLATE NOCASE AND b > 3"), st.just("a + b = 7")), min_size=2, max_size=4)))
    if kind < 4:
        found.append("a %s %s" % (draw(st.sampled_from(["=", "=", "=", ">", "IS"])), outer or draw(_literal())))
    if kind != 3:
        found.append("b %sIN %s" % (draw(st.sampled_from(["", "", "", "", "NOT "])), draw(lists())))
    if kind in (2, 3, 5):
        found.append(draw(st.one_of(_plain(""), st.builds("c IN {0}".format, lists()), st.just("c BETWEEN 10 AND 90"),
                                    st.just("a + b > 5"), st.just("d > 'text 3'"))))
    return " AND ".join(found)


@st.composite
def selects(draw):
    """A SELECT."""
    table = draw(st.sampled_from(["t", "t", "w"]))
    result = draw(st.sampled_from(["count(*)", "sum(c)", "group_concat(b || ':' || c)", "max(b)", "min(c)",
                                   "count(DISTINCT b)", "group_concat(c) FILTER (WHERE b > 2)"]))
    kind = draw(st.integers(0, 6))
    order = draw(st.sampled_from(["", "", " ORDER BY a, b", " ORDER BY b", " ORDER BY c DESC", " ORDER BY a DESC, c"]))
    limit = draw(st.sampled_from(["", "", "", " LIMIT 3", " LIMIT 4 OFFSET 2"]))
    if kind < 2:
        return "SELECT x, (SELECT %s FROM %s WHERE %s) FROM o%s" % (
            result, table, draw(terms("o.x")), draw(st.sampled_from(["", " ORDER BY x DESC", " ORDER BY y, x"])))
    if kind == 2:
        return "SELECT x, y, a, b, c FROM o %sJOIN %s ON %s%s%s" % (
            draw(st.sampled_from(["", "CROSS ", "LEFT ", "LEFT ", "RIGHT ", "FULL "])), table, draw(terms("o.x")),
            order, limit)
    if kind == 3:
        return "SELECT x FROM o WHERE %sEXISTS (SELECT 1 FROM %s WHERE %s)" % (
            draw(st.sampled_from(["", "NOT "])), table, draw(terms("o.x")))
    if kind == 4:
        return "SELECT %s, %s FROM %s WHERE %s GROUP BY %s" % (
            draw(st.sampled_from("ab")), result, table, draw(terms("")), draw(st.sampled_from(["a", "b", "a, b"])))
    if kind == 5:
        return "SELECT DISTINCT %s FROM %s WHERE %s%s" % (
            draw(st.sampled_from(["a", "a, b", "d", "b, a"])), table, draw(terms("")), limit)
    return "SELECT a, b, c, %s FROM %s WHERE %s%s%s" % (
        draw(st.sampled_from(["d", "row_number() OVER (PARTITION BY a ORDER BY b, c)",
                              "sum(c) OVER (ORDER BY b, c ROWS 2 PRECEDING)", "lag(b) OVER (ORDER BY a, b, c)"])),
        table, draw(terms("")), order, limit)


def _writes():
    return st.one_of(
        st.builds("UPDATE {0} SET d = d || '.' WHERE {1}".format, st.sampled_from(["t", "w"]), terms("")),
        st.builds("UPDATE t SET b = b + 1 WHERE {0}".format, terms("")),
        st.builds("DELETE FROM {0} WHERE {1} AND c % 3 = 0".format, st.sampled_from(["t", "w"]), terms("")),
        st.builds("UPDATE o SET y = (SELECT count(*) FROM t WHERE {0})".format, terms("o.x")),
        st.builds("UPDATE t SET d = o.y FROM o WHERE {0}".format, terms("o.x")),
        st.builds("INSERT INTO t SELECT a, b, c + 1000, d FROM t WHERE {0} RETURNING a, c".format, terms("")))


statements = weighted((6, selects()), (1, _writes()))
