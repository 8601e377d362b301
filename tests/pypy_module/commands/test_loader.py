"""Other programs: the variables by which the dynamic loader gives them our library, whatever its path."""

import os
import shutil
import sys

import pytest

from pypy_module.commands import run as command

ASKS = ('import ctypes; lib = ctypes.CDLL(None if sys.argv[1] == "None" else sys.argv[1]); '
        'print(hasattr(lib, "sqpyte_mode"))')


@pytest.mark.parametrize('path, expected', [
    ('/a/b/libsqlite3.so.0', {'LD_LIBRARY_PATH': '/a/b'}),
    ('/a b/libsqlite3.so.0', {'LD_LIBRARY_PATH': '/a b'}),
    ('/a;b/libsqlite3.so.0', {'LD_PRELOAD': '/a;b/libsqlite3.so.0'}),
    ('/a/b/libsqpyte.so', {'LD_PRELOAD': '/a/b/libsqpyte.so'}),
    ('/a;b/libsqpyte.so', {'LD_PRELOAD': '/a;b/libsqpyte.so'}),
    ('/a b/libsqpyte.so', {'LD_LIBRARY_PATH': '/a b', 'LD_PRELOAD': 'libsqpyte.so'})])
def test_variables(path, expected):
    assert command.variables(path) == expected


@pytest.mark.parametrize('path', ['/a:b/libsqlite3.so.0', '/a; b/libsqlite3.so.0', '/a:b/libsqpyte.so',
                                  '/a; b/libsqpyte.so', '/a b/lib sqpyte.so', '/a/lib:sqpyte.so'])
def test_a_path_that_no_variable_can_name(path):
    with pytest.raises(command.Unreachable, match='its path has a colon, a semicolon or a blank'):
        command.variables(path)


def test_what_is_there_comes_after(monkeypatch):
    monkeypatch.setenv('SQPYTE_LIBRARY', '/a b/libsqpyte.so')
    found = command.environment({'LD_LIBRARY_PATH': '/c:/d', 'LD_PRELOAD': 'e.so', 'F': 'g'})
    assert found == {'LD_LIBRARY_PATH': '/a b:/c:/d', 'LD_PRELOAD': 'libsqpyte.so e.so', 'F': 'g'}
    assert command.environment(found) == found


@pytest.mark.parametrize('folder', ['plain', 'a blank', 'semi;colon'])
@pytest.mark.parametrize('name', ['libsqpyte.so', 'libsqlite3.so.0'])
def test_programs_get_it(run, tmp_path, engine_library, folder, name):
    """Also what they start."""
    (tmp_path / folder).mkdir()
    path = str(tmp_path / folder / name)
    shutil.copy(engine_library, path)
    code = 'import sys; ' + ASKS
    # What is preloaded, the process has.
    asked = 'None' if 'LD_PRELOAD' in command.variables(path) else name
    ended = run('sh', '-c', '"$0" "$@"', sys.executable, '-c', code, asked, SQPYTE_LIBRARY=path)
    assert (ended.code, ended.out, ended.err) == (0, 'True\n', '')


@pytest.mark.parametrize('name', ['libsqpyte.so', 'libsqlite3.so.0'])
def test_programs_that_cannot_get_it_do_not_run(run, tmp_path, engine_library, name):
    (tmp_path / 'a:colon').mkdir()
    path = str(tmp_path / 'a:colon' / name)
    shutil.copy(engine_library, path)
    ended = run('echo', 'it runs', SQPYTE_LIBRARY=path)
    assert (ended.code, ended.out) == (126, '')
    assert ended.err.startswith('python -m sqpyte run: the dynamic loader can\'t be told of ' + path)
    assert os.path.exists(path)
