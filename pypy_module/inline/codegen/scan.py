"""Generates the Python class of an inlined loop.

The code is straight-line per row: registers are local variables, columns are read from the batch,
opcodes are calls of the functions that the RPython VM uses too, on W_ values.

A register has its value in two forms at most, `wN` (W_Value) and `vN` (Python's); which are needed
is found backwards from the opcodes that use it.  What an opcode function can't do is left to C: in
the selecting part the batch ends before the row, in the ROWS shape the row is computed in C from
its beginning, and where user code may have run the statement goes on in C with that opcode.
"""

from pypy_module.dbapi import errors
from pypy_module.dbapi.connections.collation_rank import compared
from pypy_module.ffi import memory
from pypy_module.ffi.library import NUMBERS, address_of, ffi
from pypy_module.inline import values as inline_values
from pypy_module.inline.analysis.kinds import AGGREGATE_STEPS, NOTHING
from pypy_module.inline.analysis.filters import FILTER
from pypy_module.inline.analysis.scan import AHEAD, ROWS, RUN
from pypy_module.inline.codegen.class_code import CHECK_STAMP, INTERRUPTED, ClassCode
from pypy_module.inline.codegen.emit import AfterAhead, AfterRow, Ahead, InRow, Selecting
from pypy_module.inline.codegen.opcodes import EMITTERS, affinity
from pypy_module.inline.runtime import trace
from pypy_module.inline.runtime.runner import Kinds
from pypy_module.inline.runtime.scan import AheadRunner, PageBatchRunner, RowsRunner, RunRunner
from sqpyte.vm.values import aggregates, arith, compare, values

AS_REAL = NUMBERS['SQPYTE_AS_REAL']
HEAD = NUMBERS['SQPYTE_BATCH_HEAD']
BUFFER_WORDS = 4096
FEWEST_ROWS, MOST_ROWS = 16, 512

NAMES = {'PageBatchRunner': PageBatchRunner, 'RowsRunner': RowsRunner, 'AheadRunner': AheadRunner,
         'RunRunner': RunRunner, 'affinity': affinity, 'compared': compared, 'aggregate_step': aggregates.step,
         'LEFT_TO_C': aggregates.BAIL_OUT}
for _module, _names in [
        (memory, 'WORDS INTS DOUBLES BYTES CHARS unpack BASE data_at'),
        (errors, 'out_of_range'),
        (inline_values, 'text_at unwrapped wrapped private store result_of aggregate_step_of ReturnedText ReturnedBlob'
         ' nocase_key UNDECODABLE'),
        (values, 'W_Int W_Real W_Text W_Blob NULL'),
        (arith, 'add subtract multiply divide remainder'),
        (compare, 'compare_operands truth UNDECIDED NULL_RESULT'),
        (inline_values, 'logic_and logic_or logic_not')]:
    for _name in _names.split():
        NAMES[_name] = getattr(_module, _name)


def spec(loop, rows):
    """Return the spec (see c_engine/rows/page_batch.h) of a loop's batches of at most `rows` rows."""
    words = [len(loop.values), rows]
    words += [column | (AS_REAL if column in loop.reals else 0) for column in loop.values]
    return ffi.new('int64_t[]', words)


