"""The shape of the VM's traces: an optimisation lost is a test failed."""
import os
import subprocess

import pytest

from tests.jit.traces import traces_of

# The C functions that a row of a scan within a leaf page may call: comparisons of texts.
TEXT_CALLS = {'sqpyte_compare_bytes', 'sqpyte_compare_numeric_texts'}


@pytest.fixture(scope='module')
def command(paths, vm_library):
    return os.path.join(paths.build, 'sqpyte')


@pytest.fixture(scope='module')
def database(command, tmp_path_factory):
    path = tmp_path_factory.mktemp('jit') / 'shape.db'
    subprocess.run([command, str(path), '''
        CREATE TABLE t(a INTEGER, b REAL, c TEXT, d DATE);
        INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000)
            SELECT 1000 + n % 17, n + 0.5, 'some text ' || (1000 + n % 7), '1994-01-01' FROM r;
        '''], check=True)
    return path


@pytest.fixture
def traces(command, database, tmp_path):
    def run(sql):
        output, traces = traces_of(command, database, sql, tmp_path / 'log')
        assert output.strip()
        assert traces
        return traces
    return run


QUERIES = [
    'SELECT sum(a) FROM t',
    'SELECT sum(b), count(*) FROM t WHERE a > 1003',
    'SELECT total(a * b + a), max(b) FROM t',
    "SELECT count(*) FROM t WHERE c >= 'some text 1003'",
    "SELECT sum(b) FROM t WHERE d >= '1993-01-01' AND d < '1995-01-01'",
]


# What a trace may load from the frame: what doesn't change while it runs; a loop's body has it from before.
CONSTANT_FIELDS = {'Frame.inst_memory', 'Frame.inst_vdbe', 'Frame.inst_db', 'Frame.inst_ops',
                   'Frame.inst_cursors', 'Frame.inst_watched', 'Frame.inst_encoding',
                   # Asked once an iteration, as sqlite3.isInterrupted is: too many copies kept.
                   'Frame.inst_crowded'}
# And from the values that were in registers before the loop: its constants.
VALUE_FIELDS = {'W_Int.inst_intval', 'W_Real.inst_floatval', 'W_Bytes.inst_address',
                'W_Bytes.inst_size', 'W_Bytes.inst_origin'}


@pytest.mark.parametrize('sql', QUERIES)
def test_a_scan(traces, sql):
    """Registers are unboxed, nothing is allocated, nothing is dispatched; C is called to compare
    texts and to leave a page, and not at all within a page of numbers."""
    for trace in traces(sql):
        assert trace.count('new') == 0
        assert trace.count('setfield_gc') == 0 and trace.count('setarrayitem_gc') == 0
        assert trace.fields() <= CONSTANT_FIELDS | VALUE_FIELDS
        assert set(trace.calls) <= TEXT_CALLS | {'sqlite3BtreeNext'}
        assert trace.calls.count('sqlite3BtreeNext') <= 1
        if trace.calls.count('sqlite3BtreeNext') == 0 and 'd >=' not in sql and 'c >=' not in sql:
            assert trace.calls == []


def test_size_of_the_simplest_scan(traces):
    """The whole of an iteration: cell, record header, column, sum, Next, interrupt check."""
    sizes = [len(trace.names) for trace in traces('SELECT sum(a) FROM t')]
    assert max(sizes) < 150


def test_few_bridges(traces):
    """A scan whose rows are alike needs few traces: the page's end, the sizes of rowids."""
    assert len(traces("SELECT sum(b) FROM t WHERE d >= '1993-01-01'")) <= 12
