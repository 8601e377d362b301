"""Opcodes of aggregation, and MakeRecord, which feeds the sorter that groups."""
from c_engine.generated.layout import MEM_Agg, Mem_flags, Mem_n, Mem_z, VdbeOp_p4, sizeof_VdbeOp
from sqpyte import aggregates, capi, mem
from sqpyte.jit import unroll_safe
from sqpyte.optable import ASK_C, FAILED, opcode
from sqpyte.values import W_Bytes, W_Int, W_Null, W_Real, W_Text


@opcode('AggStep', reads='P2@P5 P3 SKIP', writes='P3', user_code=True)
def op_agg_step(frame, op, pc):
    """A step of the aggregate P4 with the arguments r[P2@P5]; r[P3] is the accumulator. User
    functions, and the first step, which makes the context, are C's."""
    kind = op.aggregate
    if kind == 0 or op.p1 != 0:
        return ASK_C
    address = frame.mem_address(op.p3)
    if not frame.is_in_mem(op.p3) or (mem.u16(address + Mem_flags) & MEM_Agg) == 0:
        return ASK_C
    context = mem.i64(address + Mem_z)
    if context == 0:
        return ASK_C
    if kind == aggregates.COUNT:
        if op.p5 > 0:
            w = frame.read(op.p2)
            if w is None:
                return ASK_C
            if not isinstance(w, W_Null):
                aggregates.step_count(context)
        else:
            aggregates.step_count(context)
    else:
        w = frame.read(op.p2)
        if w is None:
            return ASK_C
        if kind == aggregates.MIN or kind == aggregates.MAX:
            result = aggregates.step_minmax(context, w, kind == aggregates.MAX)
        else:
            result = aggregates.step_sum(context, w)
        if result == aggregates.ASK:
            return ASK_C
        if result == aggregates.SKIPPED and op.skip_register > 0:
            frame.write(op.skip_register, W_Int(1))
    mem.set_i32(address + Mem_n, mem.i32(address + Mem_n) + 1)
    return pc + 1


@opcode('AggFinal', reads='P1', writes='P1', user_code=True)
def op_agg_final(frame, op, pc):
    """r[P1] = the result of the aggregate P4 whose accumulator it is."""
    if op.aggregate == 0 or not frame.is_in_mem(op.p1) or op.p3 != 0:
        return ASK_C
    address = frame.mem_address(op.p1)
    if (mem.u16(address + Mem_flags) & MEM_Agg) == 0:
        return ASK_C
    if op.aggregate == aggregates.SUM:
        return ASK_C                    # may raise "integer overflow"
    rc = capi.aggregate_final(
        address, mem.i64(frame.ops + pc * sizeof_VdbeOp + VdbeOp_p4))
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('CollSeq', writes='P1')
def op_coll_seq(frame, op, pc):
    """The next min() or max() uses the collation P4; r[P1] = 0, to be set to 1 by it when the
    row isn't the new extreme."""
    if op.p1:
        frame.write(op.p1, W_Int(0))
    return pc + 1


@opcode('MakeRecord', reads='P1@P2', writes='P3')
@unroll_safe
def op_make_record(frame, op, pc):
    """r[P3] = the record of r[P1@P2]. With affinities in P4 it is C's. The types are known to
    the trace; one C function then writes header and body at once."""
    n = op.p2
    if op.text_p4 is not None:
        return ASK_C
    i = 0
    while i < n:
        if frame.read(op.p1 + i) is None:
            return ASK_C
        i += 1
    frame.release_views_of(op.p3, op.live_after)
    fields = op.fields
    i = 0
    while i < n:
        w = frame.read(op.p1 + i)
        field = fields + 24 * i
        if isinstance(w, W_Int):
            mem.set_i64(field, 1)
            mem.set_i64(field + 8, w.intval)
        elif isinstance(w, W_Real):
            mem.set_i64(field, 2)
            mem.set_f64(field + 8, w.floatval)
        elif isinstance(w, W_Bytes):
            mem.set_i64(field, 3 if isinstance(w, W_Text) else 4)
            mem.set_i64(field + 8, w.address)
            mem.set_i64(field + 16, w.size)
        else:
            mem.set_i64(field, 0)
        i += 1
    rc = capi.make_record(frame.vdbe, frame.mem_address(op.p3), fields, n)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    frame.write_in_mem(op.p3)
    return pc + 1
