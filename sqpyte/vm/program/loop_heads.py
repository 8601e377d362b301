"""What a frame knows at the head of a loop: the same every time, so that one trace serves.

The JIT makes a version of a loop for every state in which it is entered.  A register may be loaded
or still in its Mem, a row looked up or not: with a few of each, left to chance (which condition has
rejected the row before?), a loop of ten conditions had 126 bridges.  So at a loop's head every register that
the loop reads is loaded, and of each cursor is known what the loop can keep: the leaf page of those
that it steps, the row of those that it doesn't move, nothing of those that it moves within.
"""
from c_engine.generated import opcodes
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.opcodes.operands import operand, registers_of
from sqpyte.vm.opcodes.table import ALL, TABLE, WRITTEN, kind
from sqpyte.vm.program.column_slots import NO_SLOT
from sqpyte.vm.values.values import IN_MEM

_STEPS = kind('step-btree')
_OPAQUE_P1 = kind('opaque-p1')
_OPAQUE_P3 = kind('opaque-p3')


def annotate_loops(ops, slots):
    """Set what the heads of loops are to have: `loads`, `stepped`, `kept` and `dropped`.

    Args: ops, list of decode.Op, with liveness and links; slots, of each cursor (column_slots.py).
    """
    opaque = {}
    for op in ops:
        if _OPAQUE_P1[op.opcode]:
            opaque[op.p1] = True
        elif _OPAQUE_P3[op.opcode]:
            opaque[op.p3] = True
    ends = {}
    for pc in range(len(ops)):
        if ops[pc].loop and 0 <= ops[pc].p2 <= pc:
            ends[ops[pc].p2] = pc
    for head in ends:
        _annotate(ops, head, ends[head], slots, opaque)


def _annotate(ops, head, end, slots, opaque):
    """Set what the loop from `head` to `end` is to have."""
    read = {}
    stepped = {}
    looked_at = {}
    moved = {}
    for pc in range(head, end + 1):
        op = ops[pc]
        declaration = TABLE.get(op.opcode, None)
        if declaration is not None:
            for r in registers_of(op, declaration.read_spans, 0):
                read[r] = True
        if _STEPS[op.opcode] and op.p2 == head:
            stepped[op.p1] = True
        elif op.opcode == opcodes.OP_Column:
            if op.record >= 0:
                moved[op.p1] = True
            else:
                looked_at[op.p1] = True
                if op.alternate >= 0:
                    looked_at[op.alternate] = True
        elif op.opcode == opcodes.OP_Rowid:
            looked_at[op.p1] = True
        elif op.opcode == opcodes.OP_DeferredSeek:
            moved[op.p3] = True
        elif declaration is not None:
            for number in declaration.moved:
                if number != ALL and number != WRITTEN:
                    moved[operand(op, number)] = True
    here = ops[head]
    here.loads = [r for r in here.live if r in read and r not in opaque][:]
    cleared = []
    for c in range(len(slots)):
        if c in moved:
            here.dropped = here.dropped + [c]
        elif c in stepped:
            here.stepped = here.stepped + [c]
        elif c in looked_at:
            here.kept = here.kept + [c]
        else:
            continue
        cleared += [s for s in slots[c] if s != NO_SLOT]
    here.cleared = cleared[:]


@unroll_safe
def at_head(frame, head):
    """Bring the frame to the state that the loop which begins with the opcode `head` expects."""
    frame.compare = 0           # only of interest to the opcode that follows a comparison
    for r in head.loads:
        assert r >= 0
        if frame.registers[r] is IN_MEM:
            frame.read(r)
    for s in head.cleared:
        assert s >= 0
        frame.columns[s] = 0
    for c in head.dropped:
        frame.forget_cursor(c)
        frame.forget_row(c)
    for c in head.stepped:
        frame.forget_row(c)
        frame.leaf_page(c)
    for c in head.kept:
        assert c >= 0
        if frame.row[c] != 0 or frame.find_row(c):
            frame.parsed[c] = 0
            frame.offset[c] = frame.header[c]
        else:
            frame.forget_row(c)
