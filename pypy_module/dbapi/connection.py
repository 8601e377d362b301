"""The DB-API's connection: its surface, opening and closing."""

import os
import sys
import warnings
from _thread import get_ident

from pypy_module.dbapi import cursor as cursors
from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.arguments import c_double, c_int
from pypy_module.dbapi.connections.backup import Backup
from pypy_module.dbapi.connections.functions import Functions
from pypy_module.dbapi.connections.hooks import Hooks
from pypy_module.dbapi.connections.limits import Settings
from pypy_module.dbapi.connections.session import (
    NEVER_OPENED,
    POSTPONED,
    Closer,
    Owner,
    Session,
    close_dropped,
    close_postponed,
    own,
)
from pypy_module.dbapi.connections.transactions import Transactions
from pypy_module.dbapi.deprecation import one_positional, outside, standing_in
from pypy_module.dbapi.mixin import TYPE_CHECKING, exclusive, made_of
from pypy_module.dbapi.statements.statement import Statement
from pypy_module.dbapi.statements.transaction import LEGACY, checked_autocommit, checked_level

LONGEST = 2 ** 31 - 1
KEYWORD_ONLY = ("'timeout', 'detect_types', 'isolation_level', 'check_same_thread', 'factory', "
                "'cached_statements' and 'uri'")


def milliseconds_of(timeout):
    """Return a timeout in seconds (a real number) as SQLite has it (int): at most the longest that there is."""
    found = c_double(timeout) * 1000
    if -LONGEST <= found <= LONGEST:
        return int(found)
    return LONGEST if found > 0 else 0


def _one_argument(function):
    """Decorator for a method: whether the connection is open is looked at before the number of arguments."""
    def checked(self, *args):
        self._session_.check()
        if len(args) != 1:
            raise TypeError('function takes exactly 1 argument (%d given)' % len(args))
        return function(self, *args)
    return standing_in(checked, function)


def _forwarded(function):
    """Decorator for a method that a cursor has, too: before Python 3.11 that gets the arguments that were given."""
    if versions.OWN_CURSOR:
        return function
    name = function.__name__

    def forwarded(self, *args):
        return getattr(self._statements_cursor_(), name)(*args)
    return standing_in(forwarded, function)


if TYPE_CHECKING:
    class _Parts(Transactions, Functions, Hooks, Backup, Settings):
        pass
else:
    _Parts = object


