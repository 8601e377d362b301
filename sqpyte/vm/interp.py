"""The dispatcher: runs a decoded program until it leaves for C, gives a row, or ends.

`run` is what the engine calls (c_engine/core/engine.c) for a statement whose tier is the VM.  The
JIT's merge point has the program and pc as greens: a trace belongs to a place in a program, and
all statements with the same content share it.  The third one, how many opcodes have been passed since
the last loop's head, is always 0 where a trace begins, and a constant within it: so every opcode is
counted as upstream does, with one addition for each iteration.
"""
import os

from c_engine.generated.layout import (
    MEM_FromBind, Mem_flags, SQLITE_INTERRUPT, SQLITE_NOMEM, SQPYTE_MAX_REFUSALS, SQPYTE_MODE_ALWAYS, SQPYTE_STOP,
    SQPYTE_WHY_FULL, SQPYTE_WHY_REFUSED, Vdbe_pc, Vdbe_sqpyteCompare, Vdbe_sqpyteProgram, Vdbe_sqpyteReason,
    Vdbe_sqpyteRefused, sqlite3_u1_isInterrupted)
from sqpyte.vm.base import capi, jit, mem
from sqpyte.vm.base.ablation import switches
from sqpyte.vm.budget import budget
from sqpyte.vm.frame import Frame
from sqpyte.vm.opcodes.every import TABLE
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, LEAVE
from sqpyte.vm.program.decode import program_of
from sqpyte.vm.program.hopeless import falls_too_often, is_hopeless
from sqpyte.vm.program.interner import interner
from sqpyte.vm.program.loop_heads import at_head

# A run of the VM that hands the whole frame to C more often than this goes on in C.
MAX_C_STEPS = 2000

_HANDLERS = jit.unrolling_iterable(
    [(number, TABLE[number].handler) for number in sorted(TABLE)])


def get_printable_location(pc, passed, program):
    """What the JIT's logs call a place."""
    return 'program %d pc %d opcode %d' % (program.number, pc, program.ops[pc].opcode)


driver = jit.JitDriver(greens=['pc', 'passed', 'program'], reds=['frame'], virtualizables=['frame'],
                       get_printable_location=get_printable_location)

if mem.TRANSLATED_HOST:
    def dispatch(frame, op, pc):
        """Run one opcode: the next pc, or BAIL_OUT, LEAVE or FAILED."""
        for number, handler in _HANDLERS:
            if op.opcode == number:
                return handler(frame, op, pc)
        return BAIL_OUT
else:
    _BY_NUMBER = dict(_HANDLERS)

    def dispatch(frame, op, pc):
        """Run one opcode: the next pc, or BAIL_OUT, LEAVE or FAILED."""
        handler = _BY_NUMBER.get(op.opcode)
        return BAIL_OUT if handler is None else handler(frame, op, pc)


def step_in_c(frame, op, pc, passed):
    """Run one opcode in upstream's interpreter.

    Returns: the next pc, or FAILED with `frame.result` set to what the VM returns.
    """
    if op.exact:
        frame.save_place(pc)
        rc = frame.spill_for(op)
    else:
        rc = frame.save(pc, op.live)
        frame.c_steps += 1
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        frame.result = SQPYTE_STOP
        return FAILED
    if frame.watched:                   # so that C calls the progress handler when upstream does
        capi.count_steps(frame.vdbe, frame.left - passed)
    rc = capi.step_one(frame.vdbe, op.counted)
    if frame.watched:
        frame.left = capi.until_progress(frame.vdbe) + passed
    if op.exact:
        frame.reload_after(op)
    else:
        frame.forget()
    if rc != SQPYTE_STOP:
        frame.result = rc
        return FAILED
    frame.compare = mem.i32(frame.vdbe, Vdbe_sqpyteCompare)
    return jit.promote(mem.i32(frame.vdbe, Vdbe_pc))


# Upstream looks for an interrupt, and calls the progress handler, before it leaves the opcode that jumps, which it
# takes to stand before the one that is next: sqlite3_log() is told its place.
def report_progress(frame, program, pc, passed):
    """Call the progress handler, which is due before pc. Returns whether the statement goes on."""
    rc = frame.save(pc, program.ops[pc].live)
    if rc == 0:
        rc = capi.progress(frame.vdbe, frame.left - passed)
        frame.forget()
        frame.left = capi.until_progress(frame.vdbe) + passed
    if rc != 0:
        capi.fail(frame.vdbe, pc - 1, rc)
        frame.left -= passed
        frame.result = SQPYTE_STOP
    return rc == 0


def leave(frame, program, pc, passed):
    """Bring all state to C, to go on there at pc."""
    frame.left -= passed
    rc = frame.save(pc, program.ops[pc].live)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
    frame.result = SQPYTE_STOP


