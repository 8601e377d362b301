"""Each mechanism can be switched off: the answers stay, and it does nothing any more."""

import os
import random
import re
import subprocess
import sys

import pytest

import sqpyte
from c_engine.build import mechanisms
from c_engine.build.build import ROOT, read
from c_engine.generated.mechanisms import MECHANISMS
from pypy_module.dbapi.statements import execution, result_set, unfused
from pypy_module.ffi import code_cache
from pypy_module.ffi.library import lib, switched_off
from tests.pypy_module.inline.inlining import Sum

ROWS = 9000
# Nothing counts them: they are asked for each value, only by the VM, or only while PyPy's JIT traces.
UNCOUNTED = {'iso-dates', 'prepared-patterns', 'fused-calls', 'steady-traces', 'code-cache', 'varying-types'}
NAMES = [name for name, reader, _, _ in MECHANISMS if reader != 'vm']
# What does nothing either without it.
PARTS = {'mmap': {'located-rows', 'index-prefetch'}, 'located-rows': {'index-prefetch'},
         'sort-keys': {'collation-ranks', 'key-lists'}, 'slices': {'sinks'},
         'row-batches': {'string-cache'}}
COUNTED = [name for name in NAMES if name not in UNCOUNTED]


def compare(x, y):
    """A collation."""
    return (x[::-1] > y[::-1]) - (x[::-1] < y[::-1])


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    """A database file of some 3 000 pages, and 64 MB of zeros."""
    name = str(tmp_path_factory.mktemp('switches') / 'a.db')
    chance = random.Random(3)
    connection = sqpyte.connect(name)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, v INTEGER, filler TEXT)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?, ?)', [
        (i, chance.randrange(400), i % 97, 'x' * chance.randrange(900, 1500)) for i in range(ROWS)])
    connection.execute('CREATE INDEX tk ON t(k)')
    connection.execute('CREATE TABLE d(id INTEGER PRIMARY KEY, name TEXT)')
    connection.executemany('INSERT INTO d VALUES(?, ?)', [(i, 'name %d' % i) for i in range(1000)])
    connection.execute('CREATE TABLE o(id INTEGER PRIMARY KEY, d INTEGER, e INTEGER)')
    connection.executemany('INSERT INTO o VALUES(?, ?, ?)', [
        (i, chance.randrange(1000), i % 5) for i in range(16000)])
    # A file that isn't small: what an index leads to is prefetched.
    connection.execute('CREATE TABLE room(x)')
    connection.execute('INSERT INTO room VALUES(zeroblob(64 << 20))')
    connection.commit()
    connection.close()
    return name


def connect(path, cache_size):
    """A connection with functions written in Python."""
    connection = sqpyte.connect(path)
    connection.execute('PRAGMA cache_size=%d' % cache_size)
    connection.create_function('f', 1, lambda value: 2 * value + 1)
    connection.create_window_function('w', 1, Sum)
    connection.create_collation('backwards', compare)
    return connection


LARGE_CACHE = [
    'SELECT k, sum(v), count(filler) FROM t INDEXED BY tk GROUP BY k',
    'SELECT k, sum(v) FROM t GROUP BY k % 7 ORDER BY 2',
    'SELECT o.id, (SELECT max(v) FROM t WHERE t.id < o.id AND t.id > o.id - 3) FROM o WHERE id < 300',
    'SELECT e, (SELECT count(*) FROM d WHERE d.id > o.e * 100) FROM o WHERE id < 300',
    'SELECT o.id, d.name, o.e FROM o CROSS JOIN d ON d.id = o.d',
    'SELECT a.id, b.e FROM o a CROSS JOIN o b ON b.id = a.id + 1 WHERE a.id < 3000',
    'SELECT name FROM d ORDER BY name COLLATE backwards',
    'SELECT id, f(e) FROM o WHERE id < 3000',
    'SELECT o.id, f(d.id) FROM o CROSS JOIN d ON d.id = o.d WHERE o.id < 3000',
    'SELECT id FROM d ORDER BY f(id) % 10, id',
    'SELECT id, w(e) OVER (ORDER BY id ROWS 2 PRECEDING) FROM o WHERE id < 2000',
]
SMALL_CACHE = ['SELECT sum(v) FROM t NOT INDEXED', 'SELECT sum(length(filler)) FROM t INDEXED BY tk WHERE k < 20']


def answers(path, without=''):
    """The answers of the workload, and by name how often each mechanism has done something (list, dict)."""
    found = []
    before = {name: lib.sqpyte_used(name.encode()) for name in COUNTED}
    for inline in (True, 'always'):
        sqpyte.configure(inline=inline, without=without)
        with connect(path, 100000) as large, connect(path, 50) as small:
            for connection, queries in ((large, LARGE_CACHE), (small, SMALL_CACHE)):
                found += [connection.execute(sql).fetchall() for sql in queries]
            large.execute('CREATE TEMP TABLE n(a, b)')
            large.executemany('INSERT INTO n VALUES(?, ?)', [(i, None if i % 2 else 'x') for i in range(300)])
            found.append(large.execute('SELECT sum(a), count(b) FROM n').fetchall())
        large.close()
        small.close()
    return found, {name: lib.sqpyte_used(name.encode()) - before[name] for name in COUNTED}


