"""What of the inliner is switched off (c_engine/core/mechanisms.h), and what a program's analysis is without it."""

from pypy_module.ffi.library import switched_off
from pypy_module.inline.analysis.sinks import SinkSlice

# The names that users have.
PAGE_BATCHES, ROW_BATCHES, SLICES, SINKS, WINDOW_LOGS = NAMES = (
    'page-batches', 'row-batches', 'slices', 'sinks', 'window-logs')
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
    for n, (pc, end, sliced, _) in enumerate(shapes.slices):
        name = SINKS if type(sliced) is SinkSlice and SINKS in names else SLICES
        if sliced is not None and name in names:
            shapes.slices[n] = pc, end, None, REASON % name
    if shapes.window_log is not None and WINDOW_LOGS in names:
        shapes.window_log, shapes.why_no_window_log = None, REASON % WINDOW_LOGS
