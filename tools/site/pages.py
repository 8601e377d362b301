"""What the documentation site has: its pages, where their texts are, and the navigation.

A page is a file of the repository, wherever it lies, or a page of the reference, which is made of docstrings. Each
public name of the module is on one page of the reference.
"""

# A file of the repository: its page in the site. What docs/ has is a page of the same name.
ELSEWHERE = {
    'README.md': 'index.md',
    'CHANGELOG.md': 'changelog.md',
    'CONTRIBUTING.md': 'contributing.md',
    'benchmarks/README.md': 'benchmarks.md',
    'c_engine/storage/README.md': 'storage.md',
}

NAVIGATION: list = [
    {'Overview': 'index.md'},
    {'Use': [
        {'Start': 'start.md'},
        {'Move from sqlite3': 'moving.md'},
        {'Where a statement runs': 'explain.md'},
        {'Settings': 'environment.md'},
        {'Versions of Python': 'versions.md'},
        {'Other languages, replicas, clusters': 'scaling.md'},
    ]},
    {'Reference': [
        {'Connections': 'reference/connections.md'},
        {'Cursors and rows': 'reference/rows.md'},
        {'Tiers and settings': 'reference/tiers.md'},
        {'Types': 'reference/types.md'},
        {'Errors': 'reference/errors.md'},
        {'Constants': 'reference/constants.md'},
    ]},
    {'How it works': [
        {'Architecture': 'architecture.md'},
        {'The VM': 'vm.md'},
        {'The inliner': 'inliner.md'},
        {'Storage': 'storage.md'},
        {'Opcodes': 'opcodes.md'},
    ]},
    {'Measured': [
        {'Performance': 'performance.md'},
        {'Benchmarks': 'benchmarks.md'},
        {'Tests': 'testing.md'},
    ]},
    {'Project': [
        {'Contributing': 'contributing.md'},
        {'Changes': 'changelog.md'},
    ]},
]

# Pages with few headings and a table that takes the room of the list of headings.
WIDE = ('environment.md', 'opcodes.md')

# Pages that have nearly every word: what else is found comes first.
LAST_FOUND = ('changelog.md', 'opcodes.md')

SAME = ('Under CPython these are `sqlite3`\'s own, which '
        '[Python\'s documentation](https://docs.python.org/3/library/sqlite3.html) describes. Under PyPy they are '
        'those of this page, with the same behaviour.')

# A page: its title, what it begins with, and the names that it describes, in this order.
REFERENCE = {
    'reference/connections.md': ('Connections', SAME, ['connect', 'Connection', 'complete_statement',
                                                       'enable_callback_tracebacks']),
    'reference/rows.md': ('Cursors and rows', SAME, ['Cursor', 'Row', 'Blob']),
    'reference/tiers.md': (
        'Tiers and settings',
        'What `sqpyte` has beside the names of `sqlite3`. [Where a statement runs](../explain.md) says how to read '
        'what `explain` returns, [Settings](../environment.md) when each setting takes effect.',
        ['explain', 'Explanation', 'Plan', 'Step', 'configure', 'status', 'Status', 'install', 'Backend']),
    'reference/types.md': ('Types', SAME, [
        'register_adapter', 'register_converter', 'adapt', 'PrepareProtocol', 'DateFromTicks', 'TimeFromTicks',
        'TimestampFromTicks']),
    'reference/errors.md': ('Errors', SAME, [
        'Warning', 'Error', 'InterfaceError', 'DatabaseError', 'DataError', 'IntegrityError', 'InternalError',
        'NotSupportedError', 'OperationalError', 'ProgrammingError']),
}

CONSTANTS = '''# Constants

%s

`sqpyte.dbapi2` is a module with the same names as `sqpyte`.

| name | what it is |
|---|---|
| `apilevel` | `'2.0'`: the DB-API's version |
| `paramstyle` | `'qmark'`: parameters are `?`; `:name` does, too |
| `threadsafety` | 3: threads may share the module, connections and cursors ([1 before Python 3.11](../versions.md)) |
| `sqlite_version`, `sqlite_version_info` | SQLite's version: a str, a tuple of three int |
| `PARSE_DECLTYPES`, `PARSE_COLNAMES` | for `detect_types` of [`connect`][sqpyte.connect] |
| `LEGACY_TRANSACTION_CONTROL` | for `autocommit` of [`connect`][sqpyte.connect] |
| `adapters`, `converters` | what [`register_adapter`][sqpyte.register_adapter] and \
[`register_converter`][sqpyte.register_converter] have been told (dicts) |
| `Date`, `Time`, `Timestamp`, `Binary` | `datetime.date`, `datetime.time`, `datetime.datetime`, `memoryview` |
| `backend` | which module serves: a [`Backend`][sqpyte.Backend] |
| `SQLITE_DENY`, `SQLITE_IGNORE`, `SQLITE_READ` and the other actions | for \
[`set_authorizer`][sqpyte.Connection.set_authorizer]; \
[SQLite describes them](https://www.sqlite.org/c3ref/c_alter_table.html) |
| `SQLITE_LIMIT_...` | for [`getlimit`][sqpyte.Connection.getlimit] and [`setlimit`][sqpyte.Connection.setlimit]; \
[SQLite describes them](https://www.sqlite.org/c3ref/c_limit_attached.html) |
| `SQLITE_DBCONFIG_...` | for [`getconfig`][sqpyte.Connection.getconfig] and \
[`setconfig`][sqpyte.Connection.setconfig]; \
[SQLite describes them](https://www.sqlite.org/c3ref/c_dbconfig_defensive.html) |
| `SQLITE_BUSY`, `SQLITE_CONSTRAINT_UNIQUE` and the other result codes | `sqlite_errorcode` of an \
[`Error`][sqpyte.Error]; [SQLite describes them](https://www.sqlite.org/rescode.html) |
''' % SAME


def titles():
    """Return what the navigation calls each page (dict)."""
    entries = [entry for part in NAVIGATION for title, what in part.items()
               for entry in (what if isinstance(what, list) else [{title: what}])]
    return {page: title for entry in entries for title, page in entry.items()}


def reference():
    """Return the pages of the reference: a dict from the page's name to its Markdown (str)."""
    found = {'reference/constants.md': CONSTANTS}
    for page, (title, text, names) in REFERENCE.items():
        found[page] = '# %s\n\n%s\n\n%s' % (title, text, ''.join('::: sqpyte.%s\n\n' % name for name in names))
    return found
