"""Hooks and user functions of the C API, while statements run in the translated VM: each scenario
writes down all that its callbacks see, and that is what they see in stock.
"""
import pytest

from tests.differential.sessions.capi import Error, Library, ffi
from tests.translated import foreign
from tests.translated.sample import GROUPED, SCAN, attempt, filled

OFF, HOT, ALWAYS = 0, 1, 2
STATEMENT, PROFILE, ROW, CLOSE = 1, 2, 4, 8


class Scenario:
    """What a scenario has: a filled connection, and the list of what has been seen.

    Args: library, a capi.Library; directory, for files (pathlib.Path).
    """

    def __init__(self, library, directory):
        self.library = library
        self.directory = directory
        self.seen = []
        self.connection = filled(library)
        self.c, self.db = self.connection.c, self.connection.db
        self.kept = []          # callbacks, which must live as long as they may be called

    def callback(self, kind, function):
        """A function as a C function pointer of a kind (str)."""
        made = ffi.callback(kind, function)
        self.kept.append(made)
        return made

    def run(self, sql):
        """Run a statement and note its outcome."""
        self.seen.append((sql, attempt(self.connection, sql)))

    def function(self, name, function):
        """A user function of one argument, see capi.Connection.create_function."""
        self.connection.create_function(name, function)


def progress(s):
    """A handler that counts, then one that stops the statement, then none."""
    calls = [0]
    stop_after = [10 ** 9]

    def handler(_):
        calls[0] += 1
        return int(calls[0] > stop_after[0])
    handler = s.callback("int(void *)", handler)
    for period in (1, 7, 1000):
        s.c.sqlite3_progress_handler(s.db, period, handler, ffi.NULL)
        s.run(SCAN)
        s.seen.append(calls[0])
    stop_after[0] = calls[0] + 5
    s.run(GROUPED)
    s.seen.append(calls[0])
    s.c.sqlite3_progress_handler(s.db, 0, ffi.cast("int(*)(void *)", 0), ffi.NULL)
    s.run(GROUPED)


def progress_set_while_running(s):
    """A handler that a user function sets: it stops statements from their next step on (when
    the VM hands the running one to C, that too: not noted here)."""
    handler = s.callback("int(void *)", lambda _: 1)

    def arm(text):
        if text == "name 5":
            s.c.sqlite3_progress_handler(s.db, 1, handler, ffi.NULL)
    s.function("arm", arm)
    attempt(s.connection, "SELECT count(arm(d)) FROM t WHERE a < 60")
    s.run("SELECT 1")
    s.run(SCAN)
    s.c.sqlite3_progress_handler(s.db, 0, ffi.cast("int(*)(void *)", 0), ffi.NULL)
    s.run("SELECT a FROM t WHERE a < 60")


def authorizer(s):
    """What it is asked; a column hidden; a table denied; statements prepared before."""
    def text(z):
        return ffi.string(z).decode() if z else None
    hidden, denied = [False], [False]

    def ask(_, action, one, two, database, trigger):
        s.seen.append((action, text(one), text(two), text(database), text(trigger)))
        if hidden[0] and action == 20 and text(two) == "b":
            return 2            # SQLITE_IGNORE
        return int(denied[0] and action == 20)
    ask = s.callback(
        "int(void *, int, const char *, const char *, const char *, const char *)", ask)
    before = s.connection.prepare(SCAN)
    s.seen.append(before.step())
    before.reset()
    s.c.sqlite3_set_authorizer(s.db, ask, ffi.NULL)
    s.run(SCAN)
    hidden[0] = True
    s.run(SCAN)
    s.seen.append(before.step())        # prepared again, with the authorizer
    before.finalize()
    hidden[0], denied[0] = False, True
    s.run(GROUPED)


def authorizer_set_while_running(s):
    """Statements that run go on; they are prepared again for their next run."""
    ask = s.callback("int(void *, int, const char *, const char *, const char *, const char *)",
                     lambda _, action, one, two, database, trigger: 2 if action == 20 else 0)

    def arm(text):
        if text == "name 5":
            s.c.sqlite3_set_authorizer(s.db, ask, ffi.NULL)
    s.function("arm", arm)
    s.run("SELECT count(arm(d)), sum(b) FROM t")
    s.run("SELECT count(arm(d)), sum(b) FROM t")


