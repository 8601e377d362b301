"""What all inlined loops share: the batches of a page's rows, and the way back to C.

A runner stands in a ResultSet for its statement while the loop runs in Python.  The statement itself
waits in C at the loop's head, inside its read transaction, with its cursor on the leaf page whose
rows are in the batch.  Whenever the runner can't or may not go on, it brings the state in C up to
date (position of the cursor, registers, program counter) and steps the statement there:

* a row or an opcode that only upstream can do, and the end of the loop;
* `deoptimize()`: before the connection does anything that may write, move pages or change the schema.
  If that happens inside a user's function that the loop has called, the runner goes on in C as soon
  as the function has returned: every function is called exactly once per row;
* `stale()`: where the connection's stamp isn't the batch's any more (c_engine/core/validity.h), though nobody
  has called `deoptimize`. That is looked at before each row is handed out.

The classes that `codegen/scan.py` generates derive from Runner; their attributes are `k` (the next row
of the batch, as an index of `WORDS`, or of the list of selected rows; after a refill the first
one), `end`, `i` (the row that is being computed, where user code runs), and per register `kwN`,
`kvN` or `kbN` (invariants, in their forms), `cN` (kept from row to row) and `aN` (instance of an
aggregate).
"""

import weakref

from c_engine.generated import layout, opcodes
from pypy_module.dbapi import errors
from pypy_module.dbapi.connections.callbacks import error_code, error_message, report
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, address_of, lib
from pypy_module.ffi.memory import BASE, BYTES, INTS, WORDS, data_at
from pypy_module.inline.runtime.buffers import taken
from pypy_module.inline.values import UNDECODABLE, load, private, store, unwrapped
from sqpyte.vm.base import mem
from sqpyte.vm.values.values import CONSTANT, NULL, W_Int, W_Text

ROW, DONE = NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
HEAD, COLUMNS = NUMBERS['SQPYTE_BATCH_HEAD'], NUMBERS['SQPYTE_ROW_COLUMNS']
STAMP, STALE = NUMBERS['SQPYTE_BATCH_STAMP'], NUMBERS['SQPYTE_BATCH_STALE']
FIRST_ROWID, CONSECUTIVE = NUMBERS['SQPYTE_BATCH_ROWID'], NUMBERS['SQPYTE_BATCH_CONSECUTIVE']
LIMIT_LENGTH = NUMBERS['SQLITE_LIMIT_LENGTH']
NOMEM, TOOBIG = layout.SQLITE_NOMEM, layout.SQLITE_TOOBIG
OWN_MESSAGES = {NOMEM: 'out of memory', TOOBIG: 'string or blob too big'}       # SQLite's

batch = lib.sqpyte_batch
step = lib.sqpyte_step
seek = lib.sqpyte_batch_seek


def stamp_of(vdbe):
    """Where the stamp of a statement's connection is (c_engine/core/validity.h): an index of WORDS (int)."""
    return (mem.i64(vdbe + layout.Vdbe_db) + layout.sqlite3_nSqpyteStamp - BASE) >> 3


def leave(runners, runner):
    """Take a runner off the list of a connection's, if it is there; a signal's handler may have taken it off."""
    try:
        runners.remove(runner)
    except ValueError:
        pass


GONE = -1       # the stamp of a runner that has left: `__next__` takes the way of one that is stale


