"""The public names: what `import sqpyte` offers, from the module that serves here.

Two do: our own, on cffi, in which PyPy inlines queries; and CPython's own sqlite3 on our library, which has the
interpreter's own semantics at its own speed. `backend` says which, and why.
"""

import os
import sys


def _native():
    """Return whether CPython's own module serves. Elsewhere the module that finds out isn't loaded."""
    if sys.implementation.name != 'cpython' and not os.environ.get('SQPYTE_BACKEND'):
        return False
    from pypy_module.native import binding
    return binding.refusal() is None


_NATIVE = _native()
if _NATIVE:
    from pypy_module.native import names as _serving
else:
    from pypy_module import module as _serving  # type: ignore[no-redef]


def install():
    """Give every module that imports sqlite3 from now on this module.

    Warns:
        RuntimeWarning: sqlite3 has been imported with another SQLite; modules that have it keep it.
    """
    if _NATIVE:
        return
    import types
    import warnings

    import sqpyte
    if '_sqlite3' in sys.modules or '_sqlite3_cffi' in sys.modules:
        warnings.warn('sqlite3 was imported before sqpyte.install(): modules that have it keep it; call install() at '
                      'the beginning of the program, or start it with sqpyte-run', RuntimeWarning, stacklevel=2)
    for other in [name for name in sys.modules if name == 'sqlite3' or name.startswith('sqlite3.')]:
        del sys.modules[other]
    sys.modules['sqlite3'] = sqpyte
    sys.modules['sqlite3.dbapi2'] = sqpyte.dbapi2
    sys.modules['sqlite3.dump'] = dump = types.ModuleType('sqlite3.dump', 'What makes a dump of a database.')
    vars(sqpyte)['dump'] = dump
    vars(dump)['_iterdump'] = lambda connection, **keywords: _serving.Connection.iterdump(connection, **keywords)


for _name in _serving.__all__:
    if _name not in _serving.LATER:
        globals()[_name] = getattr(_serving, _name)
LATER = ('status', 'backend')       # loaded when a program asks for them: few do
_TAKE_CFFI = ('status', *_serving.LATER)     # under CPython's own module, too
__all__ = [*_serving.__all__, 'install', *LATER]
install.__module__ = 'sqpyte'       # as help() says


def available():
    """Return the names that can be had (list of str): all but, under CPython without cffi, those that need it."""
    lacking: tuple = ()
    if _NATIVE:
        from pypy_module.native import binding
        try:
            binding.need_cffi('')
        except ImportError:
            lacking = _TAKE_CFFI
    return [name for name in __all__ if name not in lacking]


def __getattr__(name):
    if name == 'backend':
        from pypy_module.native.backend import backend
        return backend
    if name in _TAKE_CFFI and _NATIVE:
        from pypy_module.native import binding
        binding.need_cffi('%s needs cffi' % name)
    if name == 'status':
        from pypy_module.status import status as found
    else:
        found = _serving.__getattr__(name)
    if name in _TAKE_CFFI:
        found.__module__ = 'sqpyte'     # as help() says
    return found
