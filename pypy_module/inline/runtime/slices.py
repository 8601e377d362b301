"""Slices: the deferred opcodes of an innermost loop, with a row in them or without (see call_log.py)."""

from c_engine.generated import layout
from pypy_module.ffi.memory import BYTES
from pypy_module.inline.runtime.call_log import BEGUN, MOST_ROWS, LogRunner, fail_as_changed
from pypy_module.inline.runtime.rows_of_c import RowsOfC
from pypy_module.inline.runtime.runner import ROW
from pypy_module.inline.runtime.stand_in import Raising
from sqpyte.vm.base import mem


class LogAheadRunner(LogRunner):
    """Of slices with a row, which are never PURE: the next one has been computed, the statement is further ahead."""

    in_step = BEGUN

    def stale(self):
        """`__next__`, where the stamp isn't the batch's any more."""
        result = self.asker()
        if not self.left:
            self.deoptimize_row(result)
        return result.advance()

    def deoptimize_row(self, result):
        """See `deoptimize`: the next row is handed over as it is."""
        undone = self.back(self.loop.row)
        if not undone and self.has_ended():
            self.fail_later(result)
            return
        pc = self.loop.row + 1
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        BYTES[self.mid_step] = 0
        self.give_state()
        row = self.next_row()
        if not undone:
            fail_as_changed(self, pc)
        self.bail_out(result, row)

    def next_row(self):
        """The next row (tuple), for the result set."""
        return self.pending()

    def fail_later(self, result):
        """Have the result set give the next row, and then raise why the statement has ended."""
        row = self.next_row()
        self.why_ended()
        error = self.session.error()
        self.detach()
        self.session.give_up(self.statement)
        result.stand_in(Raising(error), row)


# At each group's end C goes on, makes its row, and goes back into the slice: that costs what this many steps save.
SMALL_GROUP = 20
GROUPS = 256        # whose size is looked at together
SMALL = 'its groups have fewer than %d rows' % SMALL_GROUP


class LogRunRunner(RowsOfC, LogRunner):
    """Of slices without a row: they feed aggregates; C returns the rows, of groups.

    A statement whose groups are small goes on in C, and isn't taken over any more: 600 000 rows in groups of two took
    2.5 times sqlite3's time, and a loop that is inlined for ever twice as long.

    Attributes:
        groups: that have ended since their size was looked at (int); `done`: rows of theirs (int).
    """

    first_batch = MOST_ROWS // 2
    groups = 0

    def advance(self):
        """Run to the next row."""
        self.inside = self.busy = True
        self.run()
        self.busy = self.inside = False

    def row_of_c(self, rc):
        """See LogRunner: a row is left where it is, to be handed out."""
        rc = self.statement.grown(rc)
        if rc == ROW and self.session.raised is None and not self.too_small():
            self.at_event = False
            self.i = self.end - self.stride     # the next one is not in the batch
            return False
        return super().row_of_c(rc)

    def too_small(self):
        """Whether the groups are small; a group has ended."""
        self.groups += 1
        if self.groups < GROUPS:
            return False
        if self.done < SMALL_GROUP * GROUPS and self.statement.inlined.measured:
            self.statement.inlined.slower = SMALL
            return True
        self.groups = self.done = 0
        return False