@pytest.fixture(scope='module')
def with_all(path):
    """What `answers` gives with all that there is."""
    saved = sqpyte.configure()
    yield answers(path)
    sqpyte.configure(**saved)


def test_the_workload_uses_all(with_all):
    assert [name for name in COUNTED if not with_all[1][name]] == []


# The inliner reads steady-traces when it is loaded: test_it_is_read_at_the_start.
@pytest.mark.parametrize('name', [name for name in NAMES if name != 'steady-traces'])
def test_it_can_be_switched_off(path, with_all, name):
    found, used = answers(path, name)
    assert found == with_all[0]
    assert switched_off(name)
    if name in COUNTED:
        assert used[name] == 0
    others = {other for other in COUNTED if other != name and not used[other]}
    assert others == PARTS.get(name, set())


def test_without_anything(path, with_all):
    found, used = answers(path, [name for name in NAMES if name != 'steady-traces'])
    assert found == with_all[0]
    assert not any(used.values())


def test_explain_says_so(with_all):
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(a)')
    connection.create_function('f', 1, lambda value: value)
    connection.create_window_function('w', 1, Sum)
    sqpyte.configure(inline=True, without='page-batches,row-batches,slices,sinks,window-logs')
    for sql, name in [('SELECT a FROM t', 'page-batches'), ('SELECT a FROM t ORDER BY a', 'row-batches'),
                      ('SELECT f(x.a) FROM t x, t y', 'slices'), ('SELECT a FROM t ORDER BY f(a)', 'sinks'),
                      ('SELECT w(a) OVER (ORDER BY a) FROM t', 'window-logs')]:
        plan, = sqpyte.explain(connection, sql)
        assert 'not inlined: ' in plan.reason and name + ' switched off' in plan.reason, plan.reason
    sqpyte.configure(inline=False, without='')
    plan, = sqpyte.explain(connection, 'SELECT a FROM t')
    assert plan.reason.endswith('not inlined: inlining switched off')


def test_fused_calls(with_all):
    sqpyte.configure(without='fused-calls')
    assert execution.fused_execute is unfused.execute and result_set.step is unfused.step
    sqpyte.configure(without='')
    assert execution.fused_execute is lib.sqpyte_execute and result_set.step is lib.sqpyte_step


def test_code_cache(with_all, monkeypatch):
    asked = []
    monkeypatch.setattr(code_cache, 'kept', lambda source, title: asked.append(title) or compile(source, title, 'exec'))
    for without in ('code-cache', ''):
        sqpyte.configure(without=without)
        assert code_cache.define('made = 5', 'title' + without, {}, keep=True)['made'] == 5
    assert asked == ['title']


STEADY = '''
import sqpyte
from pypy_module.inline.runtime import trace
print(trace.note is trace._nothing)
try:
    sqpyte.configure(without=%r)
except sqpyte.ProgrammingError as error:
    print(error)
'''


def test_it_is_read_at_the_start():
    for without, other in (('steady-traces', ''), ('', 'steady-traces')):
        done = subprocess.run([sys.executable, '-c', STEADY % other], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                              env=dict(os.environ, SQPYTE_WITHOUT=without))
        off, message = done.stdout.decode().splitlines()
        assert off == str(bool(without) or sys.implementation.name != 'pypy')
        assert 'too late' in message


def test_names_that_there_are_not():
    done = subprocess.run([sys.executable, '-c', 'import sqpyte; print(sqpyte.configure())'], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, SQPYTE_WITHOUT='memoize,nothing,IsType, slices,Column'))
    assert b"'without': ('memoize', 'slices', 'Column')" in done.stdout
    assert b'SQPYTE_WITHOUT: "nothing" ignored, as there is no such name; there are' in done.stderr
    for name, _, _, _ in MECHANISMS:
        assert name.encode() in done.stderr


def sources(*rooms):
    """The text of all sources in folders (str)."""
    texts = []
    for room in rooms:
        for folder, _, files in os.walk(os.path.join(ROOT, room)):
            if 'generated' not in folder:
                texts += [read(os.path.join(folder, name)) for name in files if name.endswith(('.c', '.h', '.py'))]
    return '\n'.join(texts)


def test_somebody_reads_each_switch():
    c, python = sources('c_engine'), sources('pypy_module')
    for one, reader, name, opcodes, _ in mechanisms.read(read(mechanisms.HEADER)):
        if reader == 'MODULE':
            assert "'%s'" % name in python
        elif not opcodes:
            assert re.search(r'SQPYTE_OFF\(%s\)' % one, c), name
        assert (re.search(r'SQPYTE_COUNT\(%s\)' % one, c) is not None) == (
            name in COUNTED or name == 'prepared-patterns'), name


def test_a_row_that_is_not_understood():
    table = read(mechanisms.HEADER)
    assert len(mechanisms.read(table)) == len(MECHANISMS)
    for wrong in (table.replace('M(MEMOIZE, ENGINE', 'M(MEMOIZE, NOBODY'), table.replace('"memoize"', '"row-cache"'),
                  table.replace('M(MEMOIZE, ENGINE', 'M(MEMOIZE ENGINE')):
        with pytest.raises(mechanisms.MechanismError):
            mechanisms.read(wrong)
