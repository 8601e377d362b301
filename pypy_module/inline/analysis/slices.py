"""Which calls of user code in a query's loops can be inlined although C runs the loops: analysis.

Joins, index scans and the loops behind a sorter stay in C, which runs them ahead of the caller (see
effects.py).  What they call in Python is sliced out: a slice is a run of opcodes of an innermost
loop, from its first call of user code, or a jump before it that may skip that, to the last opcode that
depends on one.  Its opcodes are

* deferred: the calls, the row that is returned, jumps (which decide on further calls), and whatever
  reads what these have written.  Python does them, row by row, when the caller asks.
* eager: all others.  C runs them, whatever the jumps among them will decide, and keeps the values
  that deferred opcodes read (c_engine/rows/call_log.h).  They change nothing but registers.

What C does from the slice's end to its beginning again depends on nothing deferred, or it isn't run ahead.
A slice begins and ends in Python's hands: nothing of the user's is called earlier, later, more or less
often than by SQLite.
"""

from c_engine.generated import opcodes
from pypy_module.inline.analysis.effects import PURE, REVERSIBLE, reach
from pypy_module.inline.analysis.kinds import (
    AGAIN,
    AGGREGATE_STEPS,
    COPIES,
    COUNTERS,
    CURSORS,
    ENDS,
    FUNCTIONS,
    IN_C_ONE,
    JUMPS,
    NOTHING,
)
from pypy_module.inline.analysis.scan import AHEAD, RUN, Refused
from pypy_module.inline.analysis.spec import BEGIN, END, entry

ONCE, ROW = opcodes.OP_Once, opcodes.OP_ResultRow
JUMPING = opcodes.OPFLG_JUMP
# Accumulators that can be put back.
SUMS = ('sum', 'total', 'avg', 'count')
MOST_VALUES = 100       # that a row keeps


