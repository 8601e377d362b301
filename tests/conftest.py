"""Fixtures for every room: where the products are; and how hypothesis runs here."""

import gc
import os

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

from c_engine.build.build import Paths
from tests import extent

PATHS = Paths()

# The module has the semantics of the newest Python's sqlite3, whichever Python runs the tests; those of versions have
# others.
os.environ.setdefault('SQPYTE_SEMANTICS', '3.13')

# A JIT warms up and other processes compete, so the time of one example says nothing.
set_hypothesis_home_dir(os.path.join(PATHS.build, 'hypothesis'))
# In CI the examples are the same in every run.
hypothesis.settings.register_profile('sqpyte', deadline=None, print_blob=True,
                                     derandomize=bool(os.environ.get('CI')))
hypothesis.settings.load_profile('sqpyte')


def product(path, target):
    """Return `path`; fail with the command to type if the build hasn't made it yet."""
    if not os.path.exists(path):
        pytest.fail('%s is missing: run `make %s`' % (path, target), pytrace=False)
    return path


@pytest.fixture(scope='session')
def paths():
    """The build's paths (c_engine.build.Paths)."""
    return PATHS


@pytest.fixture(scope='session')
def stock_library():
    """Path of the untouched upstream library."""
    return product(PATHS.stock_library, 'engine')


@pytest.fixture(scope='session')
def engine_library():
    """Path of the engine, without the VM."""
    return product(PATHS.engine_library, 'engine')


@pytest.fixture(scope='session')
def vm_library():
    """Path of the translated VM."""
    return product(os.path.join(PATHS.build, 'libsqpyte.so'), 'vm')


def pytest_terminal_summary(terminalreporter):
    """Count the tests that have passed."""
    extent.count('tests', len(terminalreporter.stats.get('passed', ())))


def pytest_collection_finish(session):
    """Leave the modules and tests themselves out of CPython's garbage collections.

    Many tests collect garbage; each time would take 40 ms, for it looks at every object there is.
    """
    if hasattr(gc, 'freeze'):
        gc.collect()
        gc.freeze()
