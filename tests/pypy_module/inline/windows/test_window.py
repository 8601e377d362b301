"""Window functions written in Python (queries.py): their calls, in order, and what they return.

The oracle is the C tier, whose callbacks are compared with sqlite3 elsewhere: PyPy's sqlite3 has no
window functions.
"""
import random

import pytest
from tests.outcome import outcome
from tests.pypy_module.inline.test_between import WRITES

import sqpyte
from tests.extent import everything
from tests.pypy_module.inline.inlining import Side, compare, planned, until_error
from tests.pypy_module.inline.windows.queries import (
    BRIEF,
    INLINED,
    OTHERS,
    QUERIES,
    SCANNED,
    filled,
    window_class,
)


@pytest.mark.parametrize('query', INLINED + OTHERS)
def test_answers_and_calls(query):
    def action(side):
        connection, calls = filled(side, rows=400)
        found = [connection.execute(query).fetchall(), list(calls)]
        cursor = connection.execute(query)      # one row ahead of its caller, no more
        for _ in range(200):
            found += [cursor.fetchone(), len(calls)]
        cursor.close()
        return found, calls
    compare(action, oracle='C', inlined=query in INLINED)


def test_all_frames():
    def action(side):
        connection, calls = filled(side)
        return [outcome(lambda: connection.execute(query).fetchall()) for query in QUERIES], calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', INLINED)
def test_explained(query):
    with planned('inlined'):
        connection, _ = filled(Side('inlined', ''))
        connection.execute(query).fetchall()
        plan, = sqpyte.explain(connection, query)
        assert plan.tier == 'inliner' and 'window functions at' in plan.reason, plan.reason
        assert ('rolled back' in plan.reason) == (query in SCANNED), plan.reason
        compile(plan.detail, 'detail', 'exec')
        connection.close()


def test_at_random():
    """Frames, orders, partitions and actions in calls and between rows."""
    for seed in range(400 if everything() else 25):
        def action(side):
            made = random.Random(seed)
            query = made.choice(QUERIES + INLINED)
            sizes = made.choice((1, 2, 40, 300))
            acts = {made.randrange(600): made.choice(WRITES + ['ERROR']) for _ in range(2)}
            between = {made.randrange(100): made.choice(WRITES) for _ in range(2)}
            found = []

            def act(name, *given):
                what = acts.get(len(calls))
                if what == 'ERROR':
                    raise ValueError
                if what:
                    for part in what.split(';'):
                        part = part.format(here=20, next=21).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))
            connection, calls = filled(side, rows=sizes, act=act)
            cursor = outcome(connection.execute, query)
            rows = []
            while not isinstance(cursor, str):
                if len(rows) in between:
                    for part in between.pop(len(rows)).split(';'):
                        part = part.format(here=20, next=21).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))
                rows.append(outcome(cursor.fetchone))
                if rows[-1] is None or isinstance(rows[-1], str):
                    break
            return query, found, rows, calls, cursor if isinstance(cursor, str) else ''
        compare(action, oracle='C', inlined=False)


@pytest.mark.parametrize('name', ['step', 'inverse', 'value', 'finalize'])
@pytest.mark.parametrize('error', [ValueError('x'), MemoryError(), OverflowError(), KeyError,
                                   AttributeError('no')])
@pytest.mark.parametrize('query', BRIEF)
def test_exceptions(query, name, error, monkeypatch):
    reported = []
    monkeypatch.setattr('sys.unraisablehook', lambda given: reported.append(
        (given.exc_type, given.object.__name__)))
    sqpyte.enable_callback_tracebacks(True)

    def action(side):
        found = []
        del reported[:]
        for at in (1, 170):
            def act(called, *given):
                if called == name and len(calls) >= at:
                    raise error
            connection, calls = filled(side, act=act)
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            rows = []
            while len(rows) < 100:
                row = outcome(cursor.fetchone)
                rows.append(row)
                if row is None or isinstance(row, str):
                    break
            found += [rows, list(calls)]
            found.append(connection.execute('SELECT count(*) FROM u').fetchall())
        return found, list(reported)
    try:
        compare(action, oracle='C')
    finally:
        sqpyte.enable_callback_tracebacks(False)


@pytest.mark.parametrize('name', ['__init__', 'step', 'inverse', 'value', 'finalize'])
@pytest.mark.parametrize('query', BRIEF)
def test_missing_methods(query, name):
    """A method that goes missing in the middle: before, no row comes."""
    def action(side):
        def act(called, *given):
            if len(calls) == 60:
                if name == '__init__':
                    made.__init__ = lambda self: 1 // 0
                else:
                    delattr(made, name)
        connection, calls = filled(side)
        made = window_class(calls, act)
        connection.create_window_function('w', -1, made)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query).__class__ is str]
        while len(found) < 100 and found[-1] is not None:
            found.append(outcome(cursor.fetchone))
        return found, calls
    compare(action, oracle='C')


@pytest.mark.parametrize('result', [None, 1.5, 'text', b'blob', 2 ** 70, object(), float('nan'),
                                    True, '\ud800', 'x' * 5000, memoryview(b'abc')[::2]],
                         ids=lambda value: type(value).__name__)
