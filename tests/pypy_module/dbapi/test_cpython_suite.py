"""CPython's own tests of sqlite3, run with sqpyte in sqlite3's place, and with the semantics of their version.

Those of the version of Python that runs us: for PyPy, of the CPython of that version, if there is one.
"""

import os
import platform
import re
import subprocess
import sys

import pytest

from pypy_module.ffi.place import ROOT

# Up to Python 3.10 they are in sqlite3's own package.
OWN_PACKAGE = sys.version_info < (3, 11)
MODULES = ('dbapi backup dump factory hooks regression transactions types userfunctions').split()
LEAST = {'dump': 1}     # tests of a module; of others 5

RUNNER = '''
import importlib, importlib.util, sys, types, unittest
import sqpyte
sys.modules['sqlite3'] = sqpyte
sys.modules['sqlite3.dbapi2'] = sqpyte
library, name = sys.argv[1:]
if library:
    package = types.ModuleType('test')      # of which PyPy may have none
    package.__path__ = [library + '/test']
    sys.modules['test'] = package
    spec = importlib.util.spec_from_file_location('tests_of_' + name, library + '/sqlite3/test/' + name + '.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    suite = module.suite()
else:
    module = importlib.import_module('test.test_sqlite3.test_' + name)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
result = unittest.TextTestRunner(stream=open('/dev/null', 'w')).run(suite)
for test, trace in result.failures + result.errors:
    print('failed', test.id().partition(' ')[0], trace)
print('run', result.testsRun)
'''


def library():
    """The folder of the standard library that has the tests (str), '' for the running CPython's package of tests;
    None if there are none."""
    if not OWN_PACKAGE:
        if platform.python_implementation() != 'CPython':
            return None
        import importlib.util
        try:
            return '' if importlib.util.find_spec('test.test_sqlite3') is not None else None
        except ImportError:
            return None
    python = os.path.join(ROOT, 'build', 'cpython-env-%d.%d' % sys.version_info[:2], 'bin', 'python')
    if not os.path.exists(python):
        return None
    folder = subprocess.run([python, '-c', 'import os; print(os.path.dirname(os.__file__))'], check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
    return folder if os.path.exists(os.path.join(folder, 'sqlite3', 'test', 'dbapi.py')) else None


@pytest.mark.parametrize('module', MODULES)
def test_cpythons_own_tests(module, tmp_path):
    folder = library()
    if folder is None:
        pytest.skip('needs a CPython of this version with its tests')
    environment = dict(os.environ, PYTHONPATH=ROOT)
    environment.pop('SQPYTE_SEMANTICS', None)
    result = subprocess.run([sys.executable, '-c', RUNNER, folder, module], cwd=str(tmp_path), env=environment,
                            check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    assert not re.findall('^failed', result, re.MULTILINE), result
    assert int(re.search(r'^run (\d+)$', result, re.MULTILINE).group(1)) >= LEAST.get(module, 5)