@made_of(Transactions, Functions, Hooks, Backup, Settings)
class Connection(_Parts):
    """A connection to a database; made by `connect`.

    Attributes:
        row_factory: given to new cursors (see `Cursor`).
    """

    __slots__ = *Owner.__slots__, '_closer_'
    Warning = errors.exposed(errors.Warning)
    Error = errors.exposed(errors.Error)
    InterfaceError = errors.exposed(errors.InterfaceError)
    DatabaseError = errors.exposed(errors.DatabaseError)
    DataError = errors.exposed(errors.DataError)
    OperationalError = errors.exposed(errors.OperationalError)
    IntegrityError = errors.exposed(errors.IntegrityError)
    InternalError = errors.exposed(errors.InternalError)
    ProgrammingError = errors.exposed(errors.ProgrammingError)
    NotSupportedError = errors.exposed(errors.NotSupportedError)

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
        milliseconds = milliseconds_of(timeout)
        detect_types, cached_statements = c_int(detect_types), c_int(cached_statements)
        before = own(self, '_session_', NEVER_OPENED)
        session = Session() if before is NEVER_OPENED else before.supersede()
        object.__setattr__(self, '_session_', session)
        if type(self).__del__ is not Connection.__del__:
            closer = own(self, '_closer_', None)
            if closer is None:
                object.__setattr__(self, '_closer_', Closer(session))
            else:       # of the database before, whose cursors may go on: the session closes that, too
                closer.session = session
        session.open(name, uri, milliseconds, detect_types, cached_statements, check_same_thread)
        session.set_transactions(level, autocommit)
        ROW_FACTORY.__set__(self, None)
        session.initialised = True
        sys.audit('sqlite3.connect/handle', self)
        if autocommit is False:
            session.run_alone('BEGIN')

    def __del__(self):
        session = self._session_
        try:
            if session.db and not session.close_wanted and versions.UNCLOSED_WARNED_OF:
                warnings.warn('unclosed database in %r' % self, ResourceWarning, stacklevel=outside(),
                              source=self)
        finally:        # also where warnings are errors
            if session.left_open():
                close_dropped(session)

    def close(self):
        """Close the database. An open transaction isn't committed."""
        session = self._session_
        session.check_thread()
        if not session.initialised:
            raise errors.ProgrammingError('Base Connection.__init__ not called.')
        with session.lock:
            session.close()
        if POSTPONED:
            close_postponed()

    @property
    def text_factory(self):
        """What makes the values of texts: `str` (the default), or a callable of bytes."""
        return self._session_.text_factory

    @text_factory.setter
    def text_factory(self, factory):
        self._settable_().set_text_factory(factory)

    def cursor(self, factory=cursors.Cursor):
        """Return a new cursor; `factory` is `Cursor` or a callable that returns one of its kind."""
        self._session_.check()
        cursor = factory(self)
        if not issubclass(type(cursor), cursors.Cursor):
            raise TypeError('factory must return a cursor, not ' + type(cursor).__name__)
        factory = ROW_FACTORY.__get__(self)
        if factory is not None:
            cursors.set_row_factory(cursor, factory)
        return cursor

    def _cursor_(self):
        """Return a new Cursor, made the short way."""
        session = self._session_
        if session.user != get_ident():
            session.check()
        if POSTPONED:
            close_postponed()
        cursor = cursors.opened(self, session)
        factory = self.row_factory if type(self) is Connection else ROW_FACTORY.__get__(self)
        if factory is not None:
            cursor.row_factory = factory
        return cursor

    def _statements_cursor_(self):
        """Return the new cursor of `execute` and the like. Before Python 3.10 they call `cursor`, which a class that
        derives from this one may have of its own."""
        return self._cursor_() if versions.OWN_CURSOR or type(self) is Connection else self.cursor()

    @_forwarded
    def execute(self, sql, parameters=(), /):
        """Run one SQL statement with a new cursor, and return the cursor; see Cursor.execute."""
        return self._statements_cursor_().execute(sql, parameters)

    @_forwarded
    def executemany(self, sql, parameters, /):
        """Run a statement for each item of `parameters`; see Cursor.executemany."""
        return self._statements_cursor_().executemany(sql, parameters)

    @_forwarded
    def executescript(self, sql_script, /):
        """Run several SQL statements; see Cursor.executescript."""
        return self._statements_cursor_().executescript(sql_script)

    @exclusive
    @_one_argument
    def __call__(self, sql, /):
        """Prepare `sql` (str) and return its Statement; raises what preparing it raises."""
        session = self._session_
        if not isinstance(sql, str):
            raise TypeError('argument 1 must be str, not ' + errors.kind(sql))
        statement = Statement.of(session.db, sql, session.without_type)
        statement.finalize()    # nothing can be done with it
        return statement


ROW_FACTORY = vars(Connection)['row_factory']       # a class that derives from it may have another
_open = vars(Connection)['__init__'].__wrapped__     # without its warning


def _connected(module, *args, **keywords):
    """`connect`; what isn't given isn't passed on: the factory may have other defaults."""
    factory = args[5] if len(args) > 5 else keywords.get('factory', Connection)
    if factory is Connection:
        connection = Connection.__new__(Connection)
        _open(connection, *args, **keywords)
        return connection
    return factory(*args, **keywords)


class Module:
    """Has `connect`, which sqlite3's is like: a class that has it among its attributes doesn't make it a method."""

    @one_positional('sqlite3.connect()', KEYWORD_ONLY, first=1, run=_connected)
    def connect(self, database, timeout=5.0, detect_types=0, isolation_level='', check_same_thread=True,
                factory=Connection, cached_statements=128, uri=False, *, autocommit=LEGACY):
        """Open a database and return its Connection.

        Args:
            database: path of the file (str, bytes or path object), ':memory:', or with `uri` a URI.
            timeout: how long to wait for locks of others, in seconds (float).
            detect_types: PARSE_DECLTYPES, PARSE_COLNAMES, or both added: by what converters are found.
            isolation_level: how transactions are begun before a change: '' (deferred), 'DEFERRED',
                'IMMEDIATE', 'EXCLUSIVE', or None: not at all.
            check_same_thread: whether other threads are refused (bool).
            factory: the class to make, a Connection.
            cached_statements: how many prepared statements are kept (int).
            uri: whether `database` is a URI (bool).
            autocommit: True, False, or LEGACY_TRANSACTION_CONTROL (as `isolation_level` says).
        Raises:
            OperationalError: the file can't be opened.
        """

    def __reduce__(self):
        """Pickle `connect` by this, in place of the Module: it is a method of it."""
        from importlib import import_module
        return import_module, ('sqpyte',)


Module.__module__ = 'sqpyte'      # as help() says
connect = Module().connect
