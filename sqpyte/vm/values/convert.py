"""Conversions of values: affinities, casts, and what texts are as numbers.

Numbers are converted here; a text that becomes a number is read by upstream's functions, which
take its bytes where they lie.  Numbers that become texts are made in a register's `Mem`, by
`opcodes/convert.py`.
"""
from c_engine.generated.layout import (
    SQLITE_AFF_BLOB, SQLITE_AFF_INTEGER, SQLITE_AFF_NUMERIC, SQLITE_AFF_REAL, SQLITE_AFF_TEXT)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.values.arith import INT_LIMIT, MAX_INT, MIN_INT, real_to_int
from sqpyte.vm.values.values import W_Blob, W_Bytes, W_Int, W_Null, W_Real, W_Text, W_Wide, W_WideBlob

# As sqpyte_bytes_to_number takes them.
AS_NUMERIC, AS_CAST, AS_INT, AS_REAL, AS_OPERAND = range(1, 6)


def number_of(w, what):
    """The number that a text or blob is for CAST (AS_CAST, AS_INT, AS_REAL) or arithmetic
    (AS_OPERAND); by affinity (AS_NUMERIC) w itself for no number. None if C has no memory to say."""
    assert isinstance(w, W_Bytes)
    own = mem.own_scratch()
    kind = capi.bytes_to_number(w.address, w.size, w.form(), what, own.address)
    if kind == 1:
        return W_Int(own.i64())
    if kind == 2:
        return W_Real(own.f64())
    return w if kind == 0 else None


def exact_int(w):
    """The integer that is the same as a real, if it isn't at the ends of 64 bits, else the real
    (sqlite3VdbeIntegerAffinity)."""
    assert isinstance(w, W_Real)
    r = w.floatval
    if -INT_LIMIT <= r <= INT_LIMIT:
        i = int(r)
        if float(i) == r and MIN_INT < i < MAX_INT:
            return W_Int(i)
    return w


def int_value(w):
    """A number, text or blob as an integer (sqlite3VdbeIntValue), as a W_Int, or None if C has
    no memory."""
    if isinstance(w, W_Int):
        return w
    if isinstance(w, W_Real):
        return W_Int(real_to_int(w.floatval))
    if isinstance(w, W_Bytes):
        return number_of(w, AS_INT)
    return W_Int(0)


def with_affinity(w, affinity):
    """w with an affinity (a character, as int) applied; None if a number has to become a text, or if C has no memory to
    say what a text is."""
    if affinity == SQLITE_AFF_REAL and isinstance(w, W_Real):
        return W_Real(w.floatval + 0.0)         # through an integer upstream, which has no -0.0
    if affinity >= SQLITE_AFF_NUMERIC:
        if isinstance(w, W_Int):
            return w
        if isinstance(w, W_Real):
            return exact_int(w) if affinity <= SQLITE_AFF_REAL else w
        if isinstance(w, W_Text):
            return number_of(w, AS_NUMERIC)
        return w
    if affinity == SQLITE_AFF_TEXT and (isinstance(w, W_Int) or isinstance(w, W_Real)):
        return None
    return w


def cast(w, affinity):
    """CAST of w to the type with the affinity; None if a number has to become a text or blob, for a text or blob of a
    UTF-16 database that is to be the other, or if C has no memory."""
    if isinstance(w, W_Null):
        return w
    if affinity == SQLITE_AFF_INTEGER:
        return int_value(w)
    if isinstance(w, W_Bytes):
        if affinity == SQLITE_AFF_BLOB or affinity == SQLITE_AFF_TEXT:
            if isinstance(w, W_Wide) or isinstance(w, W_WideBlob):
                return None
            if affinity == SQLITE_AFF_BLOB:
                return W_Blob(w.address, w.size, w.origin)
            return W_Text(w.address, w.size, w.origin)
        return number_of(w, AS_CAST if affinity == SQLITE_AFF_NUMERIC else AS_REAL)
    if affinity == SQLITE_AFF_NUMERIC:
        return w
    if affinity == SQLITE_AFF_REAL:
        return W_Real(float(w.intval)) if isinstance(w, W_Int) else w
    return None
