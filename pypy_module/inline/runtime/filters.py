"""Runs a loop with a rest (analysis/filters.py): has C do the rest of the rows that pass.

C is at the row then, and goes on to the loop's Next, or to a row of the query's in between, which is handed out from
where it is. A row that passes costs what FEWEST rows gain. Where rows are fewer than so many for each that passes,
beyond the first ones, or a rest is so long that the VM is better at it, the statement goes on in C, and isn't taken
over any more.
"""

from c_engine.generated import layout
from pypy_module.ffi.library import address_of, ffi, lib
from pypy_module.ffi.memory import BYTES, WORDS
from pypy_module.inline.runtime.call_log import BEGUN, CAPACITY, RECORDS, fill
from pypy_module.inline.runtime.runner import COLUMNS, ROW
from pypy_module.inline.runtime.rows_of_c import RowsOfC
from pypy_module.inline.runtime.scan import PageBatchRunner
from sqpyte.vm.base import mem

FEWEST = 3
ALLOWED = 1000          # rows that pass, in all runs of a statement: the first of a run may, as those of DISTINCT do
PASSES = 32             # that are looked at together
LONG_REST = 3000        # opcodes of a rest, on average, for which the VM is better
MOST_KEYS = 1000        # of DISTINCT's that are remembered, ...
LONGEST = 200           # ... of texts with so many characters, at most

PASSING = 'more than one of %d rows passes' % FEWEST
WITHIN = 'what C does for each row that passes is better off in the VM'


class FilterRunner(RowsOfC, PageBatchRunner):
    """See the module's docstring.

    Attributes:
        handle: address of C's part, which steps a rest; log: its buffer.
        in_rest: C has returned a row in the middle of a rest (bool).
        passes: rows that have passed since this was looked at (int); rows: the statement's rows, and steps: its
            opcodes, when that began (int).
        keys: what is known to be in DISTINCT's index (set).
    """

    handle = 0
    in_rest = False

    def __init__(self, session, statement, known):
        """See PageBatchRunner."""
        handle = lib.sqpyte_log_open(address_of(statement.pointer))
        if not handle:
            raise MemoryError
        super().__init__(session, statement, known)
        self.handle = handle
        self.passes, self.rows = 0, statement.inlined.rows
        self.steps = self.count_steps()
        self.keys: set = set()
        self.log = ffi.new('int64_t[]', 2 * RECORDS)
        self.log[CAPACITY] = len(self.log)
        self.log_at = address_of(self.log)
        self.rest_spec = self.loop.rest_spec.address

    def count_steps(self):
        """How many opcodes C has done for the statement (int)."""
        return lib.sqlite3_stmt_status(self.statement.pointer, layout.SQLITE_STMTSTATUS_VM_STEP, 0)

    def advance(self):
        """Run to the next row."""
        self.inside = self.busy = True
        if not self.in_rest:
            self.run()
        elif WORDS[self.live] != self.stamp:
            self.go_on()
        elif self.rest_goes_on():
            self.run()
        self.busy = self.inside = False

    def rest_in_c(self, pc, values):
        """Have C do the rest of the present row.

        Args:
            pc: with which opcode it begins.
            values: registers to write: (register, W_Value or Python value).
        Returns:
            whether the loop goes on with the next row; if not, C has returned a row, or has the statement.
        """
        self.check_open()
        self.position(self.i)
        mem.set_i32(self.vdbe, layout.Vdbe_pc, pc)
        self.write(values, pc)
        self.begin_step()
        self.passes += 1
        if self.passes == PASSES and self.statement.inlined.measured and self.does_not_pay():
            self.go_on()
            return False
        return self.rest_goes_on()

    def rest_goes_on(self):
        """Have C do the rest that it is in; returns what rest_in_c does."""
        statement = self.statement
        self.depth = self.session.calls.depth
        self.in_rest = False
        self.in_c_now = True
        rc = fill(self.handle, self.rest_spec, address_of(statement.cells), self.log_at, 0, 0)
        self.in_c_now = False
        if self.left:
            self.check_open()
            return False
        stays = not self.handed and WORDS[self.live] == self.stamp and self.session.raised is None
        if rc == ROW and statement.cells[COLUMNS] == 0:
            if not stays:
                self.go_on()
            return stays
        rc = statement.grown(rc)
        place = mem.i32(self.vdbe + layout.Vdbe_pc)
        if stays and rc == ROW and self.loop.head <= place <= self.loop.end:
            self.in_rest = True
            return False
        self.detach()
        self.finish(rc)
        return False

    def begin_step(self):
        """See Runner. In a rest that goes on behind a row a step of C's begins."""
        if not self.in_rest:
            BYTES[self.mid_step] = BYTES[self.mid_step] or BEGUN

    def deoptimize(self):
        """See Runner. While C does a rest, it has all of the statement's state."""
        if self.in_c_now:
            self.handed = True
        else:
            super().deoptimize()

    def detach(self):
        """See Runner."""
        super().detach()
        handle, self.handle = self.handle, 0
        if handle:
            lib.sqpyte_log_close(handle)

    def is_known(self, key):
        """Whether DISTINCT's index has a key (a value, or a tuple); if not, it will."""
        keys = self.keys
        if key in keys:
            return True
        texts = [value for value in (key if type(key) is tuple else (key,)) if type(value) is str]
        if len(keys) < MOST_KEYS and all(len(text) <= LONGEST for text in texts):
            keys.add(key)
        return False

    def does_not_pay(self):
        """Whether C is faster, and so goes on alone; PASSES rows have passed."""
        state, steps = self.statement.inlined, self.count_steps()
        state.passes += PASSES
        state.tried += state.rows - self.rows
        if state.tried < FEWEST * (state.passes - ALLOWED):
            state.slower = PASSING
        elif (steps - self.steps) & 0xffffffff > LONG_REST * PASSES:
            state.slower = WITHIN
        self.passes, self.rows, self.steps = 0, state.rows, steps
        return bool(state.slower)
