"""Values in the inliner: between a row's words, the opcode functions' W_ values, and Python's.

A register has its value in the generated code in one or both of two forms: as a `W_Value`, for the
opcode functions that it shares with the RPython VM, and as Python's int, float, str, bytes or None,
for the user.  PyPy's JIT removes the objects of both.
"""

from c_engine.generated import layout
from pypy_module.dbapi.connections.callbacks import TooBig, result_blob
from pypy_module.dbapi.errors import out_of_range
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, address_of, ffi, lib
from pypy_module.ffi.memory import BASE, BYTES, CHARS, DOUBLES, INTS, SHORTS, WORDS, data_at, unpack
from pypy_module.inline.residual import residual_call
from sqpyte.vm.values import aggregates
from sqpyte.vm.values.compare import UNDECIDED, truth
from sqpyte.vm.values.values import CONSTANT, NULL, W_Blob, W_Bytes, W_Int, W_Real, W_Text

KINDS = (layout.MEM_Null | layout.MEM_Str | layout.MEM_Int | layout.MEM_Real | layout.MEM_IntReal | layout.MEM_Blob
         | layout.MEM_Zero | layout.MEM_Subtype | layout.MEM_Agg)
LOWEST, HIGHEST = -2 ** 63, 2 ** 63 - 1
# The types of datums (c_engine/rows/datum.h).
INTEGER, FLOAT, TEXT, BLOB, NULL_TYPE = (
    NUMBERS['SQLITE_' + name] for name in ('INTEGER', 'FLOAT', 'TEXT', 'BLOB', 'NULL'))


# With Python's bytes in place of their address, which takes ffi.from_buffer 0.35 us.
set_bytes = ffi.cast('int (*)(intptr_t, const char *, int64_t, int)', lib.sqpyte_set_bytes)


class Undecodable:
    """Stands for a text that isn't UTF-8: upstream's own way, in C, has the error."""


UNDECODABLE = Undecodable()
ONE = W_Int(1)


def text_at(place, size):
    """The text of `size` bytes at the address `place` + BASE, or UNDECODABLE."""
    try:
        return unpack(CHARS + place, size).decode()
    except UnicodeDecodeError:
        return UNDECODABLE


class KeptText(W_Text):
    """A text in memory that is freed with this object."""

    __slots__ = ('buffer',)


class KeptBlob(W_Blob):
    """A blob in memory that is freed with this object."""

    __slots__ = ('buffer',)


class Returned:
    """What a function has returned, Python's bytes: in C's memory only if that is asked for. The JIT removes it, and
    couldn't a KeptText (0.25 us): WHERE f(s) > 'text' took 1.7 times as long as in C.

    Attributes:
        data: the bytes; buffer: the copy in C's memory, which is freed with this object, or None.
    """

    form: Any

    def __init__(self, data):
        self.data = data
        self.size = len(data)
        self.origin = CONSTANT
        self.buffer: Any = None

    @property
    def address(self):
        """See W_Bytes."""
        return residual_call(address_in_c, self)


class ReturnedText(Returned, W_Text):
    """See Returned."""


class ReturnedBlob(Returned, W_Blob):
    """See Returned."""


def address_in_c(w):
    """The address of a copy of what a Returned has, made out of the JIT's sight, as `copied` is."""
    if w.buffer is None:
        w.buffer = ffi.new('char[]', w.data)
    return address_of(w.buffer)


def kept(made, data):
    """The bytes `data` as a `made` (KeptText or KeptBlob)."""
    # Traces in which such a copy is made and dropped can make the JIT of PyPy 7.3.11 abort the process (an
    # AssertionError in optimizeopt, NotVirtualStateInfoInt).
    return residual_call(copied, made, data)


def copied(made, data):
    """What `kept` returns, made out of the JIT's sight."""
    buffer = ffi.new('char[]', len(data) + 1)
    buffer[0:len(data)] = data
    w = made(address_of(buffer), len(data), CONSTANT)
    w.buffer = buffer
    return w


def unwrapped(w):
    """The Python value of a W_Value, or UNDECODABLE."""
    kind = type(w)
    if kind is W_Int:
        return w.intval
    if kind is W_Real:
        return w.floatval
    if isinstance(w, Returned):
        return w.data.decode() if kind is ReturnedText else w.data
    if isinstance(w, W_Text):
        return text_at(w.address - BASE, w.size)
    if isinstance(w, W_Blob):
        return data_at(w.address, w.size)
    return None


def wrapped(value):
    """The W_Value of a Python value."""
    kind = type(value)
    if kind is int:
        return W_Int(value)
    if kind is float:
        return W_Real(value)
    if value is None:
        return NULL
    return ReturnedText(value.encode()) if kind is str else ReturnedBlob(value)


def nocase_key(data):
    """What orders texts, bytes, as nocaseCollatingFunc does: it stops at a NUL that both have."""
    end = data.find(b'\0')
    return (data if end < 0 else data[:end]).lower(), len(data)


def private(w):
    """The same value, not as a view of memory that others change."""
    if isinstance(w, W_Bytes) and w.origin != CONSTANT:
        return kept(KeptText if isinstance(w, W_Text) else KeptBlob, data_at(w.address, w.size))
    return w


