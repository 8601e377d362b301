"""Known defects of RPython's JIT, mended while it translates us.

RPython 0.2.1, the last that PyPI has, is "a randomly chosen, untested version" by its own words. These six defects of
its optimizer can meet our traces; PyPy has mended most of them since. Each mend replaces a method of RPython's by one
that calls it.

* Bounds go backwards through additions, subtractions, multiplications and shifts that may wrap around: of
  `x + 10 < 15` the optimizer took that `x < 5`, which is wrong for an x near the largest integer (PyPy's issue 3831).
* An addition that wraps around was taken for one that has been found not to overflow, of the same operands, and so with
  subtractions and multiplications: the check was left out.
* A guard of a short preamble that is inlined in vain could take an earlier guard's place (issue 3598).
* A flag that a short preamble wants to be another number than 0 or 1 ended the process (issue 3128).
* An operation of the short preamble of a loop that jumps to another version of itself was noted in lists that were
  not there yet: the process crashed, with `retrace_limit` above 0 (as in issue 2195).
* What a short preamble may hold is found by recursion, from an operation to its operands: a chain of 300 took 77 KB of
  stack, which the thread or fiber that SQLite is called in need not have. It ends after DEEPEST now; a loop computes
  anew what lies further down.

tests/jit/optimizer_check.py finds the first two in random traces, tests/jit/test_optimizer.py has cases of the fourth
and fifth, tests/c_api/programs/small_stacks.c of the last, and of the third no trace of ours is known.
"""
from rpython.jit.metainterp.optimize import InvalidLoop
from rpython.jit.metainterp.optimizeopt import intbounds
from rpython.jit.metainterp.optimizeopt.info import NonNullPtrInfo
from rpython.jit.metainterp.optimizeopt.intbounds import OptIntBounds
from rpython.jit.metainterp.optimizeopt.optimizer import Optimizer
from rpython.jit.metainterp.optimizeopt.pure import DefaultOptimizationResult, OptPure, RecentPureOps
from rpython.jit.metainterp.optimizeopt.shortpreamble import ExtendedShortPreambleBuilder, ShortBoxes
from rpython.jit.metainterp.optimizeopt.unroll import UnrollOptimizer
from rpython.jit.metainterp.optimizeopt.util import make_dispatcher_method
from rpython.jit.metainterp.resoperation import rop


def _bounds_if_it_cannot_wrap(name, forward, known=None):
    """Make what is known of a result say something of its operands only if the operands' bounds show that the
    operation doesn't wrap around. An operation that checks that by itself, INT_ADD_OVF and its like, stays as it is.

    Args:
        name: of an operation (str).
        forward: function(bounds, bounds) that returns the result's bounds by the operands'.
        known: function(optimizer, operation) for a result that is a constant, or None: an operand may follow from
            it and from the other one, wrapped around or not.
    """
    backward = getattr(OptIntBounds, 'propagate_bounds_' + name).im_func

    def propagate_bounds(self, op):
        first, second = op.getarg(0), op.getarg(1)
        if self.is_raw_ptr(first) or self.is_raw_ptr(second):
            return
        if forward(self.getintbound(first), self.getintbound(second)).bounded():
            backward(self, op)
        elif known is not None and self.getintbound(op).is_constant():
            known(self, op)

    propagate_bounds.func_name = 'propagate_bounds_' + name
    setattr(OptIntBounds, 'propagate_bounds_' + name, propagate_bounds)


def known_sum(self, op):
    """A constant sum and a constant operand give the other one."""
    b1, b2, r = self.getintbound(op.getarg(0)), self.getintbound(op.getarg(1)), self.getintbound(op)
    if b2.is_constant():
        if b1.intersect(r.sub_bound(b2)):
            self.propagate_bounds_backward(op.getarg(0))
    elif b1.is_constant() and b2.intersect(r.sub_bound(b1)):
        self.propagate_bounds_backward(op.getarg(1))


def known_difference(self, op):
    """A constant difference and a constant operand give the other one."""
    b1, b2, r = self.getintbound(op.getarg(0)), self.getintbound(op.getarg(1)), self.getintbound(op)
    if b2.is_constant():
        if b1.intersect(r.add_bound(b2)):
            self.propagate_bounds_backward(op.getarg(0))
    elif b1.is_constant() and b2.intersect(b1.sub_bound(r)):
        self.propagate_bounds_backward(op.getarg(1))


_bounds_if_it_cannot_wrap('INT_ADD', lambda b1, b2: b1.add_bound(b2), known_sum)
_bounds_if_it_cannot_wrap('INT_SUB', lambda b1, b2: b1.sub_bound(b2), known_difference)
_bounds_if_it_cannot_wrap('INT_MUL', lambda b1, b2: b1.mul_bound(b2))
_bounds_if_it_cannot_wrap('INT_LSHIFT', lambda b1, b2: b1.lshift_bound(b2))
intbounds.dispatch_bounds_ops = make_dispatcher_method(OptIntBounds, 'propagate_bounds_')

