"""Raw memory for the inliner, in the form that PyPy's JIT turns into single loads.

One pointer of each type is enough for all of memory: indexing it costs a load and no object.  Its
base isn't NULL, which cffi refuses to index, so an address has BASE subtracted first.
"""

from pypy_module.ffi.library import ffi

BASE = 8
WORDS = ffi.cast('int64_t *', BASE)
DOUBLES = ffi.cast('double *', BASE)
INTS = ffi.cast('int32_t *', BASE)
SHORTS = ffi.cast('uint16_t *', BASE)
BYTES = ffi.cast('uint8_t *', BASE)
CHARS = ffi.cast('char *', BASE)
unpack = ffi.unpack


def data_at(address, size):
    """The `size` bytes at an address."""
    return unpack(CHARS + (address - BASE), size)