def run_loop(frame, program, pc):
    """Run from pc until the statement leaves the VM; `frame.result` says how."""
    frame = jit.hint(frame, access_directly=True)
    passed = 0
    while True:
        driver.jit_merge_point(pc=pc, passed=passed, program=program, frame=frame)
        op = program.ops[pc]
        if op.seeks and not frame.seeking:
            leave(frame, program, pc, passed)
            return
        following = BAIL_OUT if op.in_c else dispatch(frame, op, pc)
        if following >= 0:
            passed += op.counted
            # (Where a loop begins anew, it is looked for below.)
            if op.interruptible and not (following <= pc and op.loop):
                if mem.i32(frame.db, sqlite3_u1_isInterrupted):
                    frame.left -= passed
                    capi.fail(frame.vdbe, following - 1, SQLITE_INTERRUPT)
                    frame.result = SQPYTE_STOP
                    return
                if frame.watched and frame.left <= passed and not report_progress(frame, program, following, passed):
                    return
        else:
            if following == FAILED:
                frame.left -= passed + op.counted
                frame.result = SQPYTE_STOP
                return
            if following == LEAVE or not (op.covered or frame.always):
                leave(frame, program, pc, passed)
                return
            following = step_in_c(frame, op, pc, passed)
            if following < 0:
                frame.left -= passed
                return
            if frame.c_steps > MAX_C_STEPS and not frame.always:
                frame.refused = True
                leave(frame, program, following, passed)
                return
        if following <= pc and op.loop:
            frame.left -= passed
            passed = 0
            if mem.i32(frame.db, sqlite3_u1_isInterrupted):
                capi.fail(frame.vdbe, following - 1, SQLITE_INTERRUPT)
                frame.result = SQPYTE_STOP
                return
            if frame.watched and frame.left <= 0 and not report_progress(frame, program, following, 0):
                return
            if frame.crowded:
                leave(frame, program, following, 0)
                return
            if not jit.we_are_jitted():
                frame.full = budget.is_full()
                if (is_hopeless(program) or frame.full
                        or not frame.always and falls_too_often(program, frame.passed())):
                    leave(frame, program, following, 0)
                    return
            frame.drop(op.dead)
            at_head(frame, program.ops[following])
            driver.can_enter_jit(pc=following, passed=passed, program=program, frame=frame)
        pc = following


def run(vdbe):
    """Run a statement from its pc in the VM (sqpyte_vm_run_fn of engine.h).

    Args: vdbe, address of the Vdbe (int).
    Returns: SQLITE_ROW or another result of sqlite3VdbeExec, or SQPYTE_STOP: all state is in C,
        where the statement goes on.
    """
    if budget.is_full() and not budget.make_room():
        refuse(vdbe, SQPYTE_WHY_FULL, 1)
        return SQPYTE_STOP
    try:
        program = interner.get(mem.i32(vdbe, Vdbe_sqpyteProgram))
        if program is None:
            program = program_of(vdbe)
            mem.set_i32(vdbe, Vdbe_sqpyteProgram, program.number)
        if program.hopeless:
            refuse(vdbe, program.hopeless, SQPYTE_MAX_REFUSALS)
            return SQPYTE_STOP
        always = capi.mode() == SQPYTE_MODE_ALWAYS
        frame = Frame(vdbe, program, always, capi.may_seek(vdbe) != 0)
    except MemoryError:
        return end(vdbe, SQLITE_NOMEM)
    budget.enter(program)
    try:
        unmark(frame, program)
        pc = mem.i32(vdbe, Vdbe_pc)
        at_head(frame, program.ops[pc])
        run_loop(frame, program, pc)
    except MemoryError:
        frame.result = end(vdbe, SQLITE_NOMEM)
    capi.count_steps(vdbe, frame.left)
    program.passed += frame.passed()
    budget.leave(program)
    frame.free_kept()
    if program.hopeless:
        refuse(vdbe, program.hopeless, SQPYTE_MAX_REFUSALS)
    elif frame.full:
        refuse(vdbe, SQPYTE_WHY_FULL, SQPYTE_MAX_REFUSALS // 2)     # once more: perhaps all is this one's
    elif frame.refused:
        refuse(vdbe, SQPYTE_WHY_REFUSED, 1)
    return frame.result


def unmark(frame, program):
    """Remove the mark of a bound parameter where nobody can see it (bound.py)."""
    for r in program.unseen:
        address = frame.mem_address(r)
        mem.set_u16(address, Mem_flags, mem.u16(address, Mem_flags) & ~MEM_FromBind)


def refuse(vdbe, why, times):
    """A statement goes on in C, and that counts as so many times: for good after SQPYTE_MAX_REFUSALS."""
    mem.set_i32(vdbe, Vdbe_sqpyteReason, why)
    mem.set_i32(vdbe, Vdbe_sqpyteRefused, mem.i32(vdbe, Vdbe_sqpyteRefused) + times)


def end(vdbe, code):
    """The statement ends, whatever its registers hold: with SQLITE_NOMEM, there was no memory for a large object, or
    with SQLITE_INTERNAL, the VM has raised what it should not. Returns what the VM returns."""
    capi.fail(vdbe, mem.i32(vdbe, Vdbe_pc), code)
    return SQPYTE_STOP


def start():
    """Prepare the VM; before the first run.  SQPYTE_JIT may hold parameters of the JIT, as PyPy's
    --jit option takes them: threshold=3,trace_eagerness=2."""
    mem.prepare()
    # The engine has already seen thousands of back-edges: no need to count long here.
    jit.set_param(driver, 'threshold', 40)
    jit.set_param(driver, 'trace_eagerness', 40)
    jit.set_param(driver, 'trace_limit', 16000)     # the most that RPython's traces hold
    parameters = os.environ.get('SQPYTE_JIT')
    if parameters is not None:
        try:
            jit.set_user_param(driver, parameters)
        except ValueError:
            capi.complain()
    switches.read()
