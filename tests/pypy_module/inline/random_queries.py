"""Random queries that call Python's functions, aggregates and window functions.

They are over joins, sorters, groups and subqueries. `Queries(seed)` makes them; `action(seed)` runs two on a Side
(inlining.py), and records every call with its arguments, and what comes of the rows: all at once, one by one with a
write between, given up, or of two cursors in turn.
"""
import random

from tests.pypy_module.inline.inlining import outcome

CONSTANTS = ['0', '1', '2', '-3', '7', '40', '2.5', '0.0', 'NULL', "'x'", "'name 3'", "''", "x'01'", "' 12 '",
             '9223372036854775807', '1e300', "'41'"]
T, U, W = ['t.a', 't.b', 't.c'], ['u.x', 'u.y', 'u.z'], ['w.k', 'w.v']
RECURSIVE = '(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 2 FROM r WHERE n < 9) SELECT n FROM r) AS q'
WRITES = ['DELETE FROM u WHERE rowid = 5', 'UPDATE t SET b = b + 1 WHERE a = 3', 'INSERT INTO w VALUES(99, 3)',
          'DELETE FROM t WHERE a > 15', 'CREATE TABLE IF NOT EXISTS z(a)', 'UPDATE u SET x = x + 1 WHERE x > 40',
          'SAVEPOINT q', 'ROLLBACK', 'BEGIN', 'COMMIT', 'DROP TABLE IF EXISTS z', 'DELETE FROM w']


