"""Callbacks as a state machine: every callback that Python can give may step, fetch, close, execute,
commit or roll back anything, on two connections of one file.

CPython's sqlite3 on the stock library says what must come of it.  The plans go by what a callback is called
with, not by how often it is: SQLite's own tiers compare texts in different orders and numbers.
"""
from tests.differential.sessions.worker import Crash
from tests.fuzz.generate.chance import Chance
from tests.fuzz.kinds.callback_session import CURSORS
from tests.fuzz.kinds.kinds import Beside
from tests.fuzz.shrink import without_runs

_QUERIES = [
    "SELECT a, f(b) FROM t", "SELECT f(a), c FROM t WHERE b > 2", "SELECT a, c FROM t WHERE f(b) > 3",
    "SELECT a, b, c FROM t", "SELECT a FROM t WHERE a > ?", "SELECT b, g(a) FROM t GROUP BY b",
    "SELECT g(a), f(b) FROM t GROUP BY c", "SELECT a, w(b) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t",
    "SELECT w(a) OVER (PARTITION BY b ORDER BY a), a FROM t", "SELECT a, c FROM t ORDER BY c COLLATE k, a",
    "SELECT t.a, f(u.y) FROM t JOIN u ON u.x = t.b", "SELECT f(t.a), u.y FROM t, u WHERE u.x = t.a",
    "SELECT t.a, u.y FROM t LEFT JOIN u ON u.x = t.a AND p(u.x) > 3", "SELECT f(a) FROM t ORDER BY b DESC, a",
    "SELECT a, (SELECT count(*) FROM u WHERE x = t.b) FROM t", "SELECT DISTINCT f(b), c FROM t",
    "SELECT f(b) AS k, count(*) FROM t GROUP BY k", "SELECT a, d FROM t", "SELECT d, f(a) FROM t WHERE a > 2",
    "SELECT x, y FROM u ORDER BY x, rowid", "SELECT a FROM t UNION ALL SELECT f(x) FROM u",
    "SELECT p(a), p(b) FROM t", "SELECT a, f(a + 1) FROM t ORDER BY a DESC",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60) SELECT f(n), n FROM r",
]
_WRITES = [
    "UPDATE t SET b = f(b) WHERE a % 3 = 0", "UPDATE t SET c = c || 'x' WHERE a = f(?)",
    "DELETE FROM t WHERE a > ? AND f(a) % 4 = 0", "DELETE FROM t WHERE a = ?",
    "DELETE FROM u WHERE x = f(x)",
    "INSERT INTO t(b, c) SELECT f(x), y FROM u LIMIT 20", "INSERT INTO u VALUES(f(?), 'new')",
    "INSERT INTO u VALUES(?, 'new')", "UPDATE u SET y = f(y)",
    "INSERT OR REPLACE INTO t VALUES(?, 1, 'z', 'up1')", "UPDATE t SET b = b + 1",
    "UPDATE u SET x = x + 1 WHERE x < 5", "DELETE FROM t WHERE a < 3",
    "UPDATE t SET b = 5 WHERE a < 9 RETURNING a, b", "INSERT INTO u SELECT g(a), c FROM t GROUP BY c",
    "DELETE FROM t WHERE f(a) > 7 RETURNING a, c", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s", "BEGIN",
    "COMMIT", "ROLLBACK", "BEGIN IMMEDIATE", "CREATE TABLE IF NOT EXISTS n(x)", "DROP TABLE IF EXISTS n",
    "CREATE INDEX IF NOT EXISTS tb ON t(b)", "DROP INDEX IF EXISTS tb", "PRAGMA incremental_vacuum",
    "ANALYZE", "PRAGMA wal_checkpoint", "PRAGMA cache_size=4",
]
_TRIGGERS = {
    "f": [1, 2, 3, 5, 7, 20, 39, "y3", "y9"], "p": [1, 3, 6, 20], "step": [1, 2, 3, 7, 30],
    "inverse": [1, 2, 3, 7],
    "value": [1, 2, 3], "finalize": [0, 1, 3, 5, 6], "collation": ["row 1", "row 5", "row 7"],
    "authorizer": ["t", "u", "f"], "trace": ["SELECT", "UPDATE", "DELETE", "INSERT"],
    "row_factory": [1, 2, 3, 10, 30], "text_factory": ["row 1", "row 5", "y3"],
    "converter": ["up1", "up2", "up9", "up30"], "adapter": [3, 5],
}
_OUTCOMES = ["value", "value", "value", "none", "other", "raise"]
# Where a callback executes something on the very cursor that has called it, CPython 3.11 to 3.13 say so, and reset the
# running statement: what a DELETE has done so far is committed, though it fails. We refuse without a reset.
_RECURSIVE = "'execute: ProgrammingError"
_HOOKS = ["authorizer", "progress", "trace", "row_factory", "text_factory"]
_CURSOR_VERBS = ["fetchone", "fetchone", "fetchmany", "fetchall", "close"]


