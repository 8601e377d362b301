"""Whole databases and single blobs: backup, serialize, deserialize, dump, blobopen."""

import time

from pypy_module.dbapi import errors
from pypy_module.dbapi.arguments import c_double, c_int, checked_text
from pypy_module.dbapi.connections.session import Owner, session_of
from pypy_module.dbapi.mixin import exclusive
from pypy_module.dbapi.statements.held import Held
from pypy_module.dbapi.statements.locks import free_locks, tried
from pypy_module.ffi.library import NULL, NUMBERS, bytes_of, ffi, lib, text

OK, BUSY, LOCKED = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_BUSY'], NUMBERS['SQLITE_LOCKED']
MISUSE = NUMBERS['SQLITE_MISUSE']
NOCOPY = NUMBERS['SQLITE_SERIALIZE_NOCOPY']
DESERIALIZE = (NUMBERS['SQLITE_DESERIALIZE_FREEONCLOSE']
               | NUMBERS['SQLITE_DESERIALIZE_RESIZEABLE'])


def encoded(name, argument):
    """Return the name of a database, table or column (str) for SQLite (bytes); `argument`: whose it is, for errors."""
    return checked_text(name, argument).encode()


class BothHeld:
    """Within it no other thread is in the middle of a statement of two Sessions, as far as threads share them: loops
    that are inlined read pages without SQLite's mutex."""

    def __init__(self, *sessions):
        self.locks = [session.lock for session in sorted(sessions, key=id) if session.shared]

    def __enter__(self):
        for lock in self.locks:
            lock.acquire()

    def __exit__(self, *error):
        for lock in self.locks:
            lock.release()


def copy(session, goal, name, pages, progress, sleep):
    """Copy a database of a Session into another Session's; for the other arguments see Backup.backup."""
    name = encoded(name, "backup() argument 'name'")
    both = BothHeld(session, goal)
    handle = error = NULL

    def begin():
        nonlocal handle, error
        goal.check_open()       # a finalizer may have closed it, between two tries
        session.check_open()
        goal.before_c_call_that_may_write()
        session.before_c_call_that_may_write()
        mutex = lib.sqlite3_db_mutex(goal.db)
        while lib.sqlite3_mutex_try(mutex) != OK:       # its thread is in C
            time.sleep(0)
        try:
            handle = lib.sqlite3_backup_init(goal.db, b'main', session.db, name)
            if not handle:      # as long as its thread can't step a statement, which has an error of its own
                error = errors.from_database(goal.db)
        finally:
            lib.sqlite3_mutex_leave(mutex)
        return not handle
    with both:
        if tried(session, begin):
            raise error
    rc = OK
    goal.calls.depth += 1       # SQLite needs the target until the backup is finished: if it is closed, then later
    looked = False      # for dropped cursors, whose statements may be in the way
    try:
        while rc == OK or rc == BUSY or rc == LOCKED:
            with both:
                goal.before_c_call_that_may_write()
                rc = lib.sqlite3_backup_step(handle, pages)
            if progress is not None:
                progress(rc, lib.sqlite3_backup_remaining(handle), lib.sqlite3_backup_pagecount(handle))
                goal.check_not_closed()
            if rc == BUSY or rc == LOCKED:
                if not looked and free_locks():
                    continue
                looked = True
                lib.sqlite3_sleep(int(sleep * 1000))
    finally:
        with both:
            rc = lib.sqlite3_backup_finish(handle)
            goal.calls.depth -= 1
            if goal.closing:
                goal.close()
    if rc != OK:
        raise errors.from_database(goal.db)


