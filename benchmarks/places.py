"""Where the harness finds libraries, interpreters and data, and what to type when one is missing.

Environment variables: SQPYTE_BUILD (folder of the products), SQPYTE_DATA (folder of the databases),
SQPYTE_PYPY and SQPYTE_CPYTHON (interpreters).
"""

import os
import platform
import shutil
import subprocess
import sys

from c_engine.build.build import ROOT, Paths


class Missing(Exception):
    """Something that the harness needs isn't there; the message says what to type."""


def build_folder():
    """Return the folder of the build's products (path)."""
    return os.path.abspath(os.environ.get('SQPYTE_BUILD', os.path.join(ROOT, 'build')))


def data_folder():
    """Return the folder that holds the generated databases (path)."""
    return os.path.abspath(os.environ.get('SQPYTE_DATA', os.path.join(build_folder(), 'data')))


def product(path, how):
    """Return `path` if that file exists.

    Raises:
        Missing: it doesn't; the message ends with `how`, the command that makes it.
    """
    if not os.path.exists(path):
        raise Missing('%s is not built yet: type `%s`' % (os.path.relpath(path), how))
    return path


def stock_library():
    """Return the path of the untouched SQLite, the baseline. Raises Missing."""
    return product(Paths(build_folder()).stock_library, 'make engine')


def stock_loader_folder():
    """Return the folder to put into LD_LIBRARY_PATH so that the stdlib's sqlite3 is `stock`."""
    stock_library()
    link = product(Paths(build_folder()).stock_link, 'make engine')
    return os.path.dirname(link)


def engine_library():
    """Return the path of the edited SQLite without the VM. Raises Missing."""
    return product(Paths(build_folder()).engine_library, 'make engine')


def vm_library():
    """Return the path of the translated VM's library. Raises Missing."""
    return product(os.path.join(build_folder(), 'libsqpyte.so'), 'make vm')


def duckdb_python():
    """Return the CPython of the environment that has DuckDB (path). Raises Missing."""
    return product(os.path.join(build_folder(), 'duckdb-env', 'bin', 'python'),
                   '%s -m tools.environments duckdb' % os.path.relpath(sys.executable))


def installed():
    """Return the folder (path) of an installed copy's `sqpyte`, of which the wheel was made. Raises Missing."""
    folder = os.path.join(build_folder(), 'wheel', 'tree')
    product(os.path.join(folder, 'sqpyte', 'lib', 'libsqlite3.so.0'), 'make wheel')
    return folder


def pypy():
    """Return the PyPy 3 that runs the benchmarks (path). Raises Missing."""
    named = os.environ.get('SQPYTE_PYPY')
    own = sys.executable if platform.python_implementation() == 'PyPy' else None
    built = os.path.join(build_folder(), 'pypy-env', 'bin', 'pypy3')
    for candidate in (named, own, built, shutil.which('pypy3')):
        if candidate and os.path.exists(candidate):
            return candidate
    raise Missing('no PyPy 3: type `apt-get install pypy3`, or name one in SQPYTE_PYPY')


def cpython():
    """Return a CPython 3 with a shared sqlite3 module (path). Raises Missing."""
    named = os.environ.get('SQPYTE_CPYTHON')
    own = sys.executable if platform.python_implementation() == 'CPython' else None
    probe = 'import platform, sqlite3; print(platform.python_implementation())'
    for candidate in (named, own, '/usr/bin/python3', shutil.which('python3')):
        if candidate and os.path.exists(candidate):
            answer = subprocess.run([candidate, '-c', probe], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, universal_newlines=True)
            if answer.stdout.strip() == 'CPython':
                return candidate
    raise Missing('no CPython 3: type `apt-get install python3`, or name one in SQPYTE_CPYTHON, '
                  'or leave it out with `--engines`')


def tpchgen():
    """Return the path of tpchgen-cli, TPC-H's generator. Raises Missing."""
    beside = os.path.join(os.path.dirname(sys.executable), 'tpchgen-cli')
    built = os.path.join(build_folder(), 'pypy-env', 'bin', 'tpchgen-cli')
    for candidate in (beside, built, shutil.which('tpchgen-cli')):
        if candidate and os.path.exists(candidate):
            return candidate
    raise Missing('no tpchgen-cli: type `%s -m pip install tpchgen-cli==4.0.0`' % sys.executable)
