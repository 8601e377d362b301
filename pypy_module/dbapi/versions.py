"""Where the versions of Python's sqlite3 differ: the one table.

A program meets the semantics of the Python that runs it. What later versions have added is there in all of them; what
they have changed is as it was. `TABLE` says what changed, and when; the constants say which side of it we are on.
"""

import os
import sys

TABLE: list = []    # of (first version, what, before it, from it on)


def _semantics():
    """Return the version whose semantics hold (tuple of int): this Python's, or SQPYTE_SEMANTICS, for tests."""
    given = os.environ.get('SQPYTE_SEMANTICS')
    if not given:
        return sys.version_info[:2]
    try:
        major, minor = map(int, given.split('.'))
    except ValueError:
        major = minor = 0
    if major != 3 or minor < 9:
        raise ImportError('SQPYTE_SEMANTICS=%s: it takes a version of Python from 3.9 on, such as 3.11' % given)
    return major, minor


PYTHON = _semantics()


def since(version, what, before, after):
    """Add a row to TABLE; return whether the semantics of `version` or a later one hold (bool)."""
    TABLE.append((version, what, before, after))
    return PYTHON >= version


SQL_TYPE_MESSAGE = since(
    (3, 10), 'message for SQL that is no str', 'begins with "argument 1"', 'begins with the method\'s name')
NAMED_VALUE_MISSING = since(
    (3, 10), 'message for a named parameter without a value', 'has its number', 'has its name')
CONVERTER_ENCODING = since(
    (3, 10), 'what a converter gets of a text in a UTF-16 database', 'it in UTF-8', 'its bytes in the database')
COLLATION_INTS = since(
    (3, 10), 'a collation that returns a float, or anything else with `__int__` alone',
    'its whole part decides (DeprecationWarning)', 'texts are equal')
COMMENTS_BEFORE_DML = since(
    (3, 10), 'a comment before INSERT, UPDATE, DELETE or REPLACE',
    'hides it: no transaction is begun, no rows are counted', 'is passed over')
TRIGGERS_AGAIN = since(
    (3, 10), 'what a trace callback is told of the statements of a trigger', 'as comments',
    'the statement that fires it, again')
OWN_CURSOR = since(
    (3, 11), '`execute` of a subclass of Connection with a `cursor` of its own', 'calls it', 'makes a plain Cursor')
SEVERAL_STATEMENTS = since((3, 11), '`execute` of several statements', 'Warning', 'ProgrammingError')
NULL_CHARACTER = since((3, 11), 'SQL with a null character', 'ValueError', 'ProgrammingError')
PARAMETERS_TYPE = since((3, 11), 'parameters that are no sequence', 'ValueError', 'ProgrammingError')
UNSUPPORTED_VALUE = since((3, 11), 'a parameter of another type', 'InterfaceError', 'ProgrammingError')
BLOB_IN_PIECES = since(
    (3, 11), "a buffer that isn't contiguous (`memoryview(b'abcd')[::2]`)", 'ValueError', 'BufferError')
SCRIPT_TYPE = since((3, 11), '`executescript` of anything but a str', 'ValueError', 'TypeError')
LEVEL_NORMALISED = since((3, 11), '`isolation_level`', 'as it was given', 'in capitals')
FETCH_AFTER_ROLLBACK = since(
    (3, 11), 'fetching after `Connection.rollback`', 'InterfaceError', 'goes on with the rows')
FIRST_ROW_LATER = since(
    (3, 11), 'converters and text factory for the first row',
    'run in `execute`; amid rows, another text factory is for the row after the next', 'run when it is fetched')
THREADSAFETY = since((3, 11), '`threadsafety`', '1', 'what SQLite was compiled for: 3')
COLLATION_NAMES = since(
    (3, 11), 'names of collations', 'letters, digits and underscores of ASCII', 'any')
UNRAISABLE = since(
    (3, 11), 'where `enable_callback_tracebacks` has exceptions shown', 'sys.excepthook', 'sys.unraisablehook')
ERRORS_OF_FUNCTIONS = since(
    (3, 11), 'a function that raises MemoryError, or OverflowError, or returns an int beyond 64 bits',
    'OperationalError', 'MemoryError, DataError')
NO_STEP = since((3, 11), 'an aggregate without `step`', 'AttributeError', 'OperationalError')
NO_FINALIZE = since((3, 11), 'message for an aggregate without `finalize`', 'it raised error', 'it is not defined')
CLOSED_IS_NOTICED = since(
    (3, 11), '`with`, and `isolation_level = None`, of a closed connection', 'silent at first', 'ProgrammingError')
OLD_NAMES_GONE = since((3, 12), '`OptimizedUnicode`, `enable_shared_cache`', 'there', 'gone')
USES_WARNED_OF = since(
    (3, 12), '`version`, default adapters and converters, named parameters by position', 'silent', 'DeprecationWarning')
CALLS_WARNED_OF = since(
    (3, 13), 'parameters of `connect`, functions and hooks that become positional-only or keyword-only', 'silent',
    'DeprecationWarning')
UNCLOSED_WARNED_OF = since((3, 13), 'a connection that is dropped, and not closed', 'silent', 'ResourceWarning')
DUMP_WITHOUT_KEYS = since(
    (3, 13), '`iterdump` of rows that violate a foreign key', 'as of others', 'begins with foreign_keys=OFF')
