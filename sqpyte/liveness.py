"""Which registers are live at each opcode: what has to be written back before C goes on.

Ordinary backward data-flow over the program's control-flow graph, from the reads, writes and
jumps that the opcode table declares, on sets of registers that are bits of words: a program of 500
opcodes and 200 registers takes well below a millisecond.  An opcode that isn't in the table would
be taken to read every register, to write none, and to jump to whatever P2 may name.
"""
from c_engine.generated import opcodes
from c_engine.generated.layout import OPFLAG_P2ISREG
from sqpyte.optable import ALL, IN_C, SPECIAL, TABLE, TO_THE_END, WRITTEN

_JUMP_FLAG = opcodes.OPFLG_JUMP


def registers_of(op, spans, last):
    """The registers that a declaration's spans name in this opcode, as a list of ints.

    Args: op, a program.Op; spans, a list of optable.Span; last, the register where `..` ends.
    """
    found = []
    for span in spans:
        if span.special >= 0:
            first = special_register(op, span.special)
            end = first + 1
            if span.special == _ARGUMENTS:
                end = first + op.arguments
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
    """The (first) register that optable.SPECIAL[special] stands for in this opcode, or none:
    <= 0."""
    if special == _RECORD:
        return op.record
    if special == _SKIP:
        return op.skip_register
    if special == _P2REG:
        return op.p2 if op.p5 & OPFLAG_P2ISREG else 0
    if special == _ARGUMENTS:
        return op.p2
    return op.p3 if op.p1 < 0 else 0


_ARGUMENTS = SPECIAL.index('ARGUMENTS')
_RECORD = SPECIAL.index('RECORD')
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
            elif ops[i].opcode == opcodes.OP_Integer and ops[i].p2 == op.p1:
                found.append(ops[i].p1 + 1)
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
            for r in registers_of(op, declaration.read_spans, 0):
                highest = max(highest, r)
            for r in registers_of(op, declaration.write_spans, 0):
                highest = max(highest, r)
            if op.opcode in _WITH_CURSORS:
                cursors = max(cursors, op.p1 + 1)
            if op.opcode == opcodes.OP_SorterData or op.opcode == opcodes.OP_DeferredSeek:
                cursors = max(cursors, op.p3 + 1)
    width = highest // BITS + 1
    after = []
    for pc in range(len(ops)):
        after.append(successors(ops, pc)[:])
    live = _flow(ops, _summarise_calls(ops, after, highest, width), highest, width)
    lists = []
    for pc in range(len(ops)):
        before = pc - 1
        if before >= 0 and _same(live, before * width, pc * width, width):
            lists.append(lists[before])
        else:
            lists.append(as_list(live, pc * width, width)[:])
    for pc in range(len(ops)):
        op = ops[pc]
        op.live = lists[pc]
        following = after[pc]
        if len(following) == 1:
            op.live_after = lists[following[0]]
        else:
            union = [0] * width
            for target in following:
                for w in range(width):
                    union[w] |= live[target * width + w]
            op.live_after = as_list(union, 0, width)[:]
        head = op.p2
        if op.loop and 0 <= head <= pc:
            dead = [_ALL & ~live[head * width + w] for w in range(width)]
            op.dead = [r for r in as_list(dead, 0, width) if r <= highest][:]
        elif op.opcode == opcodes.OP_Gosub and 0 <= head < len(ops):
            dead = [live[head * width + w] & ~live[pc * width + w] for w in range(width)]
            op.dead = [r for r in as_list(dead, 0, width) if r != op.p1][:]
    annotate_effects(ops, cursors, highest)
    return highest + 1, cursors


BITS = 60               # registers in a word of a set
_ALL = (1 << BITS) - 1


def _summarise_calls(ops, after, highest, width):
    """The control flow (a list of lists) for the registers' flow: a subroutine returns to whoever
    called it, not to all of its callers.

    Where nothing but Gosubs write a return address, what is live at each of them is what its
    subroutine reads before it returns, noted in `reads_below`, and what is live behind it. What is
    live within the subroutine remains what any of its callers needs; a Gosub's `dead` are the
    registers of which that isn't true here.
    """
    found = after[:]
    done = []
    for gosub in range(len(ops)):
        r = ops[gosub].p1
        if ops[gosub].opcode != opcodes.OP_Gosub or r in done:
            continue
        done.append(r)
        if not _is_return_address(ops, r, highest):
            continue
        inside = after[:]
        for pc in range(len(ops)):
            if ops[pc].opcode == opcodes.OP_Return and ops[pc].p1 == r:
                inside[pc] = [0][1:]
            elif ops[pc].opcode == opcodes.OP_Gosub and ops[pc].p1 == r:
                inside[pc] = after[pc] + [pc + 1]
        live = _flow(ops, inside, highest, width)
        for pc in range(len(ops)):
            op = ops[pc]
            if op.opcode == opcodes.OP_Gosub and op.p1 == r and 0 <= op.p2 < len(ops):
                below = as_list(live, op.p2 * width, width)
                op.reads_below = [q for q in below if q != r][:]
                found[pc] = [pc + 1][:]
    return found


