"""What a connection is made of: the database, its statements, its transaction and its functions.

A Connection's own attributes are sqlite3's and no others. All else is its Session's, whose names are for the
package: cursors, blobs and the inliner have the Session.
"""

import os
from _thread import RLock, get_ident

from pypy_module.dbapi import constants, errors, open_databases, versions
from pypy_module.dbapi.connections import other_library
from pypy_module.dbapi.connections.callbacks import Calls
from pypy_module.dbapi.statements.transaction import Transaction
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements.execution import Execution
from pypy_module.dbapi.statements.held import in_the_middle
from pypy_module.dbapi.statements.locks import never_waits
from pypy_module.dbapi.statements.statement_cache import StatementCache
from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib

OPEN_FLAGS = NUMBERS['SQLITE_OPEN_READWRITE'] | NUMBERS['SQLITE_OPEN_CREATE']
OPEN_URI = NUMBERS['SQLITE_OPEN_URI']


def opened(name, flags):
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


class Session(Execution, StatementCache, Transaction):
    """See the module's docstring, and that of each part.

    Attributes:
        db: the `sqlite3 *`; NULL when it is closed.
        closing: it, when it could not be closed yet; else NULL.
        close_wanted: it is to be closed when what is in the middle of using it is through: a query that has called user
            code, or what a signal's handler has come to (bool). Whoever uses the connection next, closes it once more,
            or drops it, does that.
        former: Sessions that the connection had before `__init__` was called anew, of which something is left (list).
        superseded: the connection has been given another Session; what cursors are in the middle of goes on (bool).
        initialised: `Connection.__init__` has been done (bool).
        lock: held while several threads may use the session; alive: while one looks whether the database is open, and
            uses it then and there, without waiting for that.
        shared: several threads may use it (bool): each takes the lock for whatever it does.
        detect_types: PARSE_DECLTYPES, PARSE_COLNAMES, both added, or 0 (int).
        without_type: types in brackets are cut off columns' names (bool).
        text_factory: see Connection.
        calls: the Calls.
        blobs: the Handles of blobs (WeakSet), from the first one on; before, None.
        python: by the address of its SqpyteFunction, a Python function or an Aggregate (dict).
        registered, collations, hooks: what C refers to, by name (dicts), functions and aggregates by (folded name,
            number of arguments or -1); None for those that were removed.
    """

    db: Any = NULL
    closing: Any = NULL
    former: Any = ()
    superseded = False
    close_wanted = False
    initialised = False
    shared = False
    detect_types = 0
    text_factory: Any = None
    _thread = 0
    _process = 0

    def open(self, name, uri, milliseconds, detect_types, cached_statements, check_same_thread):
        """Open the database `name` (bytes); the transaction's settings are set next. For the other arguments see
        `connect`; `milliseconds`: its timeout."""
        self.detect_types = detect_types
        self.without_type = bool(detect_types & constants.PARSE_COLNAMES)
        self.db = opened(name, OPEN_URI if uri else 0)
        lib.sqlite3_busy_timeout(self.db, milliseconds)
        if not milliseconds:
            never_waits(self)
        self.lock, self.alive = RLock(), RLock()
        self.runners: list = []
        self.calls = Calls()
        self.blobs: Any = None
        self.dropped: list = []
        self._open_statements(cached_statements)
        self._forget_functions()
        self.set_text_factory(str)
        self._thread = get_ident()
        self._process = os.getpid()
        self.shared = not check_same_thread
        self.user = -1 if self.shared else self._thread
        open_databases.note(self)
        other_library.opened(self.db)

    @property
    def raised(self):
        """See Execution."""
        return self.calls.raised

    @raised.setter
    def raised(self, error):
        self.calls.raised = error

    def _forget_functions(self):
        """Be without functions."""
        self.registered: dict = {}
        self.python: dict = {}
        self.collations: dict = {}
        self.hooks: dict = {}

    def set_text_factory(self, factory):
        """Have texts made by a text factory."""
        if self.db:
            self.if_mine(self._before_text_factory)
        self.text_factory = factory
        self.plain = factory is str
        if self.db:
            for runner in list(self.runners):       # in the middle of a row, perhaps another thread's
                runner.be_wary()

    def _before_text_factory(self):
        """Hand rows back to C; before Python 3.11 the next one of each cursor is made now, as it was made when the row
        before it was fetched."""
        self.before_c_call_that_may_write()
        if not versions.FIRST_ROW_LATER:
            for statement in list(self.all) + list(self.left):
                result = statement.owner and statement.owner()
                if result is not None:
                    result.make_next_row(statement)

    def close(self, busy_too=True):
        """Close the database, rolling back with autocommit off.

        Args:
            busy_too: finalise statements that cursors are in the middle of, too (bool).
        """
        error = None
        if busy_too:
            for session in self.former:
                session.close()
        if not self.db:
            if self.closing and not self.calls.depth and not in_the_middle(self):
                self._close_database(True)
            return
        if busy_too and not self.calls.depth and in_the_middle(self):
            self.close_wanted, self.user = True, 0
            return
        self.close_wanted = False
        self.before_c_call_that_may_write()
        for handle in list(self.blobs or ()):
            handle.release()
        if self.autocommit is False and not lib.sqlite3_get_autocommit(self.db):
            try:
                self.run_alone('ROLLBACK')
            except errors.Error as raised:
                error = raised
        with self.alive:
            self.closing, self.db = self.db, NULL
        self.user = 0
        if not self.calls.depth:
            self._close_database(busy_too)
        # Else SQLite is in the middle of something; Connection.close and __del__ come back to it.
        if error is not None:
            raise error

    def supersede(self):
        """Close the database, as `Connection.__init__` is called anew; return the Session for that.

        Cursors go on with the rows that they are in the middle of, so the functions and hooks of this database stay.
        """
        self.initialised = False
        self.superseded = True
        self.close(False)
        following = Session()
        following.former = [session for session in [*self.former, self] if session.left_open()]
        self.former = ()
        if self.left_open():
            self.set_text_factory(str)      # as sqlite3, which has one for all of a connection's databases
        return following

    def left_open(self):
        """Whether C still has something of this database or of one before (bool)."""
        return bool(self.db or self.closing or self.left or self.former)

    def _close_database(self, busy_too):
        """Close the database in C; for `busy_too` see `close`."""
        self._close_statements(busy_too)
        open_databases.forget(self)
        file = other_library.closing(self.closing)
        db, self.closing = self.closing, NULL
        lib.sqlite3_close_v2(db)
        other_library.closed(file)
        if not self.left:
            self._forget_functions()

    def in_c(self, call):
        """Return what `call(db)` does, which waits for nothing, also where another thread is in the middle of a
        statement or about to close the database; raises ProgrammingError if it is closed."""
        if self.user != -1:
            self.check_open()
            return call(self.db)
        with self.alive:
            self.check_open()
            return call(self.db)

    def outside_lock(self, call, *arguments):
        """Return what `call(*arguments)` does, without the lock: a program's iterator, adapter, converter or factory
        may wait for what another thread does with the connection."""
        if self.user != -1:
            return call(*arguments)
        try:
            self.lock.release()
        except RuntimeError:    # it is another thread that has taken it just now (held.py)
            return call(*arguments)
        try:
            return call(*arguments)
        finally:
            self.lock.acquire()

    def left_by_fork(self):
        """Whether a fork has left the session in this process, and its thread in the other: that may have been in the
        middle of something, so whatever is done to the database waits for ever (bool)."""
        return self._thread not in (0, get_ident()) and self._process != os.getpid()

    @property
    def closed(self):
        """Whether it is closed, or is to be (bool)."""
        return not self.db or self.close_wanted

    def check_thread(self):
        """Raise ProgrammingError in a thread that may not use the connection."""
        if self._thread and not self.shared and self._thread != get_ident():
            raise errors.ProgrammingError(
                'SQLite objects created in a thread can only be used in that same thread. The '
                'object was created in thread id %d and this is thread id %d.'
                % (self._thread, get_ident()))

    def check_open(self):
        """Raise ProgrammingError if the connection is closed."""
        if not self.initialised:
            raise errors.ProgrammingError('Base Connection.__init__ not called.')
        if self.close_wanted:
            self.close()
        if self.closed:
            raise errors.ProgrammingError('Cannot operate on a closed database.')

    def check_not_closed(self):
        """Raise ProgrammingError if a function has closed the connection; what runs goes on if it was opened anew."""
        if self.closed and not self.superseded:
            self.check_open()

    def check(self):
        """Raise ProgrammingError unless the connection can be used here and now."""
        self.check_thread()
        self.check_open()