def child(name, parameters):
    """A runner for worker.py. Args: as child.module."""
    from tests.fuzz.kinds import callback_session
    from tests.fuzz.kinds.child import imported
    module, version = imported(name, parameters)

    def run(case, directory):
        log = None
        for _ in range(1 if name == "sqlite3" else case["times"]):
            before = log
            log = callback_session.Session(module, case, directory).run()
            if before is not None and before != log:
                break
        return log
    return version, run


class Callbacks(Beside):
    """Plans of callbacks. A kind, see kinds.py."""

    name = "callbacks"
    child = "tests.fuzz.kinds.callbacks:child"

    def case(self, seed):
        """See kinds.py."""
        chance = Chance(seed)
        way = self.next_way(seed)
        hooks = chance.some(_HOOKS, 0, 2) if chance.one_in(2) else []
        plans = []
        for _ in range(chance.randint(1, 5)):
            callback = chance.pick(sorted(_TRIGGERS))
            if callback == "collation" and any(plan["callback"] == callback for plan in plans):
                continue        # which of two texts is compared first isn't the same
            plans.append({"callback": callback, "trigger": chance.pick(_TRIGGERS[callback]),
                          "deeds": [self._operation(chance, 1) for _ in range(chance.randint(1, 3))],
                          "outcome": "value" if callback == "collation" else chance.pick(_OUTCOMES)})
        operations = []
        for _ in range(chance.randint(4, 14)):
            operations.append(self._operation(chance, 0))
        return {"kind": self.name, "seed": seed, "way": way, "hooks": hooks, "plans": plans,
                "operations": operations, "rows": chance.pick([12, 40, 40, 300]),
                "journal": chance.pick(["DELETE", "WAL", "MEMORY"]), "times": way["times"],
                "isolation_level": chance.pick([None, None, "", "IMMEDIATE"]),
                "cached_statements": chance.pick([128, 128, 1])}

    def _operation(self, chance, depth):
        cursor = chance.randrange(CURSORS)
        kind = chance.random()
        value = ("point", chance.pick([3, 5])) if chance.one_in(5) else chance.randint(0, 40)
        if kind < 0.3:
            sql = chance.pick(_QUERIES)
            return ("execute", cursor, sql) + ((value,) if "?" in sql else ())
        if kind < 0.5:
            sql = chance.pick(_WRITES)
            return ("execute", cursor, sql) + ((value,) if "?" in sql else ())
        if kind < 0.72:
            verb = chance.pick(_CURSOR_VERBS)
            return (verb, cursor, chance.randint(1, 9)) if verb == "fetchmany" else (verb, cursor)
        if kind < 0.8:
            return (chance.pick(["commit", "rollback"]), chance.pick([0, 0, 1]))
        if kind < 0.83:
            texts = [chance.pick(_WRITES[9:13]).replace("?", "7") for _ in range(2)]
            return ("script", cursor, "; ".join(texts))
        if kind < 0.86:
            rows = [(i, "y%d" % i) for i in range(9)]
            return ("executemany", cursor, "INSERT INTO u VALUES(f(?), ?)", rows)
        if kind < 0.88:
            return ("define", chance.pick([0, 1]))
        if depth:
            return ("fetchone", cursor)
        return ("loop", cursor, chance.pick([sql for sql in _QUERIES if "?" not in sql]),
                chance.pick([1, 2, 3, 7, 25]), self._operation(chance, 1))

    def check(self, case):
        """See kinds.py."""
        try:
            expected = self.oracle.run(case)
        except Crash:
            return None     # CPython's module may crash where its user code closes what it runs
        actual, crash = self.run(case)
        if crash:
            return crash
        for number, (stock, here) in enumerate(zip(expected + ["nothing"], actual + ["nothing"])):
            if stock != here and _RECURSIVE not in repr(expected[:number + 1]):
                return "line %d of the log\n  before: %s\n  stock: %s\n  here:  %s" % (
                    number, expected[max(number - 6, 0):number], stock, here)
        return None

    def smaller(self, case):
        """See kinds.py."""
        for name in ("operations", "plans", "hooks"):
            for fewer in without_runs(case[name]):
                yield dict(case, **{name: fewer})
        for i, plan in enumerate(case["plans"]):
            for fewer in without_runs(plan["deeds"]):
                yield dict(case, plans=case["plans"][:i] + [dict(plan, deeds=fewer)] + case["plans"][i + 1:])
        for name, plain in (("times", 1), ("rows", 12), ("rows", 40), ("journal", "DELETE"),
                            ("isolation_level", None), ("cached_statements", 128)):
            if case[name] != plain and not (name == "rows" and case[name] < plain):
                yield dict(case, **{name: plain})
