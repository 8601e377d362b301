"""SQLite's own scalar functions on values: the hot ones, without a `Mem`.

`call` gives the result, or None where the function has to be called on its registers: for other
types of arguments, for errors, for whatever is rare.  A text that is part of an argument (substr,
a date's year) is a view of it.
"""
from c_engine.generated.layout import (
    SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, sqlite3_aLimit)
from sqpyte.vm.base import capi, mem
from sqpyte.vm.base.jit import unroll_safe
from sqpyte.vm.values.arith import MAX_INT, MIN_INT, as_int, as_real, is_number
from sqpyte.vm.values.compare import OTHER, compare
from sqpyte.vm.values.values import (
    CONSTANT, NULL, W_Blob, W_Bytes, W_Int, W_Null, W_Real, W_Text)

# As sqpyte_function_kind numbers them.
NO_HANDLER, USER = 0, 1
(LIKE, LIKE_CASE, GLOB, SUBSTR, LENGTH, OCTET_LENGTH, ABS, ROUND, UPPER, LOWER, INSTR, MIN, MAX,
 TYPEOF, NULLIF, DATE, STRFTIME) = range(2, 19)
FIRST = LIKE

_MAX_DIGITS = 30
_INTEGER, _REAL, _TEXT, _BLOB, _NULL = range(1, 6)      # SQLITE_INTEGER to SQLITE_NULL
_TYPE_NAME_SIZES = [0, 7, 4, 4, 4, 4]

# Formats of strftime that name a part of an ISO date: (format, where it begins, its size).
_DATE_PARTS = [('%Y', 0, 4), ('%m', 5, 2), ('%d', 8, 2), ('%Y-%m', 0, 7), ('%Y-%m-%d', 0, 10),
               ('%F', 0, 10)]


def date_part(text):
    """The part of an ISO date that is the format (str) of strftime: where it begins times 256,
    plus its size; 0 for any other format."""
    for name, start, size in _DATE_PARTS:
        if name == text:
            return start << 8 | size
    return 0


def call(frame, op, kind):
    """The result of the function of that kind, or None: see the module's docstring."""
    first = frame.read(op.p2)
    if first is None:
        return None
    n = op.arguments
    if kind == LENGTH:
        return _length(first)
    if kind == OCTET_LENGTH:
        return _octet_length(first)
    if kind == TYPEOF:
        return _typeof(first)
    if kind == ABS:
        return _abs(first)
    if kind == UPPER or kind == LOWER:
        return NULL if isinstance(first, W_Null) else None
    if kind == DATE:
        return first if n == 1 and _is_date(first) else None
    if kind == ROUND and n == 1:
        return _round(first, 0)
    if n < 2:
        return None
    second = frame.read(op.p2 + 1)
    if second is None:
        return None
    if kind == LIKE or kind == LIKE_CASE or kind == GLOB:
        return _like(frame, op, kind, first, second)
    if kind == SUBSTR:
        return _substr(frame, op, first, second)
    if kind == INSTR:
        return _instr(first, second)
    if kind == ROUND:
        return _round(first, as_int(second)) if isinstance(second, W_Int) else None
    if kind == NULLIF:
        if op.collation == OTHER:
            return None
        return NULL if compare(first, second, op.collation) == 0 else _if_allowed(frame, first)
    if kind == MIN or kind == MAX:
        return _extreme(frame, op, kind == MAX)
    if kind == STRFTIME and n == 2 and op.date_part and _is_date(second):
        assert isinstance(second, W_Text)
        return W_Text(second.address + (op.date_part >> 8), op.date_part & 255, second.origin)
    return None


def _like(frame, op, kind, pattern, w):
    if isinstance(w, W_Blob) or isinstance(pattern, W_Blob):
        return W_Int(0)
    if isinstance(pattern, W_Null):
        return NULL
    if isinstance(w, W_Null) and isinstance(pattern, W_Text):
        return NULL if _pattern_is_allowed(frame, pattern) else None
    if not (isinstance(w, W_Text) and isinstance(pattern, W_Text)):
        return None
    if not _pattern_is_allowed(frame, pattern):
        return None
    if op.pattern:
        return W_Int(capi.match_prepared(op.pattern, w.address, w.size))
    found = capi.like(pattern.address, pattern.size, w.address, w.size, kind)
    return None if found < 0 else W_Int(found)


