"""Fixtures of the VM's tests: stock SQLite's answers."""
import pytest

from tests.differential.sessions.capi import Connection, Library


@pytest.fixture(scope='session')
def stock_sql(stock_library):
    """Function (sql, rows of parameters) -> for each the first row of stock's answer."""
    session = Connection(Library(stock_library))

    def answers(sql, parameters):
        return [session.execute(sql, given)[0] for given in parameters]
    return answers
