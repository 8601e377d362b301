"""SQPyte: SQLite for Python programs. `import sqpyte` in place of `import sqlite3`.

The public names (`connect`, `Connection`, `Cursor`, `Row`, the exceptions, `explain` and all
others of sqlite3) are loaded from `pypy_module` when first used, so that a module of the RPython VM
in this package can be imported without them, and by Python 2.7.
"""

import os


def __getattr__(name):
    if name.startswith('__') and name != '__all__' or os.path.exists(
            os.path.join(os.path.dirname(__file__), name + '.py')):
        # A submodule, if anything: the import system asks here before it looks for the file.
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    from pypy_module import dbapi
    if name == 'dbapi2':
        return dbapi
    if name == '__all__':
        return dbapi.__all__
    if name in dbapi.__all__:
        value = getattr(dbapi, name)
        globals()[name] = value
        return value
    return dbapi.__getattr__(name)


def __dir__():
    from pypy_module import dbapi
    return sorted(set(list(globals()) + dbapi.__all__))
