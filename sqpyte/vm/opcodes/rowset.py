"""Opcodes of sets of rowids, which stay in their register's `Mem` (upstream's RowSet)."""
from c_engine.generated.layout import SQLITE_NOMEM
from sqpyte.vm.base import capi, mem
from sqpyte.vm.opcodes.table import BAIL_OUT, FAILED, opcode
from sqpyte.vm.values.values import W_Int


def _set_in_mem(frame, op):
    """Address of the Mem of the set r[P1], or of the NULL that is to become one."""
    frame.release_views_of(op.p1, op.live)
    frame.write_back_one(op.p1)
    frame.write_in_mem(op.p1)
    return frame.mem_address(op.p1)


@opcode('RowSetAdd', reads='P1 P2', writes='P1', moves='', kind='own-set opaque-p1')
def op_rowset_add(frame, op, pc):
    """Add the integer r[P2] to the set r[P1]."""
    w = frame.read(op.p2)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    rc = capi.rowset_add(_set_in_mem(frame, op), w.intval)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


@opcode('RowSetRead', reads='P1 P3', writes='P1 P3', jumps='P2', moves='', kind='own-set opaque-p1 looks-for-interrupt')
def op_rowset_read(frame, op, pc):
    """Take the smallest integer out of the set r[P1] into r[P3]; jump to P2 if there is none."""
    address = _set_in_mem(frame, op)
    if capi.rowset_next(address, mem.scratch.address) == 0:
        return op.p2
    frame.write(op.p3, W_Int(mem.i64(mem.scratch.address)))
    return pc + 1


@opcode('RowSetTest', reads='P1 P3', writes='P1', jumps='P2', moves='', kind='own-set opaque-p1')
def op_rowset_test(frame, op, pc):
    """Jump to P2 if the set r[P1] has the integer r[P3], else add it. P4 numbers the phases: in
    phase 0 nothing is found, in phase -1 nothing is added."""
    w = frame.read(op.p3)
    if not isinstance(w, W_Int):
        return BAIL_OUT
    found = capi.rowset_test(_set_in_mem(frame, op), op.p4, w.intval)
    if found < 0:
        capi.fail(frame.vdbe, pc, SQLITE_NOMEM)
        return FAILED
    if found:
        return op.p2
    return pc + 1
