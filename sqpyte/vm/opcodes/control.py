"""Opcodes that direct the program's course: jumps, subroutines, rows, the end."""
from c_engine.generated.layout import (
    SQLITE_STMTSTATUS_RUN, SQLITE_TRACE_STMT, VdbeOp_p1, VdbeOp_p2, Vdbe_pFrame, sizeof_VdbeOp,
    sqlite3_mTrace)
from sqpyte.vm.base import mem
from sqpyte.vm.base.jit import promote
from sqpyte.vm.opcodes.cursor import count
from sqpyte.vm.opcodes.table import BAIL_OUT, LEAVE, opcode
from sqpyte.vm.values.values import W_Int

_TRACE_LEGACY = 0x40        # SQLITE_TRACE_LEGACY
_ONCE_RESET = 0x7ffffffe    # the lowest that sqlite3GlobalConfig.iOnceResetThreshold is set to


@opcode('Init', jumps='P2', kind='ends-step')
def op_init(frame, op, pc):
    """Start of a program: a new number for its Once opcodes; jump to P2."""
    if mem.u8(frame.db + sqlite3_mTrace) & (SQLITE_TRACE_STMT | _TRACE_LEGACY):
        return BAIL_OUT
    address = frame.ops + VdbeOp_p1
    number = mem.i32(address)
    if number >= _ONCE_RESET:
        return BAIL_OUT
    mem.set_i32(address, 0, number + 1)
    count(frame, SQLITE_STMTSTATUS_RUN)
    return op.p2


@opcode('Goto', jumps='P2', loop=True, kind='registers emitted sink looks-for-interrupt')
def op_goto(frame, op, pc):
    """Jump to P2."""
    return op.p2


@opcode('Gosub', writes='P1', jumps='P2', kind='registers looks-for-interrupt')
def op_gosub(frame, op, pc):
    """r[P1] = this address; jump to P2."""
    frame.drop(op.dead)
    frame.write(op.p1, W_Int(pc))
    return op.p2


@opcode('Return', reads='P1', jumps='RETURN', kind='registers switch')
def op_return(frame, op, pc):
    """Jump to the address after the one in r[P1]; with P3 fall through if that isn't an
    integer."""
    w = frame.read(op.p1)
    if w is None:
        return BAIL_OUT
    if isinstance(w, W_Int):
        return promote(w.intval) + 1
    if op.p3:
        return pc + 1
    return BAIL_OUT


@opcode('InitCoroutine', writes='P1', jumps='P2', moves='', kind='registers')
def op_init_coroutine(frame, op, pc):
    """r[P1] = the coroutine that begins at P3; jump to P2."""
    frame.write(op.p1, W_Int(op.p3 - 1))
    return op.p2 if op.p2 else pc + 1


@opcode('Yield', reads='P1', writes='P1', jumps='P2 COROUTINE', moves='', kind='registers coroutine switch')
def op_yield(frame, op, pc):
    """Go on in the coroutine r[P1], or in its caller; r[P1] is where the other one goes on."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    following = promote(w.intval) + 1
    frame.write(op.p1, W_Int(pc))
    return following


@opcode('EndCoroutine', reads='P1', writes='P1', jumps='COROUTINE', moves='', kind='registers coroutine switch')
def op_end_coroutine(frame, op, pc):
    """The end of the coroutine: jump to P2 of the Yield at r[P1]."""
    w = frame.read(op.p1)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    caller = promote(w.intval)
    frame.write(op.p1, W_Int(pc - 1))
    return promote(mem.i32(frame.ops + caller * sizeof_VdbeOp, VdbeOp_p2))


@opcode('Once', jumps='P2', kind='emitted')
def op_once(frame, op, pc):
    """Fall through the first time in a run, jump to P2 from then on."""
    if mem.i64(frame.vdbe, Vdbe_pFrame) != 0:
        return BAIL_OUT
    run = mem.i32(frame.ops, VdbeOp_p1)
    address = frame.ops + pc * sizeof_VdbeOp + VdbeOp_p1
    if mem.i32(address) == run:
        return op.p2
    mem.set_i32(address, 0, run)
    return pc + 1


@opcode('ResultRow', reads='P1@P2', kind='emitted ends-step shows-mark')
def op_result_row(frame, op, pc):
    """The registers r[P1@P2] are a row of the result; leave until the next sqlite3_step.
    Upstream's code does it, once the registers are written back."""
    return BAIL_OUT


@opcode('Halt', reads='P3', kind='ends-step')
def op_halt(frame, op, pc):
    """The end: upstream closes cursors, commits or raises the error P1 (message in r[P3])."""
    return LEAVE


@opcode('Noop', kind='registers nothing emitted again sink')
def op_noop(frame, op, pc):
    """Nothing."""
    return pc + 1


@opcode('Explain', kind='registers nothing emitted again sink')
def op_explain(frame, op, pc):
    """Nothing: a line of EXPLAIN QUERY PLAN."""
    return pc + 1


@opcode('ReleaseReg', kind='registers nothing emitted again sink')
def op_release_reg(frame, op, pc):
    """Nothing: tells debugging builds that registers aren't used any more."""
    return pc + 1