@pytest.mark.parametrize('query', BRIEF)
def test_results(query, result):
    def action(side):
        connection, calls = filled(side)
        made = window_class(calls)
        made.value = lambda self: len(self.found) if len(calls) % 50 else result
        connection.create_window_function('w', -1, made)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query).__class__ is str]
        while len(found) < 100 and found[-1] is not None:
            found.append(outcome(cursor.fetchone))
        return found, calls
    compare(action, oracle='C')


@pytest.mark.parametrize('size', [3000, 70000, 400000, 1100000])
@pytest.mark.parametrize('query', [
    'SELECT z, w(z) OVER (ORDER BY x, rowid) FROM u',
    'SELECT w(z) OVER (ORDER BY rowid ROWS 3 PRECEDING) FROM u'])
def test_long_texts(size, query):
    def action(side):
        connection, calls = filled(side)
        connection.execute('UPDATE u SET z = printf(\'%.*c\', ?, \'x\') WHERE rowid % 20 = 3', (size,))
        connection.execute('UPDATE u SET z = zeroblob(?) WHERE rowid % 30 = 5', (size,))

        class Lengths:
            def __init__(self):
                self.found = 0

            def step(self, value):
                calls.append(len(value))
                self.found += len(value)

            def inverse(self, value):
                calls.append(-len(value))
                self.found -= len(value)

            def value(self):
                return self.found

            finalize = value
        connection.create_window_function('w', 1, Lengths)
        rows = connection.execute(query).fetchall()
        return [[value if isinstance(value, (int, type(None))) else len(value) for value in row]
                for row in rows], calls
    compare(action, oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT z, w(x) OVER (ORDER BY y) FROM u', 'SELECT w(z) OVER (ORDER BY y) FROM u',
    'SELECT z, w(x) OVER (ORDER BY rowid) FROM u', 'SELECT w(z) OVER (ORDER BY rowid) FROM u'])
def test_texts_that_are_not_utf_8(query):
    def action(side):
        connection, calls = filled(side)
        connection.execute('UPDATE u SET z = CAST(x\'61ff62\' AS TEXT) WHERE rowid = 50')
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query).__class__ is str]
        for _ in range(100):
            found.append(outcome(cursor.fetchone))
        connection.text_factory = lambda data: data[1:]
        for _ in range(50):
            found.append(outcome(cursor.fetchone))
        return found
    compare(action, oracle='C')


VALUES = [1, 2.5, None, 'text', b'\x80\xff', 2 ** 62, -2 ** 63, '12', 0, -0.0, 1e308, '\xe4']
EXPRESSIONS = ['{w} + v', 'v - {w}', '{w} * {w}', 'v / {w}', '{w} % v', '{w} || v', "{w} || x'80'", '-{w}', '~{w}',
               '{w} & v', '{w} << 3', 'CAST({w} AS TEXT)', 'CAST({w} AS INTEGER)', 'CAST({w} AS BLOB)',
               'round({w}, 1)', 'round({w} * 2 + v, 2) || n', 'abs({w})', '({w} * 2 + v) * 3 - n',
               "hex({w} || x'80') || {w}", 'zeroblob(n) || {w}', 'zeroblob({w} & 7)', 'nullif({w}, v)',
               'max({w}, v, n)', "replace({w}, 't', v)"]


@pytest.mark.parametrize('expression', EXPRESSIONS)
def test_what_is_computed_of_results(expression):
    """Of all types, also of texts that aren't UTF-8, with what C has noted beside."""
    def action(side):
        found = []
        for order in ('n ROWS 2 PRECEDING', '-n'):
            for factory in (str, bytes, lambda data: data.decode('latin-1')):
                connection = side.connect()
                connection.execute('CREATE TABLE t(n INTEGER PRIMARY KEY, v)')
                connection.executemany('INSERT INTO t VALUES(?, ?)', list(enumerate(VALUES * 4)))
                made = window_class([])
                made.value = lambda self: self.found[-1][0]
                connection.create_window_function('w', 1, made)
                connection.text_factory = factory
                query = 'SELECT %s, n FROM t' % expression.format(w='w(v) OVER (ORDER BY %s)' % order)
                found += until_error(connection.cursor(), query, repr)
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', ['SELECT a, w(b) OVER (ORDER BY a) || c FROM t',
                                   'SELECT w(b) OVER (ORDER BY b) || c FROM t'])
def test_computing_fails(query):
    """A text becomes too long: the rows before it are handed out, the instances finalised."""
    def action(side):
        connection, calls = filled(side)
        made = window_class(calls)
        made.value = lambda self: 'x' * 2 * len(calls)
        connection.create_window_function('w', -1, made)
        connection.execute("UPDATE t SET c = printf('%.*c', 139900, 'y')")
        connection.setlimit(0, 140000)      # with a lower one than 131072 nothing is inlined
        rows = until_error(connection.cursor(), query)
        return rows, calls, connection.execute('SELECT count(*) FROM t').fetchall()
    rows, _, _ = compare(action, oracle='C')
    assert 'too big' in rows[-1]
