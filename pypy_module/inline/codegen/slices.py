"""Generates the Python class of a slice (slices.py): its deferred opcodes, and the loading of values.

The code is as that of an inlined loop (scan.py), but for a row's values, which C has kept, one
for each time that a register gets a value that deferred opcodes read.
"""

from pypy_module.inline.analysis.effects import PURE
from pypy_module.inline.analysis.kinds import NOTHING
from pypy_module.inline.analysis.scan import AHEAD
from pypy_module.inline.codegen import datum
from pypy_module.inline.codegen.class_code import CHECK_STAMP, INTERRUPTED
from pypy_module.inline.codegen.emit import Ahead, V, W
from pypy_module.inline.codegen.opcodes import EMITTERS, left_to_c
from pypy_module.inline.codegen.scan import Code
from pypy_module.inline.runtime.slices import LogAheadRunner, LogRunRunner
from sqpyte.vm.values.values import CONSTANT, row_origin


class SlicePart(Ahead):
    """Opcodes of a slice.

    Attributes:
        at: pc of the opcode that is being emitted.
        loading: the pc at which a register's loading is being emitted, or -1.
    """

    at = loading = -1

    def __init__(self, code, order):
        """Take the Code and the pcs."""
        self.loaded = code.loop.loads
        self.at_load: dict = {}
        super().__init__(code, order)

    def _find_needs(self, pc, following):
        """See Part: an opcode that isn't deferred needs nothing, and its registers are loaded."""
        if pc in self.loop.captures:
            super()._find_needs(pc, following)
        else:
            self.after[pc] = {}
            for successor in following:
                self.after[pc] = dict(self.before.get(successor, {}))
            self.before[pc] = dict(self.after[pc])
        self.at_load[pc] = dict(self.before[pc])
        for register, _ in self.loaded.get(pc, ()):
            self.before[pc].pop(register, None)

    def _emit_block(self, block, emitters):
        """See Part."""
        for pc in block:
            self.at = pc
            if pc in self.loop.python and len(self.loop.python) > 1:
                self.source.add('self.at = %d' % pc)
            for register, number in self.loaded.get(pc, ()):
                self.load(pc, register, number)
            if pc in self.loop.in_c:
                self.one_in_c(pc)
            elif pc in self.loop.captures:
                super()._emit_block([pc], emitters)

    def one_in_c(self, pc):
        """Emit an opcode that only upstream has. The statement is ahead, and its registers have other rows' values: the
        operands are given to C, and the result is loaded."""
        source, loop = self.source, self.loop
        operands = sorted(loop.flow.reads[pc] & loop.written - loop.accumulators)
        written = loop.flow.writes[pc] - loop.accumulators
        condition = left_to_c(self, pc, self.ops[pc])
        if condition:
            source.add('if %s:' % condition)
            with source.block():
                self._pass_to_c(pc, operands, written)
        else:
            self._pass_to_c(pc, operands, written)

    def _pass_to_c(self, pc, operands, written):
        """Emit that C does an opcode with `operands`, and that what it has `written` is loaded (registers)."""
        source = self.source
        if not operands and not written:
            source.add('if not self.in_c(%d):' % pc, '    return')
            return
        source.add('c = self.values', 'WORDS[c] = %d' % len(operands))
        for n, register in enumerate(operands):
            source.add('WORDS[c + %d] = %d' % (3 * n + 1, register),
                       'self.pass_operand(c + %d, %s)' % (3 * n + 2, self.for_c(register, pc)))
        source.add('if not self.in_c(%d, BASE + 8 * c, %d):' % (pc, min(written or operands)), '    return')
        # The result's bytes may be an operand's (a Cast): the operands go when it has been copied.
        if written:
            source.add('x = self.result()')
        if operands:
            source.add('del self.operands[:]')
        for register in written:
            self.computed(pc, register, 'x')

    def load(self, pc, register, number):
        """Emit the loading of a row's value `number` into a register."""
        need = self.at_load[pc].get(register, 0)
        if not need:
            return
        # A value that outlives the batch is copied, as what is in a page is.
        origin = row_origin(0) if self.loop.fields - self.loop.counters else CONSTANT
        name = 'v%d' % register
        self.loading = pc
        datum.load(self.source, 'i', 2 * number, v=name if need & V else None,
                   w='w%d' % register if need & W else None, origin=origin, undecodable=self.undecodable(pc))
        self.loading = -1

    def undecodable(self, pc):
        """The lines for a text that isn't UTF-8; behind a sorter the call that gets it fails, as it does in C."""
        if self.loop.way == PURE:
            calls = [other for other in self.loop.python if other >= pc]
            return ['return self.undecodable(%d)' % (calls or self.loop.python)[0]]
        return self.bail_out(pc)

    def check(self, pc, name):
        """See Part."""
        self.branch('%s is UNDECODABLE' % name, self.undecodable(pc))

    def spilled(self, pc, registers):
        """See Part: what C has kept it computes again, but whatever the jumps decide: of what it writes in the slice
        Python has the right one. Not of what was to be loaded between here and `pc`: there no jump is."""
        if not registers:
            return '()'
        following = [other for other in self.order if other >= pc]
        here = self.loading if self.loading >= 0 else pc
        written: set = set(self.loop.deferred_written)
        missing: set = set()
        for at, found in self.loaded.items():
            if self.loop.head < at < pc:
                (written if at < here else missing).update(register for register, _ in found)
        registers = registers & written - missing
        return super().spilled(following[0] if following else pc, registers)

    def side_exit(self, pc):
        """Go on in C with the opcode at `pc`."""
        return ['return self.side_exit_from(%d, %d, %s)' % (pc, self.at, self.spills(pc))]

    def bail_out(self, pc):
        """The lines that leave the opcode at `pc`, which has changed nothing, to C."""
        if pc not in self.loop.captures:    # a load: with the next deferred opcode
            pc = min(other for other in self.loop.deferred if other >= pc)
        return ['return self.side_exit_from(%d, %d, %s)' % (pc, pc, self.spills(pc))]


