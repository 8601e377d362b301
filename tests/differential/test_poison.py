"""Declared register effects: with dead registers overwritten, queries and writes answer as stock. And no text or
blob of a live register is in memory that has changed (views.py)."""
import pytest
from hypothesis import given

from tests.differential.budget import examples
from tests.differential.generate import joins, queries
from tests.differential.generate.scripts_over import scripts_over
from tests.differential.sessions.scripts import script
from tests.differential.test_functions import AGGREGATES, OVER, WINDOWED, table
from tests.differential.test_queries import cases, check


@examples(40)
@given(case=cases(queries.selects))
def test_selects(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(40)
@given(case=cases(queries.aggregations))
def test_aggregations(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(60)
@given(case=cases(queries.others, 4))
def test_other_queries(poisoned_tiers, case):
    check(poisoned_tiers, case)


@examples(60)
@given(case=cases(queries.writes, 4))
def test_writes(poisoned_tiers, case):
    check(poisoned_tiers, case, [("run", 0, "SELECT * FROM t"), ("run", 0, "PRAGMA integrity_check"),
                                 ("image", 0)])


@examples(20)
@given(case=scripts_over(joins))
def test_joins_and_unions(poisoned_tiers, case):
    poisoned_tiers.check(case)


@pytest.mark.parametrize("over", OVER)
def test_windows_and_aggregates(poisoned_tiers, over):
    texts = ["SELECT %s %s FROM t LIMIT 60" % (call, over) for call in WINDOWED]
    texts += ["SELECT typeof(b), %s FROM t GROUP BY typeof(b)" % call for call in AGGREGATES]
    poisoned_tiers.check(script(table() + [("run", 0, text) for text in texts]))


@pytest.mark.parametrize("text", [
    "SELECT max(n), g FROM (SELECT count(*) AS n, max(a) AS g FROM t GROUP BY b)",
    "SELECT min(n), g, h FROM (SELECT sum(length(a)) AS n, min(a||'x') AS g, group_concat(a) AS h FROM t GROUP BY b)",
    "WITH w AS (SELECT b, count(*) AS n, group_concat(a, '-') AS g FROM t GROUP BY b) SELECT b, max(n), g FROM w",
    "SELECT min(i), f FROM (SELECT rowid AS i, max(a) OVER (ORDER BY rowid ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS f FROM t LIMIT 1000)",
    "SELECT max(v), g FROM (SELECT t.b AS v, (SELECT y FROM (SELECT DISTINCT x.a AS y, x.b AS z FROM t AS x "
    "WHERE x.b >= t.b ORDER BY z) LIMIT 1) AS g FROM t LIMIT 1000)",
    "UPDATE t SET a = CASE WHEN b % 2 THEN replace(b||printf('%.900c', 'x'), 'x', 'yyy') ELSE a END RETURNING a, b",
    "DELETE FROM t WHERE b < 5 RETURNING upper(a), a||b",
    "INSERT INTO t SELECT upper(a)||a, b FROM t WHERE true ON CONFLICT DO NOTHING RETURNING a",
])
def test_results_that_are_kept(poisoned_tiers, text):
    """Over the memory of a register that the next group, or row, uses."""
    rows = [("run", 0, "CREATE TABLE t(a TEXT, b INTEGER)"),
            ("run", 0, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60) "
                       "INSERT INTO t SELECT 'text number '||(i * 37 % 61)||hex(zeroblob(i)), i / 6 FROM c")]
    poisoned_tiers.check(script(rows + [("run", 0, text), ("run", 0, "SELECT * FROM t")]))
