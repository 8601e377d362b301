"""Runs a statement ahead by the call log: C logs what its deferred opcodes need, Python does these, row by row.

The statement is somewhere ahead in C, between two rows or more, while a user's function may run for
the row `i`.  If the function, or anything between two rows, does what may matter (`deoptimize`), C rolls back
what it has run ahead, up to the very opcode that Python is at, and the statement goes on there.  Where
the rows come from a sorter nothing matters.  If it can't be rolled back, because something has changed without
that (the connection's stamp tells), the statement fails: stale rows are never handed out.

A row that C can't keep (an error behind the call, no room) is done by C alone, which calls the
user's function as any other C code does. c_engine/rows/call_log.h is C's side.
"""

from c_engine.generated import layout
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib
from pypy_module.ffi.memory import BASE, BYTES, INTS, WORDS, data_at
from pypy_module.inline.analysis.effects import PURE
from pypy_module.inline.runtime.buffers import taken
from pypy_module.inline.runtime.runner import COLUMNS, GONE, ROW, Runner
from pypy_module.inline.values import BLOB, TEXT, load, load_datum, private, store_datum, wrapped
from sqpyte.vm.base import mem
from sqpyte.vm.values.values import W_Bytes, W_Int, W_Value

GROW = NUMBERS['SQPYTE_GROW']
MID, BEGUN = NUMBERS['SQPYTE_STEP_MID'], NUMBERS['SQPYTE_STEP_BEGUN']
CAPACITY, COUNT = NUMBERS['SQPYTE_LOG_CAPACITY'], NUMBERS['SQPYTE_LOG_COUNT']
AT_EVENT, NEED = NUMBERS['SQPYTE_LOG_AT_EVENT'], NUMBERS['SQPYTE_LOG_NEED']
RECORDS, STAMP = NUMBERS['SQPYTE_LOG_RECORDS'], NUMBERS['SQPYTE_LOG_STAMP']
BUFFER_WORDS = 8192
MOST_WORDS = 1 << 17
MOST_ROWS = 128     # of a batch
ABORT, INTERRUPT = layout.SQLITE_ABORT, NUMBERS['SQLITE_INTERRUPT']

CHANGED = b'the database has changed while rows of this query were computed ahead: execute the query again'

fill = lib.sqpyte_log_fill
free: list = []     # buffers that aren't used


def started(statement, loop):
    """Step a statement to where a runner takes over.

    Args:
        statement: the Statement.
        loop: the Slice or WindowLog.
    Returns:
        what stepping it has returned; and if it is there, the address of C's part and a buffer,
        for the runner, else None twice.
    """
    handle = lib.sqpyte_log_open(address_of(statement.pointer))
    if not handle:
        raise MemoryError
    buffer = taken(free, BUFFER_WORDS)
    buffer[CAPACITY] = BUFFER_WORDS
    rc = fill(handle, loop.spec.address, address_of(statement.cells), address_of(buffer), 0, 0)
    if rc == ROW and statement.cells[COLUMNS] == 0:
        return rc, handle, buffer
    closed(handle, buffer)
    return rc, None, None


def closed(handle, buffer):
    """Give back what `started` has returned."""
    lib.sqpyte_log_close(handle)
    free.append(buffer)


def fail_as_changed(runner, pc):
    """Have a runner's statement, which can't be put back any more, fail with its opcode at `pc` (int): something has
    changed, or another thread has interrupted the connection."""
    if INTS[runner.interrupted]:
        lib.sqpyte_fail(runner.vdbe, pc, INTERRUPT)
    else:
        lib.sqpyte_raise(runner.vdbe, pc, ABORT, CHANGED)


