"""Taking a loop over from C: its class, stopping the statement there, starting the runner; and C's call before a
change, which rolls back what runs ahead."""

import weakref

from c_engine.generated import layout, opcodes
from pypy_module.dbapi.statements import tiers
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib
from pypy_module.inline.analysis.filters import FILTER
from pypy_module.inline.analysis.sinks import WITH_SINK
from pypy_module.inline.codegen.filters import FilterCode
from pypy_module.inline.codegen.slices import SliceCode
from pypy_module.inline.codegen.rows import class_for as rows_class_for
from pypy_module.inline.codegen.scan import Code
from pypy_module.inline.codegen.sinks import SinkCode
from pypy_module.inline.codegen.windows import WindowCode
from pypy_module.inline.known import compilations, kind_of, known   # noqa: F401 - for policy.py
from pypy_module.inline.state import CONVERTED, session_obstacle, state_of
from pypy_module.inline.runtime.call_log import closed, started
from pypy_module.inline.runtime.sinks import OVER
from sqpyte.vm.base import capi, mem

capi.use(lib)

LEAST_LENGTH = NUMBERS['SQPYTE_LEAST_LENGTH']


# Address of a sqlite3 * -> its Session.
_watched: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


@ffi.callback('void(void *)')
def _roll_back(db):
    """Called by C before anything that statements which run ahead could see (c_engine/core/validity.h)."""
    session = _watched.get(address_of(db))
    if session is not None:
        try:
            session.roll_back()
        except BaseException as error:
            session.raised = error


def watch(session):
    """Have C say when what statements of a Session have run ahead is to be rolled back."""
    db = session.db
    if db and _watched.get(address_of(db)) is not session:
        _watched[address_of(db)] = session
        lib.sqpyte_roll_back_by(db, _roll_back)


def obstacle(statement):
    """Why a statement can't be inlined, whatever its loops are (str), or ''."""
    vdbe = address_of(statement.pointer)
    db = mem.i64(vdbe + layout.Vdbe_db)
    if mem.u8(db + layout.sqlite3_enc) != layout.SQLITE_UTF8:
        return 'the database is UTF-16'
    if mem.i32(vdbe + layout.Vdbe_lockMask):
        return 'a shared cache needs its B-trees locked'
    if mem.i32(db + layout.sqlite3_aLimit + 4 * layout.SQLITE_LIMIT_LENGTH) < LEAST_LENGTH:
        return 'SQLITE_LIMIT_LENGTH is set low'
    if mem.i32(db + layout.sqlite3_nSqpyteWriting):
        return 'a statement of the connection that writes is being stepped'
    return state_of(statement).slower


# Programs of more opcodes aren't analysed, nor coroutines of more Yields (VALUES with so many rows):
# what leads where would grow as their square.
MOST_OPCODES = 4000
MOST_YIELDS = 16


def too_large(statement):
    """Why a statement's program isn't analysed (str), or ''."""
    before = state_of(statement).known
    if before is not None and before.compilations == compilations(statement):
        return ''
    vdbe = address_of(statement.pointer)
    size = mem.i32(vdbe + layout.Vdbe_nOp)
    if size > MOST_OPCODES:
        return 'its program has %d instructions, more than are analysed' % size
    first = mem.i64(vdbe + layout.Vdbe_aOp)
    yields: dict = {}
    for at in range(first, first + size * layout.sizeof_VdbeOp, layout.sizeof_VdbeOp):
        if mem.u8(at + layout.VdbeOp_opcode) == opcodes.OP_Yield:
            register = mem.i32(at + layout.VdbeOp_p1)
            yields[register] = yields.get(register, 0) + 1
            if yields[register] > MOST_YIELDS:
                return 'a subquery has more ends than are analysed'
    return ''


def not_any_more(session, statement):
    """Why a statement can't be inlined (str), or '', now that C has stepped it to a loop: a function that it has called
    may have closed the connection, set a text factory or a hook, or interrupted it: C looks for that where the loop
    jumps, a runner where something has happened since. And if SQLite has compiled it again its columns may have
    converters."""
    db = session.db
    if not db:      # closed by a function, or the Connection has got another
        return 'its connection is closed'
    if mem.i32(address_of(db) + layout.sqlite3_u1_isInterrupted):
        return 'it is interrupted'
    if session.detect_types and compilations(statement) != statement.reprepares:
        return CONVERTED
    return session_obstacle(session, statement) or obstacle(statement)


def counter(statement):
    """The statement's program counter."""
    return mem.i32(address_of(statement.pointer) + layout.Vdbe_pc)


def run_ahead(session, result, statement, found, ahead, tier_up):
    """Have C compute rows ahead; `tier_up`: of the statement when it goes on without.

    Returns:
        INLINED, or what stepping the statement in C returned.
    """
    made = rows_class_for(lib.sqlite3_column_count(statement.pointer))
    runner = made(session, statement, found, ahead, tier_up)
    try:
        rc = runner.begin(result)
    except BaseException:
        runner.detach()
        raise
    if rc is None:
        state_of(statement).taken = True
        return tiers.INLINED
    return statement.grown(rc)


def taken_over(runner, statement, result):
    """Have a new runner take over its statement, and stand in the ResultSet.

    Returns:
        INLINED, or what stepping the statement in C returned.
    """
    try:
        if not runner.prepare():
            runner.detach()
            return statement.step()
        state_of(statement).taken = True
        runner.begin()
    except BaseException:
        runner.detach()
        raise
    if runner.left:
        return statement.grown(runner.rc)
    runner.attach(result)
    return tiers.INLINED


def _enter_log(session, result, statement, found, loop, code):
    """Step a statement to a Slice or WindowLog, and have a runner, of the class that `code` makes, go on there.

    Returns:
        INLINED, or what stepping the statement in C returned; the runner, or None.
    """
    rc, handle, buffer = started(statement, loop)
    if handle is None:
        return statement.grown(rc), None
    if not_any_more(session, statement):
        closed(handle, buffer)
        return statement.step(), None
    runner = found.class_for(loop, code)(session, statement, found, handle, buffer)
    return taken_over(runner, statement, result), runner


def enter_slice(session, result, statement, found, sliced):
    """Step a statement to a slice, and have a runner go on there.

    Returns:
        INLINED, or what stepping the statement in C returned.
    """
    while sliced is not None:
        code = SinkCode if kind_of(sliced) == WITH_SINK else SliceCode
        rc, runner = _enter_log(session, result, statement, found, sliced, code)
        if rc != OVER:
            return rc
        sliced = found.slice_behind(runner.reached)
    return statement.step()


def enter_window_log(session, result, statement, found, window_log):
    """Step a statement to a window function's call, and have a runner go on there.

    Returns:
        INLINED, or what stepping the statement in C returned.
    """
    return _enter_log(session, result, statement, found, window_log, WindowCode)[0]


def enter(session, result, statement, found, loop):
    """Have a runner take over the statement, which is at the head of a loop.

    Returns:
        INLINED, or what stepping the statement in C returned.
    """
    if not_any_more(session, statement):
        return statement.step()
    code = FilterCode if loop.shape == FILTER else Code
    return taken_over(found.class_for(loop, code)(session, statement, found), statement, result)


LOADED = True       # all of the module is there
