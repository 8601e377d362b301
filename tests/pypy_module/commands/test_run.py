"""`sqpyte-run` and Python programs: what `python` does is what has to be done."""

import os
import py_compile
import subprocess
import sys
import zipfile

import pytest

from pypy_module.commands import run as command
from tools.environments import ROOT, find_python27

# What a program is told, in a form that is the same in two processes.
TOLD = '''if True:
    import sys
    def shown(name, value):
        plain = isinstance(value, (str, type(None)))
        return name, value if plain else value.__name__ if isinstance(value, type) else type(value).__name__
    names = sorted(shown(*pair) for pair in globals().items() if pair[0] not in ('sys', 'shown'))
    print(names, sys.argv, sys.path[0], sys.modules['__main__'].__dict__ is globals(), __spec__ and __spec__.name)
    print(getattr(__loader__, 'name', None), type(__builtins__).__name__)
'''
ENGINE = 'sqlite3.connect(":memory:").execute("SELECT sqpyte_configure(\'vm\')").fetchone()'
FAILS = '''def fails():
    raise ValueError('wrong')
fails()
'''


@pytest.fixture
def both(start, run):
    """A function that gives a program to `python` and to sqpyte-run, and compares the exit code and what they print.

    It returns the second's Ended; `frames` says that `python` may show frames of runpy's.
    """
    def both(*arguments, frames=False, **settings):
        expected, found = start(*arguments, **settings), run(*arguments, **settings)
        expected.err = expected.err.replace(sys.executable + ': ', 'python -m sqpyte run: ')
        if frames:
            lines = expected.err.splitlines(True)
            runpy = [i for i, line in enumerate(lines) if 'runpy' in line]
            last = runpy[-1] + (2 if not lines[runpy[-1] + 1].startswith('  File') else 1)
            expected.err = ''.join(lines[:1] + lines[last:])
        assert (found.code, found.out, found.err) == (expected.code, expected.out, expected.err)
        return found
    return both


@pytest.fixture
def told(write, tmp_path):
    """Files with TOLD: a script, a link to it, a package with a `__main__`, a folder, an archive, a .pyc file."""
    for name in ('script.py', 'package/module.py', 'package/inner/__main__.py', 'folder/__main__.py'):
        write(name, TOLD)
    write('package/__init__.py', '')
    write('package/inner/__init__.py', '')
    os.symlink('../script.py', str(tmp_path / 'folder' / 'link.py'))
    with zipfile.ZipFile(str(tmp_path / 'archive.pyz'), 'w') as archive:
        archive.writestr('__main__.py', TOLD)
    py_compile.compile(str(tmp_path / 'script.py'), str(tmp_path / 'compiled.pyc'))


@pytest.mark.parametrize('arguments', [
    ['script.py', '-a', 'b'], ['folder/link.py'], ['folder', 'c'], ['archive.pyz', '-m'], ['compiled.pyc'],
    ['-m', 'package.module', '-x'], ['-mpackage.module'], ['-m', 'package.inner'], ['-c', TOLD, 'd'], ['-c' + TOLD]])
def test_what_a_program_is_told(both, told, arguments):
    assert '__main__' in both(*arguments).out


def test_isolated(start, told):
    """Nothing is put in sys.path, and nothing of it is lost."""
    code = 'import sys; print(sys.path)'
    if start('-I', '-c', 'import sqpyte').code:
        pytest.skip('this Python finds sqpyte by PYTHONPATH alone')
    assert start('-I', '-m', 'sqpyte', 'run', '-c', code).out == start('-I', '-c', code).out


@pytest.mark.parametrize('arguments', [
    ['-m', 'nowhere'], ['-m', 'package.nowhere'], ['-m', 'nowhere.module'], ['-m', 'package'], ['-m', '.module'],
    ['-m', 'package.module.inner'], ['-m', 'script.py'], ['-m', '']])
