"""The DB-API's connection: opening, closing, and what it is made of."""

import os
import sys
import warnings
import weakref
from _thread import RLock, get_ident

from pypy_module.dbapi import constants, errors
from pypy_module.dbapi import cursor as cursors
from pypy_module.dbapi.connections.backup import Backup
from pypy_module.dbapi.connections.callbacks import Calls
from pypy_module.dbapi.connections.functions import Functions
from pypy_module.dbapi.connections.hooks import Hooks
from pypy_module.dbapi.connections.limits import Settings
from pypy_module.dbapi.connections.transactions import LEGACY, Transactions, checked_autocommit, checked_level
from pypy_module.dbapi.deprecation import one_positional
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements.execution import Execution
from pypy_module.dbapi.statements.statement_cache import StatementCache
from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib

OPEN_FLAGS = NUMBERS['SQLITE_OPEN_READWRITE'] | NUMBERS['SQLITE_OPEN_CREATE']
OPEN_URI = NUMBERS['SQLITE_OPEN_URI']
KEYWORD_ONLY = ("'timeout', 'detect_types', 'isolation_level', 'check_same_thread', 'factory', "
                "'cached_statements' and 'uri'")


class Connection(Execution, StatementCache, Transactions, Functions, Hooks, Backup, Settings):
    """A connection to a database; made by `connect`.

    Attributes:
        row_factory: given to new cursors (see `Cursor`).
        detect_types: PARSE_DECLTYPES, PARSE_COLNAMES, both added, or 0 (int).
    """

    _db: Any = NULL
    _closing: Any = NULL  # the database, when it could not be closed yet
    _thread = 0
    _initialised = False

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    @one_positional('_sqlite3.Connection()', KEYWORD_ONLY, first=1)
    def __init__(self, database, timeout=5.0, detect_types=0, isolation_level='',
                 check_same_thread=True, factory=None, cached_statements=128, uri=False, *,
                 autocommit=LEGACY):
        """Open a database; see `connect` for the arguments."""
        sys.audit('sqlite3.connect', database)
        name = os.fsencode(database)
        if b'\0' in name:
            raise ValueError('embedded null byte')
        level = checked_level(isolation_level)
        autocommit = checked_autocommit(autocommit)
        milliseconds = int(float(timeout) * 1000)
        if self._initialised:
            self._initialised = False
            self._shut(False)
        self._db = self._open_database(name, OPEN_URI if uri else 0)
        lib.sqlite3_busy_timeout(self._db, milliseconds)
        self.detect_types = detect_types
        self._without_type = bool(detect_types & constants.PARSE_COLNAMES)
        self._lock = RLock()
        self._runners: list = []
        self._raised = None
        self._calls = Calls()
        self._blobs = None  # a WeakSet, from the first blob on
        self._dropped = []  # blobs (sqlite3_blob *) to be closed before anything is written
        self._open_statements(cached_statements)
        self._open_functions()
        self._isolation_level = level
        self._autocommit = autocommit
        self._set_begin_flag()
        self.row_factory = None
        self.text_factory = str
        self._thread = get_ident()
        self._check_same_thread = check_same_thread
        self._user = self._thread if check_same_thread else -1
        self._initialised = True
        sys.audit('sqlite3.connect/handle', self)
        if autocommit is False:
            self._exec('BEGIN')

    @staticmethod
    def _open_database(name, flags):
        """Open the database `name` (bytes); return its `sqlite3 *`."""
        result = ffi.new('sqlite3 *[1]')
        rc = lib.sqlite3_open_v2(name, result, OPEN_FLAGS | flags, NULL)
        if rc:
            if not result[0]:
                raise MemoryError
            error = errors.from_database(result[0])
            lib.sqlite3_close_v2(result[0])
            raise error
        return result[0]

    def __del__(self):
        if self._closing:
            self._shut(True)
        if self._db:
            warnings.warn('unclosed database in %r' % self, ResourceWarning, stacklevel=1,
                          source=self)
            self._shut(True)

    def _shut(self, busy_too):
        """Close the database, rolling back with autocommit off.

        Args:
            busy_too: finalise statements that cursors are in the middle of, too (bool).
        """
        error = None
        if not self._db:
            if self._closing and not self._calls.depth:
                self._close_database()
            return
        self._before_c_call_that_may_write()
        for blob in list(self._blobs or ()):
            blob._release()
        if self._autocommit is False and not lib.sqlite3_get_autocommit(self._db):
            try:
                self._exec('ROLLBACK')
            except errors.Error as raised:
                error = raised
        self._user = 0
        self._closing, self._db = self._db, NULL
        if not self._calls.depth:
            self._close_database(busy_too)
        # Else SQLite is in the middle of something; close() and __del__ come back to it.
        if error is not None:
            raise error

    def _close_database(self, busy_too=True):
        """Close the database in C; for `busy_too` see `_shut`."""
        self._close_statements(busy_too)
        db, self._closing = self._closing, NULL
        lib.sqlite3_close_v2(db)
        self._close_functions()

    def close(self):
        """Close the database. An open transaction isn't committed."""
        self._check_thread()
        if not self._initialised:
            raise errors.ProgrammingError('Base Connection.__init__ not called.')
        with self._lock:
            self._shut(True)

    def _reference(self):
        """Return a weak reference to the connection, for callbacks that it owns."""
        return weakref.ref(self)

    def _check_thread(self):
        """Raise ProgrammingError in a thread that may not use the connection."""
        if self._thread and self._check_same_thread and self._thread != get_ident():
            raise errors.ProgrammingError(
                'SQLite objects created in a thread can only be used in that same thread. The '
                'object was created in thread id %d and this is thread id %d.'
                % (self._thread, get_ident()))

    def _check_open(self):
        """Raise ProgrammingError if the connection is closed."""
        if not self._initialised:
            raise errors.ProgrammingError('Base Connection.__init__ not called.')
        if not self._db:
            raise errors.ProgrammingError('Cannot operate on a closed database.')

    def _check(self):
        """Raise ProgrammingError unless the connection can be used here and now."""
        self._check_thread()
        self._check_open()

    @property
    def text_factory(self):
        """What makes the values of texts: `str` (the default), or a callable of bytes."""
        return self._text_factory

    @text_factory.setter
    def text_factory(self, factory):
        self._before_c_call_that_may_write()
        self._text_factory = factory
        # Whether rows can be decoded by the generated functions.
        self._plain = factory is str and not self.detect_types

    def cursor(self, factory=cursors.Cursor):
        """Return a new cursor; `factory` is `Cursor` or a callable that returns one of its kind."""
        self._check()
        cursor = factory(self)
        if not issubclass(type(cursor), cursors.Cursor):
            raise TypeError('factory must return a cursor, not ' + type(cursor).__name__)
        if self.row_factory is not None:
            cursor.row_factory = self.row_factory
        return cursor

    def _cursor(self):
        """Return a new Cursor, made the short way."""
        if self._user != get_ident():
            self._check()
        cursor = cursors.Cursor.__new__(cursors.Cursor)
        cursor._connection = self
        cursor._ready = True
        if self.row_factory is not None:
            cursor.row_factory = self.row_factory
        return cursor

    def execute(self, sql, parameters=(), /):
        """Run one SQL statement with a new cursor, and return the cursor; see Cursor.execute."""
        return self._cursor().execute(sql, parameters)

    def executemany(self, sql, parameters, /):
        """Run a statement for each item of `parameters`; see Cursor.executemany."""
        return self._cursor().executemany(sql, parameters)

    def executescript(self, sql_script, /):
        """Run several SQL statements; see Cursor.executescript."""
        return self._cursor().executescript(sql_script)

    def __call__(self, sql, /):
        """Prepare `sql` (str) and return its Statement; raises what preparing it raises."""
        self._check()
        if not isinstance(sql, str):
            raise TypeError('argument 1 must be str, not ' + type(sql).__name__)
        return self._prepare(sql)


