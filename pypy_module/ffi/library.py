"""Finds and opens the C library: SQLite with the fused calls, and the RPython VM if it is built.

Every other module takes `ffi`, `lib` and the numbers of the C headers from here.
"""

from pypy_module.ffi import interface, place


def open_library(path, generated):
    """Return cffi's library object for the file at `path`; raises ImportError."""
    try:
        library = generated.ffi.dlopen(path)
    except (OSError, UnicodeError) as error:
        place.fail(path, error)
    try:
        version = library.sqpyte_fused_version()
    except (AttributeError, generated.ffi.error):
        place.fail(path, place.FOREIGN)
    wanted = generated.NUMBERS['SQPYTE_FUSED_VERSION']
    if version != wanted:
        place.fail(path, 'its fused calls are version %d, not %d' % (version, wanted))
    return library


path = place.found()
generated = interface.made() if place.INSTALLED else interface.load(place.cache(), place.HEADERS)
ffi = generated.ffi
lib = open_library(path, generated)
NUMBERS = generated.NUMBERS
RESULT_CODES = generated.RESULT_CODES
NULL = ffi.NULL
TRANSIENT = -1  # SQLITE_TRANSIENT: SQLite copies the bytes before the call returns


def bytes_of(value):
    """Return the bytes of an object that exports a buffer (bytes, bytearray, memoryview, ...).

    Raises:
        TypeError: it doesn't.
        BufferError: its bytes aren't in one piece.
    """
    view = memoryview(value)
    if not view.c_contiguous:
        raise BufferError('memoryview: underlying buffer is not C-contiguous')
    return bytes(view)


def switched_off(name):
    """Whether the mechanism of that name (str; c_engine/core/mechanisms.h) is switched off (bool)."""
    off = lib.sqpyte_switched_off(name.encode())
    if off < 0:
        raise KeyError(name)
    return bool(off)


def address_of(pointer):
    """Return the address (int) that a cffi pointer holds."""
    return int(ffi.cast('intptr_t', pointer))


def text(pointer):
    """Return the str of a zero-terminated UTF-8 `char *`, or None for NULL."""
    if not pointer:
        return None
    return ffi.string(pointer).decode('utf-8', 'replace')
