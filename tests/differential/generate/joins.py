"""Generated queries over several tables with indexes: joins, subqueries, coroutines, unions.

The tables: a(id, k, t, v) with an index of two columns; b(id, a_id, k, t) with two indexes, one of
them descending; c, WITHOUT ROWID, with a key of two columns; d, without an index, so that the
planner makes one (and a Bloom filter) for itself.  Statements have aliases x, y and z for them.
"""
from hypothesis import strategies as st

from tests.differential.generate.expressions import weighted

SCHEMA = (
    "CREATE TABLE a(id INTEGER PRIMARY KEY, k, t TEXT, v REAL)",
    "CREATE INDEX a_kt ON a(k, t)",
    "CREATE TABLE b(id INTEGER PRIMARY KEY, a_id INTEGER, k, t TEXT COLLATE NOCASE)",
    "CREATE INDEX b_a ON b(a_id)",
    "CREATE INDEX b_kt ON b(k DESC, t)",
    "CREATE TABLE c(k, t, v INTEGER, PRIMARY KEY(k, t)) WITHOUT ROWID",
    "CREATE TABLE d(k, t, a_id)",
)
COLUMNS = {"a": ["id", "k", "t", "v"], "b": ["id", "a_id", "k", "t"], "c": ["k", "t", "v"],
           "d": ["k", "t", "a_id"]}

_KEYS = [None, 0, 1, 2, 3, 3.0, 2.5, "a", "A", "b", "1", b"a", -1, 200, 70000, 2 ** 40]
_TEXTS = [None, "", "a", "A", "b", "ab", "zz", "it's", "a" * 100, "b" * 700]


@st.composite
def contents(draw):
    """INSERTs as actions of a script: from none to a few hundred rows in a table, by a rule that
    is cheap to draw."""
    actions = []
    for name, columns in sorted(COLUMNS.items()):
        count = draw(st.sampled_from([0, 1, 3, 20, 60, 150]))
        multiplier = draw(st.integers(1, 97))
        keys = draw(st.lists(st.sampled_from(_KEYS), min_size=1, max_size=5))
        texts = draw(st.lists(st.sampled_from(_TEXTS), min_size=1, max_size=4))
        rows = []
        for i in range(count):
            n = i * multiplier
            values = {"id": n + 1 if count < 60 else i * 3, "k": keys[n % len(keys)],
                      "t": texts[n // 2 % len(texts)], "v": n % 7 if n % 5 else None,
                      "a_id": n % (count + 3)}
            if name == "c":     # a primary key: no NULL
                values["k"] = n % 40
                values["t"] = texts[n // 2 % len(texts)] or ""
            rows.append(tuple(values[column] for column in columns))
        actions.append(("many", 0, "INSERT OR IGNORE INTO %s VALUES (%s)" % (
            name, ", ".join("?" * len(columns))), rows))
    return actions


def _column(alias, table):
    return st.sampled_from(["%s.%s" % (alias, column) for column in COLUMNS[table]])


_LITERALS = ["0", "1", "2.5", "3", "'a'", "'b'", "NULL", "70000", "x'61'", "-1"]
_OPERATORS = ["=", "=", "=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"]


def _comparison(left, right):
    return st.builds("{0} {1} {2}".format, left, st.sampled_from(_OPERATORS), right)


def _equality(left, right):
    return st.builds("{0} = {1}".format, left, right)


@st.composite
def subqueries(draw, column):
    """A correlated scalar subquery, EXISTS, or one within another; what a Memoize may know again."""
    table = draw(st.sampled_from(sorted(COLUMNS)))
    inner = _column("s", table)
    where = draw(_comparison(inner, column))
    if draw(st.booleans()):
        where += " AND " + draw(_comparison(inner, st.one_of(column, st.sampled_from(_LITERALS))))
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return "(SELECT %s FROM %s AS s WHERE %s ORDER BY 1 LIMIT 1)" % (draw(inner), table, where)
    if kind == 1:
        return "EXISTS (SELECT 1 FROM %s AS s WHERE %s)" % (table, where)
    if kind == 2:
        return ("(SELECT count(*) FROM %s AS s WHERE %s AND s.k > (SELECT min(u.k) FROM b AS u WHERE "
                "u.a_id = %s OR u.k = s.k))" % (table, where, draw(column)))
    if kind == 3:
        return "((SELECT %s, max(%s) FROM %s AS s WHERE %s) > (%s, 2))" % (
            draw(inner), draw(inner), table, where, draw(column))
    if kind == 4:
        return "(SELECT %s FROM %s AS s WHERE %s UNION SELECT k FROM c WHERE v = %s ORDER BY 1)" % (
            draw(inner), table, where, draw(column))
    return "(SELECT %s(%s) FROM %s AS s WHERE %s)" % (
        draw(st.sampled_from(["sum", "avg", "max", "count", "group_concat", "typeof"])),
        draw(st.one_of(inner, column)), table, where)


@st.composite
def selects(draw):
    """A SELECT over two or three of the tables."""
    tables = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3))
    aliases = list(zip("xyz", tables))
    sources = ["%s AS %s" % (aliases[0][1], aliases[0][0])]
    for i in range(1, len(aliases)):
        before = st.one_of([_column(*aliases[j]) for j in range(i)])
        on = draw(_equality(_column(*aliases[i]), before))
        if draw(st.integers(0, 2)) == 0:
            on += " AND " + draw(_comparison(_column(*aliases[i]), st.sampled_from(_LITERALS)))
        kind = draw(st.sampled_from(["JOIN", "JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN",
                                     "RIGHT JOIN", "FULL JOIN"]))
        sources.append("%s %s AS %s ON %s" % (kind, aliases[i][1], aliases[i][0], on))
    column = st.one_of([_column(*pair) for pair in aliases])
    where = draw(conditions(column))
    order = draw(st.sampled_from(["", "", " ORDER BY 1", " ORDER BY 1 DESC, 2",
                                  " ORDER BY 2 DESC"]))
    limit = draw(st.sampled_from(["", "", " LIMIT 5", " LIMIT 3 OFFSET 2"]))
    shape = draw(st.integers(0, 6))
    start = " FROM %s%s" % (" ".join(sources), where)
    first, second = draw(column), draw(column)
    if shape == 6:
        return "SELECT %s, %s, %s%s%s%s" % (
            first, draw(subqueries(column)), draw(subqueries(column)), start, order, limit)
    if shape == 0:
        return "SELECT %s, count(*), min(%s), sum(%s)%s GROUP BY 1%s%s" % (
            first, second, draw(column), start, order, limit)
    if shape == 1:
        return "SELECT count(*), sum(%s), max(%s), count(DISTINCT %s)%s" % (
            first, second, draw(column), start)
    if shape == 2:
        return "SELECT DISTINCT %s, %s%s%s%s" % (first, second, start, order, limit)
    if shape == 3:
        return "SELECT s.p, count(*), total(s.q) FROM (SELECT %s AS p, %s AS q%s%s) AS s %s" % (
            first, second, start, limit,
            draw(st.sampled_from(["", "JOIN b ON b.a_id = s.p", "LEFT JOIN a ON a.k = s.q"]))
        ) + " GROUP BY s.p"
    if shape == 4:
        return "SELECT %s, %s%s %s SELECT k, t FROM %s%s" % (
            first, second, start, draw(st.sampled_from(["UNION", "UNION ALL", "EXCEPT",
                                                        "INTERSECT"])),
            draw(st.sampled_from(sorted(COLUMNS))), order)
    return "SELECT %s, %s, %s%s%s%s" % (first, second, draw(column), start, order, limit)


