"""Rooms have no circles of imports, of modules or of folders."""

import pytest

from tests.structure import circle, circles


@pytest.mark.parametrize('room', ['c_engine', 'sqpyte', 'pypy_module', 'benchmarks', 'tools'])
def test_no_circle(room):
    assert circles(room) == []


def test_a_circle_is_found():
    assert circle({'a': {'b'}, 'b': {'c'}, 'c': {'b'}}) == ['b', 'c', 'b']
    assert circle({'a': {'b', 'c'}, 'b': {'c'}, 'c': set()}) is None
