"""Which registers are live at each opcode: what has to be written back before C goes on.

Ordinary backward data-flow over the program's control-flow graph (flow.py), from the reads and writes
that the opcode table declares, on sets of registers that are bits of words.  The work grows as the
program does, times the words of a set: `effort` counts it.  An opcode that isn't in the table would be
taken to read every register, to write none, and to jump to whatever P2 may name.
"""
from c_engine.generated import opcodes
from sqpyte.vm.opcodes.operands import link_keys, operand, registers_of
from sqpyte.vm.opcodes.table import ALL, WRITTEN, kind
from sqpyte.vm.values import functions
from sqpyte.vm.program.flow import Flow, declaration_of, successors  # noqa: F401  (asked here by the inliner)

BITS = 60               # registers in a word of a set
_ALL = (1 << BITS) - 1
# Words that may be looked at to tell the callers of subroutines apart.
MOST_FOR_CALLS = 1 << 22


class Effort(object):
    """How many words of sets have been looked at."""

    def __init__(self):
        self.words = 0


effort = Effort()


def annotate(ops):
    """Set `live`, `live_after` and the effects of every opcode.

    Returns: (number of registers that the VM tracks, number of cursors)."""
    link_keys(ops)
    highest = 0
    cursors = 0
    for op in ops:
        declaration = declaration_of(op)
        if declaration is not None:
            for r in registers_of(op, declaration.read_spans, 0):
                highest = max(highest, r)
            for r in registers_of(op, declaration.write_spans, 0):
                highest = max(highest, r)
            if _WITH_CURSOR[op.opcode]:
                cursors = max(cursors, op.p1 + 1)
            if op.opcode == opcodes.OP_SorterData or op.opcode == opcodes.OP_DeferredSeek:
                cursors = max(cursors, op.p3 + 1)
    _annotate_registers(ops, highest)
    annotate_effects(ops, cursors, highest)
    return highest + 1, cursors


def _annotate_registers(ops, highest):
    """Set `live`, `live_after` and `dead`."""
    flow = Flow(ops)
    problem = Problem(ops, flow, highest)
    live = problem.solve(problem.tell_callers_apart())
    width = problem.width
    lists = Lists(width)
    by_node = []
    for node in range(len(flow.after)):
        by_node.append(lists.of(live, node * width))
    for pc in range(len(ops)):
        op = ops[pc]
        op.live = by_node[pc]
        following = flow.after[pc]
        if len(following) == 1:
            op.live_after = by_node[following[0]]
        else:
            union = [0] * width
            for target in following:
                for w in range(width):
                    union[w] |= live[target * width + w]
            op.live_after = lists.of(union, 0)
        head = op.p2
        if op.loop and 0 <= head <= pc:
            dead = [_ALL & ~live[head * width + w] for w in range(width)]
            op.dead = [r for r in as_list(dead, 0, width) if r <= highest][:]
        elif op.opcode == opcodes.OP_Gosub and 0 <= head < len(ops):
            dead = [live[head * width + w] & ~live[pc * width + w] for w in range(width)]
            op.dead = [r for r in as_list(dead, 0, width) if r != op.p1][:]


