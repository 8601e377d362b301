"""A connection's transactions: implicit and explicit ones, and scripts, which end them."""

from pypy_module.dbapi import constants, errors
from pypy_module.dbapi.mixin import Mixin
from pypy_module.dbapi.statements.locks import asking, run_again
from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib

OK, ROW, DONE = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
IN_TRANSACTION = NUMBERS['SQPYTE_IN_TRANSACTION']
LIMIT_SQL_LENGTH = NUMBERS['SQLITE_LIMIT_SQL_LENGTH']
LEVELS = ('', 'DEFERRED', 'IMMEDIATE', 'EXCLUSIVE')
LEGACY = constants.LEGACY_TRANSACTION_CONTROL


def checked_level(level):
    """Return an isolation level in SQLite's spelling (str), or None; raises as sqlite3 does."""
    if level is None:
        return None
    if not isinstance(level, str):
        raise TypeError('isolation_level must be str or None')
    if '\0' in level:
        raise ValueError('embedded null character')
    level = str.upper(level)
    if level not in LEVELS:
        raise ValueError("isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or "
                         "'EXCLUSIVE'")
    return level


def checked_autocommit(value):
    """Return True, False or LEGACY_TRANSACTION_CONTROL; raises ValueError for anything else."""
    if value is True or value is False:
        return value
    if isinstance(value, int) and value == LEGACY:
        return LEGACY
    raise ValueError('autocommit must be True, False, or sqlite3.LEGACY_TRANSACTION_CONTROL')


class Transactions(Mixin):
    """The part of a connection that begins, commits and rolls back."""

    def _exec(self, sql):
        """Run one statement without rows, such as COMMIT (str); raises SQLite's error."""
        self._before_c_call_that_may_write()
        result = ffi.new('sqlite3_stmt *[1]')

        def run():
            rc = lib.sqlite3_prepare_v2(self._db, sql.encode(), -1, result, NULL)
            if rc == OK:
                lib.sqlite3_step(result[0])
                rc = lib.sqlite3_finalize(result[0])
            return rc
        self._try(run)

    def _try(self, run):
        """Have `run()` return SQLITE_OK, if need be after freeing the locks of dropped cursors; raises
        SQLite's error."""
        with asking(self):
            rc = run()
        if rc != OK and run_again(self, rc, run) != OK:
            raise errors.from_database(self._db)

    def _set_begin_flag(self):
        """Note whether a transaction is to be begun before a statement that changes rows."""
        begins = self._autocommit == LEGACY and self._isolation_level is not None
        self._begin_flag = IN_TRANSACTION if begins else 0

    def _begin_for(self, statement):
        """Begin a transaction if none is open and the statement is to run in one."""
        if statement.is_dml and self._begin_flag and lib.sqlite3_get_autocommit(self._db):
            self._exec('BEGIN %s' % self._isolation_level)

    def commit(self):
        """Commit the transaction, if one is open; raises SQLite's error."""
        self._check()
        with self._lock:
            if self._autocommit is False:
                self._exec('COMMIT')
                self._exec('BEGIN')
            elif self._autocommit == LEGACY and not lib.sqlite3_get_autocommit(self._db):
                self._exec('COMMIT')

    def rollback(self):
        """Undo what the transaction did, if one is open; raises SQLite's error."""
        self._check()
        with self._lock:
            if self._autocommit is False:
                self._exec('ROLLBACK')
                self._exec('BEGIN')
            elif self._autocommit == LEGACY and not lib.sqlite3_get_autocommit(self._db):
                self._exec('ROLLBACK')

    @property
    def isolation_level(self):
        """How transactions are begun: '', 'DEFERRED', 'IMMEDIATE', 'EXCLUSIVE', or None: not."""
        self._check_open()
        return self._isolation_level

    @isolation_level.setter
    def isolation_level(self, level):
        if level is None:
            self._isolation_level = None
            self._set_begin_flag()
            self.commit()
        else:
            self._isolation_level = checked_level(level)
            self._set_begin_flag()

    @isolation_level.deleter
    def isolation_level(self):
        raise AttributeError('cannot delete attribute')

    @property
    def autocommit(self):
        """True, False (a transaction is always open), or LEGACY_TRANSACTION_CONTROL."""
        self._check()
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value):
        self._check()
        self._autocommit = checked_autocommit(value)
        self._set_begin_flag()
        with self._lock:
            if self._autocommit is True and not lib.sqlite3_get_autocommit(self._db):
                self._exec('COMMIT')
            elif self._autocommit is False and lib.sqlite3_get_autocommit(self._db):
                self._exec('BEGIN')

    @property
    def in_transaction(self):
        """Whether a transaction is open (bool)."""
        self._check_open()
        return not lib.sqlite3_get_autocommit(self._db)

    @property
    def total_changes(self):
        """How many rows were changed since the connection was opened (int)."""
        self._check_open()
        return lib.sqlite3_total_changes64(self._db)

    def __enter__(self):
        """Return the connection; leaving the block commits, or rolls back after an exception."""
        self._check_open()
        return self

    def __exit__(self, exc_type, exc_value, exc_tb, /):
        if exc_type is not None or exc_value is not None or exc_tb is not None:
            self.rollback()
            return False
        try:
            self.commit()
        except BaseException:
            # To unlock the database.
            self.rollback()
            raise
        return False

    def _script(self, script):
        """Run the statements of a script (str); see Cursor.executescript."""
        data = script.encode()
        if len(data) > lib.sqlite3_limit(self._db, LIMIT_SQL_LENGTH, -1):
            raise errors.DataError('query string is too large')
        if self._autocommit == LEGACY and not lib.sqlite3_get_autocommit(self._db):
            self._exec('COMMIT')
        source = ffi.new('char[]', data)
        end = source + len(data)
        rest = ffi.cast('const char *', source)
        result = ffi.new('sqlite3_stmt *[1]')
        tail = ffi.new('const char *[1]')

        def run():
            rc = lib.sqlite3_prepare_v2(self._db, rest, end - rest + 1, result, tail)
            if rc == OK:
                while rc == OK or rc == ROW:
                    rc = lib.sqlite3_step(result[0]) if result[0] else DONE
                rc = lib.sqlite3_finalize(result[0])
            return rc
        while rest != end:
            self._before_c_call_that_may_write()
            self._try(run)
            rest = tail[0]