class Code(ClassCode):
    """Makes the class for one Loop.

    Class attribute:
        part: the kind of Part that a row is (class), which isn't one of ROWS or RUN.

    Attributes:
        presets: attributes that `prepare` sets: name to (kind, number, form).
        noted: name of the variable whose value trace.py knows a row by (str).
    """

    part = Ahead

    def __init__(self, loop):
        """Take the Loop."""
        super().__init__(loop, NAMES)
        self.stride = 2 * len(loop.values) + 1      # and the rowid
        self.selects = loop.selected > loop.head
        self.noted = 'k' if self.selects else 'i'
        rows = max(FEWEST_ROWS, min(MOST_ROWS, BUFFER_WORDS // self.stride))
        self.rows = rows
        self.presets = {}
        self.base = {ROWS: 'RowsRunner', AHEAD: 'AheadRunner', RUN: 'RunRunner', FILTER: 'FilterRunner'}[loop.shape]
        self.asks = bool(loop.in_c) and loop.shape == AHEAD

    def preset(self, kind, number, form):
        """The expression for an invariant register ('k') or a bound parameter ('q').

        Its form is 'w' (W_Value), 'v' (Python's value) or 'b' (the bytes of a text or blob).
        """
        name = '%s%s%d' % (kind, form, number)
        self.presets[name] = (kind, number, form)
        return 'self.' + name

    def constant(self, value, hint):
        """The name of a constant in the generated code's namespace."""
        name = 'K' + hint
        self.names[name] = value
        return name

    def result(self, names):
        """Emit what a ResultRow of these expressions does."""
        if self.loop.shape == ROWS:
            self.source.add('row = (%s)' % ''.join(name + ', ' for name in names))
            return
        for number, name in enumerate(names):
            self.source.add('self.p%d = %s' % (number, name))
        self.source.add('self.busy = self.inside = False', *self.taken(self.loop.end, self.noted), 'return')

    def emit(self):
        """See ClassCode."""
        if self.selects:
            self.source.add('refill = PageBatchRunner.refill_selected')
            self._select()
        {ROWS: self._rows, AHEAD: self._ahead, RUN: self._run, FILTER: self._filter}[self.loop.shape]()

    def finish(self, made):
        """See ClassCode."""
        # The head, the rows, and the list of those that are selected.
        made.words = HEAD + self.rows * (self.stride + self.selects)
        made.spec_buffer = spec(self.loop, self.rows)
        made.spec = address_of(made.spec_buffer)
        made.free = []
        if self.asks:
            made.in_step = None
        self._finish_row(made)

    def _finish_row(self, made):
        """Set what the class has of a row, and of what comes from before the loop."""
        presets = sorted(self.presets.items())
        made.stride = self.stride
        made.datums = len(self.loop.values)
        made.kinds = Kinds()
        made.registers = [(name, number, form)
                          for name, (kind, number, form) in presets if kind == 'k']
        made.variables = [(name, number, form)
                          for name, (kind, number, form) in presets if kind == 'q']

    def taken(self, way, noted, part='WAY'):
        """The lines that tell trace.py which way through a part of the code a row has taken."""
        name = '%s%d' % (part, way)
        self.names[name] = self.names['SEEN'].way(part, way)
        return trace.taken(name, noted)

    def _row(self, end):
        """The opcodes behind the split up to `end`, and those before it that they need."""
        return self.loop.recomputed + list(range(self.loop.selected, end))

    def _select(self):
        """Emit `select`: the list of the batch's rows that are wanted."""
        source = self.source
        source.add('def select(self, k, end):')
        with source.block():
            source.add('i = k - %d' % self.stride,
                       'end -= %d' % self.stride,
                       'k = self.start + %d' % (self.rows * self.stride),
                       'self.k = k',
                       'while i < end:')
            with source.block():
                source.add('i += %d' % self.stride, 'note(SEEN, 0, i)')
                Selecting(self, range(self.loop.head, self.loop.selected)).emit(EMITTERS)
                source.add('WORDS[k] = i', 'k += 1', *self.taken(self.loop.selected, 'i', 'SELECTING'))
            source.add('self.end = k', 'batch_ended(SEEN, i)')

    def _rows(self):
        """Emit the ROWS shape."""
        source = self.source
        source.add('def __next__(self):')
        with source.block():
            source.add(*CHECK_STAMP)
            if self.selects:
                source.add('k = self.k', 'i = WORDS[k]')
            else:
                source.add('i = self.k')
            name, step = self.noted, 1 if self.selects else self.stride
            source.add('note(SEEN, 0, %s)' % name)
            InRow(self, self._row(self.loop.row + 1)).emit(EMITTERS)
            AfterRow(self, range(self.loop.row + 1, self.loop.end)).emit(EMITTERS)
            source.add('%s += %d' % (name, step),
                       'self.k = %s' % name,
                       'self.inside = False',
                       *self.taken(self.loop.end, '%s - %d' % (name, step)),
                       'if %s == self.end:' % name,
                       '    batch_ended(SEEN, %s - %d)' % (name, step),
                       '    self.inside = True',
                       '    self.refill()',
                       '    self.inside = False',
                       'return row')

    def _next_row(self, end, loops):
        """Emit the step to the next row; `loops`: it follows another one, without a look at the stamp (bool)."""
        source = self.source
        name, stride = self.noted, self.stride
        if not self.selects:
            source.add('i += %d' % stride)
        source.add('if %s == %s:' % (name, end),
                   '    batch_ended(SEEN, %s)' % (name if self.selects else 'i - %d' % stride),
                   '    if not self.refill():',
                   '        return',
                   '    %s = self.k' % name)
        if end == 'end':
            source.add('    end = self.end')
        if loops:
            source.add(*INTERRUPTED)
        if self.selects:
            source.add('i = WORDS[k]', 'k += 1')
        source.add('self.i = i', 'note(SEEN, 0, %s)' % name)

    def _ahead(self):
        """Emit the AHEAD shape."""
        loop, source = self.loop, self.source
        self.emit_row_kept(*CHECK_STAMP)
        behind = [pc for pc in range(loop.row + 1, loop.end)
                  if loop.ops[pc].opcode not in NOTHING]
        if behind:
            source.add('def after(self):')
            with source.block():
                AfterAhead(self, behind).emit(EMITTERS)
                source.add('return True')
        source.add('def advance(self):')
        with source.block():
            if behind:
                self.emit_begun()
            # The row before may have been stepped to in machine code, which notes nothing.
            source.add('self.inside = self.busy = True', 'k = self.k' if self.selects else 'i = self.i',
                       'note(SEEN, 0, %s)' % self.noted)
            order = self._row(loop.row + 1)
            if any(loop.may_exit(loop.ops[pc]) for pc in order):
                source.add('while True:')
                with source.block():
                    self._ahead_row(order, True)
            else:
                self._ahead_row(order, False)

    def _ahead_row(self, order, loops):
        """Emit one row of the shapes AHEAD and FILTER."""
        self._next_row('self.end', loops)
        if self.selects:
            self.source.add('self.k = k')
        self.part(self, order).emit(EMITTERS)

    def _filter(self):
        """Emit the FILTER shape."""
        self.source.add('def run(self):')
        with self.source.block():
            self.source.add('k = self.k' if self.selects else 'i = self.i', 'while True:')
            with self.source.block():
                self._ahead_row([*self._row(self.loop.rest), self.loop.rest], True)

    def _run(self):
        """Emit the RUN shape."""
        loop, source = self.loop, self.source
        source.add('def run(self):')
        with source.block():
            source.add('self.inside = self.busy = True',
                       'k = end = 0' if self.selects else 'i, end = %d, 0' % -self.stride)
            for pc in loop.inside:
                if loop.ops[pc].opcode in AGGREGATE_STEPS:
                    source.add('a%d = None' % loop.ops[pc].p3)
            source.add('while True:')
            with source.block():
                self._next_row('end', True)
                Ahead(self, self._row(loop.end)).emit(EMITTERS)
                source.add(*self.taken(loop.end, self.noted))
