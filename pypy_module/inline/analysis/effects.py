"""What a query may do ahead of its caller: analysis for row batches (c_engine/rows/call_log.h), no code.

After a row the statement may run on to further rows that nobody has asked for yet, if nothing of
that can be seen from outside.  There are two cases:

* PURE: what is run depends on nothing outside of the statement, whatever the program does between
  two rows: the loop after a sorter, ephemeral tables, coroutines, recursion.
* REVERSIBLE: it reads tables and indexes, but it changes nothing but registers, the positions of
  cursors, and the index by which DISTINCT knows what has been.  If the program does anything that
  could matter, the statement is rolled back to the row that was asked for.

Where an opcode is met that is neither, running ahead stops before it.
"""

from c_engine.generated import opcodes
from c_engine.generated.layout import OPFLAG_P2ISREG, OPFLAG_USESEEKRESULT
from pypy_module.inline.analysis.kinds import (
    CALL, CHANGES, CHANGES_REGISTERS, DISTINCT, MEMO, READS, REGISTERS)
from pypy_module.inline.analysis.spec import Spec, entry
from sqpyte.vm.opcodes.table import numbers
from sqpyte.vm.program import liveness

PURE, REVERSIBLE = 'pure', 'reversible'

ROW, ONCE, INSERT = opcodes.OP_ResultRow, opcodes.OP_Once, opcodes.OP_IdxInsert
READ, EPHEMERAL, SORTER, RECORD, OTHER = 'read', 'ephemeral', 'sorter', 'record', 'other'
OPENS = dict.fromkeys(numbers('opens-btree', 'opens-virtual'), OTHER)
OPENS.update(dict.fromkeys(numbers('opens-to-read'), READ))
OPENS.update(dict.fromkeys(numbers('opens-ephemeral'), EPHEMERAL))
OPENS.update(dict.fromkeys(numbers('opens-sorter'), SORTER))
OPENS.update(dict.fromkeys(numbers('opens-record'), RECORD))
_PRIVATE = {EPHEMERAL, SORTER, RECORD}
_PLACED = {READ, EPHEMERAL, RECORD}


def reach(starts, size, following):
    """Go through a program's opcodes.

    Args:
        starts: the pcs to begin at.
        size: how many opcodes there are (int).
        following: function of a pc: the pcs that may follow, or None if it stops before that one.
    Returns:
        the pcs that are run (set), and those before which it stops (list, in the order found).
    """
    reached: set = set()
    stopped: list = []
    pending = list(starts)
    while pending:
        pc = pending.pop()
        if pc in reached or pc in stopped or pc >= size:
            continue
        found = following(pc)
        if found is None:
            stopped.append(pc)
        else:
            reached.add(pc)
            pending += found
    return reached, stopped


class Ahead:
    """How a statement may run ahead after one of its ResultRows.

    Attributes:
        way: PURE or REVERSIBLE.
        spec: its Spec.
    """

    def __init__(self, way, spec):
        self.way = way
        self.spec = spec


