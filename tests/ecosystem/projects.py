"""The projects whose test suites run on both libraries: pinned versions, where the tests are, how they are called."""

import collections

CPYTHON, PYPY, PYPY_311 = 'cpython-3.12', 'pypy-3.9', 'pypy-3.11'
# Each host's sides: stock first, then ours, with the environment variables that it is run with.
SIDES = {CPYTHON: {'sqlite3': {}, 'sqpyte': {}},
         PYPY: {'sqlite3': {}, 'sqpyte': {}, 'sqpyte-always': {'SQPYTE_INLINE': 'always'}},
         PYPY_311: {'sqlite3': {}, 'sqpyte': {}, 'sqpyte-always': {'SQPYTE_INLINE': 'always'}}}

# Where the tests are: PyPI's sdist, PyPI's wheel, or Debian's source package, where PyPI's sdist lacks them.
SDIST, WHEEL, DEBIAN = 'sdist', 'wheel', 'debian'

# name: PyPI's, or Debian's. version: of the archive. host: of SIDES (str). packages: pinned requirements of the tests
# (tuple of str). arguments: pytest's, in the folder of the sources (tuple of str), or those of `program`, a module and
# its first arguments, if that isn't None. limit: seconds that one run may take. source: SDIST, WHEEL or DEBIAN.
Project = collections.namedtuple('Project', 'name version host packages arguments limit program source',
                                 defaults=(None, SDIST))

PYTEST = 'pytest==8.4.2'

DJANGO_RUNNER = ('sqpyte_django', 'tests/runtests.py')
DJANGO = ('--settings=sqpyte_django_settings', '--parallel=1', '--noinput',
          'aggregation', 'aggregation_regress', 'annotations', 'async', 'backends', 'basic', 'bulk_create',
          'composite_pk', 'constraints', 'custom_columns', 'custom_lookups', 'datatypes', 'dates', 'datetimes',
          'db_functions', 'db_typecasts', 'db_utils', 'defer', 'delete', 'distinct_on_fields', 'expressions',
          'expressions_case', 'expressions_window', 'filtered_relation', 'fixtures', 'force_insert_update',
          'foreign_object', 'from_db_value', 'get_or_create', 'indexes', 'inspectdb', 'introspection', 'lookup',
          'many_to_many', 'migrations', 'model_fields', 'null_queries', 'ordering', 'prefetch_related', 'queries',
          'queryset_pickle', 'raw_query', 'schema', 'select_for_update', 'select_related', 'test_runner', 'timezones',
          'transaction_hooks', 'transactions', 'update', 'update_only_fields')
# What asks SQLite most; then the rest.
DIALECT = ('--db', 'sqlite', '--maxfail=0', 'test/dialect/sqlite', 'test/dialect/test_suite.py',
           'test/dialect/test_all.py', 'test/engine')
SQLALCHEMY = (*DIALECT, 'test/base', 'test/ext', 'test/sql', 'test/orm')
# Not sqlite.py, which takes peewee's compiled extension.
PEEWEE = ('-o', 'python_files=*.py', *('tests/%s.py' % name for name in (
    'db_tests expressions fields keys manytomany models model_save model_sql prefetch_tests queries regressions '
    'results schema sql transactions dataset db_url extra_fields hybrid kv migrations pool pwiz_integration '
    'reflection returning shortcuts signals sqliteq sqlite_udf test_utils').split()))
# Its sdists lack what most of its tests import. These run without.
DATASETTE = tuple('tests/test_%s.py' % name for name in
                  'cli_serve_get internals_request internals_response load_extensions table_permissions utils'.split())

# The smallest first.
PROJECTS = (
    Project('dataset', '2.0.0', CPYTHON, (), ('test',), 300),
    Project('aiosqlite', '0.22.1', CPYTHON, (), ('aiosqlite/tests/smoke.py',), 300),
    Project('datasette', '0.65.5', CPYTHON, ('pytest-asyncio==1.5.0',), DATASETTE, 300),
    Project('pony', '0.7.19', CPYTHON, (), ('pony/orm/tests',), 600),
    Project('peewee', '3.17.7+dfsg-1', CPYTHON, (), PEEWEE, 600, source=DEBIAN),
    Project('pandas', '3.1.1', CPYTHON, ('sqlalchemy==2.1.9', 'hypothesis==6.141.1'),
            ('pandas/tests/io/test_sql.py',), 900, source=WHEEL),
    Project('sqlite-utils', '4.2.1', CPYTHON, ('hypothesis==6.141.1',), ('tests',), 900),
    Project('django', '5.2.19', CPYTHON, ('jinja2==3.1.6', 'PyYAML==6.0.3', 'tblib==3.2.2'), DJANGO, 1800,
            DJANGO_RUNNER),
    Project('sqlalchemy', '2.1.9', CPYTHON, ('aiosqlite==0.22.1', 'greenlet==3.5.6'), SQLALCHEMY, 3600),

    Project('aiosqlite', '0.20.0', PYPY, (), ('aiosqlite/tests/smoke.py',), 600),
    Project('datasette', '0.64.8', PYPY, ('pytest-asyncio==0.23.8',),
            tuple(name for name in DATASETTE if 'table_permissions' not in name), 600),
    Project('peewee', '3.17.7+dfsg-1', PYPY, (), PEEWEE, 1200, source=DEBIAN),
    Project('sqlite-utils', '3.38', PYPY, ('hypothesis==6.141.1',), ('tests',), 1800),
    Project('django', '4.2.16', PYPY, ('jinja2==3.1.6', 'tblib==3.1.0'),
            tuple(word for word in DJANGO if word != 'composite_pk'), 3600, DJANGO_RUNNER),
    Project('sqlalchemy', '2.0.58', PYPY, (), DIALECT, 3600),

    Project('dataset', '2.0.0', PYPY_311, (), ('test',), 600),
    Project('aiosqlite', '0.22.1', PYPY_311, (), ('aiosqlite/tests/smoke.py',), 600),
    Project('datasette', '0.65.5', PYPY_311, ('pytest-asyncio==1.5.0',), DATASETTE, 600),
    Project('pony', '0.7.19', PYPY_311, (), ('pony/orm/tests',), 1200),
    Project('peewee', '3.17.7+dfsg-1', PYPY_311, (), PEEWEE, 1200, source=DEBIAN),
    Project('sqlite-utils', '4.2.1', PYPY_311, ('hypothesis==6.141.1',), ('tests',), 1800),
    Project('django', '5.2.19', PYPY_311, ('jinja2==3.1.6', 'tblib==3.2.2'), DJANGO, 3600, DJANGO_RUNNER),
    Project('sqlalchemy', '2.0.58', PYPY_311, (), DIALECT, 3600),
)


def chosen(names, hosts=()):
    """Return the Projects of these names on these hosts (lists of str; none: all).

    Raises:
        ValueError: there is no project of that name.
    """
    known = {one.name for one in PROJECTS}
    for name in names:
        if name not in known:
            raise ValueError('no project %s; there are: %s' % (name, ', '.join(sorted(known))))
    return [one for one in PROJECTS if (not names or one.name in names) and (not hosts or one.host in hosts)]
