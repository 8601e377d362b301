"""`python pythons_own_tests.py LIBRARY MODULE`: a module of CPython's own tests of sqlite3, with sqpyte in its place.

LIBRARY is a CPython's standard library, '' the running one's. Prints what failed, and how many were run. It imports
nothing of the checkout but sqpyte: `tests/wheel` copies it into other systems.
"""

import importlib
import importlib.util
import os
import platform
import sys
import types
import unittest

import sqpyte


def suite(library, name):
    """Return the tests (unittest.TestSuite) of a module, such as 'dbapi'."""
    if library:
        package = types.ModuleType('test')      # of which PyPy may have none
        package.__path__ = [os.path.join(library, 'test')]
        sys.modules['test'] = package
    if platform.python_implementation() == 'PyPy':
        # CPython's module to test its C API: test_dbapi takes two numbers of it. PyPy would compile one.
        limits = types.ModuleType('_testcapi')
        limits.INT_MAX, limits.ULLONG_MAX = 2 ** 31 - 1, 2 ** 64 - 1
        sys.modules['_testcapi'] = limits
    own = os.path.join(library, 'sqlite3', 'test', name + '.py')        # up to Python 3.10
    if library and os.path.exists(own):
        spec = importlib.util.spec_from_file_location('tests_of_' + name, own)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module.suite()
    module = importlib.import_module('test.test_sqlite3.test_' + name)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main(library, name):
    sys.modules['sqlite3'] = sys.modules['sqlite3.dbapi2'] = sqpyte
    with open(os.devnull, 'w') as nowhere:
        result = unittest.TextTestRunner(stream=nowhere).run(suite(library, name))
    for test, trace in result.failures + result.errors:
        print('failed', test.id().partition(' ')[0], trace)
    print('run', result.testsRun)


if __name__ == '__main__':
    main(*sys.argv[1:])
