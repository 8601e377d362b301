"""Source text in the making, and the parts of a row's code.

A part is a run of opcodes within one function of the generated class.  It knows which forms of
registers are needed where, gives the names of registers, and emits what leaves the row; how that
is done (going on with the next row, ending the batch, going on in C) is what its kinds differ in.
"""

import contextlib

from c_engine.generated import opcodes
from pypy_module.inline.analysis.kinds import (
    AGGREGATE_STEPS,
    ARITHMETIC,
    COMPARISONS,
    CONDITIONS,
    COPIES,
    FUNCTIONS,
    JUMPS,
    LOGIC,
    NOTHING,
)
from pypy_module.inline.analysis.scan import copied

W, V = 1, 2         # forms of a register: W_Value, Python's value
_USE_W = COMPARISONS | ARITHMETIC | LOGIC | CONDITIONS | {opcodes.OP_RealAffinity, opcodes.OP_Affinity}
_USE_V = FUNCTIONS | AGGREGATE_STEPS | {opcodes.OP_ResultRow}
_ALWAYS_JUMP = (opcodes.OP_Goto, opcodes.OP_Once)


class Source:
    """Lines of Python with the right indentation."""

    def __init__(self):
        self.lines = []
        self.level = 0

    def add(self, *lines):
        """Add lines at the present level."""
        self.lines.extend('    ' * self.level + line for line in lines)

    @contextlib.contextmanager
    def block(self):
        """Within it lines are indented; if there are none it is `pass`."""
        count = len(self.lines)
        self.level += 1
        yield
        if len(self.lines) == count:
            self.add('pass')
        self.level -= 1

    def failed(self, *lines):
        """Add the end of a `try` that calls user code, and lines for what it has raised, `failure`. They aren't in the
        `except`: what a `finalize` finds in sys.exc_info(), and SQLite's error as its context, is the caller's."""
        self.add('    failure = None',
                 'except BaseException as error:',
                 '    failure = error',
                 'if failure is not None:',
                 *['    ' + line for line in lines])

    def text(self):
        """The source (str)."""
        return '\n'.join(self.lines) + '\n'


