"""What stands in a ResultSet for its statement while a loop runs in Python, and the way back to C.

The statement itself waits in C. Whenever its runner can't or may not go on, it brings the state in C up to date
(registers, program counter, and for a page batch the cursor's position) and steps the statement there:

* a row or an opcode that only upstream can do, and the end of the loop;
* `deoptimize()`: before the connection does anything that may write, move pages or change the schema.
  If that happens inside a user's function that the loop has called, the runner goes on in C as soon
  as the function has returned: every function is called exactly once per row;
* `stale()`: where the connection's stamp isn't the batch's any more (c_engine/core/validity.h), though nobody
  has called `deoptimize`. That is looked at before each row is handed out.

The classes that codegen/ generates derive from one kind of runner: of a page batch (scan.py), a slice (slices.py), a
sink (sinks.py) or a window log (windows.py). Their attributes are `k` (the next row of the batch, as an index of
`WORDS`, or of the list of selected rows; after a refill the first one), `end`, `i` (the row that is being computed,
where user code runs), and per register `kwN`, `kvN` or `kbN` (invariants, in their forms), `cN` (kept from row to row)
and `aN` (instance of an aggregate).
"""

from c_engine.generated import layout, opcodes
from pypy_module.dbapi import errors
from pypy_module.dbapi.connections.callbacks import error_code, error_message, report
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import variety
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib
from pypy_module.ffi.memory import BASE, BYTES, INTS, WORDS, data_at
from pypy_module.inline.runtime.stand_in import GONE, Raising, StandIn
from pypy_module.inline.state import VARIED, VARIED_SO_FAR
from pypy_module.inline.values import UNDECODABLE, load, private, result_of, store, unwrapped
from sqpyte.vm.base import mem
from sqpyte.vm.values.values import CONSTANT, NULL, W_Bytes, W_Int

ROW = NUMBERS['SQLITE_ROW']
COLUMNS = NUMBERS['SQPYTE_ROW_COLUMNS']
LIMIT_LENGTH = NUMBERS['SQLITE_LIMIT_LENGTH']
NO_LIMIT = 0x7fffffff       # on lengths
NOMEM, TOOBIG = layout.SQLITE_NOMEM, layout.SQLITE_TOOBIG
OWN_MESSAGES = {NOMEM: 'out of memory', TOOBIG: 'string or blob too big'}       # SQLite's

step = lib.sqpyte_step


def stamp_of(vdbe):
    """Where the stamp of a statement's connection is (c_engine/core/validity.h): an index of WORDS (int)."""
    return (mem.i64(vdbe + layout.Vdbe_db) + layout.sqlite3_nSqpyteStamp - BASE) >> 3


def limit_of(vdbe):
    """Where the limit on lengths of a statement's connection is: an index of INTS (int)."""
    return (mem.i64(vdbe + layout.Vdbe_db) + layout.sqlite3_aLimit + 4 * LIMIT_LENGTH - BASE) >> 2


def interrupted_of(vdbe):
    """Where it says whether a statement's connection is interrupted: an index of INTS (int)."""
    return (mem.i64(vdbe + layout.Vdbe_db) + layout.sqlite3_u1_isInterrupted - BASE) >> 2


class Kinds:
    """The kinds of rows that a class has met; see variety.py.

    Attributes:
        seen: set of int.
        paid: of how many statements have done, or are to do, as many rows as their paths are worth (int).
    """

    def __init__(self):
        """There was no row yet; the first kind is what the loop is worth."""
        self.seen: set = set()
        self.paid = 1


