"""Scenarios of user code that SQLite calls, each run on any module: what test_user_code.py compares.

A scenario is a function of a `Notes`, which writes down what actions return or raise.
"""

import sys

import sqpyte
from tests.extent import everything

FRAMES = ('ORDER BY a', 'ORDER BY a ROWS BETWEEN 2 PRECEDING AND CURRENT ROW',
          'ORDER BY b RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING',
          'ORDER BY b GROUPS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING',
          'PARTITION BY b ORDER BY a', 'ORDER BY a ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING', '')


class Notes:
    """What the actions of a scenario returned or raised on one module.

    Attributes:
        module: sqlite3 or sqpyte.
        found: a list of what it was.
    """

    def __init__(self, module):
        self.module = module
        self.found = []
        self.connections = []

    def connect(self, rows=40, **keywords):
        """A connection to a table `t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT)` of `rows` rows."""
        connection = self.module.connect(':memory:', isolation_level=None, **keywords)
        self.connections.append(connection)
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT)')
        connection.execute(
            'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d) '
            'INSERT INTO t SELECT n, n * 7 %% 10, \'row \' || (n * 3 %% 8) FROM r' % rows)
        return connection

    def note(self, action, *args):
        """Write down what a call returned, or the class of what it raised and, of SQLite's
        errors, the message."""
        try:
            value = action(*args)
        except BaseException as error:
            value = type(error).__name__
            if isinstance(error, self.module.Error) and 'unction' not in str(error):
                value += ': %s' % error
        if isinstance(value, (self.module.Cursor, self.module.Connection)):
            value = type(value).__name__
        self.found.append(value)

    def query(self, connection, sql, parameters=()):
        """Write down the rows of a query, or its error."""
        self.note(lambda: connection.execute(sql, parameters).fetchall())

    def close(self):
        """Close all connections."""
        for connection in self.connections:
            connection.close()


def window_class(failing):
    """A window function's class whose method `failing` (str or None) raises at its third call."""
    def method(name, body):
        def called(self, *args):
            self.calls[name] = self.calls.get(name, 0) + 1
            if name == failing and self.calls[name] == 3:
                raise ValueError(name)
            return body(self, *args)
        return called
    return type('Window', (), {
        '__init__': lambda self: (setattr(self, 'calls', {}), setattr(self, 'values', []))[0],
        'step': method('step', lambda self, *args: self.values.append(args)),
        'inverse': method('inverse', lambda self, *args: self.values.remove(args)),
        'value': method('value', lambda self: repr(self.values)),
        'finalize': method('finalize', lambda self: 'all ' + repr(self.values))})


def window_functions(notes):
    """Frames, partitions, and failing methods."""
    for failing in (None, 'inverse', 'value', 'step'):
        connection = notes.connect(12)
        connection.create_window_function('w', -1, window_class(failing))
        for frame in FRAMES:
            notes.query(connection, 'SELECT a, w(b) OVER (%s) FROM t' % frame)
            notes.query(connection, 'SELECT w(c, a) OVER (%s), w() OVER (%s) FROM t' % (frame, frame))
        for sql in ('SELECT w(a) FROM t', 'SELECT b, w(a) FROM t GROUP BY b',
                    'SELECT w(DISTINCT b) FROM t', 'SELECT w(DISTINCT b) OVER () FROM t',
                    'SELECT w(a) FROM t WHERE 0', 'SELECT w(a) OVER () FROM t WHERE 0'):
            notes.query(connection, sql)


