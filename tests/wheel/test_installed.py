"""The wheel, installed outside of the checkout: what it has, and that it works, on each interpreter."""

import os
import re
import shutil
import subprocess
import zipfile

import pytest

from tools.environments import ROOT
from tools.wheel import __main__ as wheel
from tools.wheel import staging

WHERE = 'import os, sys, sqpyte; sqpyte.connect; '


def test_it_occupies_one_name(wheel_file):
    with zipfile.ZipFile(wheel_file) as archive:
        names = {name.partition('/')[0] for name in archive.namelist()}
    assert len(names) == 2 and 'sqpyte' in names and [name for name in names if name.endswith('.dist-info')]


def test_it_says_its_types(wheel_file):
    names = zipfile.ZipFile(wheel_file).namelist()
    assert {'sqpyte/py.typed', 'sqpyte/__init__.pyi', 'sqpyte/dbapi2.pyi'} <= set(names)


def test_the_self_test_passes(environment):
    said = environment.run('python', '-m', 'sqpyte', '--self-test')
    assert 'self-test: passed' in said
    assert environment.directory in said and ROOT not in said
    assert 'vm' in said.partition('tiers that ran:')[2]
    assert ('inliner' in said) == environment.name.startswith('pypy')


def test_nothing_of_the_checkout_is_imported(environment):
    said = environment.script(WHERE + 'print([m for m in sys.modules if m.partition(".")[0] in ("pypy_module", '
                              '"c_engine", "tools")], [p for p in sys.path if %r in p])' % ROOT)
    assert said.strip() == '[] []'


def test_nothing_is_written_beside_it(environment, tmp_path):
    """What is kept goes to the user's cache folder, or nowhere, if that can't be written."""
    package = os.path.dirname(environment.script(WHERE + 'print(sqpyte.__file__)').strip())

    def files():
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names
                      if not name.endswith('.pyc'))
    before = files()
    code = 'import sqpyte; print(sqpyte.connect(":memory:").execute("SELECT ?, 2", (1,)).fetchall())'
    (tmp_path / 'file').write_text('')
    for cache in (tmp_path / 'cache', tmp_path / 'file'):
        for _ in range(2):
            assert environment.script(code, SQPYTE_BACKEND='cffi', XDG_CACHE_HOME=str(cache)).strip() == '[(1, 2)]'
    assert files() == before
    assert list((tmp_path / 'cache').rglob('*.code'))


def test_an_example_runs(environment):
    """With the same results as with sqlite3."""
    copy = os.path.join(environment.directory, 'examples')
    shutil.copytree(os.path.join(ROOT, 'examples'), copy)
    first, second = [re.sub(r'\d+\.\d+ s\b.*', '', environment.run(
        'python', os.path.join(copy, 'log_analysis.py'), '--rows', '20000', '--module', module,
        '--database', os.path.join(copy, module + '.db'))) for module in ('sqpyte', 'sqlite3')]
    assert first == second and 'requests in a minute' in first


def test_the_loader_gives_it_to_programs_linked_to_sqlite(environment):
    code = ('import ctypes; lib = ctypes.CDLL("libsqlite3.so.0"); lib.sqlite3_libversion.restype = ctypes.c_char_p;'
            'print(lib.sqlite3_libversion().decode(), hasattr(lib, "sqpyte_mode"))')
    version = environment.script('import sqpyte; print(sqpyte.sqlite_version)').strip()
    assert environment.run('sqpyte-run', shutil.which('python3'), '-c', code).strip() == version + ' True'


def test_a_wheel_that_breaks_its_promise(wheel_file, tmp_path):
    told = 'This constrains the platform tag to\nplatform tag: "manylinux_2_28_x86_64".'
    path = str(tmp_path / 'a.whl')
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('sqpyte/lib/libsqlite3.so.0', 'the engine')
        archive.writestr('pypy_module/public.py', '')
    first, second, third = wheel.wrong(path, 'platform tag: "manylinux_2_36_x86_64"')
    assert 'manylinux_2_36' in first and 'pypy_module' in second and 'has no VM' in third
    assert wheel.wrong(wheel_file, told) == []


@pytest.mark.parametrize('text,expected', [
    ('from pypy_module.dbapi import row', 'from sqpyte.pypy_module.dbapi import row'),
    ('from pypy_module import public', 'from sqpyte.pypy_module import public'),
    ("'pypy_module.inline.manager' in sys.modules", "'sqpyte.pypy_module.inline.manager' in sys.modules"),
    ('import c_engine.generated.layout', 'import sqpyte.generated.layout'),
    ('see pypy_module/inline and c_engine/rows', 'see pypy_module/inline and c_engine/rows'),
    ('my_pypy_module.x', 'my_pypy_module.x')])
def test_names_of_an_installed_copy(text, expected):
    assert staging.renamed(text) == expected


def test_a_module_that_imports_what_is_not_installed(tmp_path):
    for name, text in (('sqpyte/__init__.py', ''), ('sqpyte/__main__.py', ''), ('sqpyte/dbapi2.py', ''),
                       ('pypy_module/__init__.py', 'from tools import environments')):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match='imports tools, tools.environments'):
        staging.stage(str(tmp_path), str(tmp_path / 'tree'), 'nothing')


def test_a_program_that_cannot_be_compiled(environment):
    """It ends as with python: CPython still uses what `__main__` was, after the traceback has been shown."""
    for source in ('x =', "raise KeyError('x')"):
        said = environment.run('sqpyte-run', '-c', source, code=1, PYTHONMALLOC='debug')
        assert said.splitlines()[-1].startswith(('SyntaxError', 'KeyError'))


def test_a_copy_without_its_library_cannot_be_imported(environment, tmp_path):
    """So a program can do without it; also where it is in an archive, from which no library is loaded."""
    package = os.path.dirname(environment.script(WHERE + 'print(sqpyte.__file__)').strip())
    shutil.copytree(package, str(tmp_path / 'copy' / 'sqpyte'), ignore=shutil.ignore_patterns('lib'))
    shutil.make_archive(str(tmp_path / 'archive'), 'zip', str(tmp_path / 'copy'))
    for place, remedy in (('copy', 'install sqpyte again'), ('archive.zip', 'unpack it')):
        said = environment.script('import sys; sys.path.insert(0, sys.argv[1])\n'
                                  'try:\n import sqpyte\nexcept ImportError as error:\n print(error)',
                                  str(tmp_path / place))
        assert "can't be used" in said and remedy in said


def test_pip_takes_it_away(wheel_file, environment):
    """And nothing is left."""
    package = os.path.dirname(environment.script('import sqpyte; print(sqpyte.__file__)').strip())
    try:
        environment.pip('uninstall', '--yes', 'sqpyte')
        assert not os.path.exists(package) and not os.path.exists(os.path.join(environment.directory, 'bin/sqpyte-run'))
    finally:
        environment.pip('install', '--no-deps', wheel_file)
    assert subprocess.run([environment.python, '-c', 'import sqpyte'], cwd=environment.directory).returncode == 0