class Problem(object):
    """The data-flow problem of a program: sets of `width` words, one after the other, by node of its
    flow.

    Attributes:
        read: the registers that each opcode reads.
        kept: those that it doesn't write.
    """

    def __init__(self, ops, flow, highest):
        self.ops = ops
        self.flow = flow
        self.highest = highest
        self.width = highest // BITS + 1
        self.before = flow.before()
        self.order = flow.ends_first()
        self.read = [0] * (len(flow.after) * self.width)
        self.kept = [_ALL] * (len(flow.after) * self.width)
        self.calls = {}             # register -> the Gosubs that write their address to it
        self.others = {}            # registers that other opcodes write
        self.unknown = False        # there is an opcode of which nothing is declared
        for pc in range(len(ops)):
            op = ops[pc]
            declaration = declaration_of(op)
            if declaration is None:
                self.unknown = True
                for r in range(highest + 1):
                    self.read[pc * self.width + r // BITS] |= 1 << (r % BITS)
                continue
            for r in registers_of(op, declaration.read_spans, highest):
                self.read[pc * self.width + r // BITS] |= 1 << (r % BITS)
            for r in registers_of(op, declaration.write_spans, highest):
                self.kept[pc * self.width + r // BITS] &= ~(1 << (r % BITS))
                if op.opcode != opcodes.OP_Gosub:
                    self.others[r] = True
            if op.opcode == opcodes.OP_Gosub and 0 <= op.p2 < len(ops) and pc + 1 < len(ops):
                if op.p1 not in self.calls:
                    self.calls[op.p1] = [0][1:]
                self.calls[op.p1].append(pc)

    def tell_callers_apart(self):
        """The control flow (a list of lists) for the registers' flow: a subroutine returns to whoever
        called it, not to all of its callers.

        Where nothing but Gosubs write a return address, what is live at each of them is what its
        subroutine reads before it returns, which joins what they read, and what is live behind it.
        What is live within the subroutine remains what any of its callers needs; a Gosub's `dead` are
        the registers of which that isn't true here.

        Each register with return addresses takes a flow of its own. In a program with very many of
        them some are left as they are, which only has more registers written back.
        """
        found = self.flow.after[:]
        returns = {}
        for pc in range(len(self.ops)):
            op = self.ops[pc]
            if op.opcode == opcodes.OP_Return and op.p1 in self.calls:
                if op.p1 not in returns:
                    returns[op.p1] = [0][1:]
                returns[op.p1].append(pc)
        start = effort.words
        for r in self.calls:
            if self.unknown or r in self.others or effort.words - start > MOST_FOR_CALLS:
                continue
            inside = self.flow.after[:]
            effort.words += len(inside)
            for pc in returns.get(r, [0][1:]):
                inside[pc] = [0][1:]
            for pc in self.calls[r]:
                inside[pc] = [self.ops[pc].p2, pc + 1]
                self.before[pc + 1].append(pc)
            live = self.solve(inside)
            for pc in self.calls[r]:
                self._read_below(pc, live)
                found[pc] = [pc + 1]
        return found

    def _read_below(self, gosub, live):
        """What is live at the subroutine's start is read by a Gosub, but for the address that it
        writes."""
        entry = self.ops[gosub].p2 * self.width
        r = self.ops[gosub].p1
        for w in range(self.width):
            below = live[entry + w]
            if w == r // BITS:
                below &= ~(1 << (r % BITS))
            self.read[gosub * self.width + w] |= below

    def solve(self, after):
        """The registers live before each node of a control flow: sweeps, from the ends on, over what
        has to be looked at again."""
        live = self.read[:]
        again = [True] * len(after)
        count = len(after)
        while count:
            effort.words += len(after)
            for node in self.order:
                if again[node]:
                    again[node] = False
                    count -= 1
                    if self._flow_into(live, after[node], node):
                        effort.words += len(self.before[node])
                        for before in self.before[node]:
                            if not again[before]:
                                again[before] = True
                                count += 1
        return live

    def _flow_into(self, live, targets, node):
        """Add to what is live before a node what is live behind it. Returns whether that was more."""
        changed = False
        width = self.width
        effort.words += width * len(targets)
        for target in targets:
            for w in range(width):
                here = live[node * width + w]
                more = here | (live[target * width + w] & self.kept[node * width + w])
                if more != here:
                    live[node * width + w] = more
                    changed = True
        return changed


class Lists(object):
    """The sets that have been made lists of registers last: opcodes in a row mostly have one of a few."""

    def __init__(self, width):
        self.width = width
        self.words = [0] * (width * _RECENT)
        self.lists = [[0][1:] for _ in range(_RECENT)]
        self.next = 0

    def of(self, words, at):
        """The registers of the set at index `at`, in ascending order; not to be changed."""
        effort.words += self.width
        for i in range(_RECENT):
            if self._is(words, at, i * self.width):
                return self.lists[i]
        found = as_list(words, at, self.width)[:]
        for w in range(self.width):
            self.words[self.next * self.width + w] = words[at + w]
        self.lists[self.next] = found
        self.next = (self.next + 1) % _RECENT
        return found

    def _is(self, words, at, mine):
        for w in range(self.width):
            if words[at + w] != self.words[mine + w]:
                return False
        return True


_RECENT = 4


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


_WITH_CURSOR = kind('cursor')
_OPENS_EPHEMERAL = kind('opens-ephemeral')
_OPENS_BTREE = kind('opens-btree')
ENDS_STEP = kind('ends-step')       # needs all of the frame in C
_STEPS = kind('aggregate-step')
_INVERSES = kind('aggregate-inverse')
_RESULTS = kind('aggregate-result')


def _any(marked, registers):
    """Whether one of the registers is marked."""
    for r in registers:
        if marked[r]:
            return True
    return False


def annotate_effects(ops, ncursors, highest):
    """Set `exact` of the opcodes whose effects are declared, and what they are."""
    temporary = [False] * ncursors
    for op in ops:
        if _OPENS_EPHEMERAL[op.opcode] and op.p1 < ncursors:
            temporary[op.p1] = True
    for op in ops:
        if _OPENS_BTREE[op.opcode] and op.p1 < ncursors:
            temporary[op.p1] = False
        elif op.opcode == opcodes.OP_OpenDup:       # of one table: what writes one moves both
            if op.p1 < ncursors:
                temporary[op.p1] = False
            if op.p2 < ncursors:
                temporary[op.p2] = False
    everything = [c for c in range(ncursors)][:]
    accumulators = [False] * (highest + 1)      # of aggregates that aren't SQLite's own
    for op in ops:
        if (_STEPS[op.opcode] or _INVERSES[op.opcode]) and op.function == functions.USER:
            accumulators[op.p3] = True
    for op in ops:
        declaration = declaration_of(op)
        if declaration is None or ENDS_STEP[op.opcode]:
            continue
        if op.foreign:
            continue
        op.exact = True
        op.reads = registers_of(op, declaration.read_spans, highest)[:]
        op.writes = registers_of(op, declaration.write_spans, highest)[:]
        op.touched = (op.reads + op.writes)[:]
        # Calls of the aggregate have all state in C.
        if not (_STEPS[op.opcode] or _INVERSES[op.opcode] or _RESULTS[op.opcode]) and _any(accumulators, op.writes):
            op.ends_accumulators = True
            op.exact = False
            op.in_c = op.in_c or not (op.opcode == opcodes.OP_Null or op.opcode == opcodes.OP_BeginSubrtn)
        moves = []
        anything = False
        for number in declaration.moved:
            if number == WRITTEN and 0 <= op.p1 < ncursors and temporary[op.p1]:
                moves.append(op.p1)
            elif number == ALL or number == WRITTEN:
                anything = True
            elif 0 <= operand(op, number) < ncursors:
                moves.append(operand(op, number))
        if declaration.user_code and op.function == functions.USER:
            anything = True
        op.moves = everything if anything else moves[:]