def test_modules_that_are_not_there(run, start, told, arguments):
    """In the same words, where `python` doesn't show a traceback of runpy's."""
    expected, found = start(*arguments), run(*arguments)
    assert found.code == expected.code == 1
    if 'Traceback' not in expected.err:
        assert found.err == expected.err.replace(sys.executable, 'python -m sqpyte run')
    if arguments[1] != 'script.py':
        assert 'Traceback' not in found.err


def test_files_that_are_not_there(run, tmp_path, write):
    ended = run('nowhere.py')
    assert ended.code == 2 and ended.err == "python -m sqpyte run: can't open file %r: [Errno 2] No such file or " \
                                            "directory\n" % str(tmp_path / 'nowhere.py')
    (tmp_path / 'folder.py').mkdir()
    ended = run('folder.py')
    assert ended.code == 1 and ended.err == "python -m sqpyte run: can't find '__main__' module in %r\n" % str(
        tmp_path / 'folder.py')
    for arguments, said in (([''], 'name a program'), ([], 'name a program'), (['-m'], '-m takes a module'),
                            (['-c'], '-c takes code')):
        ended = run(*arguments)
        assert ended.code == 2 and ended.err.startswith('python -m sqpyte run: %s\nusage: ' % said) and ended.out == ''
    for option in ('-x', '-x.py'):
        ended = run(option)
        assert ended.code == 2 and ended.out == ''
        assert ended.err.startswith('python -m sqpyte run: there is no option %s; options of Python\'s come first: '
                                    'python -u -m sqpyte run prog.py\nusage: ' % option)


@pytest.mark.parametrize('mode, reason', [(0o644, 'Permission denied'), (0o755, 'Exec format error')])
def test_a_program_without_its_ending(run, write, mode, reason):
    os.chmod(write('program', 'print(1)'), mode)
    ended = run('./program')
    assert (ended.code, ended.out) == (126, '')
    assert ended.err == ('python -m sqpyte run: ./program: %s; if it is a Python program: python -m sqpyte run needs a '
                         'name that ends with .py\n' % reason)


@pytest.mark.parametrize('folder', ['./folder', 'folder'])
def test_a_folder_that_is_no_program(run, write, folder):
    write('folder/module.py', '')
    ended = run(folder)
    assert ended.code == 1 and ended.err == "python -m sqpyte run: can't find '__main__' module in %r\n" % folder


def test_a_command_and_a_folder_of_one_name(run, write, tmp_path):
    write('true/__main__.py', 'print("the folder")')
    assert run('true').out == ''
    assert run('./true').out == 'the folder\n'


@pytest.mark.parametrize('code', [
    FAILS, 'import nowhere', 'x = $', 'raise KeyboardInterrupt', 'import sys; sys.exit("text")', 'raise SystemExit(7)',
    'import atexit; atexit.register(print, "once"); 1 / 0', 'import os; os._exit(3)', 'raise SystemExit',
    'try:\n    1 / 0\nexcept Exception as error:\n    raise ValueError from error',
    'import sys\ndef hook(kind, value, found):\n    print(kind, value, found.tb_frame.f_code.co_filename, '
    'found.tb_next, value.__traceback__ is found)\nsys.excepthook = hook\n1 / 0',
    'import threading\nthreading.Thread(target=lambda: 1 / 0, name="one").start()',
    'assert __import__("sys").excepthook is __import__("sys").__excepthook__'])
def test_how_a_program_ends(both, write, code):
    write('script.py', code)
    both('script.py')


def test_the_traceback_of_a_module(both, write, run):
    write('package/__init__.py', '')
    write('package/module.py', FAILS)
    both('-m', 'package.module', frames=True)
    write('package/__init__.py', FAILS)
    ended = run('-m', 'package.module')
    assert ended.code == 1 and 'commands' not in ended.err and 'importlib' not in ended.err
    assert ended.err.splitlines()[1] == '  File "%s", line 3, in <module>' % write('package/__init__.py', '')
    write('package/module.py', 'x = $')
    ended = run('-m', 'package.module')
    assert ended.code == 1 and ended.err.startswith('  File "') and 'SyntaxError' in ended.err
    assert 'commands' not in ended.err


