"""Raw memory for the inliner, in the form that PyPy's JIT turns into single loads.

One pointer of each type is enough for all of memory: indexing it costs a load and no object.  Its
base isn't NULL, which cffi refuses to index, so an address has BASE subtracted first.
"""

from pypy_module.library import ffi

BASE = 8
WORDS = ffi.cast('int64_t *', BASE)
DOUBLES = ffi.cast('double *', BASE)
CHARS = ffi.cast('char *', BASE)
unpack = ffi.unpack


def word(address):
    """The signed 64-bit integer at an address that is a multiple of 8."""
    return WORDS[(address - BASE) >> 3]


def data_at(address, size):
    """The `size` bytes at an address."""
    return unpack(CHARS + (address - BASE), size)
