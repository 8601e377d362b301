"""What the tests of the data sets share."""

import sqlite3

import pytest


@pytest.fixture(scope='module')
def connection(database):
    """A connection of the standard library to the module's `database`."""
    connection = sqlite3.connect(database)
    yield connection
    connection.close()
