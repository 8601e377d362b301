"""Generates the Python class of a slice with a sink (sinks.py)."""

from pypy_module.inline.codegen import datum
from pypy_module.inline.codegen.slices import SliceCode, SlicePart
from pypy_module.inline.codegen.emit import V
from pypy_module.inline.runtime.sinks import SinkRunner


class SinkPart(SlicePart):
    """The opcodes before the sink, and the values for it, which stand in its first opcode's place."""

    def _find_needs(self, pc, following):
        """See Part."""
        if pc != self.loop.sink_pc:
            super()._find_needs(pc, following)
            return
        self.after[pc] = {}
        self.before[pc] = {register: V for register in self.loop.cells}
        self.at_load[pc] = {}

    def _emit_block(self, block, emitters):
        """See Part."""
        if block[-1] != self.loop.sink_pc:
            super()._emit_block(block, emitters)
            return
        super()._emit_block(block[:-1], emitters)
        self.at = self.loop.sink_pc
        self.hand_over()

    def hand_over(self):
        """Emit what puts the values into the row's words."""
        source = self.source
        place = self.loop.row_word
        # The statement may have been ended inside a call: the row's words are no longer ours.
        source.add('if self.left:', '    return')
        for number, register in enumerate(self.loop.cells):
            at = 'i + %d' % self.loop.word_of(number)
            x = self.v(register, self.loop.sink_pc)
            datum.store(source, at, x)
        source.add('WORDS[i + %d] = 1' % place)
        if self.loop.cells:
            source.add('if self.crowded and not self.crowded_out(i):', '    return')


class SinkCode(SliceCode):
    """Makes the class for one SinkSlice."""

    part = SinkPart
    run_base = 'SinkRunner'

    def __init__(self, sliced):
        """See SliceCode."""
        super().__init__(sliced)
        self.names['SinkRunner'] = SinkRunner
