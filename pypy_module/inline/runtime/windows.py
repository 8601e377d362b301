"""Runs a window log: C goes ahead and notes events, Python does what they say, row by row.

The statement is somewhere ahead in C while a user's method may run for an event.  If the way is REVERSIBLE and
the method, or the program between two rows, does what may matter (`deoptimize`), C rolls back what it has run
ahead, up to the event, and the statement goes on there.  If it is PURE nothing is rolled back: only an
interrupt, and another text factory, have to be looked after.
"""

from c_engine.generated import layout
from pypy_module.dbapi.connections.callbacks import error_code, report
from pypy_module.dbapi.statements.decoding import Undecodable, undecodable_text
from pypy_module.dbapi.statements.result_set import ahead
from pypy_module.ffi.library import NUMBERS, ffi, lib
from pypy_module.ffi.memory import INTS, WORDS
from pypy_module.inline.analysis.effects import PURE
from pypy_module.inline.runtime.call_log import AT_EVENT, COUNT, RECORDS
from pypy_module.inline.runtime.runner import COLUMNS, NOMEM, ROW
from pypy_module.inline.runtime.slices import LogAheadRunner
from pypy_module.inline.values import UNDECODABLE, KeptText, data_at, kept, load, unwrapped
from sqpyte.vm.base import mem

NO_EVENT = -1
END = NUMBERS['SQPYTE_LOG_END']


