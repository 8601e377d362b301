"""Real signals, whose handler writes, beside loops that are being traced: all rows come, and the process lives.

test_broken_into.py has a handler at every line, without a JIT. PyPy's tracer aborts the process if a handler runs where
it doesn't see it: between two instructions of a Python function that is called outside of traces.
"""
import os
import signal
import subprocess
import sys

import pytest

PROGRAM = '''
import random, signal, sys
import sqpyte
from tests.pypy_module.inline.inlining import Sum

ROWS = 20000
connection = sqpyte.connect(':memory:', isolation_level=None)
connection.executescript("""
    CREATE TABLE t(a INTEGER PRIMARY KEY, b);
    CREATE TABLE u(x INTEGER PRIMARY KEY, y);
    CREATE TABLE log(a);
    WITH RECURSIVE r(n) AS (VALUES(0) UNION ALL SELECT n + 1 FROM r LIMIT %d)
    INSERT INTO t SELECT n, n * 7919 %% 11 FROM r;
    INSERT INTO u SELECT a, b FROM t;
    CREATE INDEX t_b ON t(b);
""" % ROWS)


def handler(*_):
    global written
    written += 1
    try:
        connection.execute(WRITES[written % len(WRITES)])
    except sqpyte.OperationalError as error:
        assert "signal's" in str(error) or str(error) == 'database table is locked', error      # DROP TABLE
    signal.setitimer(signal.ITIMER_REAL, random.uniform(.0002, .002))


WRITES = 'INSERT INTO log VALUES(1)', 'CREATE TABLE IF NOT EXISTS other(a)', 'DROP TABLE IF EXISTS other'
written = 0
connection.create_function('f', 1, lambda value: value)
connection.create_window_function('s', 1, Sum)
signal.signal(signal.SIGALRM, handler)
for query in sys.argv[1:]:
    for _ in range(2):
        signal.setitimer(signal.ITIMER_REAL, .001)
        rows = sum(1 for _ in connection.execute(query))
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert rows == ROWS, (query, rows)
assert written
'''
QUERIES = ['SELECT a, f(b) FROM t', 'SELECT f(b), f(b), f(a) FROM t', 'SELECT f(a) + f(b) FROM t',
           'SELECT t.a, u.y FROM t JOIN u ON u.x = t.a', 'SELECT t.a, f(u.y) FROM t JOIN u ON u.x = t.a',
           'SELECT a FROM t WHERE f(b) > -1', 'SELECT a, s(b) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t',
           'SELECT b, f(a) FROM t ORDER BY b', 'SELECT s(b) FROM t GROUP BY a', 'SELECT DISTINCT f(a) FROM t',
           'SELECT t.a, u.y FROM t CROSS JOIN u ON u.x = t.a WHERE f(t.b) > -1']


@pytest.mark.parametrize('inline', ['1', 'always'])
@pytest.mark.parametrize('queries', [QUERIES[:3], QUERIES[3:6], QUERIES[6:]], ids=['scans', 'joins', 'groups'])
def test_a_handler_that_writes(inline, queries):
    if sys.implementation.name != 'pypy' and inline == '1':
        pytest.skip('loops are traced by PyPy alone')
    environment = dict(os.environ, SQPYTE_INLINE=inline)
    done = subprocess.run([sys.executable, '-c', PROGRAM, *queries], env=environment, stderr=subprocess.PIPE)
    assert done.returncode != -signal.SIGABRT, done.stderr[-2000:]
    assert done.returncode == 0, done.stderr[-2000:]