@st.composite
def conditions(draw, column):
    """A WHERE clause, or nothing."""
    terms = []
    for _ in range(draw(st.integers(0, 2))):
        table = draw(st.sampled_from(sorted(COLUMNS)))
        subquery = "SELECT %s FROM %s AS s WHERE %s" % (
            draw(_column("s", table)), table, draw(_equality(_column("s", table), column)))
        terms.append(draw(weighted(
            (3, _comparison(column, st.sampled_from(_LITERALS))),
            (1, st.builds("{0} BETWEEN {1} AND {2}".format, column, st.sampled_from(_LITERALS),
                          st.sampled_from(_LITERALS))),
            (1, st.builds("{0} IN ({1})".format, column,
                          st.lists(st.sampled_from(_LITERALS), min_size=1, max_size=4).map(
                              ", ".join))),
            (1, st.builds("{0} {1}IN (SELECT {2} FROM {3})".format, column,
                          st.sampled_from(["", "NOT "]), st.sampled_from(["k", "t"]),
                          st.sampled_from(sorted(COLUMNS)))),
            (1, st.sampled_from(["EXISTS (%s)", "NOT EXISTS (%s)"]).map(
                lambda form: form % subquery)),
            (1, column.map(lambda name: "%s = (%s)" % (name, subquery))),
            (1, st.builds("({0} OR {1})".format,
                          _comparison(column, st.sampled_from(_LITERALS)),
                          _equality(column, column))))))
    return " WHERE " + " AND ".join(terms) if terms else ""


def _writes():
    return st.sampled_from([
        "UPDATE a SET v = v + 1 WHERE k IN (SELECT k FROM b)",
        "UPDATE b SET t = t || 'x', k = a_id WHERE a_id > 3",
        "DELETE FROM b WHERE a_id IN (SELECT id FROM a WHERE v > 2)",
        "INSERT OR REPLACE INTO c SELECT id, 'n', a_id FROM b",
        "UPDATE c SET v = (SELECT count(*) FROM b WHERE b.k = c.k)",
        "UPDATE b SET a_id = (SELECT count(*) FROM b AS s WHERE s.a_id = b.a_id)",
        "DELETE FROM d WHERE EXISTS (SELECT 1 FROM b WHERE b.k = d.k)",
        "INSERT INTO d SELECT k, t, id FROM a WHERE id < 20",
        "UPDATE OR IGNORE a SET id = id + 1 WHERE id % 3 = 0",
    ])


statements = weighted((5, selects()), (1, _writes()), (1, st.just("ANALYZE")))
