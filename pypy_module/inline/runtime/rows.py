"""Rows that C has computed ahead, many in one call, handed out in the caller's loop.

`RowBatches` stands in a ResultSet for its statement.  C steps the statement and runs it on to further
rows (c_engine/rows/call_log.h); each row that is then asked for is a few loads from a buffer, and no call.
How many rows there are in a batch grows with what has been asked for: 2, 4, 8, ...

A short text that comes again is the same `str` as the last time, which saves half of the time that
the program takes for it (c_engine/rows/string_cache.c finds it; 256 are kept).

What is PURE (effects.py) is handed out whatever happens in between. What is REVERSIBLE is rolled back to the row that
the caller is at (`deoptimize`), and the result set goes on. Each row is handed out under its batch's stamp
(c_engine/core/validity.h). If that has risen and nothing can be rolled back, the statement fails.
"""

from c_engine.generated import layout
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, address_of, lib
from pypy_module.ffi.memory import BASE, DOUBLES, INTS, WORDS, data_at
from pypy_module.inline.runtime.buffers import taken
from pypy_module.inline.runtime.call_log import (
    BUFFER_WORDS,
    COUNT,
    INTERRUPT,
    MOST_ROWS,
    RECORDS,
    STAMP,
    fail_as_changed,
    free,
)
from pypy_module.inline.runtime.runner import COLUMNS, GONE, ROW, interrupted_of, stamp_of
from pypy_module.inline.runtime.stand_in import StandIn
from sqpyte.vm.base import mem

ROW_CELLS = NUMBERS['SQPYTE_ROW_CELLS']
STOPPED = NUMBERS['SQPYTE_LOG_STOPPED']
PC, UNDO = NUMBERS['SQPYTE_LOG_PC'], NUMBERS['SQPYTE_LOG_UNDO']
INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)
KNOWN, NEW = NUMBERS['SQPYTE_KNOWN'], NUMBERS['SQPYTE_NEW']
SLOTS = 2 ** NUMBERS['SQPYTE_STRING_BITS']
SIZES = 2 ** NUMBERS['SQPYTE_STRING_SHIFT'] - 1
SLOT_SHIFT = 3 + NUMBERS['SQPYTE_STRING_SHIFT']     # of the slot in a tag
MOST_POOR = 16          # batches without a second row, one after the other: C does as well
TIER_UP_POOR = 1000    # rows that C does then, twice as many each time
INTERNED_FROM = 9         # batch from which on texts that come again are one object

rows = lib.sqpyte_log_rows