def result_of(value, most):
    """What SQL makes of the result of a user's function: int, float, str, bytes or None.

    Args:
        value: what the function returned.
        most: how many bytes a text or blob may have (int).
    Raises:
        OverflowError: an int is too large.
        TooBig: a text or blob is.
        UnicodeEncodeError: a str can't be encoded.
        ProgrammingError: SQLite has no such type.
    """
    kind = type(value)
    if issubclass(kind, str):
        data = str.encode(value)
        if len(data) > most:
            raise TooBig('string or blob too big')
        return value if kind is str else data.decode()      # PyPy's str.__str__() asks __len__()
    if issubclass(kind, int):
        value = int.__add__(value, 0)
        if not LOWEST <= value <= HIGHEST:
            raise out_of_range()
        return value
    if issubclass(kind, float):
        value = float.__mul__(value, 1.0)
        return None if value != value else value
    if value is None:
        return None
    data = result_blob(value)
    if len(data) > most:
        raise TooBig('string or blob too big')
    return data


UNKNOWN = 2     # the truth of NULL


def logic_of(truth_value):
    """The W_Value of 0, 1 or UNKNOWN."""
    return NULL if truth_value == UNKNOWN else W_Int(truth_value)


def logic_and(w1, w2):
    """w1 AND w2, or None if C has to do it."""
    left, right = truth(w1, UNKNOWN), truth(w2, UNKNOWN)
    if left == UNDECIDED or right == UNDECIDED:
        return None
    return logic_of(0 if left == 0 or right == 0 else max(left, right))


def logic_or(w1, w2):
    """w1 OR w2, or None if C has to do it."""
    left, right = truth(w1, UNKNOWN), truth(w2, UNKNOWN)
    if left == UNDECIDED or right == UNDECIDED:
        return None
    return logic_of(1 if left == 1 or right == 1 else max(left, right))


def logic_not(w):
    """NOT w, or None if C has to do it."""
    value = truth(w, UNKNOWN)
    if value == UNDECIDED:
        return None
    return NULL if value == UNKNOWN else W_Int(1 - value)


def load(address, origin):
    """The W_Value of the Mem at an address, or None if it is of a kind that only C handles."""
    place = address - BASE
    kind = SHORTS[(place + layout.Mem_flags) >> 1] & KINDS
    if kind == layout.MEM_Int:
        return W_Int(WORDS[(place + layout.Mem_u) >> 3])
    if kind == layout.MEM_Real:
        return W_Real(DOUBLES[(place + layout.Mem_u) >> 3])
    if kind == layout.MEM_Null:
        return NULL
    if kind == layout.MEM_Blob:
        made: Any = W_Blob
    elif kind == layout.MEM_Str and BYTES[place + layout.Mem_enc] == layout.SQLITE_UTF8:
        made = W_Text
    else:
        return None
    return made(WORDS[(place + layout.Mem_z) >> 3], INTS[(place + layout.Mem_n) >> 2], origin)


def load_datum(place):
    """The W_Value of the datum at WORDS[place], with a copy of its bytes."""
    tag, word = WORDS[place], WORDS[place + 1]
    if tag == INTEGER:
        return W_Int(word)
    if tag == FLOAT:
        return W_Real(DOUBLES[place + 1])
    if tag == NULL_TYPE:
        return NULL
    return kept(KeptText if tag & 7 == TEXT else KeptBlob, data_at(word, tag >> 3))


def aggregate_step_of(accumulator, kind, value):
    """aggregates.step with a Python value. C does that of a text or blob, but for count, which doesn't look at it."""
    made = type(value)
    if made is int:
        return aggregates.step(accumulator, kind, W_Int(value))
    if made is float:
        return aggregates.step(accumulator, kind, W_Real(value))
    if value is None:
        return aggregates.step(accumulator, kind, NULL)
    return aggregates.step(accumulator, kind, ONE) if kind == aggregates.COUNT else aggregates.BAIL_OUT


def store_datum(place, w):
    """Write a W_Value as the datum at WORDS[place]; its bytes are those of the W_Value."""
    kind = type(w)
    if kind is W_Int:
        WORDS[place], WORDS[place + 1] = INTEGER, w.intval
    elif kind is W_Real:
        WORDS[place], DOUBLES[place + 1] = FLOAT, w.floatval
    elif w is NULL:
        WORDS[place] = NULL_TYPE
    else:
        WORDS[place] = (TEXT if isinstance(w, W_Text) else BLOB) | w.size << 3
        WORDS[place + 1] = w.address


def store(address, value):
    """Write a W_Value or a Python value to the Mem at an address. Returns 0 or a result code."""
    if isinstance(value, Returned):
        return set_bytes(address, value.data, value.size, value.form())
    if isinstance(value, W_Bytes):
        if value.origin >= 0:
            return 0            # it is a view of this very Mem
        return lib.sqpyte_set_bytes(address, value.address, value.size,
                                    value.form())
    if type(value) is W_Int:
        value = value.intval
    elif type(value) is W_Real:
        value = value.floatval
    elif value is NULL:
        value = None
    kind = type(value)
    if kind is str or kind is bytes:
        data = value.encode() if kind is str else value
        return set_bytes(address, data, len(data),
                         layout.SQLITE_UTF8 if kind is str else layout.SQLITE_UTF8 | layout.SQPYTE_BLOB)
    place = address - BASE
    flags = (place + layout.Mem_flags) >> 1
    if SHORTS[flags] & (layout.MEM_Dyn | layout.MEM_Agg):
        lib.sqpyte_set_null(address)
    if kind is int:
        WORDS[(place + layout.Mem_u) >> 3] = value
        SHORTS[flags] = layout.MEM_Int
    elif kind is float:
        DOUBLES[(place + layout.Mem_u) >> 3] = value
        SHORTS[flags] = layout.MEM_Real
    else:
        SHORTS[flags] = layout.MEM_Null
    return 0