def test_the_source_is_read_as_python_reads_it(both, write):
    """By its declared encoding, its lines ends, and without a __future__ of ours; not kept in __pycache__."""
    write('latin.py', b'# coding: latin-1\r\nprint(ascii("\xe9"), len("\xe9"))\r\n')
    assert both('latin.py').out == "'\\xe9' 1\n"
    write('bom.py', b'\xef\xbb\xbfprint(ascii("\xc3\xa9"))\n')
    assert both('bom.py').out == "'\\xe9'\n"
    assert not os.path.exists(os.path.join(os.path.dirname(write('a', '')), '__pycache__'))


MAIN = '''
import atexit, dataclasses, inspect, pickle, sys, threading, time
import __main__

@dataclasses.dataclass
class Point:
    x: int

class Plain:
    pass

def round_trip(when):
    assert type(pickle.loads(pickle.dumps(Plain()))) is Plain, when
    assert sys.modules['__main__'].Plain is Plain, when
    print(when)

def later():
    time.sleep(0.3)
    round_trip('thread')

if __name__ == '__main__':
    assert __main__.Plain is Plain and Point(1) == Point(1)
    assert inspect.getsource(Plain) == 'class Plain:\\n    pass\\n'
    assert 'sqpyte' not in vars(__main__) and 'run' not in vars(__main__)
    atexit.register(round_trip, 'exit')
    threading.Thread(target=later).start()
    round_trip('main')
'''


def test_main_stays_when_the_program_has_ended(both, write):
    write('script.py', MAIN)
    write('folder/__main__.py', MAIN)
    for arguments in (['script.py'], ['-m', 'script'], ['folder']):
        assert both(*arguments).out == 'main\nthread\nexit\n'


def test_code_has_a_main_of_its_own(both):
    both('-c', 'import sys; print(sorted(globals())); import __main__; print(__main__.__dict__ is globals())\n'
               'class A: pass\nimport pickle; pickle.loads(pickle.dumps(A()))')


WORKERS = '''
import multiprocessing, sqlite3, sys

class Task:
    def __call__(self):
        return %s

def work(task):
    return task(), Task is type(task)

if __name__ == '__main__':
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, [Task()]))
''' % ENGINE


@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
@pytest.mark.parametrize('arguments', [['script.py'], ['-m', 'package.script']])
def test_worker_processes_have_sqpyte(run, write, method, arguments):
    write('script.py', WORKERS)
    write('package/__init__.py', '')
    write('package/script.py', WORKERS)
    ended = run(*arguments, method)
    assert (ended.code, ended.out) == (0, "[(('hot',), True)]\n"), ended.err


