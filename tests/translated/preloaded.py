"""Programs with libsqpyte.so in libsqlite3's place by LD_PRELOAD, and a CPython that takes it there."""
import os
import subprocess

from tests.differential import tiers
from tools import environments


def with_preloaded(command, libraries, directory, environment=(), text=None):
    """Run a command with shared libraries (list of paths) preloaded, in a directory.

    Returns: (exit status, stdout, stderr).
    """
    done = subprocess.run(
        command, cwd=str(directory), input=text, universal_newlines=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(os.environ, LD_PRELOAD=':'.join(libraries), **dict(environment)))
    return done.returncode, done.stdout, done.stderr


def cpython():
    """A CPython 3.11, or else newer, whose sqlite3 takes SQLite from a shared library and that
    has its tests; None if there is none."""
    candidates = []
    for version in ('3.11', '3.12', '3.13'):
        candidates.append(os.path.join(tiers.BUILD, 'cpython-env-%s' % version, 'bin', 'python'))
        candidates += environments.pyenv_pythons(version)
        candidates.append('/usr/bin/python' + version)
    for python in candidates:
        if not os.path.exists(python):
            continue
        found = subprocess.run(
            [python, '-c', 'import _sqlite3, test.test_sqlite3; print(_sqlite3.__file__)'],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        if found.returncode == 0:
            needed = subprocess.run(['ldd', found.stdout.splitlines()[-1]], stdout=subprocess.PIPE,
                                    universal_newlines=True).stdout
            if 'libsqlite3.so.0' in needed:
                return python
    return None