def collations(notes):
    """Everywhere that SQLite compares texts; and what they raise."""
    connection = notes.connect()
    connection.create_collation('backwards', lambda x, y: (x < y) - (x > y))
    for _ in range(2):
        for sql in ('SELECT DISTINCT c FROM t ORDER BY c COLLATE backwards',
                    'SELECT max(c COLLATE backwards), min(c COLLATE BACKWARDS) FROM t',
                    'SELECT count(*) FROM t WHERE c COLLATE backwards < \'row 4\'',
                    'SELECT c, count(*) FROM t GROUP BY c COLLATE backwards',
                    'SELECT a FROM t WHERE c COLLATE backwards BETWEEN \'row 5\' AND \'row 3\' '
                    'ORDER BY c COLLATE backwards, a'):
            notes.query(connection, sql)
        connection.execute('CREATE INDEX IF NOT EXISTS i ON t(c COLLATE backwards)')
    notes.note(connection.execute, 'INSERT INTO t VALUES(1000, 1, \'zz\')')
    connection.create_collation('backwards', None)
    notes.note(connection.execute, 'INSERT INTO t VALUES(1001, 1, \'zz\')')
    calls = []

    def late(x, y):
        calls.append(x)
        if len(calls) == 60:
            raise KeyError('late')
        return (x > y) - (x < y)

    def asks(x, y):
        x, y = connection.execute('SELECT upper(?), upper(?)', (x, y)).fetchone()
        return (x > y) - (x < y)

    for compare in (lambda x, y: 1 / 0, lambda x, y: 'x', lambda x, y: None, lambda x, y: -2 ** 80,
                    lambda x, y: 2 ** 80, lambda x, y: 1.5, lambda x: 0, late, asks):
        connection.create_collation('any', compare)
        notes.query(connection, 'SELECT a, c FROM t ORDER BY c COLLATE any, a')
        notes.query(connection, 'SELECT count(*) FROM t WHERE c = \'row 1\' COLLATE any')
        notes.note(connection.execute, 'UPDATE t SET b = 1 WHERE c = \'row 1\' COLLATE any')
        notes.query(connection, 'SELECT sum(b) FROM t')


def adapters(notes):
    """Adapters that raise, that give what can't be stored, and that run SQL themselves."""
    module = notes.module

    class Point:
        def __init__(self, x):
            self.x = x

    class Conforming(Point):
        def __conform__(self, protocol):
            if protocol is module.PrepareProtocol:
                return {1: 'one', 2: object(), 3: 5.5}[self.x]

    connection = notes.connect(5)
    for x in (1, 2, 3, 4):
        notes.query(connection, 'SELECT ?, ?', (Conforming(x), 'after'))
    cursor = connection.cursor()

    def writes(value):
        connection.execute('DELETE FROM t WHERE a > 100')
        return 'w'

    for adapter in (lambda value: [][1], lambda value: object(), writes, lambda value: value.x,
                    lambda value: connection.execute('SELECT ?', (value.x,)).fetchone()[0],
                    lambda value: cursor.execute('SELECT 1') and 5, lambda value: cursor.close()):
        module.register_adapter(Point, adapter)
        try:
            notes.note(cursor.execute, 'SELECT ?', (Point(7),))
            notes.note(cursor.fetchall)
            notes.note(connection.executemany, 'INSERT INTO t VALUES(?, 1, ?)',
                       [(110, 'x'), (111, Point(8)), (112, 'y')])
            notes.query(connection, 'SELECT * FROM t')
            connection.execute('DELETE FROM t WHERE a > 100')
        finally:
            del module.adapters[Point, module.PrepareProtocol]
    for kind, adapter in ((int, lambda v: v + 1), (str, lambda v: v + '!'), (float, str)):
        module.register_adapter(kind, adapter)
        try:
            notes.query(connection, 'SELECT ?, ?, ?', (1, 's', 1.5))
            notes.note(connection.executemany, 'INSERT INTO t VALUES(?, ?, ?)',
                       [(200 + i, i, 'x') for i in range(5)])
            notes.query(connection, 'SELECT * FROM t WHERE a >= 200')
        finally:
            del module.adapters[kind, module.PrepareProtocol]


