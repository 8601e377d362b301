"""Which rows end a trace (pypy_module/inline/runtime/trace.py); what comes of it: tests/jit_pypy/test_layouts.py."""
import gc
import inspect
import sys

import pytest

import sqpyte
from pypy_module.dbapi.statements import tiers
from pypy_module.inline import policy
from pypy_module.inline.runtime import trace
from pypy_module.inline.runtime.trace import Seen
from tests.at_once import at_once


class Code:
    """What generated code does with a row, as it is interpreted."""

    def __init__(self):
        self.seen = Seen()
        self.names = dict(trace.BUILTINS, SEEN=self.seen, WENT=self.seen.went, OTHERS=self.seen.others)

    def takes(self, row, pc, noted=True):
        """Note a row, and that it takes the way to `pc`; returns whether a trace would end."""
        if noted:
            self.seen[0] = row
        self.names['WAY'], before = self.seen.way('rows', pc), self.seen.left
        exec('\n'.join(trace.taken('WAY', '%d' % row)), self.names)
        return self.seen.left < before

    def taken(self):
        """How many rows took each way, and any."""
        self.seen.count_ways()
        return {pc: way.taken for (_, pc), way in self.seen.ways.items()}, self.seen.rows['rows']


def test_threads_count_side_by_side(restless):
    seen = Seen()
    way = seen.way('rows', 7)

    def count(_):
        for _ in range(3000):
            seen.went.append(way)
            seen.went.append(way)
            seen.count_ways()
        return len(seen.went)
    assert set(map(type, at_once(count, 4))) == {int}


def test_a_row_that_was_noted_ends_a_trace_once():
    code = Code()
    assert not code.takes(3, 7, noted=False)
    assert code.takes(3, 7)
    assert not code.takes(3, 7, noted=False)


def test_a_class_of_loops_ends_so_many_traces(monkeypatch):
    monkeypatch.setattr(trace, 'FEWEST', 10 ** 9)
    code = Code()
    for _ in range(trace.MOST):
        assert code.takes(3, 7)
    assert not code.takes(3, 7)


@pytest.mark.parametrize('few, ended', [(10, True), (25, True), (40, False), (50, False)])
def test_rare_ways_end_traces(few, ended):
    """Of a hundred rows `few` take another way than the rest."""
    code = Code()
    for row in range(100):
        found = code.takes(row, 8 if row >= 100 - few else 7)
        if row % 10 == 9:
            trace.batch_ended(code.seen, row)
    code.seen.count_ways()
    assert code.takes(200, 8) == ended and found == ended
    assert code.taken() == ({7: 100 - few, 8: few + 1}, [101])


def test_a_common_way_that_becomes_rare_ends_traces_from_the_next_batch_on():
    code = Code()
    for row in range(200):
        code.takes(row, 8 if row < 80 else 7)
    assert not code.takes(200, 8)
    for row in range(201, 500):
        code.takes(row, 7)
    trace.batch_ended(code.seen, 500)
    assert code.takes(501, 8)


def test_the_first_rows_end_traces():
    """Which ways are rare isn't known of them: PyPy may trace a loop at its second row."""
    code = Code()
    for row in range(100):
        assert code.takes(row, 7) == (row < trace.FEWEST)


def test_a_row_of_machine_code_ends_no_trace():
    code = Code()
    for row in range(10):
        assert not code.takes(row, 8 if row == 9 else 7, noted=False)


def test_what_is_not_counted_is_bounded():
    code = Code()
    for row in range(5 * trace.KEPT):
        code.takes(row, 7, noted=False)
    assert len(code.seen.went) == trace.KEPT


@pytest.mark.parametrize('name', trace.BUILTINS)
def test_only_builtins_are_called_outside_of_traces(name):
    """A signal's handler that runs in them would change what PyPy's tracer believes unchanged."""
    function = trace.BUILTINS[name]
    assert sys.implementation.name != 'pypy' or type(function.__code__).__name__ == 'builtin-code'
    assert not inspect.isfunction(function) or sys.implementation.name == 'pypy'


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
        numbers.execute('SELECT sum(twice(a) + 54321) FROM t').fetchall()      # no other test's query
    finally:
        pypyjit.set_param('default')
    made, = [made for made in generated() if made not in before]
    made.SEEN.count_ways()
    assert made.SEEN.rows['WAY'] == [10 + rows]
