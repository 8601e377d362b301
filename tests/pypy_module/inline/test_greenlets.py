"""Greenlets that switch within functions, aggregates, windows and collations, and between rows: what a statement calls
may end after the statement that it called has begun, and the other way round."""

import random

import pytest

from tests.outcome import outcome
from tests.pypy_module.inline.inlining import compare

greenlet = pytest.importorskip('greenlet', reason='PyPy has greenlet; CPython where it is installed')

GREENLETS = 3
STATEMENTS = 8
QUERIES = [
    'SELECT f(a) FROM t',
    'SELECT a, b FROM t WHERE f(b) > 20',
    'SELECT agg(b) FROM t',
    'SELECT b % 5, agg(a) FROM t GROUP BY b % 5',
    'SELECT a, win(b) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t LIMIT 30',
    'SELECT c FROM t ORDER BY c COLLATE turning, a LIMIT 20',
    'SELECT x.a, f(y.b) FROM t AS x JOIN t AS y ON y.a = x.b WHERE x.a < 40',
    'SELECT a, b, c FROM t',
    'SELECT sum(f(b)) FROM t',
    'SELECT f(a) FROM t ORDER BY b, a',
    'SELECT DISTINCT f(b) FROM t',
    'SELECT x.a, y.b FROM t AS x CROSS JOIN t AS y ON y.a = x.b WHERE f(x.a) % 7 = 3',
]
CHANGES = [
    'INSERT INTO u VALUES(1, 2)',
    'UPDATE t SET b = b + 1 WHERE a % 50 = 3',
    'DELETE FROM u',
    'INSERT INTO u SELECT f(a), b FROM t WHERE a < 20',
    'BEGIN',
    'COMMIT',
    'ROLLBACK',
    'CREATE TABLE IF NOT EXISTS z(q)',
]


class Turns:
    """Greenlets by turns, in an order that a seed decides; `log` has all that happens, in its order."""

    def __init__(self, side, seed):
        self.random = random.Random(seed)
        self.period = self.random.choice([1, 3, 17])
        self.home = greenlet.getcurrent()
        self.calls = 0
        self.log = []
        self.connections = [self.filled(side) for _ in range(self.random.choice([1, 2]))]

    def filled(self, side):
        """Return a connection of a Side with tables and with what turns."""
        connection = side.connect(':memory:', isolation_level=None)
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
        connection.executemany('INSERT INTO t VALUES(?, ?, ?)',
                               [(i, i * 7919 % 101, 'x%d' % (i % 13)) for i in range(120)])
        connection.execute('CREATE TABLE u(k, v)')
        turns = self

        class Sum:
            def __init__(self):
                self.sum = 0

            def step(self, value):
                self.sum += turns.called('step', value)

            def inverse(self, value):
                self.sum -= turns.called('inverse', value)

            def value(self):
                return turns.called('value', self.sum)

            finalize = value
        connection.create_function('f', 1, lambda value: self.called('f', value))
        connection.create_aggregate('agg', 1, Sum)
        connection.create_window_function('win', 1, Sum)
        connection.create_collation('turning', lambda a, b: self.called('compare', (a > b) - (a < b)))
        return connection

    def called(self, what, value):
        """Note a call; every so often another greenlet's turn comes before it returns."""
        self.log.append((what, value))
        self.calls += 1
        if self.calls % self.period == 0 and greenlet.getcurrent() is not self.home:
            self.home.switch()
        return value

    def work(self, number, seed):
        """What a greenlet does."""
        mine = random.Random(seed)
        for _ in range(STATEMENTS):
            connection = mine.choice(self.connections)
            sql = mine.choice(CHANGES if mine.random() < 0.25 else QUERIES)
            self.log.append((number, sql))
            cursor = connection.cursor()
            said = outcome(cursor.execute, sql)
            rows = 0
            while not isinstance(said, str):
                said = outcome(cursor.fetchone)
                self.log.append((number, said))
                rows += 1
                if said is None or rows > 25 and seed % 2:
                    break
                if mine.random() < 0.02:
                    self.home.switch()
            self.log.append((number, said if isinstance(said, str) else rows))
            cursor.close()

    def run(self, seed):
        """Give the turns until all have ended; return the log."""
        all_of_them = [greenlet.greenlet(lambda i=i: self.work(i, seed * GREENLETS + i)) for i in range(GREENLETS)]
        while any(not one.dead for one in all_of_them):
            self.random.choice([one for one in all_of_them if not one.dead]).switch()
        return self.log


@pytest.mark.parametrize('seed', range(20))
def test_turns(seed):
    compare(lambda side: Turns(side, seed).run(seed), oracle='C')
