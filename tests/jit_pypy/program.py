"""The loops whose traces test_traces.py looks at: `program.py NAME` runs one of them."""
import sys

import sqpyte
from pypy_module import inline, tiers

sqpyte.connect      # loads the module, which installs a planner
tiers.planner = inline.Planner(worth=1000)
connection = sqpyte.connect(':memory:', isolation_level=None)
connection.execute('CREATE TABLE t(a INTEGER, b REAL, c REAL, d TEXT)')
connection.execute('''
    INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 60000)
    SELECT n % 50, n + 0.5, n % 10 / 100.0, 'text ' || (n % 7) FROM r''')


class Sum:
    """An aggregate."""

    def __init__(self):
        self.sum = 0.0

    def step(self, value):
        self.sum += value

    def finalize(self):
        return self.sum


connection.create_aggregate('mysum', 1, Sum)
connection.create_function('absolute', 1, lambda value: -value if value < 0 else value)


def select():
    total = 0.0
    for a, b, c in connection.execute('SELECT a, b, c FROM t'):
        total += a * b * (1 - c)
    return total


def where():
    total = 0.0
    for b, in connection.execute('SELECT b FROM t WHERE a > 20 AND c < ?', (0.07,)):
        total += b
    return total


def joined():
    total = 0.0
    for a, b in connection.execute('SELECT t.a, u.b FROM t, t AS u WHERE u.rowid = t.rowid'):
        total += a * b
    return total


def texts():
    total = 0
    for d, in connection.execute('SELECT d FROM t WHERE d <> \'text 3\''):
        total += len(d)
    return total


def expression():
    total = 0.0
    for r, in connection.execute('SELECT b * (1 - c) + a FROM t LIMIT 100000'):
        total += r
    return total


def function():
    total = 0.0
    for r, in connection.execute('SELECT absolute(b) FROM t'):
        total += r
    return total


def function_filters():
    total = 0.0
    for b, in connection.execute('SELECT b FROM t WHERE absolute(a) > 3'):
        total += b
    return total


def aggregate():
    return connection.execute('SELECT mysum(absolute(b)) FROM t').fetchone()


def fetchall():
    return len(connection.execute('SELECT a, b FROM t').fetchall())


def point():
    total = 0.0
    for number in range(20000):
        total += connection.execute('SELECT b FROM t WHERE rowid = ?', (number + 1,)).fetchone()[0]
    return total


def insert():
    for number in range(20000):
        connection.execute('INSERT INTO u VALUES(?, ?, ?)', (number, 0.5, 'text'))


connection.execute('CREATE TABLE u(a INTEGER, b REAL, c TEXT)')
for _ in range(6):
    globals()[sys.argv[1]]()
