"""CPython's own sqlite3 module on the installed library; and who gets which module, and why."""

import os
import re
import subprocess

import pytest

BACKEND = 'import sqpyte; print(sqpyte.backend, "-", sqpyte.backend.reason)'


def test_it_is_the_interpreters_module(cpython):
    said = cpython.script('''if 1:
        import pydoc, sqpyte, sqlite3
        assert sqpyte.connect is sqlite3.connect and sqpyte.Row is sqlite3.Row and sqpyte.Error is sqlite3.Error
        missing = [name for name in dir(sqlite3) if not name.startswith('_') and not hasattr(sqpyte, name)]
        assert missing == [], missing
        ours = {'explain', 'configure', 'status', 'backend', 'install'}
        assert set(dir(sqpyte)) >= {'connect', 'Connection', *ours}
        assert sqpyte.status()['backend'] == 'sqlite3' and 'libsqlite3.so.0' in str(sqpyte.status())
        assert len(pydoc.render_doc(sqpyte)) <= len(pydoc.render_doc(sqlite3))
        import sqpyte.dbapi2
        from sqpyte.dbapi2 import connect
        assert sqpyte.dbapi2.__name__ == 'sqpyte.dbapi2' and connect is sqlite3.connect
        print(sqpyte.backend, sqlite3.sqlite_version == sqpyte.sqlite_version)''')
    assert said.split() == ['sqlite3', 'True']


def test_a_short_program_imports_little(cpython):
    """Of ours, what binds the library; no name is other than the long way gives it."""
    cpython.script('''if 1:
        import sys, sqpyte
        assert sqpyte.connect(':memory:').execute('SELECT 1').fetchone() == (1,)
        ours = sorted(name for name in sys.modules if name.startswith('sqpyte.'))
        assert len(ours) <= 5, ours
        early = {name: getattr(sqpyte, name) for name in dir(sys.modules['sqlite3'])
                 if not name.startswith(('_', 'version', 'dbapi2'))}
        from sqpyte.pypy_module import public
        for name, value in early.items():
            assert value is getattr(public, name, value), name
        assert set(public.__all__) <= set(dir(sqpyte))
        for _ in range(2):
            try:
                print(sqpyte.nothing)
            except AttributeError as error:
                assert str(error) == "module 'sqpyte' has no attribute 'nothing'"
            else:
                raise AssertionError''')


def test_a_name_that_is_patched_for_a_while(cpython):
    """As tests do: what was in its place isn't kept."""
    cpython.script('''if 1:
        import sqpyte, sqlite3
        from unittest import mock
        with mock.patch('sqlite3.connect') as patched:
            assert sqpyte.connect is patched
        assert sqpyte.connect is sqlite3.connect and type(sqpyte.connect(':memory:')) is sqlite3.Connection''')


def test_star_gives_what_sqlite3s_gives(environment):
    environment.script('''if 1:
        theirs, ours, later = {}, {}, {}
        exec('from sqpyte import *', ours)
        exec('from sqpyte.dbapi2 import *', later)
        import sys
        if sys.implementation.name == 'pypy':
            assert ('version' in ours) == ('version' in later) == (sys.version_info < (3, 12))
        else:
            exec('from sqlite3 import *', theirs)
            theirs = {name for name, value in theirs.items() if type(value) is not type(sys)}
            assert theirs <= set(ours) and theirs <= set(later), theirs - set(ours) | theirs - set(later)''')


def test_explain_and_configure(cpython):
    said = cpython.script('''if 1:
        import sqpyte, threading
        connection = sqpyte.connect(':memory:')
        connection.execute('CREATE TABLE t(a, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, i / 2) for i in range(5000)])
        assert sqpyte.configure(vm='always') == {
            'vm': 'always', 'threshold': 3000, 'memory': 64, 'inline': False, 'without': ()}
        query = 'SELECT sum(a * b) FROM t'
        assert sqpyte.explain(connection, query)[0].tier == 'c'
        connection.execute(query).fetchall()
        first, second = sqpyte.explain(connection, query + '; SELECT 1')
        assert first.tier == 'vm' and 'vm' in {step.place for step in first.program}, str(first)
        assert second.program[0].opcode == 'Init'
        def fails(error, action):
            try:
                action()
            except error as caught:
                print(type(caught).__module__, caught)
            else:
                raise AssertionError(error)
        fails(sqpyte.OperationalError, lambda: sqpyte.explain(connection, 'SELECT x'))
        fails(TypeError, lambda: sqpyte.explain('connection', 'SELECT 1'))
        fails(ValueError, lambda: sqpyte.configure(inline=True))
        fails(ValueError, lambda: sqpyte.configure(vm='sometimes'))
        fails(ValueError, lambda: sqpyte.configure(without='nothing'))
        class Mine(sqpyte.Connection):
            def __init__(self):
                pass
        fails(sqpyte.ProgrammingError, lambda: sqpyte.explain(Mine(), 'SELECT 1'))
        def elsewhere():
            fails(sqpyte.ProgrammingError, lambda: sqpyte.explain(connection, 'SELECT 1'))
        thread = threading.Thread(target=elsewhere); thread.start(); thread.join()
        connection.execute('EXPLAIN ' + query).fetchall()
        assert len(sqpyte.explain(connection, 'EXPLAIN ' + query)) == 1
        connection.close()
        fails(sqpyte.ProgrammingError, lambda: sqpyte.explain(connection, 'SELECT 1'))''')
    for expected in ('sqlite3 no such column: x', 'must be sqlite3.Connection, not str', 'closed database', 'thread'):
        assert expected in said


