"""The CPython that this folder's tests run on libsqpyte.so."""
import pytest

from tests.translated.preloaded import cpython


@pytest.fixture(scope='module')
def python():
    found = cpython()
    if found is None:
        pytest.skip('needs a CPython from 3.11 on with test.test_sqlite3, on a shared libsqlite3; '
                    'CI has one')
    return found