def trace(s):
    """Statements, their ends, their rows."""
    def note(what, _, p, x):
        if what == STATEMENT:
            s.seen.append(ffi.string(ffi.cast("char *", x)).decode())
        elif what == ROW:
            sql = s.c.sqlite3_sql(ffi.cast("sqlite3_stmt *", p))
            s.seen.append(("row", ffi.string(sql) if sql else "of SQLite's own"))
        else:
            s.seen.append(what)
        return 0
    note = s.callback("int(unsigned, void *, void *, void *)", note)
    s.c.sqlite3_trace_v2(s.db, STATEMENT | PROFILE | ROW | CLOSE, note, ffi.NULL)
    s.run(SCAN)
    s.run(GROUPED)
    s.run("SELECT a FROM t WHERE b = 3")
    s.connection.execute("""CREATE TRIGGER tu AFTER UPDATE ON t WHEN new.b > 30 BEGIN
        INSERT INTO log SELECT new.d, count(*) FROM t WHERE b = new.b; END""")
    s.run("UPDATE t SET b = b + 1 WHERE a < 90")
    s.run("SELECT sum(9223372036854775807 - a) FROM t")


def change_hooks(s):
    """Updates, commits and rollbacks; a commit that is refused."""
    refuse = [False]

    def update(_, operation, database, table, rowid):
        s.seen.append((operation, ffi.string(database), ffi.string(table), rowid))
    s.c.sqlite3_update_hook(s.db, s.callback(
        "void(void *, int, const char *, const char *, int64_t)", update), ffi.NULL)

    def commit(_):
        s.seen.append("commit")
        return int(refuse[0])
    s.c.sqlite3_commit_hook(s.db, s.callback("int(void *)", commit), ffi.NULL)
    s.c.sqlite3_rollback_hook(
        s.db, s.callback("void(void *)", lambda _: s.seen.append("rollback")), ffi.NULL)
    s.run("UPDATE t SET c = c * 2 WHERE b > 30")
    s.run("INSERT INTO log SELECT d, sum(b) FROM t GROUP BY d")
    s.run("DELETE FROM t WHERE a % 7 = 0")
    s.run("BEGIN")
    s.run("INSERT INTO t(b) SELECT n FROM log")
    s.run("ROLLBACK")
    refuse[0] = True
    s.run("UPDATE t SET b = 0 WHERE b < 0")
    s.run(SCAN)


def wal_hook(s):
    """Pages in the log after each commit."""
    connection = filled(s.library, str(s.directory / "wal.db"))
    s.seen.append(connection.execute("PRAGMA journal_mode = WAL"))
    connection.c.sqlite3_wal_hook(connection.db, s.callback(
        "int(void *, sqlite3 *, const char *, int)",
        lambda _, db, name, pages: s.seen.append(pages) or 0), ffi.NULL)
    for sql in ("UPDATE t SET b = b + 1", "INSERT INTO log SELECT d, a FROM t WHERE b > 50", SCAN):
        s.seen.append(attempt(connection, sql))
    connection.close()


def functions_that_run_sql(s):
    """A query inside of the query, three deep, on the same table."""
    def inner(text):
        s.function_depth += 1
        try:
            if s.function_depth < 3:
                return str(attempt(s.connection, "SELECT max(inner(d)), sum(b) FROM t WHERE a < 4"))
            return str(attempt(s.connection, SCAN))
        finally:
            s.function_depth -= 1
    s.function_depth = 0
    s.function("inner", inner)
    s.run("SELECT inner(d) FROM t WHERE a <= 9")
    s.run("SELECT count(inner(d)), sum(length(inner(d))) FROM t WHERE a <= 9")


