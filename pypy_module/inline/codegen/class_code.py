"""What the generated classes of loops, slices and window logs have in common: how they are made, and how rows leave.

A row that has been computed ahead is kept, as `pN`, until it is asked for: `__next__` returns it, once
`advance` has computed the one behind it.
"""

import types

from pypy_module.ffi.library import NUMBERS
from pypy_module.inline.codegen.emit import Source
from pypy_module.inline.runtime import trace

# A row that is computed is an sqlite3_step: what C does of it asks for the time anew (see sqpyteRunTo).
# Said for each row where opcodes of the row are C's, and may ask; elsewhere only where C goes on
# (Runner.begin_step).
STEP = 'BYTES[self.mid_step] = %d' % NUMBERS['SQPYTE_STEP_BEGUN']
# What `__next__` begins with; for `stale` see runner.py.
CHECK_STAMP = ('self.inside = True', 'if WORDS[self.live] != self.stamp:', '    return self.stale()')
# Between two rows of a loop that calls user code: another thread, or a signal's handler, may have interrupted it. A
# function that has closed the connection has left nothing to look at.
INTERRUPTED = ('elif self.left or INTS[self.interrupted]:', '    return self.interrupt()')


class ClassCode:
    """Makes one class.

    Class attributes:
        kind: what tracebacks call its source (str).
        base: name of the class that it is derived from (str).
        asks: an opcode of a row that C does may ask for the time (bool).

    Attributes:
        loop: the Loop, Slice or WindowLog.
        names: the namespace of the generated code (dict).
        source: the Source.
    """

    kind = 'loop'
    base = ''
    asks = False

    def __init__(self, loop, names):
        """Take the Loop, Slice or WindowLog, and what the code refers to (dict)."""
        self.loop = loop
        # PyPy caches the look-up of a name in the dict of a module, not in any other.
        self.module = types.ModuleType('pypy_module.inlined')
        self.names = vars(self.module)
        self.names.update(names)
        seen = trace.Seen()
        self.names.update(note=trace.note, batch_ended=trace.batch_ended,
                          SEEN=seen, WENT=seen.went, OTHERS=seen.others, **trace.CALLS)
        self.source = Source()

    def build(self):
        """Generate and compile; return the class."""
        self.source.add('class Loop(%s):' % self.base)
        with self.source.block():
            self.emit()
        text = self.source.text()
        exec(compile(text, '<%s at %d>' % (self.kind, self.place()), 'exec'), self.names)
        made = self.names['Loop']
        made.module = self.module
        made.loop = self.loop
        made.source = text
        self.finish(made)
        return made

    def place(self):
        """The pc that names the source (int)."""
        return self.loop.head

    def emit(self):
        """Emit the class's body."""
        raise NotImplementedError

    def finish(self, made):
        """Set what else the class has."""
        raise NotImplementedError

    def emit_row_kept(self, *first):
        """Emit `pending` and `__next__`; `first`: lines that come first in `__next__`."""
        pending = '(%s)' % ''.join('self.p%d, ' % n for n in range(self.loop.ops[self.loop.row].p2))
        self.source.add('def pending(self):',
                        '    return ' + pending,
                        'def __next__(self):',
                        *['    ' + line for line in first],
                        '    row = ' + pending,
                        *(['    ' + STEP] if self.asks else ()),
                        '    self.advance()',
                        '    return row')

    def emit_begun(self):
        """Emit what `advance` begins with where something follows a row: `after`."""
        self.source.add('if not self.begun:',
                        '    self.begun = True',
                        'elif not self.after():',
                        '    return')
