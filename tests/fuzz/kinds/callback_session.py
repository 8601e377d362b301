"""The worker's side of callbacks.py: two connections, callbacks of every kind, and what they do.

A callback that is called with its trigger does its deeds, which are operations like those of the top
level, then gives its outcome: a value, or an exception.  Everything goes into one log.
"""
import os

from tests.differential.sessions.scripts import render_row

FILE = "callbacks.db"
CURSORS = 4             # the first half are the first connection's
MOST_NESTED = 2         # callbacks in callbacks that still do deeds
MOST_DEEDS = 40         # in a case
# CPython's module doesn't look whether a cursor fetches already when a callback uses it, nor whether it
# executes once it has refused that: all may happen.
_OF_CURSOR = ("execute", "executemany", "script", "fetchone", "fetchmany", "fetchall", "loop", "close")
ROWS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d) "
SCHEMA = [
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d up)",
    "CREATE TABLE u(x INTEGER, y TEXT)",
    "CREATE INDEX ub ON u(x)",
    "CREATE TRIGGER tu AFTER DELETE ON t WHEN old.a % 5 = 0 BEGIN INSERT INTO u VALUES(-old.a, old.c); END",
]


class Point:
    """What an adapter adapts."""

    def __init__(self, x):
        self.x = x


class Session:
    """One run of a case.

    Args: module, sqlite3 or sqpyte; case, see callbacks.py; directory, for the file (str).
    """

    def __init__(self, module, case, directory):
        self.module = module
        self.case = case
        self.log = []
        self.nested = 0
        self.deeds = 0
        self.done = set()
        self.fetching = []
        self.executing = []
        self.refused = set()
        path = os.path.join(directory, FILE)
        for suffix in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
        self.connections = [self._connection(path, first) for first in (True, False)]
        self.cursors = [self.connections[i * 2 // CURSORS].cursor() for i in range(CURSORS)]

    def _connection(self, path, first):
        case = self.case
        connection = self.module.connect(
            path, timeout=0, isolation_level=case["isolation_level"],
            detect_types=self.module.PARSE_DECLTYPES, cached_statements=case["cached_statements"])
        connection.execute("PRAGMA synchronous=OFF")
        if first:
            connection.execute("PRAGMA page_size=1024")
            connection.execute("PRAGMA journal_mode=" + case["journal"]).fetchall()
            for sql in SCHEMA:
                connection.execute(sql)
            connection.execute(ROWS % case["rows"] + "INSERT INTO t SELECT n, n * 7 % 10, 'row ' || (n % 8), "
                               "'up' || n FROM r")
            connection.execute(ROWS % (case["rows"] // 2) + "INSERT INTO u SELECT n % 40, 'y' || n FROM r")
            connection.commit()
        self._callbacks(connection)
        return connection

    def _callbacks(self, connection):
        session, module = self, self.module

        class Sum:
            """An aggregate and window function; each of its methods is a callback."""

            def __init__(self):
                self.values = []

            def step(self, value):
                session.called("step", value)
                self.values.append(value)

            def inverse(self, value):
                session.called("inverse", value)
                self.values.remove(value)

            def value(self):
                return session.called("value", len(self.values), len(self.values))

            def finalize(self):
                return session.called("finalize", len(self.values), len(self.values))

        connection.create_function("f", 1, lambda value: session.called("f", value, value))
        connection.create_function("p", 1, lambda value: session.called("p", value, value),
                                   deterministic=True)
        connection.create_aggregate("g", 1, Sum)
        connection.create_window_function("w", 1, Sum)
        connection.create_collation("k", lambda x, y: (
            session.called("collation", x, (x > y) - (x < y))))
        hooks = self.case["hooks"]
        if "authorizer" in hooks:
            connection.set_authorizer(lambda code, first, *rest: session.called("authorizer", first, 0))
        if "progress" in hooks:
            connection.set_progress_handler(session.progressed, 100)
        if "trace" in hooks:
            connection.set_trace_callback(lambda text: session.called("trace", text.split()[0], None))
        if "row_factory" in hooks:
            connection.row_factory = lambda cursor, row: session.called("row_factory", row[0], row)

        def text(name):
            return lambda data: session.called(name, data.decode(), data.decode())
        if "text_factory" in hooks:
            connection.text_factory = text("text_factory")
        module.register_converter("up", text("converter"))
        module.register_adapter(Point, lambda point: session.called("adapter", point.x, point.x))

    def called(self, name, trigger, result=None):
        """A callback was called: do the deeds of its plan, if it is for this trigger and is left."""
        for number, plan in enumerate(self.case["plans"]):
            if plan["callback"] != name or plan["trigger"] != trigger or number in self.done:
                continue
            if self.nested >= MOST_NESTED or self.deeds >= MOST_DEEDS:
                continue
            self.done.add(number)
            self.log.append("> %s(%r)" % (name, trigger))
            self.nested += 1
            try:
                for deed in plan["deeds"]:
                    self.deeds += 1
                    self.perform(deed)
            finally:
                self.nested -= 1
            self.log.append("< %s" % plan["outcome"])
            if plan["outcome"] == "raise":
                raise ValueError("planned")
            if plan["outcome"] == "none":
                return None
            if plan["outcome"] == "other":
                return -1
        return result

    def progressed(self):
        """The progress handler: it reads, unseen, as how many opcodes there are between two rows isn't
        the same everywhere."""
        if self.nested == 0:
            self.nested = MOST_NESTED
            try:
                self.connections[1].execute("SELECT a FROM t LIMIT 2").fetchall()
            except self.module.Error:
                pass
            finally:
                self.nested = 0
        return 0

    def perform(self, operation):
        """Do an operation, a tuple (verb, arguments...), and log what comes of it."""
        verb = operation[0]
        cursor = operation[1] if verb in _OF_CURSOR else None
        if cursor is not None and (cursor in self.fetching or cursor in self.refused):
            self.log.append("%s: of a cursor that is at it" % verb)
            return
        inside = cursor in self.executing
        self.executing.append(cursor)
        try:
            result = getattr(self, verb)(*operation[1:])
        except Exception as error:
            if inside:
                self.refused.add(cursor)
            result = type(error).__name__
            if isinstance(error, (self.module.OperationalError, self.module.IntegrityError)):
                result += ": " + ("in a callback" if "unction" in str(error) or "aggregate" in str(error)
                                  or "uthoriz" in str(error) else str(error))
        finally:
            self.executing.pop()
            if cursor not in self.executing:
                self.refused.discard(cursor)
        self.log.append("%s: %s" % (verb, result))

    def run(self):
        """Perform the case's operations, and look at what is left. Returns: the log (list of str)."""
        for operation in self.case["operations"]:
            self.perform(operation)
            self.log.append("in transaction: %s %s" % tuple(
                connection.in_transaction for connection in self.connections))
        self.nested = MOST_NESTED
        for cursor in self.cursors:
            self.perform(("close_cursor", cursor))
        for connection in self.connections:
            connection.set_authorizer(None)
            connection.row_factory = None
            connection.text_factory = str
            self.perform(("connection_rollback", connection))
            for sql in ("SELECT a, b, c FROM t", "SELECT * FROM u", "PRAGMA integrity_check"):
                self.log.append(_rendered(connection.execute(sql)))
            self.log.append("%d changes" % connection.total_changes)
            connection.close()
        return self.log

    # the verbs

    def execute(self, number, sql, *parameters):
        """`execute` on a cursor."""
        cursor = self.cursors[number]
        cursor.execute(sql, tuple(Point(value[1]) if isinstance(value, tuple) else value
                                  for value in parameters))
        if sql.startswith("PRAGMA") or "RETURNING" in sql:
            # Here a query of one row is over when it is executed, and what writes outside of a transaction.
            try:
                self._fetched(number, cursor.fetchall)
            except Exception:
                self.close(number)      # stock's statement goes on, and holds its lock; ours is over
                raise
        return "rowcount %d, lastrowid %s" % (cursor.rowcount, cursor.lastrowid)

    def executemany(self, number, sql, rows):
        """`executemany` on a cursor."""
        cursor = self.cursors[number]
        cursor.executemany(sql, rows)
        return "rowcount %d" % cursor.rowcount

    def script(self, number, sql):
        """`executescript` on a cursor."""
        self.cursors[number].executescript(sql)

    def fetchone(self, number):
        """`fetchone` on a cursor."""
        row = self._fetched(number, self.cursors[number].fetchone)
        return row if row is None else _shown(row)

    def fetchmany(self, number, count):
        """`fetchmany` on a cursor."""
        rows = self._fetched(number, lambda: self.cursors[number].fetchmany(count))
        return [_shown(row) for row in rows]

    def fetchall(self, number):
        """`fetchall` on a cursor."""
        return self._fetched(number, lambda: _rendered(self.cursors[number]))

    def _fetched(self, number, fetch):
        self.fetching.append(number)
        try:
            return fetch()
        finally:
            self.fetching.pop()

    def loop(self, number, sql, at, deed):
        """Iterate over a query; do a deed at a row."""
        count = 0
        shown = []
        cursor = self.cursors[number].execute(sql)
        self.fetching.append(number)
        try:
            for row in cursor:
                count += 1
                if len(shown) < 300:
                    shown.append(_shown(row))
                if count == at:
                    self.fetching.pop()
                    try:
                        self.perform(deed)
                    finally:
                        self.fetching.append(number)
                if count > 3000:
                    break
        finally:
            self.fetching.pop()
        return "%d rows: %s" % (count, shown)

    def close(self, number):
        """Close a cursor, and make another in its place."""
        self.cursors[number].close()
        self.cursors[number] = self.connections[number * 2 // CURSORS].cursor()

    def close_cursor(self, cursor):
        """Close a cursor."""
        cursor.close()

    def connection_rollback(self, connection):
        """`rollback` on a connection."""
        connection.rollback()

    def commit(self, number):
        """`commit` on a connection."""
        self.connections[number].commit()

    def rollback(self, number):
        """`rollback` on a connection."""
        self.connections[number].rollback()

    def define(self, number):
        """Define a function again: what is running must go on."""
        self.connections[number].create_function("h", 1, lambda value: self.called("f", value, value))


def _shown(row):
    return render_row(row) if isinstance(row, tuple) else repr(row)


def _rendered(cursor):
    rows = []
    for row in cursor:
        rows.append(_shown(row))
        if len(rows) >= 3000:
            break
    return rows
