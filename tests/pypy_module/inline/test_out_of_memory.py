"""A statement that runs out of memory while it has run ahead of its caller: each row at most once, in order.

SQLite's limit of memory (sqlite3_hard_heap_limit64) stops the 150th of 400 rows, which takes 20 MB.  What is
run ahead fails as soon as C has come there, up to a batch of rows before the caller; no row is given twice,
and none after the error.
"""
import ctypes

import pytest

from pypy_module.ffi import library
from tests.outcome import outcome
from tests.pypy_module.dbapi.connections.test_functions import Sum
from tests.pypy_module.inline.inlining import answers

LIMIT = 9000000
BIG = 'length(hex(zeroblob(CASE WHEN t.a = 150 THEN 10000000 ELSE 1 END))) > 0'
QUERIES = [
    'SELECT t.a FROM t WHERE %s',
    'SELECT f(t.a) FROM t WHERE %s',
    'SELECT f(t.a), u.y FROM t JOIN u ON u.x = t.a WHERE %s',
    'SELECT u.y FROM t CROSS JOIN u ON u.x = t.a WHERE %s AND f(t.a) > 0',
    'SELECT u.y FROM t CROSS JOIN u ON u.x = t.a WHERE f(t.a) > 0 AND u.x + 0 AND %s',
    'SELECT a, s(b) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t WHERE %s',
    'SELECT a, round(s(b) OVER (ORDER BY a ROWS 3 PRECEDING) * 2 + b, 1) FROM t WHERE %s',
    'SELECT a, length(hex(zeroblob(s(a) OVER (ORDER BY a ROWS 0 PRECEDING) / 150 * 10000000))) FROM t -- not %s',
    'SELECT t.a, s(t.b) FROM t JOIN u ON u.x = t.a WHERE %s GROUP BY t.a',
]


def limit_memory(size):
    """Have SQLite use `size` bytes at most; 0: no limit, which the PRAGMA can't say."""
    ctypes.CDLL(library.path).sqlite3_hard_heap_limit64(ctypes.c_int64(size))


def filled(side):
    """A connection with the tables, and the list of the calls of f."""
    calls = []

    def f(value):
        calls.append(value)
        return value
    connection = side.connect()
    connection.create_function('f', 1, f)
    connection.create_window_function('s', 1, Sum)
    connection.executescript('''
        CREATE TABLE t(a INTEGER PRIMARY KEY, b);
        CREATE TABLE u(x INTEGER PRIMARY KEY, y);
        CREATE TABLE log(x);
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 400)
        INSERT INTO t SELECT n, n FROM r;
        INSERT INTO u SELECT a, a FROM t''')
    return connection, calls


@pytest.mark.parametrize('between', ['SELECT 1', 'INSERT INTO log VALUES(1)', 'UPDATE t SET b = 2'])
@pytest.mark.parametrize('after', [1, 40, 140])
@pytest.mark.parametrize('query', QUERIES)
def test_rows_before_it(query, after, between):
    def action(side):
        connection, calls = filled(side)
        limit_memory(LIMIT)
        cursor = connection.cursor()
        try:
            cursor.execute(query % BIG)
            found = [outcome(cursor.fetchone) for _ in range(after)]
            connection.execute(between).fetchall()
            return found + [outcome(cursor.fetchone) for _ in range(400)], calls
        finally:
            limit_memory(0)
    sides = answers(action, ('C', 'inlined'))
    for name, (found, calls) in sides.items():
        rows = [row for row in found if isinstance(row, tuple)]
        ended = len(rows)
        assert found[ended] == 'MemoryError: ', (name, found[ended])
        assert not any(found[ended + 1:]), name
        firsts = [row[0] for row in rows]
        assert firsts == list(range(1, ended + 1)), (name, firsts)
        assert 60 <= ended < 150, (name, ended)
        assert calls == list(range(1, 151))[:len(calls)], name
