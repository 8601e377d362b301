"""The JIT's hints, or their absence: RPython's where it is there, else no-ops; and what the JIT has: how much machine
code, how what wasn't used for long is dropped, and how many traces it has given up."""
try:
    from rpython.rlib.jit import (
        JitDriver, dont_look_inside, elidable, hint, promote, set_param, set_user_param,
        unroll_safe, we_are_jitted)
    from rpython.rlib.unroll import unrolling_iterable
    TRACES = True
except ImportError:
    TRACES = False

    class JitDriver(object):
        """Stands for RPython's JitDriver where nothing is traced."""

        def __init__(self, **options):
            self.options = options

        def jit_merge_point(self, **variables):
            pass

        def can_enter_jit(self, **variables):
            pass

    def _identity(function):
        return function

    dont_look_inside = elidable = unroll_safe = promote = _identity
    unrolling_iterable = list

    def hint(value, **hints):
        return value

    def set_param(driver, name, value):
        pass

    def set_user_param(driver, text):
        pass

    def we_are_jitted():
        return False


if TRACES:
    from rpython.annotator import model
    from rpython.rlib import rgc
    from rpython.rlib.jit import Counters
    from rpython.rlib.jit_hooks import register_helper, stats_asmmemmgr_used
    from rpython.rlib.rarithmetic import intmask, r_uint

    # Run inside of the JIT, as whose helpers they are registered: warmrunnerdesc is RPython's
    # WarmRunnerDesc there. The names must begin with stats_.
    @register_helper(model.SomeInteger())
    def stats_drop_loops(warmrunnerdesc, part):
        """See drop_loops; the loops' memory is free when the GC has found nobody who has them."""
        manager = warmrunnerdesc.memory_manager
        now = manager.current_generation
        oldest = now
        for loop in manager.alive_loops.keys():
            if loop.generation < oldest:
                oldest = loop.generation
        first = now + 1 if part == 0 else now - (now - oldest) // part
        dropped = 0
        for loop in manager.alive_loops.keys():
            if loop.generation < first:
                del manager.alive_loops[loop]
                dropped += 1
        return dropped

    @register_helper(model.SomeInteger())
    def stats_drop_cells(warmrunnerdesc, ignored):
        """Drop what is noted of places in programs whose loops are gone: that keeps programs."""
        counter = warmrunnerdesc.jitcounter
        for i in range(counter.size):
            if counter.celltable[i] is not None:
                counter.install_new_cell(r_uint(i) << counter.shift, None)
        return 0

    @register_helper(model.SomeInteger())
    def stats_given_up(warmrunnerdesc, ignored):
        """See given_up."""
        data = warmrunnerdesc.metainterp_sd
        if not data.profiler.initialized:
            return 0
        return (data.profiler.get_counter(Counters.ABORT_TOO_LONG) + data.profiler.get_counter(Counters.ABORT_BRIDGE)
                + data.profiler.get_counter(Counters.ABORT_BAD_LOOP))

    def given_up():
        """How many traces the JIT has given up in the life of the process."""
        return stats_given_up(None, 0)

    def code_size():
        """Bytes of machine code, with its constants."""
        return intmask(stats_asmmemmgr_used(None))

    def drop_loops(part):
        """Free the machine code that wasn't entered for longest.

        Of the time since the oldest loop was last entered, measured in traces made since then,
        the last 1/part is kept; with 0 nothing is.
        """
        stats_drop_loops(None, part)
        rgc.collect()
        stats_drop_cells(None, 0)
        # Machine code is freed by finalizers, and not by those that another object with one leads
        # to: the second collection frees what the first one left.
        rgc.collect()
else:
    def given_up():
        """How many traces the JIT has given up in the life of the process."""
        return 0

    def code_size():
        """Bytes of machine code."""
        return 0

    def drop_loops(part):
        """Free the machine code that wasn't entered for longest."""
