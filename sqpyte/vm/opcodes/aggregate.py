"""Opcodes of aggregation, and MakeRecord, which feeds the sorter that groups."""
from c_engine.generated.layout import MEM_IntReal, Mem_flags, SQLITE_AFF_REAL
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.convert import LEFT_TO_C, convert_register
from sqpyte.vm.opcodes.function import spill_registers
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, opcode
from sqpyte.vm.values import aggregates, functions
from sqpyte.vm.values.values import W_Bytes, W_Int, W_Real, W_Text

SKIPPED = 1003      # SQPYTE_SKIPPED


@opcode('AggStep', reads='P2@P5 P3 SKIP', writes='P3 SKIP', user_code=True, moves='', converts='P2@P5',
        kind='call aggregate-step emitted opaque-p3')
def op_agg_step(frame, op, pc):
    """A step of the aggregate P4 with the arguments r[P2@P5]; r[P3] is the accumulator."""
    if op.aggregate != 0 and _step_on_values(frame, op):
        return pc + 1
    return _step_on_registers(frame, op, pc)


@opcode('AggInverse', reads='P2@P5 P3 SKIP', writes='P3 SKIP', user_code=True, moves='',
        converts='P2@P5', kind='call aggregate-inverse opaque-p3')
def op_agg_inverse(frame, op, pc):
    """The opposite of a step of the aggregate P4 with the arguments r[P2@P5], which leave a
    window; r[P3] is the accumulator."""
    return _step_on_registers(frame, op, pc)


def _step_on_values(frame, op):
    """Do the step of one of SQLite's own aggregates on its C context. Returns False, and has
    changed nothing, if it is the first step, which makes the context, or for texts."""
    if not frame.is_in_mem(op.p3):
        return False
    w = None
    if op.p5 > 0:
        w = frame.read(op.p2)
        if w is None:
            return False
    result = aggregates.step(frame.mem_address(op.p3), op.aggregate, w)
    if result == aggregates.BAIL_OUT:
        return False
    if result == aggregates.SKIPPED and op.skip_register > 0:
        frame.write(op.skip_register, W_Int(1))
    return True


def _step_on_registers(frame, op, pc):
    """Call the step, or its inverse, as upstream does."""
    if op.function == functions.USER:
        rc = frame.save(pc, op.live)
        if rc == 0:
            rc = capi.agg_step(frame.vdbe, pc)
            frame.forget()
    else:
        rc = spill_registers(frame, op.p2, op.p5, op.live, 0)
        if rc == 0:
            frame.release_views_of(op.p3, op.live)      # of the last group's result
            rc = frame.write_back_one(op.p3)
            frame.write_in_mem(op.p3)
        if rc == 0:
            rc = capi.agg_step(frame.vdbe, pc)
    if rc == SKIPPED:
        if op.skip_register > 0:
            frame.write(op.skip_register, W_Int(1))
    elif rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('AggFinal', reads='P1', writes='P1', user_code=True, moves='', kind='call aggregate-result opaque-p1')
def op_agg_final(frame, op, pc):
    """r[P1] = the result of the aggregate P4 whose accumulator it is."""
    return _result(frame, op, pc, op.p1)


@opcode('AggValue', reads='P1', writes='P3', user_code=True, moves='', kind='call aggregate-result opaque-p3')
def op_agg_value(frame, op, pc):
    """r[P3] = the result so far of the aggregate P4 whose accumulator is r[P1]."""
    return _result(frame, op, pc, op.p3)


def _result(frame, op, pc, r):
    """Have C compute an aggregate's result in the Mem of register r."""
    if op.function == functions.USER:
        rc = frame.save(pc, op.live)
        if rc == 0:
            rc = capi.agg_result(frame.vdbe, pc)
            frame.forget()
    else:
        frame.release_views_of(r, op.live)
        if r != op.p1:
            frame.release_views_of(op.p1, op.live)
        rc = frame.write_back_one(op.p1)
        if rc == 0:
            rc = capi.agg_result(frame.vdbe, pc)
        frame.write_in_mem(op.p1)
        frame.write_in_mem(r)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('CollSeq', writes='P1', moves='', kind='registers nothing emitted again sink')
def op_coll_seq(frame, op, pc):
    """The next min() or max() uses the collation P4; r[P1] = 0, to be set to 1 by it when the
    row isn't the new extreme."""
    if op.p1:
        frame.write(op.p1, W_Int(0))
    return pc + 1


@opcode('MakeRecord', reads='P1@P2', writes='P3 P1@P2', moves='', kind='registers again store sink affinities')
@unroll_safe
def op_make_record(frame, op, pc):
    """r[P3] = the record of r[P1@P2], to which the affinities of the string P4 are applied
    first. The types are known to the trace; one C function then writes header and body at once."""
    n = op.p2
    i = 0
    while i < n:
        if frame.read(op.p1 + i) is None:
            return BAIL_OUT
        i += 1
    affinities = 0
    if op.text_p4 is not None:
        affinities = len(op.text_p4)
    i = 0
    while i < affinities:
        rc = convert_register(frame, op.p1 + i, ord(op.text_p4[i]), op.live)
        if rc == LEFT_TO_C:
            return BAIL_OUT
        if rc != 0:
            capi.fail(frame.vdbe, pc, rc)
            return FAILED
        i += 1
    frame.release_views_of(op.p3, op.live)
    fields = op.fields
    i = 0
    while i < n:
        w = frame.read(op.p1 + i)
        field = fields + 24 * i
        if isinstance(w, W_Int):
            mem.set_i64(field, 0, 1)
            mem.set_i64(field, 8, w.intval)
        elif isinstance(w, W_Real):
            if i < affinities and ord(op.text_p4[i]) == SQLITE_AFF_REAL and _is_short(w.floatval):
                mem.set_i64(field, 0, 1)
                mem.set_i64(field, 8, int(w.floatval))
            else:
                mem.set_i64(field, 0, 2)
                mem.set_f64(field, 8, w.floatval)
        elif isinstance(w, W_Bytes):
            mem.set_i64(field, 0, 3 if isinstance(w, W_Text) else 4)
            mem.set_i64(field, 8, w.address)
            mem.set_i64(field, 16, w.size)
        else:
            mem.set_i64(field, 0, 0)
        i += 1
    rc = capi.make_record(frame.vdbe, frame.mem_address(op.p3), fields, n)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    frame.write_in_mem(op.p3)
    if affinities:
        _mark_short_reals(frame, op)
    return pc + 1


# Reals that are integers of up to 6 bytes are stored as such in a column of type REAL.
_SHORT = 140737488355328.0


def _is_short(r):
    """Whether a real is stored as an integer where the affinity is REAL."""
    return -_SHORT <= r < _SHORT and float(int(r)) == r


@unroll_safe
def _among(r, registers):
    for q in registers:
        if q == r:
            return True
    return False


@unroll_safe
def _mark_short_reals(frame, op):
    """As upstream's MakeRecord does, leave reals that it has stored as integers as integers that
    are marked as reals (MEM_IntReal), so that another record of them is made in the same way."""
    i = 0
    while i < len(op.text_p4):
        r = op.p1 + i
        if ord(op.text_p4[i]) == SQLITE_AFF_REAL and _among(r, op.live_after):
            w = frame.read(r)
            if isinstance(w, W_Real) and _is_short(w.floatval):
                frame.release_views_of(r, op.live)
                frame.write(r, W_Int(int(w.floatval)))
                frame.write_back_one(r)
                mem.set_u16(frame.mem_address(r), Mem_flags, MEM_IntReal)
                frame.write_in_mem(r)
        i += 1
