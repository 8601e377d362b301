"""Finding Pythons and making environments."""

import os
import platform
import shutil
import subprocess
import sys

import pytest

from tools import environments


def python_saying(directory, name, answer):
    """A stand-in for a Python that identifies itself by `answer`."""
    path = directory / name
    path.write_text('#!/bin/sh\n%s\n' % answer)
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch, tmp_path):
    """No Python on PATH nor under pyenv."""
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setenv('PYENV_ROOT', str(tmp_path / 'pyenv'))
    monkeypatch.delenv('PYTHON27', raising=False)


def test_a_python_identifies_itself():
    implementation, version, executable = environments.identify(sys.executable)
    assert implementation == platform.python_implementation()
    assert version == sys.version_info[:2]
    assert executable == sys.executable


def test_what_does_not_run_is_no_python(tmp_path):
    assert environments.identify(str(tmp_path / 'absent')) is None
    assert environments.identify(python_saying(tmp_path, 'python2.7', 'exit 127')) is None


def test_the_users_pypy_comes_before_that_on_path(tmp_path, monkeypatch):
    monkeypatch.delenv('PYPY', raising=False)
    assert environments.find_pypy() == {}
    on_path = python_saying(tmp_path, 'pypy3', 'echo PyPy 3 9 "$0"')
    own = python_saying(tmp_path, 'own', 'echo PyPy 3 11 "$0"')
    assert environments.find_pypy() == {'pypy-3.9': on_path}
    monkeypatch.setenv('PYPY', own)
    assert environments.find_pypy() == {'pypy-3.11': own}
    monkeypatch.setenv('PYPY', python_saying(tmp_path, 'python3', 'echo CPython 3 11 "$0"'))
    assert environments.find_pypy() == {}


def test_python27_is_found_on_path_or_under_pyenv(tmp_path):
    home = tmp_path / 'pyenv' / 'versions' / '2.7.18' / 'bin'
    home.mkdir(parents=True)
    under_pyenv = python_saying(home, 'python2.7', 'echo CPython 2 7 "$0"')
    assert environments.find_python27() == under_pyenv
    on_path = python_saying(tmp_path, 'python2.7', 'echo CPython 2 7 "$0"')
    assert environments.find_python27() == on_path


def test_the_users_python27_is_the_only_one_tried(tmp_path, monkeypatch):
    python_saying(tmp_path, 'python2.7', 'echo CPython 2 7 "$0"')
    monkeypatch.setenv('PYTHON27', python_saying(tmp_path, 'other', 'echo CPython 3 11 /other'))
    with pytest.raises(environments.NoEnvironment, match=r'other: is CPython 3\.11'):
        environments.find_python27()


def test_without_python27_the_message_says_how_to_get_one(tmp_path):
    python_saying(tmp_path, 'python2.7', 'echo CPython 3 12 "$0"')
    with pytest.raises(environments.NoEnvironment) as caught:
        environments.find_python27()
    message = str(caught.value)
    assert '    python2.7: is CPython 3.12' in message
    assert 'pyenv install 2.7.18' in message and 'apt-get install python2.7' in message and 'PYTHON27=' in message


def test_the_site_takes_a_new_python(monkeypatch):
    made = []
    monkeypatch.setattr(environments, 'make_venv', lambda *arguments: made.append(arguments))
    monkeypatch.setattr(environments, 'find_cpythons', lambda: [((3, 9), '/nine'), ((3, 11), '/eleven')])
    environments.make_site(False)
    environments.make_site(True)
    assert [(python, [os.path.basename(path) for path in files]) for python, _, files in made] == [
        ('/eleven', ['site.txt']),
        ('/eleven', ['site.txt', 'test.txt', 'browser.txt'])]
    monkeypatch.setattr(environments, 'find_cpythons', lambda: [((3, 9), '/nine')])
    with pytest.raises(environments.NoEnvironment, match=r'takes a CPython 3\.11 to 3\.13'):
        environments.make_site(False)


def test_duckdb_takes_the_newest_cpython(monkeypatch):
    made = []
    monkeypatch.setattr(environments, 'make_venv', lambda *arguments: made.append(arguments))
    monkeypatch.setattr(environments, 'find_cpythons', lambda: [((3, 9), '/nine'), ((3, 13), '/thirteen')])
    environments.make_duckdb()
    assert [(python, directory.split('/')[-1], [os.path.basename(path) for path in files])
            for python, directory, files in made] == [('/thirteen', 'duckdb-env', ['duckdb.txt'])]
    monkeypatch.setattr(environments, 'find_cpythons', lambda: [((3, 9), '/nine')])
    with pytest.raises(environments.NoEnvironment, match='DuckDB takes a CPython'):
        environments.make_duckdb()


def test_pyenvs_newest_comes_first():
    root = os.environ['PYENV_ROOT']
    for version in ('3.9.2', '3.9.18', '3.10.1'):
        home = os.path.join(root, 'versions', version, 'bin')
        os.makedirs(home)
        open(os.path.join(home, 'python3.9'), 'w').close()
    found = environments.pyenv_pythons('3.9')
    assert [path.split('/')[-3] for path in found] == ['3.9.18', '3.9.2']


@pytest.fixture
def commands(monkeypatch):
    """What Pythons were to be run with (list of lists of str); environments that they make are empty."""
    found = []

    def run(command, **options):
        found.append(command[1:])
        if command[2] == 'venv':
            os.makedirs(os.path.join(command[3], 'bin'))
            os.makedirs(os.path.join(command[3], 'lib', 'pypy3.9', 'site-packages'))
            open(os.path.join(command[3], 'bin', 'python'), 'w').close()
    monkeypatch.setattr(subprocess, 'run', run)
    return found


def checkout_of(place):
    """The checkout that an environment's Python imports."""
    with open(os.path.join(place, 'lib', 'pypy3.9', 'site-packages', 'sqpyte.pth')) as file:
        return file.read()


def test_an_environment_is_made_once_and_added_to(tmp_path, commands):
    one, two = tmp_path / 'one.txt', tmp_path / 'two.txt'
    one.write_text('a==1\n')
    two.write_text('b==1\n')
    place = str(tmp_path / 'env')
    environments.make_venv(sys.executable, place, [str(one)])
    assert [command[1] for command in commands] == ['venv', 'pip']
    environments.make_venv(sys.executable, place, [str(one)])
    assert len(commands) == 2
    environments.make_venv(sys.executable, place, [str(one), str(two)])
    assert commands[2][-1] == str(two) and len(commands) == 3
    one.write_text('a==2\n')
    environments.make_venv(sys.executable, place, [str(one)])
    assert commands[3][-1] == str(one) and len(commands) == 4
    assert checkout_of(place) == environments.ROOT + '\n'


def test_an_environment_that_was_copied_with_its_checkout_is_made_again(tmp_path, monkeypatch, commands):
    """Else its Python imports the other checkout's sqpyte."""
    first, copy = str(tmp_path / 'first'), str(tmp_path / 'copy')
    monkeypatch.setattr(environments, 'ROOT', first)
    environments.make_venv(sys.executable, os.path.join(first, 'env'), [])
    shutil.copytree(first, copy)
    monkeypatch.setattr(environments, 'ROOT', copy)
    environments.make_venv(sys.executable, os.path.join(copy, 'env'), [])
    assert [command[1] for command in commands] == ['venv', 'venv']
    assert checkout_of(os.path.join(copy, 'env')) == copy + '\n'
    assert checkout_of(os.path.join(first, 'env')) == first + '\n'