class LogRunner(Runner):
    """See the module's docstring; and Runner, of which this is one.

    Attributes:
        handle: address of C's part.
        out: address of the buffer; start: where its records begin, in `WORDS` (int).
        batch: how many rows the next batch has at most (int).
        at_event: the statement is before the slice's first opcode (bool).
        passing: the next row is done by C alone (bool, as int).
        varied: what `varies` said of the batch (bool).
        known: the inliner's Known of the statement.
        fills: how many batches there have been (int); done: how many rows they had (int).
        tier_up: how many rows C does at least after a write (int).
        rest: end of the batch, while `end` is behind the present row, else 0 (int).
        sink_error: the result code with which a sink has failed (int), or None.
        values: where operands and the result of an opcode that C does are, in `WORDS` (int); words: their memory.
        operands: the texts and blobs among them, and what keeps their memory (list).
    """

    first_batch = 1
    most_values = 0
    at: Any = 0
    sink_error: Any = None

    def __init__(self, session, statement, known, handle, buffer):
        """Take a Session, its Statement, at the slice's first opcode, and the Known that has the slice; and the
        address of C's part and the buffer, with which it got there."""
        super().__init__(session, statement, known)
        self.batch = self.first_batch
        self.fills = self.done = 0
        self.known = known
        self.tier_up = statement.tier_up
        self.operands: list = []
        self.values = 0
        if self.most_values:
            self.words = ffi.new('int64_t[]', 3 + 3 * self.most_values)
            self.values = (address_of(self.words) - BASE) >> 3
        self.at_event, self.varied = True, False
        self.passing = self.rest = 0
        self.handle = handle
        self.use(buffer)
        self.i = -self.stride
        self.k = self.end = 0
        statement.inlined.runner = self

    def use(self, buffer):
        """Have C use a buffer."""
        self.buffer = buffer
        buffer[CAPACITY] = len(buffer)
        self.out = address_of(buffer)
        self.start = ((self.out - BASE) >> 3) + RECORDS

    def prepare(self):
        """See Runner."""
        if not super().prepare():
            return False
        self.take_accumulators()
        return True

    def _onces_are_done(self):
        """See Runner: C takes care of them."""
        return True

    def refill(self):
        """Get the next rows; False if there are none: C has a row, or the statement is done."""
        if self.left:
            return False
        if self.rest:
            self.k, self.end, self.rest = self.end, self.rest, 0
            if INTS[self.interrupted]:
                self.interrupt()
                return False
            if self.k != self.end:
                return True
        if self.varied:     # what follows the batch that showed it is C's
            self.give_state()
            self.go_on()
            return False
        if not self.at_event or self.passing:
            self.give_state()
        self.begin_step()
        while True:
            rc = self.call_c()
            if self.left:
                return self.gone()
            cells = self.statement.cells
            if rc != ROW or cells[COLUMNS]:
                return self.row_of_c(rc)
            if not self.at_event_before or self.passing_before:
                if not self.take_state():
                    return False
            count = WORDS[self.start - RECORDS + COUNT]
            self.at_event = WORDS[self.start - RECORDS + AT_EVENT] != 0
            if count:
                self.done += count
                self.k = self.start
                self.end = self.start + count * self.stride
                self.varied = self.varies(self.start, self.end)
                return True
            if self.at_event:
                if not self.grow():
                    self.passing = 1
                    self.give_state()

    def call_c(self):
        """One call of `sqpyte_log_fill`; returns its result."""
        self.at_event_before, self.passing_before = self.at_event, self.passing
        self.batch = most = min(2 * self.batch, MOST_ROWS)
        self.fills += 1
        passing, self.passing = self.passing, 0
        return self.filled(most, passing)

    def filled(self, most, passing):
        """Have C fill the buffer; returns its result. For the arguments see call_log.h."""
        self.depth = self.session.calls.depth
        self.in_c_now = True
        held = self.buffer
        self.enlist()
        rc = fill(self.handle, self.spec, address_of(self.statement.cells), self.out, most, passing)
        if rc == ROW and not self.left and self.has_ended():
            # Out of memory while ahead: the rows before that can't be handed out one by one any more.
            rc = self.why_ended()
        self.in_c_now = False
        if not self.left:
            # What C has called may have set another text factory.
            self.stamp = WORDS[self.start - RECORDS + STAMP] if self.session.plain else GONE
            # What is run ahead doesn't ask for the time (Calls.pure); what C runs to a row of its own does.
            BYTES[self.mid_step] = MID if rc == ROW and not self.statement.cells[COLUMNS] else 0
        if self.left and len(held) == BUFFER_WORDS:
            free.append(held)
        if not self.left:
            self.enlist()
        return rc

    def grow(self):
        """Get a larger buffer, if one is of use; returns whether there is one."""
        need = WORDS[self.start - RECORDS + NEED]
        words = len(self.buffer)
        if not need or words >= MOST_WORDS:
            return False
        while words < MOST_WORDS and words * 8 < 4 * need:
            words *= 2
        self.use(ffi.new('int64_t[]', min(2 * words, MOST_WORDS)))
        return True

    def gone(self):
        """The statement was reset or finalized by code that C has called."""
        self.check_open()
        return False

    def row_of_c(self, rc):
        """C has returned a row, or has ended the statement; returns False."""
        self.detach()
        self.finish(rc)
        return False

    # State that is Python's while the slice is inlined

    def give_state(self):
        """Write the deferred registers, for C to go on."""
        self.write(self.kept_fields(), mem.i32(self.vdbe + layout.Vdbe_pc))
        self.install_accumulators()

    def take_state(self):
        """Read them again, before the first opcode; False if the statement goes on in C."""
        for register in self.loop.fields:
            w = load(self.memory + register * layout.sizeof_Mem, register)
            if w is not None and register in self.loop.counters:
                w = w.intval if type(w) is W_Int else None
            if w is None:
                self.side_exit_from(self.loop.head, self.loop.head, ())
                return False
            setattr(self, 'c%d' % register, w if register in self.loop.counters else private(w))
        self.take_accumulators()
        return True

    def take_accumulators(self):
        """Take the aggregates' instances from SQLite."""
        for pc in self.loop.steps:
            register = self.loop.ops[pc].p3
            key = lib.sqpyte_take_accumulator(self.memory + register * layout.sizeof_Mem)
            if key:
                setattr(self, 'a%d' % register, getattr(self, 'f%d' % pc).instances.pop(key))

    # Back to C

    def position(self, i):
        """See Runner: where C is doesn't matter to a statement that fails."""

    def back(self, pc):
        """Have C roll back what it has run ahead, up to the deferred opcode at `pc`; returns whether."""
        deferred = self.loop.deferred
        rows = max(self.i - self.start, 0) // self.stride
        return lib.sqpyte_log_back(self.handle, rows * len(deferred) + deferred.index(pc)) == 0

    def side_exit_from(self, target, pc, values):
        """Go on in C.

        Args:
            target: with which opcode.
            pc: the deferred opcode that Python is at.
            values: registers to write: (register, W_Value or Python value).
        """
        self.check_open()
        if self.left:
            return
        undone = self.handed or self.back(pc)
        mem.set_i32(self.vdbe, layout.Vdbe_pc, target)
        self.write([*self.kept_fields(), *values], target)
        if not undone and self.sink_error is None:
            fail_as_changed(self, target)
        elif not undone:
            lib.sqpyte_fail(self.vdbe, target, self.sink_error)
        self.install_accumulators()
        self.go_on()

    def interrupt(self):
        """See Runner: the statement ends with the error, so it doesn't matter where C is."""
        self.check_open()
        if not self.left:
            lib.sqpyte_fail(self.vdbe, mem.i32(self.vdbe + layout.Vdbe_pc), INTERRUPT)
            self.install_accumulators()
            self.go_on()

    def go_on(self):
        """See Runner; a statement that has ended fails: stepping it would begin it again."""
        if not self.has_ended():
            super().go_on()
            return
        rc = self.why_ended()
        self.detach()
        self.finish(rc)

    def has_ended(self):
        """Whether the statement has ended with an error that nobody has been told of: out of memory, while
        it ran ahead or was put back."""
        return mem.u8(self.vdbe + layout.Vdbe_eVdbeState) != layout.VDBE_RUN_STATE

    def why_ended(self):
        """Make that error the connection's, which a fill does first; returns its result code."""
        return fill(self.handle, self.spec, address_of(self.statement.cells), self.out, 0, 0)

    def side_exit(self, pc, i, values):
        """Go on in C behind a call in which the statement was deoptimized, or an opcode done in C."""
        self.side_exit_from(pc, pc - 1, values)

    def in_c(self, pc, values=0, result=-1):
        """See Runner, but C gets the operands as arguments: `values` and `result` are sqpyte_log_one's."""
        self.check_open()
        statement = self.statement
        if self.has_ended():
            self.go_on()
            return False
        self.depth = self.session.calls.depth
        self.in_c_now = True        # a statement that ends calls `deoptimize`
        rc = lib.sqpyte_log_one(self.handle, pc, address_of(statement.cells), values, result)
        self.in_c_now = False
        return self.done_in_c(rc)

    def pass_operand(self, place, w):
        """Have the words at `place` hold a W_Value, or what a function has returned, for C's next opcode."""
        if type(w) is str or type(w) is bytes:
            self.keep(place, w)
            return
        if not isinstance(w, W_Value):
            w = wrapped(w)
        if isinstance(w, W_Bytes):
            self.operands.append(w)
        store_datum(place, w)

    def keep(self, place, value):
        """Have the words at `place` hold a str, bytes or KeptText, for C's next opcode. A sink's live longer: with its
        rows."""
        kind = TEXT
        if type(value) is str:
            value = value.encode()
        elif type(value) is bytes:
            kind = BLOB
        else:
            value = data_at(value.address, value.size)
        buffer = ffi.new('char[]', value)
        self.operands.append(buffer)
        WORDS[place] = kind | len(value) << 3
        WORDS[place + 1] = address_of(buffer)

    def result(self):
        """The W_Value that C has made of them."""
        return load_datum(self.values + 1)

    def undecodable(self, pc):
        """Have the call at `pc` fail: a text isn't UTF-8. The instance is made all the same, as sqlite3 does."""
        if getattr(self, 'a%d' % self.loop.ops[pc].p3) is None and self.instance(pc) is None:
            return
        message = "user-defined aggregate's 'step' method raised error"
        self.failed(pc, UnicodeDecodeError('utf-8', b'\x80', 0, 1, 'invalid start byte'), message,
                    getattr(self, 'f%d' % pc).made_by)

    def detach(self):
        """See Runner."""
        self.take_leave()
        handle, self.handle = self.handle, 0
        if handle:
            lib.sqpyte_log_close(handle)
            self.statement.inlined.runner = None
        if self.buffer is not None and not self.in_c_now and len(self.buffer) == BUFFER_WORDS:
            free.append(self.buffer)
        self.buffer = None

    def deoptimize(self):
        """See Runner."""
        self.listed = False
        if self.left or self.in_c_now:
            return
        if self.busy:
            self.deoptimize_call()
            return
        self.deoptimize_between(self.result_set())

    def deoptimize_call(self):
        """`deoptimize` while a user's function is running."""
        if self.loop.way == PURE:
            self.rest = self.rest or self.end   # `refill` looks after the present row
            self.end = self.i + self.stride
        elif not self.handed and self.back(self.at):
            self.handed = True
            self.spoil()

    def deoptimize_between(self, result):
        """`deoptimize` between two rows of the result set."""
        self.spoil()
        self.deoptimize_row(result)

    def spoil(self):
        """C does some rows before the statement is looked at again, more if this keeps happening."""
        self.statement.tier_up = self.tier_up << self.known.spoil(self.fills)
