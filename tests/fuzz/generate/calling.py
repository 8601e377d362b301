"""Queries that call Python's functions, aggregates and window functions wherever an expression may stand.

They are over joins, sorters, groups, windows, subqueries and compounds, and some write.
tests/fuzz/kinds/query_session.py has the tables and the functions.
"""
from tests.fuzz.generate.chance import Chance

CONSTANTS = ['0', '1', '2', '-3', '7', '40', '2.5', '0.0', 'NULL', "'x'", "'name 3'", "''", "x'01'", "' 12 '",
             '9223372036854775807', '1e300', "'41'", '?1', '?2']
T, U, W, K = ['t.a', 't.b', 't.c'], ['u.x', 'u.y', 'u.z'], ['w.k', 'w.v'], ['k.a', 'k.b', 'k.c', 'k.s']
# Small tables, for subqueries that are evaluated often.
INNER = [('w AS i', ['i.k', 'i.v']), ('k AS i', ['i.a', 'i.b', 'i.c', 'i.s']), ('p AS i', ['i.a', 'i.b'])]
# Python's functions: those that are called often, and those that do what functions seldom do.
OFTEN, SELDOM = 'ffffgghhd', 'oonr'
RECURSIVE = '(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 2 FROM r WHERE n < 9) SELECT n FROM r) AS q'


