"""Which tier runs a statement, and why: `explain`.

The tiers are 'inliner' (the rows are produced by Python code that PyPy's JIT compiles together
with the caller's loop), 'vm' (the translated RPython VM in the C library) and 'c' (SQLite's own
interpreter).
"""

from pypy_module import errors, tiers
from pypy_module.library import NUMBERS, ffi, lib

# What SQPYTE_WHY_... of engine.h mean.
REASONS = {
    'COLD': 'no loop of it has been hot yet',
    'HOT': 'a loop became hot',
    'NO_VM': 'the C library has no VM',
    'THREAD': 'the VM serves another thread',
    'PROGRESS': 'a progress handler counts instructions',
    'SHARED': 'a shared cache needs its B-trees locked',
    'ENCODING': 'the database is UTF-16',
    'OPCODE': 'its hot loop has instructions that only C implements',
    'REFUSED': 'the VM handed it back too often',
    'TRIGGER': 'its loop is inside a trigger',
    'FULL': 'the VM has no room for its program and machine code (SQPYTE_VM_MEMORY)',
}
CODES = {NUMBERS['SQPYTE_WHY_' + name]: name for name in REASONS
         if 'SQPYTE_WHY_' + name in NUMBERS}


class Plan:
    """Where one statement runs.

    Attributes:
        sql: the statement (str).
        tier: 'inliner', 'vm' or 'c' (str).
        reason: why it runs there (str).
        detail: what the tier tells beyond that (str), such as generated code.
    """

    def __init__(self, sql, tier, reason, detail=''):
        self.sql = sql
        self.tier = tier
        self.reason = reason
        self.detail = detail

    def __str__(self):
        lines = ['%s: %s' % (self.tier, ' '.join(self.sql.split())), '  ' + self.reason]
        lines += ['  ' + line for line in self.detail.splitlines()]
        return '\n'.join(lines)


class Explanation(list):
    """The Plans of the statements that `explain` was given; printed, one after the other."""

    def __str__(self):
        return '\n'.join(str(plan) for plan in self)


def split(db, sql):
    """Yield the statements of a script (str), one by one; raises SQLite's error."""
    data = sql.encode()
    source = ffi.new('char[]', data)
    start = ffi.cast('const char *', source)
    end = source + len(data)
    result = ffi.new('sqlite3_stmt *[1]')
    tail = ffi.new('const char *[1]')
    while start != end:
        if lib.sqlite3_prepare_v2(db, start, end - start + 1, result, tail):
            raise errors.from_database(db)
        if result[0]:
            lib.sqlite3_finalize(result[0])
            yield ffi.unpack(start, tail[0] - start).decode().strip()
        start = tail[0]


def vm_reason(statement):
    """Return tier and reason of a statement's last run outside the inliner (two str)."""
    name = CODES.get(lib.sqpyte_why(statement.pointer), 'COLD')
    tier = 'vm' if lib.sqpyte_tier(statement.pointer) else 'c'
    return tier, REASONS[name]


def plan(connection, sql):
    """Return the Plan of one statement, as it last ran, or as it would run if it hasn't."""
    statement = connection._statements.get(sql)
    fresh = statement is None
    if fresh:
        statement = connection._prepare(sql)
    try:
        tier, reason = vm_reason(statement)
        if tiers.planner is not None:
            inlined, why, detail = tiers.planner.explain(connection, statement)
            if inlined:
                return Plan(sql, 'inliner', why, detail)
            reason = '%s; not inlined: %s' % (reason, why)
        return Plan(sql, tier, reason)
    finally:
        if fresh:
            connection._retire(statement)


def explain(connection, sql, /):
    """Tell which tier runs each statement of `sql`, and why.

    Args:
        connection: the Connection.
        sql: one or several SQL statements (str).
    Returns:
        an Explanation: a list of Plans that prints as a report.
    Raises:
        Error: SQLite rejects a statement.
    """
    connection._check()
    return Explanation(plan(connection, part) for part in split(connection._db, sql))
