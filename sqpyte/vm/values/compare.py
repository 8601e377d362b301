"""Comparison of values: by storage class, affinity and collation, as sqlite3MemCompare does it."""
from c_engine.generated.layout import (
    KEYINFO_ORDER_BIGNULL, KEYINFO_ORDER_DESC, SQLITE_AFF_MASK, SQLITE_AFF_NUMERIC,
    SQLITE_AFF_TEXT, SQLITE_NULLEQ, SQPYTE_NO_ORDER)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.values.arith import as_real, is_number
from sqpyte.vm.values.convert import AS_REAL, number_of
from sqpyte.vm.values.values import W_Blob, W_Bytes, W_Int, W_Null, W_Real, W_Text

# Collations, as sqpyte_collation_kind numbers them.
BINARY = 0
NOCASE = 1
RTRIM = 2
OTHER = 3

# Integers in this range are doubles exactly.
_EXACT = 1 << 53


def compare_ints(i, j):
    """Negative, zero or positive. Without a branch: who asks has one."""
    return int(i > j) - int(i < j)


def compare_numbers(a, b):
    """Negative, zero or positive for two numbers (integers or reals)."""
    if isinstance(a, W_Int):
        if isinstance(b, W_Int):
            return compare_ints(a.intval, b.intval)
        assert isinstance(b, W_Real)
        return compare_int_real(a.intval, b.floatval)
    assert isinstance(a, W_Real)
    if isinstance(b, W_Int):
        return -compare_int_real(b.intval, a.floatval)
    return compare_reals(as_real(a), as_real(b))


def compare_reals(r, s):
    """Negative, zero or positive for two doubles that are not NaN."""
    return int(r > s) - int(r < s)


def compare_int_real(i, r):
    """Negative, zero or positive for an integer and a double (sqlite3IntFloatCompare)."""
    if -_EXACT < i < _EXACT:
        return compare_reals(float(i), r)
    return capi.compare_int_real(i, r)


def compare_bytes(a, b, collation):
    """Negative, zero or positive for two texts, or two blobs with BINARY."""
    if collation == BINARY:
        return capi.compare_bytes(a.address, a.size, b.address, b.size)
    if collation == NOCASE:
        return capi.compare_nocase(a.address, a.size, b.address, b.size)
    return capi.compare_rtrim(a.address, a.size, b.address, b.size)


def storage_rank(w):
    """Storage classes in the order in which they sort: NULL, numbers, text, blob."""
    if isinstance(w, W_Null):
        return 0
    if is_number(w):
        return 1
    if isinstance(w, W_Text):
        return 2
    return 3


def compare(a, b, collation):
    """Negative, zero or positive for any two values: NULLs are equal (sqlite3MemCompare)."""
    if is_number(a) and is_number(b):
        return compare_numbers(a, b)
    if isinstance(a, W_Text) and isinstance(b, W_Text):
        return compare_bytes(a, b, collation)
    if isinstance(a, W_Blob) and isinstance(b, W_Blob):
        return compare_bytes(a, b, BINARY)
    return storage_rank(a) - storage_rank(b)


def to_number(w):
    """w with numeric affinity: a text that looks like a number becomes it; None if C has no memory to say."""
    if isinstance(w, W_Text):
        own = mem.own_scratch()
        kind = capi.text_to_number(w.address, w.size, w.form(), own.address)
        if kind == 1:
            return W_Int(own.i64())
        if kind == 2:
            return W_Real(own.f64())
        if kind < 0:
            return None
    return w


def needs_text(a, b):
    """Whether TEXT affinity would turn one of the operands from a number into a text."""
    if isinstance(a, W_Bytes):
        return isinstance(a, W_Text) and is_number(b)
    return isinstance(b, W_Text) and is_number(a)


def in_sort_order(order, a, b, flags):
    """The order of two unequal values by a KeyInfo's sort flags: DESC, and NULLs last."""
    if flags & KEYINFO_ORDER_BIGNULL and (isinstance(a, W_Null) or isinstance(b, W_Null)):
        order = -order
    if flags & KEYINFO_ORDER_DESC:
        order = -order
    return order


# Results of compare_operands that are no order; outside the range of any comparison.
NULL_RESULT = 1 << 40
UNDECIDED = 1 << 41


def compare_operands(w3, w1, flags, collation):
    """The operands of a comparison opcode, with its affinity applied.

    Args:
        w3, w1: the values of r[P3] and r[P1].
        flags: P5 (affinity, SQLITE_NULLEQ).
        collation: BINARY, NOCASE, RTRIM or OTHER.
    Returns: negative, zero or positive as r[P3] is less than, equal to or greater than r[P1];
        NULL_RESULT if one is NULL (and SQLITE_NULLEQ isn't set); UNDECIDED if C has to do it.
    """
    if isinstance(w1, W_Int) and isinstance(w3, W_Int):
        return compare_numbers(w3, w1)
    if isinstance(w1, W_Null) or isinstance(w3, W_Null):
        if flags & SQLITE_NULLEQ:
            return storage_rank(w3) - storage_rank(w1)
        return NULL_RESULT
    affinity = flags & SQLITE_AFF_MASK
    if affinity >= SQLITE_AFF_NUMERIC:
        if isinstance(w1, W_Text) and isinstance(w3, W_Text) and collation == BINARY:
            order = capi.compare_numeric_texts(w3.address, w3.size, w1.address, w1.size, w1.form())
            return UNDECIDED if order == SQPYTE_NO_ORDER else order
        if not (is_number(w1) and is_number(w3)):
            w1 = to_number(w1)
            w3 = to_number(w3)
            if w1 is None or w3 is None:
                return UNDECIDED
    elif affinity == SQLITE_AFF_TEXT and needs_text(w1, w3):
        return UNDECIDED
    if collation == OTHER and isinstance(w1, W_Text) and isinstance(w3, W_Text):
        return UNDECIDED
    return compare(w3, w1, collation)


def truth(w, if_null):
    """1 or 0 as If and IfNot see the value, if_null for NULL (sqlite3VdbeBooleanValue); UNDECIDED if C has no memory to
    say."""
    if isinstance(w, W_Int):
        return int(w.intval != 0)
    if isinstance(w, W_Null):
        return if_null
    if isinstance(w, W_Real):
        return int(w.floatval != 0.0)
    assert isinstance(w, W_Bytes)
    number = number_of(w, AS_REAL)
    if number is None:
        return UNDECIDED
    return int(isinstance(number, W_Real) and number.floatval != 0.0)
