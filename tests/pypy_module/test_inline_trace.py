"""Which rows end a trace (pypy_module/inline_trace.py); what comes of it: tests/jit_pypy/test_layouts.py."""
import pytest

from pypy_module import inline_trace
from pypy_module.inline_trace import ODD, Refused, new_seen


def refused(function, *args):
    """Whether a call would end a trace."""
    try:
        function(*args)
    except Refused:
        return True
    return False


def test_a_row_that_was_noted_ends_a_trace_once():
    seen = new_seen()
    assert not refused(inline_trace._refuse, seen, 3)
    seen[0] = 3
    assert refused(inline_trace._refuse, seen, 3)
    assert not refused(inline_trace._refuse, seen, 3)


def test_a_class_of_loops_ends_so_many_traces():
    seen = new_seen()
    for _ in range(inline_trace.MOST):
        seen[0] = 3
        assert refused(inline_trace._refuse, seen, 3)
    seen[0] = 3
    assert not refused(inline_trace._refuse, seen, 3)


@pytest.mark.parametrize('few, ended', [(1, True), (2, True), (4, False), (5, False)])
def test_rare_ways_end_traces(few, ended):
    """Of ten rows `few` take another way than the rest."""
    ways: dict = {}
    seen = new_seen()
    for row in range(10):
        seen[0] = row
        found = refused(inline_trace._count, ways, seen, row, ODD if row >= 10 - few else 7)
    assert found == ended
    assert ways == {None: 10, 7: 10 - few, ODD: few}


def test_a_row_of_machine_code_ends_no_trace():
    ways: dict = {}
    seen = new_seen()
    for row in range(10):
        assert not refused(inline_trace._count, ways, seen, row, ODD if row == 9 else 7)


def test_nothing_is_raised_to_generated_code():
    seen = new_seen()
    ways: dict = {}
    for row in range(100):
        inline_trace.note(seen, 0, row)
        inline_trace.took(ways, seen, row, ODD if row % 10 == 0 else 7)
        inline_trace.batch_ended(seen, row)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv('SQPYTE_STEADY_TRACES', '0')
    assert inline_trace._outside_of_traces() is None
