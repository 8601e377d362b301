"""Which registers an opcode's declaration names, given the opcode's operands."""
from c_engine.generated import opcodes
from c_engine.generated.layout import OPFLAG_P2ISREG
from sqpyte.vm.opcodes.table import SPECIAL, TO_THE_END

# A Column whose cursor's seek is deferred is read from an index, if it is there. decode.Op.alternate is that index's
# cursor, or one of these.
NOWHERE = -1        # the column is only in the table
UNKNOWN = -2        # several indexes: which one is known only at run time


def registers_of(op, spans, last):
    """The registers that a declaration's spans name in this opcode, as a list of ints.

    Args: op, a decode.Op; spans, a list of table.Span; last, the register where `..` ends.
    """
    found = []
    for span in spans:
        if span.special >= 0:
            first = special_register(op, span.special)
            end = first + 1
            if span.special == _ARGUMENTS:
                end = first + op.arguments
            elif span.special == _NEXT_KEY:
                end = first + op.next_key_size
            elif span.special == _FROM_P1:
                end = last + 1
        else:
            first = operand(op, span.base)
            if span.count == TO_THE_END:
                end = last + 1 if first > 0 else 0
            elif span.form == 2:
                end = operand(op, span.count) + 1
            elif span.count:
                end = first + operand(op, span.count) + span.form
            else:
                end = first + span.constant + span.form
        for r in range(max(first, 1), end):
            found.append(r)
    return found


def special_register(op, special):
    """The (first) register that table.SPECIAL[special] stands for in this opcode, or none:
    <= 0."""
    if special == _RECORD:
        return op.record
    if special == _SKIP:
        return op.skip_register
    if special == _P2REG:
        return op.p2 if op.p5 & OPFLAG_P2ISREG else 0
    if special == _ARGUMENTS:
        return op.p2
    if special == _NEXT_KEY:
        return op.next_key
    if special == _FROM_P1:
        return op.p1
    if special == _UNDECODED:
        return op.p3 if op.corrupt > 0 else 0
    return op.p3 if op.p1 < 0 else 0


_ARGUMENTS = SPECIAL.index('ARGUMENTS')
_FROM_P1 = SPECIAL.index('FROM_P1')
_NEXT_KEY = SPECIAL.index('NEXT_KEY')
_RECORD = SPECIAL.index('RECORD')
_UNDECODED = SPECIAL.index('UNDECODED')
_SKIP = SPECIAL.index('SKIP')
_P2REG = SPECIAL.index('P2REG')


def operand(op, number):
    """The operand with this number, 1 to 5; P4 as an integer."""
    if number == 1:
        return op.p1
    if number == 2:
        return op.p2
    if number == 3:
        return op.p3
    if number == 4:
        return op.p4
    return op.p5


def link_keys(ops):
    """Note at each SeekScan the key of the SeekGE behind it, which it compares; and at each Column
    where the program goes on if a record is corrupt, which its Init may say."""
    if ops and ops[0].opcode == opcodes.OP_Init and ops[0].p3 > 0:
        for op in ops:
            if op.opcode == opcodes.OP_Column:
                op.corrupt = ops[0].p3
    for pc in range(len(ops) - 1):
        if ops[pc].opcode == opcodes.OP_SeekScan:
            ops[pc].next_key = ops[pc + 1].p3
            ops[pc].next_key_size = ops[pc + 1].p4