def _is_return_address(ops, r, highest):
    """Whether nothing but Gosubs write register r."""
    for op in ops:
        declaration = declaration_of(op)
        if declaration is None:
            return False
        if op.opcode != opcodes.OP_Gosub and r in registers_of(op, declaration.write_spans, highest):
            return False
    return True


def _flow(ops, after, highest, width):
    """The registers live before each opcode: sets of `width` words, one after the other."""
    size = len(ops) * width
    live = [0] * size
    kept = [_ALL] * size            # not written by the opcode
    for pc in range(len(ops)):
        op = ops[pc]
        declaration = declaration_of(op)
        if declaration is None:
            for r in range(highest + 1):
                live[pc * width + r // BITS] |= 1 << (r % BITS)
        else:
            for r in registers_of(op, declaration.read_spans, highest):
                live[pc * width + r // BITS] |= 1 << (r % BITS)
            for r in op.reads_below:
                live[pc * width + r // BITS] |= 1 << (r % BITS)
            for r in registers_of(op, declaration.write_spans, highest):
                kept[pc * width + r // BITS] &= ~(1 << (r % BITS))
    changed = True
    while changed:
        changed = False
        pc = len(ops) - 1
        while pc >= 0:
            for target in after[pc]:
                for w in range(width):
                    here = live[pc * width + w]
                    more = here | (live[target * width + w] & kept[pc * width + w])
                    if more != here:
                        live[pc * width + w] = more
                        changed = True
            pc -= 1
    return live


def _same(words, a, b, width):
    """Whether the sets at indexes a and b are equal."""
    for w in range(width):
        if words[a + w] != words[b + w]:
            return False
    return True


def as_list(words, at, width):
    """The registers of the set at index `at`, in ascending order."""
    found = []
    for w in range(width):
        word = words[at + w]
        r = w * BITS
        while word:
            if word & 0xFF == 0:
                word >>= 8
                r += 8
            else:
                if word & 1:
                    found.append(r)
                word >>= 1
                r += 1
    return found


_WITH_CURSORS = [getattr(opcodes, 'OP_' + name) for name in (
    'Rewind Last Sort Next Prev Column Rowid SorterSort SorterInsert SorterData SorterNext '
    'SeekLT SeekLE SeekGE SeekGT SeekRowid NotExists DeferredSeek IdxRowid IdxLE IdxGT IdxLT '
    'IdxGE Found NotFound NoConflict NullRow IfNullRow IfEmpty Sequence OpenRead OpenWrite '
    'ReopenIdx OpenEphemeral OpenAutoindex OpenDup OpenPseudo SorterOpen Close IdxInsert Insert '
    'Delete NewRowid').split()]
_EPHEMERAL = [opcodes.OP_OpenEphemeral, opcodes.OP_OpenAutoindex, opcodes.OP_OpenDup]
_OPENS = _EPHEMERAL + [opcodes.OP_OpenRead, opcodes.OP_OpenWrite, opcodes.OP_ReopenIdx]
# These may end sqlite3_step in mid-program, which needs all of the frame in C.
LEAVES = [getattr(opcodes, 'OP_' + name) for name in (
    'ResultRow Halt HaltIfNull Transaction AutoCommit Savepoint Program Init').split()]


def annotate_effects(ops, ncursors, highest):
    """Set `exact` of the opcodes whose effects are declared, and what they are."""
    temporary = [False] * ncursors
    for op in ops:
        if op.opcode in _EPHEMERAL and op.p1 < ncursors:
            temporary[op.p1] = True
    for op in ops:
        if op.opcode in _OPENS and op.opcode not in _EPHEMERAL and op.p1 < ncursors:
            temporary[op.p1] = False
        elif op.opcode == opcodes.OP_OpenDup:       # of one table: what writes one moves both
            if op.p1 < ncursors:
                temporary[op.p1] = False
            if op.p2 < ncursors:
                temporary[op.p2] = False
    for op in ops:
        declaration = declaration_of(op)
        if declaration is None or op.opcode in LEAVES:
            continue
        op.exact = True
        op.reads = registers_of(op, declaration.read_spans, highest)[:]
        op.writes = registers_of(op, declaration.write_spans, highest)[:]
        op.touched = (op.reads + op.writes)[:]
        moves = []
        for number in declaration.moved:
            if number == WRITTEN and 0 <= op.p1 < ncursors and temporary[op.p1]:
                moves.append(op.p1)
            elif number == ALL or number == WRITTEN:
                moves = range_list(ncursors)
            elif 0 <= operand(op, number) < ncursors:
                moves.append(operand(op, number))
        op.moves = moves[:]
