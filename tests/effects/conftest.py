"""The checking build, for its tests."""
import os

import pytest

from tools import effects


@pytest.fixture(scope='session')
def library():
    """Path of the checking build."""
    if not os.path.exists(effects.LIBRARY):
        pytest.fail('%s is missing: run `make effects`' % effects.LIBRARY, pytrace=False)
    return effects.LIBRARY
