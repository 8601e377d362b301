"""Which tier runs a statement, and why: `explain`.

The tiers are 'inliner' (the rows are produced by Python code that PyPy's JIT compiles together
with the caller's loop, or computed ahead by C, many in one call), 'vm' (the translated RPython VM
in the C library) and 'c' (SQLite's own interpreter).
"""

import os

from c_engine.generated import layout, opcodes
from pypy_module.dbapi import errors
from pypy_module.dbapi.connections.session import session_of
from pypy_module.dbapi.statements import tiers
from pypy_module.dbapi.statements.statement import explains, refuse_null_character, skip
from pypy_module.ffi.library import NULL, NUMBERS, address_of, ffi, lib
from sqpyte.vm.base import mem

# Of an EXPLAIN's row: pc, p1, p2, p3, p5; and opcode and p4, which are texts.
NUMBER_COLUMNS = (0, 2, 3, 4, 6)
OPCODE, P4 = 1, 5
BYTE_ORDER_MARK = '\ufeff'.encode().decode('latin-1')
ROW, OFF = NUMBERS['SQLITE_ROW'], NUMBERS['SQPYTE_MODE_OFF']

# What SQPYTE_WHY_... of engine.h mean.
REASONS = {
    'PRAGMA': 'it is a PRAGMA, and not compiled here: SQLite changes some settings as it compiles them',
    'NOT_RUN': "it has not run on this connection, or has left the connection's cache of statements",
    'COLD': 'no loop of it has been hot yet',
    'HOT': 'a loop became hot',
    'NO_VM': "sqpyte's library has no VM",
    'THREAD': 'the VM is in use by another statement',
    'OPCODE': 'its hot loop has opcodes that only C implements',
    'REFUSED': 'it bailed out of the VM too often',
    'SEEKS': 'its hot loop looks rows up in B-trees, and is not expected to be faster in the VM',
    'SHORT': 'its hot loop has too little left to do to be compiled',
    'FULL': 'the VM has no room for its program and machine code (SQPYTE_VM_MEMORY, or the system has no memory)',
    'LIMIT': 'SQLITE_LIMIT_LENGTH is set so low that the VM would not notice each value beyond it',
    'LARGE': 'its program is too large for the VM to analyse, or to compile',
    'FALLS': 'its rows differ in too many ways (types, conditions) for the VM to compile each',
    'EXECUTABLE': 'the system lets no memory be both written and executed',
    'OFF': 'the VM is switched off',
    'NO_JIT': "the VM's JIT is switched off (SQPYTE_JIT)",
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
        program: the statement's opcodes, each with where it runs (list of Step).
    """

    def __init__(self, sql, tier, reason, detail='', program=()):
        self.sql = sql
        self.tier = tier
        self.reason = reason
        self.detail = detail
        self.program = list(program)

    def __repr__(self):
        return '<Plan %s: %s>' % (self.tier, ' '.join(self.sql.split()))

    def __str__(self):
        lines = ['%s: %s' % (self.tier, ' '.join(self.sql.split())), '  ' + self.reason]
        lines += ['  ' + str(step) for step in self.program]
        lines += ['  ' + line for line in self.detail.splitlines()]
        return '\n'.join(lines)


class Step:
    """One opcode of a statement's program, as EXPLAIN lists it.

    Attributes:
        place: where it runs (str): 'python' in a loop that is inlined, 'ahead' where C gathers many
            rows for one call, 'vm' in a loop that the VM runs when it is hot, else ''.
        pc, p1, p2, p3, p5: numbers (int).
        opcode, p4: texts (str).
    """

    def __init__(self, place, pc, opcode, p1, p2, p3, p4, p5):
        self.place = place
        self.pc = pc
        self.opcode = opcode
        self.p1, self.p2, self.p3, self.p4, self.p5 = p1, p2, p3, p4, p5

    def __str__(self):
        text = '%-6s %4d %-13s %4d %4d %4d %s' % (
            self.place, self.pc, self.opcode, self.p1, self.p2, self.p3, self.p4)
        return (text + (' %d' % self.p5 if self.p5 else '')).rstrip()


class Explanation(list):
    """The Plans of the statements that `explain` was given; printed, one after the other."""

    def __str__(self):
        return '\n'.join(str(plan) for plan in self)


def explained(db, sql, plan):
    """Return the Explanation of a script (str): of each statement what `plan(statement)` returns. PRAGMAs aren't
    compiled. Raises SQLite's error."""
    return Explanation(Plan(part, 'c', REASONS['PRAGMA']) if pragma else plan(part) for part, pragma in split(db, sql))


def split(db, sql):
    """Yield the statements of a script (str), one by one, and whether each is a PRAGMA; raises SQLite's error."""
    if not isinstance(sql, str):
        raise TypeError('explain() argument 2 must be str, not ' + errors.kind(sql))
    data = sql.encode()
    refuse_null_character(data)
    source = ffi.new('char[]', data)
    result = ffi.new('sqlite3_stmt *[1]')
    tail = ffi.new('const char *[1]')
    text = data.decode('latin-1')       # a character each byte
    start = 0
    while True:
        first = first_token(text, start)
        while text.startswith(';', first):
            start = first + 1
            first = first_token(text, start)
        if first == len(text):
            return
        pragma = is_pragma(text, first)
        if pragma:
            end = end_of_statement(data, first)
        else:
            if lib.sqlite3_prepare_v2(db, source + start, len(data) - start + 1, result, tail):
                raise errors.from_database(db)
            lib.sqlite3_finalize(result[0])
            end = tail[0] - source
            if not result[0]:       # it was nothing but what SQLite takes for a blank
                start = end
                continue
        yield data[start:end].decode().strip(), pragma
        start = end


def first_token(sql, start):
    """Return where in `sql` (UTF-8 as latin-1: str) the first token from `start` on is (int). A byte order mark is a
    blank, as in SQLite."""
    start = skip(sql, start)
    while sql.startswith(BYTE_ORDER_MARK, start):
        start = skip(sql, start + len(BYTE_ORDER_MARK))
    return start


def is_pragma(sql, start):
    """Whether the statement at `start` in `sql` (UTF-8 as latin-1: str) is a PRAGMA, or an EXPLAIN of one."""
    word, start = next_word(sql, start)
    if word == 'explain':
        word, start = next_word(sql, start)
        if word == 'query':
            word, start = next_word(sql, next_word(sql, start)[1])
    return word == 'pragma'


def next_word(sql, start):
    """Return the word of letters that comes next in `sql` (str), in lower case, and where it ends."""
    start = end = first_token(sql, start)
    while sql[end:end + 1].isalnum() or sql[end:end + 1] in ('_', '$'):
        end += 1
    return sql[start:end].lower(), end


def end_of_statement(data, start):
    """Return where the statement at `start` in `data` (bytes) ends, behind its semicolon (int). It isn't compiled."""
    end = data.find(b';', start)
    while end >= 0 and not lib.sqlite3_complete(data[start:end + 1]):
        end = data.find(b';', end + 1)
    return end + 1 or len(data)


def bare(sql):
    """Return a statement (str) without semicolons and blanks around it."""
    return sql.strip(' \t\f\r\n;')


def vm_reason(statement, has_run):
    """Return tier and reason of a statement's last run outside the inliner (two str). A run that the VM has ended,
    or has left behind a hot loop, was the VM's. `has_run`: whether the statement isn't new (bool)."""
    name = CODES.get(lib.sqpyte_why(statement.pointer), 'COLD')
    if name == 'HOT' or lib.sqpyte_tier(statement.pointer):
        return 'vm', REASONS[name]
    if lib.sqpyte_mode() == OFF:
        name = 'OFF'
    elif name == 'COLD' and not has_run:
        name = 'NOT_RUN'
    elif name == 'FALLS' and os.environ.get('SQPYTE_JIT') == 'off':     # nothing of its loop could be compiled
        name = 'NO_JIT'
    return 'c', REASONS[name]


def prepared(db, sql):
    """Return the `sqlite3_stmt *` of a new statement; raises SQLite's error."""
    result = ffi.new('sqlite3_stmt *[1]')
    if lib.sqlite3_prepare_v2(db, sql.encode(), -1, result, NULL):
        raise errors.from_database(db)
    return result[0]


def shown(listing, column):
    """The text (str) in a column of an EXPLAIN's row, '' for NULL: a constant in P4 may be no UTF-8."""
    data = lib.sqlite3_column_text(listing, column)
    size = lib.sqlite3_column_bytes(listing, column)
    return '' if data == NULL else ffi.unpack(ffi.cast('char *', data), size).decode(errors='replace')


def steps(db, sql, places):
    """Return the program of one statement (list of Step); none of an EXPLAIN.

    Args:
        db: the `sqlite3 *`.
        sql: the statement (str).
        places: by pc where the opcode runs (dict of int to str).
    """
    if explains(sql):
        return []
    listing = prepared(db, 'EXPLAIN ' + sql)
    found = []
    try:
        while lib.sqlite3_step(listing) == ROW:
            pc, p1, p2, p3, p5 = [lib.sqlite3_column_int64(listing, column) for column in NUMBER_COLUMNS]
            found.append(Step(places.get(pc, ''), pc, shown(listing, OPCODE), p1, p2, p3, shown(listing, P4), p5))
    finally:
        lib.sqlite3_finalize(listing)
    return found


def vm_places(statement):
    """Where the VM runs loops of a statement when they are hot (dict of pc to 'vm'); nowhere if there is no VM."""
    places: dict = {}
    if not statement.pointer or lib.sqpyte_why(statement.pointer) == NUMBERS['SQPYTE_WHY_NO_VM']:
        return places
    vdbe = address_of(statement.pointer)
    base, count = mem.i64(vdbe + layout.Vdbe_aOp), mem.i32(vdbe + layout.Vdbe_nOp)
    for pc in range(count):
        at = base + pc * layout.sizeof_VdbeOp
        head = mem.i32(at + layout.VdbeOp_p2)
        if (opcodes.PROPERTIES[mem.u8(at + layout.VdbeOp_opcode)] & opcodes.OPFLG_JUMP
                and 1 < head <= pc and lib.sqpyte_covers_loop(vdbe, head)):
            places.update((inside, 'vm') for inside in range(head, pc + 1))
    return places


def is_run_ahead(statement):
    """Whether C is running a statement ahead, and has called a function: its program has other opcodes meanwhile."""
    return bool(statement.pointer and mem.i64(address_of(statement.pointer) + layout.Vdbe_sqpyteLog))


def plan(session, sql):
    """Return the Plan of one statement, as it last ran, or as it would run if it hasn't."""
    session.check_open()        # an authorizer may have closed it, here and where the statement is prepared
    statement = has_run = session.statements.get(sql) or next(
        (cached for text, cached in list(session.statements.items()) if bare(text) == bare(sql)), None)
    fresh = statement is None or is_run_ahead(statement)
    if fresh:
        statement = session.prepare(sql)
        if session.detect_types:
            session.find_converters(statement)
    try:
        session.check_open()
        tier, reason = vm_reason(statement, has_run is not None)
        places = vm_places(statement)
        detail = ''
        if tiers.planner is not None:
            inlined, why, detail, inlined_places = tiers.planner.explain(session, statement, not fresh)
            places.update(inlined_places)
            if inlined:
                tier, reason = 'inliner', why
            else:
                reason = '%s; not inlined: %s' % (reason, why)
        return Plan(sql, tier, reason, detail, steps(session.db, sql, places))
    finally:
        if fresh:
            session.retire(statement)


def explain(connection, sql, /):
    """Tell where each statement of `sql` last ran, or can run, and why.

    Args:
        connection: the Connection.
        sql: one or several SQL statements (str).
    Returns:
        an Explanation: a list of Plans that prints as a report.
    Raises:
        Error: the connection is closed, or SQLite rejects a statement.
    """
    session = session_of(connection)
    if session is None:
        raise TypeError('explain() argument 1 must be sqlite3.Connection, not ' + errors.kind(connection))
    session.check()
    with session.lock:      # another thread may be about to close it
        session.check_open()
        return explained(session.db, sql, lambda part: plan(session, part))
