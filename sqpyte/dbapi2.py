"""`sqpyte.dbapi2`: the same names as `sqpyte`, as `sqlite3.dbapi2` has those of `sqlite3`."""

from pypy_module import public

__all__ = [name for name in public.__all__ if name != 'dbapi2']
globals().update({name: getattr(public, name) for name in __all__})


def __getattr__(name):
    return getattr(public, name)