class Slice:
    """A slice; for the code generator it is like a Loop (scan.py), of which see the rest.

    Attributes:
        head: pc of the first opcode, the only one to which anything outside jumps: the first call, or a jump before it
            that may skip it; end: pc behind the last one.
        way: PURE or REVERSIBLE.
        shape: AHEAD if the slice holds the row that is returned, else RUN.
        deferred: its deferred opcodes (list of pcs, ascending); mine: those that Python does.
        around: pcs from which its first opcode may be reached (set).
        captures: by the pc of a deferred opcode, the registers that C keeps there (dict of lists).
        loads: by pc, ascending: (register, number of the value), which the register has from there
            on (dict of lists).
        order: pcs for which code is generated: of deferred opcodes, of loads and of jumps' targets.
        spec: its Spec; stride: words of a record.
    """

    def __init__(self, program, flow, aheads, head, end):
        """Analyse the calls in the innermost loop from pc `head` to its Next at `end`; raises
        Refused."""
        self.ops = program.ops
        self.flow = flow
        self.aheads = aheads
        self.calls = aheads.calls
        self.bounds = range(head, end)
        self.python = [pc for pc in self.bounds if pc in self.calls.python]
        self.head = self.selected = self.python[0]
        self.recomputed = []
        self.merged = set()
        self.reals = set()
        self.changed = set()
        self.sink_fields = set()
        self._classify()
        while not self._begins_at_head():
            self._classify()
        self._check_eager()
        self._find_registers()
        self._find_captures()
        self._find_way()
        self._check_deferred()
        self._make_spec()
        self.around = self._find_around()

    def jumps(self, pc):
        """Whether the opcode at pc may jump."""
        return bool(opcodes.PROPERTIES[self.ops[pc].opcode] & JUMPING)

    def _classify(self):
        """Set `end`, `deferred`, `eager`, `row`, `skipped`, `targets`, `exits`."""
        ops = self.ops
        rows = [pc for pc in self.bounds if ops[pc].opcode == ROW]
        if len(rows) > 1 or rows and rows[0] < self.head:
            raise Refused('the row is returned before the Python call')
        self.row = rows[0] if rows else None
        self._defer(max(self.python + rows))
        self.mine = self.deferred
        self.targets = {ops[pc].p2 for pc in self.deferred if self.jumps(pc)}
        self.exits = {pc for pc in self.targets if not self.head < pc <= self.end}

    def _defer(self, last):
        """Set `deferred`, `eager`, `end` and `inside`, where the slice ends with the pc `last`, or behind it: with the
        last deferred opcode, and where one of them leads in the loop."""
        while True:
            deferred = self._deferred(last)
            furthest = max([deferred[-1]] + [self.ops[pc].p2 - 1 for pc in deferred
                                             if self.jumps(pc) and self.ops[pc].p2 <= self.bounds.stop])
            if furthest <= last:
                break
            last = furthest
        self.deferred = deferred
        self.end = last + 1
        self.inside = range(self.head, self.end)
        self.eager = [pc for pc in self.inside if pc not in deferred and pc not in self.skipped]

    def _deferred(self, last):
        """The deferred opcodes if those up to the pc `last` are the slice; sets `skipped`."""
        deferred: list = []
        written: dict = {}
        self.skipped: set = set()
        for pc in range(self.head, self.bounds.stop):
            op = self.ops[pc]
            if pc in self.skipped:
                continue
            if op.opcode == ONCE and pc <= last:
                self.skipped |= set(range(pc, op.p2))
                continue
            reads = self.flow.reads[pc]
            if reads is None:
                raise Refused('opcode %s is not inlined' % opcodes.NAMES[op.opcode])
            if (pc in self.python or pc == self.row or pc <= last and self.jumps(pc) or self._has_effects(pc)
                    or any(self._comes_deferred(register, pc, deferred, written) for register in reads)):
                deferred.append(pc)
            for register in self.flow.writes[pc]:
                written[register] = pc
        return deferred

    def _has_effects(self, pc):
        """Whether the opcode at `pc` is deferred for what it does; see SinkSlice."""
        return False

    def _begins_at_head(self):
        """Whether nothing jumps into the slice behind its head. If a jump before it does (`b > 5 OR f(x)`), that is
        the head now, and all is to be classified anew; raises Refused if anything else does."""
        into = [pc for pc in range(len(self.ops)) if pc not in self.inside and any(
            self.head < target < self.end for target in self.flow.successors[pc])]
        if not into:
            return True
        if into[0] not in self.bounds or into[-1] >= self.end or any(
                self.ops[pc].opcode not in JUMPS or self.ops[pc].opcode == ONCE for pc in into):
            raise Refused('a condition skips the Python call, and only a part of what follows it')
        self.head = self.selected = into[0]
        return False

    def _comes_deferred(self, register, pc, deferred, written):
        """Whether what the opcode at `pc` finds in a register may be of a deferred opcode, or depend
        on which way a deferred jump has gone."""
        writer = written.get(register)
        if writer is None:
            return False
        return writer in deferred or any(
            self.jumps(jump) and jump < writer < self.ops[jump].p2 <= pc for jump in deferred)

    def _check_eager(self):
        """Raise Refused if an eager opcode can't be done whatever happens, and again."""
        written: set = set()
        read: set = set()
        for pc in self.eager:
            op = self.ops[pc]
            name = opcodes.NAMES[op.opcode]
            read |= self.flow.reads[pc] - written
            written |= self.flow.writes[pc]
            if op.opcode in FUNCTIONS and pc not in self.calls.pure:
                raise Refused('the function %s, which is not pure, follows a Python call' % self.calls.names.get(pc))
            if op.opcode not in AGAIN or self.jumps(pc) or op.opcode == opcodes.OP_Null and op.p1:
                raise Refused('opcode %s follows a Python call' % name)
            if self.flow.writes[pc] & self.flow.live[self.end] and any(
                    self.jumps(jump) and jump < pc < self.ops[jump].p2 for jump in self.deferred):
                raise Refused('a Python call\'s result decides what is read later')
        if read & written:
            raise Refused('the loop changes what it reads')

    def _find_registers(self):
        """Set `written`, `accumulators`, `fields`, `counters`, `steps`."""
        flow, ops = self.flow, self.ops
        steps = [pc for pc in self.mine if ops[pc].opcode in AGGREGATE_STEPS]
        self.steps = [pc for pc in steps if pc in self.calls.python]
        self.accumulators = {ops[pc].p3 for pc in steps}
        self.deferred_written = set()
        for pc in self.mine:
            self.deferred_written |= flow.writes[pc]
        outside = set()
        for pc in self.exits | {self.end}:
            outside |= flow.live[pc]
        if self.row is not None:
            outside |= flow.live[self.row + 1]
        self.fields = (self.deferred_written & outside) - self.accumulators
        eager = set()
        for pc in self.eager:
            eager |= flow.writes[pc]
        if eager & self.fields:
            raise Refused('a value comes from Python in some rows, from C in others')
        self.counters = set(self.fields)
        for pc in self.mine:
            if ops[pc].opcode not in COUNTERS:
                self.counters -= flow.reads[pc] | flow.writes[pc]

    def _reads(self, pc):
        """The registers (set) that the deferred opcode at `pc` needs the values of."""
        return self.flow.reads[pc] - self.accumulators

    def _find_captures(self):
        """Set `captures`, `loads`, `values`, `written` and `order`."""
        flow = self.flow
        late_reads = set()
        for pc in self.deferred:
            late_reads |= self._reads(pc)
        self.captures: dict = {pc: [] for pc in self.deferred}
        self.loads: dict = {}
        count = 0
        changing = self._written_from_here()
        for register in sorted(flow.live[self.head] & late_reads - self.fields):
            if register in changing:
                self.captures[self.head].append(register)
                self.loads.setdefault(self.head, []).append((register, count))
                count += 1
        pending: dict = {}
        for pc in self.inside:
            if pc in self.captures:
                for register, writer in sorted(pending.items()):
                    if any(register in self._reads(other) for other in self.deferred if other >= pc):
                        self.captures[pc].append(register)
                        self.loads.setdefault(writer, []).append((register, count))
                        count += 1
                pending = {}
            elif pc not in self.skipped:
                for register in flow.writes[pc]:
                    pending[register] = pc
        if count > MOST_VALUES:
            raise Refused('more than %d values of a row are needed' % MOST_VALUES)
        self.values = list(range(count))
        loaded = {register for found in self.loads.values() for register, _ in found}
        self.written = self.deferred_written | loaded
        self.order = sorted(set(self.deferred) | set(self.loads)
                            | {pc for pc in self.targets if pc in self.inside})

    def _written_from_here(self):
        """The registers (set) that anything that may follow writes."""
        reached, _ = reach([self.head], len(self.ops), lambda pc: self.flow.successors[pc])
        return set().union(*[self.flow.writes[pc] for pc in reached])

    def _find_way(self):
        """Set `way`, and what C has to know."""
        refused = []
        for way in (REVERSIBLE, PURE):
            reached, stopped = self._reach(way)
            again = any(self.head in self.flow.successors[pc] for pc in reached)
            if again and not any(pc in self.inside for pc in stopped):
                break
            refused.append((len(reached), stopped))
        else:
            raise Refused(self.aheads.reason(max(refused)[1]))      # of the way that leads furthest
        self.way = way
        self.stopped = stopped
        self.reached = reached - set(self.deferred)
        if way == REVERSIBLE:
            for pc in reached:
                if (self.ops[pc].opcode in AGGREGATE_STEPS and pc not in self.deferred
                        and self.calls.names.get(pc) not in SUMS):
                    raise Refused('the aggregate %s, beside a Python call, can\'t be rolled back' % (
                        self.calls.names.get(pc)))

    def _reach(self, way):
        """The pcs that are run from the slice's beginning on (set), and those before which it stops
        (list)."""
        outside = self.fields | self.accumulators | self.sink_fields

        def following(pc):
            op = self.ops[pc]
            if pc in self.captures:
                return [pc + 1]
            touched = self.flow.writes[pc] | (self.flow.reads[pc] or set())
            if (op.opcode == ROW or touched & outside or not self.aheads.may(pc, op, way)
                    or op.p1 in self.changed and op.opcode in CURSORS):
                return None
            return self.flow.following[pc]
        return reach([self.head], len(self.ops), following)

    def _check_deferred(self):
        """Raise Refused if Python can't do a deferred opcode; set `in_c` and `shape`."""
        ops = self.ops
        self.in_c = set()
        for pc in self.mine:
            op = ops[pc]
            name = opcodes.NAMES[op.opcode]
            if op.opcode in IN_C_ONE and pc not in self.calls.python:
                function = self.calls.names.get(pc)
                if function is not None and pc not in self.calls.pure:
                    raise Refused('the function %s, which is not pure, uses a Python call\'s result' % function)
                if len(self.flow.writes[pc]) > 1:
                    raise Refused('opcode %s uses a Python call\'s result' % name)
                self.in_c.add(pc)
            elif not self.flow.is_emitted(pc):
                raise Refused('opcode %s uses a Python call\'s result' % name)
            if self.jumps(pc) and op.opcode not in JUMPS or op.opcode in JUMPS and op.p2 <= self.head:
                raise Refused('opcode %s uses a Python call\'s result' % name)
            if self.row is not None and pc > self.row and op.opcode not in COUNTERS | NOTHING | {
                    opcodes.OP_Goto}:
                raise Refused('opcode %s follows the row' % name)
            if self.way == PURE and not (pc in self.steps or op.opcode in NOTHING | COPIES):
                raise Refused('the rows come from a sorter or a queue')
        if self.row is not None and any(self.row < pc < self.end for pc in self.targets):
            raise Refused('a Python call\'s result skips the row, but not what follows it')
        if self.row is not None and any(pc > self.row for pc in self.loads):
            raise Refused('more of the row is read after it is returned')
        self.shape = RUN if self.row is None else AHEAD

    def _find_around(self):
        """Return what `around` is."""
        found, grown = {self.head}, True
        while grown:
            grown = False
            for pc in range(len(self.ops) - 1, -1, -1):
                if pc not in found and not found.isdisjoint(self.flow.successors[pc]):
                    found.add(pc)
                    grown = True
        return found

    def may_exit(self, op):
        """See Loop."""
        return op.opcode in JUMPS and (op.p2 == self.end or op.p2 in self.exits)

    def _make_spec(self):
        """Set `spec` and `stride`."""
        self.stride = max(2 * len(self.values) + self._room(), 1)
        entries = {}
        for pc in self.deferred:
            flags = (BEGIN if pc == self.head else 0) | (END if pc == self.deferred[-1] else 0)
            kind = 'CALL' if flags or self.captures[pc] else 'SKIP'
            entries[pc] = entry(kind, self.captures[pc], flags=flags)
        self.spec = self.aheads.spec(self.way, self.reached, self.stopped, set(self.ops[self.head].live), entries,
                                     stride=self.stride, sink=self._sink_words())

    def _room(self):
        """How many words of a record are for a sink (int)."""
        return 0

    def _sink_words(self):
        """The sink's part of the spec (list of int)."""
        return []


