"""The values that registers hold: immutable language-level objects, never C `Mem` structs.

The first SQPyte kept `Mem` in C and its authors found that this hobbled the optimiser.  As
plain objects with immutable fields they are removed by the JIT (RPython's, or PyPy's for the
inliner): integers and reals then live in machine registers.

A text or a blob is a view of raw memory, of which `origin` says how long it lasts:

* `r >= 0`: the `Mem` of register r, until that is written;
* `CONSTANT`: for ever;
* `row_origin(c)`: the row under cursor c, until the cursor leaves the page (or the sorter's
  record).
"""

from c_engine.generated.layout import SQLITE_UTF8, SQPYTE_BLOB

CONSTANT = -1


def row_origin(cursor):
    """The origin of views of the row under the cursor with this number."""
    return -2 - cursor


class W_Value(object):
    """Any value of a register."""
    _attrs_ = []
    __slots__ = ()


class W_Null(W_Value):
    """NULL."""
    _attrs_ = []
    __slots__ = ()


class W_Int(W_Value):
    """A 64-bit integer."""
    _immutable_fields_ = ['intval']
    __slots__ = ('intval',)

    def __init__(self, intval):
        self.intval = intval


class W_Real(W_Value):
    """A double; never NaN, which SQL has as NULL."""
    _immutable_fields_ = ['floatval']
    __slots__ = ('floatval',)

    def __init__(self, floatval):
        self.floatval = floatval


class W_Bytes(W_Value):
    """A view of size bytes at address; see the module's docstring for origin."""
    _immutable_fields_ = ['address', 'size', 'origin']
    __slots__ = ('address', 'size', 'origin')

    def __init__(self, address, size, origin):
        self.address = address
        self.size = size
        self.origin = origin

    def moved(self, address, origin):
        """The same bytes at another place."""
        return W_Bytes(address, self.size, origin)

    def form(self):
        """What C's helpers are told of the bytes: see engine.h."""
        return 0


class W_Text(W_Bytes):
    """Text: UTF-8, but for W_Wide."""
    __slots__ = ()

    def form(self):
        """See W_Bytes."""
        return SQLITE_UTF8

    def moved(self, address, origin):
        """The same text at another place."""
        return W_Text(address, self.size, origin)


class W_Wide(W_Text):
    """Text in UTF-16, of either byte order."""
    _immutable_fields_ = ['encoding']
    __slots__ = ('encoding',)

    def __init__(self, address, size, origin, encoding):
        W_Text.__init__(self, address, size, origin)
        self.encoding = encoding

    def form(self):
        """See W_Bytes."""
        return self.encoding

    def moved(self, address, origin):
        """The same text at another place."""
        return W_Wide(address, self.size, origin, self.encoding)


class W_Blob(W_Bytes):
    """A blob; as a text or number it is read as UTF-8, but for W_WideBlob."""
    __slots__ = ()

    def form(self):
        """See W_Bytes."""
        return SQLITE_UTF8 | SQPYTE_BLOB

    def moved(self, address, origin):
        """The same blob at another place."""
        return W_Blob(address, self.size, origin)


class W_WideBlob(W_Blob):
    """A blob in a UTF-16 database."""
    _immutable_fields_ = ['encoding']
    __slots__ = ('encoding',)

    def __init__(self, address, size, origin, encoding):
        W_Blob.__init__(self, address, size, origin)
        self.encoding = encoding

    def form(self):
        """See W_Bytes."""
        return self.encoding | SQPYTE_BLOB

    def moved(self, address, origin):
        """The same blob at another place."""
        return W_WideBlob(address, self.size, origin, self.encoding)


def text_at(address, size, origin, encoding):
    """A text (W_Text) in that encoding (SQLITE_UTF8 or another)."""
    if encoding == SQLITE_UTF8:
        return W_Text(address, size, origin)
    return W_Wide(address, size, origin, encoding)


def blob_at(address, size, origin, encoding):
    """A blob (W_Blob) that as a text or number is read in that encoding."""
    if encoding == SQLITE_UTF8:
        return W_Blob(address, size, origin)
    return W_WideBlob(address, size, origin, encoding)


class W_InMem(W_Value):
    """Stands for a value that only the register's `Mem` in C has (see frame.py)."""
    _attrs_ = []
    __slots__ = ()


NULL = W_Null()
IN_MEM = W_InMem()
