"""What the inliner knows of a statement: which of its loops it can take over, and the classes made for them.

The analysis depends on the bytecode, the calls of user code and what is switched off, so statements with the same share
it (`Shapes`), and with it the machine code. What is of one statement alone is its Known.
"""

import weakref
from _thread import RLock

from c_engine.generated import layout, opcodes
from pypy_module.dbapi.statements import variety
from pypy_module.ffi.library import address_of
from pypy_module.inline.analysis import switches
from pypy_module.inline.analysis.calls import Calls
from pypy_module.inline.analysis.effects import PURE, REVERSIBLE, Aheads
from pypy_module.inline.analysis.kinds import AGGREGATE_STEPS
from pypy_module.inline.analysis.filters import FILTER, FilterLoop
from pypy_module.inline.analysis.scan import RUN, Flow, Refused, loops
from pypy_module.inline.analysis.sinks import WITH_SINK, SinkSlice
from pypy_module.inline.analysis.slices import slices
from pypy_module.inline.analysis.windows import window_log as window_log_of
from pypy_module.inline.runtime.trace import Seen
from pypy_module.inline.state import state_of
from sqpyte.vm.base import mem
from sqpyte.vm.program.decode import program_of
from sqpyte.vm.program.interner import free_constants, interner

FEW = 10                # batches up to a write that don't pay for going back to C and coming again:
MOST_SPOILT = 8         # then C does twice as many rows as the last time, and so on, so often
DESCRIPTIONS = {
    'rows': 'its rows are computed in the program that asks for them',
    'ahead': 'its rows are computed in the program that asks for them, one ahead',
    'run': 'it runs as one loop in Python',
    FILTER: 'it runs as one loop in Python; of rows that pass C does the rest',
}

CALLS = {
    'ahead': 'they run in the program that asks for the rows, which C computes up to there',
    'run': 'they run as one loop in Python, over rows that C computes up to there',
    WITH_SINK: 'they run as one loop in Python, over rows that C computes up to there; what they return '
          'it stores, for many rows in one call',
}

WINDOW_LOGS = {
    PURE: 'they run in the program that asks for the rows, which C runs ahead without them',
    REVERSIBLE: 'they run in the program that asks for the rows, which C runs ahead without them, rolled back '
                'where it matters',
}

WAYS = {
    PURE: 'its rows are computed ahead in C, many in one call',
    REVERSIBLE: 'its rows are computed ahead in C, many in one call, and rolled back where it matters',
}


# A function of SQLite's that C does by a call of its own costs half a microsecond more than in C's loop, and a call of
# user code in C's loop a quarter more than in Python's. A step of an aggregate of SQLite's own is done in Python most
# often; of another one it costs nothing more.
CALLS_AN_OPCODE = 2


class Shapes:
    """The loops of one program, and the classes made for them.

    Attributes:
        program: the Program, whose constants the classes have by their addresses.
        found: list of (pc of the Next, Loop or None, reason).
        aheads: the Aheads.
        slices: list of (pc of the first call, pc of the Next, Slice or None, reason), for loops that
            can't be inlined as a whole.
        window_log: the WindowLog of a program that has window functions written in Python, or None.
        why_no_window_log: why there is none (str), '' if there are no such functions.
        mostly_in_c: a Loop or a Slice has so many opcodes that C does one at a time, for its calls of user code, that
            it is faster where C does all of it (bool).
        classes: by the head of a loop, slice or window log, its class (dict).
        seen: what trace.py knows of rows that C has computed ahead (Seen).
        varieties: their kinds (list of two ints: variety.py).
    """

    def __init__(self, program, calls, off=()):
        """Analyse a program (Program) with its Calls; `off`: what is switched off (tuple of str)."""
        self.program = program
        flow = Flow(program.ops)
        self.found = switches.without_page_batches(loops(program, flow, calls), off)
        self.aheads = Aheads(program, calls)
        self.slices = []
        inlined = {end for end, loop, _ in self.found if loop is not None}
        if calls.python:
            self.slices = [sliced for sliced in slices(program, flow, self.aheads, SinkSlice)
                         if sliced[1] not in inlined]
            self._find_filters(program, flow, calls)
        self.window_log, self.why_no_window_log = None, ''
        if calls.results and any(program.ops[pc].opcode == opcodes.OP_AggValue
                                 for pc in calls.results):
            self.window_log, self.why_no_window_log = window_log_of(program, flow, self.aheads)
        switches.leave_out(self, off)
        parts = [loop for _, loop, _ in self.found] + [sliced for _, _, sliced, _ in self.slices]
        steps = {pc for pc, op in enumerate(program.ops) if op.opcode in AGGREGATE_STEPS}
        self.mostly_in_c = any(part is not None and len(part.in_c - steps) * CALLS_AN_OPCODE > len(part.python)
                               for part in parts)
        self.classes: dict = {}
        when_gone(self, strip, self.classes)
        self.seen = Seen()
        self.varieties = [0, variety.before()]


    def _find_filters(self, program, flow, calls):
        """Put a FilterLoop in the place of a loop that can neither be inlined nor sliced."""
        left = {end for _, end, sliced, _ in self.slices if sliced is None}
        for number, (end, loop, _) in enumerate(self.found):
            if loop is None and end in left:
                try:
                    self.found[number] = end, FilterLoop(program, flow, calls, end, self.aheads), ''
                except Refused:
                    continue
                self.slices = [sliced for sliced in self.slices if sliced[1] != end]