def _pattern_is_allowed(frame, pattern):
    """Whether the pattern isn't longer than SQLITE_LIMIT_LIKE_PATTERN_LENGTH."""
    return pattern.size <= mem.i32(frame.db + sqlite3_aLimit
                                   + 4 * SQLITE_LIMIT_LIKE_PATTERN_LENGTH)


def _length(w):
    if isinstance(w, W_Text):
        return W_Int(capi.text_length(w.address, w.size))
    if isinstance(w, W_Blob):
        return W_Int(w.size)
    return NULL if isinstance(w, W_Null) else None


def _octet_length(w):
    if isinstance(w, W_Bytes):
        return W_Int(w.size)
    return NULL if isinstance(w, W_Null) else None


def _typeof(w):
    if isinstance(w, W_Int):
        kind = _INTEGER
    elif isinstance(w, W_Real):
        kind = _REAL
    elif isinstance(w, W_Text):
        kind = _TEXT
    elif isinstance(w, W_Blob):
        kind = _BLOB
    else:
        kind = _NULL
    return W_Text(capi.type_name(kind), _TYPE_NAME_SIZES[kind], CONSTANT)


def _abs(w):
    if isinstance(w, W_Int):
        if w.intval == MIN_INT:
            return None                 # an error
        return W_Int(-w.intval if w.intval < 0 else w.intval)
    if isinstance(w, W_Real):
        return W_Real(-w.floatval if w.floatval < 0.0 else w.floatval)
    return NULL if isinstance(w, W_Null) else None


def _round(w, digits):
    if isinstance(w, W_Null):
        return NULL
    if not is_number(w):
        return None
    return W_Real(capi.round_real(as_real(w), min(digits, _MAX_DIGITS)))


def _is_date(w):
    """Whether w is a text that is a date YYYY-MM-DD and nothing else."""
    return isinstance(w, W_Text) and capi.iso_date(w.address, w.size) != 0


def _if_allowed(frame, w):
    """A result, or None if it is longer than SQLITE_LIMIT_LENGTH: an error."""
    if isinstance(w, W_Bytes) and w.size > mem.i32(frame.db + sqlite3_aLimit + 4 * SQLITE_LIMIT_LENGTH):
        return None
    return w


def _substr(frame, op, w, start):
    length = MAX_INT
    if op.arguments == 3:
        third = frame.read(op.p2 + 2)
        if not isinstance(third, W_Int):
            return None
        length = third.intval
    if not (isinstance(w, W_Bytes) and isinstance(start, W_Int)):
        return None
    own = mem.own_scratch()
    if isinstance(w, W_Blob):
        if w.size == 0:
            return NULL
        at = capi.substr(w.address, w.size, 0, start.intval, length, own.address)
        return _if_allowed(frame, W_Blob(w.address + at, own.i64(), w.origin))
    at = capi.substr(w.address, w.size, 1, start.intval, length, own.address)
    return _if_allowed(frame, W_Text(w.address + at, own.i64(), w.origin))


def _instr(haystack, needle):
    if isinstance(haystack, W_Null) or isinstance(needle, W_Null):
        return NULL
    if isinstance(haystack, W_Text) and isinstance(needle, W_Text):
        return W_Int(capi.instr(haystack.address, haystack.size, needle.address, needle.size, 1))
    if isinstance(haystack, W_Blob) and isinstance(needle, W_Blob):
        return W_Int(capi.instr(haystack.address, haystack.size, needle.address, needle.size, 0))
    return None


@unroll_safe
def _extreme(frame, op, is_max):
    """min() or max() of several arguments; of equal ones the last for min(), the first for max()."""
    if op.collation == OTHER:
        return None
    best = frame.read(op.p2)
    i = 0
    while i < op.arguments:
        w = frame.read(op.p2 + i)
        if w is None or best is None:
            return None
        if isinstance(w, W_Null):
            return NULL
        if i > 0:
            order = compare(best, w, op.collation)
            if order < 0 if is_max else order >= 0:
                best = w
        i += 1
    return _if_allowed(frame, best)
