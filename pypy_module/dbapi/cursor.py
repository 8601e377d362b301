"""The DB-API's cursor.

A cursor is always one row ahead, as in sqlite3: when it hands row k out, the statement has been
stepped to row k+1, and an error met there is raised instead of row k. A query that can return one
row only is finished, and its statement free again, before `execute` returns.
"""

from _thread import get_ident

from pypy_module.dbapi import errors
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import decoding, tiers
from pypy_module.dbapi.statements.executemany import ExecuteMany
from pypy_module.ffi.library import NUMBERS, lib

OK, ROW, DONE = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
LAST, GROW = NUMBERS['SQPYTE_LAST'], NUMBERS['SQPYTE_GROW']
CHANGES, ROWID = NUMBERS['SQPYTE_ROW_CHANGES'], NUMBERS['SQPYTE_ROW_ROWID']

step = lib.sqpyte_step


class Cursor(ExecuteMany):
    """Runs statements and hands out their rows; made by `Connection.cursor()`.

    Attributes:
        arraysize: how many rows `fetchmany` fetches unless told otherwise (int).
        row_factory: None for tuples, or a callable of (cursor, tuple) that makes the rows.
    """

    _connection: Any = None
    _ready = False        # initialised, not closed and not in the middle of something
    _closed = False
    _statement: Any = None  # whose rows are being fetched; the buffer holds the next one
    _runner: Any = None   # of the inliner, in place of a statement
    _sentinel: Any = None  # see Sentinel; while it is in the middle of its rows
    _row: Any = None      # the next row, if it has been decoded already
    _converters: Any = None
    _description: Any = None
    _rowcount = -1
    _lastrowid: Any = None
    arraysize = 1
    row_factory: Any = None

    def __init__(self, connection, /):
        """Make a cursor on a Connection; raises ProgrammingError in a thread that isn't its."""
        from pypy_module.dbapi.connection import Connection
        if not isinstance(connection, Connection):
            raise TypeError('Cursor() argument 1 must be sqlite3.Connection, not '
                            + type(connection).__name__)
        if self._connection is not None and not self._closed:
            self._check_ready()
        self._drop()
        self._connection = connection
        connection._check_thread()
        self._closed = False
        self._row = self._description = self._lastrowid = self.row_factory = None
        self._rowcount = -1
        self.arraysize = 1
        self._ready = True

    @property
    def connection(self):
        """The Connection that the cursor belongs to."""
        return self._connection

    @property
    def description(self):
        """Per column a tuple of its name and six None; None if the statement has no columns."""
        columns = self._description
        return None if columns is None else columns.description

    @property
    def rowcount(self):
        """How many rows the last INSERT, UPDATE, DELETE or REPLACE changed (int), else -1."""
        return self._rowcount

    @property
    def lastrowid(self):
        """Rowid of the last row that was inserted (int), None before the first `execute`."""
        return self._lastrowid

    def _check(self):
        """Raise ProgrammingError unless the cursor can be used here and now."""
        if self._connection is None:
            raise errors.ProgrammingError('Base Cursor.__init__ not called.')
        if self._closed:
            raise errors.ProgrammingError('Cannot operate on a closed cursor.')
        self._connection._check_thread()
        self._connection._check_open()

    def _check_ready(self):
        """Raise ProgrammingError in the middle of something; with the connection's lock held."""
        if not self._ready:
            raise errors.ProgrammingError('Recursive use of cursors not allowed.')

    def execute(self, sql, parameters=(), /):
        """Run one SQL statement; return the cursor itself.

        Args:
            sql: the statement (str).
            parameters: a sequence for `?`, or a dict for `:name` (without the colon).
        Raises:
            ProgrammingError: there are several statements, or the parameters don't fit.
            Error: as SQLite says.
        """
        if self._ready and self._connection._user == get_ident():
            return self._execute(sql, parameters)
        self._check()
        with self._connection._lock:
            self._check_ready()
            return self._execute(sql, parameters)

    def _execute(self, sql, parameters):
        """`execute` without its checks."""
        connection = self._connection
        if self._statement is not None or self._runner is not None:
            self._drop()
        self._ready = False
        self._row = self._description = None
        try:
            statement = connection._acquire(sql)
            self._rowcount = 0 if statement.is_dml else -1
            if statement.inlinable:
                rc = connection._plan(self, statement, parameters)
            else:
                rc = connection._run(statement, parameters)
            cells = statement.cells
            if rc == DONE:
                if statement.is_dml:
                    self._rowcount = cells[CHANGES]
                self._description = statement.description
                self._lastrowid = cells[ROWID]
                statement.busy = False
                if not statement.cached:
                    connection._retire(statement)
            elif rc == LAST:
                try:
                    self._row = statement.decode(cells, statement.doubles, statement.texts)
                except UnicodeDecodeError:
                    self._row = Undecodable.of(statement)
                self._description = statement.description
                self._lastrowid = cells[ROWID]
                statement.busy = False
                if not statement.cached:
                    connection._retire(statement)
            else:
                self._started(statement, rc)
            if connection._raised is not None:
                self._drop()
                connection._reraise()
            return self
        except BaseException:
            self._rowcount = -1
            raise
        finally:
            self._ready = True

    def _started(self, statement, rc):
        """Take a statement over after `_run` if it isn't finished: it is at a row, or empty."""
        connection = self._connection
        if rc == ROW:
            if statement.one_row and connection._plain:
                statement.short = True
            self._statement = statement
            statement.owner = connection._watch(self, statement)
            self._description = statement.description
            self._lastrowid = statement.cells[ROWID]
            if connection.detect_types:
                self._converters = connection._converters(statement)
        elif rc == tiers.INLINED:
            statement.owner = connection._watch(self, statement)
            self._description = statement.description
            self._lastrowid = statement.cells[ROWID]

    def executescript(self, sql_script, /):
        """Run several SQL statements, after a COMMIT if a transaction is open; return the cursor.

        Args:
            sql_script: the statements (str), without parameters; rows are dropped.
        Raises:
            Error: as SQLite says.
        """
        if not isinstance(sql_script, str):
            raise TypeError('executescript() argument must be str, not '
                            + type(sql_script).__name__)
        if '\0' in sql_script:
            raise ValueError('embedded null character')
        self._check()
        with self._connection._lock:
            self._check_ready()
            self._connection._script(sql_script)
        return self

    def __iter__(self):
        """Return the cursor itself, whose `next` is the next row."""
        return self

    def __next__(self):
        """Return the next row; raises StopIteration after the last one."""
        row = self._fetch()
        if row is None:
            raise StopIteration
        factory = self.row_factory
        if factory is not None:
            return factory(self, row)
        return row

    def fetchone(self):
        """Return the next row, or None after the last one."""
        row = self._fetch()
        if row is not None and self.row_factory is not None:
            return self.row_factory(self, row)
        return row

    def fetchmany(self, size=None):
        """Return a list of the next `size` rows (int, `arraysize` unless given), or of all left."""
        if size is None:
            size = self.arraysize
        rows: list = []
        while True:
            row = self._fetch()
            if row is None:
                return rows
            factory = self.row_factory
            rows.append(row if factory is None else factory(self, row))
            if len(rows) == size:
                return rows

    def fetchall(self):
        """Return a list of all rows left."""
        rows: list = []
        while True:
            row = self._fetch()
            if row is None:
                return rows
            factory = self.row_factory
            rows.append(row if factory is None else factory(self, row))

    def _fetch(self):
        """Return the next row as a tuple, before the row factory, or None after the last one."""
        if self._ready and self._connection._user == get_ident():
            return self._advance()
        self._check()
        with self._connection._lock:
            self._check_ready()
            return self._advance()

    def _advance(self):
        """`_fetch` without its checks."""
        statement = self._statement
        row = self._row
        if row is not None:
            self._row = None
            if not self._connection._plain or type(row) is not tuple:
                row = self._decoded_early(row)
            if statement is None:
                if self._runner is not None:
                    self._pass_row()
                return row
        elif statement is None:
            if self._runner is not None:
                return self._advance_inlined()
            return None
        elif self._connection._plain:
            try:
                row = statement.decode(statement.cells, statement.doubles, statement.texts)
            except UnicodeDecodeError:
                raise errors.OperationalError(decoding.undecodable(statement)) from None
        else:
            row = self._convert(statement)
        tier_up = statement.tier_up - 1
        statement.tier_up = tier_up
        self._ready = False
        try:
            if tier_up == 0:
                rc = self._taken_over(statement)
            else:
                rc = step(statement.pointer, statement.cells)
        finally:
            self._ready = True
        if rc != ROW or self._connection._raised is not None:
            self._stepped(statement, rc)
        return row

    def _taken_over(self, statement):
        """Step, or have the inliner take the statement over."""
        try:
            return tiers.planner.take_over(self._connection, self, statement)
        except BaseException:
            self._drop()
            raise

    def _stepped(self, statement, rc):
        """Deal with a step that found no further row; raises SQLite's error."""
        connection = self._connection
        if rc == GROW:
            rc = statement.grow()
        if rc == tiers.INLINED:
            return
        if rc == DONE:
            if statement.is_dml:
                self._rowcount = statement.cells[CHANGES]
            self._statement = None
            connection._release(statement)
        elif rc != ROW:
            error = errors.from_database(connection._db)
            self._drop()
            raise error
        if connection._raised is not None:
            self._drop()
            connection._reraise()

    def _advance_inlined(self):
        """Return the inliner's next row, or None after the last one."""
        self._ready = False
        try:
            return next(self._runner)
        except BaseException:
            if self._runner is not None and self._row is None:
                self._drop()
            raise
        finally:
            self._ready = True

    def _pass_row(self):
        """Have the inliner go past a row that the cursor had kept."""
        self._ready = False
        try:
            self._runner.pass_row(self)
        except BaseException:
            if self._runner is not None:
                self._drop()
            raise
        finally:
            self._ready = True

    def _convert(self, statement):
        """Return the present row as text factory and converters make it."""
        self._ready = False
        try:
            return decoding.convert(statement, self._connection.text_factory, self._converters)
        except UnicodeDecodeError:
            raise errors.OperationalError(decoding.undecodable(statement)) from None
        finally:
            self._ready = True

    def _decoded_early(self, row):
        """Return a row that was decoded early, as the text factory makes it; it is kept if that fails."""
        values = row
        factory = self._connection.text_factory
        if type(row) is Undecodable:
            if factory is str:
                self._row = row
                raise errors.OperationalError(row.message)
            values = row.values
        if factory is str:
            return values
        ready, self._ready = self._ready, False
        try:
            return tuple([factory(value.encode('utf-8', 'surrogateescape'))
                          if isinstance(value, str) else value for value in values])
        except BaseException:
            self._row = row
            raise
        finally:
            self._ready = ready

    def _drop(self):
        """Give up the rows that are left."""
        self._row = None
        self._converters = None
        statement, self._statement = self._statement, None
        if statement is not None:
            statement.reset()
            self._connection._release(statement)
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.abandon()

    def close(self):
        """Give up the rows that are left; the cursor can't be used any more."""
        if self._connection is None:
            raise errors.ProgrammingError('Base Cursor.__init__ not called.')
        self._connection._check_thread()
        self._connection._check_open()
        if not self._closed:
            with self._connection._lock:
                self._check_ready()
                self._drop()
                self._closed = True
                self._ready = False

    def setinputsizes(self, sizes, /):
        """Do nothing; the DB-API asks for it."""

    def setoutputsize(self, size, column=None, /):
        """Do nothing; the DB-API asks for it."""


class Undecodable:
    """A row, decoded by `execute`, with a text that isn't UTF-8.

    Attributes:
        message: of the error that fetching it raises (str).
        values: the row (tuple), with such texts decoded by `surrogateescape`.
    """

    def __init__(self, message, values):
        self.message = message
        self.values = values

    @classmethod
    def of(cls, statement):
        """The present row of a statement."""
        return cls(decoding.undecodable(statement), decoding.convert(
            statement, lambda data: data.decode('utf-8', 'surrogateescape'), None))