class TestChildren:
    """Python programs that a program starts."""

    CHILD = 'import subprocess, sys; print(subprocess.run([sys.executable, "-c", sys.argv[1]], ' \
            'stdout=subprocess.PIPE, check=True).stdout.decode(), end="")'

    def child(self, run, code, **settings):
        ended = run('-c', self.CHILD, code, **settings)
        assert ended.code == 0, ended.err
        return ended.out

    def test_sqlite3_is_sqpyte(self, run):
        for first in ('import sqlite3', 'import sqlite3.dbapi2, sqlite3', 'from sqlite3 import dbapi2; import sqlite3',
                      'import sqpyte, sqlite3', 'from importlib import util; util.find_spec("sqlite3"); '
                      'import sqlite3'):
            assert self.child(run, first + '; import sqlite3 as again; assert again is sqlite3; print(%s); '
                              'import sqpyte; assert sqpyte.connect is sqlite3.connect; '
                              'assert sqpyte.__spec__.name == "sqpyte"' % ENGINE) == "('hot',)\n"

    def test_the_shell_of_sqlite3(self, run):
        code = ("import subprocess, sys; command = [sys.executable, '-m', 'sqlite3', ':memory:', 'SELECT 5']; "
                "print(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode())")
        said = run('-c', code).out
        assert '(5,)' in said or 'No module named sqlite3.__main__' in said, said
        assert 'get_code' not in said

    def test_their_children_too(self, run):
        code = 'import sqlite3; print(%s)' % ENGINE
        assert self.child(run, 'import sys; code = %r; sys.argv[1:] = [code]; %s' % (code, self.CHILD)) == "('hot',)\n"

    def test_what_imports_no_sqlite3_loads_nothing(self, run):
        assert self.child(run, 'import sys; print([name for name in sys.modules if "sqpyte" in name or "pypy_module" '
                               'in name])') == '[]\n'

    def test_sys_path_is_as_it_was(self, run, start):
        code = 'import sys; print(sys.path)'
        assert self.child(run, code) == start('-c', code).out

    def test_another_sitecustomize_runs(self, run, write):
        folder = os.path.dirname(write('own/sitecustomize.py', 'import builtins; builtins.own = __file__'))
        path = folder + os.pathsep + ROOT
        said = self.child(run, 'import sqlite3, sitecustomize; print(own == sitecustomize.__file__, %s)' % ENGINE,
                          PYTHONPATH=path)
        assert said == "True ('hot',)\n"
        write('own/sitecustomize.py', 'import nowhere')
        ended = run('-c', self.CHILD, 'print(1)', PYTHONPATH=path)
        assert ended.code == 0 and 'Error in sitecustomize' in ended.err and ended.out == '1\n'

    def test_a_python_without_sqpyte(self, write):
        """Of any version: it runs as it would."""
        for python in (find_python27(), sys.executable):
            done = subprocess.run([python, '-S', '-c', 'import sitecustomize; import sqlite3; print("fine")'], cwd='/',
                                  env=dict(PYTHONPATH=command.CHILDREN, PYTHONDONTWRITEBYTECODE='1'),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.stdout == b'fine\n'

    def test_other_programs_are_left_alone(self, run):
        """Debian's shell refuses a library that is another version's."""
        ended = run('-c', 'import os; print(sorted(name for name in os.environ if name.startswith("LD_")))')
        assert ended.out == '[]\n'

    def test_a_command_that_pip_has_installed(self, run, write, start):
        """As a Python program of this interpreter's; another's is any program."""
        code = 'import sys, sqlite3\nprint(%s, sys.argv[1:])\n' % ENGINE
        path = write('tool', '#!%s\n%s' % (sys.executable, code))
        other = write('other', '#!/bin/sh\necho $0 "$@"\n')
        for made in (path, other):
            os.chmod(made, 0o755)
        assert run(path, 'a', '-b').out == "('hot',) ['a', '-b']\n"
        assert run('tool', 'a', PATH=os.path.dirname(path) + os.pathsep + os.defpath).out == "('hot',) ['a']\n"
        assert run(other, 'a').out == other + ' a\n'

    def test_the_command_as_a_program(self, run, write):
        """It and all that it starts have the library, also what isn't Python."""
        path = write('sqpyte-run', '#!%s\nimport sys\nfrom sqpyte.__main__ import run\nsys.exit(run())\n' %
                     sys.executable)
        os.chmod(path, 0o755)
        code = 'import os, sqlite3; print(sorted(name for name in os.environ if name.startswith("LD_")), %s)' % ENGINE
        assert run(path, '-c', code).out == "['LD_LIBRARY_PATH', 'LD_PRELOAD'] ('hot',)\n"

    def test_a_nested_run(self, run):
        """PYTHONPATH doesn't grow."""
        code = 'import os; print(str(os.environ).count(os.path.join("commands", "children")))'
        assert run(sys.executable, '-m', 'sqpyte', 'run', '-c', code).out == '1\n'
        assert run('-c', self.CHILD, code).out == '1\n'
