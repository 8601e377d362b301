"""The DB-API's exceptions, and how SQLite's error codes become them."""

from pypy_module.dbapi import versions
from pypy_module.dbapi.mixin import TYPE_CHECKING
from pypy_module.ffi.library import NUMBERS, RESULT_CODES, lib, text


HEAPTYPE, IMMUTABLETYPE = 1 << 9, 1 << 8     # Py_TPFLAGS_*: a class of C's has the second, or not the first


class Warning(Exception):
    """Part of the DB-API. Before Python 3.11, `execute` raises it for several statements."""


class Error(Exception):
    """Base of all errors of the database.

    Attributes:
        sqlite_errorcode: SQLite's extended result code (int), where SQLite raised the error.
        sqlite_errorname: its name (str), such as 'SQLITE_CONSTRAINT_UNIQUE'.
    """

    if TYPE_CHECKING:       # not annotated: help() would list `__annotations__` with each of the exceptions
        sqlite_errorcode = 0
        sqlite_errorname = ''


class InterfaceError(Error):
    """SQLite's interface was used wrongly."""


class DatabaseError(Error):
    """An error in the database."""


class InternalError(DatabaseError):
    """SQLite met an inconsistency of its own."""


class OperationalError(DatabaseError):
    """An error in the database's operation: not necessarily the program's fault."""


class ProgrammingError(DatabaseError):
    """The program used the module wrongly."""


class IntegrityError(DatabaseError):
    """A constraint of the database was violated."""


class DataError(DatabaseError):
    """A value can't be processed: too large, for example."""


class NotSupportedError(DatabaseError):
    """SQLite can't do what was asked for."""


def exposed(cls):
    """Return the attribute of a Connection that gives one of these exceptions; as in CPython, it can't be set."""
    return property(lambda self: cls)


def c_name(cls):
    """Return the name of a class (str) as C has it, in its tp_name: with the module, if C has made it."""
    of_c = not cls.__flags__ & HEAPTYPE or cls.__flags__ & IMMUTABLETYPE
    return '%s.%s' % (cls.__module__, cls.__name__) if of_c and cls.__module__ != 'builtins' else cls.__name__


def out_of_range():
    """Return the exception for an int that SQLite can't hold."""
    return OverflowError('Python int too large to convert to SQLite INTEGER')


def kind(value):
    """Return the name of a value's class (str), or None's, as an error's message about an argument ends with it: with
    the reason where the value is another SQLite's."""
    if value is None:
        return 'None'
    cls = type(value)
    if any(base.__module__ in ('sqlite3', '_sqlite3') for base in cls.__mro__):
        return ("another SQLite library's: sqlite3 has not been imported as sqpyte here; use one of them in the whole "
                'program (import sqpyte as sqlite3, sqpyte.install() at its beginning, or sqpyte-run)')
    return c_name(cls)


def not_sql(method, sql):
    """Return the TypeError for what is given a method (its name: str) as SQL, and is no str."""
    beginning = method + ' ' if versions.SQL_TYPE_MESSAGE else ''
    return TypeError('%sargument 1 must be str, not %s' % (beginning, kind(sql)))


NAMES = {NUMBERS[name]: name for name in reversed(RESULT_CODES)}

_CLASSES = {}
for _class, _names in [
        (InternalError, 'INTERNAL NOTFOUND'),
        (OperationalError, 'ERROR PERM ABORT BUSY LOCKED READONLY INTERRUPT IOERR FULL CANTOPEN'
                           ' PROTOCOL EMPTY SCHEMA'),
        (DatabaseError, 'CORRUPT'),
        (DataError, 'TOOBIG'),
        (IntegrityError, 'CONSTRAINT MISMATCH'),
        (InterfaceError, 'MISUSE RANGE')]:
    for _name in _names.split():
        _CLASSES[NUMBERS['SQLITE_' + _name]] = _class

NOMEM = NUMBERS['SQLITE_NOMEM']
NO_ERRORS = [NUMBERS[name] for name in ('SQLITE_OK', 'SQLITE_ROW', 'SQLITE_DONE')]
ATTRIBUTE = 'AttributeError: '      # begins the message of an error of SQLite's that becomes one of Python's


def not_copied(name):
    """Return the `__reduce_ex__` of a class (`name`: str): what belongs to a database is neither copied nor pickled."""
    def __reduce_ex__(self, protocol, /):
        raise TypeError("cannot pickle '%s.%s' object" % (type(self).__module__, type(self).__name__))

    __reduce_ex__.__qualname__ = name + '.__reduce_ex__'    # as help() says
    return __reduce_ex__


def make(code, extended, message):
    """Return the exception for an error of SQLite.

    Args:
        code: primary result code (int).
        extended: extended result code (int).
        message: what SQLite says (str).
    """
    if code == NOMEM:
        return MemoryError()
    if message.startswith(ATTRIBUTE) and not versions.NO_STEP:
        return AttributeError(message[len(ATTRIBUTE):])
    error = _CLASSES.get(code, DatabaseError)(message)
    error.sqlite_errorcode = extended
    error.sqlite_errorname = NAMES.get(extended, 'unknown')
    return error


def from_database(db, rc=NUMBERS['SQLITE_ERROR']):
    """Return the exception for the last error of `db` (a `sqlite3 *`, NULL if it was closed).

    Args:
        rc: the result code (int) of what has failed: it serves if a signal's handler has used the connection since.
    """
    if not db:
        return ProgrammingError('Cannot operate on a closed database.')
    code = lib.sqlite3_errcode(db)
    if code in NO_ERRORS:
        return make(rc & 0xff, rc, text(lib.sqlite3_errstr(rc)))
    return make(code, lib.sqlite3_extended_errcode(db), text(lib.sqlite3_errmsg(db)))
