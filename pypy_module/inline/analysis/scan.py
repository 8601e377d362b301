"""Which loops of a VDBE program can be inlined, and in what shape: analysis, no code.

A loop is the scan of one table: the opcodes from the target of a Next to that Next.  Its opcodes
may jump forward, to the Next (the row is rejected) or out of the loop.  What doesn't fit has a
reason, which `sqpyte.explain` shows.

The loop is split where it pays: its first part, if it has no effects, only decides whether a row is
wanted (the WHERE clause).  It is run over a whole page's rows at once (`select`), so that the rest
is straight-line code, which PyPy's JIT inlines into the user's loop; a loop in there would be a
trace of its own.  Three shapes of the rest:

* ROWS: no user code.  A row is computed when it is asked for.
* AHEAD: user code runs, so the next row is computed before a row is handed out, as in sqlite3;
  also where a row may still be rejected behind the split.
* RUN: no row leaves the loop; it feeds aggregates written in Python, and runs to its end.
"""

from c_engine.generated import layout, opcodes
from pypy_module.ffi.library import NUMBERS
from pypy_module.inline.analysis.kinds import (
    AGGREGATE_STEPS,
    COMPARISONS,
    COPIES,
    COUNTERS,
    IN_C_ONE,
    JUMPS,
    LOOP_ENDS,
    NOTHING,
    is_emitted,
)
from sqpyte.vm.program import liveness

ROWS, AHEAD, RUN = 'rows', 'ahead', 'run'

NEXT = opcodes.OP_Next
ROWID = NUMBERS['SQPYTE_ROWID']     # stands for the rowid among the columns
MOST_IN_C = 3       # opcodes that C does one at a time, for each call of user code: also where all is inlined
MOST_VALUES = 200   # columns that a row of a batch holds


class Refused(Exception):
    """The loop isn't inlined; the message is the reason."""


def copied(op):
    """Return the registers that a copying opcode copies: a list of (from, to)."""
    count = {opcodes.OP_Copy: op.p3 + 1, opcodes.OP_SCopy: 1, opcodes.OP_Move: op.p3}[op.opcode]
    return [(op.p1 + i, op.p2 + i) for i in range(count)]


class Flow:
    """What each opcode of a program reads and writes, and which registers are live before it.

    A Once is taken to jump always: a loop is only taken over when its Onces have been done.

    Attributes:
        marked: registers that a Null may have given the mark that makes it unequal to all others (set).
        reads, writes: per opcode a set of registers; `reads` is None where it may be any.
        live: per opcode a set of registers.
        successors: per opcode the pcs that may follow (list of lists); following: the same, where Onces have been done.
    """

    def __init__(self, ops):
        """Analyse `ops` (list of Op)."""
        self.ops = ops
        highest = 0
        for op in ops:
            reads, writes = self._effects(op, 0)
            highest = max([highest] + list(reads or ()) + list(writes))
        self.marked = set()
        for op in ops:
            if op.opcode == opcodes.OP_Null and op.p1:
                self.marked |= set(range(op.p2, max(op.p2, op.p3) + 1))
        while True:
            more = {to for op in ops if op.opcode in COPIES for register, to in copied(op) if register in self.marked}
            if more <= self.marked:
                break
            self.marked |= more
        self.reads, self.writes = zip(*[self._effects(op, highest) for op in ops])
        self.successors = [liveness.successors(ops, pc) for pc in range(len(ops))]
        self.following = [[op.p2] if op.opcode == opcodes.OP_Once else found
                          for op, found in zip(ops, self.successors)]
        everything = set(range(1, highest + 1))
        self.live = [set(everything if reads is None else reads) for reads in self.reads]
        changed = True
        while changed:
            changed = False
            for pc in range(len(ops) - 1, -1, -1):
                live = self.live[pc]
                before = len(live)
                for successor in self.following[pc]:
                    if successor < len(ops):
                        live |= self.live[successor] - self.writes[pc]
                changed = changed or len(live) != before

    def is_emitted(self, pc):
        """Whether Python is made of the opcode at `pc`. Its values have no mark, so it compares none that may have one,
        where NULLs are equal: that of DISTINCT in an order that the rows have, `SELECT DISTINCT a FROM t WHERE a IS
        NULL`."""
        op = self.ops[pc]
        return is_emitted(op) and not (op.opcode in COMPARISONS and op.p5 & layout.SQLITE_NULLEQ
                                       and (op.p1 in self.marked or op.p3 in self.marked))

    @staticmethod
    def _effects(op, last):
        """Return the registers (sets of int, up to the register `last` where a declaration is
        open) that an opcode reads, or None, and writes."""
        if op.opcode == opcodes.OP_ClrSubtype:
            return set(), set()         # the values that are inlined have no subtype
        declaration = liveness.declaration_of(op)
        if declaration is None:
            return None, set()
        return (set(liveness.registers_of(op, declaration.read_spans, last)),
                set(liveness.registers_of(op, declaration.write_spans, last)))


