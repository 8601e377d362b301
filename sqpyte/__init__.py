"""SQPyte: SQLite for Python programs. `import sqpyte` in place of `import sqlite3`.

The public names (`connect`, `Connection`, `Cursor`, `Row`, the exceptions, `explain` and all
others of sqlite3) are loaded from `pypy_module` when first used, so that a module of the RPython VM
in this package can be imported without them, and by Python 2.7.
"""


def __getattr__(name):
    if name.startswith('__') and name != '__all__' or name == 'vm':
        # The VM's package: the import system asks here before it looks for the folder.
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    from pypy_module import public
    if name == 'dbapi2':
        return public
    if name == '__all__':
        return public.__all__
    if name in public.__all__:
        value = getattr(public, name)
        globals()[name] = value
        return value
    return public.__getattr__(name)


def __dir__():
    from pypy_module import public
    return sorted(set(list(globals()) + public.__all__))
