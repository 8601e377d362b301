"""Window functions written in Python (inline_tape.py): their calls, in order, and what they return.

The oracle is the C tier, whose callbacks are compared with sqlite3 elsewhere: PyPy's sqlite3 has no
window functions.
"""
import random

import pytest

import sqpyte
from tests.extent import everything

from .inlining import compare, dropped_in_the_middle, outcome, planned
from .test_inline_between import WRITES

FRAMES = [
    'ORDER BY {o}',
    'ORDER BY {o} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW',
    'ORDER BY {o} ROWS 2 PRECEDING',
    'ORDER BY {o} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
    'ORDER BY {o} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING',
    'ORDER BY {o} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    'ORDER BY {o} ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING',
    'ORDER BY {o} ROWS BETWEEN 2 FOLLOWING AND 4 FOLLOWING',
    'ORDER BY {o} GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
    'ORDER BY {o} RANGE BETWEEN 2 PRECEDING AND CURRENT ROW',
    'ORDER BY {o} RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    '',
]
PARTITIONS = ['', 'PARTITION BY c ', 'PARTITION BY b % 3, c ']
QUERIES = ['SELECT a, w(b) OVER (%s%s) FROM t' % (partition, frame.format(o=order))
           for order in ('b', 'a') for partition in PARTITIONS for frame in FRAMES]
# Inlined: sorted, or in the table's or an index's order.
SORTED = [
    'SELECT a, w(b) OVER (ORDER BY b, a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t',
    'SELECT w(b, c) OVER (PARTITION BY c ORDER BY b), c, a FROM t',
    'SELECT a, w(b) OVER (PARTITION BY c) FROM t',
    'SELECT w() OVER x, w(b) OVER x, sum(b) OVER x, b FROM t WINDOW x AS (ORDER BY c, b)',
    'SELECT w(b) OVER x, row_number() OVER x, a FROM t WINDOW x AS (PARTITION BY c ORDER BY b)',
    'SELECT w(b) FILTER (WHERE a % 2) OVER (ORDER BY b, a) FROM t LIMIT 60 OFFSET 3',
    'SELECT w(z, x) OVER (ORDER BY z ROWS 2 PRECEDING), z, w(y) OVER (ORDER BY z ROWS 2 PRECEDING) '
    'FROM u',
]
SCANNED = [
    'SELECT a, w(b) OVER (ORDER BY a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t',
    'SELECT a, w(b) OVER (ORDER BY a) FROM t',
    'SELECT x, w(y) OVER (ORDER BY x ROWS 4 PRECEDING), z FROM u INDEXED BY ux',
    'SELECT w(b, c) OVER x, sum(a) OVER x, c FROM t WINDOW x AS (ORDER BY a ROWS 1 PRECEDING)',
    'SELECT x, w(y) OVER (PARTITION BY x ORDER BY rowid) FROM u INDEXED BY ux',
]
INLINED = SORTED + SCANNED
FEW = [SORTED[0], SORTED[1], SORTED[2], SCANNED[0], SCANNED[2]]
BRIEF = FEW if everything() else [SORTED[1], SCANNED[0]]     # of the long lists
# Left to callbacks, wholly or in part.
OTHERS = [
    'SELECT w(b) OVER (ORDER BY c), w(a) OVER (PARTITION BY c ORDER BY b), row_number() OVER '
    '(ORDER BY a) FROM t',
    'SELECT w(b) OVER (ORDER BY b) + 1 FROM t',
    'SELECT a FROM (SELECT a, w(b) OVER (ORDER BY b) AS x FROM t) WHERE x > \'2\'',
    'SELECT a, w(b) OVER (ORDER BY b ROWS 3 PRECEDING EXCLUDE CURRENT ROW) FROM t',
    'SELECT a, w(b) OVER (ORDER BY b) FROM t ORDER BY 2, 1',
    'SELECT DISTINCT w(b) OVER (PARTITION BY c) FROM t',
    'SELECT w(b) OVER (ORDER BY b), f(a) FROM t',
    'SELECT w(f(b)) OVER (ORDER BY b) FROM t',
    'SELECT w(b) OVER (ORDER BY a), f(a) FROM t',
    'SELECT w(b) OVER (ORDER BY c COLLATE mine) FROM t',
    'SELECT a, w(b) OVER (ORDER BY a), rank() OVER (ORDER BY a) FROM t',
    'SELECT a, w(b) OVER (ORDER BY a) FROM t UNION ALL SELECT x, y FROM u',
    'WITH x AS (SELECT a, w(b) OVER (ORDER BY b) AS y FROM t) SELECT x.a, x.y, z.y FROM x JOIN x AS z '
    'ON z.a = x.a',
]


