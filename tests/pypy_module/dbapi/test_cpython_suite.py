"""CPython's own tests of sqlite3, run with sqpyte in sqlite3's place.

What fails is listed with its reason, and may only shrink. The tests are those installed with the
running CPython; the semantics are those of CPython 3.13.
"""

import os
import platform
import re
import subprocess
import sys

import pytest

MODULES = ('test_dbapi test_backup test_dump test_factory test_hooks test_regression '
           'test_transactions test_types test_userfunctions').split()

RUNNER = '''
import importlib, sys, unittest
import sqpyte
sys.modules['sqlite3'] = sqpyte
sys.modules['sqlite3.dbapi2'] = sqpyte
module = importlib.import_module('test.test_sqlite3.' + sys.argv[1])
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
result = unittest.TextTestRunner(stream=open('/dev/null', 'w')).run(suite)
for test, _ in result.failures + result.errors:
    print('failed', test.id().partition(' ')[0])
print('run', result.testsRun)
'''

KNOWN = {
    # The class of prepared statements is Python's, made with arguments.
    'test_dbapi.ModuleTests.test_disallow_instantiation',
    # Calls a closed connection without the argument that it needs: a TypeError here.
    'test_dbapi.ClosedConTests.test_closed_call',
}
# What CPython 3.13 has dropped or changed.
KNOWN_OLD = {
    'test_dbapi.ModuleTests.test_shared_cache_deprecated',
    'test_factory.TextFactoryTests.test_optimized_unicode',
    'test_dump.DumpTests.test_table_dump',
}


def available():
    """Whether the running interpreter is a CPython that has such tests installed."""
    if platform.python_implementation() != 'CPython' or sys.version_info < (3, 11):
        return False
    import importlib.util
    try:
        return importlib.util.find_spec('test.test_sqlite3') is not None
    except ImportError:
        return False


@pytest.mark.skipif(not available(), reason='needs a CPython from 3.11 on with its tests; '
                                            'CI runs it with 3.11, 3.12 and 3.13')
@pytest.mark.parametrize('module', MODULES)
def test_cpythons_own_tests(module, tmp_path):
    from pypy_module.ffi.place import ROOT
    result = subprocess.run([sys.executable, '-c', RUNNER, module], cwd=str(tmp_path),
                            env=dict(os.environ, PYTHONPATH=ROOT), check=True,
                            stdout=subprocess.PIPE, universal_newlines=True).stdout
    failed = set(re.findall(r'^failed test\.test_sqlite3\.(\S+)$', result, re.MULTILINE))
    known = {name for name in KNOWN if name.startswith(module + '.')}
    allowed = known if sys.version_info >= (3, 13) else known | KNOWN_OLD
    assert failed <= allowed
    assert known <= failed, 'these pass now: take them off the list'
    assert int(re.search(r'^run (\d+)$', result, re.MULTILINE).group(1)) >= 5