def converters_and_factories(notes):
    """Converters, text factories and row factories that raise, or use the cursor or connection."""
    module = notes.module
    connection = notes.connect(6, detect_types=sqpyte.PARSE_DECLTYPES if module is sqpyte
                               else module.PARSE_DECLTYPES)
    connection.execute('CREATE TABLE u(a up, b)')
    connection.execute('INSERT INTO u VALUES(\'x\', 1), (NULL, \'z\'), (5, 3), (1.5, x\'00\')')
    one = connection.cursor()
    functions = (lambda *args: 'made', lambda *args: 1 / 0, lambda *args: None,
                 lambda *args: connection.execute('SELECT count(*) FROM t').fetchone(),
                 lambda *args: connection.execute('DELETE FROM t WHERE a = 5').rowcount,
                 lambda *args: one.fetchone(), lambda: 0)

    def fetch(cursor):
        notes.note(cursor.execute, 'SELECT a, b FROM u')
        notes.note(cursor.fetchone)
        notes.note(cursor.fetchmany, 1)
        notes.note(next, cursor)

    for function in functions:
        module.register_converter('up', function)
        try:
            one = connection.cursor()
            fetch(one)
        finally:
            del module.converters['UP']
        one = connection.cursor()
        one.row_factory = function
        fetch(one)
        one = connection.cursor()
        connection.text_factory = function
        fetch(one)
        connection.text_factory = str


def functions_in_schemas(notes):
    """Indices, CHECK, generated columns, triggers, views, defaults, upserts."""
    connection = notes.connect(20)

    def twice(x):
        if x == 13:
            raise ValueError('13')
        return None if x is None else x * 2

    seen = []
    connection.create_function('f', 1, twice, deterministic=True)
    connection.create_function('g', 1, lambda x: x)
    connection.create_function('seen', -1, lambda *args: seen.append(args))
    for sql in ('CREATE INDEX ig ON t(g(b))', 'CREATE INDEX ie ON t(f(b))',
                'SELECT a FROM t WHERE f(b) = 8 ORDER BY a', 'INSERT INTO t VALUES(100, 13, 1)',
                'UPDATE t SET b = 13 WHERE a = 3', 'DELETE FROM t WHERE f(b) = 4',
                'CREATE INDEX ip ON t(a) WHERE f(b) > 4',
                'SELECT a FROM t WHERE f(b) > 4 AND a > 3 ORDER BY a', 'PRAGMA integrity_check',
                'CREATE TABLE made(x, y AS (f(x)) STORED, z AS (f(x) + 1), CHECK(f(x) < 50))',
                'INSERT INTO made(x) VALUES(1), (NULL), (\'ab\')', 'INSERT INTO made(x) VALUES(13)',
                'INSERT INTO made(x) VALUES(25)', 'UPDATE made SET x = x + 1',
                'UPDATE made SET x = 13 WHERE x = 2', 'SELECT * FROM made',
                'CREATE TRIGGER ti AFTER INSERT ON t BEGIN SELECT seen(new.a, f(new.b)); '
                'INSERT INTO made(x) VALUES(f(new.a)); END',
                'CREATE TRIGGER td BEFORE DELETE ON t WHEN f(old.b) > 6 BEGIN '
                'SELECT seen(old.a); END',
                'INSERT INTO t VALUES(14, 1, 1)', 'INSERT INTO t VALUES(21, 6, 1)',
                'DELETE FROM t WHERE a < 10', 'SELECT * FROM made',
                'CREATE VIEW v AS SELECT a, f(b) AS fb FROM t', 'SELECT * FROM v ORDER BY a',
                'CREATE TABLE d(a INTEGER PRIMARY KEY, b DEFAULT (f(21)))',
                'INSERT INTO d(a) VALUES(1)',
                'INSERT INTO d VALUES(1, 5) ON CONFLICT(a) DO UPDATE SET b = f(excluded.b) '
                'WHERE f(b) > 2 RETURNING f(b), a', 'SELECT a FROM d LIMIT f(1)',
                'INSERT INTO d SELECT f(a), f(f(b)) FROM d RETURNING *',
                'SELECT min(f(b)), count(*) FROM t GROUP BY f(b) % 3 HAVING f(count(*)) > 1',
                'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT f(n) FROM r WHERE f(n) < 90) '
                'SELECT n, f(n) FROM r', 'SELECT x.a, y.a FROM d x JOIN d y ON f(x.a) = y.a'):
        notes.query(connection, sql)
        notes.note(lambda: connection.in_transaction)
    notes.found.append(seen)


