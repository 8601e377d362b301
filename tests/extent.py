"""How much is tested: a representative part, or with SQPYTE_TESTS=all (`make test-all`) everything."""

import os


def everything():
    """Return whether everything is to be tested, whatever time it takes."""
    return os.environ.get('SQPYTE_TESTS') == 'all'
