"""Function and PureFunc: calls of scalar SQL functions.

Any function can be called on its registers, by one C function that does what upstream's opcode
does; texts are spilled to their `Mem`s for that call, not copied.  Hot functions of SQLite's own work
on values (functions.py), and give a view of their argument where they can; what they don't expect
goes the first way.
"""
from sqpyte.vm.base import capi
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.table import FAILED, declare
from sqpyte.vm.values import functions
from sqpyte.vm.values.values import W_Blob, W_Bytes, W_Text


@unroll_safe
def spill_registers(frame, first, n, live, constant):
    """Bring the registers from `first` on into their Mems, texts and blobs of a row as views.

    The Mem of a spilled text is good for one call of C; the frame keeps the value. Nothing else
    views the Mems then, as C may move what they hold. Bit i of `constant` says that argument i is one that each call
    finds as the call before has left it: of a blob that was asked for as a text, the text (concat).
    Returns: 0, or a result code if C has no memory.
    """
    r = first
    while r < first + n:
        frame.release_views_of(r, live)
        r += 1
    r = first
    while r < first + n:
        if not frame.is_in_mem(r):
            w = frame.read(r)
            kept = isinstance(w, W_Blob) and r - first < 32 and (constant >> (r - first)) & 1
            if isinstance(w, W_Bytes) and w.origin < 0 and not kept:
                capi.lend(frame.mem_address(r), w.address, w.size, w.form())
            else:
                rc = frame.write_back_one(r)
                if rc != 0:
                    return rc
                if isinstance(w, W_Bytes):
                    frame.write_in_mem(r)
        r += 1
    return 0


def call_on_registers(frame, op, pc):
    """Call the function P4 as upstream does, the result in the Mem of r[P3]."""
    if op.function == functions.USER:
        rc = frame.save(pc, op.live)
        if rc == 0:
            rc = capi.function(frame.vdbe, pc)
            frame.forget()
    else:
        frame.release_views_of(op.p3, op.live)
        rc = spill_registers(frame, op.p2, op.arguments, op.live, op.p1)
        if rc == 0:
            rc = capi.function(frame.vdbe, pc)
            frame.write_in_mem(op.p3)
    if rc != 0:
        capi.fail(frame.vdbe, pc, rc)
        return FAILED
    return pc + 1


def op_function(frame, op, pc):
    """r[P3] = the function P4 of the registers from P2 on; bit i of P1 says that argument i is
    constant."""
    kind = op.function
    if kind >= functions.FIRST:
        w = functions.call(frame, op, kind)
        if w is not None:
            frame.write(op.p3, w)
            return pc + 1
        if kind == functions.UPPER or kind == functions.LOWER:
            w = frame.read(op.p2)
            if isinstance(w, W_Text):
                frame.release_views_of(op.p3, op.live)
                w = frame.read(op.p2)           # it may have been such a view
                assert isinstance(w, W_Text)
                rc = capi.fold(frame.mem_address(op.p3), w.address, w.size,
                               int(kind == functions.UPPER))
                if rc != 0:
                    capi.fail(frame.vdbe, pc, rc)
                    return FAILED
                frame.write_in_mem(op.p3)
                return pc + 1
    return call_on_registers(frame, op, pc)


declare('Function', op_function, reads='ARGUMENTS', writes='P3', user_code=True, moves='',
        converts='ARGUMENTS', kind='call function emitted again')
declare('PureFunc', op_function, reads='ARGUMENTS', writes='P3', user_code=True, moves='',
        converts='ARGUMENTS', kind='call function emitted again')
