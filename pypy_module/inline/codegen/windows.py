"""Generates the Python class of a window log (windows.py): what each of its events has Python do.

`advance` takes one event after the other, and returns at a row's. A row's events come in the order of the program, but
for a jump back from one opcode to another or two. So the code for all of them stands there one behind the other, and
that twice: most rows take no jump back, of which PyPy's JIT would make a loop of its own. `generic` has the rest.
"""

from c_engine.generated import opcodes
from pypy_module.dbapi import errors
from pypy_module.ffi import memory
from pypy_module.inline import values as inline_values
from pypy_module.inline.analysis.kinds import COPIES
from pypy_module.inline.analysis.scan import copied
from pypy_module.inline.analysis.windows import INVERSE, NULL, ROW, VALUE
from pypy_module.inline.codegen import datum
from pypy_module.inline.codegen.class_code import ClassCode
from pypy_module.inline.codegen.opcodes import ARITHMETIC, conversion
from pypy_module.inline.runtime.windows import WindowRunner
from sqpyte.vm.values import arith

ROUNDS = 2              # of events, without a loop
METHODS = ("user-defined aggregate's '%s' method not defined",
           "user-defined aggregate's '%s' method raised error")

NAMES = {'WindowRunner': WindowRunner}
for _module, _names in [(memory, 'WORDS INTS DOUBLES BYTES CHARS BASE unpack'),
                        (arith, ' '.join(ARITHMETIC.values())),
                        (errors, 'out_of_range'),
                        (inline_values, 'text_at result_of wrapped unwrapped KeptText UNDECODABLE')]:
    for _name in _names.split():
        NAMES[_name] = getattr(_module, _name)


