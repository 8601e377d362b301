"""Finds and opens the C library: SQLite with the fused calls, and the RPython VM if it is built.

Every other module takes `ffi`, `lib` and the numbers of the C headers from here.
"""

import os

from pypy_module.ffi import interface

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, 'build')
HEADERS = [os.path.join(BUILD, 'engine', 'sqlite3.h'),
           os.path.join(ROOT, 'c_engine', 'core', 'engine.h')]
HEADERS += [os.path.join(ROOT, 'c_engine', 'rows', name)
            for name in ('fused.h', 'page_batch.h', 'call_log.h')]


def find():
    """Return the library's path (str).

    SQPYTE_LIBRARY in the environment comes first, then build/libsqpyte.so (engine and VM) unless
    the engine was built again after it, then build/libsqpyte-engine.so.

    Raises:
        ImportError: there is none.
    """
    chosen = os.environ.get('SQPYTE_LIBRARY')
    if chosen:
        return os.path.abspath(chosen)
    with_vm = os.path.join(BUILD, 'libsqpyte.so')
    engine = os.path.join(BUILD, 'libsqpyte-engine.so')
    if os.path.exists(with_vm) and not (
            os.path.exists(engine) and os.path.getmtime(engine) > os.path.getmtime(with_vm)):
        return with_vm
    if os.path.exists(engine):
        return engine
    raise ImportError('sqpyte: no C library: neither %s nor %s exists; `make` builds them, or '
                      'SQPYTE_LIBRARY names one' % (with_vm, engine))


def fail(path, reason):
    """Raise the ImportError for a library that can't be used."""
    raise ImportError('sqpyte: %s can\'t be used: %s; `make` builds it anew' % (path, reason))


def open_library(path, generated):
    """Return cffi's library object for the file at `path`; raises ImportError."""
    try:
        library = generated.ffi.dlopen(path)
    except OSError as error:
        fail(path, error)
    try:
        version = library.sqpyte_fused_version()
    except (AttributeError, generated.ffi.error):
        fail(path, 'it has no fused calls')
    wanted = generated.NUMBERS['SQPYTE_FUSED_VERSION']
    if version != wanted:
        fail(path, 'its fused calls are version %d, not %d' % (version, wanted))
    return library


path = find()
try:
    generated = interface.load(os.path.join(BUILD, 'abi'), HEADERS)
except OSError as error:
    fail(path, error)
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
