"""A connection's transactions, as the program controls them."""

from pypy_module.dbapi import versions
from pypy_module.dbapi.connections.session import Owner
from pypy_module.dbapi.statements.transaction import checked_autocommit, checked_level
from pypy_module.ffi.library import lib


class Transactions(Owner):
    """The part of a connection that begins, commits and rolls back."""

    __slots__ = ()

    def commit(self):
        """Commit the transaction, if one is open; raises SQLite's error."""
        self._session_.check()
        self._session_.end('COMMIT')

    def rollback(self):
        """Undo what the transaction did, if one is open; raises SQLite's error."""
        self._session_.check()
        self._session_.end('ROLLBACK')

    @property
    def isolation_level(self):
        """How transactions are begun: '', 'DEFERRED', 'IMMEDIATE', 'EXCLUSIVE', or None: not."""
        self._session_.check_open()
        return self._session_.isolation_level

    @isolation_level.setter
    def isolation_level(self, level):
        session = self._settable_()
        session.set_transactions(checked_level(level), session.autocommit)
        if level is None and (session.db or versions.CLOSED_IS_NOTICED):
            Transactions.commit(self)

    @isolation_level.deleter
    def isolation_level(self):
        raise AttributeError('cannot delete attribute')

    @property
    def autocommit(self):
        """True, False (a transaction is always open), or LEGACY_TRANSACTION_CONTROL."""
        self._session_.check()
        return self._session_.autocommit

    @autocommit.setter
    def autocommit(self, value):
        self._session_.check()
        self._session_.switch_autocommit(checked_autocommit(value))

    @property
    def in_transaction(self):
        """Whether a transaction is open (bool)."""
        return not self._session_.in_c(lib.sqlite3_get_autocommit)

    @property
    def total_changes(self):
        """How many rows were changed since the connection was opened (int)."""
        return self._session_.in_c(lib.sqlite3_total_changes64)

    def __enter__(self):
        """Return the connection; leaving the block commits, or rolls back after an exception."""
        if versions.CLOSED_IS_NOTICED:
            self._session_.check_open()
        return self

    def __exit__(self, type, value, traceback, /):
        if type is not None or value is not None or traceback is not None:
            Transactions.rollback(self)     # not a subclass's, as in sqlite3
            return False
        try:
            Transactions.commit(self)
        except BaseException:
            # To unlock the database.
            Transactions.rollback(self)
            raise
        return False
