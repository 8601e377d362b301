"""Which registers are live at each opcode: what has to be written back before C goes on.

Ordinary backward data-flow over the program's control-flow graph, from the reads, writes and
jumps that the opcode table declares.  An opcode that isn't in the table is taken to read every
register, to write none, and to jump to whatever P2 may name.
"""
from c_engine.generated import opcodes
from c_engine.generated.layout import OPFLAG_P2ISREG
from sqpyte.optable import IN_C, TABLE

_JUMP_FLAG = opcodes.OPFLG_JUMP


def registers_of(op, specs):
    """The registers that a declaration's specs name in this opcode, as a list of ints."""
    found = []
    for spec in specs:
        if spec == 'RECORD':
            if op.record >= 0:
                found.append(op.record)
        elif spec == 'P2REG':
            if op.p5 & OPFLAG_P2ISREG:
                found.append(op.p2)
        elif spec == 'SKIP':
            if op.skip_register > 0:
                found.append(op.skip_register)
        else:
            first = operand(op, spec[0:2])
            count = 1
            if len(spec) > 2:
                if spec[2] == '@':
                    count = operand(op, spec[3:5])
                elif spec[2] == '+':
                    count = operand(op, spec[3:5]) + 1
                else:                   # 'P2..P3'
                    count = operand(op, spec[4:6]) - first + 1
            for i in range(count):
                if first + i > 0:
                    found.append(first + i)
    return found


def operand(op, name):
    """The operand with this name: P1 to P5."""
    if name == 'P1':
        return op.p1
    if name == 'P2':
        return op.p2
    if name == 'P3':
        return op.p3
    if name == 'P4':
        return op.p4
    return op.p5


def declaration_of(op):
    """What is declared of the opcode, with a handler or left to C, or None."""
    declaration = TABLE.get(op.opcode, None)
    if declaration is None:
        declaration = IN_C.get(op.opcode, None)
    return declaration


def successors(ops, pc):
    """The pcs that may follow the opcode at pc."""
    op = ops[pc]
    declaration = declaration_of(op)
    if declaration is None:
        found = [pc + 1]
        if opcodes.PROPERTIES[op.opcode] & _JUMP_FLAG:
            found.append(op.p2)
    elif op.opcode == opcodes.OP_Yield or op.opcode == opcodes.OP_EndCoroutine:
        found = coroutine_successors(ops, op)
    elif op.opcode == opcodes.OP_InitCoroutine:
        found = [op.p2 if op.p2 else pc + 1]
    elif op.opcode == opcodes.OP_Return:
        found = []
        for i in range(len(ops)):
            if ops[i].opcode == opcodes.OP_Gosub and ops[i].p1 == op.p1:
                found.append(i + 1)
        if op.p3:
            found.append(pc + 1)
        if not found:
            found = range_list(len(ops))    # not called by Gosub: from anywhere
    elif op.opcode == opcodes.OP_Goto or op.opcode == opcodes.OP_Gosub:
        found = [op.p2]
    elif op.opcode == opcodes.OP_Halt:
        found = []
    elif op.opcode == opcodes.OP_Jump:
        found = [op.p1, op.p2, op.p3]
    else:
        found = [pc + 1]
        if declaration.jumps:
            found.append(op.p2)
    return [i for i in found if 0 <= i < len(ops)]


def coroutine_successors(ops, op):
    """Where a Yield or an EndCoroutine of the coroutine in r[P1] may go on: at its start, after
    any other Yield of it, or, at its end, where the caller's Yield says."""
    found = []
    for i in range(len(ops)):
        other = ops[i]
        if other.p1 == op.p1:
            if other.opcode == opcodes.OP_InitCoroutine and op.opcode == opcodes.OP_Yield:
                found.append(other.p3)
            elif other.opcode == opcodes.OP_EndCoroutine and op.opcode == opcodes.OP_Yield:
                found.append(i)
            elif other.opcode == opcodes.OP_Yield:
                if op.opcode == opcodes.OP_Yield:
                    found.append(i + 1)
                elif other.p2:
                    found.append(other.p2)
    return found


def range_list(n):
    """[0, 1, ... n - 1]."""
    return [i for i in range(n)]