class Runner:
    """See the module's docstring.

    Class attributes, set by codegen/scan.py:
        loop: the Loop.
        spec: address of the spec for `sqpyte_batch`.
        stride: words of a row.
        words: of the buffer, without the copy of a page behind it.
        registers: (attribute, register, form) of what `prepare` loads (list); for the forms see
            Code.preset.
        variables: (attribute, number of the bound parameter, form), likewise (list).
        free: buffers that aren't used (list).
        in_step: what C is told of the sqlite3_step when it goes on within `__next__` (SQPYTE_STEP_*; 0: one
            begins), or None where it knows.

    Attributes:
        owner: weak reference to the result set, once the runner stands in it, before None.
        rc: what stepping the statement returned, when the runner has left before it had an owner.
        left: the statement goes on in C (bool).
        busy: a user's function may be running (bool).
        inside: the runner's own code is running, so that it can't be asked to deoptimize: see tiers.py (bool).
        handed: `deoptimize` was called meanwhile (bool).
        live, stamp: where the connection's stamp is, in `WORDS`, and what it was when the batch was made
            (int).
        last: the row behind which C goes on, though the batch has more, or 0 (int).
    """

    loop: Any
    spec: int
    stride: int
    words: int
    registers: list
    variables: list
    free: list
    in_step: Any = None
    # In the generated classes or those between.
    __next__: Any
    select: Any
    run: Any
    advance: Any
    pending: Any
    deoptimize_row: Any

    owner: Any
    buffer: Any

    def __init__(self, session, statement, calls):
        """Take a Session, its Statement, which waits at the loop's head, and its Calls."""
        self.session = session
        self.statement = statement
        self.calls = calls
        self.vdbe = address_of(statement.pointer)
        self.memory = mem.i64(self.vdbe + layout.Vdbe_aMem)
        cursors = mem.i64(self.vdbe + layout.Vdbe_apCsr)
        self.vc = mem.i64(cursors + 8 * self.loop.cursor)
        self.live = stamp_of(self.vdbe)
        self.stamp = WORDS[self.live]
        self.mid_step = self.vdbe + layout.Vdbe_sqpyteMidStep - BASE
        words = self.words + (lib.sqpyte_page_size(self.vc) >> 3)
        self.buffer = taken(self.free, words)
        self.out = address_of(self.buffer)
        self.start = ((self.out - BASE) >> 3) + HEAD
        WORDS[self.start - HEAD] = self.out + 8 * self.words
        self.k = self.end = 0
        self.i = -self.stride
        self.next_ix = 0
        self.last = 0
        self.stop_row = 0
        self.stop_pc = 0
        self.owner = None
        self.rc = 0
        self.left = False
        self.busy = False
        self.handed = False
        self.begun = False
        self.inside = False
        statement.inlined.runner = self
        session.runners.append(self)

    def prepare(self):
        """Load what the loop reads from before it; returns whether all of it can be had."""
        for name, register, form in self.registers:
            w = load(self.memory + register * layout.sizeof_Mem, CONSTANT)
            if not self._preset(name, w, form):
                return False
        variables = mem.i64(self.vdbe + layout.Vdbe_aVar)
        for name, number, form in self.variables:
            w = load(variables + (number - 1) * layout.sizeof_Mem, CONSTANT)
            if not self._preset(name, w, form):
                return False
        for register in self.loop.fields:
            w = NULL
            if register in self.loop.flow.live[self.loop.head]:
                w = load(self.memory + register * layout.sizeof_Mem, register)
                if w is None:
                    return False
            if register in self.loop.counters:
                if type(w) is not W_Int:
                    return False
                w = w.intval
            setattr(self, 'c%d' % register, w)
        for pc in self.loop.python:
            setattr(self, 'f%d' % pc, self.session.python[self.calls.definitions[pc]])
        for register in self.loop.accumulators:
            setattr(self, 'a%d' % register, None)
        self.most = lib.sqlite3_limit(self.session.db, LIMIT_LENGTH, -1)
        return self._onces_are_done()

    def _preset(self, name, w, form):
        """Set the attribute `name` to a form of the W_Value; returns whether it could."""
        if w is None:
            return False
        value = w
        if form == 'v':
            value = unwrapped(w)
        elif form == 'b':
            value = data_at(w.address, w.size) if type(w) is W_Text else b''
        setattr(self, name, value)
        return value is not UNDECODABLE

    def _onces_are_done(self):
        """Whether no Once in the loop would fall through in this run of the statement."""
        base = mem.i64(self.vdbe + layout.Vdbe_aOp)
        for pc in self.loop.inside:
            if self.loop.ops[pc].opcode == opcodes.OP_Once:
                at = base + pc * layout.sizeof_VdbeOp
                if mem.i32(at + layout.VdbeOp_p1) != mem.i32(base + layout.VdbeOp_p1):
                    return False
        return True

    def __iter__(self):
        """Return the runner, whose `next` is the next row."""
        return self

    # Batches

    def refill(self):
        """Get the next rows; returns False if the statement goes on in C instead."""
        if self.left:
            return False
        if self.last:
            self.side_exit(self.loop.end, self.last, self.kept_fields())
            return False
        n = batch(self.vc, self.spec, self.out, self.next_ix)
        if n <= 0:
            self.ran_out(n)
            return False
        start = self.start
        ix = WORDS[start - HEAD + 1]
        self.stamp = WORDS[start - HEAD + STAMP]
        self.first_ix = ix
        self.next_ix = ix + n
        self.k = start
        self.end = start + n * self.stride
        return True

    def refill_selected(self):
        """`refill` for loops with a selecting part: go on until a row is selected."""
        while not self.left:
            if self.stop_row and not self.last:
                self.side_exit(self.stop_pc, self.stop_row, self.kept_fields())
                return False
            if not Runner.refill(self):
                return False
            self.select(self.k, self.end)
            if self.end > self.k:
                return True
        return False

    def ran_out(self, n):
        """Go on in C after the batch returned `n`, which isn't a number of rows."""
        pc, i = self.loop.head if n == 0 else self.loop.end + 1, 0
        if n == STALE:
            pc = self.loop.end
            i = self.start + (self.next_ix - self.first_ix - 1) * self.stride
        elif n < -1:
            pc = self.loop.end
            lib.sqpyte_fail(self.vdbe, pc, -n)
        self.side_exit(pc, i, self.kept_fields())

    # Back to C

    def kept_fields(self):
        """The registers that are kept from row to row, as (register, value)."""
        return [(register, getattr(self, 'c%d' % register)) for register in self.loop.fields]

    def position(self, i):
        """Have the statement's cursor in C stand on row `i`, unless it has to be let alone."""
        if i and not self.handed:
            number, head = (i - self.start) // self.stride, self.start - HEAD
            rowid = (WORDS[head + FIRST_ROWID] + number if WORDS[head + CONSECUTIVE]
                     else WORDS[i + self.stride - 1])
            seek(self.vc, self.first_ix + number, rowid)

    def side_exit(self, pc, i, values):
        """Go on in C.

        Args:
            pc: with which opcode.
            i: on which row of the batch; 0 leaves the cursor as it is.
            values: registers to write: (register, W_Value or Python value).
        """
        if not self.statement.pointer:
            raise errors.ProgrammingError('Cannot operate on a closed database.')
        self.position(i)
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        for register, value in values:
            rc = store(self.memory + register * layout.sizeof_Mem, value)
            if rc:
                lib.sqpyte_fail(self.vdbe, pc, rc)
        self.install_accumulators()
        self.go_on()

    def install_accumulators(self):
        """Let SQLite have the aggregates' instances."""
        for pc in self.loop.steps:
            register = self.loop.ops[pc].p3
            instance = getattr(self, 'a%d' % register)
            if instance is not None:
                setattr(self, 'a%d' % register, None)
                key = getattr(self, 'f%d' % pc).adopt(instance)
                rc = lib.sqpyte_accumulator(self.memory + register * layout.sizeof_Mem,
                                            self.calls.functions[pc], key)
                if rc:
                    lib.sqpyte_fail(self.vdbe, pc, rc)

    def finalize_instances(self):
        """Do what SQLite does with the aggregates' instances of a statement that has failed."""
        for pc in self.loop.steps:
            instance = getattr(self, 'a%d' % self.loop.ops[pc].p3)
            if instance is not None:
                try:
                    instance.finalize()
                except BaseException as error:
                    report(error, getattr(self, 'f%d' % pc).made_by)

    def go_on(self):
        """Step the statement in C, in which all of its state is now."""
        self.begin_step()
        self.detach()
        statement = self.statement
        self.finish(step(statement.pointer, statement.cells))

    def begin_step(self):
        """Tell C that the row that is being computed is a step, if it isn't the first one."""
        if self.owner is not None and self.in_step is not None:
            BYTES[self.mid_step] = self.in_step

    def finish(self, rc):
        """Let the result set go on in C, where stepping the statement has returned `rc`."""
        statement = self.statement
        if self.owner is None:
            self.rc = rc
            return
        result = self.owner()
        result.resume(statement)
        if rc != ROW or self.session.raised is not None:
            result.stepped(statement, rc)

    def in_c(self, pc, rc):
        """Do the one opcode at `pc` in C; the registers that it reads have been written.

        Such opcodes run no code that could see where the cursor is.

        Args:
            pc: the opcode.
            rc: the sum of what `store` has returned for the registers.
        Returns:
            whether it is done; if not, the statement has ended with an error.
        """
        statement = self.statement
        if not statement.pointer:
            raise errors.ProgrammingError('Cannot operate on a closed database.')
        place = self.vdbe - BASE
        INTS[(place + layout.Vdbe_pc) >> 2] = pc
        INTS[(place + layout.Vdbe_sqpyteStopPc) >> 2] = pc + 1
        if rc:
            lib.sqpyte_fail(self.vdbe, pc, NOMEM)
        self.inside = False
        rc = step(statement.pointer, statement.cells)
        self.inside = True
        if rc == ROW and statement.cells[COLUMNS] == 0:
            return True
        self.finalize_instances()
        self.detach()
        self.finish(rc)
        return False

    def loaded(self, register):
        """The W_Value that C has put into a register, or None if only C handles it."""
        w = load(self.memory + register * layout.sizeof_Mem, register)
        return None if w is None else private(w)

    def to_c(self, i):
        """Have row `i` computed in C, and return it."""
        self.side_exit(self.loop.head, i, self.kept_fields())
        return self.owner().advance()

    def take_leave(self):
        """What `detach` begins with: a signal's handler may raise anywhere in it."""
        leave(self.session.runners, self)
        self.left = True
        self.stamp = GONE
        self.busy = self.inside = False

    def detach(self):
        """Be no longer one of the connection's runners."""
        self.take_leave()
        self.statement.inlined.runner = None
        if self.buffer is not None:
            self.free.append(self.buffer)
            self.buffer = None

    def attach(self, result):
        """Stand in the result set for its statement."""
        result.stand_in(self)
        self.owner = weakref.ref(result)    # last: from now on it can be asked to deoptimize

    def may_be_asked(self):
        """See tiers.py. Before it stands in the result set, only the program's functions may be what runs."""
        return not self.inside and (self.owner is not None or self.busy)

    def deoptimize(self):
        """Bring the state in C up to date; the statement goes on there."""
        if self.busy:
            self.position(self.i)
            self.handed = True
            return
        if self.left:
            return
        result = self.owner()
        if result is None:
            self.abandon()
            return
        try:
            self.deoptimize_row(result)
        except errors.Error as error:
            # It belongs to the result set's next row, not to what is being done now.
            result.drop()
            result.stand_in(Raising(error))

    def abandon(self):
        """End the loop: its rows aren't wanted any more."""
        self.statement.reset()
        self.session.release(self.statement)

    # User code

    def instance(self, pc):
        """Make the instance of the aggregate of the step at `pc`; None if that failed."""
        aggregate = getattr(self, 'f%d' % pc)
        self.inside = False
        try:
            made = aggregate.made_by()
            self.inside = True
        except BaseException as error:
            self.failed(pc, error, "user-defined aggregate's '__init__' method raised error",
                        aggregate.made_by)
            return None
        setattr(self, 'a%d' % self.loop.ops[pc].p3, made)
        return made

    def not_compared(self, error):
        """A collation has raised `error`: until the statement is through, all texts are equal."""
        self.session.raised = error
        self.session.calls.unequal = False

    def failed(self, pc, error, message, function):
        """Have the opcode at `pc` fail, because the user's `function` raised `error`."""
        if not self.statement.pointer:
            raise errors.ProgrammingError('Cannot operate on a closed database.')
        self.position(self.i)
        code = error_code(error)
        message = OWN_MESSAGES.get(code) or error_message(error, message)
        report(error, function)
        self.install_accumulators()
        lib.sqpyte_raise(self.vdbe, pc, code, message.encode())
        try:
            self.go_on()
        except errors.Error as raised:
            raised.__context__ = None       # the function's error was another's, in SQLite's middle
            raise


