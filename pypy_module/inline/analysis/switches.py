"""What of the inliner is switched off (c_engine/core/mechanisms.h), and what a program's analysis is without it."""

from pypy_module.ffi.library import switched_off
from pypy_module.inline.analysis.tail import TailCut

# By its name as the module's sources have it, the name that users have.
PAGE_BATCHES, ROW_BATCHES, CUTS, TAILS, TAPES = NAMES = (
    'page-batches', 'row-batches', 'cuts', 'tails', 'tapes')
REASON = '%s switched off'


def off():
    """The names of what is switched off (tuple of str)."""
    return tuple([name for name in NAMES if switched_off(name)])


def without_page_batches(loops, names):
    """The loops of a program, as `loops` in scan.py gives them, without those that are switched off."""
    if PAGE_BATCHES not in names:
        return loops
    return [(end, None, reason if loop is None else REASON % PAGE_BATCHES) for end, loop, reason in loops]


def leave_out(shapes, names):
    """Take what is switched off (tuple of str) out of the Shapes of a program."""
    if ROW_BATCHES in names:
        found = shapes.aheads.found
        for pc in found:
            if type(found[pc]) is not str:
                found[pc] = REASON % ROW_BATCHES
    for n, (pc, end, cut, _) in enumerate(shapes.cuts):
        name = TAILS if type(cut) is TailCut and TAILS in names else CUTS
        if cut is not None and name in names:
            shapes.cuts[n] = pc, end, None, REASON % name
    if shapes.tape is not None and TAPES in names:
        shapes.tape, shapes.tapeless = None, REASON % TAPES
