"""Runs a generated script over the C API: tests/differential's session, with more verbs, and with what a
statement leaves behind: changes(), total_changes() and last_insert_rowid().
"""
import hashlib
import os

from tests.differential.sessions import capi, capi_session
from tests.differential.sessions.scripts import render_row

MOST_ROWS = 400         # of one statement that are fetched
_SHOWN_ROWS = 30        # of a table at the end; the others are a hash
_INTERVAL = 500         # opcodes between two looks at how long a statement takes
_LONGEST = 1000         # opcodes of a program, one statement of a thousand has more: tracing it eagerly takes minutes
_LENGTH, _TRIGGER_DEPTH = 0, 10     # SQLITE_LIMIT_...


class TooLong(Exception):
    """Statements take more opcodes than the script allows, or have too many; args[0]: their places (list of int)."""


class Session(capi_session.Session):
    """One run of a script.

    Args: library, script and directory, as in capi_session; watched, whether statements are stopped after
    script["most_steps"] opcodes, as stock's are, once. Else there is a progress handler only if script["period"] is
    one: its calls are counted, action by action, and number script["stop"] of an action ends what runs.
    """

    def __init__(self, library, script, directory, watched=False):
        self.directory = directory
        self.watched = watched
        self.most = script["most_steps"] // _INTERVAL
        self.period, self.last = script.get("period", 0), script.get("stop", 0)
        self.looks = 0
        self.long = []
        self.handlers = []
        for name in ("aux.db", "aux.db-journal", "aux.db-wal", "aux.db-shm"):
            if os.path.exists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
        capi_session.Session.__init__(self, library, script, directory)

    def _functions(self, connection):
        capi_session.Session._functions(self, connection)
        connection.c.sqlite3_limit(connection.db, _LENGTH, 1000000)
        connection.c.sqlite3_limit(connection.db, _TRIGGER_DEPTH, 12)
        if self.watched:
            @capi.ffi.callback("int(void *)")
            def look(ignored):
                self.looks += 1
                return self.looks > self.most
            self._handle(connection, _INTERVAL, look)
        elif self.period:
            @capi.ffi.callback("int(void *)")
            def count(ignored):
                self.looks += 1
                return self.looks == self.last
            self._handle(connection, self.period, count)

    def _handle(self, connection, period, handler):
        self.handlers.append(handler)
        connection.c.sqlite3_progress_handler(connection.db, period, handler, capi.ffi.NULL)

    def perform(self, actions):
        """The transcript. Raises: TooLong."""
        transcript = []
        for i, action in enumerate(actions):
            connection = self.connections[action[1] % len(self.connections)]
            self.looks = 0
            transcript.append(getattr(self, action[0])(connection, *action[2:]))
            if self.period and not self.watched:
                transcript[-1] = transcript[-1] + ["%d calls of the progress handler" % self.looks]
            elif self.looks > self.most:
                self.long.append(i)
        self.looks = -10 ** 9
        transcript.append(self._end())
        if self.long:
            raise TooLong(self.long)
        return transcript

    def run(self, connection, sql, *parameters):
        """As capi_session's, with at most MOST_ROWS rows, and the counters of changes at the end."""
        entry = []
        statement = None
        if self.watched and self._opcodes(connection, sql) > _LONGEST:
            self.looks = self.most + 1
        try:
            statement = connection.prepare(sql)
            statement.bind(parameters)
            row = statement.step()
            while row is not None and len(entry) < MOST_ROWS:
                entry.append(render_row(row, sql))
                row = statement.step()
        except capi.Error as error:
            # ATTACH names the file, which each engine has in a folder of its own.
            entry.append("error %d: %s" % (error.code, error.message.replace(self.directory + os.sep, "")))
        if statement is not None:
            statement.finalize()
        c, db = connection.c, connection.db
        entry.append("%d changes of %d, rowid %d, autocommit %d" % (
            c.sqlite3_changes64(db), c.sqlite3_total_changes64(db), c.sqlite3_last_insert_rowid(db),
            c.sqlite3_get_autocommit(db)))
        return entry

    def _opcodes(self, connection, sql):
        """How many opcodes a statement's program has (int)."""
        try:
            statement = connection.prepare("EXPLAIN " + sql)
        except capi.Error:
            return 0
        count = 0
        while statement.advance():
            count += 1
        statement.finalize()
        return count

    def attach(self, connection, name):
        """ATTACH a database, in memory or a file beside the script's."""
        path = os.path.join(self.directory, name) if name.endswith(".db") else name
        return self.run(connection, "ATTACH ?1 AS aux", path)

    def blob(self, connection, schema, table, column, rowid, writes):
        """Open a blob, read it, and the one of the next row."""
        c, ffi = connection.c, capi.ffi
        pointer = ffi.new("sqlite3_blob **")
        entry = []
        code = c.sqlite3_blob_open(connection.db, schema.encode(), table.encode(), column.encode(), rowid,
                                   writes, pointer)
        while code == capi.OK:
            size = c.sqlite3_blob_bytes(pointer[0])
            data = ffi.new("char[]", size + 1)
            code = c.sqlite3_blob_read(pointer[0], data, size, 0)
            entry.append("%d bytes, %d, sha1 %s" % (
                size, code, hashlib.sha1(ffi.buffer(data, size)[:]).hexdigest()))
            rowid += 1
            code = code or c.sqlite3_blob_reopen(pointer[0], rowid)
            if len(entry) == 5:
                break
        entry.append("code %d: %s" % (code, ffi.string(c.sqlite3_errmsg(connection.db)).decode(
            "utf-8", "surrogateescape")))
        if pointer[0]:
            entry.append("closed: %d" % c.sqlite3_blob_close(pointer[0]))
        return entry

    def contents(self, connection):
        """All schemas and rows, and what integrity_check says."""
        entry = []
        for row in self._rows(connection, "PRAGMA database_list", entry):
            schema = row[1]
            tables = "sqlite_temp_schema" if schema == "temp" else schema + ".sqlite_schema"
            sql = "SELECT type, name, sql, rootpage FROM %s ORDER BY rowid" % tables
            objects = self._rows(connection, sql, entry)
            entry += [render_row(found) for found in objects]
            for kind, name, _sql, root in objects:
                if kind == "table" and root:
                    self._table(connection, '%s."%s"' % (schema, name), entry)
        for check in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
            entry += [render_row(row) for row in self._rows(connection, check, entry)]
        return entry

    def _table(self, connection, name, entry):
        rows = [render_row(row) for row in self._rows(connection, "SELECT * FROM " + name, entry)]
        digest = hashlib.sha1("\n".join(rows[_SHOWN_ROWS:]).encode()).hexdigest()
        entry.append("%s: %d rows" % (name, len(rows)))
        entry += rows[:_SHOWN_ROWS]
        if len(rows) > _SHOWN_ROWS:
            entry.append("and more, sha1 %s" % digest)

    def _rows(self, connection, sql, entry):
        if self.watched:
            self.looks = -10 ** 9
        try:
            return connection.execute(sql)
        except capi.Error as error:
            entry.append("%s: error %d: %s" % (sql, error.code, error.message))
            return []
