"""The loops whose traces are looked at: `program.py ROWS PASSES SHIFT NAME...` runs some after each other.

Each is run over a table of ROWS rows, PASSES times.  Before that the function has its loop go SHIFT times
round over rows that are there already, so that PyPy's JIT traces it that many rows earlier.
"""
import sys

import sqpyte
from pypy_module.dbapi.statements import tiers
from pypy_module.inline import policy

rows, passes, shift = (int(argument) for argument in sys.argv[1:4])
sqpyte.connect      # loads the module, which installs a planner
tiers.planner = policy.Planner(worth=1000)
connection = sqpyte.connect(':memory:', isolation_level=None)
connection.execute('PRAGMA page_size = 512')    # few rows a page: a batch ends often
connection.execute('CREATE TABLE t(a INTEGER, b REAL, c REAL, d TEXT)')
connection.execute('''
    INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT ?)
    SELECT n % 50, n + 0.5, n % 10 / 100.0, 'text ' || (n % 7) FROM r''', (rows,))
connection.execute('CREATE TABLE u(a INTEGER, b REAL, c TEXT)')


class Sum:
    """An aggregate."""

    def __init__(self):
        self.sum = 0.0

    def step(self, value):
        self.sum += value

    def finalize(self):
        return self.sum


class WindowSum(Sum):
    """A window function."""

    def inverse(self, value):
        self.sum -= value

    def value(self):
        return self.sum


connection.create_aggregate('mysum', 1, Sum)
connection.create_window_function('window_sum', 1, WindowSum)
connection.create_function('absolute', 1, lambda value: -value if value < 0 else value)
connection.create_function('lower_case', 1, lambda text: text.lower())


def select(cursor):
    total = 0.0
    for a, b, c in cursor:
        total += a * b * (1 - c)
    return total


def where(cursor):
    total = 0.0
    for b, in cursor:
        total += b
    return total


def joined(cursor):
    total = 0.0
    for a, b in cursor:
        total += a * b
    return total


def texts(cursor):
    total = 0
    for d, in cursor:
        total += len(d)
    return total


def returned_texts(cursor):
    total = 0.0
    for b, in cursor:
        total += b
    return total


def expression(cursor):
    total = 0.0
    for r, in cursor:
        total += r
    return total


def function(cursor):
    total = 0.0
    for r, in cursor:
        total += r
    return total


def function_filters(cursor):
    total = 0.0
    for b, in cursor:
        total += b
    return total


def sliced(cursor):
    total = 0.0
    for a, b in cursor:
        total += a * b
    return total


def filtered(cursor):
    return list(cursor)


def distinct(cursor):
    return list(cursor)


def window_log(cursor):
    total = 0.0
    for a, b in cursor:
        total += a * b
    return total


def aggregate(cursor):
    return list(cursor)


def fetchall(cursor):
    return len(cursor.fetchall())


def point(numbers):
    total = 0.0
    for number in numbers:
        total += connection.execute('SELECT b FROM t WHERE rowid = ?', (number + 1,)).fetchone()[0]
    return total


def insert(numbers):
    for number in numbers:
        connection.execute('INSERT INTO u VALUES(?, ?, ?)', (number, 0.5, 'text'))


# Of each loop: its query, and a row as the query's are.
LOOPS = {
    select: ('SELECT a, b, c FROM t', (3, 0.5, 0.25)),
    where: ('SELECT b FROM t WHERE a > 9 AND c < ?1', (0.5,)),
    joined: ('SELECT t.a, u.b FROM t, t AS u WHERE u.rowid = t.rowid', (3, 0.5)),
    texts: ("SELECT d FROM t WHERE d <> 'text 3'", ('text',)),
    returned_texts: ("SELECT b FROM t WHERE lower_case(d) <> 'text 3'", (0.5,)),
    expression: ('SELECT b * (1 - c) + a FROM t LIMIT 100000', (0.5,)),
    function: ('SELECT absolute(b) FROM t', (0.5,)),
    function_filters: ('SELECT b FROM t WHERE absolute(a) > 3', (0.5,)),
    sliced: ('SELECT absolute(t.a), u.b FROM t, t AS u WHERE u.rowid = t.rowid', (3, 0.5)),
    filtered: ('SELECT t.a, u.b FROM t CROSS JOIN t AS u ON u.rowid = t.rowid WHERE absolute(t.a) = 3', (3, 0.5)),
    distinct: ('SELECT DISTINCT absolute(a) FROM t', (3,)),
    window_log: ('SELECT a, window_sum(b) OVER (ORDER BY rowid ROWS 2 PRECEDING) FROM t', (3, 0.5)),
    aggregate: ('SELECT mysum(absolute(b)) FROM t', (0.5,)),
    fetchall: ('SELECT a, b FROM t', (3, 0.5)),
}

for name in sys.argv[4:]:
    loop = globals()[name]
    if loop not in LOOPS:
        loop(range(shift))
        for _ in range(passes):
            loop(range(rows // 3))
        continue
    query, row = LOOPS[loop]
    # What a cursor's method has is a loop of the module's.
    loop(connection.execute('SELECT a, b FROM t LIMIT ?', (shift,)) if loop is fetchall else [row] * shift)
    for _ in range(passes):
        loop(connection.execute(query, (0.085,) if '?' in query else ()))
