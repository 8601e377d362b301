"""Other programs: the variables by which the dynamic loader gives them our library, whatever its path."""

import os
import shutil
import subprocess
import sys

import pytest

from c_engine.build import flags
from pypy_module.commands import run as command

ASKS = ('import ctypes; lib = ctypes.CDLL(None if sys.argv[1] == "None" else sys.argv[1]); '
        'print(hasattr(lib, "sqpyte_mode"))')


LINK = 'a link'      # the folder of one in the cache


def as_expected(found, cache, path):
    """Whether variables (dict) are as expected: LINK is a folder in the cache that has a link to the path."""
    folder = found.get('LD_LIBRARY_PATH', '')
    if not folder.startswith(str(cache)):
        return found
    assert os.readlink(os.path.join(folder, 'libsqlite3.so.0')) == path
    return dict(found, LD_LIBRARY_PATH=LINK)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder for what is kept."""
    monkeypatch.setattr(command.place, 'cache', lambda: str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.mark.parametrize('path, expected', [
    ('/a/b/libsqlite3.so.0', {'LD_LIBRARY_PATH': '/a/b'}),
    ('/a b/libsqlite3.so.0', {'LD_LIBRARY_PATH': '/a b'}),
    ('/a;b/libsqlite3.so.0', {'LD_PRELOAD': '/a;b/libsqlite3.so.0', 'LD_LIBRARY_PATH': LINK}),
    ('/a:b/libsqlite3.so.0', {'LD_LIBRARY_PATH': LINK}),
    ('/a; b/libsqlite3.so.0', {'LD_LIBRARY_PATH': LINK}),
    ('/a/b/libsqpyte.so', {'LD_PRELOAD': '/a/b/libsqpyte.so', 'LD_LIBRARY_PATH': LINK}),
    ('/a;b/libsqpyte.so', {'LD_PRELOAD': '/a;b/libsqpyte.so', 'LD_LIBRARY_PATH': LINK}),
    ('/a b/libsqpyte.so', {'LD_LIBRARY_PATH': LINK}),
    ('/a/lib:sqpyte.so', {'LD_LIBRARY_PATH': LINK})])
def test_variables(path, expected, cache):
    for _ in range(2):      # made, and there
        assert as_expected(command.variables(path), cache, path) == expected


def test_a_link_that_cannot_be_made(cache, capsys):
    cache.write_text('no folder')
    assert command.variables('/a/b/libsqpyte.so') == {'LD_PRELOAD': '/a/b/libsqpyte.so'}
    assert 'can\'t be a link to the library' in capsys.readouterr().err


@pytest.mark.parametrize('path', ['/a:b/libsqlite3.so.0', '/a; b/libsqlite3.so.0', '/a:b/libsqpyte.so',
                                  '/a; b/libsqpyte.so', '/a b/lib sqpyte.so', '/a/lib:sqpyte.so'])
@pytest.mark.parametrize('name', ['a:colon', 'a file'])
def test_a_path_that_no_variable_can_name(path, name, tmp_path, monkeypatch):
    monkeypatch.setattr(command.place, 'cache', lambda: str(tmp_path / name))
    (tmp_path / 'a file').write_text('')
    with pytest.raises(command.Unreachable, match='its path has a colon or a blank'):
        command.variables(path)


def test_what_is_there_comes_after(cache):
    found = command.environment({'LD_LIBRARY_PATH': '/c:/d', 'LD_PRELOAD': 'e.so', 'F': 'g'}, '/a/libsqpyte.so')
    folder = found['LD_LIBRARY_PATH'][:-len(':/c:/d')]
    assert found == {'LD_LIBRARY_PATH': folder + ':/c:/d', 'LD_PRELOAD': '/a/libsqpyte.so e.so', 'F': 'g'}
    assert as_expected({'LD_LIBRARY_PATH': folder}, cache, '/a/libsqpyte.so') == {'LD_LIBRARY_PATH': LINK}
    assert command.environment(found, '/a/libsqpyte.so') == found


@pytest.mark.parametrize('folder', ['plain', 'a blank', 'semi;colon', 'a:colon'])
@pytest.mark.parametrize('name', ['libsqpyte.so', 'libsqlite3.so.0'])
def test_programs_get_it(run, tmp_path, engine_library, folder, name):
    """Also what they start."""
    (tmp_path / folder).mkdir()
    path = str(tmp_path / folder / name)
    shutil.copy(engine_library, path)
    code = 'import sys; ' + ASKS
    # What is preloaded, the process has; the link has the name that programs ask for.
    asked = 'None' if 'LD_PRELOAD' in command.variables(path) else 'libsqlite3.so.0'
    ended = run('sh', '-c', '"$0" "$@"', sys.executable, '-c', code, asked, SQPYTE_LIBRARY=path)
    assert (ended.code, ended.out, ended.err) == (0, 'True\n', '')


def test_a_program_that_cannot_get_it_does_not_run(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(command.place, 'cache', lambda: str(tmp_path / 'a:colon'))
    monkeypatch.setenv('SQPYTE_LIBRARY', '/a:b/libsqpyte.so')
    assert command.main(['echo', 'it runs']) == 126
    out, err = capfd.readouterr()
    assert out == '' and err.startswith('sqpyte-run: the dynamic loader can\'t be told of /a:b/libsqpyte.so')


@pytest.mark.parametrize('kind, reason', [
    ('text', 'invalid ELF header'), ('folder', 'Is a directory'), ('stock', "it isn't sqpyte's library")])
def test_a_library_that_cannot_be_used(run, tmp_path, stock_library, kind, reason):
    """The dynamic loader would pass over it, and give the program another."""
    (tmp_path / 'text').write_text('no library' * 1000)
    (tmp_path / 'folder').mkdir()
    path = stock_library if kind == 'stock' else str(tmp_path / kind)
    for arguments in (['echo', 'it runs'], ['-c', 'print("it runs")']):
        ended = run(*arguments, SQPYTE_LIBRARY=path)
        assert (ended.code, ended.out, ended.err.count('\n')) == (126, '', 1)
        assert ended.err.startswith("python -m sqpyte run: sqpyte: %s can't be used: " % path) and reason in ended.err


DEEP = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names){
  void *module = dlopen(names[1], RTLD_NOW|RTLD_DEEPBIND);
  int (*ours)(void) = module ? (int (*)(void))dlsym(module, "ours") : 0;
  printf("%d\n", ours ? ours() : -1);
  return 0;
}
'''
MODULE = '''
int sqlite3_libversion_number(void);
int sqpyte_mode(void) __attribute__((weak));
int ours(void){ return sqlite3_libversion_number()>0 && sqpyte_mode!=0; }
'''


@pytest.mark.parametrize('name', ['libsqpyte.so', 'libsqlite3.so.0'])
def test_modules_whose_own_libraries_come_first_get_it(run, tmp_path, engine_library, stock_library, name):
    """As PHP loads its modules: they don't look at what is preloaded."""
    (tmp_path / 'stock').mkdir()
    shutil.copy(stock_library, str(tmp_path / 'stock' / 'libsqlite3.so.0'))
    path = str(tmp_path / name)
    shutil.copy(engine_library, path)
    (tmp_path / 'deep.c').write_text(DEEP)
    (tmp_path / 'module.c').write_text(MODULE)
    program, module = str(tmp_path / 'deep'), str(tmp_path / 'module.so')
    subprocess.run(flags.compiler() + ['-o', program, str(tmp_path / 'deep.c'), '-ldl'], check=True)
    subprocess.run(flags.compiler() + ['-shared', '-fPIC', '-o', module, str(tmp_path / 'module.c'),
                                       str(tmp_path / 'stock' / 'libsqlite3.so.0')], check=True)
    ended = run(program, module, SQPYTE_LIBRARY=path)
    assert (ended.code, ended.out, ended.err) == (0, '1\n', '')