class Part:
    """A run of opcodes; see the module's docstring.

    Attributes:
        code: the Code.
        order: pcs of the opcodes, ascending.
        before, after: by pc, the forms of registers needed before and after that opcode (dicts).
        results: by pc, the registers that have there what the program's functions return, and nothing else (dict).
    """

    def __init__(self, code, order):
        """Take the Code and the pcs."""
        self.code = code
        self.loop = code.loop
        self.ops = code.loop.ops
        self.source = code.source
        self.order = [pc for pc in order if pc not in self.loop.skipped]
        self.results = self._find_results()
        self.before = {}
        self.after = {}
        for position in range(len(self.order) - 1, -1, -1):
            pc = self.order[position]
            self._find_needs(pc, self.order[position + 1:position + 2])

    def _find_results(self):
        """Return `results`: along each way to an opcode, the last writer of the register is a function in Python, or a
        copy of what one has returned."""
        loop = self.loop
        if not any(self.ops[pc].opcode in FUNCTIONS for pc in self.order):
            return {}
        found: dict = {}
        fallen: set = set()     # of the opcode before, if it can fall through
        for pc in self.order:
            op = self.ops[pc]
            here = found[pc] = found.get(pc, fallen) & fallen
            after = here - loop.flow.writes[pc]
            if pc in loop.merged or op.opcode in NOTHING:
                after = here
            elif op.opcode in COPIES:
                after |= {target for source, target in copied(op) if source in here} - loop.fields
            elif op.opcode in FUNCTIONS and pc in loop.python and pc not in loop.in_c:
                after |= loop.flow.writes[pc] - loop.fields
            if op.opcode in JUMPS:
                landing = self._landing(op.p2)
                found[landing] = found.get(landing, after) & after
            fallen = found.get(pc + 1, set()) if op.opcode in _ALWAYS_JUMP else after
        return found

    def _find_needs(self, pc, following):
        """Set `before` and `after` of an opcode from those of its successors."""
        op = self.ops[pc]
        successors = [] if op.opcode in _ALWAYS_JUMP else list(following)
        if op.opcode in JUMPS:
            successors.append(self._landing(op.p2))
        after: dict = {}
        for successor in successors:
            for register, forms in self.before.get(successor, {}).items():
                after[register] = after.get(register, 0) | forms
        self.after[pc] = after
        self.before[pc] = before = dict(after)
        loop = self.loop
        if pc in loop.merged or op.opcode in NOTHING:
            return
        moved: dict = {}
        if op.opcode in COPIES:
            for source, target in copied(op):
                forms = after.get(target, 0) | (W if target in loop.fields else 0)
                moved[source] = moved.get(source, 0) | forms
        for register in loop.flow.writes[pc]:
            before.pop(register, None)
        for register, forms in moved.items():
            before[register] = before.get(register, 0) | forms
        form = V if op.opcode in _USE_V else 0
        if op.opcode in _USE_W:
            form = W
        for register in loop.flow.reads[pc] - loop.accumulators:
            forms = self.form_for_c(register, pc) if pc in loop.in_c else form
            if forms:
                before[register] = before.get(register, 0) | forms

    def form_for_c(self, register, pc):
        """In which form a register is given to C at `pc`: as it is made. What the program's functions return is
        Python's; as a W_Value a text is copied once more: count(f(s)) took 7 times as long."""
        return V if self.returned(register, pc) else W

    def returned(self, register, pc):
        """Whether a register has at `pc` what the program's functions return, and nothing else (bool)."""
        return register in self.results.get(pc, ())

    def bytes_type(self, register, pc, kind):
        """The name of the type that a register's W_Value has at `pc` if it is a 'Text' or 'Blob' (kind)."""
        return ('Returned' if self.returned(register, pc) else 'W_') + kind

    def for_c(self, register, pc):
        """The expression for a register's value in that form."""
        return 'v%d' % register if self.form_for_c(register, pc) == V else self.w(register)

    def emit(self, emitters):
        """Emit all opcodes; `emitters` has a function of (part, pc, op) by opcode."""
        source = self.source
        landings = {pc: self._landing(self.ops[pc].p2) for pc in self.order if self.ops[pc].opcode in JUMPS}
        inner = set(landings.values()) - self.loop.exits - {self.loop.end}
        if inner:
            source.add('label = 0')     # the opcodes before this one are skipped
        blocks: list = []
        fresh = True
        for pc in self.order:
            if fresh or pc in inner:
                blocks.append([])
            blocks[-1].append(pc)
            fresh = landings.get(pc) in inner
        pending = 0
        for block in blocks:
            if pending > block[0]:
                source.add('if label <= %d:' % block[0])
                with source.block():
                    self._emit_block(block, emitters)
            else:
                self._emit_block(block, emitters)
            landing = landings.get(block[-1], -1)
            if landing in inner:
                pending = max(pending, landing)

    def _landing(self, target):
        """Where a jump to `target` goes on in this part: C has done opcodes, perhaps the target itself, which aren't
        emitted. Behind the last one, that is the target."""
        if target == self.loop.end or target in self.loop.exits:
            return target
        return next((pc for pc in self.order if pc >= target), target)

    def _emit_block(self, block, emitters):
        for pc in block:
            if pc in self.loop.in_c:
                emitters['in C'](self, pc, self.ops[pc])
            elif pc not in self.loop.merged:
                emitters[self.ops[pc].opcode](self, pc, self.ops[pc])

    # Registers

    def w(self, register):
        """The expression for a register's W_Value."""
        if register in self.loop.fields:
            return 'self.c%d' % register
        if register in self.loop.written:
            return 'w%d' % register
        return self.code.preset('k', register, 'w')

    def data(self, register, pc):
        """The expression for the bytes of a register that holds a text or blob at `pc`."""
        if self.returned(register, pc):
            return self.w(register) + '.data'
        if register in self.loop.written:
            return 'data_at({0}.address, {0}.size)'.format(self.w(register))
        return self.code.preset('k', register, 'b')

    def v(self, register, pc):
        """The expression for a register's Python value, for the opcode at `pc`."""
        if register in self.loop.fields:
            self.source.add('v%d = unwrapped(self.c%d)' % (register, register))
            self.check(pc, 'v%d' % register)
        elif register not in self.loop.written:
            return self.code.preset('k', register, 'v')
        return 'v%d' % register

    def check(self, pc, name):
        """Emit that a text that isn't UTF-8 is left to C."""
        self.branch('%s is UNDECODABLE' % name, self.bail_out(pc))

    def needed(self, pc, register):
        """Which forms of a register the opcode at `pc` has to set."""
        return W if register in self.loop.fields else self.after[pc].get(register, 0)

    def set_w(self, register, expression):
        """Emit the setting of a register's W_Value."""
        if register in self.loop.fields:
            self.source.add('self.c%d = private(%s)' % (register, expression))
        else:
            self.source.add('w%d = %s' % (register, expression))

    def computed(self, pc, register, expression, number=False):
        """Emit the setting of a register from a W_Value; `number`: or NULL, but no text."""
        need = self.needed(pc, register)
        if need & V and not number:
            # Not in v...: that may be the operand, as of a Cast, with which C goes on where the check fails.
            self.source.add('y = unwrapped(%s)' % expression)
            self.check(pc, 'y')
            self.source.add('v%d = y' % register)
        if need & W:
            self.set_w(register, expression)
        if need & V and number:
            self.source.add('v%d = unwrapped(%s)' % (register, expression))

    def spills(self, pc):
        """The expression for the registers that C needs to go on at `pc`: a tuple."""
        return self.spilled(pc, self.loop.flow.live[pc] if pc < len(self.loop.flow.live) else ())

    def spilled(self, pc, registers):
        """The expression for those of the registers that the loop has written before `pc`."""
        found = []
        if registers:
            for register in sorted(registers & self.loop.written):
                forms = self.before.get(pc, {}).get(register, 0)
                if register in self.loop.fields:
                    found.append('(%d, self.c%d), ' % (register, register))
                elif forms & W:
                    found.append('(%d, w%d), ' % (register, register))
                elif forms & V:
                    found.append('(%d, v%d), ' % (register, register))
        return '(%s)' % ''.join(found)

    # Jumps

    def branch(self, condition, lines):
        """Emit lines that run under a condition."""
        self.source.add('if %s:' % condition)
        with self.source.block():
            self.source.add(*lines)

    def jump(self, pc, target):
        """The lines of a jump from the opcode at `pc` to `target`."""
        if target == self.loop.end:
            return self.reject(pc)
        if target in self.loop.exits:
            return self.side_exit(target)
        return ['label = %d' % self._landing(target)]

    def reject(self, pc):
        """The lines that go on with the next row, from the opcode at `pc`."""
        raise NotImplementedError

    def side_exit(self, pc):
        """The lines that go on in C with the opcode at `pc`."""
        raise NotImplementedError

    def bail_out(self, pc):
        """The lines that leave the opcode at `pc`, which has changed nothing, to C."""
        return self.side_exit(pc)


