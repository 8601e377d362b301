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
from pypy_module.dbapi.blob import Blob
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
from pypy_module.dbapi.explain import explain
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
    if lib.sqlite3_enable_shared_cache(bool(do_enable)):
        raise OperationalError('Changing the shared_cache flag failed')


OLD = {'OptimizedUnicode': str, 'enable_shared_cache': enable_shared_cache}
LATER = ('configure',)     # loaded when a program asks for it: few do

__all__ = [
    'Binary', 'Blob', 'Connection', 'Cursor', 'DataError', 'DatabaseError', 'Date',
    'DateFromTicks', 'Error', 'IntegrityError', 'InterfaceError', 'InternalError',
    'LEGACY_TRANSACTION_CONTROL', 'NotSupportedError', 'OperationalError', 'PARSE_COLNAMES',
    'PARSE_DECLTYPES', 'PrepareProtocol', 'ProgrammingError', 'Row', 'Time', 'TimeFromTicks',
    'Timestamp', 'TimestampFromTicks', 'Warning', 'adapt', 'adapters', 'apilevel',
    'complete_statement', 'connect', 'converters', 'enable_callback_tracebacks', 'explain',
    'paramstyle', 'register_adapter', 'register_converter', 'sqlite_version',
    'sqlite_version_info', 'threadsafety', *LATER, *sorted(constants.SQLITE)]

install()
if lib.sqpyte_without(NULL, 0):
    from pypy_module.settings import take_over
    take_over()

for _value in [Statement, *map(globals().get, __all__)]:
    if getattr(_value, '__module__', '').startswith('pypy_module.'):
        # help() has where a class is from, and since Python 3.13 each of its methods, too.
        for _part in (_value, *(vars(_value).values() if isinstance(_value, type) else ())):
            _part = getattr(_part, '__func__', _part)
            if isinstance(_part, type) or hasattr(_part, '__code__'):
                _part.__module__ = 'sqpyte'


def __getattr__(name):
    if name in LATER:
        from pypy_module.settings import configure
        return configure
    if name in ('version', 'version_info'):
        if versions.USES_WARNED_OF:
            warn('%s is deprecated and will be removed in Python 3.14' % name)
        return '2.6.0' if name == 'version' else (2, 6, 0)
    if name in OLD and not versions.OLD_NAMES_GONE:
        if versions.PYTHON >= (3, 10):
            warn('%s is deprecated and will be removed in Python 3.12' % name)
        return OLD[name]
    raise AttributeError('module %r has no attribute %r' % ('sqpyte', name))
