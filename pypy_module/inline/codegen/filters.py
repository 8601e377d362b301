"""Generates the Python class of a loop with a rest (analysis/filters.py)."""

from pypy_module.inline.codegen.emit import Ahead, V
from pypy_module.inline.codegen.scan import Code
from pypy_module.inline.runtime.filters import FilterRunner


class FilterPart(Ahead):
    """The opcodes before the rest, and what has C do it, which stands in its first opcode's place."""

    def _find_needs(self, pc, following):
        """See Part: a rest needs what it reads of the registers that the opcodes before have written."""
        loop = self.loop
        if pc != loop.rest:
            super()._find_needs(pc, following)
            return
        for place in loop.exits:
            self.before[place] = {register: self.form_for_c(register, place)
                                  for register in loop.flow.live[place] & loop.written}
        for register in loop.key:
            if register in loop.written:
                self.before[pc][register] = self.before[pc].get(register, 0) | V
        self.after[pc] = {}

    def _emit_block(self, block, emitters):
        """See Part."""
        pc = self.loop.rest
        super()._emit_block([other for other in block if other != pc], emitters)
        if block[-1] != pc:
            return
        if self.loop.key:
            names = [self.v(register, pc) for register in self.loop.key]
            # No blobs: a str is compared with one, and python -b warns of that.
            comparable = ' and '.join('type(%s) is not bytes' % name for name in names)
            key = names[0] if len(names) == 1 else '(%s)' % ', '.join(names)
            self.branch('%s and self.is_known(%s)' % (comparable, key), self.reject(pc))
        self.source.add(*self.side_exit(pc))

    def side_exit(self, pc):
        """Have C do the rest, from the opcode at `pc` on; outside of the loop go on in C."""
        if not self.loop.head <= pc < self.loop.end:
            return super().side_exit(pc)
        return [*self.code.taken(len(self.ops) + pc, self.code.noted),
                'if not self.rest_in_c(%d, %s):' % (pc, self.spills(pc)),
                '    return',
                'continue']


class FilterCode(Code):
    """Makes the class for one FilterLoop."""

    kind = 'filter'
    part = FilterPart

    def __init__(self, loop):
        """See Code."""
        super().__init__(loop)
        self.names['FilterRunner'] = FilterRunner
