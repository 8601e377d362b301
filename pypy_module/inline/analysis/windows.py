"""Which window functions written in Python can be inlined although C runs the loops: analysis.

A window function's calls are all over the program: steps, inverses and values for the rows as they come
and once more for those that are left at the end of a partition, rows in a subroutine.  But which of
them comes next depends on nothing that they return.  So C runs ahead without them, and notes their order
in a call log (c_engine/rows/call_log.h).  The deferred opcodes, which Python does as the log says, are

* the calls: AggStep, AggInverse, AggValue of a window function;
* the ResultRow, and copies of what the calls have returned;
* what is computed of it: arithmetic, and whatever else depends on nothing but registers, which C does one at a time;
* the Null by which a partition's accumulators end, which C does as well.

C keeps the other values that these read.  There are the two ways of effects.py: PURE behind a sorter,
where nothing else is read than the statement's own tables, or REVERSIBLE.
"""

from c_engine.generated import opcodes
from pypy_module.dbapi.mixin import Any
from pypy_module.inline.analysis.slices import SUMS, check_calls
from pypy_module.inline.analysis.effects import EPHEMERAL, PURE, REVERSIBLE, reach
from pypy_module.inline.analysis.kinds import (
    AGGREGATE_STEPS,
    ARITHMETIC,
    COPIES,
    COROUTINE,
    FUNCTIONS,
    IN_C_ONE,
)
from pypy_module.inline.analysis.scan import Refused, copied
from pypy_module.inline.analysis.spec import BEGIN, END, entry

MOST_CALLS = 30         # events of so many kinds; each has its code

ROW, NULL = opcodes.OP_ResultRow, opcodes.OP_Null
STEP, INVERSE, VALUE = opcodes.OP_AggStep, opcodes.OP_AggInverse, opcodes.OP_AggValue
COMPUTES = ARITHMETIC | IN_C_ONE - FUNCTIONS - AGGREGATE_STEPS
INSERTS = (opcodes.OP_NewRowid, opcodes.OP_Insert)
# Where C stops without harm: at the end of a partition, or of all rows, or before an error.
RARE = (opcodes.OP_Halt, opcodes.OP_ResetSorter)
LOOKS = (opcodes.OP_Gosub, opcodes.OP_Return)
JUMPING = opcodes.OPFLG_JUMP
MOST_VALUES = 100       # that an event keeps


