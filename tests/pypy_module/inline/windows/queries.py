"""Queries with window functions written in Python, and what their tests run them on."""

from tests.extent import everything

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
    'SELECT w(b) OVER (ORDER BY b, a) || c, (SELECT count(*) FROM u), a FROM t',
    'SELECT abs(w(b) OVER (ORDER BY b) * 2 + a) || c, hex(w(b) OVER (ORDER BY b)) FROM t',
    'SELECT a, -w(b) OVER (PARTITION BY c), w(b) OVER (PARTITION BY c) || b FROM t',
]
SCANNED = [
    'SELECT a, w(b) OVER (ORDER BY a ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t',
    'SELECT a, w(b) OVER (ORDER BY a) FROM t',
    'SELECT x, w(y) OVER (ORDER BY x ROWS 4 PRECEDING), z FROM u INDEXED BY ux',
    'SELECT w(b, c) OVER x, sum(a) OVER x, c FROM t WINDOW x AS (ORDER BY a ROWS 1 PRECEDING)',
    'SELECT x, w(y) OVER (PARTITION BY x ORDER BY rowid) FROM u INDEXED BY ux',
    'SELECT w(b) OVER (ORDER BY a) || c, (SELECT count(*) FROM u), a FROM t',
    'SELECT w(b) OVER (ORDER BY a ROWS 1 PRECEDING) + a, (SELECT count(*) FROM u WHERE x > 9) FROM t',
    'SELECT a, round(w(b) OVER (ORDER BY a ROWS 2 PRECEDING) * b, 1) FROM t',
]
INLINED = SORTED + SCANNED
FEW = [SORTED[0], SORTED[1], SORTED[2], SORTED[-1], SCANNED[0], SCANNED[2], SCANNED[-1]]
BRIEF = FEW if everything() else [SORTED[1], SORTED[-1], SCANNED[0], SCANNED[-1]]     # of the long lists
# Left to callbacks, wholly or in part.
OTHERS = [
    'SELECT w(b) OVER (ORDER BY c), (SELECT max(x) FROM u), w(b) OVER (ORDER BY c) || (SELECT 3) FROM t',
    'SELECT w(b) OVER (ORDER BY t.a), n FROM t, (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 2 FROM r '
    'WHERE n < 9) SELECT n FROM r)',
    'SELECT w(b) OVER (ORDER BY c), w(a) OVER (PARTITION BY c ORDER BY b), row_number() OVER '
    '(ORDER BY a) FROM t',
    'SELECT w(b) OVER (ORDER BY b) > 2, coalesce(w(b) OVER (ORDER BY b), a) FROM t',
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