def calls_inside_calls(notes):
    """Functions and aggregates that run SQL which calls functions and aggregates."""
    connection = notes.connect(50)

    def factorial(n):
        if n <= 1:
            return 1
        return connection.execute('SELECT ? * factorial(? - 1)', (n, n)).fetchone()[0]

    def sums(n):
        if not n:
            return 1
        return sum(row[0] for row in connection.execute(
            'SELECT sums(?) FROM t WHERE a < 4', (n - 1,)))

    class Total:
        def __init__(self):
            self.sum = connection.execute('SELECT 0').fetchone()[0]

        def step(self, x):
            self.sum += x
            if 0 < x < 4:
                self.sum += connection.execute(
                    'SELECT total_of(a - 1) FROM t WHERE a <= ?', (x,)).fetchone()[0]

        def finalize(self):
            return self.sum + connection.execute('SELECT count(*) FROM t').fetchone()[0]

    kept = []

    def keeps(x):
        cursor = connection.execute('SELECT a FROM t')
        kept.append((next(cursor), cursor))
        return x

    def defines(x):
        if x == 5:
            connection.create_function('defines', 1, lambda x: -x)
        return x

    connection.create_function('factorial', 1, factorial)
    connection.create_function('sums', 1, sums)
    connection.create_aggregate('total_of', 1, Total)
    connection.create_function('keeps', 1, keeps)
    connection.create_function('defines', 1, defines)
    for sql in ('SELECT factorial(5), factorial(15)', 'SELECT a, factorial(a) FROM t WHERE a < 8',
                'SELECT sums(3)', 'SELECT sums(2) FROM t WHERE a < 3', 'SELECT total_of(a) FROM t',
                'SELECT b, total_of(a) FROM t GROUP BY b',
                'SELECT b, total_of(a) FROM t WHERE factorial(b) < 100 GROUP BY b ORDER BY 2',
                'SELECT keeps(a) FROM t LIMIT 10', 'SELECT defines(a) FROM t',
                'SELECT count(defines(a)) FROM t'):
        notes.query(connection, sql)
    for _, cursor in kept:
        notes.note(next, cursor)
        cursor.close()
    cursor = connection.cursor()
    connection.create_function('fetches', 1, lambda x: cursor.fetchone())
    connection.create_function('executes', 1, lambda x: cursor.execute('SELECT 1'))
    connection.create_function('closes', 1, lambda x: cursor.close())
    for name in ('fetches', 'executes', 'closes'):
        notes.note(cursor.execute, 'SELECT %s(a) FROM t' % name)
        notes.note(cursor.fetchall)
        notes.note(cursor.execute, 'SELECT a FROM t WHERE %s(a)' % name)


def endless(notes):
    """Recursion without an end."""
    connection = notes.connect(3)
    connection.create_function(
        'endless', 1, lambda x: connection.execute('SELECT endless(?)', (x,)).fetchone()[0])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        connection.execute('SELECT endless(1)').fetchone()
    except Exception as error:
        name = type(error).__name__
    finally:
        sys.setrecursionlimit(limit)
    notes.found.append(name)
    notes.query(connection, 'SELECT count(*) FROM t')


WRITES = ('INSERT INTO t SELECT ? + 1000, 1, 2 WHERE ? < 30',
          'UPDATE t SET b = b + 1 WHERE a = ? + 1 AND ?', 'DELETE FROM t WHERE a = ? + 1 AND ? < 1000',
          'DELETE FROM t WHERE a = ? AND ?', 'UPDATE t SET a = a + 2000 WHERE a = ? AND ? < 40',
          'INSERT OR REPLACE INTO t SELECT ?, 99, ?')
READS = ('SELECT a, w(a), b FROM t', 'SELECT w(a), a, b FROM t WHERE w(a) < 100',
         'SELECT count(w(a)) FROM t', 'SELECT a, w(a) FROM t ORDER BY b, a',
         'SELECT x.a, w(y.a) FROM t x JOIN t y ON x.a = y.b LIMIT 60',
         'SELECT a, c, w(a), c FROM t WHERE b > 2')


