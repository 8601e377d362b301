"""The public package: its names, its constants, and what importing it costs."""

import contextlib
import os
import pickle
import platform
import pydoc
import re
import sqlite3
import subprocess
import sys
import types

import pytest

import sqpyte
from pypy_module import public, version
from pypy_module.dbapi import constants, versions
from pypy_module.ffi import interface, place

ROOT = place.ROOT
CPYTHON = platform.python_implementation() == 'CPython'


def run(python, code):
    """What a program in another process prints."""
    environment = dict(os.environ, PYTHONPATH=ROOT)
    return subprocess.run([python, '-c', code], env=environment, check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()


def test_the_names_of_sqlite3():
    names = set('Binary Connection Cursor DataError DatabaseError Date DateFromTicks Error '
                'IntegrityError InterfaceError InternalError NotSupportedError OperationalError '
                'PARSE_COLNAMES PARSE_DECLTYPES PrepareProtocol ProgrammingError Row Time '
                'TimeFromTicks Timestamp TimestampFromTicks Warning adapt adapters apilevel '
                'complete_statement connect converters dbapi2 enable_callback_tracebacks '
                'paramstyle register_adapter register_converter sqlite_version '
                'sqlite_version_info threadsafety'.split())
    if CPYTHON:
        # Submodules, what sqlite3 itself imports, and names that later versions have dropped.
        names |= set(dir(sqlite3)) - {
            'collections', 'datetime', 'time', 'dump', 'OptimizedUnicode', 'enable_shared_cache',
            'Cache', 'Statement', 'warnings', 'version', 'version_info'}
    assert [name for name in sorted(names)
            if not name.startswith('_') and not hasattr(sqpyte, name)] == []
    names = {}
    exec('from sqpyte import *', names)
    assert set(dir(sqpyte)) >= {name for name in names if not name.startswith('_')} >= set(public.__all__)


def test_help_is_as_short_as_sqlite3s_and_has_no_private_names():
    """CPython 3.12's for sqlite3 has 40 772 characters; ours says what arguments are. Python 3.11's pydoc says the most
    of every class: 52 600 characters, beside 51 500 of 3.12's and 50 600 of 3.13's."""
    text = pydoc.plain(pydoc.render_doc(sqpyte))
    assert len(text) < (46000 if sys.implementation.name == 'pypy' else 53000)
    assert 'pypy_module' not in text and 'class Connection(builtins.object)' in text
    assert 'backup(self, target' in text and 'explain(connection, sql' in text and 'status()' in text
    for found in map(vars(sqpyte).get, public.__all__):
        if isinstance(found, type):
            said = pydoc.plain(pydoc.render_doc(found))
            assert re.findall(r'(?<![\w.])_[a-z]\w*', said) == [], found
    assert 'memoryview' not in text.replace('Binary = <class \'memoryview\'>', '')


def test_status():
    found = sqpyte.status()
    settings = sqpyte.configure()
    assert {name: found[name] for name in settings} == settings
    assert (found['backend'], found['reason']) == (sqpyte.backend, sqpyte.backend.reason)
    assert found['sqpyte'] == version.sqpyte() and re.match(r'\d+\.\d+\.\d+', found['sqpyte'])
    assert found['sqlite'] == sqpyte.sqlite_version and os.path.exists(found['library'])
    assert found['used'] >= found['code'] >= 0 <= found['programs'] and found['forgotten'] >= 0
    assert 'library    %s\n' % found['library'] in str(found)


@pytest.mark.since(3, 11)
def test_the_constants_of_sqlite3():
    found = {name: getattr(sqpyte, name) for name in dir(sqlite3) if name.startswith('SQLITE_')
             and hasattr(sqpyte, name)}
    assert found == {name: getattr(sqlite3, name) for name in found}
    assert len(found) > 20
    assert (sqpyte.PARSE_DECLTYPES, sqpyte.PARSE_COLNAMES) == (1, 2)  # PyPy swaps them
    assert (sqpyte.apilevel, sqpyte.paramstyle, sqpyte.threadsafety) == ('2.0', 'qmark', 3)
    assert sqpyte.sqlite_version == '.'.join(map(str, sqpyte.sqlite_version_info))


def test_every_result_code_has_its_name():
    from pypy_module.dbapi.errors import NAMES
    assert NAMES[0] == 'SQLITE_OK'
    assert NAMES[sqpyte.SQLITE_CONSTRAINT_UNIQUE] == 'SQLITE_CONSTRAINT_UNIQUE'
    assert sqpyte.SQLITE_CONSTRAINT_UNIQUE == 19 | 8 << 8
    assert set(NAMES.values()) <= set(constants.SQLITE)


@pytest.mark.since(3, 12)
def test_deprecated_names():
    with pytest.warns(DeprecationWarning, match='version is deprecated') as all:
        assert sqpyte.version == '2.6.0'
    assert all[0].filename == __file__
    assert not hasattr(sqpyte, 'nothing')


def test_dates_and_binary():
    assert sqpyte.Date(2024, 2, 29).isoformat() == '2024-02-29'
    assert sqpyte.Binary(b'x') == b'x'
    ticks = 1700000000.75
    assert sqpyte.TimestampFromTicks(ticks) == sqlite3.TimestampFromTicks(ticks)
    assert sqpyte.DateFromTicks(ticks) == sqlite3.DateFromTicks(ticks)
    assert sqpyte.TimeFromTicks(ticks) == sqlite3.TimeFromTicks(ticks)


def test_complete_statement():
    assert sqpyte.complete_statement('SELECT 1;')
    assert not sqpyte.complete_statement('SELECT 1')
    assert not sqpyte.complete_statement("SELECT ';")


def test_modules_of_the_vm_are_imported_without_the_dbapi():
    assert run(sys.executable, 'import sys, sqpyte.vm.values.values; print("pypy_module.dbapi" in sys.modules)'
               ) == 'False'


def test_the_package_is_also_python_2():
    from tools.environments import find_python27
    assert run(find_python27(), 'import sqpyte; print(sqpyte.__name__)') == 'sqpyte'


def test_what_importing_loads():
    """Modules that would make a short program wait longer than with sqlite3."""
    heavy = ('re enum typing hashlib ssl inspect dataclasses pycparser cffi json logging unittest zlib '
             'c_engine.generated.layout sqpyte.vm.base.capi pypy_module.dbapi.blob').split()
    if sys.implementation.name == 'pypy':
        heavy.append('weakref')
    loaded = run(sys.executable, 'import sys; before = set(sys.modules); import sqpyte; '
                 'sqpyte.connect(":memory:").execute("SELECT 1").fetchall(); '
                 'print(*set(sys.modules) - before)').split()
    assert set(heavy) & set(loaded) == set()


class TestLibrary:
    def test_a_library_that_is_not_there(self):
        message = run(sys.executable, '''if 1:
            import os
            os.environ['SQPYTE_LIBRARY'] = '/nothing/libnothing.so'
            try:
                import sqpyte
                sqpyte.connect
            except ImportError as error:
                print(error)''')
        assert "/nothing/libnothing.so can't be used" in message

    def test_a_library_of_others(self, stock_library):
        message = run(sys.executable, '''if 1:
            import os
            os.environ['SQPYTE_LIBRARY'] = %r
            try:
                import sqpyte
                sqpyte.connect
            except ImportError as error:
                print(error)''' % stock_library)
        assert "it isn't sqpyte's library" in message

    def test_generated_declarations(self, tmp_path):
        module = interface.load(str(tmp_path), place.HEADERS)
        again = interface.load(str(tmp_path), place.HEADERS)
        assert module is again
        assert len(list(tmp_path.glob('*.py'))) == 1
        assert module.NUMBERS['SQLITE_ROW'] == 100
        assert module.NUMBERS['SQLITE_IOERR_READ'] == 266

    def test_numbers_of_a_header(self):
        header = ('#define SQLITE_A 5 /* five */\n#  define SQLITE_B  0x10\n'
                  '#define SQLITE_C (SQLITE_A | (3<<8))\n#define SQLITE_D "text"\n')
        assert interface.numbers(header) == {'SQLITE_A': 5, 'SQLITE_B': 16, 'SQLITE_C': 773}


@pytest.mark.parametrize('name, value, expected', [
    ('SQPYTE_LIBRARY', '/nonexistent/libsqpyte.so', 'there is no such file'),
    ('SQPYTE_BACKEND', 'other', 'it takes sqlite3 or cffi'),
    ('SQPYTE_BACKEND', 'sqlite3', "SQPYTE_BACKEND=sqlite3 can't be had: " if CPYTHON else
     "SQPYTE_BACKEND=sqlite3 is for CPython: under PyPy sqpyte's own module serves; take the variable out")])
def test_importing_fails_at_once(name, value, expected):
    """A program may want to do without sqpyte, in an `except ImportError`."""
    code = 'try:\n    import sqpyte\nexcept ImportError as error:\n    print(error)'
    done = subprocess.run([sys.executable, '-c', code], env=dict(os.environ, PYTHONPATH=ROOT, **{name: value}),
                          check=True, stdout=subprocess.PIPE, universal_newlines=True)
    assert expected in done.stdout


@pytest.mark.parametrize('kind, expected', [
    ('text', 'invalid ELF header'), ('folder', 'Is a directory'), ('stock', "it isn't sqpyte's library")])
def test_importing_opens_the_library(kind, expected, tmp_path, stock_library):
    """Where our own module serves: in an installed copy, and where SQPYTE_BACKEND asks for it."""
    (tmp_path / 'text').write_text('no library' * 1000)
    (tmp_path / 'folder').mkdir()
    path = stock_library if kind == 'stock' else str(tmp_path / kind)
    code = 'try:\n    import sqpyte\nexcept ImportError as error:\n    print(error)'
    environment = dict(os.environ, PYTHONPATH=ROOT, SQPYTE_LIBRARY=path, SQPYTE_BACKEND='cffi')
    done = subprocess.run([sys.executable, '-c', code], env=environment, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True)
    assert "%s can't be used: " % path in done.stdout and expected in done.stdout


def test_a_library_named_by_a_relative_path():
    """It is the same after `chdir`."""
    from pypy_module.ffi.library import path
    folder, name = os.path.split(path)
    code = ("import sqpyte, os; os.chdir('/'); sqpyte.connect(':memory:'); os.environ['SQPYTE_LIBRARY'] = '/x'; "
            "print(sqpyte.status()['library'])")
    done = subprocess.run([sys.executable, '-c', code], env=dict(os.environ, PYTHONPATH=ROOT, SQPYTE_LIBRARY=name),
                          cwd=folder, check=True, stdout=subprocess.PIPE, universal_newlines=True)
    assert done.stdout.strip() == path


def test_connect_can_be_pickled():
    again = pickle.loads(pickle.dumps(sqpyte.connect))
    with contextlib.closing(again(':memory:')) as connection:
        assert connection.execute('SELECT 1').fetchone() == (1,)


@pytest.mark.parametrize('value, told', [('off', True), ('2', True), ('0', False), ('always', False)])
def test_a_misspelt_variable_is_told_of(value, told):
    done = subprocess.run([sys.executable, '-c', 'import sqpyte; sqpyte.connect'], stderr=subprocess.PIPE, check=True,
                          env=dict(os.environ, PYTHONPATH=ROOT, SQPYTE_INLINE=value), universal_newlines=True)
    assert ('SQPYTE_INLINE=%s ignored; it takes 0, 1 or always' % value in done.stderr) == told


@pytest.mark.parametrize('value, told', [('abc', True), ('0', True), ('3e3', True), ('99999999999', True),
                                         ('7', False), ('', False)])
def test_a_misspelt_threshold_is_told_of(value, told):
    done = subprocess.run(
        [sys.executable, '-c', "import sqpyte; print(sqpyte.configure()['threshold'])"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, check=True, env=dict(os.environ, PYTHONPATH=ROOT, SQPYTE_VM_THRESHOLD=value),
        universal_newlines=True)
    assert ('SQPYTE_VM_THRESHOLD=%s ignored' % value in done.stderr) == told
    assert done.stdout.strip() == ('7' if value == '7' else '3000')


def test_wrong_arguments(connection):
    for call in (lambda: sqpyte.connect(':memory:', cached_statements='x'),
                 lambda: sqpyte.connect(':memory:', factory=None),
                 lambda: sqpyte.connect(':memory:', detect_types='x'), lambda: sqpyte.register_converter(b'x', str),
                 lambda: sqpyte.complete_statement(1), lambda: connection.create_function('f', '1', int),
                 lambda: connection.backup(sqpyte.connect(':memory:'), sleep='x')):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        sqpyte.connect(':memory:', cached_statements=2 ** 40)
    refusal = sqpyte.ProgrammingError if versions.PARAMETERS_TYPE else ValueError
    with pytest.raises(refusal, match='parameters are of unsupported type'):
        connection.execute('SELECT :a', types.MappingProxyType({'a': 1}))


def test_install_has_what_makes_a_dump():
    code = ('import sqpyte; sqpyte.install(); import sqlite3.dump; assert sqlite3.dump._iterdump; '
            'from sqlite3.dump import _iterdump; '
            "print(list(_iterdump(sqpyte.connect(':memory:'))))")
    assert run(sys.executable, code) == "['BEGIN TRANSACTION;', 'COMMIT;']"
