"""Generated expressions over the columns in scope, by a grammar of texts.

Deterministic forms alone may stand in indexes, generated columns and CHECK; subqueries, parameters
and calls of the session's functions are left out where SQL forbids them.
"""
from dataclasses import dataclass
from typing import Any, List

from tests.fuzz.generate import literals
from tests.fuzz.generate.chance import filled, rules

PARAMETERS = 3
COLLATIONS = ["BINARY", "NOCASE", "RTRIM"]
TYPES = ["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"]

_EXPRESSION = rules("""
    9: {c}
    5: {l}
    3: ({e} {op} {e})
    3: ({c} {op} {l})
    2: {b}
    1: (-{e})
    0.5: (~{e})
    0.5: (+{c})
    1: CASE WHEN {b} THEN {e} ELSE {e} END
    0.7: CASE {e} WHEN {l} THEN {e} WHEN {c} THEN {l} END
    1: CAST({e} AS {type})
    1: ({c} COLLATE {coll})
    1: abs({c})
    0.4: abs({e})
    0.7: length({e})
    1: typeof({e})
    0.5: upper({e})
    0.5: lower({e})
    0.5: hex({e})
    0.7: quote({e})
    0.7: coalesce({e}, {e})
    0.5: ifnull({c}, {e})
    0.5: nullif({c}, {e})
    0.7: substr({e}, {i}, {i})
    0.3: substr({e}, {i})
    0.4: instr({e}, {l})
    0.4: round({e}, {i})
    0.3: round({e})
    0.4: min({e}, {e})
    0.4: max({e}, {e}, {l})
    0.3: unicode({e})
    0.3: char({i}, {i})
    0.3: trim({e})
    0.2: ltrim({e}, {l})
    0.2: rtrim({e}, {l})
    0.3: replace({e}, {l}, 'r')
    0.3: iif({b}, {e}, {l})
    0.3: sign({e})
    0.3: zeroblob({i})
    0.3: octet_length({e})
    0.3: concat({e}, {c})
    0.3: concat_ws('-', {c}, {e})
    0.3: unhex(hex({e}))
    0.3: printf({printf}, {e})
    0.2: likely({e})
    0.2: unlikely({b})
    0.2: floor({e})
    0.2: mod({e}, {l})
    0.1: sqrt({e})
    0.1: soundex({e})
    0.4: date({date})
    0.4: datetime({date}, {modifier})
    0.3: strftime({format}, {date}, {modifier})
    0.2: julianday({date})
    0.2: time({c}, {modifier})
    0.2: date({c})
    0.2: unixepoch({date})
    0.2: timediff({date}, {date})
    0.3: json_extract({json}, {path})
    0.3: ({json} -> {path})
    0.3: ({json} ->> {i})
    0.2: json_type({json}, {path})
    0.3: json_valid({e})
    0.2: json_quote({e})
    0.3: json_array({e}, {e})
    0.3: json_object('k', {e})
    0.2: json_set({json}, {path}, {e})
    0.1: json_remove({json}, {path})
    0.1: json_patch({json}, {json})
    0.2: json_array_length({json})
    0.1: json(jsonb({json}))
    2: {scalar}
    0.8: {exists}
    0.7: {param}
    0.5: {call}
""")

