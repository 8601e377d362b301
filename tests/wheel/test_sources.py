"""What is made from sources: `pip install .`, and the sdist, where nothing but SQLite's source is at hand."""

import os
import subprocess
import tarfile

import pytest

from tests.extent import everything
from tests.wheel.conftest import Environment
from tools import environments
from tools.environments import BUILD
from tools.wheel import __main__ as wheel

pytestmark = pytest.mark.skipif(not everything(), reason='make test-all runs it: the engine is compiled anew')

NOWHERE = {'http_proxy': 'http://127.0.0.1:9', 'https_proxy': 'http://127.0.0.1:9', 'PIP_NO_INDEX': '1'}


@pytest.fixture(scope='module')
def tree(wheel_file, tmp_path_factory):
    """The folder of an unpacked sdist."""
    archive, = [os.path.join(os.path.dirname(wheel_file), name) for name in os.listdir(os.path.dirname(wheel_file))
                if name.endswith('.tar.gz')]
    folder = str(tmp_path_factory.mktemp('sdist'))
    with tarfile.open(archive) as file:
        file.extractall(folder)
    name, = os.listdir(folder)
    assert not os.path.exists(os.path.join(folder, name, 'build'))
    return os.path.join(folder, name)


def install(environment, tree, *options, **settings):
    """Install a tree by pip; return what pip says (str)."""
    done = subprocess.run([environment.python, '-m', 'pip', 'install', '-v', *options, tree], cwd=environment.directory,
                          env=dict(environments.inherited('SQPYTE_', 'PYTHON'), **settings), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_pip_installs_a_checkout(tree, tmp_path):
    """With the translation that is kept here."""
    os.makedirs(os.path.join(tree, 'build'))
    os.symlink(os.path.join(BUILD, 'vm'), os.path.join(tree, 'build', 'vm'))
    environment = Environment('cpython', environments.find_cpythons()[-1][1], str(tmp_path / 'venv'))
    install(environment, tree)
    said = environment.run('python', '-m', 'sqpyte', '--self-test')
    assert 'self-test: passed' in said and 'vm' in said.partition('tiers that ran:')[2]
    os.remove(os.path.join(tree, 'build', 'vm'))


def test_an_sdist_needs_no_network_but_for_sqlite(tree, tmp_path):
    """Without Python 2.7 it has the engine alone, and says so."""
    maker = wheel.wheel_python()
    settings = dict(environments.inherited('SQPYTE_', 'PYTHON'), SQPYTE_SQLITE=os.path.join(BUILD, 'sqlite'),
                    SQPYTE_CACHE=str(tmp_path / 'cache'), PYTHON27='none', **NOWHERE)
    done = subprocess.run([maker, '-m', 'pip', 'wheel', '-v', '--no-build-isolation', '--no-deps', '--wheel-dir',
                           str(tmp_path), tree], env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert 'engine without the VM' in done.stdout
    made, = [name for name in os.listdir(str(tmp_path)) if name.endswith('.whl')]
    (name, python), = environments.find_pypy().items()
    environment = Environment(name, python, str(tmp_path / 'venv'))
    environment.pip('install', '--no-index', os.path.join(str(tmp_path), made))
    program = 'import sqpyte; print(sqpyte.connect(":memory:").execute("SELECT 42").fetchone())'
    assert environment.script(program).strip() == '(42,)'
