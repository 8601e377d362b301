"""Fixtures of the DB-API's tests."""

import gc
import sys

import pytest

import sqpyte
from pypy_module.dbapi import versions


def pytest_runtest_setup(item):
    """Skip what holds from a later version of Python's sqlite3 on."""
    for mark in item.iter_markers('since'):
        if versions.PYTHON < mark.args:
            pytest.skip('holds since Python %d.%d; test_versions.py has both sides' % mark.args)


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


@pytest.fixture
def configured():
    """`sqpyte.configure`, for the length of a test."""
    saved = sqpyte.configure()
    yield sqpyte.configure
    sqpyte.configure(**saved)


@pytest.fixture
def restless():
    """Threads change as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
