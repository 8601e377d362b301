"""What CPython's sqlite3 hasn't: `explain` and `configure`, on its connections.

They call the same library through cffi, on the connection's `sqlite3 *`. That is the first field of CPython's
Connection, in the versions of LAYOUT; of others nothing is read.
"""

import sqlite3
import sys

from pypy_module import settings
from pypy_module.dbapi import errors
from pypy_module.dbapi import explain as reports
from pypy_module.ffi.library import ffi, lib, text

LAYOUT = ((3, 9), (3, 14))      # the first and the last version of CPython whose Connection begins with it


class Prepared:
    """A statement of a connection, as `explain` needs it; `pointer` is its `sqlite3_stmt *`."""

    def __init__(self, pointer):
        self.pointer = pointer


def handle(connection):
    """Return the `sqlite3 *` of CPython's Connection; raises TypeError, ProgrammingError, NotSupportedError."""
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError('explain() argument 1 must be sqlite3.Connection, not ' + type(connection).__name__)
    if not LAYOUT[0] <= sys.version_info[:2] <= LAYOUT[1]:
        raise sqlite3.NotSupportedError(
            'explain() works under Python %d.%d to %d.%d, and this is %d.%d: install a newer sqpyte; the rest works'
            % (*LAYOUT[0], *LAYOUT[1], *sys.version_info[:2]))
    # Raises what a connection that is closed, not opened, or another thread's raises.
    sqlite3.Connection.cursor(connection).close()
    return ffi.cast('sqlite3 **', id(connection) + object.__basicsize__)[0]


def kept(db, sql):
    """Return the `sqlite3_stmt *` of the connection's own statement, which has run, or NULL."""
    pointer = lib.sqlite3_next_stmt(db, ffi.NULL)
    while pointer and reports.bare(text(lib.sqlite3_sql(pointer)) or '') != reports.bare(sql):
        pointer = lib.sqlite3_next_stmt(db, pointer)
    return pointer


def plan(db, sql):
    """Return the Plan of one statement, as it last ran, or as it would run if it hasn't."""
    known = kept(db, sql)
    pointer = known or reports.prepared(db, sql)
    try:
        statement = Prepared(pointer)
        tier, reason = reports.vm_reason(statement, bool(known))
        return reports.Plan(sql, tier, reason, '', reports.steps(db, sql, reports.vm_places(statement)))
    finally:
        if not known:
            lib.sqlite3_finalize(pointer)


def translated(error):
    """Return sqlite3's exception for one of ours."""
    found = getattr(sqlite3, type(error).__name__)(str(error))
    for name in ('sqlite_errorcode', 'sqlite_errorname'):
        if hasattr(error, name):
            setattr(found, name, getattr(error, name))
    return found


def explain(connection, sql, /):
    """Tell where each statement of `sql` last ran, or can run, and why.

    Args:
        connection: a sqlite3.Connection.
        sql: one or several SQL statements (str).
    Returns:
        an Explanation: a list of Plans that prints as a report.
    Raises:
        TypeError: the connection isn't one of this process's sqlite3.
        ProgrammingError: it is closed, or another thread's.
        NotSupportedError: this Python is newer than sqpyte.
        sqlite3.Error: SQLite rejects a statement.
    """
    db = handle(connection)
    try:
        return reports.explained(db, sql, lambda part: plan(db, part))
    except errors.Error as error:
        raise translated(error) from None


def configure(*, vm=None, threshold=None, memory=None, inline=None, without=None):
    """Change settings of the process, all that are given or, if one is wrong, none.

    Args:
        vm: when statements enter the VM: 'off', 'hot' (hot loops do) or 'always'. From the next step on.
        threshold: rounds of a loop before it counts as hot (int); with the default, 3000, what is left of the loop
            matters, too. From the next step on.
        memory: what the VM's programs and machine code may take, in MiB (int).
        inline: False: CPython has no JIT that queries could be inlined in.
        without: what is switched off, all else being on: names (a wrong one's message lists them) in a str with commas
            between them, or an iterable of str. For what comes afterwards; what the VM reads only before it starts.
    Returns:
        the settings in force (dict).
    Raises:
        TypeError, ValueError: a value that the setting doesn't take; the message says which it takes.
        ProgrammingError: it is too late for this one; the message says which.
    """
    if inline:
        raise ValueError('configure(): inline takes only False here: nothing but PyPy inlines queries')
    try:
        return settings.configure(vm=vm, threshold=threshold, memory=memory, without=without)
    except errors.Error as error:
        raise translated(error) from None