def functions_that_write(s):
    """To the table that is being read: rows behind and ahead, the row itself, its index; and
    in transactions."""
    jobs = {
        "behind": "UPDATE t SET b = b + 1000 WHERE a = 3",
        "ahead": "UPDATE t SET b = b + 1000, d = d || ' changed to a longer text' WHERE a = 300",
        "delete": "DELETE FROM t WHERE a BETWEEN 200 AND 240",
        "clear": "DELETE FROM t WHERE a > 100",
        "insert": "INSERT INTO t(b, c, d) SELECT b, c, d FROM t WHERE a < 50",
        "log": "INSERT INTO log SELECT d, count(*) FROM t GROUP BY d",
        "vacuum": "VACUUM",
        "rollback": "ROLLBACK",
        "commit": "COMMIT",
        "begin": "BEGIN",
        "drop": "DROP TABLE t",
        "create": "CREATE TABLE IF NOT EXISTS other(x)",
        "index": "CREATE INDEX IF NOT EXISTS tb ON t(b)",
        "drop index": "DROP INDEX tb",
        "alter": "ALTER TABLE log ADD COLUMN m",
        "alter t": "ALTER TABLE t RENAME COLUMN c TO cc",
    }
    job = [None]
    count = [0]

    def act(text):
        count[0] += 1
        if count[0] == 60:
            s.seen.append(attempt(s.connection, job[0]))
    s.function("act", act)
    for setup in ("", "BEGIN"):
        for name in sorted(jobs):
            for sql in ("SELECT count(act(d)), sum(b), max(d) FROM t",
                        "SELECT a, act(d), b FROM t WHERE a < 400",
                        "SELECT d, count(act(d)), sum(b) FROM t GROUP BY d",
                        "UPDATE t SET b = b - 1 WHERE act(d) IS NOT 'x' AND a < 400"):
                s.connection.close()
                s.connection = filled(s.library)
                s.db = s.connection.db
                s.function("act", act)
                if setup:
                    s.run(setup)
                job[0], count[0] = jobs[name], 0
                s.run(sql)
                s.run("SELECT count(*), sum(b), max(a), total(length(d)) FROM t")
                s.run("PRAGMA integrity_check")


def functions_that_fail(s):
    """In the midst of a scan, an aggregation, a sort, an update."""
    def fail(text):
        if text == "name 9":
            raise Error(1, "no nines")
    s.function("fail", fail)
    for sql in ("SELECT fail(d) FROM t", "SELECT sum(b), max(fail(d)) FROM t",
                "SELECT d, max(fail(d)) FROM t GROUP BY d", "SELECT a FROM t ORDER BY fail(d)",
                "UPDATE t SET d = fail(d) || '!'", "INSERT INTO log SELECT fail(d), a FROM t"):
        s.run(sql)
        s.run("SELECT count(*), sum(b), max(d) FROM t")
        s.run("SELECT count(*) FROM log")


def functions_without_memory(s):
    """A function that says that there is no memory left."""
    def call(context, n, values):
        if s.c.sqlite3_value_bytes(values[0]) == 7:
            s.c.sqlite3_result_error_nomem(context)
    call = s.callback("void(sqlite3_context *, int, sqlite3_value **)", call)
    s.connection.check(s.c.sqlite3_create_function_v2(
        s.db, b"greedy", 1, 1, ffi.NULL, call, ffi.NULL, ffi.NULL, ffi.NULL))
    s.run("SELECT count(*), max(greedy(d)) FROM t")
    s.run("SELECT greedy(d) FROM t")
    s.run(SCAN)


SCENARIOS = [progress, progress_set_while_running, authorizer, authorizer_set_while_running, trace,
             change_hooks, wal_hook, functions_that_run_sql, functions_that_write,
             functions_that_fail, functions_without_memory] + foreign.SCENARIOS


@pytest.fixture(scope="module")
def stock(stock_library):
    return Library(stock_library)


@pytest.fixture(scope="module")
def library(vm_library):
    return Library(vm_library)


def seen(library, scenario, directory):
    """All that a scenario has seen."""
    directory.mkdir()
    library.seed()
    s = Scenario(library, directory)
    scenario(s)
    s.connection.close()
    return s.seen


@pytest.mark.parametrize("mode", [HOT, ALWAYS], ids=["hot", "always"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_as_in_stock(stock, library, tmp_path, scenario, mode):
    expected = seen(stock, scenario, tmp_path / "stock")
    library.set_mode(mode, 20)
    try:
        for i in range(3):              # interpreted, traced, compiled
            actual = seen(library, scenario, tmp_path / str(i))
            for a, b in zip(expected, actual):
                assert b == a
            assert len(actual) == len(expected)
    finally:
        library.set_mode(HOT, 3000)
