"""What CPython's sqlite3 hasn't: `explain` and `configure`, on its connections.

They call the same library through cffi, on the connection's `sqlite3 *`. That is the first field of CPython's
Connection, in the versions of LAYOUT; of others nothing is read.
"""

import sqlite3
import sys

from pypy_module import settings
from pypy_module.dbapi import errors
from pypy_module.dbapi import explain as reports
from pypy_module.ffi.library import NUMBERS, ffi, lib, text

LAYOUT = ((3, 9), (3, 14))      # the first and the last version of CPython whose Connection begins with it
ROW = NUMBERS['SQLITE_ROW']
OPCODE, P4 = 1, 5


class Prepared:
    """A statement of a connection, as `explain` needs it; `pointer` is its `sqlite3_stmt *`."""

    def __init__(self, pointer):
        self.pointer = pointer


def handle(connection):
    """Return the `sqlite3 *` of CPython's Connection; raises TypeError, ProgrammingError, NotSupportedError."""
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError('explain() argument 1 must be sqlite3.Connection, not ' + type(connection).__name__)
    if not LAYOUT[0] <= sys.version_info[:2] <= LAYOUT[1]:
        raise sqlite3.NotSupportedError('explain() knows no connections of Python %d.%d' % sys.version_info[:2])
    # Raises what a connection that is closed, not opened, or another thread's raises.
    sqlite3.Connection.cursor(connection).close()
    return ffi.cast('sqlite3 **', id(connection) + object.__basicsize__)[0]


def prepared(db, sql):
    """Return the `sqlite3_stmt *` of a new statement; raises SQLite's error."""
    result = ffi.new('sqlite3_stmt *[1]')
    if lib.sqlite3_prepare_v2(db, sql.encode(), -1, result, ffi.NULL):
        raise errors.from_database(db)
    return result[0]


def kept(db, sql):
    """Return the `sqlite3_stmt *` of the connection's own statement, which has run, or NULL."""
    pointer = lib.sqlite3_next_stmt(db, ffi.NULL)
    while pointer and reports.bare(text(lib.sqlite3_sql(pointer)) or '') != reports.bare(sql):
        pointer = lib.sqlite3_next_stmt(db, pointer)
    return pointer


def steps(db, sql, places):
    """Return the program of a statement (list of explain.Step); see reports.steps."""
    listing = prepared(db, 'EXPLAIN ' + sql)
    found = []
    try:
        while lib.sqlite3_step(listing) == ROW:
            pc, p1, p2, p3, p5 = [lib.sqlite3_column_int64(listing, column) for column in reports.NUMBER_COLUMNS]
            name, p4 = [text(ffi.cast('const char *', lib.sqlite3_column_text(listing, column))) or ''
                        for column in (OPCODE, P4)]
            found.append(reports.Step(places.get(pc, ''), pc, name, p1, p2, p3, p4, p5))
    finally:
        lib.sqlite3_finalize(listing)
    return found


def plan(db, sql):
    """Return the Plan of one statement, as it last ran, or as it would run if it hasn't."""
    known = kept(db, sql)
    pointer = known or prepared(db, sql)
    try:
        statement = Prepared(pointer)
        tier, reason = reports.vm_reason(statement)
        explains = sql[reports.skip(sql):][:7].lower() == 'explain'
        return reports.Plan(sql, tier, reason, '', () if explains else steps(db, sql, reports.vm_places(statement)))
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
        sqlite3.Error: SQLite rejects a statement.
    """
    db = handle(connection)
    try:
        return reports.Explanation(plan(db, part) for part in reports.split(db, sql))
    except errors.Error as error:
        raise translated(error) from None


def configure(*, vm=None, threshold=None, memory=None, inline=None, without=None):
    """Change settings of the process; arguments and what comes back are settings.configure's.

    Raises:
        ValueError: also for `inline`: CPython has no JIT that queries could be inlined by.
    """
    if inline:
        raise ValueError('configure(): inline takes only False here: nothing but PyPy inlines queries')
    try:
        return settings.configure(vm=vm, threshold=threshold, memory=memory, without=without)
    except errors.Error as error:
        raise translated(error) from None