class Backup(Owner):
    """The part of a connection that is for whole databases and single blobs."""

    __slots__ = ()

    def backup(self, target, *, pages=-1, progress=None, name='main', sleep=0.250):
        """Copy a database, even while others use it.

        Args:
            target: the Connection whose main database becomes the copy.
            pages: how many pages to copy at a time (int); all if negative or 0.
            progress: called with SQLite's code, the pages left and all pages (int), or None.
            name: which database to copy: 'main', 'temp', or as attached (str).
            sleep: how long to wait for a lock between two tries, in seconds (float).
        Raises:
            TypeError: `target` is no Connection, or `progress` can't be called.
            ValueError: `target` is this connection.
            Error: as SQLite says, or what `progress` raises.
        """
        goal = session_of(target)
        if goal is None:
            raise TypeError('backup() argument 1 must be sqlite3.Connection, not ' + errors.kind(target))
        session = self._session_
        session.check()
        goal.check_open()
        if target is self:
            raise ValueError('target cannot be the same connection instance')
        if progress is not None and not callable(progress):
            raise TypeError('progress argument must be a callable')
        with Held(goal):
            copy(session, goal, name, c_int(pages) or -1, progress, c_double(sleep))

    @exclusive
    def serialize(self, *, name='main'):
        """Return a database (`name`: as for `backup`) as the bytes of its file; raises OperationalError if there is no
        such database."""
        session = self._session_
        session.check()
        encoded_name = encoded(name, "serialize() argument 'name'")
        session.before_c_call_that_may_write()
        size = ffi.new('int64_t *')
        db = session.db     # stays open, if an authorizer closes the connection
        for flags in (NOCOPY, 0):
            data = lib.sqlite3_serialize(db, encoded_name, size, flags)
            if data:
                content = ffi.buffer(data, size[0])[:]
                if not flags:
                    lib.sqlite3_free(data)
                return content
        raise errors.OperationalError("unable to serialize '%s'" % name)

    @exclusive
    def deserialize(self, data, /, *, name='main'):
        """Replace a database by one in memory.

        Args:
            data: the bytes of a database file (bytes-like, or str).
            name: which database (str).
        Raises:
            OperationalError: a statement is reading the database.
        """
        session = self._session_
        session.check()
        encoded_name = encoded(name, "deserialize() argument 'name'")
        data = data.encode() if isinstance(data, str) else bytes_of(data)
        session.check()     # after user code
        session.before_c_call_that_may_write()
        db = session.db     # see `serialize`

        def replace():
            copy = lib.sqlite3_malloc64(max(len(data), 1))
            if not copy:
                raise MemoryError
            ffi.memmove(copy, data, len(data))
            # SQLite frees the copy, also when it fails.
            return lib.sqlite3_deserialize(db, encoded_name, copy, len(data), len(data), DESERIALIZE)
        if tried(session, replace):
            if lib.sqlite3_errcode(db) == OK:       # SQLite says nothing
                raise errors.OperationalError("unable to deserialize '%s'" % name)
            raise errors.from_database(db)

    def iterdump(self, *, filter=None):
        """Return an iterator over the SQL statements (str) that make the database again.

        Args:
            filter: a LIKE pattern for the names of what to dump (str), or None: everything.
        """
        from pypy_module.dbapi.connections.iterdump import dump
        self._session_.check_open()
        return dump(self, filter)

    @exclusive
    def blobopen(self, table, column, row, /, *, readonly=False, name='main'):
        """Open a blob for reading and writing in place.

        Args:
            table, column: names (str).
            row: the rowid (int).
            readonly: whether it may not be written (bool).
            name: which database (str).
        Returns:
            a Blob.
        Raises:
            OperationalError: there is no such blob.
            TypeError, OverflowError: `row` is no int, or none of 64 bits.
        """
        from pypy_module.dbapi.blob import Handle, blob_of      # few programs have blobs
        session = self._session_
        session.check()
        names = [encoded(each, 'blobopen() argument ' + argument)
                 for each, argument in ((name, "'name'"), (table, '1'), (column, '2'))]
        if not isinstance(row, int):
            raise TypeError("expected 'int'")
        if not -2 ** 63 <= row < 2 ** 63:
            raise errors.out_of_range()
        if not readonly:
            session.before_c_call_that_may_write()
        result = ffi.new('sqlite3_blob *[1]')
        rc = tried(session, lambda: lib.sqlite3_blob_open(
            session.db, *names, row, not readonly, result))
        if rc == MISUSE:
            raise errors.InterfaceError(text(lib.sqlite3_errstr(rc)))
        if rc:
            raise errors.from_database(session.db)
        handle = Handle(result[0], session, bool(readonly))
        if session.blobs is None:
            from weakref import WeakSet
            session.blobs = WeakSet()
        session.blobs.add(handle)
        return blob_of(self, session, handle)