def writes(notes):
    """Functions that write to the table that is read, or change what a statement rests on."""
    for inside in WRITES:
        for query in READS:
            connection = notes.connect()

            def write(x):
                if x < 5000:
                    connection.execute(inside, (x, x))
                return x
            connection.create_function('w', 1, write)
            notes.query(connection, query)
            notes.query(connection, 'SELECT count(*), sum(a), sum(b) FROM t')
    for inside in ('DROP TABLE t', 'CREATE INDEX i ON t(b)', 'ALTER TABLE t ADD COLUMN z', 'VACUUM',
                   'BEGIN', 'DELETE FROM t', 'ANALYZE', 'PRAGMA user_version = 5', 'SAVEPOINT s'):
        # A lock that is met has all garbage collected: not many.
        connection = notes.connect(10 if everything() else 4)

        def change(x):
            try:
                connection.execute(inside)
            except notes.module.Error as error:
                return str(error)
            return x
        connection.create_function('w', 1, change)
        notes.query(connection, 'SELECT a, w(a), b FROM t')
        notes.query(connection, 'SELECT count(w(a)) FROM t')


RAISED = (ValueError('x'), MemoryError(), OverflowError('o'), KeyboardInterrupt(), SystemExit(3),
          StopIteration(1), GeneratorExit(), RecursionError('r'), UnicodeError('u'))


def exceptions(notes):
    """What functions and aggregates raise, at the first row and later."""
    for raised in RAISED:
        connection = notes.connect(20)

        def fails(x):
            if x == 7:
                raise raised
            return x
        connection.create_function('f', 1, fails)
        connection.create_aggregate('total_of', 1, type('Total', (), {
            'step': lambda self, x: fails(x), 'finalize': lambda self: fails(7)}))
        for sql in ('SELECT f(a) FROM t', 'SELECT a FROM t WHERE f(a)',
                    'SELECT count(f(a)) FROM t', 'SELECT total_of(a) FROM t',
                    'SELECT total_of(a) FROM t WHERE a < 5', 'UPDATE t SET b = f(a)',
                    'SELECT b, total_of(a) FROM t GROUP BY b'):
            notes.query(connection, sql)
            notes.query(connection, 'SELECT sum(b) FROM t')
        cursor = connection.execute('SELECT f(a) FROM t')
        for _ in range(8):
            notes.note(cursor.fetchone)


def tracebacks(notes):
    """What sys.unraisablehook is told of every kind of callback, once that is asked for."""
    seen = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: seen.append((
        unraisable.exc_type.__name__, getattr(unraisable.object, '__name__', None),
        unraisable.exc_traceback is not None
        and unraisable.exc_traceback.tb_frame.f_code.co_name))

    def fails(*args):
        return 1 // 0

    def fails_later(x):
        return 1 // (x - 9) if x == 9 else x

    def aggregate(method):
        methods = {'step': lambda self, x: None, 'finalize': lambda self: None, method: fails}
        return type('Failing', (), methods)

    try:
        for enabled in (True, False):
            notes.module.enable_callback_tracebacks(enabled)
            connection = notes.connect(20)
            connection.create_function('f', 1, fails_later)
            for method in ('__init__', 'step', 'finalize'):
                connection.create_aggregate(method + '_', 1, aggregate(method))
            connection.create_collation('c', fails)
            for sql in ('SELECT f(a) FROM t', 'SELECT a FROM t WHERE f(a)',
                        'SELECT count(f(a)) FROM t', 'SELECT __init___(a) FROM t',
                        'SELECT step_(a) FROM t', 'SELECT finalize_(a) FROM t'):
                notes.query(connection, sql)
                notes.found.append(seen[:])
                del seen[:]
            connection.set_authorizer(fails)
            notes.query(connection, 'SELECT a FROM t')
            connection.set_authorizer(None)
            notes.found.append(seen[:1])
            del seen[:]
    finally:
        sys.unraisablehook = hook
        notes.module.enable_callback_tracebacks(False)


SCENARIOS = (window_functions, collations, adapters, converters_and_factories, functions_in_schemas,
             calls_inside_calls, endless, writes, exceptions, tracebacks)
# PyPy's sqlite3 has no window functions, other errors of callbacks, adapters and collations, and
# leaves cursors behind.
ONLY_CPYTHON = (window_functions, collations, adapters, converters_and_factories,
                calls_inside_calls, endless, writes, exceptions, tracebacks)
