"""Slices whose results C stores: what goes into a sorter, a temporary table, an aggregate of its own.

`GROUP BY f(x)`, `ORDER BY f(x)`, `count(DISTINCT f(x))`, `sum(x) ... WHERE f(y)` over a join: behind
the last call of user code a row's work is C's again.  That part of a slice (slices.py) is its sink.
Python does the deferred opcodes before it, puts the values that the sink needs into the row's own words,
and goes on with the next row; at the end of a batch C does the sink for all of its rows in one call.

Nobody can tell, because the sink is done for the rows in their order, it touches nothing but the
statement's own cursors and registers, and it is done before the statement goes on in C for whatever
reason.  An error that only a sink can have, a record too large, is kept away: long values are handed
over at once, and statements under a low limit of lengths stay in C.
"""

from c_engine.generated import opcodes
from pypy_module.inline.analysis.slices import ROW, Slice
from pypy_module.inline.analysis.effects import EPHEMERAL, SORTER
from pypy_module.inline.analysis.kinds import (
    AGGREGATE_STEPS,
    CHANGES,
    CURSORS,
    FUNCTIONS,
    JUMPS,
    READS,
    SINK,
    STORES,
)
from pypy_module.inline.analysis.scan import Refused

WITH_SINK = 'sink'           # its shape, for `explain`

# These never fail.
_AGGREGATES = ('sum', 'total', 'avg', 'count', 'min', 'max')
_FUNCTIONS = ('upper', 'lower', 'length', 'substr', 'substring', 'typeof', 'trim', 'ltrim', 'rtrim',
              'instr', 'hex', 'unicode', 'min', 'max', 'round', 'nullif', 'quote')


