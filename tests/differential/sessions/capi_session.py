"""Runs a script over the C API: one method for each verb.

Every verb takes the number of the connection first.  Statements kept open have names (keys).
"""
import os

from tests.differential.sessions import capi
from tests.differential.sessions.scripts import CONNECTIONS, MOST_CALLS, digest, render_row


class Session:
    """One run of a script.

    Args: library, a capi.Library; script, see scripts.py; directory, where the database file
    is put (str).
    """

    def __init__(self, library, script, directory):
        self.statements = {}
        self.connections = []
        self.calls = 0
        self.called = 0         # the progress handler
        self.handler = None
        self.stop = 0
        storage = script["storage"]
        self.library = library
        self.path = None if storage == "memory" else os.path.join(directory, "test.db")
        for _ in range(CONNECTIONS[storage]):
            self._open(library, script, os.path.join(directory, "test.db"))

    def _open(self, library, script, path):
        storage, image = script["storage"], script["image"]
        first = not self.connections
        if storage == "memory":
            connection = capi.Connection(library)
            if image is not None:
                connection.deserialize(image)
        else:
            if first:
                for suffix in ("-wal", "-shm", "-journal"):
                    if os.path.exists(path + suffix):
                        os.unlink(path + suffix)
                with open(path, "wb") as file:
                    file.write(image or b"")
            uri = "file:%s%s" % (path, "?cache=shared" if storage == "shared" else "")
            connection = capi.Connection(library, uri)
        self.connections.append(connection)
        self._functions(connection)
        pragmas = ["PRAGMA synchronous=OFF"] + script["pragmas"]
        if storage == "wal":
            pragmas.insert(0, "PRAGMA journal_mode=WAL")
        for pragma in pragmas:
            try:
                connection.execute(pragma)
            except capi.Error:
                pass        # the database is corrupt: the actions will tell

    def _functions(self, connection):
        def run(sql):
            self.calls += 1
            if self.calls > MOST_CALLS:
                raise capi.Error(1, "run() has been called too often")
            return "%d rows" % len(connection.execute(sql))

        def fail(text):
            if text:
                raise capi.Error(1, "failed: " + text)

        connection.create_function("run", run)
        connection.create_function("fail", fail)
        connection.create_function("echo", lambda text: None)
        connection.create_probes()

    def perform(self, actions):
        """The transcript of the actions, state at the end included."""
        transcript = []
        for action in actions:
            verb, number = action[0], action[1]
            connection = self.connections[number % len(self.connections)]
            transcript.append(getattr(self, verb)(connection, *action[2:]))
        transcript.append(self._end())
        return transcript

    def _end(self):
        entry = []
        for statement in self.statements.values():
            statement.finalize()
        for connection in self.connections:
            entry.append("autocommit %d, %d changes" % (
                connection.c.sqlite3_get_autocommit(connection.db),
                connection.c.sqlite3_total_changes64(connection.db)))
        for connection in self.connections:
            try:
                connection.close()
            except capi.Error as error:
                entry.append(_failed(error))
        return entry

    # the verbs

    def run(self, connection, sql, *parameters):
        """Run a statement to its end: its rows, the number of changes if it has none."""
        entry = []
        statement = None
        try:
            statement = connection.prepare(sql)
            statement.bind(parameters)
            row = statement.step()
            while row is not None:
                entry.append(render_row(row, sql))
                row = statement.step()
        except capi.Error as error:
            entry.append(_failed(error))
        if statement is not None:
            statement.finalize()
        return entry

    def progress(self, connection, period, stop=0):
        """Have a progress handler called every `period` opcodes, none for 0; its call number `stop` ends the statement:
        how often the last one was called."""
        self.stop = stop
        handler = capi.ffi.callback("int(void *)", self._note_progress) if period else capi.ffi.NULL
        connection.c.sqlite3_progress_handler(connection.db, period, handler, capi.ffi.NULL)
        called, self.called, self.handler = self.called, 0, handler
        return ["%d calls" % called]

    def _note_progress(self, _):
        self.called += 1
        return int(self.called == self.stop)

    def many(self, connection, sql, rows):
        """Run a statement once for each tuple of parameters, in one transaction if possible."""
        entry = []
        try:
            if connection.c.sqlite3_get_autocommit(connection.db):
                connection.execute("BEGIN")
            for parameters in rows:
                try:
                    connection.execute(sql, parameters)
                except capi.Error as error:
                    entry.append(_failed(error))
            connection.execute("COMMIT")
        except capi.Error as error:
            entry.append(_failed(error))
        return entry

    def prepare(self, connection, key, sql, *parameters):
        """Prepare a statement and keep it under key."""
        if key in self.statements:
            self.statements.pop(key).finalize()
        try:
            statement = connection.prepare(sql)
            self.statements[key] = statement
            statement.bind(parameters)
        except capi.Error as error:
            return [_failed(error)]
        return ["prepared"]

    def step(self, connection, key, count):
        """Step a kept statement up to count times: the rows."""
        entry = []
        if key not in self.statements:
            return ["no statement"]
        for _ in range(count):
            try:
                row = self.statements[key].step()
            except capi.Error as error:
                return entry + [_failed(error)]
            if row is None:
                return entry + ["done"]
            entry.append(render_row(row))
        return entry

    def current(self, connection, key, sql, *parameters):
        """Run a statement with the first column of a kept statement's present row as ?1."""
        statement = self.statements.get(key)
        first = statement.row[0] if statement is not None and statement.row else None
        return self.run(connection, sql, first, *parameters)

    def reset(self, connection, key, *parameters):
        """Reset a kept statement and bind parameters again."""
        if key not in self.statements:
            return ["no statement"]
        self.statements[key].reset()
        try:
            self.statements[key].bind(parameters)
        except capi.Error as error:
            return [_failed(error)]
        return ["reset"]

    def finalize(self, connection, key):
        """Free a kept statement."""
        if key in self.statements:
            self.statements.pop(key).finalize()
        return ["finalized"]

    def interrupt_writes(self, connection):
        """Interrupt whenever a row is written from now on."""
        connection.interrupt_writes()
        return ["writes interrupt"]

    def interrupt(self, connection):
        """Interrupt every running statement of the connection."""
        connection.c.sqlite3_interrupt(connection.db)
        return ["interrupted"]

    def contend(self, connection, sql):
        """Run a statement that writes the table t while the other connection first writes and then
        reads it: how often the busy handler had been called at each of its calls, and the rows."""
        other = [one for one in self.connections if one is not connection][0]
        counts = []
        reader = []

        @capi.ffi.callback("int(void *, int)")
        def busy(_, count):
            counts.append(count)
            if len(counts) == 2:
                other.execute("COMMIT")
                reader.append(other.prepare("SELECT * FROM t"))
                reader[0].step()
            elif len(counts) == 5:
                reader.pop().finalize()
            return len(counts) < 20
        other.execute("BEGIN IMMEDIATE")
        connection.c.sqlite3_busy_handler(connection.db, busy, capi.ffi.NULL)
        found = self.run(connection, sql)
        connection.c.sqlite3_busy_handler(connection.db, capi.ffi.NULL, capi.ffi.NULL)
        return ["%r" % counts] + found

    def limit(self, connection, category, value):
        """Set a run-time limit (SQLITE_LIMIT_*)."""
        connection.c.sqlite3_limit(connection.db, category, value)
        return ["limited"]

    def tier(self, connection, key):
        """The tier and the reason for it, of a kept statement; only in libraries of ours."""
        statement = self.statements[key]
        return ["tier %d, why %d" % (statement.tier(), statement.why())]

    def marks(self, connection, sql, *parameters):
        """Run a statement to its end: its rows, and what SQLite shows of their columns beside."""
        entry = []
        statement = connection.prepare(sql)
        try:
            statement.bind(parameters)
            while statement.advance():
                entry.append(", ".join(statement.marks()))
        except capi.Error as error:
            entry.append(_failed(error))
        statement.finalize()
        return entry

    def counters(self, connection, key):
        """The counters of a kept statement, SQLITE_STMTSTATUS_FULLSCAN_STEP to ..._FILTER_HIT."""
        statement = self.statements[key]
        return ["%d" % statement.c.sqlite3_stmt_status(statement.statement, i, 0) for i in range(1, 9)]

    def image(self, connection):
        """The database file's digest.

        Of a file, as a new connection reads it: after a rollback free pages in a page cache may hold what was
        rolled back, which they don't where the file is a map (stock's PRAGMA mmap_size, too)."""
        reader = connection
        try:
            if self.path:
                reader = capi.Connection(self.library, self.path)
            data = reader.serialize()
        except capi.Error as error:
            return [_failed(error)]
        finally:
            if reader is not connection:
                reader.close()
        return [digest(data)]

    def dump(self, connection):
        """The database file itself."""
        return [connection.serialize()]


def _failed(error):
    return "error %d: %s" % (error.code, error.message)
