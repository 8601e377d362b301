"""The JIT's hints, or their absence: RPython's where it is there, else no-ops."""
try:
    from rpython.rlib.jit import (
        JitDriver, dont_look_inside, elidable, hint, promote, set_param, set_user_param,
        unroll_safe)
    from rpython.rlib.unroll import unrolling_iterable
except ImportError:
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
