"""What the inliner emits for each opcode.

An emitter takes (part, pc, op).  It either sets all registers that the opcode writes, in the forms
needed, or leaves the opcode to C with `part.bail_out(pc)`, having changed nothing.
"""

from c_engine.generated import layout, opcodes
from pypy_module.ffi.library import NUMBERS
from pypy_module.inline.analysis.kinds import AGGREGATE_STEPS
from pypy_module.inline.analysis.scan import ROWID, RUN, copied
from pypy_module.inline.codegen import comparisons, datum
from pypy_module.inline.codegen.emit import V, W
from pypy_module.inline.values import HIGHEST, LOWEST, UNDECODABLE, unwrapped
from sqpyte.vm.opcodes.compute import affinity_is_trivial
from sqpyte.vm.values.values import NULL, W_Int, W_Real, row_origin

EMITTERS: dict = {}     # opcode -> emitter

MISSING = NUMBERS['SQPYTE_MISSING']
FUNCTION_FAILED = 'user-defined function raised exception'


def emits(*names):
    """Decorator: enters the emitter of the opcodes with these names."""
    def enter(emitter):
        for name in names:
            EMITTERS[getattr(opcodes, 'OP_' + name)] = emitter
        return emitter
    return enter


def affinity(w, code):
    """The value with an affinity (a character's code) applied; None if C has to do it."""
    if not affinity_is_trivial(w, code):
        return None
    if code == layout.SQLITE_AFF_REAL and type(w) is W_Int:
        return W_Real(float(w.intval))
    return w


@emits('Column')
def column(part, pc, op):
    """A datum of the batch's row; the column's default where the record is too short for it."""
    need = part.needed(pc, op.p3)
    if not need:
        return
    v, w = 'v%d' % op.p3, 'w%d' % op.p3
    number = part.loop.values.index(op.p2)
    datum.load(part.source, 'i', 2 * number, v=v if need & V else None, w=w if need & W else None,
               origin=row_origin(part.loop.cursor), undecodable=part.bail_out(pc),
               further=[(MISSING, missing(part, pc, op, need))])
    if need & W and op.p3 in part.loop.fields:
        part.set_w(op.p3, w)


def missing(part, pc, op, need):
    """The lines that set a Column's register to the column's default, in the forms needed, or leave it to C."""
    default = op.w_p4
    if type(default) is W_Int and op.p2 in part.loop.reals:
        default = W_Real(float(default.intval))
    if default is None or need & V and unwrapped(default) is UNDECODABLE:
        return part.bail_out(pc)
    lines = []
    if need & V:
        lines.append('v%d = %s' % (op.p3, part.code.constant(unwrapped(default), 'v%d' % pc)))
    if need & W:
        lines.append('w%d = %s' % (op.p3, part.code.constant(default, 'w%d' % pc)))
    return lines


@emits('Rowid')
def rowid(part, pc, op):
    """The last value of the batch's row."""
    need = part.needed(pc, op.p2)
    word = 'WORDS[i + %d]' % (2 * part.loop.values.index(ROWID) + 1)
    if need & W:
        part.set_w(op.p2, 'W_Int(%s)' % word)
    if need & V:
        part.source.add('v%d = %s' % (op.p2, word))


@emits('Integer', 'Int64', 'Real', 'String')
def constant(part, pc, op):
    """A constant."""
    set_constant(part, pc, op.p2, op.w_p4)


@emits('Null')
def null(part, pc, op):
    """NULL, in one register or several."""
    for register in range(op.p2, max(op.p2, op.p3) + 1):
        set_constant(part, pc, register, NULL)


def set_constant(part, pc, register, w):
    """Emit the setting of a register to a constant W_Value."""
    need = part.needed(pc, register)
    if need & W:
        part.set_w(register, 'NULL' if w is NULL else part.code.constant(w, 'w%d' % pc))
    if need & V:
        part.source.add('v%d = %s' % (
            register, 'None' if w is NULL else part.code.constant(unwrapped(w), 'v%d' % pc)))


@emits('Variable')
def variable(part, pc, op):
    """A bound parameter, which doesn't change while the statement runs."""
    need = part.needed(pc, op.p2)
    if need & W:
        part.set_w(op.p2, part.code.preset('q', op.p1, 'w'))
    if need & V:
        part.source.add('v%d = %s' % (op.p2, part.code.preset('q', op.p1, 'v')))


@emits('Copy', 'SCopy', 'Move')
def copy(part, pc, op):
    """Both forms of the registers, as far as they are needed."""
    for source, target in copied(op):
        need = part.needed(pc, target)
        if need & V:
            part.source.add('v%d = %s' % (target, part.v(source, pc)))
        if need & W:
            part.set_w(target, part.w(source))
    if op.opcode == opcodes.OP_Move:
        targets = {target for _, target in copied(op)}
        for source, _ in copied(op):
            if source not in targets:
                set_constant(part, pc, source, NULL)


