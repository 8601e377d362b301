"""Which module serves: CPython's own `sqlite3` on our library, or ours on cffi; and why.

CPython's `_sqlite3` is linked to libsqlite3.so.0. The loader gives it the library of that SONAME that is loaded
already, so ours is loaded first. What `_sqlite3` got is looked at, not believed: a function's address.

Invariant: `refusal` returns None only if `_sqlite3` calls our library.
"""

import os
import sys

from pypy_module.ffi import place

CHOICES = ('', 'sqlite3', 'cffi')
PROBE, OURS = 'sqlite3_libversion_number', 'sqpyte_fused_version'

NOT_CPYTHON = "queries become part of the program's loops, which %s compiles; its own sqlite3 module can't do that"
NOT_HERE = "SQPYTE_BACKEND=sqlite3 is for CPython: under %s sqpyte's own module serves; take the variable out"
CHOSEN = 'SQPYTE_BACKEND asks for it'
NO_MODULE = "this Python has no sqlite3 module of its own: %s"
BUILT_IN = "SQLite is linked into this Python's sqlite3 module"
EARLIER = 'sqlite3 was imported before sqpyte, with the SQLite %s that it found'
NO_CTYPES = 'the loader can\'t be asked from this interpreter: %s'
OTHER = "this Python's sqlite3 module took another SQLite: it is linked into it, or another libsqlite3.so.0 was loaded"
NO_NAME = 'a library without the SONAME libsqlite3.so.0 (%s) can\'t take its place'

# What helps without cffi.
REMEDIES = {EARLIER: 'import sqpyte before sqlite3',
            NO_CTYPES: 'import sqpyte in the main interpreter first, and sqlite3, not sqpyte, here'}

_handles = []       # of libraries that stay loaded
_outcome: list = []       # what `refusal` has returned


def _opened(path):
    """Return the dynamic loader's handle of the library at `path`, loaded if it isn't; raises OSError."""
    import _ctypes
    handle = _ctypes.dlopen(path, os.RTLD_NOW)
    _handles.append(handle)
    return handle


def _address(handle, function=PROBE):
    """Return the address of a function in a library or what that is linked to, or None."""
    import _ctypes
    try:
        return _ctypes.dlsym(handle, function)
    except OSError:
        return None


def bind():
    """Have one of the modules serve; return whether that is CPython's own (bool).

    Raises:
        ImportError: what `refusal` or `check` raises.
    """
    if refusal() is None:
        return True
    check()
    return False


def refusal():
    """Have CPython's own `_sqlite3` take our library, when this is called for the first time.

    Returns:
        None if it has, else why not (str).
    Raises:
        ImportError: there is no library of ours, or it can't be loaded, or SQPYTE_BACKEND asks for what can't be had.
    """
    if _outcome:
        return _outcome[0]
    wanted = os.environ.get('SQPYTE_BACKEND', '')
    if wanted not in CHOICES:
        raise ImportError('SQPYTE_BACKEND=%s: it takes sqlite3 or cffi' % wanted)
    reason = CHOSEN if wanted == 'cffi' else _attempt()
    if reason and wanted == 'sqlite3':
        if sys.implementation.name != 'cpython':
            raise ImportError(NOT_HERE % platform_name())
        raise ImportError("SQPYTE_BACKEND=sqlite3 can't be had: %s; without the variable, sqpyte's own module serves"
                          % reason)
    _outcome.append(reason)
    return reason


def _attempt():
    """See `refusal`."""
    if sys.implementation.name != 'cpython':
        return NOT_CPYTHON % platform_name()
    if '_sqlite3' in sys.builtin_module_names:
        return BUILT_IN
    earlier = '_sqlite3' in sys.modules
    path = place.found()
    if not path.endswith('libsqlite3.so.0') and not earlier:
        return NO_NAME % path
    try:
        library = _opened(path)
    except OSError as error:
        place.fail(path, error)
    except ImportError as error:    # a subinterpreter, perhaps
        return NO_CTYPES % error
    if _address(library, OURS) is None:
        place.fail(path, place.FOREIGN)
    try:
        import _sqlite3
    except ImportError as error:
        return NO_MODULE % error
    if _address(_opened(_sqlite3.__file__)) == _address(library) is not None:
        return None
    if earlier:
        return EARLIER % _sqlite3.sqlite_version
    del sys.modules['_sqlite3']     # the program hasn't imported it
    return OTHER


def check():
    """Raise ImportError if our module, on cffi, can't serve either: what it needs isn't there. It opens the library,
    which the module needs at its first use."""
    place.check()
    reason = _outcome[0] if _outcome else ''
    remedy = [what for why, what in REMEDIES.items() if reason.startswith(why.partition('%')[0])]
    need_cffi('it needs cffi here%s' % (' (%s)' % reason if reason else ''), *remedy)
    from pypy_module.ffi import library  # noqa: F401


def need_cffi(need, *remedies):
    """Raise ImportError if there is no cffi.

    Args:
        need: who needs it (str), the beginning of a sentence that the message goes on with.
        remedies: what else helps (str).
    """
    try:
        import _cffi_backend  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            remedies += ('pip install cffi',)
        raise ImportError('sqpyte: %s, which can\'t be imported: %s%s' % (
            need, error, '; ' + ', or '.join(remedies) if remedies else '')) from None


def platform_name():
    """The interpreter's name as people write it (str)."""
    return {'pypy': 'PyPy', 'graalpy': 'GraalPy'}.get(sys.implementation.name, sys.implementation.name)