class WindowCode(ClassCode):
    """Makes a class for one WindowLog.

    Attributes:
        window_log: the WindowLog.
    """

    kind = 'window log'
    base = 'WindowRunner'

    def __init__(self, window_log):
        """Take the WindowLog."""
        super().__init__(window_log, NAMES)
        self.window_log = window_log
        self.asks = bool(window_log.computed)

    def place(self):
        """See ClassCode."""
        return self.window_log.row

    def emit(self):
        """See ClassCode."""
        self.emit_row_kept('self.inside = True',
                           'if self.wary or WORDS[self.live] != self.stamp:',
                           '    return self.looked()')
        self._advance()
        self._generic()

    def finish(self, made):
        """See ClassCode."""
        made.spec = self.window_log.spec.address
        made.most_values = max([len(self.window_log.flow.reads[pc]) for pc in self.window_log.computed], default=0)

    def _advance(self):
        """Emit `advance`: to the next row."""
        source = self.source
        source.add('def advance(self):')
        with source.block():
            source.add('self.inside = self.busy = True',
                       'k = self.next',
                       'note(SEEN, 0, k)',
                       'n = WORDS[k]')
            for _ in range(ROUNDS):
                for number, pc in enumerate(self.window_log.deferred):
                    source.add('if n == %d:' % number)
                    with source.block():
                        self._event(pc)
            source.add('self.generic(k)')

    def _generic(self):
        """Emit `generic`: events in any order, and the next batch."""
        source = self.source
        source.add('def generic(self, k):')
        with source.block():
            source.add('n = WORDS[k]',
                       'while True:')
            with source.block():
                source.add('if n < 0:',
                           '    batch_ended(SEEN, self.next)',
                           '    if not self.refill():',
                           '        return',
                           '    k = self.next',
                           '    n = WORDS[k]')
                for number, pc in enumerate(self.window_log.deferred):
                    source.add('elif n == %d:' % number)
                    with source.block():
                        self._event(pc)

    def _event(self, pc):
        """Emit an event of the opcode at `pc`."""
        op = self.window_log.ops[pc]
        size = self.window_log.size(pc)
        kept = {register: number for number, register in enumerate(self.window_log.captures[pc])}
        if op.opcode == ROW:
            self._row(op, kept, size)
            return
        if op.opcode == NULL:
            self._null(pc, op, size)
        elif op.opcode == VALUE:
            self._value(pc, op, size)
        elif op.opcode in COPIES:
            self._copy(op, kept)
        elif pc in self.window_log.computed:
            self._compute(pc, op, kept)
        else:
            self._call(pc, op, kept, size)
        self.source.add('k += %d' % size, 'n = WORDS[k]')

    def _load(self, number, name, undecodable, text=datum.TEXT_AT):
        """Emit the loading of the event's value `number` into a variable; for the rest see datum.load."""
        datum.load(self.source, 'k', 1 + 2 * number, v=name, text=text, undecodable=undecodable)

    def _behind(self, pc, size):
        """Emit what is done behind a call of user code."""
        self.source.add('if self.handed or self.left or INTS[self.interrupted]:',
                        '    if self.deoptimized(%d, k + %d):' % (pc, size),
                        '        return')

    def _call(self, pc, op, kept, size):
        """Emit a step or an inverse; its instance is made at the first one."""
        source = self.source
        method = 'inverse' if op.opcode == INVERSE else 'step'
        values = []
        for n in range(self.window_log.calls.arguments[pc]):
            register = op.p2 + n
            if register in kept:
                values.append('v%d' % n)
                self._load(kept[register], 'v%d' % n, ['return self.undecodable(%d)' % pc])
            else:
                values.append('self.r%d' % register)
        name = 'self.a%d' % op.p3
        source.add('self.at = k',
                   'a = ' + name,
                   'if a is None:',
                   '    a = self.instance(%d)' % pc,
                   '    if a is None:',
                   '        return',
                   'message = "%s"' % (METHODS[0] % method),
                   'self.inside = False',
                   'try:',
                   '    method = a.' + method,
                   '    message = "%s"' % (METHODS[1] % method),
                   '    method(%s)' % ', '.join(values),
                   '    self.inside = True')
        source.failed('return self.failed(%d, failure, message, self.f%d.made_by)' % (pc, pc))
        self._behind(pc, size)

    def _value(self, pc, op, size):
        """Emit a value, with sqlite3's conversion of what is returned."""
        source = self.source
        source.add('a = self.a%d' % op.p1,
                   'if a is None:',
                   '    self.r%d = None' % op.p3,
                   'else:')
        with source.block():
            source.add('self.at = k',
                       'problem = "raised error"',
                       'self.inside = False',
                       'try:',
                       '    v = a.value()',
                       '    self.inside = True',
                       '    problem = None')
            with source.block():
                source.add(*conversion('v'))
            source.failed('return self.value_failed(%d, failure, problem)' % pc)
            source.add('self.r%d = v' % op.p3)
            self._behind(pc, size)

    def _null(self, pc, op, size):
        """Emit the end of accumulators, and of results."""
        for register in range(op.p2, max(op.p2, op.p3) + 1):
            if register in self.window_log.accumulators:
                self.source.add('if self.a%d is not None:' % register,
                                '    self.at = k',
                                '    if self.dropped(%d, k + %d, %d):' % (pc, size, register),
                                '        return')
            elif register in self.window_log.registers:
                self.source.add('self.r%d = None' % register)

    def _copy(self, op, kept):
        """Emit a copy."""
        pairs = copied(op)
        for source, target in pairs:
            if source in kept:
                self._load(kept[source], 'v', ['v = None'])
                self.source.add('self.r%d = v' % target)
            else:
                self.source.add('self.r%d = self.r%d' % (target, source))
        targets = {target for _, target in pairs}
        for source, _ in pairs:
            if op.opcode == opcodes.OP_Move and source not in targets:
                self.source.add('self.r%d = None' % source)

    def _compute(self, pc, op, kept):
        """Emit what is computed of results: arithmetic with numbers in Python, all else by the opcode in C."""
        source = self.source
        [result] = self.window_log.flow.writes[pc]
        source.add('self.at = k')
        if op.opcode not in ARITHMETIC:
            self._compute_in_c(pc, kept, result)
            return
        operands, conditions = [], []
        for n, register in enumerate((op.p1, op.p2)):
            operands.append('v%d' % n)
            if register in kept:
                self._load(kept[register], 'v%d' % n, ['v%d = b""' % n])
            else:
                source.add('v%d = self.r%d' % (n, register))
            conditions.append('(type(v{0}) is float or type(v{0}) is int or v{0} is None)'.format(n))
        source.add('if %s:' % ' and '.join(conditions),
                   '    self.r%d = unwrapped(%s(wrapped(v0), wrapped(v1)))' % (result, ARITHMETIC[op.opcode]),
                   'else:')
        with source.block():
            self._compute_in_c(pc, kept, result)

    def _compute_in_c(self, pc, kept, result):
        """Emit the opcode in C: its operands become datums, and its result is one."""
        source = self.source
        reads = sorted(self.window_log.flow.reads[pc])
        source.add('c = self.values', 'WORDS[c] = %d' % len(reads))
        for n, register in enumerate(reads):
            at = 3 * n + 2
            source.add('WORDS[c + %d] = %d' % (at - 1, register))
            if register in kept:
                place = 2 * kept[register] + 1
                source.add('WORDS[c + %d] = WORDS[k + %d]' % (at, place),
                           'WORDS[c + %d] = WORDS[k + %d]' % (at + 1, place + 1))
            else:
                source.add('x = self.r%d' % register)
                datum.store(source, 'c + %d' % at, 'x')
        source.add('if not self.in_c(%d, BASE + 8 * c, %d):' % (pc, result),
                   '    return')
        datum.load(source, 'c', 1, v='v', undecodable=['v = self.raw_text(x, t >> 3)'])
        source.add('self.r%d = v' % result)
        if set(reads) - set(kept):
            source.add('del self.operands[:]')

    def _row(self, op, kept, size):
        """Emit the row: it is kept until the next call."""
        for n in range(op.p2):
            register = op.p1 + n
            if register in kept:
                self._load(kept[register], 'v', ['v = self.surrogates(%d, x, t >> 3)' % n])
                self.source.add('self.p%d = v' % n)
            else:
                self.source.add('v = self.r%d' % register)
                if self.window_log.computed:
                    self.source.add('if type(v) is KeptText:', '    v = self.surrogates(%d, v.address, v.size)' % n)
                self.source.add('self.p%d = v' % n)
        self.source.add('self.at = k', 'self.next = k + %d' % size, 'self.busy = self.inside = False', 'return')