class Queries:
    """Makes queries. Args: seed, a text (str); odd, the share of calls of the functions in SELDOM (float)."""

    def __init__(self, seed, odd):
        self.chance = Chance(seed)
        self.odd = odd
        self.columns = T

    def among(self, *choices):
        """One of the choices."""
        return self.chance.pick(choices)

    def rarely(self, share):
        """Whether something is done that is done in this share of all cases (float)."""
        return self.chance.random() < share

    def function(self):
        """The name of one of Python's functions (str)."""
        return self.among(*SELDOM) if self.rarely(self.odd) else self.among(*OFTEN)

    def expression(self, depth):
        """An expression (str), at most so deep."""
        if depth <= 0 or self.rarely(.2):
            return self.among(*CONSTANTS) if self.rarely(.2) else self.among(*self.columns)
        one, column = (lambda: self.expression(depth - 1)), self.among(*self.columns)
        return self.among(
            lambda: '%s(%s)' % (self.function(), one()),
            lambda: '%s(%s)' % (self.function(), one()),
            lambda: '%s(%s)' % (self.function(), one()),
            lambda: '%s(%s, %s)' % (self.function(), one(), one()),
            lambda: '%s COLLATE %s' % (one(), self.among('back', 'nocase', 'rtrim')),
            lambda: '(%s %s %s)' % (one(), self.among('+', '-', '*', '/', '%', '||', '&', '|', '<<', '>>'), one()),
            lambda: '(%s)' % self.condition(depth - 1),
            lambda: '(%s)' % self.condition(depth - 1),
            lambda: 'CASE WHEN %s THEN %s ELSE %s END' % (self.condition(depth - 1), one(), one()),
            lambda: 'CASE %s WHEN %s THEN %s WHEN %s THEN %s END' % (one(), one(), one(), one(), one()),
            lambda: '%s(%s, %s)' % (self.among('coalesce', 'nullif', 'ifnull', 'max', 'min', 'instr'), one(), one()),
            lambda: '%s(%s)' % (self.among('abs', 'upper', 'length', 'typeof', 'rtrim', 'hex', 'unicode'), one()),
            lambda: '%s(%s)' % (self.among('abs', 'upper', 'length', 'typeof', 'rtrim', 'hex'), self.among(*CONSTANTS)),
            lambda: 'iif(%s, %s, %s)' % (self.condition(depth - 1), one(), one()),
            lambda: self.among('json_quote(%s)', 'json_array(%s)', 'json_array(json_quote(%s))',
                               "json_object('k', json_quote(%s))") % one(),
            lambda: 'json_array(json_quote(%s), %s)' % (one(), one()),
            lambda: 'CAST(%s AS %s)' % (one(), self.among('INTEGER', 'TEXT', 'REAL', 'BLOB', 'NUMERIC')),
            lambda: '(SELECT %s FROM w WHERE k = %s)' % (self.among('v', 'k', 'max(v)', 'count(*)', 'f(v)'), column),
            lambda: '(SELECT %s FROM t WHERE t.a = %s)' % (self.among('b', 'c', 'f(b)'), column),
            lambda: '(%s)' % self.subquery(self.among('result', 'result', 'aggregate')),
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
            lambda: '%s IN (%s)' % (one(), ', '.join(one() for _ in range(self.chance.randrange(1, 5)))),
            lambda: '%s IS %sNULL' % (one(), self.among('', 'NOT ')),
            lambda: '%s %s %s' % (one(), self.among('LIKE', 'GLOB'), self.among("'%1%'", "'n%'", "'text*'", column)),
            lambda: '%s(%s)' % (self.function(), one()),
            lambda: '(%s, %s) %s (%s, %s)' % (one(), one(), self.among('<', '>=', '=', 'IS'), one(), one()),
            lambda: '%sEXISTS (SELECT 1 FROM w WHERE k = %s)' % (self.among('', 'NOT '), column),
            lambda: '%sEXISTS (%s)' % (self.among('', 'NOT '), self.subquery('result')),
            lambda: '%s IN (%s)' % (one(), self.subquery('result')),
            lambda: '%s IN (SELECT %s)' % (one(), self.among('v FROM w', 'a FROM t', 'x FROM u', 'a FROM k')))()

    def subquery(self, kind):
        """A query (str) of one column, over a small table and the columns outside, of a kind: result, aggregate."""
        outside = self.columns
        table, columns = self.among(*INNER)
        self.columns = columns * 2 + [self.among(*outside)]
        result = self.expression(1) if kind == 'result' else '%s(%s%s)' % (
            self.among('sum', 'count', 'min', 'max', 's', 'group_concat'), self.among('', '', 'DISTINCT '),
            self.expression(1))
        text = 'SELECT %s FROM %s WHERE %s %s %s' % (
            result, table, self.expression(0), self.among('=', '=', '<', 'IS'), self.among(*outside))
        if self.rarely(.3):
            text += ' AND ' + self.condition(1)
        if kind == 'result' and self.rarely(.3):
            text += '%s LIMIT %d' % (self.order(), self.chance.randrange(3))
        self.columns = outside
        return text

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
            (T + ['q.n'], 't, ' + RECURSIVE), (['p.a', 'p.b'], 'p'),
            (T + ['p.a', 'p.b'], 't %s p ON p.a = t.b' % join[0]), (K, 'k'), (K + T, 'k %s t ON t.b = k.c' % join[0]),
            (U + K, 'u %s k ON k.b = u.z' % join[1]), (K + ['p.a', 'p.b'], 'k %s p ON p.b = k.b' % join[0]),
            (['e.a', 'e.b'], 'e'), (U + ['e.a'], 'u %s e ON e.a = u.x' % join[0]), (['l.a', 'l.b', 'l.c'], 'l'),
            (['l.a', 'l.b'] + W, 'l %s w ON w.k = l.a %% 20' % join[1]),
            (['j.key', 'j.value', 'j.type'], "json_each('[1, 2.5, null, \"x\", [3], {\"a\": 4}, true]') AS j"),
            (T + ['j.value'], "t, json_each('[' || t.b || ', ' || t.a || ', \"x\"]') AS j"))
        return text

    def aggregate(self):
        """An aggregate's call (str)."""
        if self.rarely(.25):        # beside Python's: C, which runs ahead, has its sum
            return self.among('count(*)', 'count(%s)', 'sum(%s)', 'total(%s)', 'avg(%s)').replace(
                '%s', self.among(*self.columns))
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

    def order(self):
        """ORDER BY (str)."""
        terms = [self.among(self.among(*self.columns), self.expression(2)) + self.among('', '', ' DESC', ' NULLS LAST')
                 for _ in range(self.among(1, 1, 2))]
        return ' ORDER BY ' + ', '.join(terms)

    def query(self):
        """A query (str)."""
        source = self.source()
        where = ' WHERE ' + self.condition(3) if self.rarely(.6) else ''
        tail = ' LIMIT %d OFFSET %d' % (self.chance.randrange(40), self.chance.randrange(5)) if self.rarely(.2) else ''
        kind = self.among('rows', 'rows', 'rows', 'one', 'groups', 'windows', 'compound', 'written', 'filtered')
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
        if kind == 'written':
            return self.written(source, where)
        if kind == 'filtered':
            return self.filtered(tail)
        order = self.order() if self.rarely(.25) else ''
        if kind == 'compound':
            first = 'SELECT %s FROM %s%s' % (self.expression(2), source, where)
            second = self.source()
            return '%s %s SELECT %s FROM %s%s%s' % (
                first, self.among('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'), self.expression(2), second,
                self.among('', ' ORDER BY 1'), tail)
        return 'SELECT %s%s FROM %s%s%s%s' % ('DISTINCT ' if self.rarely(.15) else '', ', '.join(
            self._some(lambda: self.expression(3))), source, where, order, tail)

    def filtered(self, tail):
        """A query (str) whose calls decide on what is done of a row: a filter before a join, DISTINCT."""
        self.columns, source = self.among(
            (T, 't'), (T + W, 't CROSS JOIN w ON w.k = t.b'), (T + W, 't LEFT JOIN w ON w.k = t.b'),
            (T + U, 't CROSS JOIN u ON u.rowid = t.b'), (U + T, 'u CROSS JOIN t ON t.a = u.x'),
            (K + T, 'k CROSS JOIN t ON t.a = k.c'), (['l.a', 'l.b'] + W, 'l CROSS JOIN w ON w.k = l.a'))
        column, call = self.columns[0], self.among('%s(%s)', '%s(%s) %% 3', "%s(%s) > 20", '%s(%s) IS NOT NULL')
        where = ' WHERE ' + call % (self.function(), self.among(column, self.expression(1)))
        if self.rarely(.4):
            where = self.among(where + ' AND %s', where + ' OR %s').replace('%s', self.condition(1))
        results = [self.among(*self.columns) if self.rarely(.5) else self.expression(1)
                   for _ in range(self.chance.randrange(1, 4))]
        distinct = self.rarely(.4)
        if distinct:
            results[0] = '%s(%s)' % (self.function(), self.among(*self.columns))
        return 'SELECT %s%s FROM %s%s%s%s' % (
            self.among('DISTINCT ', '') if distinct else '', ', '.join(results), source,
            where if not distinct or self.rarely(.6) else '',
            self.among('', '', '', ' ORDER BY %s' % column, ' ORDER BY %s DESC' % column, self.order()), tail)

    def written(self, source, where):
        """A statement that writes (str)."""
        returning = self.among('', ' RETURNING b, f(b)')
        columns, self.columns = self.columns, T
        value, among_t = self.expression(2), self.condition(2)
        self.columns = columns
        return self.among(
            lambda: 'INSERT INTO e SELECT %s, %s FROM %s%s' % (self.expression(2), self.expression(1), source, where),
            lambda: 'INSERT OR IGNORE INTO t SELECT %s %% 99, %s, 1 FROM %s%s%s' % (
                self.expression(2), self.expression(1), source, where, returning),
            lambda: 'UPDATE t SET b = %s WHERE %s%s' % (value, among_t, returning),
            lambda: 'DELETE FROM t WHERE %s%s' % (among_t, returning),
            lambda: 'INSERT INTO k(a, b) SELECT %s, %s FROM %s%s' % (
                self.expression(1), self.expression(1), source, where),
            lambda: 'UPDATE k SET b = %s WHERE %s' % (
                self.among('a', "b || 'x'", 's', 'f(c)'), self.among('c = 1', "b > 'K'")),
            lambda: 'INSERT INTO t SELECT a, b, c FROM t WHERE true ON CONFLICT(a) DO UPDATE SET b = f(excluded.b)')()

    def _some(self, make):
        return [make() for _ in range(self.chance.randrange(1, 4))]