class SinkSlice(Slice):
    """A slice with a sink.

    Attributes, beside a Slice's:
        sink: pcs of its deferred opcodes; the first is `sink_pc`.
        kept: (register, number of the value, pc of the eager opcode behind which the register has
            it, or 0: from the beginning) of what it reads of the row as C has kept it (list).
        cells: registers whose values Python hands over (list); row_word: the word of a row that says
            whether there are any.
    """

    def jumps(self, pc):
        """See Slice."""
        return super().jumps(pc) and not (self.ops[pc].opcode == opcodes.OP_Last
                                          and self.ops[pc].p2 == 0)

    def _classify(self):
        """See Slice; what has an effect is deferred too."""
        ops = self.ops
        behind = range(self.head, self.bounds.stop)
        if any(ops[pc].opcode == ROW for pc in self.bounds):
            raise Refused('its loop returns rows')
        self.row = None
        self.changed = {ops[pc].p1 for pc in behind if ops[pc].opcode in CHANGES}
        last = max([pc for pc in behind if self._has_effects(pc)] + self.python)
        self._defer(last)
        self._find_sink()
        self.targets = {ops[pc].p2 for pc in self.mine if self.jumps(pc)}
        self.exits = set()

    def _has_effects(self, pc):
        """Whether an opcode changes more than registers, or reads what such opcodes change."""
        op = self.ops[pc]
        return (op.opcode in CHANGES or op.opcode in AGGREGATE_STEPS
                or op.opcode in READS and op.p1 in self.changed
                or op.opcode == opcodes.OP_CollSeq and op.p1 > 0)

    def _find_sink(self):
        """Set `sink_pc`, `sink` and `mine`."""
        ops = self.ops
        last = self.python[-1]
        behind = [pc for pc in self.deferred if pc > last and not self._python_can(pc)]
        if not behind:
            raise Refused('its loop stores no result')
        self.sink_pc = behind[0]
        while True:
            into = [pc for pc in self.deferred if pc < self.sink_pc and self.jumps(pc)
                    and self.sink_pc < ops[pc].p2 < self.end]
            if not into:
                break
            self.sink_pc = into[0]
        if self.sink_pc <= last:
            raise Refused('what the loop stores depends on several Python calls')
        self.sink = [pc for pc in self.deferred if pc >= self.sink_pc]
        self.mine = [pc for pc in self.deferred if pc < self.sink_pc]
        for pc in self.deferred:
            op = ops[pc]
            if self.jumps(pc) and not pc < op.p2 <= self.end:
                raise Refused('opcode %s uses a Python call\'s result' % opcodes.NAMES[op.opcode])
        for pc in self.sink:
            if not self._c_can(pc):
                raise Refused('opcode %s uses a Python call\'s result' % opcodes.NAMES[ops[pc].opcode])
        self.changed |= {ops[pc].p1 for pc in self.sink if ops[pc].opcode in CURSORS}
        for pc in self.eager:
            if ops[pc].opcode in CURSORS and ops[pc].p1 in self.changed:
                raise Refused('it reads what the loop stores')

    def _python_can(self, pc):
        """Whether Python has the deferred opcode at `pc`."""
        op = self.ops[pc]
        if op.opcode in FUNCTIONS | AGGREGATE_STEPS:
            return pc in self.python
        return self.flow.is_emitted(pc)

    def _c_can(self, pc):
        """Whether the deferred opcode at `pc` may be part of a sink."""
        op = self.ops[pc]
        if op.opcode in FUNCTIONS:
            return pc in self.calls.pure and self.calls.names.get(pc) in _FUNCTIONS
        if op.opcode in AGGREGATE_STEPS:
            return pc in self.calls.pure and self.calls.names.get(pc) in _AGGREGATES
        if op.opcode == opcodes.OP_Null and op.p1 or self.jumps(pc) and op.opcode not in JUMPS | STORES:
            return False
        if op.opcode in CURSORS and not self.aheads.kinds.get(op.p1, {''}) <= {EPHEMERAL, SORTER}:
            return False
        return op.opcode in SINK and not (op.opcode == opcodes.OP_Insert and op.p5 & 1)

    def _find_registers(self):
        """See Slice; also set `sink_fields` (what the sink keeps from row to row, in C) and
        `sink_written`."""
        super()._find_registers()
        flow = self.flow
        steps = {self.ops[pc].p3 for pc in self.sink if self.ops[pc].opcode in AGGREGATE_STEPS}
        self.sink_written = set()
        for pc in self.sink:
            self.sink_written |= flow.writes[pc]
        self.sink_fields = self.sink_written & flow.live[self.end] | steps
        self.needed = self._needed() - self.sink_fields
        used = set(self.deferred_written)
        for pc in self.mine + self.eager:
            used |= flow.reads[pc]
        for pc in self.eager:
            used |= flow.writes[pc]
        if used & self.sink_fields:
            raise Refused('it uses what the loop stores')

    def _needed(self):
        """The registers that the sink reads before anything from there on has written them."""
        live: dict = {self.end: set()}
        for pc in range(self.end - 1, self.sink_pc - 1, -1):
            op = self.ops[pc]
            found = set() if op.opcode == opcodes.OP_Goto and pc in self.sink else set(live[pc + 1])
            if pc in self.sink:
                if self.jumps(pc):
                    found |= live[op.p2]
                found = found - self.flow.writes[pc] | self.flow.reads[pc]
            elif pc in self.eager:
                found -= self.flow.writes[pc]
            live[pc] = found
        return live[self.sink_pc]

    def _reads(self, pc):
        """See Slice."""
        found = super()._reads(pc)
        if pc in self.sink:
            known = set(self.needed)
            for other in self.eager:
                if other > self.sink_pc:
                    known |= self.flow.writes[other]
            found &= known
        return found

    def _find_captures(self):
        """See Slice; also set `kept` and `cells`."""
        super()._find_captures()
        before: dict = {}
        self.kept, self.cells = [], []
        for pc, found in self.loads.items():
            for register, number in found:
                if pc < self.sink_pc:
                    before.setdefault(register, []).append(number)
                else:
                    self.kept.append((register, number, pc))
        for register in sorted(self.needed):
            numbers = before.get(register, [])
            if register in self.deferred_written or len(numbers) > 1:
                self.cells.append(register)
            elif numbers:
                self.kept.append((register, numbers[0], 0))
        self.order = [pc for pc in self.order if pc < self.sink_pc] + [self.sink_pc]

    def _room(self):
        """See Slice."""
        self.row_word = 2 * len(self.values)
        return 1 + 2 * len(self.cells)

    def word_of(self, number):
        """The word of a record with the value that Python hands over for `cells[number]`."""
        return self.row_word + 1 + 2 * number

    def _sink_words(self):
        """See Slice."""
        values = [(register, 2 * number, pc) for register, number, pc in self.kept]
        values += [(register, self.word_of(number), 0) for number, register in enumerate(self.cells)]
        saved = self.sink_written - self.sink_fields - {register for register, _, _ in values}
        eager = [pc for pc in self.eager if pc >= self.sink_pc]
        words = [self.sink_pc, self.end, self.row_word, len(values), len(saved), len(eager)]
        for triple in values:
            words += triple
        return words + sorted(saved) + eager
