"""`import sqpyte` beside sqlite3 on the stock library: queries, Python functions and aggregates,
and what happens between rows."""
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.differential import tiers
from tests.differential.budget import examples
from tests.differential.generate import queries
from tests.differential.generate.expressions import conditions, expressions
from tests.differential.generate.interleavings import interleavings
from tests.differential.generate.tables import tables
from tests.differential.sessions.scripts import script

# What comes of it in CPython that an aggregate's argument isn't UTF-8: it forgets the exception,
# which then escapes somewhere else.
_ESCAPED = ("UnicodeDecodeError", "SystemError",
            "OperationalError 1: user-defined aggregate's '__init__' method raised error")

_FINALLY = [("finalize", 0, "r0"), ("finalize", 0, "r1"), ("rollback", 0), ("rollback", 1),
            ("run", 0, "SELECT * FROM t"), ("run", 0, "SELECT * FROM log"),
            ("run", 0, "PRAGMA integrity_check"), ("image", 0)]

_PYTHON = [
    "SELECT {c}, echo({d}), second({c}, {d}) FROM t",
    "SELECT {c} FROM t WHERE echo({c}) IS {d}",
    "SELECT {c}, echo({e}) FROM t WHERE {w}",
    "SELECT {c}, twice({d}) FROM t",
    "SELECT twice(twice(length({c}))), {d} FROM t WHERE second({c}, {w})",
    "SELECT pysum({c}), count(*) FROM t",
    "SELECT pysum({c}), sum(length({c})), pylist({d}) FROM t WHERE {w}",
    "SELECT pylist({e}) FROM t",
    "SELECT {c}, pylist({d}), pysum({e}) FROM t GROUP BY {c}",
    "SELECT pysum(echo({c})) FROM t WHERE second(1, {d}) > 0",
    "SELECT {c}, fail({d}) FROM t",
    "SELECT pysum(fail({c} IS {d})) FROM t",
    "SELECT {c}, run('DELETE FROM t WHERE {c} IS NULL'), {d} FROM t",
]


@st.composite
def python_calls(draw, columns):
    """A SELECT over t that calls Python functions or aggregates (str)."""
    column = st.sampled_from(columns)
    return draw(st.sampled_from(_PYTHON)).format(
        c=draw(column), d=draw(column), e=draw(expressions(columns, 1)),
        w=draw(conditions(columns, 1)))


