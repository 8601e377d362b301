"""Fixtures of the DB-API's tests.

The inliner's own tests, three quarters of the time, run with PyPy (3.9) and with the newest CPython; with the
others in `make test-all`.
"""

import gc
import sys

import pytest

import sqpyte
from tests.extent import everything

if sys.implementation.name == 'cpython' and sys.version_info < (3, 13) and not everything():
    collect_ignore_glob = ['test_inline*.py']


@pytest.fixture
def connection():
    """A Connection to a database in memory."""
    connection = sqpyte.connect(':memory:')
    yield connection
    connection.close()


@pytest.fixture
def path(tmp_path):
    """The path (str) of a database file that doesn't exist yet."""
    return str(tmp_path / 'test.db')


@pytest.fixture
def numbers(connection):
    """A Connection with a table `t(a INTEGER, b TEXT)` of ten rows, committed."""
    connection.execute('CREATE TABLE t(a INTEGER, b TEXT)')
    connection.executemany('INSERT INTO t VALUES (?, ?)', [(i, 'row %d' % i) for i in range(10)])
    connection.commit()
    return connection


@pytest.fixture
def collect():
    """A function that collects garbage, finalisers and weak references included."""
    def collect():
        for _ in range(4):
            gc.collect()
    return collect
