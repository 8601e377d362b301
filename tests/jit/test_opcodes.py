"""The shape of the traces of index scans, seeks, sorts, groups and functions: what C does for a row
is named here, so that an optimisation lost is a test failed."""
import collections
import os
import subprocess

import pytest

from tests.jit.traces import traces_of

NEXT = 'sqlite3BtreeNext'


@pytest.fixture(scope='module')
def command(paths, vm_library):
    return os.path.join(paths.build, 'sqpyte')


@pytest.fixture(scope='module')
def database(command, tmp_path_factory):
    path = tmp_path_factory.mktemp('jit') / 'opcodes.db'
    subprocess.run([command, str(path), '''
        CREATE TABLE t(a INTEGER, b REAL, c TEXT, d DATE);
        INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000)
            SELECT 1000 + n % 17, n + 0.5, 'some text ' || (1000 + n % 7), '1994-01-01' FROM r;
        CREATE TABLE u(k INTEGER PRIMARY KEY, v INTEGER, w TEXT);
        INSERT INTO u SELECT rowid, a, c FROM t;
        CREATE INDEX uv ON u(v);
        CREATE INDEX uw ON u(w, v);
        '''], check=True)
    return path


@pytest.fixture
def loops(command, database, tmp_path):
    """A function: the loops (not the bridges) that are compiled for a statement."""
    def run(sql, mode='hot'):
        output, traces = traces_of(command, database, sql, tmp_path / 'log', mode)
        assert output.strip()
        found = [trace for trace in traces if trace.is_loop]
        assert found
        return found
    return run


def shape(trace):
    """What a trace does in C (Counter of function names), allocates and stores."""
    assert trace.count('new') == 0, 'allocated in a loop'
    assert trace.count('setfield_gc') == 0 and trace.count('setarrayitem_gc') == 0
    return collections.Counter(trace.calls)


# Statement -> C calls of an iteration. A loop that was traced over a page's end has a Next, too.
SCANS = {
    # Index scans in a leaf page: where the range ends is compared in the trace.
    'SELECT sum(v) FROM u WHERE v BETWEEN 1003 AND 1010': {},
    'SELECT count(*) FROM u WHERE v > 1003': {},
    "SELECT sum(v) FROM u WHERE w > 'some text 1002' AND w < 'some text 1005'":
        {'sqpyte_compare_bytes': 1},
    'SELECT v, count(*) FROM u GROUP BY v ORDER BY 2 LIMIT 1': {},
    # Functions: one C call each, no Mem; abs, a constant date part and typeof have none or one.
    'SELECT sum(length(c)) FROM t': {'sqpyte_text_length': 1},
    "SELECT count(*) FROM t WHERE substr(c, 11) = '1003'":
        {'sqpyte_substr': 1, 'sqpyte_compare_bytes': 1},
    "SELECT count(*) FROM t WHERE c LIKE '%1003%'": {'sqpyte_match_prepared': 1},
    "SELECT count(*) FROM t WHERE c GLOB 'some*1003'": {'sqpyte_match_prepared': 1},
    "SELECT count(*) FROM t WHERE instr(c, '1003') > 0": {'sqpyte_instr': 1},
    'SELECT sum(abs(a)) FROM t': {},
    'SELECT max(a, 1005) FROM t WHERE max(a, 1005) > 2000 UNION ALL SELECT 1': {},
    'SELECT sum(coalesce(nullif(a, 1001), 3)) FROM t': {},
    "SELECT count(*) FROM t WHERE strftime('%Y', d) = '1995'":
        {'sqpyte_iso_date': 1, 'sqpyte_compare_bytes': 1},
    'SELECT sum(CAST(b AS INTEGER) & 7) FROM t': {},
    # A coroutine: jumps within the trace.
    'SELECT max(x) FROM (SELECT a + 1 AS x FROM t LIMIT 50000)': {},
}


@pytest.mark.parametrize('sql', list(SCANS))
def test_loops_in_a_leaf_page(loops, sql):
    calls = shape(loops(sql)[0])
    assert calls.pop(NEXT, 0) <= 1
    assert calls == SCANS[sql]


def test_a_sorter_is_filled_by_two_calls_a_row(loops):
    calls = shape(loops('SELECT c, count(*), sum(b) FROM t GROUP BY c')[0])
    assert calls.pop(NEXT, 0) <= 1
    assert calls == {'sqpyte_make_record': 1, 'sqpyte_sorter_insert': 1}


def test_groups_of_a_sorter(loops):
    """The key of a row is a view of the sorter's record and copied only where a group begins."""
    calls = shape(loops('SELECT c, count(*), sum(b), min(a) FROM t GROUP BY c')[-1])
    assert calls == {'sqpyte_sorter_row': 1, 'sqpyte_compare_bytes': 1, 'sqpyte_sorter_next': 1}


def test_groups_of_numbers(loops):
    calls = shape(loops('SELECT a, avg(b) FROM t GROUP BY a')[-1])
    assert calls == {'sqpyte_sorter_row': 1, 'sqpyte_sorter_next': 1}


# Joins, and what is traced of them where they run in the VM: one call for the way down a B-tree.
SEEKS = {
    'SELECT count(*), sum(y.v) FROM t AS x, u AS y WHERE y.k = x.a': {'sqpyte_seek_rowid': 1},
    'SELECT count(*) FROM t WHERE a IN (SELECT v FROM u WHERE k < 5)': {'sqpyte_filter_bit': 1},
}


@pytest.mark.parametrize('sql', list(SEEKS))
def test_seeks(loops, sql):
    calls = shape(loops(sql, 'always')[0])
    assert calls.pop(NEXT, 0) <= 1
    assert calls == SEEKS[sql]


def test_the_inner_loop_of_a_join_over_an_index(loops):
    """Entries of the index are compared in the page; the table's row isn't looked for where the
    index has the column."""
    sql = 'SELECT sum(y.k) FROM t AS x, u AS y WHERE y.v = x.a AND x.rowid < 30'
    calls = shape(loops(sql, 'always')[0])
    assert calls == {}
