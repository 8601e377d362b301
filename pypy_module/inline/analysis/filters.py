"""Loops over one table whose calls of user code decide whether C does the rest of a row: filters.

`... FROM t JOIN u ON u.a = t.b WHERE f(t.c)`, `SELECT DISTINCT f(x) FROM t`: behind the call C seeks in another table,
or looks into DISTINCT's index, and returns the row. That is the loop's rest. Python does what is before it, as in any
other loop (scan.py). Where a row passes, C does its rest, up to the loop's Next. So a row that is rejected costs no
call.

Of a key that was in DISTINCT's index once, Python rejects the next rows itself: nothing is ever taken out of it.
"""

from c_engine.generated import opcodes
from pypy_module.inline.analysis.effects import OPENS, reach
from pypy_module.inline.analysis.kinds import AGGREGATE_STEPS, CURSORS, IN_C_ONE, JUMPS
from pypy_module.inline.analysis.scan import NEXT, Loop, Refused
from pypy_module.inline.analysis.spec import BEGIN, END, Spec, entry
from sqpyte.vm.values.compare import BINARY, OTHER

FILTER = 'filter'
READERS = (opcodes.OP_Column, opcodes.OP_Rowid)


class FilterLoop(Loop):
    """A loop with a rest; see the module's docstring.

    Attributes, beside a Loop's:
        inside: the pcs before the rest (range).
        rest: pc of the first opcode of the rest, which ends where the loop does.
        exits: pcs that a row goes on with in C (set): `rest`, others in the rest, and those outside of the loop.
        key: registers (list) of what DISTINCT looks for with the rest's first opcode; [] if that is another one.
        rest_spec: the Spec by which C does a rest.
    """

    def __init__(self, program, flow, calls, end, aheads):
        """See Loop; `aheads`: the Aheads."""
        if program.ops[end].opcode != NEXT:
            raise Refused('only scans of tables are inlined')
        self.aheads = aheads
        super().__init__(program, flow, calls, end)
        entries = {end: entry('CALL', flags=BEGIN | END)}
        self.rest_spec = Spec(self.ops, False, ([], []), [], [], entries, stride=1)

    def _check_opcodes(self):
        """See Loop; the first opcode that can't be inlined begins the rest."""
        self.rest = self._find_rest()
        self.inside = range(self.head, self.rest)
        self.python = [pc for pc in self.inside if pc in self.calls.python]
        self.key = self._find_key()
        if not self._may_reject() or not self.calls.python <= set(range(self.head, self.end)):
            raise Refused('no call of its own decides what C does')
        for pc in range(self.rest, self.end):
            if type(self.aheads.found.get(pc + 1, '')) is not str:
                raise Refused('a row that passes gives several rows, which C computes ahead')
        super()._check_opcodes()

    def _may_reject(self):
        """Whether a row may be rejected once user code has been called."""
        return self.python and self.rest < self.end and (self.key or any(
            self.ops[pc].opcode in JUMPS and self.ops[pc].p2 == self.end for pc in self.inside if pc >= self.python[0]))

    def _find_rest(self):
        """Return what `rest` is."""
        pc = self.head
        while pc < self.end:
            op = self.ops[pc]
            if (op.opcode in AGGREGATE_STEPS or op.opcode == opcodes.OP_ResultRow
                    or op.opcode in READERS and op.p1 != self.cursor or op.opcode in JUMPS and op.p2 <= pc
                    or not self.flow.is_emitted(pc) and op.opcode not in IN_C_ONE):
                break
            pc = op.p2 if op.opcode == opcodes.OP_Once else pc + 1
        # What C does alone is only done for the sake of a call that follows.
        calls = [other for other in self.calls.python if self.head <= other < pc]
        for other in range(max(calls, default=pc) + 1, pc):
            if self.ops[other].opcode in IN_C_ONE:
                return other
        return pc

    def _find_key(self):
        """Return what `key` is."""
        op = self.ops[self.rest]
        opened = [other for other in self.ops if other.opcode == opcodes.OP_OpenEphemeral and other.p1 == op.p1]
        adds = [other.opcode for other in self.ops[self.rest + 1:self.rest + 3]]
        if (op.opcode != opcodes.OP_Found or op.p4 < 1 or op.p2 != self.end or op.p1 not in self.aheads.distinct
                or adds != [opcodes.OP_MakeRecord, opcodes.OP_IdxInsert] or self.ops[self.rest + 2].p1 != op.p1
                or len(opened) != 1 or set(opened[0].collations or [OTHER]) != {BINARY}):
            return []
        return list(range(op.p3, op.p3 + op.p4))

    def _find_registers(self):
        """See Loop; what the rest reads is written when a row passes."""
        super()._find_registers()
        self.exits = {target for target in self.targets if not self.head <= target < self.rest} - {self.end}
        self.exits.add(self.rest)
        outside = set(self.flow.live[self.end])
        for pc in self.exits:
            if not self.head <= pc < self.end:
                outside |= self.flow.live[pc]
        if self.written & outside:
            raise Refused('a value comes from Python in some rows, from C in others')
        self.fields = set()
        self.counters = set()
        self._check_rest()

    def _check_rest(self):
        """Raise Refused unless C comes from the rest to the loop's Next with the cursor on the same row, and without a
        change of what the opcodes before the rest read: Python has that since the loop began. A rest may leave the
        loop, and come to it anew, by a subroutine's Return (a multi-index OR): that opens or rewinds the cursor."""
        def following(pc):
            found = None if pc == self.end else self.flow.successors[pc]
            if found and self.ops[pc].opcode == opcodes.OP_Yield:
                # To the coroutine's end, or behind the other side's Yield: it has begun.
                return [to for to in found if to == self.ops[pc].p2 or self.ops[to - 1].opcode == opcodes.OP_Yield]
            return found
        reached, _ = reach([pc for pc in self.exits if self.head <= pc < self.end], len(self.ops), following)
        read = set().union(*[self.flow.reads[pc] for pc in self.inside if pc not in self.skipped])
        for pc in reached:
            op = self.ops[pc]
            if op.p1 == self.cursor and op.opcode not in READERS and (op.opcode in CURSORS or op.opcode in OPENS):
                raise Refused('what follows a row that passes moves the cursor')
            if self.flow.writes[pc] & read & self.flow.live[self.head]:
                raise Refused('what follows a row that passes changes what the next ones read')

    def _split(self):
        """See Loop; a row that a jump takes to the rest would end the selecting part."""
        super()._split()
        selecting = range(self.head, self.selected)
        if any(self.ops[pc].opcode in JUMPS and self.ops[pc].p2 in self.exits for pc in selecting):
            self.selected = self.head
            self.recomputed = []

    def _find_shape(self):
        """See Loop."""
        return FILTER
