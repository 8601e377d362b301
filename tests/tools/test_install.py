"""tools/install.sh where it may not install: it must say what is missing and what to type."""

import os
import shutil
import subprocess

from tools.environments import ROOT

SCRIPT = os.path.join(ROOT, 'tools', 'install.sh')


def stand_in(directory, name, body):
    """Put a small shell script `name` into `directory`."""
    path = directory / name
    path.write_text('#!/bin/sh\n%s\n' % body)
    path.chmod(0o755)


def install(directory, what='run', **settings):
    """Run the script with nothing on PATH but the stand-ins in `directory` and three tools."""
    for name in ('sh', 'id', 'env'):
        if not (directory / name).exists():
            os.symlink(shutil.which(name), str(directory / name))
    return subprocess.run([SCRIPT, what], env=dict(settings, PATH=str(directory)), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)


def test_an_ordinary_user_is_told_the_exact_command(tmp_path):
    stand_in(tmp_path, 'id', 'echo 1000')
    stand_in(tmp_path, 'apt-get', 'echo must not be called; exit 9')
    stand_in(tmp_path, 'sudo', 'exit 1  # asks for a password')
    result = install(tmp_path)
    assert result.returncode == 1
    assert 'sudo apt-get update && sudo apt-get install --yes --no-install-recommends pypy3 ' \
           'pypy3-venv pypy3-dev gcc libc6-dev' in result.stdout
    assert 'must not be called' not in result.stdout


def test_without_sudo_it_is_a_command_for_su(tmp_path):
    stand_in(tmp_path, 'id', 'echo 1000')
    stand_in(tmp_path, 'apt-get', 'exit 9')
    result = install(tmp_path, 'npm')
    assert result.returncode == 1
    assert "su -c 'apt-get update && apt-get install --yes --no-install-recommends npm'" \
        in result.stdout


def test_on_another_system_the_packages_are_named(tmp_path):
    stand_in(tmp_path, 'id', 'echo 0')
    result = install(tmp_path)
    assert result.returncode == 1
    assert 'no apt-get' in result.stdout and 'pypy3 pypy3-venv' in result.stdout


def test_a_system_that_is_not_linux_is_told_what_to_do(tmp_path):
    stand_in(tmp_path, 'uname', 'echo Darwin')
    stand_in(tmp_path, 'apt-get', 'echo must not be called; exit 9')
    result = install(tmp_path)
    assert result.returncode == 1
    assert 'this is Darwin' in result.stdout and 'docker run' in result.stdout
    assert 'must not be called' not in result.stdout and 'missing' not in result.stdout


def own_folder(directory, name):
    """A folder `name` in `directory` with a Python.h, for a PyPy of one's own; all else that is asked for is there."""
    stand_in(directory, 'id', 'echo 0')
    stand_in(directory, 'apt-get', 'echo apt-get "$@"')
    for tool in ('gcc', 'test'):
        stand_in(directory, tool, 'exit 0')
    folder = directory / name
    folder.mkdir()
    (folder / 'Python.h').write_text('')
    return folder


def test_a_pypy_that_is_named_takes_the_place_of_debians(tmp_path):
    """No package of Debian's belongs to it: what it lacks is said."""
    folder = own_folder(tmp_path, 'own')
    # A pypy3 whose answer to each question is in a variable: a stand-in for all that the script asks of it.
    stand_in(folder, 'pypy3.11', 'case "$*" in *sysconfig*) echo %s;; *implementation*) exit $OLD;; *ensurepip*) exit '
             '$BARE;; *ssl*) exit $NO_CERTIFICATES;; esac' % folder)
    own = dict(PYPY=str(folder / 'pypy3.11'), OLD='0', BARE='0', NO_CERTIFICATES='0')
    done = install(tmp_path, **own)
    assert (done.returncode, done.stdout) == (0, '')
    for name, said in (('OLD', 'there is no such PyPy'), ('BARE', 'it has no venv'), ('NO_CERTIFICATES', '')):
        done = install(tmp_path, **dict(own, **{name: '1'}))
        assert (done.returncode, 'pypy3-venv' in done.stdout) == (1 if said else 0, False)
        assert 'PYPY=%s: %s' % (own['PYPY'], said) in done.stdout if said else 'ca-certificates' in done.stdout
    (folder / 'Python.h').unlink()
    done = install(tmp_path, **own)
    assert done.returncode == 1 and 'it has no headers' in done.stdout and 'apt-get' not in done.stdout
    assert 'there is no such PyPy' in install(tmp_path, PYPY='/nowhere/pypy3').stdout


def test_root_installs_and_says_so(tmp_path):
    stand_in(tmp_path, 'id', 'echo 0')
    stand_in(tmp_path, 'apt-get', 'echo apt-get "$@"')
    result = install(tmp_path, 'npm')
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        'sqpyte: installing from Debian: npm', 'apt-get update -qq',
        'apt-get install --yes --no-install-recommends npm -qq -o Dpkg::Use-Pty=0']


def test_sudo_without_a_password_installs(tmp_path):
    stand_in(tmp_path, 'id', 'echo 1000')
    stand_in(tmp_path, 'apt-get', 'echo apt-get "$@"')
    stand_in(tmp_path, 'sudo', 'test "$1" = -n && exit 0; echo as root; exec "$@"')
    result = install(tmp_path, 'npm')
    assert result.returncode == 0 and result.stdout.count('as root') == 2


def test_nothing_missing_says_nothing(tmp_path):
    stand_in(tmp_path, 'npm', 'exit 0')
    result = install(tmp_path, 'npm')
    assert (result.returncode, result.stdout) == (0, '')


def test_usage(tmp_path):
    assert install(tmp_path, 'something').returncode == 2


def test_the_path_of_a_pypy_may_hold_blanks(tmp_path):
    folder = own_folder(tmp_path, 'a folder; of "mine"')
    stand_in(folder, 'pypy3', 'case "$*" in *sysconfig*) echo "${0%/*}";; esac')
    done = install(tmp_path, PYPY=str(folder / 'pypy3'))
    assert (done.returncode, done.stdout) == (0, '')
    (folder / 'Python.h').unlink()
    assert 'it has no headers' in install(tmp_path, PYPY=str(folder / 'pypy3')).stdout
