"""What a signal's handler may do at any line of the module's own code, by the same connection: rows are right. A write
may be refused.

Python runs a handler between two of its instructions. Here one is run at the N-th line of the module that a query
executes, for every few N; a trace function stands in for the signal.
"""
import sys

import pytest

import sqpyte
from pypy_module.dbapi.deprecation import OURS
from tests.extent import everything
from tests.pypy_module.inline.inlining import Sum, planned

ROWS = 25
EVERY = 5 if everything() else 25       # lines: one of so many is tried
INTERRUPTED = 4 * EVERY                 # each interrupt collects garbage
QUERIES = [
    'SELECT a, c FROM t',
    'SELECT a, c FROM t WHERE b > 2',
    'SELECT a, v FROM t JOIN u ON k = b',
    'SELECT a, c FROM t ORDER BY c',
    'SELECT f(a), c FROM t',
    'SELECT f(a), v FROM t JOIN u ON k = b',
    'SELECT b, g(a), max(v) FROM t JOIN u ON k = a GROUP BY b',
    'SELECT f(b), count(*) FROM t JOIN u ON k = a GROUP BY f(b)',
    'SELECT a, g(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t',
    'SELECT g(a) FROM t',
    'SELECT a, v FROM t CROSS JOIN u ON k = b WHERE f(a) % 3',
    'SELECT DISTINCT f(b) FROM t',
]


class AtLine:
    """Runs `handler` at a line of the module's, whose number is `target`, among those that are executed within it."""

    def __init__(self, target, handler):
        self.target = target
        self.handler = handler
        self.count = 0

    def __enter__(self):
        sys.settrace(self.entered)
        return self

    def __exit__(self, *error):
        sys.settrace(None)

    def entered(self, frame, event, argument):
        ours = frame.f_globals.get('__name__', '').startswith(OURS)
        return self.line if ours or frame.f_code.co_filename.startswith('<') else None

    def line(self, frame, event, argument):
        if event == 'line':
            self.count += 1
            if self.count == self.target:
                sys.settrace(None)
                self.handler()
        return self.line


@pytest.fixture
def interpreted():
    """No JIT: PyPy's aborts the process where a trace function is set and taken away so often."""
    if sys.implementation.name != 'pypy':
        yield
        return
    import pypyjit
    pypyjit.set_param('off')
    yield
    pypyjit.set_param('default')


@pytest.fixture
def tables(interpreted):
    """A connection with tables, and with functions."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.executescript('''
        CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
        CREATE TABLE u(k INTEGER PRIMARY KEY, v);
        CREATE TABLE w(a);
        WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r LIMIT %d)
        INSERT INTO t SELECT n, n %% 7, 'text ' || n FROM r;
        INSERT INTO u SELECT a, 'v' || a FROM t''' % ROWS)
    connection.create_function('f', 1, lambda value: value)
    connection.create_window_function('g', 1, Sum)
    yield connection
    connection.close()


@pytest.mark.parametrize('query', QUERIES)
@pytest.mark.parametrize('what', ['write', 'read', 'same function'])
def test_a_handler(tables, query, what):
    refused: list = []

    def write():
        try:
            tables.execute('INSERT INTO w VALUES(1)')
        except sqpyte.OperationalError as error:
            assert 'signal\'s' in str(error)
            refused.append(error)

    def read():
        assert tables.execute('SELECT count(*) FROM t').fetchall() == [(ROWS,)]

    def same_function():
        assert tables.execute('SELECT f(77), (SELECT g(x) FROM (SELECT 5 AS x UNION ALL SELECT 6))').fetchall() == [
            (77, 11)]
    handler = {'write': write, 'read': read, 'same function': same_function}[what]
    with planned('inlined'):
        for _ in range(2):
            expected = tables.execute(query).fetchall()
        tried = 0
        target = 1 + len(query) % EVERY
        while True:
            found: list = []
            with AtLine(target, handler) as at:
                try:
                    for row in tables.execute(query):
                        found.append(row)
                except Exception as error:
                    found.append(error)
            if at.count < target:
                break
            assert found == expected, (target, found[-2:])
            tried += 1
            target += EVERY
        assert tried > 250 // EVERY
        assert len(refused) < tried
        assert tables.execute(query).fetchall() == expected


@pytest.mark.parametrize('query', QUERIES)
def test_a_handler_that_interrupts(tables, query):
    """It is never refused: it writes nothing."""
    with planned('inlined'):
        for _ in range(2):
            expected = tables.execute(query).fetchall()
        target, interrupted = 1 + len(query) % INTERRUPTED, 0
        while True:
            found: list = []
            with AtLine(target, tables.interrupt) as at:
                try:
                    for row in tables.execute(query):
                        found.append(row)
                except sqpyte.Error as error:
                    assert str(error) == 'interrupted', (target, error)
                    interrupted += 1
                    assert found == expected[:len(found)]
                else:
                    assert found == expected, target
            if at.count < target:
                break
            target += INTERRUPTED
        assert interrupted > 50 // INTERRUPTED
        assert tables.execute(query).fetchall() == expected


@pytest.mark.parametrize('query', ['SELECT a, f(a) FROM t', 'SELECT b, g(a) FROM t GROUP BY b'])
def test_a_handler_that_calls_the_function_that_c_has_called(tables, query):
    """The frame of the function is the handler's call's, and then again its own."""
    with planned('C'):
        expected = tables.execute(query).fetchall()

        def handler():
            assert tables.execute("SELECT f('x'), (SELECT g(9))").fetchall() == [('x', 9)]
        target = 1
        while True:
            with AtLine(target, handler) as at:
                assert tables.execute(query).fetchall() == expected, target
            if at.count < target:
                break
            target += 3 if everything() else 11


@pytest.mark.parametrize('planner', ['C', 'inlined'])
def test_a_handler_amid_the_rows_of_the_same_statement(tables, planner):
    """Its cursor keeps its statement, and the program's get others."""
    query = 'SELECT a, c FROM t WHERE a > 1'
    left: list = []

    def handler():
        left.append(tables.execute(query))
        assert next(left[0]) == expected[0]
    with planned(planner):
        expected = tables.execute(query).fetchall()
        target = 1
        while True:
            left.clear()
            with AtLine(target, handler) as at:
                cursors = [tables.execute(query) for _ in range(3)]
                found = [cursor.fetchall() for cursor in cursors]
            assert found == [expected] * 3, target
            if at.count < target:
                break
            assert left[0].fetchall() == expected[1:], target
            target += 1 if planner == 'C' or everything() else 11


def test_an_error_is_of_its_class_though_a_handler_has_used_the_connection(tables):
    target = 1
    while True:
        with AtLine(target, lambda: tables.execute('SELECT 1').fetchall()) as at, \
                pytest.raises(sqpyte.IntegrityError):
            tables.execute('INSERT INTO t(a) VALUES(1)')
        if at.count < target:
            break
        target += 1