_open = vars(Connection)['__init__'].__wrapped__     # without its warning


def _connected(*args, **keywords):
    """`connect`; what isn't given isn't passed on: the factory may have other defaults."""
    factory = args[5] if len(args) > 5 else keywords.get('factory', Connection)
    if factory is Connection or factory is None:
        connection = Connection.__new__(Connection)
        _open(connection, *args, **keywords)
        return connection
    return factory(*args, **keywords)


@one_positional('sqlite3.connect()', KEYWORD_ONLY, run=_connected)
def connect(database, timeout=5.0, detect_types=0, isolation_level='', check_same_thread=True,
            factory=Connection, cached_statements=128, uri=False, *, autocommit=LEGACY):
    """Open a database and return its Connection.

    Args:
        database: path of the file (str, bytes or path object), ':memory:', or with `uri` an URI.
        timeout: how long to wait for locks of others, in seconds (float).
        detect_types: PARSE_DECLTYPES, PARSE_COLNAMES, or both added: by what converters are found.
        isolation_level: how transactions are begun before a change: '' (deferred), 'DEFERRED',
            'IMMEDIATE', 'EXCLUSIVE', or None: not at all.
        check_same_thread: whether other threads are refused (bool).
        factory: the class to make, a Connection.
        cached_statements: how many prepared statements are kept (int).
        uri: whether `database` is an URI (bool).
        autocommit: True, False, or LEGACY_TRANSACTION_CONTROL (as `isolation_level` says).
    Raises:
        OperationalError: the file can't be opened.
    """