@emits('RealAffinity')
def real_affinity(part, pc, op):
    """An integer becomes a real; most such opcodes are merged into the batch's column."""
    part.source.add('x = affinity(%s, %d)' % (part.w(op.p1), layout.SQLITE_AFF_REAL))
    part.source.add('if x is None:', '    x = ' + part.w(op.p1))
    part.computed(pc, op.p1, 'x')


@emits('Affinity')
def affinities(part, pc, op):
    """Affinities on a range of registers."""
    for i in range(op.p2):
        part.source.add('x%d = affinity(%s, %d)' % (i, part.w(op.p1 + i), ord(op.text_p4[i])))
        part.branch('x%d is None' % i, part.bail_out(pc))
    for i in range(op.p2):
        part.computed(pc, op.p1 + i, 'x%d' % i)


# Opcodes whose function in sqpyte.vm.values.arith gives the result: its name.
ARITHMETIC = {getattr(opcodes, 'OP_' + _name.capitalize()): _name
              for _name in ('add', 'subtract', 'multiply', 'divide', 'remainder')}


def _arithmetic(name):
    @emits(name.capitalize())
    def arithmetic(part, pc, op):
        part.source.add('x = %s(%s, %s)' % (name, part.w(op.p1), part.w(op.p2)))
        part.branch('x is None', part.bail_out(pc))
        part.computed(pc, op.p3, 'x', number=True)
    arithmetic.__doc__ = 'The shared function %s.' % name


for _name in ARITHMETIC.values():
    _arithmetic(_name)


def _logic(name):
    @emits(name)
    def logic(part, pc, op):
        operands = [op.p1] if name == 'Not' else [op.p1, op.p2]
        part.source.add('x = logic_%s(%s)' % (
            name.lower(), ', '.join(part.w(register) for register in operands)))
        part.branch('x is None', part.bail_out(pc))
        part.computed(pc, op.p2 if name == 'Not' else op.p3, 'x', number=True)
    logic.__doc__ = 'Three-valued logic.'


for _name in ('And', 'Or', 'Not'):
    _logic(_name)


def _comparison(name):
    @emits(name)
    def comparison(part, pc, op):
        comparisons.emit(part, pc, op, name)
    comparison.__doc__ = 'A comparison; see comparisons.emit.'


for _name in comparisons.CONDITIONS:
    _comparison(_name)


@emits('IsNull', 'NotNull')
def is_null(part, pc, op):
    """A jump on NULL, or on anything else."""
    sign = 'is' if op.opcode == opcodes.OP_IsNull else 'is not'
    part.branch('%s %s NULL' % (part.w(op.p1), sign), part.jump(pc, op.p2))


@emits('If', 'IfNot')
def condition(part, pc, op):
    """A jump on a number's truth."""
    negated = op.opcode == opcodes.OP_IfNot
    if_null = int(op.p3 == 0) if negated else op.p3
    part.source.add('o = truth(%s, %d)' % (part.w(op.p1), if_null))
    part.branch('o == UNDECIDED', part.bail_out(pc))
    part.branch('not o' if negated else 'o', part.jump(pc, op.p2))


@emits('IfPos', 'DecrJumpZero', 'IfNotZero')
def counter(part, pc, op):
    """LIMIT and OFFSET: a counter that decides on a jump."""
    source = part.source
    if op.p1 in part.loop.counters:
        source.add('n = self.c%d' % op.p1)
    else:
        source.add('x = ' + part.w(op.p1))
        part.branch('type(x) is not W_Int', part.bail_out(pc))
        source.add('n = x.intval')

    def count(expression):
        if op.p1 in part.loop.counters:
            source.add('self.c%d = %s' % (op.p1, expression))
        else:
            part.set_w(op.p1, 'W_Int(%s)' % expression)
    if op.opcode == opcodes.OP_DecrJumpZero:
        source.add('if n > %d:' % -2 ** 63, '    n -= 1')
        count('n')
        part.branch('n == 0', part.jump(pc, op.p2))
        return
    taken = 'n > 0' if op.opcode == opcodes.OP_IfPos else 'n != 0'
    source.add('if %s:' % taken)
    with source.block():
        if op.opcode == opcodes.OP_IfPos:
            count('n - %d' % op.p3)
        else:
            source.add('if n > 0:')
            with source.block():
                count('n - 1')
        source.add(*part.jump(pc, op.p2))


@emits('Goto', 'Once')
def goto(part, pc, op):
    """A jump; a Once that has been done is one too."""
    part.source.add(*part.jump(pc, op.p2))


@emits('Noop', 'Explain', 'ReleaseReg', 'ClrSubtype', 'CollSeq')
def nothing(part, pc, op):
    """Nothing."""


