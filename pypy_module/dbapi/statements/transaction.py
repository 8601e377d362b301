"""A session's transaction: begun by a statement or by the program, ended by either, or by a script."""

import functools

from pypy_module.dbapi import constants, errors, versions
from pypy_module.dbapi.arguments import plain_text
from pypy_module.dbapi.mixin import Any, Mixin
from pypy_module.dbapi.statements.dropped import watching
from pypy_module.dbapi.statements.locks import Asking, committed, free_others_cursors, free_own, is_exclusive, run_again
from pypy_module.dbapi.statements.statement import BEGINNING, COMMITTING, beginning
from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib, text

OK, ROW = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_ROW']
IN_TRANSACTION = NUMBERS['SQPYTE_IN_TRANSACTION']
LIMIT_SQL_LENGTH = NUMBERS['SQLITE_LIMIT_SQL_LENGTH']
LOOKED_AT = 400     # bytes of a script's statement, before it is run
LEVELS = ('', 'DEFERRED', 'IMMEDIATE', 'EXCLUSIVE')
LEGACY = constants.LEGACY_TRANSACTION_CONTROL

prepare, step, finalize = lib.sqlite3_prepare_v2, lib.sqlite3_step, lib.sqlite3_finalize


def checked_level(level):
    """Return an isolation level (str), or None; raises as sqlite3 does."""
    if level is None:
        return None
    if not isinstance(level, str):
        raise TypeError('isolation_level must be str or None' if versions.LEVEL_NORMALISED else
                        'isolation_level must be a string or None, not ' + type(level).__name__)
    if '\0' in level:
        raise ValueError('embedded null character')
    if not level.isascii() or str.upper(level) not in LEVELS:
        raise ValueError("isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'"
                         if versions.LEVEL_NORMALISED else 'invalid value for isolation_level')
    return str.upper(level) if versions.LEVEL_NORMALISED else level


def checked_autocommit(value):
    """Return True, False or LEGACY_TRANSACTION_CONTROL; raises ValueError for anything else."""
    if value is True or value is False:
        return value
    if isinstance(value, int) and value == LEGACY:
        return LEGACY
    raise ValueError('autocommit must be True, False, or sqlite3.LEGACY_TRANSACTION_CONTROL')


def run_first(db, script, result, tail):
    """Run the first statement of a script; its rows are dropped.

    Args:
        db: the `sqlite3 *`.
        script: the SQL (`const char *`).
        result: room for the statement (`sqlite3_stmt *[1]`).
        tail: where the rest of the script is noted (`const char *[1]`).
    Returns:
        SQLite's code.
    """
    rc = prepare(db, script, -1, result, tail)
    statement = result[0]
    if not statement:       # an error, or nothing but a comment
        return rc
    while step(statement) == ROW:
        pass
    return finalize(statement)