class RowsRunner(Runner):
    """Of loops without user code: the row `k` of the batch is computed when it is asked for."""

    in_step = 0

    def begin(self):
        """Get the first batch."""
        self.refill()

    def stale(self):
        """`__next__`, where the stamp isn't the batch's any more: this row is as it was computed, the
        statement goes on in C behind it."""
        if self.left:       # a signal's handler has come just before
            return self.owner().advance()
        k = self.k
        self.stamp = WORDS[self.live]
        selects = self.loop.selected > self.loop.head
        self.last = WORDS[k] if selects else k
        self.end = k + 1 if selects else k + self.stride
        return self.__next__()

    def deoptimize_row(self, result):
        """See `deoptimize`: the row that is next is computed in C."""
        k, pc = self.k, self.loop.head
        selects = self.loop.selected > self.loop.head
        if k == self.end:       # a signal's handler has come before `refill`
            k, pc = k - 1 if selects else k - self.stride, self.loop.end
        self.side_exit(pc, WORDS[k] if selects else k, self.kept_fields())


class AheadRunner(Runner):
    """Of loops with user code: the next row has been computed, the statement is behind it."""

    in_step = NUMBERS['SQPYTE_STEP_BEGUN']

    def begin(self):
        """Compute the first row."""
        self.advance()

    def stale(self):
        """`__next__`, where the stamp isn't the batch's any more: the next row has been computed, the
        statement goes on in C behind it."""
        result = self.owner()
        if not self.left:
            self.deoptimize_row(result)
        return result.advance()

    def deoptimize_row(self, result):
        """See `deoptimize`: the next row is handed over as it is."""
        self.position(self.i)
        pc = self.loop.row + 1
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        BYTES[self.mid_step] = 0
        for register, value in self.kept_fields():
            if store(self.memory + register * layout.sizeof_Mem, value):
                lib.sqpyte_fail(self.vdbe, pc, NOMEM)
        self.detach()
        result.resume(self.statement, self.pending())


class RunRunner(Runner):
    """Of loops that no row leaves: they run to their end at once."""

    def begin(self):
        """Run, and go on in C behind the loop."""
        self.run()


class Raising:
    """Stands in a result set whose next row has failed already."""

    def __init__(self, error):
        """Take the exception."""
        self.error = error

    def __next__(self):
        """Raise it."""
        raise self.error

    def pass_row(self, result):
        """Do nothing; see WindowRunner."""

    def abandon(self):
        """Do nothing."""
