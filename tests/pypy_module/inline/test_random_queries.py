"""Random queries, inlined as soon as possible and by callbacks: the same rows, calls and errors (random_actions.py)."""
import pytest

from tests.extent import everything
from tests.pypy_module.inline.inlining import compare
from tests.pypy_module.inline.random_actions import action

EACH = 25       # queries' seeds of a test


@pytest.mark.parametrize('start', range(0, 20000 if everything() else 300, EACH))
def test_random_queries(start):
    for seed in range(start, start + EACH):
        queries, run = action(seed)
        try:
            compare(run, inlined=False, oracle='C')
        except AssertionError as error:
            raise AssertionError('seed %d: %s' % (seed, queries)) from error
