"""Random queries, inlined as soon as possible and by callbacks: the same rows, calls and errors.

They are those of the fuzzers (tests/fuzz/kinds/queries.py), which run them beside stock.
"""
import os

import pytest

from tests.extent import everything
from tests.fuzz.kinds.queries import drawn
from tests.fuzz.kinds.query_session import run
from tests.pypy_module.inline.inlining import compare

EACH = 25       # cases of a test


@pytest.mark.parametrize('start', range(0, 20000 if everything() else 100, EACH))
def test_random_queries(start):
    for seed in range(start, start + EACH):
        case = drawn(str(seed))
        try:
            compare(lambda side: run(side.module, case, os.path.dirname(side.path)), inlined=False, oracle='C')
        except AssertionError as error:
            raise AssertionError('seed %d: %s' % (seed, case)) from error