def window_class(calls, act=lambda name, *given: None):
    """A window class that records its calls, and does `act` as well."""
    class Listing:
        def __init__(self):
            self.found = []
            calls.append('new')

        def step(self, *given):
            calls.append(('step',) + given)
            act('step', *given)
            self.found.append(given)

        def inverse(self, *given):
            calls.append(('inverse',) + given)
            act('inverse', *given)
            self.found.remove(given)

        def value(self):
            calls.append(('value', len(self.found)))
            act('value')
            return repr(self.found[-3:]) + str(len(self.found))

        def finalize(self):
            calls.append(('finalize', len(self.found)))
            act('finalize')
            return len(self.found)
    return Listing


def filled(side, path=':memory:', rows=90, act=lambda name, *given: None, **keywords):
    """A connection with two tables and functions, whose calls are in the list returned."""
    connection = side.connect(path, **keywords)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.execute('CREATE TABLE u(x, y, z)')
    connection.execute('CREATE TABLE log(x)')
    connection.execute('CREATE INDEX ux ON u(x)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [
        (i, i * 7 % 23, 'name %d' % (i * i % 5)) for i in range(rows)])
    connection.executemany('INSERT INTO u VALUES(?, ?, ?)', [
        (i * 11 % 30, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
         'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(rows)])
    calls: list = []
    connection.create_window_function('w', -1, window_class(calls, act))
    connection.create_function('f', -1, lambda *given: calls.append(given) or given[0])
    connection.create_collation('mine', lambda a, b: (a > b) - (a < b))
    return connection, calls


def sqpyte_side():
    """What `filled` connects by."""
    return type('Side', (), {'connect': staticmethod(
        lambda path, **keywords: sqpyte.connect(path, isolation_level=None, **keywords))})


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
    with planned('specialised'):
        connection, _ = filled(sqpyte_side())
        connection.execute(query).fetchall()
        plan, = sqpyte.explain(connection, query)
        assert plan.tier == 'inliner' and 'window functions at' in plan.reason, plan.reason
        assert ('undone' in plan.reason) == (query in SCANNED), plan.reason
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


@pytest.mark.parametrize('write', WRITES if everything() else WRITES[::3])
@pytest.mark.parametrize('query', BRIEF)
def test_writes_inside(write, query):
    def action(side):
        found = []
        for at in (9, 130):
            def act(name, *given):
                if len(calls) == at:
                    for part in write.split(';'):
                        part = part.format(here=at // 4, next=at // 4 + 1).replace(' d ', ' c ')
                        found.append(outcome(lambda: connection.execute(part).fetchall()))
            connection, calls = filled(side, act=act)
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('write', [
    'UPDATE u SET y = y + 1000 WHERE rowid > 40', 'DELETE FROM u WHERE rowid % 3 = 0',
    'DELETE FROM t', 'INSERT INTO u SELECT x, y + 1, z FROM u', 'DROP INDEX ux', 'VACUUM',
    'UPDATE t SET b = b + 1', 'DELETE FROM t WHERE a > 60'])
@pytest.mark.parametrize('query', FEW)
def test_writes_between_rows(write, query):
    def action(side):
        found = []
        for at in (1, 2, 55):
            connection, calls = filled(side)
            cursor = connection.execute(query)
            rows = [cursor.fetchone() for _ in range(at)]
            found.append(outcome(lambda: connection.execute(write).fetchall()))
            found += [rows, outcome(cursor.fetchall), calls]
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_writes_in_every_call(query):
    def action(side):
        def act(name, *given):
            connection.execute('INSERT INTO log VALUES(?)', (name,))
            connection.execute('UPDATE t SET b = b + 1 WHERE a = ?', (len(calls),))
        connection, calls = filled(side, act=act)
        found = connection.execute(query).fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action, oracle='C')


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


@pytest.mark.parametrize('query', FEW)
def test_text_factory_between_rows(query):
    def action(side):
        connection, calls = filled(side)
        cursor = connection.execute(query)
        found = [cursor.fetchone() for _ in range(8)]
        for factory in (bytes, lambda data: data[::-1], str):
            connection.text_factory = factory
            found += [outcome(cursor.fetchone), outcome(cursor.fetchone)]
        return found + [outcome(cursor.fetchall), calls]
    compare(action, oracle='C')


@pytest.mark.parametrize('name', ['step', 'inverse', 'value'])
@pytest.mark.parametrize('query', BRIEF)
def test_interrupts(query, name):
    def action(side):
        found = []
        for at in (5, 70, 120):
            def act(called, *given):
                if called == name and len(calls) >= at and not done:
                    done.append(1)
                    connection.interrupt()
            done: list = []
            connection, calls = filled(side, act=act)
            cursor = connection.cursor()
            found.append(outcome(cursor.execute, query).__class__ is str)
            while found[-1] is not None and not (isinstance(found[-1], str)):
                found.append(outcome(cursor.fetchone))
            found.append(list(calls))
            connection, calls = filled(side)
            cursor = connection.execute(query)
            found += [cursor.fetchone() for _ in range(at % 50)]
            connection.interrupt()
            found += [outcome(cursor.fetchall), list(calls)]
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_the_connection_is_closed_inside(query):
    with planned('specialised'):
        for at in (1, 50, 130):
            def act(*given):
                if len(calls) >= at:
                    connection.close()
            connection, calls = filled(sqpyte_side(), act=act)
            found = outcome(lambda: connection.execute(query).fetchall())
            assert found == 'ProgrammingError: Cannot operate on a closed database.' or len(calls) < at


@pytest.mark.parametrize('query', FEW)
def test_the_same_query_inside(query):
    def action(side):
        depth: list = []

        def act(*given):
            if len(depth) < 2 and len(calls) in (30, 50, 130):
                depth.append(1)
                try:
                    connection.execute(query).fetchall()
                    connection.execute(query).fetchone()
                finally:
                    depth.pop()
        connection, calls = filled(side, act=act)
        return connection.execute(query).fetchall(), calls
    compare(action, oracle='C')


def test_recursive_use_of_the_cursor():
    def action(side):
        found = []

        def act(*given):
            if len(calls) > 40:
                found.append(outcome(cursor.fetchone))
                found.append(outcome(cursor.close))
        connection, calls = filled(side, act=act)
        cursor = connection.cursor()
        cursor.execute(SORTED[0])
        return [cursor.fetchone() for _ in range(30)], found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', FEW)
def test_dropped_in_the_middle(query):
    compare(dropped_in_the_middle(filled, query), oracle='C')


def test_errors_of_sqlite_come_with_their_row():
    def action(side):
        found = []
        for at in (1, 2, 60, 89):
            for order in ('b, a', 'a'):
                connection, calls = filled(side)
                connection.execute('UPDATE t SET c = -9223372036854775808 WHERE a = ?', (at,))
                cursor = connection.cursor()
                query = 'SELECT abs(c), w(b) OVER (ORDER BY %s ROWS 2 PRECEDING) FROM t' % order
                found.append(outcome(cursor.execute, query).__class__ is str)
                while found[-1] is not None and not isinstance(found[-1], str):
                    found.append(outcome(cursor.fetchone))
                found.append(calls)
        return found
    compare(action, oracle='C')


def test_transactions_end_inside():
    def action(side):
        found = []
        for query in FEW:
            for what in ('commit', 'rollback'):
                def act(*given):
                    if len(calls) == 60:
                        connection.execute('DELETE FROM u WHERE rowid > 50')
                        found.append(outcome(getattr(connection, what)))
                connection, calls = filled(side, act=act, isolation_level='')
                connection.commit()
                found += [outcome(lambda: connection.execute(query).fetchall()), calls]
        return found
    compare(action, oracle='C')


def test_functions_are_defined_again_between_rows():
    def action(side):
        connection, calls = filled(side)
        cursor = connection.execute(SORTED[0])
        found = [cursor.fetchone() for _ in range(5)]
        found.append(outcome(connection.create_window_function, 'w', -1, window_class([])))
        return found, outcome(cursor.fetchall), calls
    compare(action, oracle='C')
