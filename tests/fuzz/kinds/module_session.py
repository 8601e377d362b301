"""Runs a generated script over a DB-API module: tests/differential's session, with more verbs."""
import hashlib
import os

from tests.differential.sessions import module_session
from tests.differential.sessions.scripts import render_row
from tests.fuzz.kinds.session import TooLong

_INTERVAL = 500
_LENGTH, _TRIGGER_DEPTH = 0, 10     # SQLITE_LIMIT_...
_FILES = ("aux.db", "aux.db-journal", "aux.db-wal", "aux.db-shm")


class Session(module_session.Session):
    """One run of a script.

    Args: module, script and directory, as in tests/differential; watched, as in session.py.
    """

    def __init__(self, module, script, directory, watched=False):
        self.directory = directory
        self.watched = watched
        self.most = script["most_steps"] // _INTERVAL
        self.looks = 0
        self.unfit = []
        for name in _FILES:
            if os.path.exists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
        module_session.Session.__init__(self, module, script, directory)

    def _functions(self, connection):
        module_session.Session._functions(self, connection)
        connection.setlimit(_LENGTH, 1000000)
        connection.setlimit(_TRIGGER_DEPTH, 12)
        if self.watched:
            def look():
                self.looks += 1
                return self.looks > self.most
            connection.set_progress_handler(look, _INTERVAL)

    def perform(self, actions):
        """The transcript. Raises: TooLong, with the places of actions that take too long, or that aren't
        alike by intent (see `prepare`)."""
        transcript = []
        for i, action in enumerate(actions):
            connection = self.connections[action[1] % len(self.connections)]
            self.looks = 0
            entry = getattr(self, action[0])(connection, *action[2:])
            transcript.append(entry)
            if self.looks > self.most or entry is None:
                self.unfit.append(i)
        self.looks = -10 ** 9
        entry = []
        for cursor in self.cursors.values():
            cursor.close()
        for connection in self.connections:
            entry.append("in transaction: %s, %d changes" % (
                connection.in_transaction, connection.total_changes))
            connection.close()
        if self.unfit:
            raise TooLong(self.unfit)
        return transcript + [entry]

    def prepare(self, connection, key, sql, *parameters):
        """As tests/differential's. A query of one row is over here once it is executed, so that it holds no
        lock; for stock it isn't. Nor is one of RETURNING outside of a transaction. Such an action is unfit: None."""
        if self.watched and "RETURNING" in sql and not connection.in_transaction:
            return None
        if self.watched and sql[:6] in ("SELECT", "VALUES", "WITH r", "WITH w", "WITH R"):
            cursor = connection.cursor()
            try:
                cursor.execute(sql, module_session._bound(sql, parameters))
                if len(cursor.fetchmany(2)) == 1:
                    return None
            except Exception:
                pass        # once more, and noted, below
            finally:
                cursor.close()
        return module_session.Session.prepare(self, connection, key, sql, *parameters)

    def attach(self, connection, name):
        """ATTACH a database, in memory or a file beside the script's."""
        path = os.path.join(self.directory, name) if name.endswith(".db") else name
        return self.run(connection, "ATTACH ?1 AS aux", path)

    def blob(self, connection, schema, table, column, rowid, writes):
        """Open a blob and read it."""
        try:
            blob = connection.blobopen(table, column, rowid, readonly=not writes, name=schema)
            with blob:
                data = blob.read()
            return ["%d bytes, sha1 %s" % (len(data), hashlib.sha1(data).hexdigest())]
        except Exception as error:
            return [self._failed(error)]

    def contents(self, connection):
        """All schemas and rows, and what integrity_check says."""
        self.looks = -10 ** 9
        entry = []
        for row in self._rows(connection, "PRAGMA database_list", entry):
            schema = row[1]
            tables = "sqlite_temp_schema" if schema == "temp" else schema + ".sqlite_schema"
            sql = "SELECT type, name, sql, rootpage FROM %s ORDER BY rowid" % tables
            for found in self._rows(connection, sql, entry):
                entry.append(render_row(found))
                if found[0] == "table" and found[3]:
                    name = '%s."%s"' % (schema, found[1])
                    entry += [render_row(row) for row in self._rows(
                        connection, "SELECT * FROM %s LIMIT 300" % name, entry)]
        for check in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
            entry += [render_row(row) for row in self._rows(connection, check, entry)]
        return entry

    def _rows(self, connection, sql, entry):
        try:
            return connection.execute(sql).fetchall()
        except Exception as error:
            entry.append("%s: %s" % (sql, self._failed(error)))
            return []

    def image(self, connection):
        """As tests/differential's; an empty database has none."""
        try:
            return module_session.Session.image(self, connection)
        except self.module.Error as error:
            return [self._failed(error)]