# The same over two tables: joins, index scans, sorters (slices.py).
_JOINED = [
    "SELECT second(x.{c}, y.{d}), y.{c} FROM t AS x JOIN t AS y ON x.{c} = y.{d} LIMIT 150",
    "SELECT echo(x.{c}), twice(y.rowid), x.{d} FROM t AS x JOIN t AS y ON y.rowid = x.rowid + 1",
    "SELECT x.{c} FROM t AS x CROSS JOIN t AS y WHERE x.{d} = y.{d} AND second(x.{c}, y.{e}) LIMIT 60",
    "SELECT CASE WHEN echo(x.{c}) THEN y.{d} ELSE x.{e} END, fail(y.{c} IS NULL) FROM t AS x "
    "JOIN t AS y ON y.{d} = x.{c} LIMIT 90 OFFSET 3",
    "SELECT pysum(x.{c}), count(*), total(y.{d}), pylist(y.{e}) FROM t AS x JOIN t AS y ON x.{c} = y.{c}",
    "SELECT x.{c}, pysum(y.{d}), count(*), max(x.{e}) FROM t AS x LEFT JOIN t AS y ON x.{c} = y.{d} "
    "GROUP BY x.{c} LIMIT 20",
    "SELECT echo(x.{c}), run('DELETE FROM t WHERE {d} IS NULL'), y.{e} FROM t AS x "
    "JOIN t AS y ON y.{c} = x.{c} LIMIT 40",
    "SELECT sum(twice(x.rowid)), pysum(second(x.{c}, y.{d})) FROM t AS x JOIN t AS y ON x.{e} = y.{d}",
    "SELECT echo({c}), {d} FROM t ORDER BY rowid DESC",
    "SELECT {c}, pylist(second({d}, {e})) FROM t GROUP BY {c}",
    # What they return C stores (sinks.py).
    "SELECT {c} FROM t ORDER BY echo({d}), {c}",
    "SELECT {c}, echo({e}) FROM t WHERE second(1, {d}) ORDER BY 2 DESC, {c} LIMIT 9 OFFSET 1",
    "SELECT echo({c}), count(*), max({d}), min({e}), total({c}) FROM t GROUP BY echo({c})",
    "SELECT twice(y.{c}), pylist(x.{d}), count(DISTINCT y.{e}) FROM t AS x JOIN t AS y ON y.{c} = x.{d} "
    "GROUP BY 1 LIMIT 30",
    "SELECT count(*), max(y.{d}), min(x.{e}), count(DISTINCT y.{e}) FROM t AS x CROSS JOIN t AS y "
    "WHERE x.{c} = y.{c} AND fail(y.{d} IS x.{e}) IS 0",
    "SELECT count(DISTINCT echo({c})), max({d}) FROM t",
    "SELECT echo({c}) FROM t UNION SELECT twice({d}) FROM t",
    "SELECT {c}, run('DELETE FROM t WHERE {d} IS NULL') FROM t ORDER BY 2, echo({c})",
    "SELECT pysum(x.{c}), max(y.{d}) FROM t AS x JOIN t AS y ON x.{c} = y.{c}",
    "SELECT CASE WHEN echo({c}) THEN {d} ELSE {e} END AS k, count(*) FROM t GROUP BY k",
]


@st.composite
def joined_calls(draw, columns):
    """A SELECT over t, joined to itself, that calls Python functions or aggregates (str)."""
    column = st.sampled_from(columns)
    return draw(st.sampled_from(_JOINED)).format(c=draw(column), d=draw(column), e=draw(column))


@st.composite
def cases(draw):
    """(tables.Table, options, actions)."""
    table = draw(tables())
    columns = queries.names(table)
    texts = draw(st.lists(st.one_of(
        python_calls(columns), joined_calls(columns), queries.selects(columns),
        queries.aggregations(columns)), min_size=1, max_size=5))
    actions = []
    for text in texts:
        parameters = draw(queries.parameters)
        actions.append(("run", 0, text) + parameters)
        if draw(st.booleans()):     # a second run finds the statement prepared, and planned
            actions.append(("run", 0, text) + parameters)
    return table, draw(options), actions


options = st.fixed_dictionaries({
    "isolation_level": st.sampled_from([None, "", "IMMEDIATE"]),
    "text_factory": st.booleans()})


@examples(120)
@given(case=cases())
def test_queries_with_python_functions(module_tiers, case):
    table, chosen, actions = case
    image = module_tiers.image(table.statements())
    module_tiers.check(dict(script(actions, image), **chosen), excused=_ESCAPED)


@examples(120)
@given(case=interleavings(), chosen=options)
def test_what_happens_between_rows(module_tiers, case, chosen):
    table, storage, pragmas, threshold, actions = case
    # A query of one row is over once `execute` returns here: it can't be interrupted then, and
    # its locks are gone; so are those of RETURNING outside of a transaction.
    actions = [action for action in actions if action[0] != "interrupt"
               and not (action[0] == "prepare" and (action[3].startswith("SELECT sum(") or "RETURNING" in action[3]))]
    image = module_tiers.image(table.statements() + [("run", 0, "CREATE TABLE log(x)")])
    module_tiers.check(dict(script(actions + _FINALLY, image, storage, pragmas), **chosen))


@pytest.mark.parametrize("name", tiers.chosen(tiers.MODULES))
def test_module_is_there(module_tiers, name):
    if name in module_tiers.missing:
        pytest.fail("%s: %s" % (name, module_tiers.missing[name]), pytrace=False)