class Selecting(Part):
    """The selecting part: it runs over all rows of a batch, in a loop."""

    def reject(self, pc):
        """Go on with the next row."""
        return [*self.code.taken(pc, 'i', 'SELECTING'), 'continue']

    def side_exit(self, pc):
        """End the batch before this row, which leaves the loop."""
        return ['self.stop_pc = %d' % pc, 'self.stop_row = i', 'break']

    def bail_out(self, pc):
        """End the batch before this row, which C does from its beginning."""
        return self.side_exit(self.loop.head)


class InRow(Part):
    """A row of the ROWS shape, up to its ResultRow."""

    def reject(self, pc):
        """Never: such loops have another shape."""
        raise AssertionError('a row is rejected behind the slice')

    side_exit = reject

    def bail_out(self, pc):
        """C does the whole row."""
        return ['return self.to_c(i)']


class AfterRow(Part):
    """What follows the ResultRow of the ROWS shape; `row` has been made."""

    def reject(self, pc):
        """Never: such loops have another shape."""
        raise AssertionError('a row is rejected behind its result')

    def side_exit(self, pc):
        """Go on in C, and hand the row out."""
        return ['self.side_exit(%d, i, %s)' % (pc, self.spills(pc)), 'return row']


class Ahead(Part):
    """A row of the other shapes."""

    def reject(self, pc):
        """Go on with the next row."""
        return [*self.code.taken(pc, self.code.noted), 'continue']

    def side_exit(self, pc):
        """Go on in C."""
        return ['return self.side_exit(%d, i, %s)' % (pc, self.spills(pc))]


class AfterAhead(Part):
    """What follows the ResultRow of the AHEAD shape, in a function of its own."""

    def reject(self, pc):
        """Go on with the next row."""
        return ['return True']

    def side_exit(self, pc):
        """Go on in C."""
        return ['self.side_exit(%d, self.i, %s)' % (pc, self.spills(pc)), 'return False']
