"""Runs a script over a DB-API module, sqlite3 or sqpyte, with capi_session's verbs.

A kept statement is a cursor.  Besides run, fail and echo there are Python functions and
aggregates that an inliner would like to inline: twice(x), second(x, y), pysum(x), pylist(x).
"""
import os
import re

from tests.differential.sessions.scripts import CONNECTIONS, MOST_CALLS, digest, render, render_row

_PARAMETER = re.compile(r"\?(\d)")


class PySum:
    """Sums the numbers; anything else counts as one."""

    def __init__(self):
        self.sum = 0

    def step(self, value):
        self.sum += value if isinstance(value, (int, float)) else 1

    def finalize(self):
        return self.sum if abs(self.sum) < 2 ** 63 else float(self.sum)


class PyList:
    """All values, as a text that shows their types; an empty blob is an error."""

    def __init__(self):
        self.values = []

    def step(self, value):
        if value == b"":
            raise ValueError("no empty blobs")
        self.values.append(render(value))

    def finalize(self):
        return ",".join(self.values)


def twice(value):
    """value + value; TypeError for NULL, OverflowError for great integers."""
    return value + value


def second(first, value):
    """The second argument."""
    return value


def text_of(data):
    """The text factory: str with surrogate escapes, as in capi.py."""
    return data.decode("utf-8", "surrogateescape")