class Aheads:
    """The analysis of one program.

    Attributes:
        found: by the pc behind a ResultRow, its Ahead, or why it has none (str).
    """

    def __init__(self, program, calls):
        """Analyse a Program (sqpyte/vm/program/decode.py), given the statement's Calls."""
        self.ops = program.ops
        self.calls = calls
        self.highest = program.nregisters
        self.kinds: dict = {}
        self.opened: dict = {}
        for op in self.ops:
            if op.opcode in OPENS:
                self.kinds.setdefault(op.p1, set()).add(OPENS[op.opcode])
                self.opened.setdefault(op.p1, set()).add((op.opcode, op.p2, op.p3))
        # Accumulators that a Null ends, by calling the user's `finalize`.
        self.ended = {self.ops[pc].p1 for pc in calls.results
                      if self.ops[pc].opcode == opcodes.OP_AggValue}
        self.distinct = self._distinct()
        self.found: dict = {}
        for pc, op in enumerate(self.ops):
            if op.opcode == ROW:
                self.found[pc + 1] = self._analyse(pc + 1)

    def _distinct(self):
        """The cursors (set) of indexes to which keys are added, if they aren't there, and no more."""
        found = {op.p1 for op in self.ops
                 if op.opcode == INSERT and op.p5 == OPFLAG_USESEEKRESULT
                 and self.kinds.get(op.p1) == {EPHEMERAL}}
        for op in self.ops:
            if op.opcode in READS or op.opcode in CHANGES:
                if op.opcode not in DISTINCT or op.opcode == INSERT and op.p5 != OPFLAG_USESEEKRESULT:
                    found -= {op.p1, op.p2 if op.opcode == opcodes.OP_OpenDup else op.p1}
        return found

    def _analyse(self, pc):
        """Return the Ahead for the pc behind a ResultRow, or why there is none (str)."""
        if self.calls.foreign_collation:
            return 'texts are compared by a collation that is not SQLite\'s own'
        reasons = []
        for way in (PURE, REVERSIBLE):
            reached, stopped = self._reach(pc, way)
            if any(self.ops[other].opcode == ROW for other in reached):
                return self._ahead(pc, way, reached, stopped)
            reasons.append(self.reason(stopped))
        return reasons[1]

    def reason(self, stopped):
        """Why no row can be reached, given where it stops (list of pcs in the order found)."""
        names = [opcodes.NAMES[self.ops[pc].opcode] for pc in stopped
                 if self.ops[pc].opcode != opcodes.OP_Halt]
        if not names:
            return 'there is no second row'
        for pc in stopped:
            if pc in self.calls.collations:
                return 'a collation written in Python is called for each row'
            if pc in self.calls.python:
                return 'a function written in Python is called for each row'
            if pc in self.calls.names and pc not in self.calls.pure:
                return 'it calls the function %s' % self.calls.names[pc]
        return 'opcode %s can\'t be rolled back' % names[0]

    def _reach(self, pc, way):
        """The pcs that may be run from `pc` on (set), and those before which it stops (list)."""
        def following(pc):
            op = self.ops[pc]
            if not self.may(pc, op, way):
                return None
            return [op.p2] if op.opcode == ONCE else liveness.successors(self.ops, pc)
        return reach([pc], len(self.ops), following)

    def may(self, pc, op, way):
        """Whether the opcode `op` (Op) at `pc` may be run ahead, PURE or REVERSIBLE as `way` says."""
        opcode = op.opcode
        if opcode == opcodes.OP_Null and self.ended & set(range(op.p2, max(op.p2, op.p3) + 1)):
            return False
        if opcode in REGISTERS or opcode == ROW or opcode == ONCE:
            return pc not in self.calls.collations
        if opcode in CALL:
            return pc in self.calls.pure
        if opcode in MEMO:
            return way == REVERSIBLE
        if opcode == opcodes.OP_OpenRead:
            return way == REVERSIBLE and len(self.opened[op.p1]) == 1 and not op.p5 & OPFLAG_P2ISREG
        kinds = self.kinds.get(op.p1, {OTHER})
        if opcode == opcodes.OP_DeferredSeek:
            kinds = kinds | self.kinds.get(op.p3, {OTHER})
        if opcode in READS:
            return kinds <= (_PRIVATE if way == PURE else _PLACED)
        if opcode == INSERT and way == REVERSIBLE:
            return op.p1 in self.distinct
        if opcode in CHANGES:
            return way == PURE and kinds <= _PRIVATE
        return opcode in CHANGES_REGISTERS and way == PURE

    def _ahead(self, pc, way, reached, stopped):
        """Make the Ahead."""
        rows = [other for other in reached if self.ops[other].opcode == ROW]
        entries = {other: entry('ROW') for other in rows}
        return Ahead(way, self.spec(way, reached, stopped, set(self.ops[pc].live), entries,
                                    pc=pc, stride=2 * self.ops[rows[0]].p2))

    def spec(self, way, reached, stopped, live, entries, left_out=(), **parts):
        """The Spec by which C runs ahead.

        Args:
            way: PURE or REVERSIBLE.
            reached: pcs of what is run (set); stopped: those before which C stops.
            live: the registers (set) that are read from there on.
            entries: see Spec, as for `parts`.
            left_out: those of the pcs that C doesn't do, so that they write nothing.
        """
        reversible = way == REVERSIBLE
        watched = (ONCE, INSERT) if reversible else (ONCE,)
        checkpoint = self._checkpoint(reached, live, left_out) if reversible else ([], [])
        return Spec(self.ops, reversible, checkpoint, stopped,
                    [pc for pc in reached if self.ops[pc].opcode in watched], entries, **parts)

    def _checkpoint(self, reached, live, left_out):
        """What a checkpoint has: registers and cursors (two sorted lists of int); see `spec`."""
        written, cursors = set(), set()
        for other in reached:
            op = self.ops[other]
            if other not in left_out:
                spans = liveness.declaration_of(op).write_spans
                written |= set(liveness.registers_of(op, spans, self.highest))
            if op.opcode in READS and op.p1 not in self.distinct:
                cursors.add(op.p1)
            if op.opcode == opcodes.OP_DeferredSeek:
                cursors.add(op.p3)
        return sorted(written & live), sorted(cursors)
