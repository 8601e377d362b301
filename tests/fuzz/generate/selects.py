"""Generated queries: joins, subqueries in FROM, CTEs (recursive ones too), compounds, grouping, windows,
orders and limits, correlated where they are nested."""
from tests.fuzz.generate import literals
from tests.fuzz.generate.chance import Weighted
from tests.fuzz.generate.expressions import COLLATIONS, Expressions, Scope
from tests.fuzz.generate.schema import Column, Table

_JOINS = Weighted((4, ", "), (4, " JOIN "), (3, " LEFT JOIN "), (1, " CROSS JOIN "), (0.5, " RIGHT JOIN "),
                  (0.5, " FULL JOIN "), (0.4, " NATURAL JOIN "))
_COMPOUNDS = [" UNION ALL ", " UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT "]
_WINDOWED = ["row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)",
             "lag({0})", "lead({0}, 2, 'none')", "first_value({0})", "last_value({0})",
             "nth_value({0}, 2)", "sum({0})", "count(*)", "avg({0})", "max({0})", "min({0})", "total({0})",
             "group_concat({0})", "count({0}) FILTER (WHERE {1})", "sum({0}) FILTER (WHERE {1})"]
_FRAMES = ["", "", "", "ROWS 3 PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
           "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
           "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
           "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
           "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING", "GROUPS 2 PRECEDING EXCLUDE CURRENT ROW",
           "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE TIES"]
_RECURSIVE = [
    "WITH RECURSIVE {n}(c0, c1) AS (SELECT {i}, {e} UNION ALL SELECT c0 + 1, c1 || c0 FROM {n} "
    "WHERE c0 < {m}) ",
    "WITH RECURSIVE {n}(c0, c1) AS (VALUES (1, 'a') UNION SELECT c0 * 3 % 31, c1 FROM {n}) ",
    "WITH RECURSIVE {n}(c0, c1) AS (SELECT 1, 1 UNION ALL SELECT c0 + 1, c1 + c0 FROM {n} LIMIT {m}) ",
    "WITH RECURSIVE {n}(c0, c1) AS (SELECT 0, {e} UNION ALL SELECT c0 + 1, c1 FROM {n} WHERE c0 < 9 "
    "ORDER BY 1 DESC) ",
]