def close_dropped(session):
    """Close a Session whose Connection is gone; later, if a function that SQLite calls is running."""
    if session.left_by_fork():
        return
    if open_databases.calling():
        POSTPONED.append(session)
    else:
        session.leave_all()
        session.close()


def close_postponed():
    """Close what close_dropped has put off, if no function is running any more."""
    if not open_databases.calling():
        while POSTPONED:
            try:
                session = POSTPONED.pop()
            except IndexError:      # another thread has taken the last one
                break
            session.leave_all()
            session.close()


class Closer:
    """What only a Connection holds whose class has a `__del__` of its own: with it goes the Session, as it would with
    the Connection's `__del__`."""

    def __init__(self, session):
        self.session = session

    def __del__(self):
        if self.session.left_open():
            close_dropped(self.session)


def own(instance, name, default):
    """Return what is in a slot (`name`: str), or `default` if nothing is; past a `__getattr__` of a derived class."""
    try:
        return object.__getattribute__(instance, name)
    except AttributeError:
        return default


POSTPONED: list = []        # Sessions for close_dropped
NEVER_OPENED = Session()    # of a Connection whose `__init__` hasn't been called


class Owner:
    """What has a Session: the part of Connection that its other parts know.

    It gets another one when `__init__` is called anew. What is set here is set past a `__setattr__`, or a property of
    the same name, of a class that derives from Connection, as in sqlite3.
    """

    __slots__ = ('_session_', 'row_factory')
    _session_: Session
    row_factory: Any

    def __getattr__(self, name):
        """What isn't set before `__init__`."""
        if name == '_session_':
            return NEVER_OPENED
        if name == 'row_factory':
            return None
        raise AttributeError('%r object has no attribute %r' % (type(self).__name__, name))

    __reduce_ex__ = errors.not_copied('Connection')

    def _settable_(self):
        """Return the Session; one of its own, also before `__init__`, which begins with another."""
        if self._session_ is NEVER_OPENED:
            object.__setattr__(self, '_session_', Session())
        return self._session_


def session_of(connection):
    """Return the Session of a Connection; None if it is something else."""
    session = getattr(connection, '_session_', None)
    return session if isinstance(session, Session) else None