class Queries:
    """Makes queries from a seed (int)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.columns = T

    def among(self, *choices):
        """One of the choices."""
        return self.random.choice(choices)

    def rarely(self, share):
        """Whether something is done that is done in this share of all cases (float)."""
        return self.random.random() < share

    def expression(self, depth):
        """An expression (str), at most so deep."""
        if depth <= 0 or self.rarely(.2):
            return self.among(*CONSTANTS) if self.rarely(.2) else self.among(*self.columns)
        one, column = (lambda: self.expression(depth - 1)), self.among(*self.columns)
        return self.among(
            lambda: '%s(%s)' % (self.among('f', 'g', 'h', 'd'), one()),
            lambda: '%s(%s)' % (self.among('f', 'g', 'h', 'd'), one()),
            lambda: '%s(%s)' % (self.among('f', 'f', 'g'), one()),
            lambda: '%s(%s, %s)' % (self.among('f', 'g', 'h', 'd'), one(), one()),
            lambda: '(%s %s %s)' % (one(), self.among('+', '-', '*', '/', '%', '||', '&', '|', '<<', '>>'), one()),
            lambda: '(%s)' % self.condition(depth - 1),
            lambda: '(%s)' % self.condition(depth - 1),
            lambda: 'CASE WHEN %s THEN %s ELSE %s END' % (self.condition(depth - 1), one(), one()),
            lambda: 'CASE %s WHEN %s THEN %s WHEN %s THEN %s END' % (one(), one(), one(), one(), one()),
            lambda: '%s(%s, %s)' % (self.among('coalesce', 'nullif', 'ifnull', 'max', 'min', 'instr'), one(), one()),
            lambda: '%s(%s)' % (self.among('abs', 'upper', 'length', 'typeof', 'rtrim', 'hex', 'unicode'), one()),
            lambda: '%s(%s)' % (self.among('abs', 'upper', 'length', 'typeof', 'rtrim', 'hex'), self.among(*CONSTANTS)),
            lambda: 'iif(%s, %s, %s)' % (self.condition(depth - 1), one(), one()),
            lambda: 'CAST(%s AS %s)' % (one(), self.among('INTEGER', 'TEXT', 'REAL', 'BLOB', 'NUMERIC')),
            lambda: '(SELECT %s FROM w WHERE k = %s)' % (self.among('v', 'k', 'max(v)', 'count(*)', 'f(v)'), column),
            lambda: '(SELECT %s FROM t WHERE t.a = %s)' % (self.among('b', 'c', 'f(b)'), column),
            lambda: '(SELECT %s)' % self.among('max(v) FROM w', 'f(3)', 'count(*) FROM t', '4'),
            lambda: '%s%s' % (self.among('-', '~'), column),
            lambda: 'substr(%s, %s, 2)' % (one(), self.among('1', '2', '-1')))()

    def condition(self, depth):
        """A condition (str), at most so deep."""
        column = self.among(*self.columns)
        if depth <= 0:
            return self.among(column, 'f(%s)' % column)
        one, other = (lambda: self.expression(depth - 1)), (lambda: self.condition(depth - 1))
        return self.among(
            lambda: '%s %s %s' % (one(), self.among('<', '>', '<=', '>=', '=', '<>', 'IS', 'IS NOT'), one()),
            lambda: '%s %s %s' % (one(), self.among('<', '>', '<=', '>=', '=', '<>'), one()),
            lambda: '(%s AND %s)' % (other(), other()),
            lambda: '(%s OR %s)' % (other(), other()),
            lambda: 'NOT (%s)' % other(),
            lambda: '%s %sBETWEEN %s AND %s' % (one(), self.among('', 'NOT '), one(), one()),
            lambda: '%s IN (%s)' % (one(), ', '.join(one() for _ in range(self.random.randrange(1, 5)))),
            lambda: '%s IS %sNULL' % (one(), self.among('', 'NOT ')),
            lambda: '%s %s %s' % (one(), self.among('LIKE', 'GLOB'), self.among("'%1%'", "'n%'", "'text*'", column)),
            lambda: '%s(%s)' % (self.among('f', 'g', 'h', 'd'), one()),
            lambda: '%sEXISTS (SELECT 1 FROM w WHERE k = %s)' % (self.among('', 'NOT '), column),
            lambda: '%s IN (SELECT %s)' % (one(), self.among('v FROM w', 'a FROM t', 'x FROM u')))()

    def source(self):
        """What follows FROM (str); sets `columns`."""
        join = [self.among('JOIN', 'CROSS JOIN', 'LEFT JOIN') for _ in range(2)]
        self.columns = T + U
        first = self.condition(2)
        self.columns, text = self.among(
            (T, 't'), (U, 'u'), (W, 'w'), (T + U, 't %s u ON u.x = t.a' % join[0]),
            (T + U, 't %s u ON u.x = t.a' % join[1]), (T + U, 't %s u ON u.x > 60' % join[0]),
            (T + W, 't %s w ON w.k = t.b' % join[0]),
            (W + T + U, 'w %s t ON t.a = w.v %s u ON u.x = t.b' % (join[0], join[1])),
            (T + U, 'u %s JOIN t ON t.a = u.y' % self.among('LEFT', 'RIGHT', 'FULL')),
            (T + U, 't %s u ON u.x = t.a AND %s' % (join[0], first)),
            (['q.a', 'q.b'], '(SELECT a, b FROM t ORDER BY %s LIMIT 20) AS q' % self.among('b', 'c', 'f(b)')),
            (['q.x', 'q.n'], '(SELECT x, %s AS n FROM u GROUP BY x) AS q' % self.among('count(*)', 'sum(y)', 'f(y)')),
            (['q.a'], '(SELECT a FROM t UNION ALL SELECT y FROM u) AS q'), (['v.a', 'v.c'], 'v'),
            (T + ['q.n'], 't, ' + RECURSIVE))
        return text

    def aggregate(self):
        """An aggregate's call (str)."""
        text = '%s(%s%s)' % (self.among('sum', 'count', 'total', 'avg', 'min', 'max', 's', 's', 'group_concat'),
                             self.among('', '', '', 'DISTINCT '), self.expression(2))
        if self.rarely(.2):
            text += ' FILTER (WHERE %s)' % self.condition(1)
        return self.among('%s', '%s', '%s + 1', 'f(%s)', 'quote(%s)') % text

    def window(self):
        """A window function's call (str)."""
        column, other = self.among(*self.columns), self.among(*self.columns)
        frame = self.among('', ' ROWS 3 PRECEDING', ' ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING', ' GROUPS 1 PRECEDING')
        return '%s(%s) OVER (%sORDER BY %s%s)%s' % (
            self.among('win', 'win', 'sum', 'count', 'max'), self.expression(1),
            self.among('', 'PARTITION BY %s ' % other), column, frame, self.among('', ' + 1', ' || ' + other))

    def query(self):
        """A query (str)."""
        source = self.source()
        where = ' WHERE ' + self.condition(3) if self.rarely(.6) else ''
        tail = ' LIMIT %d OFFSET %d' % (self.random.randrange(40), self.random.randrange(5)) if self.rarely(.2) else ''
        kind = self.among('rows', 'rows', 'rows', 'one', 'groups', 'windows')
        if kind == 'one':
            return 'SELECT %s FROM %s%s' % (', '.join(self._some(self.aggregate)), source, where)
        if kind == 'groups':
            group = self.among(self.among(*self.columns), self.expression(1))
            having = ' HAVING %s > 3' % self.aggregate() if self.rarely(.3) else ''
            results = self._some(lambda: self.among(self.aggregate, lambda: self.expression(2))())
            return 'SELECT %s, %s FROM %s%s GROUP BY %s%s%s' % (
                group, ', '.join(results), source, where, group, having, tail)
        if kind == 'windows':
            results = self._some(lambda: self.among(self.window, lambda: self.expression(2))())
            return 'SELECT %s FROM %s%s%s' % (', '.join(results), source, where, tail)
        order = ' ORDER BY ' + self.among(self.among(*self.columns), self.expression(2)) if self.rarely(.25) else ''
        return 'SELECT %s%s FROM %s%s%s%s' % ('DISTINCT ' if self.rarely(.15) else '', ', '.join(
            self._some(lambda: self.expression(3))), source, where, order, tail)

    def _some(self, make):
        return [make() for _ in range(self.random.randrange(1, 4))]


