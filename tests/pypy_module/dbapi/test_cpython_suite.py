"""CPython's own tests of sqlite3, run with sqpyte in sqlite3's place, and with the semantics of their version.

Those of the version of Python that runs us: for PyPy, of the CPython of that version, if there is one.
"""

import importlib.util
import os
import platform
import re
import subprocess
import sys

import pytest

from pypy_module.ffi.place import ROOT

MODULES = ('dbapi backup dump factory hooks regression transactions types userfunctions').split()
LEAST = {'dump': 1}     # tests of a module; of others 5
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'pythons_own_tests.py')


def library_of(python):
    """Return the folder of a CPython's standard library (str) if it has the tests, or else None."""
    folder, new = subprocess.run(
        [python, '-c', 'import os, sys; print(os.path.dirname(os.__file__)); print(int(sys.version_info >= (3, 11)))'],
        check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.split('\n')[:2]
    # Up to Python 3.10 they are in sqlite3's own package.
    where = ('sqlite3/test/dbapi.py', 'test/test_sqlite3/test_dbapi.py')[int(new)]
    return folder if os.path.exists(os.path.join(folder, where)) else None


def library():
    """The folder of the standard library that has the tests (str), '' for the running CPython's package of tests;
    None if there are none."""
    if platform.python_implementation() == 'CPython' and sys.version_info >= (3, 11):
        try:
            return '' if importlib.util.find_spec('test.test_sqlite3') is not None else None
        except ImportError:
            return None
    python = os.path.join(ROOT, 'build', 'cpython-env-%d.%d' % sys.version_info[:2], 'bin', 'python')
    return library_of(python) if os.path.exists(python) else None


def judge(module, said):
    """Assert that the tests of a module have run and passed, by what RUNNER has printed."""
    assert not re.findall('^failed', said, re.MULTILINE), said
    assert int(re.search(r'^run (\d+)$', said, re.MULTILINE).group(1)) >= LEAST.get(module, 5)


@pytest.mark.parametrize('module', MODULES)
def test_cpythons_own_tests(module, tmp_path):
    folder = library()
    if folder is None:
        pytest.skip('needs a CPython of this version with its tests')
    environment = dict(os.environ, PYTHONPATH=ROOT)
    environment.pop('SQPYTE_SEMANTICS', None)
    judge(module, subprocess.run([sys.executable, RUNNER, folder, module], cwd=str(tmp_path), env=environment,
                                 check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout)
