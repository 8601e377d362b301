"""The names of our own module, on cffi: those of sqlite3 and a few more; and the inliner is installed."""

from pypy_module.dbapi import constants, versions
from pypy_module.dbapi.arguments import checked_text
from pypy_module.dbapi.adapters import (
    Binary,
    Date,
    DateFromTicks,
    PrepareProtocol,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    adapt,
    adapters,
    converters,
    register_adapter,
    register_converter,
)
from pypy_module.dbapi.connection import Connection, connect
from pypy_module.dbapi.connections.callbacks import enable_callback_tracebacks
from pypy_module.dbapi.constants import (
    LEGACY_TRANSACTION_CONTROL,
    PARSE_COLNAMES,
    PARSE_DECLTYPES,
    apilevel,
    paramstyle,
    sqlite_version,
    sqlite_version_info,
    threadsafety,
)
from pypy_module.dbapi.cursor import Cursor
from pypy_module.dbapi.deprecation import warn
from pypy_module.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from pypy_module.dbapi.row import Row
from pypy_module.dbapi.statements.statement import Statement
from pypy_module.ffi.library import NULL, lib
from pypy_module.inline.policy import install

globals().update(constants.SQLITE)


def complete_statement(statement):
    """Whether `statement` (str) ends with a complete SQL statement (bool)."""
    return bool(lib.sqlite3_complete(checked_text(statement, "complete_statement() argument 'statement'").encode()))


def enable_shared_cache(do_enable):
    """Have connections that are opened afterwards share their cache, or not (bool). Python 3.12 has dropped it."""
    if versions.PYTHON >= (3, 10):
        warn(DEPRECATED % 'enable_shared_cache')
    if lib.sqlite3_enable_shared_cache(bool(do_enable)):
        raise OperationalError('Changing the shared_cache flag failed')


DEPRECATED = '%s is deprecated and will be removed in Python 3.12'
VERSION = {'version': '2.6.0', 'version_info': (2, 6, 0)}
# Loaded when a program asks for them, as few do: their modules.
LATER = {'Blob': 'pypy_module.dbapi.blob', 'configure': 'pypy_module.settings', 'explain': 'pypy_module.dbapi.explain'}

__all__ = [
    'Binary', 'Connection', 'Cursor', 'DataError', 'DatabaseError', 'Date',
    'DateFromTicks', 'Error', 'IntegrityError', 'InterfaceError', 'InternalError',
    'LEGACY_TRANSACTION_CONTROL', 'NotSupportedError', 'OperationalError', 'PARSE_COLNAMES',
    'PARSE_DECLTYPES', 'PrepareProtocol', 'ProgrammingError', 'Row', 'Time', 'TimeFromTicks',
    'Timestamp', 'TimestampFromTicks', 'Warning', 'adapt', 'adapters', 'apilevel',
    'complete_statement', 'connect', 'converters', 'enable_callback_tracebacks',
    'paramstyle', 'register_adapter', 'register_converter', 'sqlite_version',
    'sqlite_version_info', 'threadsafety', *LATER, *sorted(constants.SQLITE)]
if not versions.USES_WARNED_OF:
    globals().update(VERSION)
    __all__ += VERSION
if versions.OLD_NAMES_GONE:
    del enable_shared_cache
else:
    __all__.append('enable_shared_cache')
    if versions.PYTHON < (3, 10):
        OptimizedUnicode = str
        __all__.append('OptimizedUnicode')

install()
if lib.sqpyte_without(NULL, 0):
    from pypy_module.settings import take_over
    take_over()

def _named_as_ours(value):
    """Have help() say that a function or a class is sqpyte's, and of its methods, too; return it."""
    for part in (value, *(vars(value).values() if isinstance(value, type) else ())):
        part = getattr(part, '__func__', part)
        if ((isinstance(part, type) or hasattr(part, '__code__'))
                and (part.__module__ or '').startswith('pypy_module.')):
            part.__module__ = 'sqpyte'
    return value


for _value in [Statement, *map(globals().get, __all__)]:
    _named_as_ours(_value)


def __getattr__(name):
    if name in LATER:
        from importlib import import_module
        return _named_as_ours(getattr(import_module(LATER[name]), name))
    if name in VERSION:
        warn('%s is deprecated and will be removed in Python 3.14' % name)
        return VERSION[name]
    if name == 'OptimizedUnicode' and not versions.OLD_NAMES_GONE:
        warn(DEPRECATED % name)
        return str
    raise AttributeError('module %r has no attribute %r' % ('sqpyte', name))
