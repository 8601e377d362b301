"""The DB-API's cursor: its surface; what it does is result_set.py's."""

from _thread import get_ident

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.arguments import c_int, checked_text
from pypy_module.dbapi.connections.session import own, session_of
from pypy_module.dbapi.mixin import TYPE_CHECKING, Any
from pypy_module.dbapi.statements.result_set import ResultSet


class _Arraysize:
    """What `fetchmany` has for its size if none is given."""

    def __repr__(self):
        return '1'      # as help() of sqlite3 says


ARRAYSIZE: Any = _Arraysize()


class Cursor:
    """Runs statements and hands out their rows; made by `Connection.cursor()`."""

    # What can be set is the ResultSet's: there, what isn't set is a constant in machine code.
    __slots__ = ('_result_', '_connection_', '__weakref__')
    if TYPE_CHECKING:
        _result_: ResultSet
        _connection_: Any

    def __getattr__(self, name):
        """What isn't set before `__init__`."""
        if name == '_result_':
            return NEVER_READY
        if name == '_connection_':
            return None
        raise AttributeError('%r object has no attribute %r' % (type(self).__name__, name))

    def _set_(self, result, connection):
        """Set what the cursor is made of, past a `__setattr__` of a class that derives from this one."""
        object.__setattr__(self, '_result_', result)
        object.__setattr__(self, '_connection_', connection)

    __reduce_ex__ = errors.not_copied('Cursor')

    def __init__(self, connection, /):
        """Make a cursor on a Connection; raises ProgrammingError in a thread that isn't its."""
        session = session_of(connection)
        if session is None:
            raise TypeError('Cursor() argument 1 must be sqlite3.Connection, not ' + errors.kind(connection))
        if own(self, '_connection_', None) is not None:
            if not self._result_.closed:
                self._check_ready_()
            self._result_.drop()
        session.check_thread()
        self._set_(ResultSet(session), connection)
        self._result_.rollbacks = session.rollbacks
        self._result_.ready = True

    @property
    def connection(self):
        """The Connection that the cursor belongs to."""
        return self._connection_

    @property
    def row_factory(self):
        """None for tuples, or a callable of (cursor, tuple) that makes the rows."""
        return self._result_.row_factory

    @row_factory.setter
    def row_factory(self, factory):
        self._settable_().row_factory = factory

    @property
    def arraysize(self):
        """How many rows `fetchmany` fetches unless told otherwise (int)."""
        return self._result_.arraysize

    @arraysize.setter
    def arraysize(self, size):
        self._settable_().arraysize = c_int(size)

    def _settable_(self):
        """Return the ResultSet; one of its own, also before `__init__`."""
        if self._result_ is NEVER_READY:
            self._set_(ResultSet(None), self._connection_)
        return self._result_

    @property
    def description(self):
        """Per column a tuple of its name and six None; None if the statement has no columns."""
        columns = self._result_.columns
        return None if columns is None else columns.description

    @property
    def rowcount(self):
        """How many rows the last INSERT, UPDATE, DELETE or REPLACE changed (int), else -1."""
        return self._result_.rowcount

    @property
    def lastrowid(self):
        """Rowid of the last row that was inserted (int), None before the first `execute`."""
        return self._result_.lastrowid

    def _check_(self):
        """Raise ProgrammingError unless the cursor can be used here and now."""
        if self._connection_ is None:
            raise errors.ProgrammingError('Base Cursor.__init__ not called.')
        if self._result_.closed:
            raise errors.ProgrammingError('Cannot operate on a closed cursor.')
        session_of(self._connection_).check()

    def _check_ready_(self):
        """Raise ProgrammingError in the middle of something; with the connection's lock held."""
        if not self._result_.ready:
            raise errors.ProgrammingError('Recursive use of cursors not allowed.')

    def _check_locked_(self):
        """The same, and if another thread has closed the connection before the lock was had."""
        self._check_ready_()
        self._result_.session.check_open()

    def _ready_to_execute_(self):
        """Return the ResultSet, at the connection's present database, or raise ProgrammingError."""
        self._check_()
        result = self._result_
        session = session_of(self._connection_)
        if result.session is not session:   # the connection's `__init__` has been called anew
            with result.session.lock:
                self._check_ready_()
                result.drop()
                result.session = session
        return result

    def execute(self, sql, parameters=(), /):
        """Run one SQL statement; return the cursor itself.

        Args:
            sql: the statement (str).
            parameters: a sequence for `?`, or a dict for `:name` (without the colon).
        Raises:
            ProgrammingError: there are several statements (Warning before Python 3.11), or the parameters don't fit.
            Error: as SQLite says.
        """
        result = self._result_
        if result.ready and result.session.user == get_ident():
            result.execute(sql, parameters)
            return self
        result = self._ready_to_execute_()
        with result.session.lock:
            self._check_locked_()
            result.execute(sql, parameters)
            return self

    def executemany(self, sql, seq_of_parameters, /):
        """Run one INSERT, UPDATE, DELETE or REPLACE for each item of `seq_of_parameters`.

        Args:
            sql: the statement (str).
            seq_of_parameters: an iterable of what `execute` takes.
        Returns:
            the cursor itself.
        Raises:
            ProgrammingError: it is another kind of statement.
            Error: as SQLite says.
        """
        result = self._ready_to_execute_()
        with result.session.lock:
            self._check_locked_()
            result.execute_many(sql, seq_of_parameters)
        return self

    def executescript(self, sql_script, /):
        """Run several SQL statements, after a COMMIT unless `autocommit` is set; return the cursor.

        Args:
            sql_script: the statements (str), without parameters; rows are dropped.
        Raises:
            Error: as SQLite says.
        """
        if not isinstance(sql_script, str) and not versions.SCRIPT_TYPE:
            raise ValueError('script argument must be unicode.')
        checked_text(sql_script, 'executescript() argument')
        result = self._result_
        if result.ready and result.session.user == get_ident():
            result.session.run_script(sql_script)
            return self
        session = self._ready_to_execute_().session
        with session.lock:
            self._check_locked_()
            session.run_script(sql_script)
        return self

    def __iter__(self):
        """Return the cursor itself, whose `next` is the next row."""
        return self

    def __next__(self):
        """Return the next row; raises StopIteration after the last one."""
        row = self._fetch_()
        if row is None:
            raise StopIteration
        factory = self._result_.row_factory
        if factory is not None:
            return factory(self, row)
        return row

    def fetchone(self):
        """Return the next row, or None after the last one."""
        row = self._fetch_()
        if row is not None and self._result_.row_factory is not None:
            return self._result_.row_factory(self, row)
        return row

    def fetchmany(self, size=ARRAYSIZE):
        """Return a list of the next `size` rows (int, `arraysize` unless given), of all left if it is not positive."""
        size = self._result_.arraysize if size is ARRAYSIZE else c_int(size)
        rows: list = []
        while True:
            row = self._fetch_()
            if row is None:
                return rows
            factory = self._result_.row_factory
            rows.append(row if factory is None else factory(self, row))
            if len(rows) == size:
                return rows

    def fetchall(self):
        """Return a list of all rows left."""
        rows: list = []
        while True:
            row = self._fetch_()
            if row is None:
                return rows
            factory = self._result_.row_factory
            rows.append(row if factory is None else factory(self, row))

    def _fetch_(self):
        """Return the next row as a tuple, before the row factory, or None after the last one."""
        result = self._result_
        if result.ready and result.session.user == get_ident():
            return result.advance()
        self._check_()
        with result.session.lock:
            self._check_ready_()
            result.session.check_not_closed()
            return result.advance()

    def close(self):
        """Give up the rows that are left; the cursor can't be used any more."""
        if self._connection_ is None:
            raise errors.ProgrammingError('Base Cursor.__init__ not called.')
        result = self._result_
        session_of(self._connection_).check()
        if not result.closed:
            with result.session.lock:
                self._check_ready_()
                result.drop()
                result.closed = True
                result.ready = False

    def setinputsizes(self, sizes, /):
        """Do nothing; the DB-API asks for it."""

    def setoutputsize(self, size, column=None, /):
        """Do nothing; the DB-API asks for it."""


NEVER_READY = ResultSet(None)       # of a Cursor whose `__init__` hasn't been called


def opened(connection, session):
    """Return a new Cursor on a Connection that can be used here, made the short way."""
    cursor = object.__new__(Cursor)
    cursor._result_ = result = ResultSet(session)
    result.rollbacks = session.rollbacks
    cursor._connection_ = connection
    result.ready = True
    return cursor


def set_row_factory(cursor, factory):
    """Set the row factory of a Cursor, whatever a class that derives from it has by this name."""
    cursor._settable_().row_factory = factory


def columns_of(cursor):
    """Return the Columns of the statement that a Cursor ran last, or None."""
    return cursor._result_.columns