def test_who_gets_which_module(environment):
    if environment.name.startswith('pypy'):
        assert environment.script(BACKEND).startswith('cffi - queries become part of the program')
        return
    assert environment.script(BACKEND) == "sqlite3 - it calls sqpyte's library\n"
    assert environment.script(BACKEND, SQPYTE_BACKEND='cffi') == 'cffi - SQPYTE_BACKEND asks for it\n'
    assert environment.script('import sqlite3; ' + BACKEND).startswith(
        'cffi - sqlite3 was imported before sqpyte, with the SQLite ')
    assert environment.script('import sys; sys.builtin_module_names += ("_sqlite3",); ' + BACKEND).startswith(
        "cffi - SQLite is linked into this Python's sqlite3 module")


def test_a_backend_that_cannot_be_had(environment):
    said = environment.run('python', '-c', 'import sqlite3, sqpyte; sqpyte.connect', code=1, SQPYTE_BACKEND='sqlite3')
    assert ("ImportError: SQPYTE_BACKEND=sqlite3 can't be had: " if environment.name.startswith('cpython') else
            "ImportError: SQPYTE_BACKEND=sqlite3 is for CPython: under PyPy sqpyte's own module serves") in said
    said = environment.run('python', '-c', 'import sqpyte; sqpyte.connect', code=1, SQPYTE_BACKEND='other')
    assert 'ImportError: SQPYTE_BACKEND=other: it takes sqlite3 or cffi' in said


def test_without_cffi_the_rest_serves(cpython):
    """As after `pip install --no-deps`."""
    cpython.script('''if 1:
        import sys
        sys.modules['_cffi_backend'] = None
        import sqpyte
        assert sqpyte.connect(':memory:').execute('SELECT 1').fetchone() == (1,)
        for name in 'explain', 'configure', 'status':
            try:
                getattr(sqpyte, name)
            except ImportError as error:
                assert str(error).startswith('sqpyte: %s needs cffi, which can' % name), error
                assert str(error).endswith('; pip install cffi'), error
            else:
                raise AssertionError(name)
        names = {}
        exec('from sqpyte import *', names)
        assert names['connect'] is sqpyte.connect and 'configure' not in names
        import io, pydoc
        assert 'paramstyle' in pydoc.plain(pydoc.render_doc(sqpyte))
        from sqpyte.pypy_module.commands import main
        sys.stdin, sys.stderr = io.StringIO('.explain SELECT 1\\nSELECT 6 * 7;\\n'), io.StringIO()
        assert main.main([':memory:']) == 0
        assert 'ImportError: sqpyte: explain needs cffi, which can' in sys.stderr.getvalue()
        sys.stderr = io.StringIO()
        assert main.main(['--self-test']) == 1
        said = sys.stderr.getvalue()
        assert said.startswith('python -m sqpyte: sqpyte: configure needs cffi') and said.count('\\n') == 1, said''')


def test_without_cffi_another_order_helps(cpython):
    said = cpython.script('''if 1:
        import sqlite3, sys
        sys.modules['_cffi_backend'] = None
        try:
            import sqpyte
        except ImportError as error:
            print(error)''')
    assert 'sqlite3 was imported before sqpyte' in said
    assert said.strip().endswith('; import sqpyte before sqlite3, or pip install cffi')


def test_another_library_was_loaded(cpython):
    """By a program, before sqpyte: then `_sqlite3` takes that one."""
    said = cpython.script('import ctypes; ctypes.CDLL("libsqlite3.so.0"); ' + BACKEND)
    assert said.startswith("cffi - this Python's sqlite3 module took another SQLite")


