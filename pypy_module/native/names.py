"""The names of CPython's own sqlite3 module, which runs on our library, and ours beside them."""

import sqlite3
import warnings

from pypy_module.dbapi.deprecation import warn

LATER = ('configure', 'explain')    # loaded when a program asks for them: they take cffi

__all__ = [name for name in dir(sqlite3) if not name.startswith('_')
           and type(getattr(sqlite3, name)) is not type(sqlite3)]
globals().update({name: getattr(sqlite3, name) for name in __all__})
__all__ += LATER


def __getattr__(name):
    if name in LATER:
        from pypy_module.native import ours
        return getattr(ours, name)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter('always')
            value = getattr(sqlite3, name)
        for warning in found:
            warn(str(warning.message))
        return value
    except AttributeError:
        raise AttributeError('module %r has no attribute %r' % ('sqpyte', name)) from None
