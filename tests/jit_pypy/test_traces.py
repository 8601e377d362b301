"""The shape of PyPy's traces of inlined loops: an optimisation lost is a test failed.

What is looked at is a loop's last part, from its last label on: what runs per row.  There the
query, the user's function and the user's loop are one piece of code without calls and without
objects made.  It is so in every process, whatever row the JIT begins at (test_layouts.py).
"""
import sys

import pytest

from tests.jit_pypy import traces

pytestmark = pytest.mark.skipif(
    sys.implementation.name != 'pypy', reason='PyPy\'s traces; `make test` runs it on PyPy')

ROWS = 30000


@pytest.fixture
def loop(tmp_path):
    """A function: what runs per row (Piece) of a program's loop, or of the generated function's."""
    def found(name, function=None):
        pieces = [piece for piece in traces.run(tmp_path / 'log', ROWS, 3, 0, name)
                  if piece.function == (function or name)]
        assert pieces, 'no such loop'
        return max(pieces, key=lambda piece: piece.count)
    return found


# `expression` has a LIMIT: its counter makes no objects either.
@pytest.mark.parametrize('name', ['select', 'where', 'function', 'expression', 'joined', 'sliced'])
def test_rows_and_functions_are_one_loop(name, loop):
    piece = loop(name)
    assert not piece.calls() and not piece.objects()
    assert len([o for o in piece.names if o.startswith('guard')]) <= 30


def test_rows_and_window_functions_are_one_loop(loop):
    """Each event is looked for among all; a result is kept from one event to the next, as an object."""
    piece = loop('window_log')
    assert not piece.calls() and piece.objects() <= 1
    assert len([o for o in piece.names if o.startswith('guard')]) <= 60


def test_the_loop_over_a_page_that_selects(loop):
    piece = loop('where', 'select')
    assert not piece.calls() and not piece.objects()
    assert len(piece.names) <= 60


@pytest.mark.parametrize('name, function', [
    ('aggregate', 'run'), ('filtered', 'run'), ('function_filters', 'function_filters')])
def test_user_code_in_the_generated_loop(name, function, loop):
    piece = loop(name, function)
    assert not piece.calls() and not piece.objects()


def test_a_row_that_is_not_distinct_is_looked_up_in_a_set(loop):
    piece = loop('distinct', 'run')
    assert len(piece.calls()) <= 1 and not piece.objects()


def test_texts_are_copied_and_no_more(loop):
    """One copy of the bytes for the comparison; for the user another, and a check of the UTF-8."""
    selecting = loop('texts', 'select').calls()
    assert all('copy_raw_to_string' in call or 'streq' in call for call in selecting)
    assert len(selecting) <= 2
    assert len(loop('texts').calls()) <= 3


def test_returned_texts_are_compared_as_python_has_them(loop):
    """The bytes of the column, a check of their UTF-8, the user's function, the comparison: no memory of C's."""
    piece = loop('returned_texts')
    assert [name for call in piece.calls() for name in ('copy_raw_to_string', 'utf8', 'lower', 'streq')
            if name in call] == ['copy_raw_to_string', 'utf8', 'lower', 'streq']
    assert len(piece.calls()) == 4 and piece.objects() <= 1


def test_fetchall_calls_nothing_but_the_list(loop):
    found = loop('fetchall').calls()
    assert all('list' in call or 'resize' in call for call in found), found


@pytest.mark.parametrize('name', ['point', 'insert'])
def test_one_call_into_c_for_a_query_or_an_insert(name, loop):
    operations = loop(name).names
    assert len([o for o in operations if o.startswith('call_release_gil')]) == 1
