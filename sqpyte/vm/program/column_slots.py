"""Which columns' offsets a frame caches: those that the program reads.

A record's header is read from its start on to find a column.  What lies on the way to one column is
kept for others that the program reads later in the same row, in whatever order: TPC-H's Q6 reads
columns 10, 6, 4 and 5.  Each of them has a slot in `Frame.columns`; a slot is filled if its column
lies before `Frame.parsed` of its cursor.
"""
from c_engine.generated import opcodes
from sqpyte.vm.opcodes.table import kind

NO_SLOT = -1
_COMPARES = kind('index-comparison')


def annotate_columns(ops, ncursors):
    """Set `slots` and `alternate_slots` of the opcodes that read columns.

    Args: ops, list of decode.Op, with links; ncursors, the number of cursors.
    Returns: by cursor and column, the slot or NO_SLOT (list of lists of int); the number of slots.
    """
    read = [[False][:0] for _ in range(ncursors)]
    for op in ops:
        if op.opcode == opcodes.OP_Column:
            _note(read, op.p1, op.p2)
            if op.alternate >= 0:
                _note(read, op.alternate, op.alternate_column)
        elif _COMPARES[op.opcode]:
            for column in range(op.p4):
                _note(read, op.p1, column)
    slots = []
    n = 0
    for c in range(ncursors):
        of_cursor = []
        for is_read in read[c]:
            if is_read:
                of_cursor.append(n)
                n += 1
            else:
                of_cursor.append(NO_SLOT)
        slots.append(of_cursor)
    shared = [of_cursor[:] for of_cursor in slots]
    for op in ops:
        if op.opcode == opcodes.OP_Column or _COMPARES[op.opcode]:
            op.slots = shared[op.p1]
            if op.alternate >= 0:
                op.alternate_slots = shared[op.alternate]
    return slots, n


def _note(read, c, column):
    """Column `column` of cursor c is read."""
    while len(read[c]) <= column:
        read[c].append(False)
    read[c][column] = True
