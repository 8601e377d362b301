"""Runs a slice with a sink (sinks.py): hands a batch's values over to C, and leaves when the loop
is done.

When the loop can't come again, what follows is other loops': the sorted rows, which C computes ahead
(rows.py), or another slice.  The runner is then over, and the statement is looked at again.
"""

from c_engine.generated import layout, opcodes
from pypy_module.ffi.library import address_of, ffi, lib
from pypy_module.ffi.memory import BASE, CHARS, WORDS
from pypy_module.inline.runtime.call_log import LogRunner
from pypy_module.inline.runtime.runner import NOMEM, ROW
from pypy_module.inline.runtime.slices import LogRunRunner
from pypy_module.inline.values import BLOB, TEXT
from sqpyte.vm.base import mem
from sqpyte.vm.program import liveness

CHUNK = 1 << 15         # bytes of texts that wait for C
LOWEST_LIMIT = 1 << 24  # of lengths, under which a record might be too large
OVER = -2               # beside the codes of stepping a statement: see `over`

do_sink = lib.sqpyte_log_sink


def reached_from(ops, pc, register):
    """The pcs (set) that a statement at `pc` will come to.

    Args:
        ops: its opcodes (list of Op).
        pc: where it is (int).
        register: function of a register's number, its integer: where coroutines go on.
    """
    reached: set = set()
    waiting: dict = {}            # by register, pcs of Yields and Returns
    places: dict = {}       # by register, where these may go on
    pending = [pc]
    while pending:
        pc = pending.pop()
        if pc in reached or not 0 <= pc < len(ops):
            continue
        reached.add(pc)
        op = ops[pc]
        if op.opcode in (opcodes.OP_Yield, opcodes.OP_EndCoroutine):
            places.setdefault(op.p1, [register(op.p1) + 1])
            if op.opcode == opcodes.OP_Yield:
                places[op.p1].append(pc + 1)
                pending.append(op.p2)
            pending += places[op.p1]
            waiting.setdefault(op.p1, []).append(pc)
        elif op.opcode == opcodes.OP_Return:
            pending += places.get(op.p1, [])
            waiting.setdefault(op.p1, []).append(pc)
        elif op.opcode in (opcodes.OP_Gosub, opcodes.OP_InitCoroutine):
            place = pc + 1 if op.opcode == opcodes.OP_Gosub else op.p3
            places.setdefault(op.p1, []).append(place)
            pending.append(op.p2 or pc + 1)
            if op.p1 in waiting:
                pending.append(place)
        else:
            pending += liveness.successors(ops, pc)
        if not pending:
            # A subroutine that we are in was called before.
            pending = [register(number) + 1 for number in waiting if number not in places]
            waiting = {number: found for number, found in waiting.items() if number in places}
    return reached


class SinkRunner(LogRunRunner):
    """See the module's docstring, and LogRunner.

    Attributes:
        done: index of WORDS of the batch's first row that the sink hasn't been done for.
        texts: memory for values that wait for C, of which `used` bytes are in use; older: more of it.
        crowded: C has to take over the values after this row (bool).
        asked: whether it was asked for if the loop can come again (bool); reached: the pcs that the
            statement will come to, if it can't (set).
    """

    def __init__(self, *args):
        """See LogRunner."""
        super().__init__(*args)
        self.done = 0
        self.texts = None
        self.used = 0
        self.older = []
        self.crowded = self.asked = False
        self.reached = ()

    def prepare(self):
        """See Runner."""
        if not super().prepare() or self.most < LOWEST_LIMIT:
            return False
        for register in self.loop.needed - set(self.loop.cells):
            at = self.memory + register * layout.sizeof_Mem
            if (mem.u16(at + layout.Mem_flags) & (layout.MEM_Str | layout.MEM_Blob)
                    and mem.i32(at + layout.Mem_n) > CHUNK):
                return False
        return True

    def keep(self, place, value):
        """Have the words at `place` hold a str or bytes, for C."""
        kind = TEXT
        if type(value) is str:
            value = value.encode()
        else:
            kind = BLOB
        size = len(value)
        if self.texts is None or self.used + size > CHUNK:
            if self.texts is not None:
                self.older.append(self.texts)
                self.crowded = True
            self.texts = ffi.new('char[]', max(CHUNK, size))
            self.used = 0
        start = address_of(self.texts) + self.used
        CHARS[start - BASE:start - BASE + size] = value
        self.used += size
        WORDS[place] = kind | size << 3
        WORDS[place + 1] = start

    def hand_over_to(self, end):
        """Have C do the sink for the rows before `end`; returns whether it could."""
        if self.sink_error is not None:
            return False
        if self.done >= end:
            return True
        rc = do_sink(self.handle, (self.done - self.start) // self.stride,
                     (end - self.start) // self.stride)
        self.done = end
        self.used = 0
        if self.older:
            self.older = []
        self.crowded = False
        if rc:
            self.sink_error = rc
            return False
        return True

    def refill(self):
        """See LogRunner."""
        if not self.left:
            if self.end and not self.hand_over_to(self.end):
                return self.spoilt()
            if not (self.at_event or self.rest or self.asked or self.owner) and self.is_over():
                return self.over()
        found = super().refill()
        self.done = self.k if found else self.end
        return found

    def is_over(self):
        """Whether the loop can't come again; sets `reached`."""
        self.asked = True
        self.reached = reached_from(
            self.loop.ops, mem.i32(self.vdbe + layout.Vdbe_pc),
            lambda register: mem.i64(self.memory + register * layout.sizeof_Mem + layout.Mem_u))
        return self.loop.head not in self.reached

    def over(self):
        """Leave the statement to whoever goes on with it."""
        self.give_state()
        self.detach()
        self.rc = OVER
        return False

    def row_of_c(self, rc):
        """See LogRunner: rows that C can compute ahead are left to it."""
        if rc == ROW:
            place = mem.i32(self.vdbe + layout.Vdbe_pc)
            if type(self.loop.aheads.found.get(place, '')) is not str:
                return LogRunner.row_of_c(self, rc)
        return super().row_of_c(rc)

    def spoilt(self):
        """C couldn't do the sink: the statement fails; returns False."""
        if self.sink_error == NOMEM:
            self.detach()
            self.finish(NOMEM)
        else:
            lib.sqpyte_fail(self.vdbe, self.loop.sink_pc, self.sink_error)
            self.give_state()
            self.go_on()
        return False

    def crowded_out(self, i):
        """Have C take over the values up to the row `i`; returns whether to go on."""
        return self.hand_over_to(i + self.stride) or self.spoilt()

    def back(self, pc):
        """See LogRunner."""
        return self.hand_over_to(max(self.i, self.start)) and super().back(pc)

    def side_exit_from(self, target, pc, values):
        """See LogRunner."""
        if self.sink_error == NOMEM and not self.left:
            self.detach()
            self.finish(NOMEM)
        else:
            super().side_exit_from(target, pc, values)

    def use(self, buffer):
        """See LogRunner; the rows of the buffer before have been done."""
        super().use(buffer)
        self.done = self.start