class RowBatches(StandIn):
    """See the module's docstring. Its subclasses, one for each number of columns, have __next__.

    Attributes:
        handle: address of C's part.
        ahead: the Ahead of the place where the statement is expected to be after its next row.
        k, end: the next row and the end of the batch, as indexes of WORDS.
        most: how many rows the next batch has at most (int).
        poor: how many batches in a row had one row only (int).
        reversible: what has been run ahead can be rolled back (bool, as int).
        live, stamp: where the connection's stamp is, in `WORDS`, and what it was when the batch was made
            (int); GONE if the next row isn't to be handed out without a look.
        inside: its own code is running, so that it can't be asked to deoptimize: see tiers.py (bool).
        filling: C is computing a batch, or has done so (bool); depth: how many calls of user code were going on before
            (int): C is still computing if there are more now.
        known: the inliner's Known of the statement.
        seen: what trace.py knows of its program's rows (Seen).
        varieties: the kinds of its program's rows (list of two ints: variety.py).
        tier_up: of the statement when it goes back to C (int).
        fills: how many batches there have been (int).
        texts: by slot, texts that may come again (list of str or None), or None.
    """

    stride: int
    __next__: Any

    def __init__(self, session, statement, known, ahead, tier_up):
        """Take a Session, its Statement, its Known, and the Ahead where the statement is."""
        self.session = session
        self.statement = statement
        self.known = known
        self.ahead = ahead
        self.tier_up = tier_up
        self.fills = 0
        self.vdbe = address_of(statement.pointer)
        self.interrupted = interrupted_of(self.vdbe)
        self.live = stamp_of(self.vdbe)
        self.stamp = GONE
        state = statement.inlined
        self.handle = lib.sqpyte_log_open(self.vdbe)
        if not self.handle:
            raise MemoryError
        self.buffer, state.kept = state.kept, None
        if self.buffer is None:
            self.buffer = taken(free, BUFFER_WORDS)
        self.buffer[0] = BUFFER_WORDS
        self.out = address_of(self.buffer)
        self.head = (self.out - BASE) >> 3
        self.first = self.head + RECORDS
        self.k = self.end = self.first
        self.most = 1
        self.poor = 0
        self.reversible = 0
        self.owner = None
        self.listed = self.inside = self.filling = False
        self.depth = 0
        self.texts = None
        self.seen = known.shapes.seen
        self.varieties = known.shapes.varieties
        statement.inlined.runner = self

    def begin(self, result):
        """Get the first batch; stand in the result set if there is one.

        Returns:
            SQLITE_ROW, or what stepping the statement has returned otherwise, or None if this
            stands in the result set now.
        """
        rc = self.fill()
        if rc == ROW and self.end > self.first:
            self.attach(result)
            return None
        self.detach()
        return rc

    def fill(self):
        """Get a batch; returns what stepping the statement has."""
        head = self.head
        self.inside = True
        self.depth = self.session.calls.depth
        self.filling = True
        self.fills += 1
        if self.fills == INTERNED_FROM:
            self.texts = [None] * SLOTS
            lib.sqpyte_log_intern(self.handle)
        self.most = most = min(2 * self.most, MOST_ROWS)
        self.k = self.end = self.first
        spec, cells = self.ahead.spec.address, address_of(self.statement.cells)
        self.enlist()
        self.inside = False     # C may call the program's functions
        rc = rows(self.handle, spec, cells, self.out, most)
        self.inside = True
        if rc == ROW and self.handle:
            count = WORDS[head + COUNT]
            self.end = self.first + count * self.stride
            self.reversible = WORDS[head + UNDO]
            # What C has called may have set another text factory.
            self.stamp = WORDS[head + STAMP] if self.session.plain else GONE
            if count > 1:
                self.poor = 0
                if WORDS[head + STOPPED]:
                    self.most = count
            else:
                self.poor += 1
                self.most = 1
                ahead = self.known.ahead_at(WORDS[head + PC])
                if ahead is not None:
                    self.ahead = ahead
            self.enlist()
        self.inside = self.filling = False
        return rc

    def refill(self):
        """Get the next batch after the last row of one, or go back to C."""
        rc = self.fill()
        if self.end == self.first:
            statement, result = self.statement, self.result_set()
            self.detach()
            statement.tier_up = self.tier_up
            result.go_on(statement, rc)
        elif self.poor > MOST_POOR:
            self.tier_up = TIER_UP_POOR << self.known.impoverish()
            if self.reversible:
                self.roll_back(self.result_set())
            else:       # C waits behind the only row
                self.hand_over(self.result_set())

    def may_be_asked(self):
        """See tiers.py. While C runs, nothing is ahead; behind its call, where a handler may come, something is."""
        if self.inside:
            return False
        if self.filling:
            return self.session.calls.depth > self.depth
        return self.owner is not None or self.k == self.end

    def deoptimize(self):
        """See tiers.py."""
        self.listed = False
        if not self.handle or self.k == self.end:
            return
        if self.reversible:
            self.tier_up <<= self.known.spoil(self.fills)
            self.roll_back(self.result_set())
        else:
            self.stamp = GONE

    def roll_back(self, result):
        """Undo what nobody has asked for; the statement goes on in C with the row `k`.

        If that can't be done any more, because the statement has failed or something has changed, the row `k`
        is the last one, and an error follows.
        """
        if lib.sqpyte_log_back(self.handle, (self.k - self.first) // self.stride):
            self.reversible = 0
            self.stamp = GONE
            self.end = self.k + self.stride
            if mem.u8(self.vdbe + layout.Vdbe_eVdbeState) == layout.VDBE_RUN_STATE:
                fail_as_changed(self, mem.i32(self.vdbe + layout.Vdbe_pc))
            return
        self.hand_over(result)

    def hand_over(self, result):
        """Have the statement, behind whose row `k` C is, go on in C with that row."""
        self.give_row(result)
        self.statement.tier_up = self.tier_up
        self.detach()

    def give_row(self, result):
        """Put the row `k` into the statement's own buffer, and the statement into the result set."""
        statement = self.statement
        k = self.k
        cells = statement.cells
        cells[COLUMNS] = self.stride // 2
        for n in range(0, self.stride, 2):
            tag = WORDS[k + n]
            if tag & 7 >= KNOWN:
                tag = (tag >> 3 & SIZES) << 3 | TEXT    # the result set knows no slots
            cells[ROW_CELLS + n] = tag
            cells[ROW_CELLS + n + 1] = WORDS[k + n + 1]
        statement.inlined.kept = self.buffer
        result.resume(statement)

    def looked(self):
        """`__next__` when something has happened since the last row."""
        if not self.handle:         # a signal's handler has come just before
            return self.asker().advance()
        if self.reversible and self.stamp != WORDS[self.live]:
            result = self.asker()
            self.roll_back(result)
            if not self.handle:
                return result.advance()
        if self.session.plain and not INTS[self.interrupted]:
            self.stamp = WORDS[self.live]
            self.enlist()
            return self.__next__()
        return self.by_result_set()

    def by_result_set(self):
        """Return the next row as the result set makes it of the statement's own buffer."""
        self.inside = False
        result = self.asker()
        self.by_own_buffer(result)
        return result.advance()

    def leave_row(self, result):
        """See tiers.py: as `by_result_set`."""
        if self.handle and self.k == self.end:
            self.refill()
        if self.handle and self.k != self.end:
            self.by_own_buffer(result)

    def by_own_buffer(self, result):
        """Have the result set make the row `k` of the statement's own buffer, and those behind it."""
        if self.reversible:
            self.roll_back(result)
        if self.handle:
            self.give_row(result)
            self.statement.inlined.leftover = self
            self.statement.tier_up = 1

    def step_leftover(self, result):
        """In place of stepping the statement, when `by_result_set` has handed out a row that is not
        the last: the next one into the statement's own buffer; returns SQLITE_ROW.

        Returns:
            None if the statement has to be stepped.
        """
        statement = self.statement
        self.k += self.stride
        if self.k == self.end:
            statement.tier_up = self.tier_up
            self.detach()
            return None
        if INTS[self.interrupted]:
            self.detach()
            lib.sqpyte_fail(self.vdbe, mem.i32(self.vdbe + layout.Vdbe_pc), INTERRUPT)
            return None
        self.give_row(result)
        statement.tier_up = 1
        return ROW

    def take_leave(self):
        """Be no longer the connection's runner; returns whether this was one that ran (bool)."""
        self.delist()
        self.stamp = GONE
        handle, self.handle = self.handle, 0
        if handle:
            lib.sqpyte_log_close(handle)
        return bool(handle)

    def detach(self):
        """Be no longer the statement's and the connection's runner."""
        if not self.take_leave():
            return
        state = self.statement.inlined
        state.runner = state.leftover = None
        if state.kept is not self.buffer:
            free.append(self.buffer)


def cell_at(k, texts):
    """The value of the cell at WORDS[k] (int, float, str, bytes or None); `texts`: see RowBatches."""
    tag = WORDS[k]
    if tag == INTEGER:
        return WORDS[k + 1]
    if tag == FLOAT:
        return DOUBLES[k + 1]
    if tag == NULL:
        return None
    kind = tag & 7
    if kind == KNOWN:
        return texts[tag >> SLOT_SHIFT]
    if kind == NEW:
        value = texts[tag >> SLOT_SHIFT] = data_at(WORDS[k + 1], tag >> 3 & SIZES).decode()
        return value
    data = data_at(WORDS[k + 1], tag >> 3)
    return data.decode() if kind == TEXT else data