_CONDITION = rules("""
    4: ({e} {cmp} {e})
    5: ({c} {cmp} {l})
    3: ({c} {cmp} {c})
    2: ({c} {cmp} {i})
    1: ({c} IS NULL)
    1: ({e} IS NOT NULL)
    0.6: ({e} IS {not} {e})
    0.6: ({e} IS {not} DISTINCT FROM {e})
    1: ({c} {not} BETWEEN {l} AND {e})
    1: ({e} {not} BETWEEN {i} AND {i})
    2: ({c} {not} IN ({l}, {l}, {i}, {i}))
    0.7: ({e} {not} IN ({e}, {c}, {l}))
    0.2: ({c} IN ())
    0.4: ({c} {not} IN ({many}))
    0.4: ({c} = {c} AND {c} IN ({many}))
    0.8: ({c} {not} LIKE {pattern})
    0.5: ({c} {not} GLOB {glob})
    0.2: ({c} LIKE {pattern} ESCAPE '\\')
    0.5: ({c} IS TRUE)
    0.4: ({e} IS NOT FALSE)
    2: ({b} AND {b})
    2: ({b} OR {b})
    1: (NOT {b})
    1: {e}
    0.7: (({c}, {c}) {order} ({e}, {e}))
    0.4: (({c}, {c}, {c}) {order} ({l}, {l}, {l}))
    0.4: (({c}, {c}) IN (VALUES ({l}, {l}), ({i}, {i})))
    0.3: (({c}, {e}) {not} BETWEEN ({l}, {l}) AND ({l}, {l}))
    1.5: {member}
    1: {exists}
""")

_AGGREGATE = rules("""
    2: count(*)
    2: count({d}{e})
    2: sum({d}{c})
    1: sum({e})
    1.5: total({d}{e})
    1.5: avg({d}{e})
    1: avg({c})
    2: min({e})
    2: max({d}{e})
    1: min({c})
    1: max({c})
    1: group_concat({d}{e})
    0.7: group_concat({e}, {t})
    0.7: string_agg({e}, '-' ORDER BY {e} {dir})
    0.5: group_concat({c} ORDER BY {c} {dir}, {c})
    0.4: json_group_array({e})
    0.2: json_group_object(quote({c}), {e})
    0.7: count({c}) FILTER (WHERE {b})
    0.7: sum({c}) FILTER (WHERE {b})
    0.4: max({e}) FILTER (WHERE {b})
    1: {called}
""")

_OPERATORS = ["+", "-", "*", "/", "%", "||", "+", "-", "*", "&", "|", "<<", ">>"]
_ORDER = ["=", "<", "<=", ">", ">=", "<>"]
_COMPARISONS = ["=", "=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT", "=="]


@dataclass
class Scope:
    """What an expression may use.

    Attributes: columns, their texts (list of str), none empty; queries, the selects.Queries that
    makes subqueries, or None; depth, how many queries are still nested at most; parameters,
    whether ?1 may stand; calls, whose functions may be called: "" (none), "c" (those of session.py) or
    "python" (those of module_session.py).
    """
    columns: List[str]
    queries: Any = None
    depth: int = 0
    parameters: bool = False
    calls: str = ""