def when_gone(thing, function, argument):
    """Have a function called with an argument once nobody has `thing` any more; not at the end of the process."""
    weakref.finalize(thing, function, argument).atexit = False      # type: ignore[misc]


def strip(classes):
    """Take from classes (dict of classes) what they lead to: the analysis, their source and namespace. Nobody has their
    Shapes any more, so nothing runs them; but PyPy's JIT never forgets where loops were, and so the classes.

    Without this each text of a statement that was inlined took 200 KB for ever, with it 32.
    """
    for made in classes.values():
        made.loop = None
        made.source = ''
        vars(made.module).clear()


# One thread at a time: the VM, whose code decodes, is entered by one only. A signal's handler may come amid that.
ANALYSING = RLock()
# (number of the program, key of the calls, what is switched off) -> Shapes, those that were asked for last at the end.
_shapes: dict = {}
MOST_SHAPES = 128       # that are kept without a statement that has them: each may take 200 KB with its machine code


def shapes_of(program, calls):
    """The Shapes of a program (Program) with its Calls."""
    key = program.number, calls.key, switches.off()
    found = _shapes.pop(key, None) or Shapes(program, calls, key[2])
    _shapes[key] = found
    if len(_shapes) > MOST_SHAPES:
        oldest = list(_shapes)[0]
        if _shapes.pop(oldest, None) is not None:
            leave_out(oldest[0])
    return found


def leave_out(number):
    """Have the program of a number (int), if there is one, decoded anew when it is next asked for. It stays whole for
    who has it; then its raw memory is freed."""
    program = interner.get(number)
    if program is not None:
        interner.leave_out(program)
        when_gone(program, free_constants, program.addresses)


def compilations(statement):
    """How often a statement has been compiled again, as C has it (int): what is known of an earlier program is nothing.

    The Statement itself learns of it behind a run, and a run may fail.
    """
    return mem.i32(address_of(statement.pointer) + layout.Vdbe_aCounter + 4 * layout.SQLITE_STMTSTATUS_REPREPARE)