class WindowRunner(LogAheadRunner):
    """See the module's docstring; and LogAheadRunner, of which this is one.

    Attributes:
        next: where the next row's events begin, in `WORDS` (int); behind the last event is NO_EVENT.
        at: where the event is in whose call user code may run, or of the row that was computed (int).
        wary: the next row is not to be handed out without a look (bool).
        raw: what the text of its first column that isn't UTF-8 is: (number, bytes), or None.
        behind: the result set has kept the next row (bool).
        rN: the value of a deferred register; pN: of a column of the next row.
    """

    stride = 0

    def __init__(self, session, statement, known, handle, buffer):
        """See LogRunner; the statement is at a deferred opcode."""
        super().__init__(session, statement, known, handle, buffer)
        self.next = self.at = self.start
        WORDS[self.start] = NO_EVENT
        self.wary = self.behind = False
        self.raw = None

    def prepare(self):
        """See Runner."""
        window_log = self.loop
        for pc in window_log.python:
            setattr(self, 'f%d' % pc, self.session.python[self.calls.definitions[pc]])
        for register in window_log.accumulators:
            setattr(self, 'a%d' % register, None)
        return self.loaded_state()

    def loaded_state(self):
        """Take over the deferred registers and the accumulators; whether that could be done."""
        window_log = self.loop
        pc = mem.i32(self.vdbe + layout.Vdbe_pc)
        found = []
        for register in window_log.registers:
            value = None
            if register in window_log.flow.live[pc] & window_log.holding[pc]:
                w = load(self.memory + register * layout.sizeof_Mem, register)
                value = UNDECODABLE if w is None else unwrapped(w)
                if value is UNDECODABLE:
                    return False
            found.append((register, value))
        for register, value in found:
            setattr(self, 'r%d' % register, value)
        self.take_accumulators()
        return True

    def kept_fields(self):
        """See Runner: the deferred registers that have their values where the statement is."""
        holding = self.loop.holding[mem.i32(self.vdbe + layout.Vdbe_pc)]
        return [(register, getattr(self, 'r%d' % register)) for register in sorted(holding)]

    def take_state(self):
        """Read the state again, before a deferred opcode; False if the statement goes on in C."""
        if self.loaded_state():
            return True
        self.go_on()
        return False

    def refill(self):
        """Get the next rows; False if there are none: C has a row, or the statement is done."""
        if self.left:
            return False
        if not self.at_event:
            self.give_state()
        self.begin_step()
        while True:
            head = self.start - RECORDS
            # First to the event: where C runs ahead it may write over what is loaded there.
            taken = self.at_event
            rc = self.call_c() if taken else self.filled(0, 0)
            if self.left:
                return self.gone()
            if rc != ROW or self.statement.cells[COLUMNS]:
                return self.row_of_c(rc)
            self.at_event = WORDS[head + AT_EVENT] != 0
            if not taken:
                if not self.take_state():
                    return False
                continue
            if WORDS[head + COUNT]:
                self.next = self.start
                WORDS[head + WORDS[head + END]] = NO_EVENT
                return True
            if not self.at_event:
                self.give_state()
            elif not self.grow():
                self.give_state()
                self.go_on()
                return False

    def detach(self):
        """See Runner; a statement that is reset, or has ended, finalises the instances."""
        attached = bool(self.handle and self.statement.pointer)
        running = attached and mem.u8(self.vdbe + layout.Vdbe_eVdbeState) == layout.VDBE_RUN_STATE
        if running:
            self.install_accumulators()
        super().detach()
        if attached and not running:
            self.end_instances()

    # What events need

    def value_failed(self, pc, error, problem):
        """Have an AggValue fail; `problem`: what the message says, None if the result is to blame."""
        if isinstance(error, AttributeError):
            problem = 'not defined'
        message = "user-defined aggregate's 'value' method %s" % problem
        if problem is None:
            message = "unable to set result from user-defined aggregate's 'value' method"
        self.failed(pc, error, message, self.aggregate_of(self.loop.ops[pc].p1).made_by)

    def aggregate_of(self, register):
        """The Aggregate whose instance a register has."""
        for pc in self.loop.steps:
            if self.loop.ops[pc].p3 == register:
                return getattr(self, 'f%d' % pc)
        raise KeyError(register)

    def dropped(self, pc, behind, register):
        """Finalise an instance whose partition has ended; returns whether Python is to stop.

        Args:
            pc: the Null.
            behind: where the next event begins.
            register: of the accumulator.
        """
        error = self.end_instance(register)
        made_by = self.aggregate_of(register).made_by
        if error is not None and error_code(error) == NOMEM:      # of other errors SQLite doesn't learn here
            self.failed(pc, error, 'out of memory', made_by)
            return True
        if error is not None:
            report(error, made_by)
        return bool(self.handed or self.left or INTS[self.interrupted]) and self.deoptimized(pc, behind)

    def deoptimized(self, pc, behind):
        """After a call in which the statement was deoptimized, or interrupted; returns whether Python is to stop.

        Args:
            pc: the opcode that is done.
            behind: where the next event begins.
        """
        self.check_open()
        if self.left:
            return True
        if self.loop.way != PURE and self.handed:
            mem.set_i32(self.vdbe, layout.Vdbe_pc, pc + 1)
            self.give_state()
            self.go_on()
            return True
        if INTS[self.interrupted]:
            following = self.loop.following.get(pc)
            if following is not None and WORDS[behind] == self.loop.numbers[following]:
                return False
            self.interrupt()
            return True
        self.handed = False
        self.enlist()
        return False

    def surrogates(self, number, address, size):
        """The value of column `number` of the next row, a text that isn't UTF-8."""
        data = data_at(address, size)
        if self.raw is None:
            self.raw = number, data
        self.wary = True
        return data.decode('utf-8', 'surrogateescape')

    def raw_text(self, address, size):
        """A result that is a text but not UTF-8 (KeptText)."""
        return kept(KeptText, data_at(address, size))

    # Back to C

    def back(self, pc):
        """Have C roll back what it has run ahead, up to the present event; returns whether."""
        return lib.sqpyte_log_back(self.handle, self.events_done()) == 0

    def events_done(self):
        """How many events there are before the present one (int)."""
        done, k = 0, self.start
        while k < self.at:
            k += self.loop.size(self.loop.deferred[WORDS[k]])
            done += 1
        return done

    def deoptimize_call(self):
        """See LogRunner."""
        if self.loop.way == PURE:
            self.handed = self.wary = True
        elif not self.handed and self.back(-1):
            self.handed = True

    def deoptimize_between(self, result):
        """See LogRunner."""
        if self.loop.way == PURE:
            self.wary = True
        else:
            self.deoptimize_row(result)

    def next_row(self):
        """See LogAheadRunner; a row that the result set has kept stays as it is."""
        if self.behind:
            return self.result_set().row
        return self.next_kept()

    def next_kept(self):
        """The next row as it was computed."""
        row = self.pending()
        if self.raw is None:
            return row
        number, data = self.raw
        name = ffi.string(lib.sqlite3_column_name(self.statement.pointer, number))
        return Undecodable(undecodable_text(name, data), row)

    def readable(self):
        """See Runner."""
        return self.raw is None

    def leave_first_row(self, result):
        """See tiers.py; what is PURE stays, as nothing of it can be rolled back, and leaves the row alone."""
        if self.loop.way != PURE:
            super().leave_first_row(result)
        elif not self.session.plain or not self.readable():
            self.leave_row(result)

    def leave_row(self, result):
        """See tiers.py."""
        if self.loop.way == PURE and not self.left:
            self.behind = True
            result.row = ahead(self.next_kept())
            self.raw = None

    def looked(self):
        """`__next__` when something has happened since the last row, or with a text in the row that
        isn't UTF-8."""
        result = self.asker()
        if self.left:
            return result.advance()
        if self.loop.way != PURE and self.stamp != WORDS[self.live]:
            self.deoptimize_row(result)
            return result.advance()
        self.stamp = WORDS[self.live]
        if INTS[self.interrupted]:
            self.interrupt()
            return result.advance()
        row = self.next_row()
        if type(row) is not tuple or not self.session.plain:
            self.behind, self.inside = True, False
            row = result.decoded_early(row)
            self.behind, self.inside, self.wary = False, True, True
        else:
            self.wary = False
            self.enlist()
        self.raw = None
        self.advance()
        return row

    def pass_row(self, result):
        """Compute the row after the next one, which the result set had kept, and has given just now."""
        self.raw = None
        if self.loop.way != PURE and self.stamp != WORDS[self.live]:
            self.deoptimize_row(result)
            result.row = ()
            result.advance()
        else:
            self.behind = False
            self.advance()
