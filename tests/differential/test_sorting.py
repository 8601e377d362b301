"""Sorts of more rows than the sorter keeps in memory: the order is stock's, that of equal rows too.

The engine's sorter compares sort keys first (c_engine/storage/sort_key.h); here they meet values that differ
only beyond what a key holds, in sorted runs that are merged from files.
"""
import pytest

from tests.differential import tiers
from tests.differential.conftest import Comparison
from tests.differential.sessions.scripts import script

# Mixed classes, numbers that are the same as doubles, texts equal for 20 bytes, zeros within.
VALUE = """CASE n % 11 WHEN 0 THEN NULL WHEN 1 THEN n % 7 WHEN 2 THEN (n % 7) * 1.0
    WHEN 3 THEN 9007199254740992 + n % 5 WHEN 4 THEN 9007199254740992.0
    WHEN 5 THEN 'abcdefghijklmnopqrst' || n % 9 WHEN 6 THEN substr('abcdefghijklmnopqrst', 1, n % 21)
    WHEN 7 THEN CAST(x'6100' || substr(x'00010261', n % 5, n % 3) AS TEXT) WHEN 8 THEN -0.0
    WHEN 9 THEN substr(x'61000061ff', 1, n % 6) ELSE -(n % 13) * 1e300 END"""
FILL = """INSERT INTO t WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 8000)
    SELECT n, {0}, n % 3, {1} FROM i""".format(VALUE, VALUE.replace("n %", "n / 11 %"))
ORDERS = ["a", "a DESC", "b, a DESC", "b DESC, a, c", "a COLLATE NOCASE, c DESC", "a NULLS LAST, c",
          "c, a COLLATE RTRIM DESC", "a DESC NULLS FIRST, b", "b, c, a"]


@pytest.fixture(scope="module")
def sorting_tiers(stock):
    """Stock, and the tiers that are fast enough for so many rows."""
    names = tiers.chosen(["engine", "translated-always"])
    comparison = Comparison(stock, stock, [tiers.capi_tier(name) for name in names])
    yield comparison
    for tier in comparison.others:
        tier.worker.stop()


@pytest.mark.parametrize("cache_size", [10, 100000])
def test_order(sorting_tiers, cache_size):
    actions = [("run", 0, "CREATE TABLE t(n INTEGER PRIMARY KEY, a, b, c)"), ("run", 0, FILL)]
    for order in ORDERS:
        actions.append(("run", 0, "SELECT group_concat(n) FROM (SELECT n FROM t ORDER BY %s)" % order))
    actions += [("run", 0, "SELECT a, count(*), group_concat(n % 97) FROM t GROUP BY a, c"),
                ("run", 0, "CREATE INDEX i ON t(b, a, c DESC)"),
                ("run", 0, "PRAGMA integrity_check")]
    pragmas = ["PRAGMA page_size=512", "PRAGMA cache_size=%d" % cache_size]
    transcript = sorting_tiers.check(script(actions, pragmas=pragmas))
    assert len(transcript[2]) == 1 and len(transcript[2][0]) > 60


# Keys that come again and again, of which the sorter makes a list each: as many as it has lists, one more
# and fewer; with a key that is inexact among them; and all different.
FEW = ["n % 1", "n * 7 % 4", "n * 31 % 255", "n * 31 % 256", "n * 31 % 257", "n * 31 % 2000",
       "n * 48271 % 65537", "CASE WHEN n = 3000 THEN 'abcdefghijklmnopqrst' ELSE n % 5 END",
       "substr('aabbccddeeff', n % 12 + 1, 2)", "printf('%06d', n * 31 % 300)", "NULL"]


@pytest.mark.parametrize("cache_size", [10, 100000])
def test_few_keys(sorting_tiers, cache_size):
    fill = """INSERT INTO t WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 6000)
        SELECT n, %s FROM i""" % ", ".join(FEW)
    columns = ["c%d" % i for i in range(len(FEW))]
    actions = [("run", 0, "CREATE TABLE t(n INTEGER PRIMARY KEY, %s)" % ", ".join(columns)),
               ("run", 0, fill)]
    for column in columns:
        for order in (column, column + " DESC", column + ", c1 DESC"):
            actions.append(("run", 0, "SELECT group_concat(n) FROM (SELECT n FROM t ORDER BY %s)" % order))
        actions.append(("run", 0, "SELECT %s, count(*), sum(n * 0.1), group_concat(n %% 89)"
                        " FROM t GROUP BY %s" % (column, column)))
    pragmas = ["PRAGMA page_size=512", "PRAGMA cache_size=%d" % cache_size]
    transcript = sorting_tiers.check(script(actions, pragmas=pragmas))
    assert len(transcript[2]) == 1 and len(transcript[2][0]) > 60