class Queries:
    """Makes SELECTs over a schema.Schema.

    Args: chance, a Chance; schema, a Schema; calls, as in expressions.Scope.
    """

    def __init__(self, chance, schema, calls=""):
        self.chance = chance
        self.schema = schema
        self.calls = calls

    def statement(self):
        """A query as a statement of its own (str)."""
        chance = self.chance
        text = self.query(Scope([], self, chance.pick([0, 1, 1, 2]), True, self.calls), chance.randint(1, 4))
        if chance.one_in(40):
            return "VALUES (%s), (%s)" % (literals.constant(chance), literals.constant(chance))
        return text

    def view(self, width):
        """A query for a view, without parameters (str)."""
        return self.query(Scope([], self, 1), width)

    def nested(self, outer, width, one_row=False):
        """A subquery that may use the columns of outer (a Scope): one row of it is used."""
        chance = self.chance
        inner = Scope(outer.columns, self, outer.depth - 1, outer.parameters, outer.calls)
        if one_row and chance.random() < 0.4:
            return self._select(inner, width, aggregated=True)[0]
        return self.query(inner, width)

    def query(self, outer, width):
        """A query of `width` columns; outer, a Scope whose columns it may use."""
        chance = self.chance
        ctes, extra = "", []
        if chance.one_in(7):
            ctes, extra = self._with(outer)
        text, tail = self._select(outer, width, extra=extra)
        if chance.one_in(7):
            for _ in range(chance.randint(1, 2)):
                text += chance.pick(_COMPOUNDS) + self._select(outer, width, extra=extra)[0]
            tail = self._tail([str(chance.randint(1, width))], outer, compound=True)
        return ctes + text + tail

    def _with(self, outer):
        chance = self.chance
        name = self.schema.new_name("w")
        columns = [Column("c0", ""), Column("c1", "")]
        if chance.one_in(3):
            constant = Expressions(chance, Scope(["1"]))
            form = chance.pick(_RECURSIVE)
            most = chance.pick([3, 9, 30, 120])
            text = form.format(n=name, i=constant.i(0), e=constant.constant(0), m=most)
            return text, [Table(name, columns, "view")]
        deeper = Scope([], self, max(outer.depth - 1, 0), outer.parameters, outer.calls)
        return "WITH %s(c0, c1) AS %s(%s) " % (
            name, chance.pick(["", "", "MATERIALIZED ", "NOT MATERIALIZED "]), self.query(deeper, 2)), [
                Table(name, columns, "view")]

    def _from(self, outer, extra):
        """(the text of a FROM clause, the columns of each source)."""
        chance = self.chance
        sources = self.schema.sources() + extra * 3
        count = chance.pick([1, 1, 1, 1, 2, 2, 3]) if len(outer.columns) == 0 else chance.pick([1, 1, 1, 2])
        text, columns = "", []
        for i in range(count):
            alias = self.schema.new_name("a")
            if outer.depth > 0 and chance.one_in(8):
                width = chance.randint(1, 3)
                inner = self.query(Scope([], self, outer.depth - 1, outer.parameters, outer.calls), width)
                names = ["c%d" % k for k in range(width)]
                item = self._named(inner, names)
            elif chance.one_in(25):
                names = ["value", "key", "type"]
                item = "json_each(%s)" % literals.quoted(chance.pick(literals.JSONS[:10]))
            else:
                source = chance.pick(sources)
                names = source.names()
                item = source.name
                if source.schema == "main" and source.kind not in ("view",) and chance.one_in(40):
                    item = "main." + item
            mine = ["%s.%s" % (alias, n) for n in names]
            if i:
                join = chance.among(_JOINS)
                text += join
                text += "%s AS %s" % (item, alias)
                if "NATURAL" not in join and (join != ", " or chance.one_in(2)) and "CROSS" not in join:
                    if join != ", ":
                        text += " ON " + self._joined(columns, mine, outer)
                columns = columns + mine
            else:
                text = "%s AS %s" % (item, alias)
                columns = mine
        return text, columns

    def _named(self, inner, names):
        name = self.schema.new_name("s")
        return "(WITH %s(%s) AS (%s) SELECT * FROM %s)" % (name, ", ".join(names), inner, name)

    def _joined(self, left, right, outer):
        chance = self.chance
        if chance.random() < 0.75:
            text = "%s %s %s" % (chance.pick(left), chance.pick(["=", "=", "=", "<", "IS", ">="]),
                                 chance.pick(right))
            if chance.one_in(3):
                text += " AND %s = %s" % (chance.pick(left), chance.pick(right))
            return text
        return Expressions(chance, Scope(left + right, self, 0, outer.parameters)).b(1)

    def _select(self, outer, width, aggregated=False, extra=()):
        """(a SELECT without compounds, an ORDER BY and LIMIT for it)."""
        chance = self.chance
        text, columns = self._from(outer, list(extra))
        scope = Scope(columns + outer.columns[:6], self, outer.depth, outer.parameters, outer.calls)
        inside = Expressions(chance, scope)
        where = ""
        if chance.random() < 0.65:
            where = " WHERE " + inside.b(chance.pick([0, 1, 1, 2, 2, 3]))
            if outer.columns and chance.random() < 0.5:
                where += " AND %s %s %s" % (
                    chance.pick(columns), chance.pick(["=", "=", "<", "IS", ">"]), chance.pick(outer.columns))
        grouping = ""
        kind = chance.random()
        if aggregated or kind < 0.13:
            items = [inside.aggregate(1) if chance.random() < 0.8 or i == 0 else inside.e(1)
                     for i in range(width)]
            keys = []
        elif kind < 0.28:
            keys = [inside.c(0) if chance.random() < 0.75 else inside.e(1)
                    for _ in range(chance.pick([1, 1, 2]))]
            grouping = " GROUP BY " + ", ".join(self._key(key) for key in keys)
            if chance.one_in(4):
                grouping += " HAVING %s %s %s" % (
                    inside.aggregate(1), chance.pick(["<", ">", "=", "IS NOT"]), inside.constant(0))
            items = [inside.aggregate(1) if chance.random() < 0.6 else chance.pick(keys)
                     for i in range(width)]
        elif kind < 0.34:
            items, keys = [self._windowed(inside) if chance.random() < 0.6 or i == 0 else inside.c(0)
                           for i in range(width)], [inside.c(0)]
        else:
            items = [inside.e(chance.pick([0, 0, 1, 1, 2, 3])) for _ in range(width)]
            keys = [inside.c(0), inside.e(1)]
        result = "SELECT %s%s FROM %s%s%s" % (
            "DISTINCT " if chance.one_in(9) else "", ", ".join(items), text, where, grouping)
        return result, self._tail(keys, scope)

    def _key(self, key):
        """A GROUP BY's or ORDER BY's term: a number alone would be a column's."""
        if key.lstrip("-+(").replace(".", "").isdigit():
            key = "(%s + 0)" % key
        return key

    def _windowed(self, inside):
        chance = self.chance
        call = chance.pick(_WINDOWED).format(inside.e(1), inside.b(1))
        partition = "PARTITION BY %s " % inside.c(0) if chance.one_in(2) else ""
        order = "ORDER BY %s%s " % (inside.c(0), chance.pick(["", " DESC", " NULLS LAST"])) \
            if chance.random() < 0.75 else ""
        return "%s OVER (%s%s%s)" % (call, partition, order, chance.pick(_FRAMES))

    def _tail(self, keys, scope, compound=False):
        chance = self.chance
        text = ""
        if keys and chance.random() < 0.45:
            terms = []
            for key in chance.some(keys, 1, 2):
                collation = " COLLATE " + chance.pick(COLLATIONS) if chance.one_in(6) else ""
                terms.append((key if compound else self._key(key)) + collation + chance.pick(
                    ["", "", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST"]))
            text = " ORDER BY " + ", ".join(terms)
        if chance.one_in(5):
            text += " LIMIT " + chance.pick(["0", "1", "2", "5", "30", "-1", "3 + 4"]
                                            + (["?1"] if scope.parameters else []))
            if chance.one_in(3):
                text += " OFFSET " + chance.pick(["0", "1", "3", "100", "-2"])
        return text
