"""Loops over one table: C decodes a page's rows into a batch, the class computes rows from it.

The statement waits in C at the loop's head, inside its read transaction, with its cursor on the leaf page whose rows
are in the batch. See runner.py for the way back to C. The classes that codegen/scan.py generates derive from the last
three below.
"""

from c_engine.generated import layout
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, address_of, lib
from pypy_module.ffi.memory import BASE, BYTES, WORDS
from pypy_module.inline.runtime.buffers import taken
from pypy_module.inline.runtime.runner import Runner
from sqpyte.vm.base import mem

HEAD = NUMBERS['SQPYTE_BATCH_HEAD']
STAMP, STALE = NUMBERS['SQPYTE_BATCH_STAMP'], NUMBERS['SQPYTE_BATCH_STALE']
FIRST_ROWID, CONSECUTIVE = NUMBERS['SQPYTE_BATCH_ROWID'], NUMBERS['SQPYTE_BATCH_CONSECUTIVE']

batch = lib.sqpyte_batch
seek = lib.sqpyte_batch_seek


class PageBatchRunner(Runner):
    """See the module's docstring.

    Class attributes, set by codegen/scan.py:
        words: of the buffer, without the copy of a page behind it.
        free: buffers that aren't used (list).

    Attributes:
        last: the row behind which C goes on, though the batch has more, or 0 (int).
    """

    words: int
    free: list
    select: Any

    def __init__(self, session, statement, known):
        """Take a Session, its Statement, which waits at the loop's head, and the Known that has the loop."""
        super().__init__(session, statement, known)
        cursors = mem.i64(self.vdbe + layout.Vdbe_apCsr)
        self.vc = mem.i64(cursors + 8 * self.loop.cursor)
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
        statement.inlined.runner = self
        self.enlist()

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
        self.statement.inlined.rows += n
        start = self.start
        ix = WORDS[start - HEAD + 1]
        self.stamp = WORDS[start - HEAD + STAMP]
        self.first_ix = ix
        self.next_ix = ix + n
        self.k = start
        self.end = start + n * self.stride
        if self.varies(start, self.end):
            self.side_exit(self.loop.head, start, self.kept_fields())
            return False
        return True

    def refill_selected(self):
        """`refill` for loops with a selecting part: go on until a row is selected."""
        while not self.left:
            if self.stop_row and not self.last:
                self.side_exit(self.stop_pc, self.stop_row, self.kept_fields())
                return False
            if not PageBatchRunner.refill(self):
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

    def position(self, i):
        """Have the statement's cursor in C stand on row `i`, unless it has to be let alone."""
        if i and not self.handed:
            number, head = (i - self.start) // self.stride, self.start - HEAD
            rowid = (WORDS[head + FIRST_ROWID] + number if WORDS[head + CONSECUTIVE]
                     else WORDS[i + self.stride - 1])
            seek(self.vc, self.first_ix + number, rowid)


class RowsRunner(PageBatchRunner):
    """Of loops without user code: the row `k` of the batch is computed when it is asked for."""

    in_step = 0

    def begin(self):
        """Get the first batch."""
        self.refill()

    def stale(self):
        """`__next__`, where the stamp isn't the batch's any more: this row is as it was computed, the
        statement goes on in C behind it."""
        if self.left:       # a signal's handler has come just before
            return self.asker().advance()
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


class AheadRunner(PageBatchRunner):
    """Of loops with user code: the next row has been computed, the statement is behind it."""

    in_step = NUMBERS['SQPYTE_STEP_BEGUN']

    def stale(self):
        """`__next__`, where the stamp isn't the batch's any more: the next row has been computed, the
        statement goes on in C behind it."""
        result = self.asker()
        if not self.left:
            self.deoptimize_row(result)
        return result.advance()

    def deoptimize_row(self, result):
        """See `deoptimize`: the next row is handed over as it is."""
        self.position(self.i)
        pc = self.loop.row + 1
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        BYTES[self.mid_step] = 0
        self.write(self.kept_fields(), pc)
        self.detach()
        result.resume(self.statement, self.pending())


class RunRunner(PageBatchRunner):
    """Of loops that no row leaves: they run to their end at once."""

    def begin(self):
        """Run, and go on in C behind the loop."""
        self.run()