class Session:
    """One run of a script.

    Args: module, with sqlite3's interface; script, see scripts.py, where `isolation_level` and
    `text_factory` (True: text_of) may be given too; directory, for the file (str).
    """

    def __init__(self, module, script, directory):
        self.module = module
        self.cursors = {}
        self.rows = {}
        self.calls = 0
        self.connections = []
        self.path = None if script["storage"] == "memory" else os.path.join(directory, "test.db")
        for _ in range(CONNECTIONS[script["storage"]]):
            self._open(script, os.path.join(directory, "test.db"))

    def _open(self, script, path):
        storage, image = script["storage"], script["image"]
        level = script.get("isolation_level")
        if storage == "memory":
            connection = self.module.connect(":memory:", isolation_level=level, timeout=0)
            if image:
                connection.deserialize(image)
        else:
            if not self.connections:
                for suffix in ("-wal", "-shm", "-journal"):
                    if os.path.exists(path + suffix):
                        os.unlink(path + suffix)
                with open(path, "wb") as file:
                    file.write(image or b"")
            uri = "file:%s%s" % (path, "?cache=shared" if storage == "shared" else "")
            connection = self.module.connect(uri, uri=True, isolation_level=level, timeout=0)
        self.connections.append(connection)
        if script.get("text_factory"):
            connection.text_factory = text_of
        self._functions(connection)
        pragmas = ["PRAGMA synchronous=OFF"] + script["pragmas"]
        if storage == "wal":
            pragmas.insert(0, "PRAGMA journal_mode=WAL")
        for pragma in pragmas:
            try:
                connection.execute(pragma).fetchall()
            except self.module.Error:
                pass        # the database is corrupt: the actions will tell

    def _functions(self, connection):
        def run(sql):
            self.calls += 1
            if self.calls > MOST_CALLS:
                raise ValueError("run() has been called too often")
            return "%d rows" % len(connection.execute(sql).fetchall())

        def fail(value):
            if value:
                raise ValueError("failed")
            return value

        connection.create_function("run", 1, run)
        connection.create_function("fail", 1, fail)
        connection.create_function("echo", 1, lambda value: value)
        connection.create_function("twice", 1, twice, deterministic=True)
        connection.create_function("second", 2, second)
        connection.create_aggregate("pysum", 1, PySum)
        connection.create_aggregate("pylist", 1, PyList)

    def perform(self, actions):
        """The transcript of the actions, state at the end included."""
        transcript = []
        for action in actions:
            connection = self.connections[action[1] % len(self.connections)]
            transcript.append(getattr(self, action[0])(connection, *action[2:]))
        entry = []
        for cursor in self.cursors.values():
            cursor.close()
        for connection in self.connections:
            entry.append("in transaction: %s, %d changes" % (
                connection.in_transaction, connection.total_changes))
            connection.close()
        return transcript + [entry]

    def _failed(self, error):
        if isinstance(error.__context__, UnicodeEncodeError):
            # From 3.12 on CPython raises whatever error the connection has had last in its place.
            error = error.__context__
        if isinstance(error, self.module.Error):
            return "%s %s: %s" % (
                type(error).__name__, getattr(error, "sqlite_errorcode", None), error)
        return type(error).__name__

    # the verbs

    def run(self, connection, sql, *parameters):
        """Run a statement to its end: its rows."""
        entry = []
        cursor = connection.cursor()
        try:
            cursor.execute(sql, _bound(sql, parameters))
            for row in cursor:
                entry.append(render_row(row, sql))
        except Exception as error:
            entry.append(self._failed(error))
        entry.append(_about(cursor))
        cursor.close()
        return entry

    def many(self, connection, sql, rows):
        """`executemany`, and a commit."""
        cursor = connection.cursor()
        entry = []
        try:
            cursor.executemany(sql, rows)
            connection.commit()
        except Exception as error:
            entry.append(self._failed(error))
        entry.append(_about(cursor))
        return entry

    def prepare(self, connection, key, sql, *parameters):
        """Execute a statement on a cursor that is kept under key."""
        if key in self.cursors:
            self.cursors.pop(key).close()
        cursor = self.cursors[key] = connection.cursor()
        self.rows[key] = None
        entry = []
        try:
            cursor.execute(sql, _bound(sql, parameters))
        except Exception as error:
            entry.append(self._failed(error))
        return entry + [_about(cursor)]

    def step(self, connection, key, count):
        """Fetch up to count rows: one at a time, all, or many, as count says."""
        entry = []
        if key not in self.cursors:
            return ["no cursor"]
        cursor = self.cursors[key]
        try:
            if count == 3:
                rows = cursor.fetchmany(3)
            elif count == 1:
                row = cursor.fetchone()
                rows = [] if row is None else [row]
            else:
                rows = iter(cursor)
            for row in rows:
                self.rows[key] = row
                entry.append(render_row(row))
                if len(entry) == count:
                    return entry + [_about(cursor)]
            entry.append("done")
        except Exception as error:
            entry.append(self._failed(error))
        return entry + [_about(cursor)]

    def current(self, connection, key, sql, *parameters):
        """Run a statement with the first column of a cursor's last row as ?1."""
        row = self.rows.get(key)
        return self.run(connection, sql, row[0] if row else None, *parameters)

    def reset(self, connection, key, *parameters):
        """Commit: sqlite3 has no reset."""
        return self.commit(connection)

    def finalize(self, connection, key):
        """Close a cursor."""
        if key in self.cursors:
            self.cursors.pop(key).close()
        return ["closed"]

    def interrupt(self, connection):
        """Interrupt every running statement of the connection."""
        connection.interrupt()
        return ["interrupted"]

    def commit(self, connection):
        """`commit`."""
        try:
            connection.commit()
        except Exception as error:
            return [self._failed(error)]
        return ["in transaction: %s" % connection.in_transaction]

    def rollback(self, connection):
        """`rollback`."""
        try:
            connection.rollback()
        except Exception as error:
            return [self._failed(error)]
        return ["in transaction: %s" % connection.in_transaction]

    def image(self, connection):
        """The database file's digest, read as in capi_session."""
        reader = connection
        try:
            if self.path:
                reader = self.module.connect(self.path, timeout=0)
            data = reader.serialize()
        except self.module.Error as error:
            return [self._failed(error)]
        finally:
            if reader is not connection:
                reader.close()
        return [digest(data)]


def _about(cursor):
    names = cursor.description and [column[0] for column in cursor.description]
    return "columns %a, rowcount %s, lastrowid %s" % (names, cursor.rowcount, cursor.lastrowid)


def _bound(sql, parameters):
    """As many of parameters as sql has, for sqlite3 wants the exact number."""
    count = max([0] + [int(number) for number in _PARAMETER.findall(sql)])
    return tuple((parameters + (None,) * count)[:count])