_getrecentops = OptPure.getrecentops.im_func
_callback = DefaultOptimizationResult._callback.im_func


def getrecentops(self, opnum):
    """The operations of a kind that need not be done again. RPython takes INT_ADD and INT_ADD_OVF for one kind."""
    if not rop._OVF_FIRST <= opnum <= rop._OVF_LAST:
        return _getrecentops(self, opnum)
    if self.recent_overflowing is None:
        self.recent_overflowing = [None] * (rop._OVF_LAST - rop._OVF_FIRST + 1)
    recent = self.recent_overflowing[opnum - rop._OVF_FIRST]
    if recent is None:
        self.recent_overflowing[opnum - rop._OVF_FIRST] = recent = RecentPureOps()
    return recent


def callback(self, op, save, nextop):
    """Remember an operation that was emitted: one that has not overflowed also as one that doesn't look."""
    _callback(self, op, save, nextop)
    if save and rop.is_ovf(op.opnum):
        pure = self.opt
        assert isinstance(pure, OptPure)
        _getrecentops(pure, op.getopnum()).add(op)


OptPure.recent_overflowing = None
DefaultOptimizationResult._callback = callback
OptPure.getrecentops = getrecentops

DEEPEST = 32        # operations, each an operand of the one before

_produce_arg = ShortBoxes.produce_arg.im_func


def produce_arg(self, op):
    """What an operand is in a short preamble; None if it can't be in one."""
    if self.depth >= DEEPEST:
        return None
    self.depth += 1
    try:
        return _produce_arg(self, op)
    finally:
        self.depth -= 1


ShortBoxes.depth = 0
ShortBoxes.produce_arg = produce_arg

_get_last_guard = NonNullPtrInfo.get_last_guard.im_func
_mark_last_guard = NonNullPtrInfo.mark_last_guard.im_func
_maybe_replace_guard_value = Optimizer._maybe_replace_guard_value.im_func
_jump_to_existing_trace = UnrollOptimizer.jump_to_existing_trace.im_func
_finalize_short_preamble = UnrollOptimizer.finalize_short_preamble.im_func
_optimize_peeled_loop = UnrollOptimizer.optimize_peeled_loop.im_func


def get_last_guard(self, optimizer):
    """The guard of an object that a later one of it may replace, or None."""
    return _get_last_guard(self, optimizer) if optimizer.may_replace_guards else None


def mark_last_guard(self, optimizer):
    """Note an object's last guard."""
    if optimizer.may_replace_guards:
        _mark_last_guard(self, optimizer)


def maybe_replace_guard_value(self, op, descr):
    """Turn the guard of a flag's value into that of a truth; raises InvalidLoop if it has none such."""
    if op.getarg(0).type == 'i' and self.getintbound(op.getarg(0)).is_bool():
        if not 0 <= op.getarg(1).getint() <= 1:
            raise InvalidLoop('a flag that is neither 0 nor 1')
    return _maybe_replace_guard_value(self, op, descr)


def jump_to_existing_trace(self, jump_op, label_op, runtime_boxes, force_boxes=False):
    """Try to end in a jump to a version of the loop: what this leaves behind if it fails stays at the end."""
    self.optimizer.may_replace_guards = False
    try:
        return _jump_to_existing_trace(self, jump_op, label_op, runtime_boxes, force_boxes)
    finally:
        self.optimizer.may_replace_guards = True


def finalize_short_preamble(self, label_op, virtual_state):
    """Make the loop's short preamble, and have its lists ready for operations that are found to belong to it."""
    token = _finalize_short_preamble(self, label_op, virtual_state)
    producer = self.short_preamble_producer
    assert isinstance(producer, ExtendedShortPreambleBuilder)
    short = token.short_preamble
    producer.setup(short[-1].getarglist(), short, label_op.getarglist())
    return token


def optimize_peeled_loop(self, trace, celltoken, state, call_pure_results, inline_short_preamble=True):
    """Optimize the loop itself; what it needs before its label includes what was found too late for the copy."""
    info, operations = _optimize_peeled_loop(self, trace, celltoken, state, call_pure_results, inline_short_preamble)
    info.extra_same_as = self.short_preamble_producer.extra_same_as
    return info, operations


Optimizer.may_replace_guards = True
NonNullPtrInfo.get_last_guard = get_last_guard
NonNullPtrInfo.mark_last_guard = mark_last_guard
Optimizer._maybe_replace_guard_value = maybe_replace_guard_value
UnrollOptimizer.jump_to_existing_trace = jump_to_existing_trace
UnrollOptimizer.finalize_short_preamble = finalize_short_preamble
UnrollOptimizer.optimize_peeled_loop = optimize_peeled_loop