class Expressions:
    """Makes expressions in a Scope. Args: chance, a Chance; scope, a Scope."""

    def __init__(self, chance, scope):
        self.chance = chance
        self.scope = scope

    def of(self, rule, depth):
        """A text by a rule: "e", an expression, "b", a condition, "agg", an aggregate's call."""
        return _RULES[rule](self, depth)

    def e(self, depth):
        """An expression."""
        if depth <= 0:
            return self.c(0) if self.chance.random() < 0.7 else self.constant(0)
        return self._form(_EXPRESSION, depth)

    def b(self, depth):
        """A condition."""
        if depth <= 0:
            return "(%s %s %s)" % (self.c(0), self.chance.pick(_COMPARISONS), self.constant(0))
        return self._form(_CONDITION, depth)

    def aggregate(self, depth):
        """A call of an aggregate."""
        return self._form(_AGGREGATE, depth)

    def _form(self, weighted, depth):
        return filled(self.chance.among(weighted), lambda name: _RULES[name](self, depth - 1))

    def c(self, depth):
        """A column."""
        return self.chance.pick(self.scope.columns)

    def constant(self, depth):
        """A constant, or a parameter."""
        if self.scope.parameters and self.chance.one_in(12):
            return self.param(depth)
        return literals.constant(self.chance)

    def i(self, depth):
        """A small integer."""
        return str(self.chance.randint(-3, 12))

    def many(self, depth):
        """So many values that the planner may scan an index for them rather than seek each (SeekScan)."""
        first, step = self.chance.randint(-3, 12), self.chance.pick([-1, 1, 1, 2, 7])
        values = [str(first + i * step) for i in range(self.chance.pick([12, 30, 40, 90]))]
        return ", ".join(values + [self.constant(depth)])

    def param(self, depth):
        """A parameter."""
        if not self.scope.parameters:
            return self.i(depth)
        return "?%d" % self.chance.randint(1, PARAMETERS)

    def call(self, depth):
        """A call of one of the session's functions."""
        if not self.scope.calls:
            return self.c(depth)
        inner = self.e(depth)
        if self.chance.one_in(6):
            return "fail(CASE WHEN %s THEN %s END)" % (self.b(0), self.c(0))
        if self.scope.calls == "python":
            form = self.chance.pick(["echo({0})", "second({1}, {0})", "twice(length({0}))", "second({0}, 1)"])
            return form.format(inner, self.c(0))
        return "echo(%s)" % inner

    def called(self, depth):
        """A call of an aggregate written in Python."""
        if self.scope.calls != "python":
            return "count(%s)" % self.c(depth)
        return "%s(%s)" % (self.chance.pick(["pysum", "pysum", "pylist"]), self.e(depth))

    def scalar(self, depth):
        """A scalar subquery."""
        if self.scope.depth <= 0:
            return self.c(depth)
        return "(%s)" % self.scope.queries.nested(self.scope, 1, one_row=True)

    def exists(self, depth):
        """EXISTS."""
        if self.scope.depth <= 0:
            return self.b(depth - 1)
        return "%sEXISTS (%s)" % (self._not(), self.scope.queries.nested(self.scope, 1))

    def member(self, depth):
        """IN (SELECT ...)."""
        if self.scope.depth <= 0:
            return self.b(depth - 1)
        if self.chance.one_in(3):
            return "((%s, %s) %sIN (%s))" % (
                self.e(depth), self.c(0), self._not(), self.scope.queries.nested(self.scope, 2))
        return "(%s %sIN (%s))" % (
            self.e(depth), self._not(), self.scope.queries.nested(self.scope, 1))

    def _not(self):
        return "NOT " if self.chance.one_in(3) else ""

    def json(self, depth):
        """An expression that is mostly JSON."""
        if self.chance.one_in(3):
            column = self.c(0)
            return "iif(json_valid(%s), %s, '[1]')" % (column, column)
        return literals.quoted(self.chance.pick(literals.JSONS[:10]))


def _picked(items):
    return lambda self, depth: self.chance.pick(items)


def _quoted(items):
    quoted = [literals.quoted(item) for item in items]
    return lambda self, depth: self.chance.pick(quoted)


_RULES = {
    "e": Expressions.e, "b": Expressions.b, "agg": Expressions.aggregate, "c": Expressions.c,
    "l": Expressions.constant, "i": Expressions.i, "param": Expressions.param, "call": Expressions.call,
    "called": Expressions.called,
    "many": Expressions.many,
    "scalar": Expressions.scalar, "exists": Expressions.exists, "member": Expressions.member,
    "json": Expressions.json, "op": _picked(_OPERATORS), "cmp": _picked(_COMPARISONS),
    "order": _picked(_ORDER), "type": _picked(TYPES), "coll": _picked(COLLATIONS),
    "not": _picked(["", "", "NOT"]), "d": _picked(["", "", "DISTINCT "]),
    "dir": _picked(["", "DESC", "NULLS LAST"]), "pattern": _quoted(literals.PATTERNS),
    "glob": _quoted(literals.GLOBS), "date": _quoted(literals.DATES),
    "modifier": _quoted(literals.MODIFIERS), "format": _quoted(literals.FORMATS),
    "path": _quoted(literals.PATHS), "printf": _quoted(literals.PRINTFS),
    "t": _quoted(literals.PLAIN_WORDS),
}