class SliceAfter(SlicePart):
    """What follows the row of a slice, in a function of its own."""

    def reject(self, pc):
        """Go on with the next row."""
        return ['return True']

    def side_exit(self, pc):
        """Go on in C."""
        return super().side_exit(pc) + ['return False']

    def bail_out(self, pc):
        """The same."""
        return ['self.side_exit_from(%d, %d, %s)' % (pc, pc, self.spills(pc)), 'return False']


class SliceCode(Code):
    """Makes the class for one Slice."""

    kind = 'slice'
    part = SlicePart
    run_base = 'LogRunRunner'

    def __init__(self, sliced):
        """Take the Slice."""
        super().__init__(sliced)
        self.stride = sliced.stride
        self.selects = False
        self.noted = 'i'
        self.base = 'LogAheadRunner' if sliced.shape == AHEAD else self.run_base
        self.names.update({'LogAheadRunner': LogAheadRunner, 'LogRunRunner': LogRunRunner})

    def emit(self):
        """See ClassCode."""
        (self._ahead if self.loop.shape == AHEAD else self._run)()

    def finish(self, made):
        """See ClassCode."""
        made.spec = self.loop.spec.address
        made.at = self.loop.python[0]
        made.most_values = max([len(self.loop.flow.reads[pc]) + 1 for pc in self.loop.in_c], default=0)
        self._finish_row(made)

    def _row_part(self, order, behind_group=(), loops=True):
        """Emit one row; `behind_group`: lines for after C has run the statement; `loops`: see `_next_row`."""
        self.source.add('i += %d' % self.stride,
                        'if i == self.end:',
                        '    batch_ended(SEEN, i - %d)' % self.stride,
                        '    if not self.refill():',
                        '        return',
                        '    i = self.k',
                        *['    ' + line for line in behind_group],
                        *(INTERRUPTED if loops else ()))
        self.source.add('self.i = i', 'note(SEEN, 0, i)')
        self.part(self, order).emit(EMITTERS)
        if self.loop.shape != AHEAD:
            self.source.add(*self.taken(self.place(), 'i'))

    def _ahead(self):
        """Emit the shape of a slice with a row."""
        sliced, source = self.loop, self.source
        self.emit_row_kept(*CHECK_STAMP)
        behind = [pc for pc in sliced.deferred if pc > sliced.row and sliced.ops[pc].opcode not in NOTHING]
        if behind:
            source.add('def after(self):')
            with source.block():
                SliceAfter(self, behind).emit(EMITTERS)
                source.add('return True')
        source.add('def advance(self):')
        with source.block():
            if behind:
                self.emit_begun()
            # The row before may have been stepped to in machine code, which notes nothing. (Not in the loop: a guard
            # behind this would resume before it, and no bridge to the next batch would be made.)
            source.add('self.inside = self.busy = True', 'i = self.i', 'note(SEEN, 0, i)')
            order = [pc for pc in sliced.order if pc <= sliced.row]
            if any(sliced.may_exit(sliced.ops[pc]) for pc in sliced.deferred):
                source.add('while True:')
                with source.block():
                    self._row_part(order)
            else:
                self._row_part(order, loops=False)

    def _run(self):
        """Emit the shape of a slice without a row."""
        sliced, source = self.loop, self.source
        source.add('def run(self):')
        with source.block():
            source.add('i = self.i')
            steps = sorted(sliced.accumulators & {sliced.ops[pc].p3 for pc in sliced.steps})
            for register in steps:
                source.add('a%d = self.a%d' % (register, register))
            source.add('while True:')
            with source.block():
                self._row_part(sliced.order, ['a%d = self.a%d' % (n, n) for n in steps])