@pytest.mark.parametrize('backend', ['', 'cffi'])
def test_install(environment, backend):
    """Libraries that import sqlite3 get sqpyte's; what has another one already is told of."""
    said = environment.script('''if 1:
        import sqpyte
        sqpyte.install()
        import sqlite3, sqlite3.dbapi2
        from sqlite3 import dbapi2
        assert sqlite3.connect is sqpyte.connect and dbapi2.Row is sqpyte.Row
        assert sqlite3.dbapi2.connect is sqpyte.connect
        c = sqlite3.connect(':memory:').execute('SELECT sqpyte_configure("vm")')
        print(c.fetchall())''', SQPYTE_BACKEND=backend)
    assert said == "[('hot',)]\n"
    if environment.name.startswith('pypy') or backend:
        said = environment.script('import sqlite3, sqpyte; sqpyte.install(); from sqlite3 import connect; '
                                  'print(connect is sqpyte.connect)', SQPYTE_BACKEND=backend)
        assert 'RuntimeWarning: sqlite3 was imported before sqpyte.install()' in said and 'True\n' in said


@pytest.mark.parametrize('command', [('sqpyte-run',), ('python', '-m', 'sqpyte', 'run')])
def test_run(environment, command):
    program = os.path.join(environment.directory, 'program.py')
    module = os.path.join(environment.directory, 'a_module.py')
    text = ('import sqlite3, sys\nversion, = sqlite3.connect(":memory:").execute("SELECT sqpyte_configure(\'vm\')")\n'
            'print(__name__, version, sys.argv)\nsys.exit(3)\n')
    for path in (program, module):
        with open(path, 'w') as file:
            file.write(text)
    said = environment.run(*command, 'program.py', '-a', code=3)
    assert said == "__main__ ('hot',) ['program.py', '-a']\n"
    said = environment.run(*command, '-m', 'a_module', 'b', code=3)
    assert said.startswith("__main__ ('hot',) ['") and said.endswith("a_module.py', 'b']\n")
    said = environment.run(*command, '-c', text, 'c', code=3)
    assert said == "__main__ ('hot',) ['-c', 'c']\n"
    assert 'usage:' in environment.run(*command, code=2)
    assert 'usage:' in environment.run(*command, '-x', code=2)
    assert 'usage:' in environment.run(*command, '--help')
    assert 'No such file' in environment.run(*command, 'no-such-command', code=127)
    assert "can't open file" in environment.run(*command, 'missing.py', code=2)


def test_children_of_a_program(environment):
    """Worker processes of multiprocessing, and Pythons that are started by their path."""
    with open(os.path.join(environment.directory, 'workers.py'), 'w') as file:
        file.write('''if True:
            import multiprocessing, subprocess, sys
            CODE = ('import sqlite3; '
                    'found = sqlite3.connect(":memory:").execute("SELECT sqpyte_configure(\\'vm\\')").fetchone(); '
                    'print(found, flush=True)')
            def work(number):
                exec(CODE)
                import sqpyte, sqlite3
                return number, sqpyte.connect is sqlite3.connect
            if __name__ == '__main__':
                with multiprocessing.get_context('spawn').Pool(1) as pool:
                    print(pool.map(work, [3]))
                subprocess.run([sys.executable, '-c', CODE], check=True)''')
    said = environment.run('sqpyte-run', 'workers.py')
    assert sorted(said.splitlines()) == ["('hot',)", "('hot',)", '[(3, True)]']


def test_the_shell(environment):
    said = environment.run('python', '-m', 'sqpyte', stdin='SELECT 1 + 1;\nSELECT\n "a";\n.version\n.explain SELECT 1\n'
                           '.nothing\nSELECT x;\n.help\n.quit\n')
    for expected in ('Connected to a transient in-memory database', '(2,)', "('a',)", '3.', 'Init', '.explain SQL',
                     'Error: there is no command .nothing', 'OperationalError', 'no such column'):
        assert expected in said
    assert environment.run('python', '-m', 'sqpyte', ':memory:', 'SELECT 7') == '(7,)\n'
    assert 'syntax error' in environment.run('python', '-m', 'sqpyte', ':memory:', 'SELEC', code=1)
    assert re.match(r'sqpyte \d+\.\d+\.\d+, SQLite 3\.', environment.run('python', '-m', 'sqpyte', '--version'))


def test_pythons_own_tests(cpython):
    """They pass as with the interpreter's own SQLite."""
    name = 'test_sqlite' if cpython.name in ('cpython-3.9', 'cpython-3.10') else 'test_sqlite3'
    found = subprocess.run([cpython.python, '-c', 'import test.' + name]).returncode
    if found:
        pytest.skip('this Python is installed without its tests')
    said = cpython.run('sqpyte-run', '-m', 'test', name)
    assert 'Result: SUCCESS' in said or 'Tests result: SUCCESS' in said, said