class Known:
    """What the inliner knows of one statement: the shapes of its program, and its calls.

    Attributes:
        calls: its Calls; shapes: the Shapes of its program.
        compilations: how often the statement had been compiled again (int).
        spoilt: how often in a row a write has come soon after its rows were computed ahead (int).
        poor: how often there was no second row to be computed ahead, many times one after the other (int).
    """

    def __init__(self, statement):
        """Analyse the statement."""
        vdbe = address_of(statement.pointer)
        self.compilations = compilations(statement)
        self.spoilt = self.poor = 0
        with ANALYSING:
            program = program_of(vdbe)
            self.calls = Calls(vdbe, program.ops)
            self.shapes = shapes_of(program, self.calls)

    def spoil(self, batches):
        """Note that what C had run ahead was rolled back, after so many batches (int).

        Returns:
            how often its tier_up is to be doubled until the statement is looked at again (int).
        """
        self.spoilt = min(self.spoilt + 1, MOST_SPOILT) if batches < FEW else 0
        return self.spoilt

    def impoverish(self):
        """Note that no second row could be computed ahead; return what `spoil` does."""
        self.poor = min(self.poor + 1, MOST_SPOILT)
        return self.poor

    def has_loops(self):
        """Whether any loop can be inlined, or rows computed ahead."""
        return (any(loop is not None for _, loop, _ in self.shapes.found)
                or any(sliced is not None for _, _, sliced, _ in self.shapes.slices)
                or self.shapes.window_log is not None
                or any(type(ahead) is not str for ahead in self.shapes.aheads.found.values()))

    def ahead_at(self, pc):
        """The Ahead for a statement that is at this pc after a row, or None."""
        ahead = self.shapes.aheads.found.get(pc)
        return None if type(ahead) is str else ahead

    def window_log_at(self, pc):
        """The WindowLog, if a statement that is at this pc is in its part of the program, or None."""
        found = self.shapes.window_log
        return found if found is not None and pc in found.reached else None

    def is_deferred(self, pc):
        """Whether the opcode at this pc is done in Python, though its loop is in C."""
        window_log = self.shapes.window_log
        return (window_log is not None and pc in window_log.deferred
                or any(sliced is not None and pc in sliced.captures for _, _, sliced, _ in self.shapes.slices))

    def loop_at(self, pc):
        """The Loop that holds this pc, or None."""
        for end, loop, _ in self.shapes.found:
            if loop is not None and loop.head <= pc <= end:
                return loop
        return None

    def loop_with_user_code(self):
        """The first Loop that calls functions written in Python, or None.

        What comes before it has no loop that C would have to run opcode by opcode to get there.
        """
        for end, loop, _ in self.shapes.found:
            if loop is None and self.loop_at(end) is None:
                return None
            if loop is not None and loop.python:
                return loop
        return None

    def slice_at(self, pc):
        """The Slice of the loop that holds this pc; else one that no row leaves; or None.

        Args:
            pc: where the statement is (int), None before the first row.
        """
        found = None
        for _, _, sliced, _ in self.shapes.slices:
            if sliced is not None:
                if pc is None or sliced.bounds.start <= pc <= sliced.bounds.stop:
                    return sliced
                if sliced.shape == RUN and found is None and pc in sliced.around:
                    found = sliced
        return found

    def slice_behind(self, reached):
        """The first Slice at one of the pcs `reached` (set), or None."""
        for _, _, sliced, _ in self.shapes.slices:
            if sliced is not None and sliced.head in reached:
                return sliced
        return None

    def class_for(self, loop, code):
        """The class for a Loop, Slice or WindowLog of this one's, made by `code` (a ClassCode) if there is none yet."""
        classes = self.shapes.classes
        if loop.head not in classes:
            classes[loop.head] = code(loop).build()
        return classes[loop.head]

    def sources(self, loop):
        """The source of the class for a Loop, Slice or WindowLog: a list of one str, or of none."""
        made = self.shapes.classes.get(loop.head)
        return [] if made is None else [made.source]

    def explained(self):
        """What `explain` in tiers.py is to return."""
        reasons, details = [], []
        places = {}
        for pc, ahead in sorted(self.shapes.aheads.found.items()):
            if self.loop_at(pc) is None and not self.is_deferred(pc - 1):
                reasons.append('rows at %d: %s' % (
                    pc - 1, ahead if type(ahead) is str else WAYS[ahead.way]))
                if type(ahead) is not str:
                    places[pc - 1] = 'ahead'
        for end, loop, reason in self.shapes.found:
            if loop is None:
                if self.loop_at(end) is None:       # else it is in a filter's rest
                    reasons.append('loop at %d: %s' % (end, reason))
                continue
            details += self.sources(loop)
            places.update((pc, 'in C' if pc in loop.in_c else 'python') for pc in [*loop.inside, loop.end])
            reasons.append('loop at %d: %s' % (loop.head, DESCRIPTIONS[loop.shape]))
        found = self.shapes.window_log
        if found is not None:
            details += self.sources(found)
            places.update((deferred, 'python') for deferred in found.deferred)
            reasons.append('window functions at %d: %s' % (found.python[0], WINDOW_LOGS[found.way]))
        elif self.shapes.why_no_window_log:
            reasons.append('window functions: ' + self.shapes.why_no_window_log)
        for pc, _, sliced, reason in self.shapes.slices:
            if found is not None and pc in found.deferred:
                continue
            if sliced is None:
                reasons.append('call at %d: %s' % (pc, reason))
                continue
            details += self.sources(sliced)
            places.update((deferred, 'in C' if deferred in sliced.in_c else 'python') for deferred in sliced.mine)
            reasons.append('calls at %d: %s' % (pc, CALLS[kind_of(sliced)]))
        if not reasons:
            reasons.append('it has no loop over a table')
        return self.has_loops(), '; '.join(reasons), '\n'.join(details), places


def kind_of(sliced):
    """The shape of a Slice, or WITH_SINK."""
    return WITH_SINK if type(sliced) is SinkSlice else sliced.shape


def known(statement):
    """The Known of a statement."""
    state = state_of(statement)
    if state.known is None or state.known.compilations != compilations(statement):
        state.known = Known(statement)
    return state.known
