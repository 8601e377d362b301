"""SQPyte: SQLite for Python programs. `import sqpyte` in place of `import sqlite3`.

The names of sqlite3 are here, and `explain`, `configure`, `status`, `install` and `backend`.
"""

# The names are loaded when first used, so that a module of the RPython VM in this package can be imported without
# them, and by Python 2.7. Only what CPython's own sqlite3 module will call is decided at once, as a program may import
# sqlite3 next, and whether sqpyte can be used at all, as a program may want to do without it.


def _bound():
    """Have CPython's own sqlite3 take an installed copy's library, or one that the environment names; return whether it
    has. A checkout's has another name.

    Raises:
        ImportError: what the environment asks for can't be had, or the library, or cffi, which it needs here.
    """
    import os
    import sys
    if sys.version_info < (3,):
        return False
    checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not os.path.exists(os.path.join(checkout, 'Makefile')) or os.environ.get('SQPYTE_BACKEND'):
        from pypy_module.native import binding
        return binding.bind()
    if os.environ.get('SQPYTE_LIBRARY'):
        # In a checkout nothing but the VM's modules may be wanted, which need no library.
        from pypy_module.ffi import place
        if os.path.isabs(os.environ['SQPYTE_LIBRARY']):
            place.check()
        place.found()       # the same after chdir()
    return False


def _bind():
    """See `_bound`. `sqpyte-run` and `python -m sqpyte`, which is '-m' here, say themselves what they lack."""
    try:
        return _bound()
    except ImportError:
        import os
        import sys
        if os.path.basename((getattr(sys, 'argv', None) or [''])[0]) not in ('sqpyte-run', '-m'):
            raise
        return False


_native = _bind()


def _theirs(name):
    """Return what CPython's own sqlite3, on our library, has by a name; None if that isn't a public name.

    It is what `public` would give. But that takes as long as a short program's queries. Kept unless it has been
    patched: a test may have put something in its place for a while.
    """
    import sqlite3
    import sys
    value = vars(sqlite3).get(name)
    if value is None or type(value) is type(sqlite3):
        return None
    origin = sys.modules.get('sqlite3.dbapi2')      # None while sqlite3 is being imported
    if origin is not None and value is vars(origin).get(name):
        globals()[name] = value
    return value


def __getattr__(name):
    if name == '__version__':
        from pypy_module import version
        return version.sqpyte()
    if name.startswith('__') and name != '__all__' or name == 'vm':
        # The VM's package: the import system asks here before it looks for the folder.
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    if name == 'dbapi2':
        from importlib import import_module
        return import_module('sqpyte.dbapi2')
    value = _theirs(name) if _native and not name.startswith('_') else None
    if value is not None:
        return value
    from pypy_module import public
    if name == '__all__':
        # There is none, as in sqlite3: `import *` and help() take what is loaded, and that is everything now.
        globals().update({known: getattr(public, known) for known in public.available()})
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    if name in public.__all__:
        value = getattr(public, name)
        globals()[name] = value
        return value
    return public.__getattr__(name)


def __dir__():
    from pypy_module import public
    return sorted(set(list(globals()) + public.available()))
