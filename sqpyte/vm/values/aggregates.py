"""SQLite's built-in aggregates, on their C contexts: count, sum, total, avg, min, max.

The accumulator stays where upstream keeps it (`SumCtx`, `CountCtx`, or a `Mem` for min and max,
in the memory that sqlite3_aggregate_context gave), so a statement may change its tier between
any two rows and upstream's finalizers give the result.  The step functions here load and store
those fields, for the VM and for loops that the inliner has; every case that needs memory or text is left to C.
"""
from c_engine.generated.layout import (
    MEM_Agg, MEM_Int, MEM_Real, CountCtx_n, Mem_flags, Mem_n, Mem_u, Mem_z, SumCtx_approx, SumCtx_cnt, SumCtx_iSum,
    SumCtx_ovrfl, SumCtx_rErr, SumCtx_rSum)
from sqpyte.vm.base import mem
from sqpyte.vm.values.arith import ovfcheck, truncated_quotient
from sqpyte.vm.values.compare import compare_int_real, compare_ints, compare_reals
from sqpyte.vm.values.values import W_Int, W_Null, W_Real

COUNT, SUM, TOTAL, AVG, MIN, MAX = range(1, 7)      # as sqpyte_aggregate_kind numbers them

DONE = 0        # the step is done
BAIL_OUT = 1         # C has to do it
SKIPPED = 2     # done, and the value isn't the new minimum or maximum

_LARGE = 4503599627370496       # integers from here on are added in two parts


def step(accumulator, kind, w):
    """A step of an aggregate on its accumulator, a Mem.

    Args:
        accumulator: the Mem's address.
        kind: COUNT to MAX.
        w: the value; None for count(*).
    Returns:
        DONE, SKIPPED, or BAIL_OUT, and nothing has changed: of the first step, which makes the context, and of texts.
    """
    if mem.u16(accumulator, Mem_flags) & MEM_Agg == 0:
        return BAIL_OUT
    context = mem.i64(accumulator, Mem_z)
    if context == 0:
        return BAIL_OUT
    result = DONE
    if kind == COUNT:
        if not isinstance(w, W_Null):
            step_count(context)
    elif kind == MIN or kind == MAX:
        result = step_minmax(context, w, kind == MAX)
    else:
        result = step_sum(context, w)
    if result != BAIL_OUT:
        mem.set_i32(accumulator, Mem_n, mem.i32(accumulator, Mem_n) + 1)
    return result


def _init_sum(context):
    """From an exact integer sum to a Kahan-Babuska-Neumaier sum of doubles."""
    i = mem.i64(context, SumCtx_iSum)
    small = 0
    if i <= -_LARGE or i >= _LARGE:
        small = i - truncated_quotient(i, 16384) * 16384
    mem.set_f64(context, SumCtx_rSum, float(i - small))
    mem.set_f64(context, SumCtx_rErr, float(small))
    mem.set_u8(context, SumCtx_approx, 1)


def _add_real(context, r):
    """kahanBabuskaNeumaierStep."""
    s = mem.f64(context, SumCtx_rSum)
    t = s + r
    if abs(s) > abs(r):
        error = (s - t) + r
    else:
        error = (r - t) + s
    mem.set_f64(context, SumCtx_rErr, mem.f64(context, SumCtx_rErr) + error)
    mem.set_f64(context, SumCtx_rSum, t)


def _add_int(context, i):
    """kahanBabuskaNeumaierStepInt64."""
    if i <= -_LARGE or i >= _LARGE:
        small = i - truncated_quotient(i, 16384) * 16384
        _add_real(context, float(i - small))
        _add_real(context, float(small))
    else:
        _add_real(context, float(i))


def step_sum(context, w):
    """sumStep: a step of sum, total or avg with the value w."""
    if isinstance(w, W_Null):
        return DONE
    if isinstance(w, W_Real):
        mem.set_i64(context, SumCtx_cnt, mem.i64(context, SumCtx_cnt) + 1)
        if mem.u8(context, SumCtx_approx) == 0:
            _init_sum(context)
        else:
            mem.set_u8(context, SumCtx_ovrfl, 0)
        _add_real(context, w.floatval)
        return DONE
    if isinstance(w, W_Int):
        mem.set_i64(context, SumCtx_cnt, mem.i64(context, SumCtx_cnt) + 1)
        if mem.u8(context, SumCtx_approx) == 0:
            try:
                mem.set_i64(context, SumCtx_iSum,
                            ovfcheck(mem.i64(context, SumCtx_iSum) + w.intval))
            except OverflowError:
                mem.set_u8(context, SumCtx_ovrfl, 1)
                _init_sum(context)
                _add_int(context, w.intval)
        else:
            _add_int(context, w.intval)
        return DONE
    return BAIL_OUT


def step_count(context):
    """countStep of a value that isn't NULL."""
    mem.set_i64(context, CountCtx_n, mem.i64(context, CountCtx_n) + 1)


def step_minmax(best, w, is_max):
    """minmaxStep of a number, where best is the address of the Mem with the best so far."""
    flags = mem.u16(best, Mem_flags)
    if isinstance(w, W_Null):
        return DONE if flags == 0 else SKIPPED
    if isinstance(w, W_Int):
        if flags == MEM_Int:
            order = compare_ints(mem.i64(best, Mem_u), w.intval)
        elif flags == MEM_Real:
            order = -compare_int_real(w.intval, mem.f64(best, Mem_u))
        else:
            return BAIL_OUT
        if (order < 0) if is_max else (order > 0):
            mem.set_i64(best, Mem_u, w.intval)
            mem.set_u16(best, Mem_flags, MEM_Int)
            return DONE
        return SKIPPED
    if isinstance(w, W_Real):
        if flags == MEM_Real:
            order = compare_reals(mem.f64(best, Mem_u), w.floatval)
        elif flags == MEM_Int:
            order = compare_int_real(mem.i64(best, Mem_u), w.floatval)
        else:
            return BAIL_OUT
        if (order < 0) if is_max else (order > 0):
            mem.set_f64(best, Mem_u, w.floatval)
            mem.set_u16(best, Mem_flags, MEM_Real)
            return DONE
        return SKIPPED
    return BAIL_OUT