@emits('ResultRow')
def result_row(part, pc, op):
    """The row: made at once, or kept until the next call."""
    names = [part.v(register, pc) for register in range(op.p1, op.p1 + op.p2)]
    part.code.result(names)


def arguments(part, pc, op):
    """The Python values of a call's arguments, as a list of expressions."""
    count = part.loop.calls.arguments[pc]
    return [part.v(register, pc) for register in range(op.p2, op.p2 + count)]


def conversion(name):
    """The code (list of str) that makes of what user code has returned, in a variable, what SQL makes of it: result_of
    in values.py, but numbers and None are dealt with here."""
    return ['kind = type(%s)' % name,
            'if kind is float:',
            '    if %s != %s:' % (name, name),
            '        %s = None' % name,
            'elif kind is int:',
            '    if not %d <= %s <= %d:' % (LOWEST, name, HIGHEST),
            '        raise out_of_range()',
            'elif %s is not None:' % name,
            '    %s = result_of(%s, self.most)' % (name, name)]


@emits('Function', 'PureFunc')
def function(part, pc, op):
    """A call of the user's function, with sqlite3's conversion of its result."""
    source = part.source
    values = arguments(part, pc, op)
    result = 'v%d' % op.p3
    source.add('self.inside = False', 'try:')
    with source.block():
        source.add('%s = self.f%d(%s)' % (result, pc, ', '.join(values)), 'self.inside = True')
        source.add(*conversion(result))
    source.failed('return self.failed(%d, failure, %r, self.f%d)' % (pc, FUNCTION_FAILED, pc))
    need = part.needed(pc, op.p3)
    if need & W:
        part.set_w(op.p3, 'wrapped(%s)' % result)
    handed(part, pc, op.p3, result)


@emits('AggStep', 'AggStep1')
def aggregate_step(part, pc, op):
    """A step of the user's aggregate, with its instance made at the first one."""
    source = part.source
    values = arguments(part, pc, op)
    name = 'a%d' % op.p3
    if part.loop.shape != RUN:
        source.add('%s = self.%s' % (name, name))
    source.add('if %s is None:' % name)
    with source.block():
        source.add('%s = self.instance(%d)' % (name, pc))
        source.add('if %s is None:' % name, '    return')
    source.add('message = "user-defined aggregate\'s \'step\' method not defined"')
    source.add('self.inside = False', 'try:')
    with source.block():
        source.add('method = %s.step' % name)
        source.add('message = "user-defined aggregate\'s \'step\' method raised error"')
        source.add('method(%s)' % ', '.join(values), 'self.inside = True')
    source.failed('return self.failed(%d, failure, message, self.f%d.made_by)' % (pc, pc))
    handed(part, pc, -1, None)


def left_to_c(part, pc, op):
    """The condition (str) on which C does an opcode; '' for always. A step of an aggregate of SQLite's own
    is done where C keeps the accumulator, which saves a call of 0.1 us. C does the first one, and those of texts."""
    if op.opcode not in AGGREGATE_STEPS or not op.aggregate or op.skip_register:
        return ''
    step = 'aggregate_step_of' if op.p5 and part.form_for_c(op.p2, pc) == V else 'aggregate_step'
    return '%s(self.memory + %d, %d, %s) == LEFT_TO_C' % (
        step, op.p3 * layout.sizeof_Mem, op.aggregate, part.for_c(op.p2, pc) if op.p5 else None)


def one_in_c(part, pc, op):
    """An opcode that only upstream has, in a loop that calls user code."""
    source = part.source
    flow = part.loop.flow
    stores = ['store(self.memory + %d, %s)' % (register * layout.sizeof_Mem, part.for_c(register, pc))
              for register in sorted(flow.reads[pc] & part.loop.written - part.loop.accumulators)]
    done = 'self.in_c(%d, %s)' % (pc, ' + '.join(stores) or '0')
    condition = left_to_c(part, pc, op)
    source.add('if %snot %s:' % (condition and condition + ' and ', done), '    return')
    written = flow.writes[pc] - part.loop.accumulators
    behind = 'return self.side_exit(%d, i, %s)' % (
        pc + 1, part.spilled(pc + 1, flow.live[pc + 1] - written))
    for register in sorted(written):
        source.add('x = self.loaded(%d)' % register)
        part.branch('x is None', [behind])
        part.computed(pc, register, 'x')


EMITTERS['in C'] = one_in_c


def handed(part, pc, register, result):
    """Emit that the statement goes on in C behind a call in which it was deoptimized."""
    spills = part.spills(pc + 1)
    if register >= 0 and '(%d, ' % register not in spills:
        spills = '%s(%d, %s), )' % (spills[:-1], register, result)
    part.branch('self.handed', ['return self.side_exit(%d, i, %s)' % (pc + 1, spills)])