class Runner(StandIn):
    """See the module's docstring.

    Class attributes, set by the code generator:
        loop: the Loop, Slice or WindowLog.
        spec: address of C's spec for it.
        stride: words of a row.
        registers: (attribute, register, form) of what `prepare` loads (list); for the forms see
            Code.preset.
        variables: (attribute, number of the bound parameter, form), likewise (list).
        free: buffers that aren't used (list), where a kind of runner has its own.
        in_step: what C is told of the sqlite3_step when it goes on within `__next__` (SQPYTE_STEP_*; 0: one
            begins), or None where it knows.
        kinds: which kinds of rows there were (Kinds).
        datums: how many datums a row begins with (int).

    Attributes:
        calls: the statement's Calls.
        vdbe, memory: addresses of the statement's Vdbe and of its registers (int).
        mid_step: where C is told of the sqlite3_step it goes on with, in `BYTES` (int).
        limit: where the connection's SQLITE_LIMIT_LENGTH is, and interrupted: where it says whether the connection is
            interrupted, in `INTS` (int).
        rc: what stepping the statement returned, when the runner has left before it had an owner.
        left: the statement goes on in C (bool).
        busy: a user's function may be running (bool).
        inside: the runner's own code is running, so that it can't be asked to deoptimize: see tiers.py (bool).
        handed: `deoptimize` was called meanwhile, or the runner has left (bool).
        in_c_now: C is running the statement, with all of its state, or has done so (bool); depth: how many calls of
            user code were going on before (int): C is still running it if there are more now.
        noted: the types of the values are noted (bool).
        shapes: the Shapes that have its class (known.py), which last as long as it does.
        live, stamp: where the connection's stamp is, in `WORDS`, and what it was when the batch was made
            (int).
    """

    loop: Any
    spec: int
    stride: int
    registers: list
    variables: list
    free: list
    in_step: Any = None
    in_c_now = False
    depth = 0
    kinds: Kinds
    datums: int
    # In the generated classes or those between.
    __next__: Any
    position: Any
    run: Any
    advance: Any
    pending: Any
    deoptimize_row: Any

    i: int
    buffer: Any

    def __init__(self, session, statement, known):
        """Take a Session, its Statement and the Known that has the loop. A class that derives from this has the
        statement know of it last (`statement.inlined.runner`): from then on it may be asked to leave."""
        self.session = session
        self.statement = statement
        self.calls = known.calls
        self.vdbe = address_of(statement.pointer)
        self.memory = mem.i64(self.vdbe + layout.Vdbe_aMem)
        self.live = stamp_of(self.vdbe)
        self.stamp = WORDS[self.live]
        self.mid_step = self.vdbe + layout.Vdbe_sqpyteMidStep - BASE
        self.limit = limit_of(self.vdbe)
        self.interrupted = interrupted_of(self.vdbe)
        self.shapes = known.shapes
        self.noted = statement.inlined.noted
        self.owner: Any = None
        self.rc = 0
        self.left = self.busy = self.handed = self.begun = self.inside = self.listed = False

    def begin(self):
        """Compute the first row."""
        self.advance()

    def leave_first_row(self, result):
        """See tiers.py."""
        self.inside = True      # a signal's handler that writes is told so
        if not self.left and (not self.session.plain or not self.readable()):
            self.deoptimize_row(result)
        self.inside = False

    def readable(self):
        """Whether the texts of the next row are UTF-8 (bool)."""
        return True

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
        return self._onces_are_done()

    @property
    def most(self):
        """SQLITE_LIMIT_LENGTH as it is now (int): how many bytes a text or blob may have. A function may have closed
        the connection."""
        return INTS[self.limit] if self.statement.pointer else NO_LIMIT

    def _preset(self, name, w, form):
        """Set the attribute `name` to a form of the W_Value; returns whether it could."""
        if w is None:
            return False
        value = w
        if form == 'v':
            value = unwrapped(w)
        elif form == 'b':
            value = data_at(w.address, w.size) if isinstance(w, W_Bytes) else b''
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

    def varies(self, first, end):
        """Whether the types of a batch's values, of rows from `first` to `end` (indexes of WORDS), vary too much for a
        path for each combination: then the statement goes on in C, until it has done as many rows as the paths are
        worth, or for ever."""
        kinds, stride, words = self.kinds, self.stride, 2 * self.datums
        seen = kinds.seen
        if not self.noted:
            return False
        if len(seen) <= variety.MOST_INLINED:
            sampled = variety.SAMPLED if seen else variety.SAMPLED_FIRST
            for row in range(first, min(end, first + sampled * stride), stride):
                kind = 0
                for place in range(row, row + words, 2):
                    kind = (kind * 7 + (WORDS[place] & 7)) & 0xffffffffffff
                seen.add(kind)
        if len(seen) <= kinds.paid:
            return False
        state = self.statement.inlined
        if len(seen) > variety.MOST_INLINED:
            state.slower = VARIED
            return True
        extra = state.extra
        if not state.affords(extra + variety.ANOTHER_KIND * (len(seen) - kinds.paid), VARIED_SO_FAR):
            return True
        kinds.paid, state.extra = len(seen), extra      # what is paid is paid for later runs, too
        return False

    # Back to C

    def check_open(self):
        """Raise ProgrammingError if the connection was closed meanwhile."""
        if not self.statement.pointer:
            raise errors.ProgrammingError('Cannot operate on a closed database.')

    def write(self, values, pc):
        """Write registers; the opcode at `pc` fails if there is no memory.

        Args:
            values: (register, W_Value or Python value).
        """
        for register, value in values:
            rc = store(self.memory + register * layout.sizeof_Mem, value)
            if rc:
                lib.sqpyte_fail(self.vdbe, pc, rc)

    def kept_fields(self):
        """The registers that are kept from row to row, as (register, value)."""
        return [(register, getattr(self, 'c%d' % register)) for register in self.loop.fields]

    def side_exit(self, pc, i, values):
        """Go on in C.

        Args:
            pc: with which opcode.
            i: on which row of the batch; 0 leaves the cursor as it is.
            values: registers to write: (register, W_Value or Python value).
        """
        self.check_open()
        self.position(i)
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        self.write(values, pc)
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

    def end_instances(self):
        """Finalise the aggregates' instances of a statement that has ended, as SQLite does. The connection's error is
        that statement's afterwards, too, and not what they have met."""
        db = self.session.db
        code, message = lib.sqlite3_extended_errcode(db), ffi.string(lib.sqlite3_errmsg(db))
        for pc in self.loop.steps:
            error = self.end_instance(self.loop.ops[pc].p3)
            if error is not None:
                report(error, getattr(self, 'f%d' % pc).made_by)
        if self.session.db:
            lib.sqlite3_set_errmsg(db, code, message)

    def end_instance(self, register):
        """Finalise the instance in a register, if there is one; returns what that has raised, or None."""
        instance = getattr(self, 'a%d' % register)
        if instance is None:
            return None
        setattr(self, 'a%d' % register, None)
        inside, self.inside = self.inside, False
        try:
            result_of(instance.finalize(), self.most)
        except BaseException as error:
            return error
        finally:
            self.inside = inside
        return None

    def interrupt(self):
        """Amid a batch, between two rows: the connection is interrupted. C goes to the next row, and notices."""
        self.check_open()
        if not self.left:
            self.side_exit(self.loop.end, self.i, self.kept_fields())

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
        self.result_set().go_on(statement, rc)

    def in_c(self, pc, rc):
        """Do the one opcode at `pc` in C; the registers that it reads have been written.

        Such opcodes run no code that could see where the cursor is.

        Args:
            pc: the opcode.
            rc: the sum of what `store` has returned for the registers.
        Returns:
            whether it is done; if not, the statement has ended with an error.
        """
        self.check_open()
        statement = self.statement
        place = self.vdbe - BASE
        INTS[(place + layout.Vdbe_pc) >> 2] = pc
        INTS[(place + layout.Vdbe_sqpyteStopPc) >> 2] = pc + 1
        if rc:
            lib.sqpyte_fail(self.vdbe, pc, NOMEM)
        self.inside = False
        rc = step(statement.pointer, statement.cells)
        self.inside = True
        return self.done_in_c(rc)

    def done_in_c(self, rc):
        """Whether the opcode that C was to do is done, as its result `rc` says; if not, the statement has ended with an
        error, and the runner leaves."""
        if rc == ROW and self.statement.cells[COLUMNS] == 0:
            return True
        self.detach()
        self.end_instances()
        self.finish(rc)
        return False

    def loaded(self, register):
        """The W_Value that C has put into a register, or None if only C handles it."""
        w = load(self.memory + register * layout.sizeof_Mem, register)
        return None if w is None else private(w)

    def to_c(self, i):
        """Have row `i` computed in C, and return it."""
        self.side_exit(self.loop.head, i, self.kept_fields())
        return self.asker().advance()

    def take_leave(self):
        """What `detach` begins with: a signal's handler may raise anywhere in it."""
        self.delist()
        # Behind a call of user code that runs now: a function may close the connection, and nothing of the row is there
        # any more.
        self.handed = True
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

    def bail_out(self, result, row=None):
        """Put the statement, whose state is all in C, into the result set, behind `row` if there is one."""
        self.detach()
        result.resume(self.statement, row)

    def may_be_asked(self):
        """See tiers.py. Before it stands in the result set, only the program's functions may be what runs."""
        if self.in_c_now:
            # What C has done isn't Python's yet where a signal's handler comes just behind the call.
            return self.session.calls.depth > self.depth
        return not self.inside and (self.owner is not None or self.busy)

    def deoptimize(self):
        """Bring the state in C up to date; the statement goes on there."""
        if self.busy:
            self.position(self.i)
            self.handed = True
            return
        if self.left:
            return
        result = self.result_set()
        try:
            self.deoptimize_row(result)
        except errors.Error as error:
            # It belongs to the result set's next row, not to what is being done now.
            result.drop()
            result.stand_in(Raising(error))

    # User code

    def instance(self, pc):
        """Make the instance of the aggregate of the step at `pc`; None if that failed."""
        aggregate = getattr(self, 'f%d' % pc)
        self.inside = False
        try:
            made = aggregate.made_by()
            self.inside = True
            failure = None
        except BaseException as error:
            failure = error
        if failure is not None:
            self.failed(pc, failure, "user-defined aggregate's '__init__' method raised error",
                        aggregate.made_by)
            return None
        setattr(self, 'a%d' % self.loop.ops[pc].p3, made)
        return made

    def not_compared(self, error):
        """A collation has raised `error`: until the statement is through, all texts are equal."""
        self.session.raised = error

    def failed(self, pc, error, message, function):
        """Have the opcode at `pc` fail, because the user's `function` raised `error`."""
        self.check_open()
        self.position(self.i)
        code = error_code(error)
        message = OWN_MESSAGES.get(code) or error_message(error, message)
        report(error, function)
        self.install_accumulators()
        lib.sqpyte_raise(self.vdbe, pc, code, message.encode())
        self.go_on()
