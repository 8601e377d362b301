"""Keeps traces of loops to what most rows do, so that a loop is traced alike whichever row it is hot at.

PyPy's JIT traces one iteration of a loop when a counter is full.  Which row that is depends on other
loops' counters, on garbage collections and so on the length of a path or of the environment.  If it
is the last row of a batch, the trace goes on to the next batch, and the loop in machine code is that:
every other row leaves it by a guard, and goes on in a bridge, with calls and objects.  At 20 rows a
page this befell one process in 20, whose loops then took half as long again.  The same happens if it is
one of a few rows that a filter rejects.

The invariant: what few rows do (less than one in RARE) is a bridge, never a part of the loop.  Generated
code notes each row, which way through the code it has taken, and where a batch has ended.  What is rare
isn't known of the first FEWEST rows (PyPy may trace a loop at its second), so a trace of one of them is
given up too.  None of this leaves anything in machine code: PyPy calls what `not_from_assembler` returns
when it interprets and when it traces, and puts nothing into the trace.  So a row has been noted only if
it was interpreted or traced from its beginning.  If such a row goes a rare way, an exception is raised,
and caught at once: an interpreter doesn't mind, but a trace that a call of this kind raises in is given
up, and the next one begins about a thousand rows later.  If the row came from machine code, what is
traced is a bridge, and nothing is raised.

Nothing but builtins is called so.  Python runs a signal's handler between two instructions of a function of its
own, there, too, and PyPy's tracer, which doesn't see what the handler does, aborts the process.  What such a call
returns isn't seen either.  So what is to be raised is made of a set: the least of an empty one raises.

A program that goes a rare way in each of its own loop's iterations (it fetches the rows of a query by
single calls, say) would never be traced.  So a class of loops raises MOST times, and no more.

PyPy runs finalizers at the end of an iteration of whatever loop is running. If a collection ends while
a loop is traced, they are a part of it, and every other iteration leaves it by a guard. Imports leave objects
with finalizers (closed files, locks of modules), and the inliner is imported just before the first loop is
traced: one module too many, and in some folders it befell 22 of 30 processes, in others none. So finalizers are
run before, where a collection is cheap, and nothing is imported afterwards.

SQPYTE_WITHOUT=steady-traces switches all of it off.
"""

import codecs
import collections
import contextlib
import gc
import operator
import sys

from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import switched_off
from pypy_module.inline.residual import residual_call

NOWHERE = -1            # no row has this index
MOST = 10000            # how often a class of loops raises
RARE = 3                # a way that fewer than one of so many rows take is rare
FEWEST = 64             # rows that tell which ways are rare
CHEAP = 16 << 20        # bytes of old objects that are collected in some 10 ms
LEVELS = 3              # a text file has a buffer, which has a file: one finalizer a collection, from the outside in
KEPT = 1000             # rows whose way is kept until it is counted
COMMON = NOWHERE - 1    # no row's index either


class Way(list):
    """A way through the code: that of rows which the opcode at a pc rejects, or of those that reach the end. It has an
    item, COMMON, if it is known not to be rare.

    Attributes:
        taken: how many rows have taken it (int).
        rows: its only item: how many rows have taken any way of the same part of the code (list of int).
    """

    __slots__ = ('taken', 'rows')

    def __init__(self, rows):
        super().__init__()
        self.taken = 0
        self.rows = rows


class Seen(list):
    """What a class of loops has noted: the index of the row noted last, its only item.

    Attributes:
        left: how often it may still raise (int).
        others: a set for what is to be raised.
        went: the Ways of rows that haven't been counted (deque).
        ways: the Ways, by part and pc (dict); rows: what those of a part have as `rows` (dict).
    """

    __slots__ = ('left', 'others', 'went', 'ways', 'rows')

    def __init__(self):
        super().__init__([NOWHERE])
        self.left = MOST
        self.others = set()
        self.went: Any = collections.deque(maxlen=KEPT)
        self.ways = {}
        self.rows = {}

    def way(self, part, pc):
        """Return the Way of rows that end at the opcode at `pc` (int), in a part of the code (str)."""
        return self.ways.setdefault((part, pc), Way(self.rows.setdefault(part, [0])))

    def count_ways(self):
        """Count the rows that have been noted, and tell which ways are rare: none, once enough has been raised.

        Another thread may take what is left meanwhile: threads share their connections' classes of loops.
        """
        with contextlib.suppress(IndexError):
            for _ in range(len(self.went)):
                way = self.went.popleft()
                way.taken += 1
                way.rows[0] += 1
        for way in self.ways.values():
            rare = way.taken * RARE < way.rows[0] or way.rows[0] < FEWEST
            way[:] = [] if rare and self.left > 0 else [COMMON]

    def refused(self):
        """A trace has been given up, if there was one."""
        self[0] = NOWHERE
        self.left -= 1
        self.count_ways()


def _nothing(*_):
    """Note nothing, refuse nothing."""


def _outside_of_traces():
    """The decorator for what is called in no machine code (function), or None where there is no JIT
    that has it."""
    if switched_off('steady-traces'):
        return None
    try:
        from pypyjit import not_from_assembler
    except ImportError:
        return None
    return not_from_assembler


_decorator = _outside_of_traces()
# note(seen, 0, row): the row of this index is being done.
note = _decorator(operator.setitem) if _decorator else _nothing
BUILTINS = dict(passed=collections.deque.append, clear=set.clear, update=set.update, discard=set.discard, least=min)
CALLS = {name: _decorator(builtin) if _decorator else _nothing for name, builtin in BUILTINS.items()}
passed, clear, update, discard, least = CALLS.values()


def taken(way, row):
    """Return the lines of generated code that note which way a row has taken, and raise ValueError if it is the row
    noted last and the way is rare, or may be. The code has CALLS, a Seen and its attributes by the names below.

    They don't call a function: that would soon be machine code, and would note nothing any more, not even of rows
    that are interpreted.

    Args:
        way: the name of a Way (str).
        row: the row's index, as it was noted (str).
    """
    return ['try:', '    passed(WENT, %s)' % way, '    clear(OTHERS)', '    update(OTHERS, SEEN)',
            '    discard(OTHERS, %s)' % row, '    update(OTHERS, %s)' % way, '    least(OTHERS)',
            'except ValueError:', '    SEEN.refused()']


def batch_ended(seen, row):
    """Give up a trace that has come here from a row; to be called before the next batch is asked for.

    Args:
        seen: the Seen.
        row: index of the batch's last row, as it was noted (int).
    """
    if seen.left > 0:
        others = seen.others
        try:
            clear(others)
            update(others, seen)
            discard(others, row)
            least(others)
        except ValueError:
            seen.refused()
        if seen.went:
            residual_call(seen.count_ways)


def finalize_what_imports_left():
    """Run finalizers that are due, unless there are so many objects that finding them takes long."""
    if sys.implementation.name != 'pypy' or not gc.isenabled() or switched_off('steady-traces'):
        return
    codecs.lookup('latin-1')            # which decode.text_of would import later
    for _ in range(LEVELS):
        # Without the nursery, whose size is that of the processor's caches. What is alive there is old after the first.
        stats = gc._get_stats()         # type: ignore[attr-defined]
        if stats.total_arena_memory + stats.total_rawmalloced_memory > CHEAP:
            break
        gc.collect()
