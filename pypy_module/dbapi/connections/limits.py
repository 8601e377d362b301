"""A connection's limits and switches, extensions, and interrupting it."""

import sys

from pypy_module.dbapi import errors
from pypy_module.dbapi.arguments import c_int, checked_text
from pypy_module.dbapi.connections.session import Owner
from pypy_module.dbapi.constants import SQLITE
from pypy_module.dbapi.mixin import exclusive
from pypy_module.ffi.library import NULL, ffi, lib, text

SWITCHES = {value for name, value in SQLITE.items() if name.startswith('SQLITE_DBCONFIG_')
            and name != 'SQLITE_DBCONFIG_FP_DIGITS'}


class Settings(Owner):
    """The part of a connection that sets and tells its settings."""

    __slots__ = ()

    def interrupt(self):
        """Have the statements that run end with an error; may be called by another thread."""
        session = self._session_
        session.check_open()
        session.if_mine(session.roll_back)      # never refused: nothing is written
        session.in_c(lib.sqpyte_interrupt)

    @exclusive
    def setlimit(self, category, limit, /):
        """Set a limit; return what it was (int).

        Args:
            category: one of SQLITE_LIMIT_... (int).
            limit: the new limit (int); a negative one changes nothing.
        Raises:
            ProgrammingError: there is no such limit.
        """
        self._session_.check()
        category, limit = c_int(category), c_int(limit)
        self._session_.check()      # after user code
        before = lib.sqlite3_limit(self._session_.db, category, limit)
        if before < 0:
            raise errors.ProgrammingError("'category' is out of bounds")
        return before

    def getlimit(self, category, /):
        """Return a limit (int); `category` is one of SQLITE_LIMIT_... (int)."""
        return Settings.setlimit(self, category, -1)    # not a subclass's

    @exclusive
    def _config_(self, op, value):
        """Set a switch unless `value` is -1; return what it is now (int)."""
        op = c_int(op)
        self._session_.check()
        if op not in SWITCHES:
            raise ValueError("unknown config 'op': %d" % op)
        self._session_.before_c_call_that_may_write()
        actual = ffi.new('int *')
        if lib.sqlite3_db_config(self._session_.db, op, ffi.cast('int', value), actual):
            raise errors.from_database(self._session_.db)
        return actual[0]

    def setconfig(self, op, enable=True, /):
        """Set a switch; `op` is one of SQLITE_DBCONFIG_... (int), `enable` a bool.

        Raises:
            ValueError: there is no such switch.
            OperationalError: SQLite refuses.
        """
        if self._config_(op, int(bool(enable))) != bool(enable):
            raise errors.OperationalError('Unable to set config')

    def getconfig(self, op, /):
        """Return a switch (bool); `op` is one of SQLITE_DBCONFIG_... (int)."""
        return bool(self._config_(op, -1))

    @exclusive
    def enable_load_extension(self, enable, /):
        """Allow extensions to be loaded, or not; `enable` is a bool."""
        sys.audit('sqlite3.enable_load_extension', self, enable)
        enabled = int(bool(enable))
        self._session_.check()
        if lib.sqlite3_enable_load_extension(self._session_.db, enabled):
            raise errors.OperationalError('Error enabling load extension')

    @exclusive
    def load_extension(self, name, /, *, entrypoint=None):
        """Load an extension.

        Args:
            name: path of the shared library (str).
            entrypoint: name of its function to call (str), or None: as SQLite finds it.
        Raises:
            OperationalError: it can't be loaded.
        """
        name = checked_text(name, 'load_extension() argument 1')
        if entrypoint is not None:
            entrypoint = checked_text(entrypoint, "load_extension() argument 'entrypoint'")
        sys.audit('sqlite3.load_extension', self, name)
        self._session_.check()
        self._session_.before_c_call_that_may_write()
        message = ffi.new('char *[1]')
        entry = NULL if entrypoint is None else entrypoint.encode()
        if lib.sqlite3_load_extension(self._session_.db, name.encode(), entry, message):
            reason = text(message[0])
            lib.sqlite3_free(message[0])
            raise errors.OperationalError(reason)