class WindowLog:
    """How the window functions of a program are inlined.

    Attributes:
        way: PURE or REVERSIBLE.
        deferred: pcs of the deferred opcodes (list, ascending); numbers: their numbers by pc.
        captures: by such a pc, the registers that C keeps (list).
        accumulators: registers of the functions' accumulators (set).
        steps: pc of one step for each of them (list); python: pcs of steps and inverses (list); values: of AggValues.
        reached: pcs that are run from deferred opcodes on (set); stopped: those before which C stops (list).
        registers: that deferred opcodes write (set).
        holding: by pc, those of them that have a deferred opcode's value there (dict of sets).
        row: pc of the ResultRow.
        computed: pcs of those that compute (set).
        following: by pc, the pc of the deferred opcode that comes next without a look at interrupts between
            (dict); missing where there is a look.
        spec: its Spec.
    """

    def __init__(self, program, flow, aheads):
        """Analyse a Program with its Flow and its Aheads; raises Refused."""
        self.ops = program.ops
        self.flow = flow
        self.aheads = aheads
        self.calls = aheads.calls
        self.head = -1      # the key of its classes, beside those of loops and slices
        self._find_calls()
        for way in (PURE, REVERSIBLE):
            self.way = way
            self._find_deferred()
            usual = self._reach(False)[1]
            others = [pc for pc in usual if self.ops[pc].opcode not in RARE]
            if not others:
                break
        else:
            raise Refused(self.aheads.reason(others))
        self._check()
        self._find_captures()
        self._find_following()
        self._make_spec()

    def _find_calls(self):
        """Set `accumulators`, `python`, `values` and `steps`."""
        ops, calls = self.ops, self.calls
        check_calls(calls, calls.foreign_collation or calls.collations)
        self.values = [pc for pc in calls.results if ops[pc].opcode == VALUE]
        self.accumulators = {ops[pc].p1 for pc in self.values}
        self.python = sorted(pc for pc in calls.python if ops[pc].p3 in self.accumulators
                             and ops[pc].opcode in AGGREGATE_STEPS | {INVERSE})
        if not self.python:
            raise Refused('no window function is written in Python')
        first: dict = {}
        for pc in self.python:
            first.setdefault(ops[pc].p3, pc)
        self.steps = sorted(first.values())

    def _may(self, pc):
        """Whether the opcode at `pc`, which isn't deferred, may be run ahead."""
        op = self.ops[pc]
        if self.way == REVERSIBLE and (op.opcode in INSERTS or op.opcode == opcodes.OP_Delete):
            return self._is_own(op) and (op.opcode != opcodes.OP_Delete or self._is_later(op))
        if op.opcode == NULL and self.flow.writes[pc] & self.accumulators:
            return True     # it will be deferred
        return self.aheads.may(pc, op, self.way)

    def _is_own(self, op):
        """Whether cursor P1 is on a table of the statement's own."""
        return self.aheads.kinds.get(op.p1) == {EPHEMERAL}

    def _is_later(self, op):
        """Whether an opcode deletes a row in a way that can wait: of a window's table, which other cursors go through
        (OpenDup) and never come back to the row. A recursive query reads its queue from the beginning again."""
        return (op.opcode == opcodes.OP_Delete and op.p2 == 0 and self._is_own(op) and any(
            other.opcode == opcodes.OP_OpenDup and op.p1 in (other.p1, other.p2) for other in self.ops))

    def _successors(self, pc, starts):
        """The pcs that may follow; `starts`: also where a coroutine starts, though it has."""
        op = self.ops[pc]
        # A jump to 0 is one that isn't made.
        found = [target for target in self.flow.following[pc] if target]
        if op.opcode in COROUTINE and not starts:
            entries = {other.p3 for other in self.ops
                       if other.opcode == opcodes.OP_InitCoroutine and other.p1 == op.p1}
            found = [target for target in found if target not in entries]
        return found

    def _reach(self, starts):
        """The pcs that are run from deferred opcodes on (set), and those before which C stops (list)."""
        return reach(self.deferred, len(self.ops), lambda pc: (
            self._successors(pc, starts) if pc in self.deferred or self._may(pc) else None))

    def _find_deferred(self):
        """Set `deferred`, `registers`, `reached` and `stopped`."""
        ops, flow = self.ops, self.flow
        self.deferred: Any = set(self.python) | set(self.values)
        self.computed: set = set()
        while True:
            self.registers: set = set()
            for pc in self.deferred:
                if ops[pc].opcode != NULL:
                    self.registers |= flow.writes[pc]
            self.registers -= self.accumulators
            self.reached, self.stopped = self._reach(True)
            self.holding = self._spread(self.deferred)
            found = set()
            for pc in self.reached - self.deferred:
                op = ops[pc]
                if flow.reads[pc] is None:
                    raise Refused('opcode %s is not inlined' % opcodes.NAMES[op.opcode])
                touched = flow.reads[pc] & self.holding[pc] | (flow.reads[pc] | flow.writes[pc]) & self.accumulators
                if op.opcode in COPIES | {NULL}:
                    touched |= flow.writes[pc] & self.registers
                if op.opcode == ROW or touched and op.opcode in COPIES | {NULL}:
                    found.add(pc)
                elif touched and self._computes(pc):
                    found.add(pc)
                    self.computed.add(pc)
                elif touched:
                    raise Refused('opcode %s uses a Python call\'s result' % opcodes.NAMES[op.opcode])
            if not found:
                break
            self.deferred |= found

    def _spread(self, writers):
        """By pc, which of `registers` may have a value there that one of the opcodes `writers` has written (dict)."""
        found: dict = {pc: set() for pc in range(len(self.ops))}
        pending = set(writers)
        while pending:
            pc = pending.pop()
            written = self.flow.writes[pc] & self.registers
            behind = found[pc] - written | (written if pc in writers else set())
            for target in self.flow.successors[pc]:
                if target < len(self.ops) and not behind <= found[target]:
                    found[target] |= behind
                    pending.add(target)
        return found

    def _computes(self, pc):
        """Whether the opcode at `pc` computes one register of others, the same each time."""
        opcode = self.ops[pc].opcode
        if len(self.flow.writes[pc]) != 1 or self.flow.reads[pc] & self.accumulators:
            return False
        if opcode in FUNCTIONS:
            return pc in self.calls.pure
        return opcode in COMPUTES

    def _check(self):
        """Raise Refused if Python can't do a deferred opcode, or C can't roll one back; set `row`."""
        ops = self.ops
        rows = [pc for pc in self.deferred if ops[pc].opcode == ROW]
        if len(rows) != 1:
            raise Refused('rows are returned at %d places' % len(rows))
        self.row = rows[0]
        results = {register for pc in self.computed for register in self.flow.writes[pc]}
        of_c = self._spread(set(range(len(ops))) - self.deferred)
        for pc, op in enumerate(ops):
            reads = self.flow.reads[pc]
            if (self.flow.live[pc] if reads is None else reads) & self.holding[pc] & of_c[pc]:
                raise Refused('opcode %s uses what may be a Python call\'s result' % opcodes.NAMES[op.opcode])
        for pc in self.deferred:
            op = ops[pc]
            if pc in self.python and self.flow.reads[pc] & results:
                raise Refused('a Python call\'s result is computed with, and used by another call')
            if op.opcode == NULL and op.p1:
                raise Refused('opcode Null uses a Python call\'s result')
            if op.opcode in COPIES:
                for source, target in copied(op):
                    if target in self.accumulators or source in self.accumulators or (
                            op.opcode == opcodes.OP_Move and source not in self.registers):
                        raise Refused('opcode %s uses a Python call\'s result' % opcodes.NAMES[op.opcode])
        if self.way == REVERSIBLE:
            for pc in self.reached - self.deferred:
                if (ops[pc].opcode in AGGREGATE_STEPS
                        and self.calls.names.get(pc) not in SUMS):
                    raise Refused('the window function %s, beside a Python call, can\'t be rolled back' % (
                        self.calls.names.get(pc)))
        if len(self.deferred) > MOST_CALLS:
            raise Refused('more than %d Python calls' % MOST_CALLS)
        self.deferred = sorted(self.deferred)
        self.numbers = {pc: number for number, pc in enumerate(self.deferred)}

    def _find_captures(self):
        """Set `captures`."""
        self.captures = {pc: sorted(self.flow.reads[pc] - self.holding[pc] - self.accumulators)
                         for pc in self.deferred}
        if max(len(found) for found in self.captures.values()) > MOST_VALUES:
            raise Refused('more than %d values of a row are needed' % MOST_VALUES)

    def _find_following(self):
        """Set `following`."""
        self.following = {}
        for start in self.deferred:
            pc = start + 1
            while pc < len(self.ops):
                op = self.ops[pc]
                if pc in self.numbers:
                    self.following[start] = pc
                    break
                if opcodes.PROPERTIES[op.opcode] & JUMPING or op.opcode in LOOKS:
                    break
                pc += 1

    def size(self, pc):
        """How many words an event has (int)."""
        return 1 + 2 * len(self.captures[pc])

    def _make_spec(self):
        """Set `spec`."""
        ops = self.ops
        entries = {}
        for pc in self.deferred:
            kind = 'NULL' if ops[pc].opcode == NULL else 'CALL'
            flags = BEGIN | (END if ops[pc].opcode == ROW else 0)
            entries[pc] = entry(kind, self.captures[pc], self.numbers[pc], flags)
        for pc in self.reached - set(self.deferred):
            if self._is_later(ops[pc]):
                entries[pc] = entry('DELETE')
            elif ops[pc].opcode == opcodes.OP_ResetSorter and self._is_own(ops[pc]):
                entries[pc] = entry('RESET')
        inserts = sorted({ops[pc].p1 for pc in self.reached if ops[pc].opcode in INSERTS})
        live = set().union(*[ops[pc].live for pc in self.deferred]) - self.accumulators
        self.spec = self.aheads.spec(
            self.way, self.reached, self.stopped, live, entries,
            left_out={pc for pc in self.deferred if ops[pc].opcode != NULL},
            inserts=inserts if self.way == REVERSIBLE else ())


def window_log(program, flow, aheads):
    """Analyse the window functions of a program.

    Returns:
        the WindowLog, or None, and why there is none (str).
    """
    try:
        return WindowLog(program, flow, aheads), ''
    except Refused as refused:
        return None, str(refused)