class Transaction(Mixin):
    """The part of a Session that begins, commits and rolls back.

    Attributes:
        isolation_level, autocommit: see `connect`.
    """

    error: Any
    raised: Any
    reraise: Any
    check_open: Any
    preparing: Any
    closed: Any
    isolation_level: Any = ''
    autocommit: Any = LEGACY

    def set_transactions(self, isolation_level, autocommit):
        """Set how transactions are begun, and when they end."""
        self.isolation_level = isolation_level
        self.autocommit = autocommit
        begins = autocommit == LEGACY and isolation_level is not None
        self.begin_flag = IN_TRANSACTION if begins else 0

    def run_alone(self, sql):
        """Run one statement without rows, such as COMMIT (str); raises SQLite's error."""
        self.before_c_call_that_may_write()
        result = ffi.new('sqlite3_stmt *[1]')

        def run():
            rc = lib.sqlite3_prepare_v2(self.db, sql.encode(), -1, result, NULL)
            if rc == OK:
                lib.sqlite3_step(result[0])
                rc = lib.sqlite3_finalize(result[0])
            return rc
        self._try(run, sql == 'COMMIT')

    def _try(self, run, commits=False):
        """Have `run()`, which may be one that `commits` (bool), return SQLITE_OK, if need be after freeing the locks of
        dropped cursors; raises SQLite's error."""
        self.preparing += 1
        try:
            if self.closed:
                self.check_open()
            if commits:
                rc = committed(self, run)
            else:
                with Asking(self):
                    rc = run()
            if rc != OK and run_again(self, rc, run) != OK:
                raise self.error()
        finally:
            self.preparing -= 1

    def begin_for(self, statement):
        """Begin a transaction if none is open and the statement is to run in one."""
        if self.closed:     # by a function
            self.check_open()
        if statement.is_dml and self.begin_flag and lib.sqlite3_get_autocommit(self.db):
            self.run_alone('BEGIN ' + plain_text(self.isolation_level).upper())

    def end(self, sql):
        """Do what `sql` says, 'COMMIT' or 'ROLLBACK', if a transaction is open; raises SQLite's error."""
        with self.lock:
            self.check_open()       # another thread may have closed it meanwhile
            is_open = not lib.sqlite3_get_autocommit(self.db)
            if self.autocommit is True or self.autocommit == LEGACY and not is_open:
                return
            if is_open and sql == 'ROLLBACK' and not versions.FETCH_AFTER_ROLLBACK:
                self.cut_off()
                self.check_open()   # a `finalize` may have closed it
            self.run_alone(sql)
            if self.autocommit is False:
                free_own(self)
                self.run_alone('BEGIN')

    def switch_autocommit(self, value):
        """Set `autocommit`; an open transaction is committed, or one is begun."""
        self.set_transactions(self.isolation_level, value)
        with self.lock:
            self.check_open()
            if value is True and not lib.sqlite3_get_autocommit(self.db):
                self.run_alone('COMMIT')
            elif value is False and lib.sqlite3_get_autocommit(self.db):
                free_own(self)
                self.run_alone('BEGIN')

    def run_script(self, script):
        """Run the statements of a script (str); see Cursor.executescript. It ends with what a collation raises."""
        self.preparing += 1
        try:
            self._run_script(script)
        finally:
            self.preparing -= 1

    def _run_script(self, script):
        if self.closed:
            self.check_open()
        data = plain_text(script).encode()
        if len(data) > lib.sqlite3_limit(self.db, LIMIT_SQL_LENGTH, -1):
            raise errors.DataError('query string is too large')
        if self.autocommit == LEGACY and not lib.sqlite3_get_autocommit(self.db):
            self.run_alone('COMMIT')
        source = ffi.new('char[]', data)
        end = source + len(data)
        rest = ffi.cast('const char *', source)
        result = ffi.new('sqlite3_stmt *[1]')
        tail = ffi.new('const char *[1]')
        # A script often runs before PyPy has compiled this, and a call of Python's costs as much then as a step of a
        # short statement: so there is no closure, and no Asking where there is nothing to ask for. Four short
        # statements took 53 us with them, and take 44.
        while rest != end:
            if self.runners or self.dropped:
                self.before_c_call_that_may_write()
            if watching:
                self.end_interrupt()
                sql = ffi.string(rest, LOOKED_AT).decode('utf-8', 'replace')
                free_others_cursors(self, sql)
                keyword = beginning(sql)
                if keyword.startswith(BEGINNING):
                    free_own(self)
                if keyword.startswith(COMMITTING):
                    rc = committed(self, functools.partial(run_first, self.db, rest, result, tail))
                else:
                    with Asking(self):
                        rc = run_first(self.db, rest, result, tail)
            else:
                rc = run_first(self.db, rest, result, tail)
            if self.raised is not None:
                self.reraise()
            if rc != OK:
                self._run_first_again(rc, rest, result, tail)
            rest = tail[0]

    def _run_first_again(self, rc, rest, result, tail):
        """Run a script's statement again, which has failed with `rc`, if a dropped cursor may have been to blame;
        raises SQLite's error, or what a collation raises. The other arguments are those of `run_first`."""
        def again():
            with Asking(self):
                return run_first(self.db, rest, result, tail)
        rc = run_again(self, rc, again, is_exclusive(text(rest)))
        if self.raised is not None:
            self.reraise()
        if rc != OK:
            raise self.error()
