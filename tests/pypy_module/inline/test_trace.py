"""Which rows end a trace (pypy_module/inline/runtime/trace.py); what comes of it: tests/jit_pypy/test_layouts.py."""
import gc
import sys

import pytest

import sqpyte
from pypy_module.dbapi.statements import tiers
from pypy_module.inline import policy
from pypy_module.inline.runtime import trace
from pypy_module.inline.runtime.trace import Refused, Seen


def refused(function, *args):
    """Whether a call would end a trace."""
    try:
        function(*args)
    except Refused:
        return True
    return False


def test_a_row_that_was_noted_ends_a_trace_once():
    seen = Seen()
    assert not refused(trace._refuse, seen, 3)
    seen[0] = 3
    assert refused(trace._refuse, seen, 3)
    assert not refused(trace._refuse, seen, 3)


def test_a_class_of_loops_ends_so_many_traces():
    seen = Seen()
    for _ in range(trace.MOST):
        seen[0] = 3
        assert refused(trace._refuse, seen, 3)
    seen[0] = 3
    assert not refused(trace._refuse, seen, 3)


@pytest.mark.parametrize('few, ended', [(10, True), (25, True), (40, False), (50, False)])
def test_rare_ways_end_traces(few, ended):
    """Of a hundred rows `few` take another way than the rest."""
    ways: dict = {}
    seen = Seen()
    for row in range(100):
        seen[0] = row
        found = refused(trace._count, ways, seen, row, 8 if row >= 100 - few else 7)
    assert found == ended
    assert ways == {None: 100, 7: 100 - few, 8: few}


def test_the_first_rows_end_traces():
    """Which ways are rare isn't known of them: PyPy may trace a loop at its second row."""
    ways: dict = {}
    seen = Seen()
    for row in range(100):
        seen[0] = row
        assert refused(trace._count, ways, seen, row, 7) == (row < trace.FEWEST - 1)


def test_a_row_of_machine_code_ends_no_trace():
    ways: dict = {}
    seen = Seen()
    for row in range(10):
        assert not refused(trace._count, ways, seen, row, 8 if row == 9 else 7)


def test_nothing_is_raised_to_generated_code():
    seen = Seen()
    for row in range(100):
        trace.note(seen, 0, row)
        trace.batch_ended(seen, row)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(trace, 'switched_off', lambda name: name == 'steady-traces')
    assert trace._outside_of_traces() is None


@pytest.mark.parametrize('table', ['t NOT INDEXED', 't INDEXED BY t_b'])
def test_a_loop_in_a_row_s_way_notes_no_row_before_its_step(table, numbers, monkeypatch):
    """A page batch and a slice, with a filter. A guard in such a loop resumes at its head: the row before would be
    noted in the bridge to the next batch, which would be given up each time."""
    numbers.execute('CREATE INDEX t_b ON t(b)')
    numbers.create_function('odd', 1, lambda value: value == 1)
    monkeypatch.setattr(tiers, 'planner', policy.Planner(1, 0))
    query = 'SELECT b FROM %s WHERE odd(b)' % table
    numbers.execute(query).fetchall()
    before, loop = str(sqpyte.explain(numbers, query)).split('while True:')
    assert before.rstrip().endswith('note(SEEN, 0, i)')
    assert 'note(' not in loop.split('batch_ended(')[0]


@pytest.mark.skipif(sys.implementation.name != 'pypy', reason='nothing is counted where nothing is traced')
def test_every_row_that_is_interpreted_is_counted(numbers, monkeypatch):
    """A function that generated code called for it would be machine code after 1619 rows."""
    import pypyjit

    def generated():
        return [made for made in gc.get_objects() if getattr(made, '__name__', '') == 'pypy_module.inlined']

    rows = 5000
    numbers.executemany('INSERT INTO t VALUES(?, 1)', [(n,) for n in range(rows)])
    numbers.create_function('twice', 1, lambda value: 2 * value)
    monkeypatch.setattr(tiers, 'planner', policy.Planner(1, 0))
    before = generated()
    pypyjit.set_param('threshold=1000000000')
    try:
        numbers.execute('SELECT sum(twice(a)) FROM t').fetchall()
    finally:
        pypyjit.set_param('default')
    made, = [made for made in generated() if made not in before]
    assert made.WAYS[None] == 10 + rows
