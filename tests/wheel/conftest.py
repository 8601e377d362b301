"""The wheel, and environments outside of the checkout that it is installed in."""

import os
import subprocess

import pytest

from tests.extent import everything
from tools import environments
from tools.wheel import __main__ as wheel


def pythons():
    """The interpreters that the wheel is tried with (dict of name to path): all, or the newest CPython and PyPy."""
    found = {'cpython-%d.%d' % version: path for version, path in environments.find_cpythons()}
    if not everything():
        found = dict(list(found.items())[-1:])
    return dict(found, **environments.find_pypy())


@pytest.fixture(scope='session')
def wheel_file(tmp_path_factory):
    """Path of a new wheel."""
    folder = tmp_path_factory.mktemp('dist')
    assert wheel.main([str(folder)]) == 0
    path, = folder.glob('*.whl')
    return str(path)


class Environment:
    """A virtual environment with the wheel.

    Attributes:
        python: path of its interpreter.
        name: such as 'cpython-3.13'.
        directory: its folder.
    """

    def __init__(self, name, base, directory):
        self.name = name
        self.directory = directory
        self.python = os.path.join(directory, 'bin', 'python')
        subprocess.run([base, '-m', 'venv', directory], check=True)

    def pip(self, *arguments):
        """Run pip."""
        subprocess.run([self.python, '-m', 'pip', '--quiet', '--disable-pip-version-check', *arguments], check=True)

    def run(self, *arguments, code=0, stdin='', **settings):
        """What a command prints (str), errors too; its program is a file of bin/. It has to end with `code`."""
        environment = environments.inherited('SQPYTE_', 'PYTHON', 'LD_')
        environment.update(settings)
        command = [os.path.join(self.directory, 'bin', arguments[0]), *arguments[1:]]
        process = subprocess.run(command, cwd=self.directory, env=environment, input=stdin, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, universal_newlines=True)
        assert process.returncode == code, process.stdout
        return process.stdout

    def script(self, text, *arguments, **settings):
        """What a Python program prints (str)."""
        return self.run('python', '-c', text, *arguments, **settings)


@pytest.fixture(scope='session', params=sorted(pythons()))
def environment(request, wheel_file, tmp_path_factory):
    """An Environment for each interpreter."""
    made = Environment(request.param, pythons()[request.param], str(tmp_path_factory.mktemp(request.param)))
    made.pip('install', wheel_file)
    return made


@pytest.fixture
def cpython(environment):
    """Skip the test under PyPy, where our own module serves."""
    if not environment.name.startswith('cpython'):
        pytest.skip('PyPy has no sqlite3 module that could take the library; tests/pypy_module has its tests')
    return environment
