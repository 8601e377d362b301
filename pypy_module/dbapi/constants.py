"""The module's constants: SQLite's, with their values from its header, and the DB-API's own."""

from pypy_module.dbapi import versions
from pypy_module.ffi.library import NUMBERS, RESULT_CODES, lib, text

PARSE_DECLTYPES = 1
PARSE_COLNAMES = 2
LEGACY_TRANSACTION_CONTROL = -1

AUTHORIZER = """
    SQLITE_DENY SQLITE_IGNORE SQLITE_CREATE_INDEX SQLITE_CREATE_TABLE SQLITE_CREATE_TEMP_INDEX
    SQLITE_CREATE_TEMP_TABLE SQLITE_CREATE_TEMP_TRIGGER SQLITE_CREATE_TEMP_VIEW
    SQLITE_CREATE_TRIGGER SQLITE_CREATE_VIEW SQLITE_DELETE SQLITE_DROP_INDEX SQLITE_DROP_TABLE
    SQLITE_DROP_TEMP_INDEX SQLITE_DROP_TEMP_TABLE SQLITE_DROP_TEMP_TRIGGER SQLITE_DROP_TEMP_VIEW
    SQLITE_DROP_TRIGGER SQLITE_DROP_VIEW SQLITE_INSERT SQLITE_PRAGMA SQLITE_READ SQLITE_SELECT
    SQLITE_TRANSACTION SQLITE_UPDATE SQLITE_ATTACH SQLITE_DETACH SQLITE_ALTER_TABLE SQLITE_REINDEX
    SQLITE_ANALYZE SQLITE_CREATE_VTABLE SQLITE_DROP_VTABLE SQLITE_FUNCTION SQLITE_SAVEPOINT
    SQLITE_RECURSIVE""".split()

apilevel = '2.0'
paramstyle = 'qmark'
# 3: threads may share the module, connections and cursors; SQLite's serialised mode allows it.
threadsafety = {0: 0, 2: 1, 1: 3}[lib.sqlite3_threadsafe()] if versions.THREADSAFETY else 1
sqlite_version = text(lib.sqlite3_libversion())
sqlite_version_info = tuple(int(part) for part in sqlite_version.split('.'))

SQLITE = {name: value for name, value in NUMBERS.items()
          if name in AUTHORIZER or name in RESULT_CODES
          or name.startswith(('SQLITE_LIMIT_', 'SQLITE_DBCONFIG_'))}
# Numbers of SQLite's that sqlite3 leaves out: they take a pointer, or name no setting.
for _name in ('SQLITE_DBCONFIG_MAINDBNAME', 'SQLITE_DBCONFIG_LOOKASIDE', 'SQLITE_DBCONFIG_MAX'):
    SQLITE.pop(_name, None)
globals().update(SQLITE)