def annotate(ops):
    """Set `live` and `live_after` of every opcode.

    Returns: (number of registers that the VM tracks, number of cursors)."""
    highest = 0
    cursors = 0
    for op in ops:
        declaration = declaration_of(op)
        if declaration is not None:
            for r in registers_of(op, declaration.reads):
                highest = max(highest, r)
            for r in registers_of(op, declaration.writes):
                highest = max(highest, r)
            if op.opcode in _WITH_CURSORS:
                cursors = max(cursors, op.p1 + 1)
            if op.opcode == opcodes.OP_SorterData or op.opcode == opcodes.OP_DeferredSeek:
                cursors = max(cursors, op.p3 + 1)
    n = highest + 1
    everything = [True] * n
    nothing = [False] * n
    reads = []
    writes = []
    after = []
    for pc in range(len(ops)):
        op = ops[pc]
        declaration = declaration_of(op)
        if declaration is None:
            reads.append(everything)
            writes.append(nothing)
        else:
            reads.append(as_flags(registers_of(op, declaration.reads), n))
            writes.append(as_flags(registers_of(op, declaration.writes), n))
        after.append(successors(ops, pc))
    live = []
    for pc in range(len(ops)):
        live.append(reads[pc][:])
    changed = True
    while changed:
        changed = False
        pc = len(ops) - 1
        while pc >= 0:
            here = live[pc]
            for following in after[pc]:
                there = live[following]
                for r in range(n):
                    if there[r] and not here[r] and not writes[pc][r]:
                        here[r] = True
                        changed = True
            pc -= 1
    for pc in range(len(ops)):
        ops[pc].live = as_list(live[pc])[:]
        union = nothing[:]
        for following in after[pc]:
            for r in range(n):
                if live[following][r]:
                    union[r] = True
        ops[pc].live_after = as_list(union)[:]
        head = ops[pc].p2
        if ops[pc].loop and head <= pc:
            ops[pc].dead = as_list([not flag for flag in live[head]])[:]
    annotate_effects(ops, cursors)
    return n, cursors


_WITH_CURSORS = [getattr(opcodes, 'OP_' + name) for name in (
    'Rewind Last Sort Next Prev Column Rowid SorterSort SorterInsert SorterData SorterNext '
    'SeekLT SeekLE SeekGE SeekGT SeekRowid NotExists DeferredSeek IdxRowid IdxLE IdxGT IdxLT '
    'IdxGE Found NotFound NoConflict NullRow IfNullRow IfEmpty Sequence OpenRead OpenWrite '
    'ReopenIdx OpenEphemeral OpenAutoindex OpenDup OpenPseudo SorterOpen Close IdxInsert Insert '
    'Delete NewRowid').split()]
_EPHEMERAL = [opcodes.OP_OpenEphemeral, opcodes.OP_OpenAutoindex, opcodes.OP_OpenDup]
_OPENS = _EPHEMERAL + [opcodes.OP_OpenRead, opcodes.OP_OpenWrite, opcodes.OP_ReopenIdx]
# These may end sqlite3_step in mid-program, which needs all of the frame in C.
_LEAVES = [getattr(opcodes, 'OP_' + name) for name in (
    'ResultRow Halt HaltIfNull Transaction AutoCommit Savepoint Program Init').split()]


def annotate_effects(ops, ncursors):
    """Set `exact` of the opcodes whose effects are declared, and what they are."""
    temporary = [False] * ncursors
    for op in ops:
        if op.opcode in _EPHEMERAL and op.p1 < ncursors:
            temporary[op.p1] = True
    for op in ops:
        if op.opcode in _OPENS and op.opcode not in _EPHEMERAL and op.p1 < ncursors:
            temporary[op.p1] = False
    for op in ops:
        declaration = declaration_of(op)
        if declaration is None or op.opcode in _LEAVES:
            continue
        op.exact = True
        op.reads = registers_of(op, declaration.reads)[:]
        op.writes = registers_of(op, declaration.writes)[:]
        op.touched = (op.reads + op.writes)[:]
        moves = []
        for spec in declaration.moves:
            if spec == 'WRITTEN' and op.p1 < ncursors and temporary[op.p1]:
                moves.append(op.p1)
            elif spec == 'ALL' or spec == 'WRITTEN':
                moves = range_list(ncursors)
            elif operand(op, spec) < ncursors:
                moves.append(operand(op, spec))
        op.moves = moves[:]


def as_flags(registers, n):
    """A list of n booleans, true for the registers in the list."""
    flags = [False] * n
    for r in registers:
        if r < n:
            flags[r] = True
    return flags


def as_list(flags):
    """The registers whose flags are true."""
    return [r for r in range(len(flags)) if flags[r]]
