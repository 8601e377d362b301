"""A function closes the connection amid the row of an inlined loop that calls it: nothing of the row is read, or
written to, afterwards. SQLite's memory is free by then, and buffers are other runners'."""
import functools
import gc
import os
import subprocess
import sys
import threading

import pytest

from pypy_module.ffi.place import ROOT
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Counter, answers

QUERIES = [
    'SELECT sum(f(u.k)), count(f(u.k)), max(f(t.id)) FROM u CROSS JOIN t ON t.id = u.k',
    'SELECT f(u.k), f(t.id), t.s FROM u CROSS JOIN t ON t.id = u.k',
    'SELECT g, sum(f(id)), f(s), total(f(id)) FROM t GROUP BY g',
    'SELECT sum(f(id)), max(f(id)) FROM t',
    'SELECT f(s), f(id), s FROM t WHERE f(id) >= 0',
    'SELECT g, a(s), a(id), sum(f(id)) FROM t GROUP BY +g',
    'SELECT a(s), a(id) FROM t',
    'SELECT a(s) OVER (ORDER BY id ROWS 3 PRECEDING), a(id) OVER (ORDER BY id), f(s) FROM t',
    'SELECT a(s) OVER (PARTITION BY g ORDER BY s), s FROM t ORDER BY f(g)',
]
WAYS = {
    'close': lambda connection: connection.close(),
    'interrupt, close': lambda connection: (connection.interrupt(), connection.close()),
    'another thread interrupts, close': lambda connection: (
        in_thread(connection.interrupt), connection.close()),
    'write, close': lambda connection: (connection.execute('INSERT INTO u VALUES(1000)'), connection.close()),
    'a query whose function closes, close': lambda connection: (
        outcome(connection.execute, 'SELECT g()'), connection.close()),
    'close, collect': lambda connection: (connection.close(), gc.collect()),
}


def in_thread(call):
    """Do a call in a thread of its own."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def texts_of_another(side):
    """Fetch texts of another connection: it takes buffers, and memory, that are free."""
    other = side.connect()
    other.execute('CREATE TABLE o(x)')
    other.executemany('INSERT INTO o VALUES(?)', [('of another %d' % i,) for i in range(600)])
    return lambda: other.execute('SELECT x, x || x FROM o ORDER BY x').fetchmany(500)


def closing(query, way, at, side):
    """What comes of a query whose function, or aggregate, does WAYS[way] in call number `at` (int): its error, and what
    all calls got."""
    calls: list = []
    fetch_others = texts_of_another(side)
    connection = side.connect(check_same_thread=False)

    def call(value):
        calls.append(value)
        if len(calls) == at:
            WAYS[way](connection)
            fetch_others()
        return value

    class Aggregate:
        def step(self, value):
            call(value)

        def inverse(self, value):
            call(value)

        def value(self):
            return 'so far'
        finalize = value
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, g, s)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [(i, i // 37, 'text %d' % i) for i in range(300)])
    connection.execute('CREATE TABLE u(k)')
    connection.executemany('INSERT INTO u VALUES(?)', [(3 * i,) for i in range(90)])
    connection.create_function('f', 1, call)
    connection.create_function('g', 0, connection.close)
    connection.create_window_function('a', 1, Aggregate)
    return outcome(lambda: connection.execute(query).fetchall()), calls


def all_of_them(names):
    """Assert of every query, way and place that the error is C's, and so are the calls before it."""
    for query in QUERIES:
        for way in WAYS:
            for at in 3, 40, 77:
                before = Counter.started
                found = answers(functools.partial(closing, query, way, at), names)
                assert Counter.started > before, query
                expected, calls = found['C']
                assert expected.startswith('ProgrammingError'), (query, way, at, expected)
                for name in names[1:]:
                    error, others = found[name]
                    assert error == expected, (query, way, at, name, error)
                    assert others[:at] == calls[:at] and others == calls[:len(others)], (query, way, at, name)


def test_nothing_of_the_row_is_used():
    all_of_them(('C', 'inlined', 'later'))


@pytest.mark.parametrize('free', ['1', '170'])
def test_nothing_that_is_free_is_used(free):
    """What is freed is overwritten."""
    code = 'from tests.pypy_module.inline import test_closed_within as test; test.test_nothing_of_the_row_is_used()'
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, stderr=subprocess.PIPE,
                          env=dict(os.environ, MALLOC_PERTURB_=free))
    assert done.returncode == 0, done.stderr.decode()[-2000:]