class Loop:
    """A loop that can be inlined.

    Attributes:
        head, end: pc of its first opcode, and of its Next; inside: the pcs between (range).
        cursor: number of the cursor.
        shape: ROWS, AHEAD or RUN.
        selected: pc of the first opcode behind the selecting part; `head` if there is no such part.
        recomputed: opcodes of the selecting part that the rest needs the results of (list of pcs).
        row: pc of the ResultRow, or None.
        fields: registers that are kept from row to row, or live where the loop ends (set).
        counters: those of them that only LIMIT and OFFSET use: plain ints (set).
        values: the columns, and ROWID, that a batch holds (list).
        reals: those of them that a RealAffinity follows everywhere (set).
        merged: pcs of such RealAffinity opcodes (set).
        targets: pcs that are jumped to (set); exits: those of them outside of the loop.
        skipped: pcs behind a Once, which has been done (set).
        written: registers that the loop writes (set).
        python: pcs of calls of the user's functions and aggregates (list); steps: of the latter.
        in_c: pcs of the opcodes that are done in C, one at a time (set).
        accumulators: registers in which aggregates add up, which no opcode of the loop reads (set).
        flow: the program's Flow.
    """

    def __init__(self, program, flow, calls, end):
        """Analyse the loop whose Next is at the pc `end`; raises Refused."""
        ops = program.ops
        self.ops = ops
        self.flow = flow
        self.calls = calls
        self.end = end
        self.head = ops[end].p2
        self.cursor = ops[end].p1
        self.inside = range(self.head, end)
        self.python = [pc for pc in self.inside if pc in calls.python]
        self._check_place()
        self._check_opcodes()
        rows = [pc for pc in self.inside if ops[pc].opcode == opcodes.OP_ResultRow]
        if len(rows) > 1:
            raise Refused('a row of the table gives several rows')
        self.row = rows[0] if rows else None
        if self.row is None and not self.python:
            raise Refused('no row leaves the loop and nothing in it is written in Python')
        self._find_registers()
        self._find_values()
        self._split()
        self.shape = self._find_shape()

    def _check_place(self):
        """Raise Refused unless the cursor scans a table, once."""
        ops = self.ops
        if self.cursor not in self.calls.tables:
            raise Refused('cursor %d does not read a rowid table' % self.cursor)
        start = ops[0].p2 if ops[0].opcode == opcodes.OP_Init else len(ops)
        for pc in range(self.end + 1, min(start, len(ops))):
            op = ops[pc]
            if opcodes.PROPERTIES[op.opcode] & opcodes.OPFLG_JUMP and 0 < op.p2 <= self.head:
                raise Refused('the loop is inside another one')

    def _check_opcodes(self):
        """Raise Refused if an opcode can't be inlined, or closes a loop."""
        self.targets = set()
        self.skipped: set = set()
        self.in_c = set()
        for pc in self.inside:
            op = self.ops[pc]
            if pc in self.skipped:
                continue
            if op.opcode == opcodes.OP_Once:
                self.skipped |= set(range(pc + 1, op.p2))
            name = opcodes.NAMES[op.opcode]
            if op.opcode in IN_C_ONE and pc not in self.calls.python:
                self._check_in_c(pc, name)
                self.in_c.add(pc)
            elif not self.flow.is_emitted(pc):
                raise Refused('opcode %s is not inlined' % name)
            if op.opcode in JUMPS:
                if self.head <= op.p2 <= pc:
                    raise Refused('a loop inside the loop')
                self.targets.add(op.p2)
            if op.opcode in (opcodes.OP_Column, opcodes.OP_Rowid) and op.p1 != self.cursor:
                raise Refused('the loop reads cursor %d, too' % op.p1)

    def _check_in_c(self, pc, name):
        """Raise Refused if an opcode of IN_C_ONE keeps its loop in C.

        This is the most that a loop can have. By default it is inlined only if it has so few that they are paid by
        inlining the calls of user code (known.CALLS_AN_OPCODE).
        """
        function = self.calls.names.get(pc)
        if len(self.in_c) < MOST_IN_C * len(self.python) and (function is None or pc in self.calls.built_in):
            return
        if function is None:
            raise Refused('opcode %s is not inlined' % name)
        says = 'it calls the built-in function %s' if pc in self.calls.built_in else 'it calls the function %s'
        raise Refused(says % function)

    def _find_registers(self):
        """Set `exits`, `steps`, and the sets of registers."""
        live = self.flow.live
        self.exits = {target for target in self.targets if not self.head <= target <= self.end}
        written = set()
        read = set()
        for pc in self.inside:
            if pc not in self.skipped:
                written |= self.flow.writes[pc]
                read |= self.flow.reads[pc]
        outside = set(live[self.head])
        for pc in self.exits | {self.end + 1}:
            if pc < len(live):
                outside |= live[pc]
        if self.row is not None:
            outside |= live[self.row + 1]
        steps = [pc for pc in self.inside if self.ops[pc].opcode in AGGREGATE_STEPS]
        self.steps = [pc for pc in steps if pc in self.calls.python]
        self.accumulators = {self.ops[pc].p3 for pc in steps}
        self.written = written
        self.fields = (written & outside) - self.accumulators
        self.counters = set(self.fields)
        for pc in self.inside:
            if pc not in self.skipped and self.ops[pc].opcode not in COUNTERS:
                self.counters -= self.flow.reads[pc] | self.flow.writes[pc]
        if self.accumulators & (read - self.accumulators):
            raise Refused('an accumulator is read inside the loop')

    def _find_values(self):
        """Set `values`, `reals` and `merged`."""
        ops = self.ops
        plain = set()
        real: dict = {}
        for pc in self.inside:
            op = ops[pc]
            if pc in self.skipped:
                continue
            if op.opcode == opcodes.OP_Rowid:
                plain.add(ROWID)
            elif op.opcode == opcodes.OP_Column:
                after = ops[pc + 1]
                if (after.opcode == opcodes.OP_RealAffinity and after.p1 == op.p3
                        and pc + 1 not in self.targets):
                    real.setdefault(op.p2, set()).add(pc + 1)
                else:
                    plain.add(op.p2)
        self.reals = set(real) - plain
        self.merged = set()
        for column in self.reals:
            self.merged |= real[column]
        self.values = sorted(plain | set(real))
        if len(self.values) > MOST_VALUES:
            raise Refused('the loop reads more than %d columns' % MOST_VALUES)

    def may_exit(self, op):
        """Whether an opcode may reject the row or leave the loop."""
        return op.opcode in JUMPS and (op.p2 == self.end or op.p2 in self.exits)

    def has_effects(self, pc):
        """Whether an opcode does something that can't be done again, or that is kept."""
        op = self.ops[pc]
        return (pc in self.calls.python or pc in self.in_c or op.opcode == opcodes.OP_ResultRow
                or bool(self.flow.writes[pc] & (self.fields | self.accumulators)))

    def _split(self):
        """Set `selected` and `recomputed`."""
        best = self.head
        furthest = self.head
        rejects = False
        for pc in self.inside:
            if pc in self.skipped:
                continue
            if self.has_effects(pc) or self.flow.reads[pc] & self.fields:
                break
            op = self.ops[pc]
            if self.may_exit(op):
                rejects = True
            elif op.opcode in JUMPS:
                furthest = max(furthest, op.p2)
            if rejects and furthest <= pc + 1:
                best = pc + 1
                rejects = False
        self.selected = best
        self.recomputed = []
        wanted = self._definitions(self.flow.live[best] & self.written - self.fields)
        if wanted is None:
            self.selected = self.head
        else:
            self.recomputed = sorted(wanted)

    def _definitions(self, wanted):
        """Return the opcodes before the split that compute the registers `wanted` (set), a set of
        pcs; None if that isn't certain: a register has several definitions."""
        found = set()
        pending = set(wanted)
        seen = set()
        while pending:
            register = pending.pop()
            seen.add(register)
            writers = [pc for pc in range(self.head, self.selected)
                       if register in self.flow.writes[pc] and pc not in self.merged]
            if len(writers) != 1:
                return None
            pc = writers[0]
            if register in self.flow.reads[pc]:
                return None
            found.add(pc)
            for merged in self.merged:
                if self.ops[merged].p1 == register and merged == pc + 1:
                    found.add(merged)
            pending |= (self.flow.reads[pc] & self.written) - self.fields - seen
        return found

    def _find_shape(self):
        """Return the shape; see the module's docstring."""
        if self.row is None:
            return RUN
        for pc in range(self.row + 1, self.end):
            if pc in self.python or self.ops[pc].opcode in (opcodes.OP_Column, opcodes.OP_Rowid):
                raise Refused('more of the row is read after it is returned')
        if self.python:
            return AHEAD
        for pc in range(self.selected, self.row):
            if self.has_effects(pc) or self.may_exit(self.ops[pc]):
                return AHEAD
        for pc in range(self.row + 1, self.end):
            op = self.ops[pc]
            if op.opcode not in NOTHING and not (op.opcode in COUNTERS and op.p2 in self.exits):
                return AHEAD
        return ROWS


def loops(program, flow, calls):
    """Analyse all scans of a program.

    Args:
        program: a Program (sqpyte/vm/program/decode.py); flow: its Flow.
        calls: the Calls of the statement (calls.py).
    Returns:
        a list of (pc of the Next, Loop or None, reason).
    """
    found: list = []
    for pc, op in enumerate(program.ops):
        if op.opcode in LOOP_ENDS:
            if op.opcode != NEXT:
                found.append((pc, None, 'opcode %s: only scans of tables are inlined'
                              % opcodes.NAMES[op.opcode]))
                continue
            try:
                found.append((pc, Loop(program, flow, calls, pc), ''))
            except Refused as refused:
                found.append((pc, None, str(refused)))
    return found
