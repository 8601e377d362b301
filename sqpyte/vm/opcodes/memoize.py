"""Memoize and MemoizeStore, SQPyte's own opcodes: results of correlated subqueries that come again.

What they keep, and for how long, is C's (c_engine/storage/memoize.c).
"""
from c_engine.generated.layout import SQLITE_NOMEM
from sqpyte.vm.base import capi
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.function import spill_registers
from sqpyte.vm.opcodes.table import FAILED, opcode


@opcode('Memoize', reads='P3@P4 P1@P5', writes='P1@P5', jumps='P2', moves='', kind='memo')
@unroll_safe
def op_memoize(frame, op, pc):
    """If the results of this subquery for the values r[P3@P4] are known, copy them to r[P1@P5] and
    jump to P2. It reads r[P1@P5] as it writes them only then."""
    r = op.p1
    while r < op.p1 + op.p5:
        frame.release_views_of(r, op.live)
        r += 1
    rc = spill_registers(frame, op.p3, op.p4, op.live, 0)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    known = capi.memoize(frame.vdbe, pc)
    if known < 0:
        capi.fail(frame.vdbe, pc, SQLITE_NOMEM)
        return FAILED
    if known == 0:
        return pc + 1
    r = op.p1
    while r < op.p1 + op.p5:
        frame.write_in_mem(r)
        r += 1
    return op.p2


@opcode('MemoizeStore', reads='P1@P5', moves='', kind='memo')
def op_memoize_store(frame, op, pc):
    """Keep the results r[P1@P5] of this subquery for the values that the Memoize before it was asked
    for."""
    rc = spill_registers(frame, op.p1, op.p5, op.live, 0)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    capi.memoize_store(frame.vdbe, pc)
    return pc + 1