def filled(side, late):
    """A connection with tables and functions, and the list of their calls; call number `late` raises KeyError."""
    connection, calls = side.connect(), []
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.execute('CREATE TABLE u(x, y, z)')
    connection.execute('CREATE INDEX ux ON u(x)')
    connection.execute('CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID')
    connection.execute('CREATE VIEW v AS SELECT t.a, u.z AS c FROM t JOIN u ON u.x = t.a')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [(i, i * 7 % 13, 'name %d' % (i % 5)) for i in range(24)])
    connection.executemany('INSERT INTO u VALUES(?, ?, ?)', [
        (i * 11 % 70, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
         'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(60)])
    connection.executemany('INSERT OR IGNORE INTO w VALUES(?, ?)', [
        (i % 19 if i % 5 else 'k%d' % i, i * 3 % 31 if i % 4 else 'v') for i in range(19)])

    def note(*call):
        calls.append(call)
        if len(calls) == late:
            raise KeyError('late')

    def following(value, *others):
        note('g', value, *others)
        return value + 1 if isinstance(value, (int, float)) and abs(value) < 2 ** 62 else value

    class Listing:
        def __init__(self):
            note('new')
            self.found = []

        def step(self, *given):
            note('step', *given)
            self.found.append(given)

        def finalize(self):
            note('finalize', len(self.found))
            return repr(self.found[-3:])

    class Window:
        def __init__(self):
            self.found = []

        def step(self, value):
            note('step', value)
            self.found.append(value)

        def inverse(self, value):
            note('inverse', value)
            self.found.pop(0)

        def value(self):
            note('value')
            return len(self.found)

        finalize = value
    connection.create_function('f', -1, lambda *given: note('f', *given) or given[0])
    connection.create_function('g', -1, following)
    connection.create_function('h', -1, lambda *given: note('h', *given) or (
        None if given[0] is None else str(given[0])))
    connection.create_function('d', -1, lambda *given: note('d', *given) or len(str(given[0])) % 3, deterministic=True)
    connection.create_aggregate('s', -1, Listing)
    connection.create_window_function('win', 1, Window)
    return connection, calls


def action(seed):
    """Two queries of a seed (int) and a way to run them: (their texts, a function of a Side)."""
    made = Queries(seed)
    queries = [made.query(), made.query()]
    way = made.among('all', 'all', 'write', 'given up', 'in turn')
    late, rows, write = made.among(0, 0, 0, 3, 20, 70), made.random.randrange(12), made.among(*WRITES)

    def run(side):
        connection, calls = filled(side, late)
        found = []
        for query in queries:
            if way == 'all':
                found.append(outcome(lambda: connection.execute(query).fetchall()))
                continue
            cursors = [outcome(connection.execute, text) for text in (query, queries[0])[:2 if way == 'in turn' else 1]]
            if any(isinstance(cursor, str) for cursor in cursors):
                found += [cursor for cursor in cursors if isinstance(cursor, str)]
                continue
            for _ in range(20 if way == 'in turn' else rows):
                for cursor in cursors:
                    found += [outcome(cursor.fetchone), len(calls)]
            if way == 'write':
                found += [outcome(lambda: connection.execute(write).fetchall()), outcome(cursors[0].fetchall)]
            elif way == 'given up':
                found.append(outcome(cursors[0].close))
        return repr((found, calls))     # as text, in which 1 and 1.0, 0.0 and -0.0 differ
    return queries, run