def check_calls(calls, foreign):
    """Raise Refused for what no query may have whose calls C leaves to Python.

    Args:
        calls: the statement's Calls.
        foreign: whether texts are compared by a collation that isn't SQLite's own.
    """
    if foreign:
        raise Refused('texts are compared by a collation that is not SQLite\'s own')
    if calls.subtypes:
        raise Refused('a function asks for the subtypes of its arguments')


def analysed(program, flow, aheads, bounds, other):
    """The Slice of the loop between `bounds` (two pcs), or one of the class `other`; raises Refused."""
    check_calls(aheads.calls, aheads.calls.foreign_collation)
    if any(op.opcode in (opcodes.OP_AggInverse, opcodes.OP_AggValue) for op in program.ops):
        raise Refused('a window function')
    try:
        return Slice(program, flow, aheads, *bounds)
    except Refused as refused:
        try:
            return other(program, flow, aheads, *bounds)
        except Refused:
            raise refused from None


def innermost(ops, pc):
    """The innermost loop around a pc, as (its head, its end), or None."""
    found = None
    for end in range(pc + 1, len(ops)):
        op = ops[end]
        if op.opcode in ENDS and op.p2 <= pc and (found is None or op.p2 > found[0]):
            found = op.p2, end
    return found


def slices(program, flow, aheads, other):
    """Analyse all calls of user code in a program.

    Args:
        program: a Program (sqpyte/vm/program/decode.py).
        flow: its Flow (scan.py).
        aheads: its Aheads (effects.py).
        other: the class that is tried for a loop that is no Slice: SinkSlice.
    Returns:
        a list of (pc of the first call of a loop, pc of the loop's end, Slice or None, reason).
    """
    found, seen = [], set()
    for pc in sorted(aheads.calls.python):
        bounds = innermost(program.ops, pc)
        if bounds is None:
            found.append((pc, pc, None, 'the Python call is in no loop over a table, an index or a sorter'))
            continue
        if bounds in seen:
            continue
        seen.add(bounds)
        try:
            found.append((pc, bounds[1], analysed(program, flow, aheads, bounds, other), ''))
        except Refused as refused:
            found.append((pc, bounds[1], None, str(refused)))
    return found
