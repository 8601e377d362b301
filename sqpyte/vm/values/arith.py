"""Arithmetic of the opcodes Add to Remainder, as sqlite3VdbeExec does it.

Two integers give an integer, or a real where 64 bits overflow; division truncates toward
zero; a zero divisor, NULL or NaN gives NULL.  Text operands are left to C: every function
returns None then, and has changed nothing.
"""
from sqpyte.vm.values.values import NULL, W_Int, W_Null, W_Real

try:
    from rpython.rlib.rarithmetic import intmask, ovfcheck, r_uint

    def shift_left(value, count):
        """value shifted by 0 to 63 bits, cut to 64 bits."""
        return intmask(r_uint(value) << count)
except ImportError:
    def ovfcheck(value):
        """value if it fits in 64 bits; raises OverflowError otherwise."""
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return value
        raise OverflowError

    def intmask(value):
        """value cut to 64 bits, with sign."""
        return (value + 0x8000000000000000) % 0x10000000000000000 - 0x8000000000000000

    def shift_left(value, count):
        """value shifted by 0 to 63 bits, cut to 64 bits."""
        return intmask(value << count)

MIN_INT = -0x8000000000000000
MAX_INT = 0x7FFFFFFFFFFFFFFF
# Reals from here on don't fit in 64 bits (sqlite3RealToI64).
INT_LIMIT = 9223372036854774784.0


def is_number(w):
    """Whether w is an integer or a real."""
    return isinstance(w, W_Int) or isinstance(w, W_Real)


def as_real(w):
    """The double of an integer or a real value."""
    if isinstance(w, W_Int):
        return float(w.intval)
    assert isinstance(w, W_Real)
    return w.floatval


def real_to_int(r):
    """The double cut to 64 bits, as sqlite3RealToI64 does it."""
    if r < -INT_LIMIT:
        return MIN_INT
    if r > INT_LIMIT:
        return 0x7FFFFFFFFFFFFFFF
    return int(r)


def as_int(w):
    """The integer of an integer or a real value (sqlite3VdbeIntValue)."""
    if isinstance(w, W_Int):
        return w.intval
    assert isinstance(w, W_Real)
    return real_to_int(w.floatval)


def wrap_real(r):
    """The value of a double: NaN is NULL."""
    if r != r:
        return NULL
    return W_Real(r)


def _unusual(w1, w2):
    """The result where not both operands are numbers: NULL, or None to ask C."""
    if isinstance(w1, W_Null) or isinstance(w2, W_Null):
        return NULL
    return None


def add(w1, w2):
    """r[P2] + r[P1]."""
    if isinstance(w1, W_Int) and isinstance(w2, W_Int):
        try:
            return W_Int(ovfcheck(w2.intval + w1.intval))
        except OverflowError:
            return W_Real(float(w2.intval) + float(w1.intval))
    if is_number(w1) and is_number(w2):
        return wrap_real(as_real(w2) + as_real(w1))
    return _unusual(w1, w2)


def subtract(w1, w2):
    """r[P2] - r[P1]."""
    if isinstance(w1, W_Int) and isinstance(w2, W_Int):
        try:
            return W_Int(ovfcheck(w2.intval - w1.intval))
        except OverflowError:
            return W_Real(float(w2.intval) - float(w1.intval))
    if is_number(w1) and is_number(w2):
        return wrap_real(as_real(w2) - as_real(w1))
    return _unusual(w1, w2)


def multiply(w1, w2):
    """r[P2] * r[P1]."""
    if isinstance(w1, W_Int) and isinstance(w2, W_Int):
        a = w1.intval
        b = w2.intval
        # RPython's optimiser loops for ever on a multiplication by the constant -2**63, which
        # it takes for a power of two.
        if a == MIN_INT:
            return _times_min_int(b)
        if b == MIN_INT:
            return _times_min_int(a)
        try:
            return W_Int(ovfcheck(b * a))
        except OverflowError:
            return W_Real(float(w2.intval) * float(w1.intval))
    if is_number(w1) and is_number(w2):
        return wrap_real(as_real(w2) * as_real(w1))
    return _unusual(w1, w2)


def _times_min_int(i):
    """i * -2**63."""
    if i == 0:
        return W_Int(0)
    if i == 1:
        return W_Int(MIN_INT)
    return W_Real(float(i) * -9223372036854775808.0)


def truncated_quotient(b, a):
    """b / a rounded toward zero; a is not 0, and not -1."""
    if a == MIN_INT:                    # see multiply
        return int(b == MIN_INT)
    quotient = b // a
    if quotient < 0 and quotient * a != b:
        quotient += 1
    return quotient


def divide(w1, w2):
    """r[P2] / r[P1]."""
    if isinstance(w1, W_Int) and isinstance(w2, W_Int):
        a = w1.intval
        b = w2.intval
        if a == 0:
            return NULL
        if a == -1:
            if b == MIN_INT:
                return W_Real(9223372036854775808.0)
            return W_Int(-b)
        return W_Int(truncated_quotient(b, a))
    if is_number(w1) and is_number(w2):
        r = as_real(w1)
        if r == 0.0:
            return NULL
        return wrap_real(as_real(w2) / r)
    return _unusual(w1, w2)


def remainder(w1, w2):
    """r[P2] % r[P1]: of integers; of reals the remainder of their integer parts, as a real."""
    if is_number(w1) and is_number(w2):
        a = as_int(w1)
        b = as_int(w2)
        if a == 0:
            return NULL
        if a == -1:
            result = 0
        elif a == MIN_INT:              # see multiply
            result = 0 if b == MIN_INT else b
        else:
            result = b - truncated_quotient(b, a) * a
        if isinstance(w1, W_Int) and isinstance(w2, W_Int):
            return W_Int(result)
        return W_Real(float(result))
    return _unusual(w1, w2)
