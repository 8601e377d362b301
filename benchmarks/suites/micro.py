"""The paper's six micro-benchmarks (section 7.1) and eleven more, written once for any DB-API module.

Each holds a loop that passes many values between SQL and Python. A benchmark is a function of a
DB-API module and a connection to a TPC-H database; it returns its answer, by which engines are
compared. Loops are spelled out where CPython's `sum` would round in another way than PyPy's.

micro.c has the same ones in C, under the same names.
"""

import functools

from benchmarks.suites import pypy_window


def select(module, connection):
    """The paper's Figure 3: three columns of lineitem, added up in Python."""
    sum_qty = 0
    sum_base_price = 0
    sum_disc_price = 0
    iterator = connection.execute('SELECT quantity, extendedprice, discount FROM lineitem')
    for quantity, extendedprice, discount in iterator:
        sum_qty += quantity
        sum_base_price += extendedprice
        sum_disc_price += extendedprice * (1 - discount)
    return sum_qty, sum_base_price, sum_disc_price


def innerjoin(module, connection):
    """An inner join of three tables in SQL, its rows stored in a dictionary."""
    suppliers = {}
    iterator = connection.execute(
        'SELECT part.name, supplier.name FROM partsupp, part, supplier '
        'WHERE partsupp.partkey = part.partkey AND partsupp.suppkey = supplier.suppkey')
    for partname, suppname in iterator:
        suppliers[partname] = suppname
    return suppliers


def pythonjoin(module, connection):
    """The same join in Python (the paper's Figure 14): two point queries for every row."""
    suppliers = {}
    for partkey, suppkey in connection.execute('SELECT partkey, suppkey FROM partsupp'):
        cursor = connection.execute('SELECT part.name FROM part WHERE part.partkey = ?', [partkey])
        partname, = next(cursor)
        cursor = connection.execute(
            'SELECT supplier.name FROM supplier WHERE supplier.suppkey = ?', [suppkey])
        suppname, = next(cursor)
        suppliers[partname] = suppname
    return suppliers


def absolute(value):
    """An absolute value in pure Python, called by `pyfunction` for every row."""
    return -value if value < 0 else value


def pyfunction(module, connection):
    """SQL calls a Python function for every row of lineitem; Python adds up what it returns."""
    total = 0
    for value, in connection.execute('SELECT py_abs(extendedprice) FROM lineitem'):
        total += value
    return total


class MySum:
    """An aggregate in pure Python (the paper's Figure 13), used by `pyaggregate`."""

    def __init__(self):
        self.sum = 0

    def step(self, value):
        """Take one row's value."""
        self.sum += value

    def finalize(self):
        """Return the sum."""
        return self.sum


def pyaggregate(module, connection):
    """A sum over lineitem whose aggregate is a Python class."""
    return connection.execute('SELECT py_sum(quantity) FROM lineitem').fetchone()[0]


def filltable(module, connection, rows=100000):
    """Inserts `rows` rows into a new table, one statement each, and reads them back."""
    own = module.connect(':memory:')
    own.execute('CREATE TABLE filled(a INTEGER, b INTEGER)')
    for number in range(rows):
        own.execute('INSERT INTO filled VALUES(?, ?)', (number, number + 1))
    total = 0
    for first, second in own.execute('SELECT a, b FROM filled'):
        total += first + second
    own.close()
    return total


def cfunction(module, connection):
    """`pyfunction` with a function written in C (c_functions.c)."""
    total = 0
    for value, in connection.execute('SELECT c_abs(extendedprice) FROM lineitem'):
        total += value
    return total


def builtin(module, connection):
    """`pyfunction` with SQLite's own abs."""
    total = 0
    for value, in connection.execute('SELECT abs(extendedprice) FROM lineitem'):
        total += value
    return total


@functools.lru_cache()
def wide_rows(count=100000):
    """Return the rows (list of tuples) that `executemany` inserts."""
    return [(number, number / 7.0, 'name %d' % number, number % 97,
             None if number % 3 else 'third') for number in range(count)]


def executemany(module, connection):
    """Inserts 100,000 rows of five columns from a list, all by one call."""
    own = module.connect(':memory:')
    own.execute('CREATE TABLE wide(a INTEGER, b REAL, c TEXT, d INTEGER, e TEXT)')
    own.executemany('INSERT INTO wide VALUES(?, ?, ?, ?, ?)', wide_rows())
    answer = own.execute(
        'SELECT sum(a + d), sum(length(c)) + count(e), sum(b) FROM wide').fetchone()
    own.close()
    return answer


def fetchall(module, connection):
    """A list of all rows of a query, five texts each."""
    return connection.execute(
        'SELECT name, address, phone, mktsegment, comment FROM customer').fetchall()


class MovingSum(MySum):
    """A window function in pure Python, used by `window`."""

    def inverse(self, value):
        """Take one row's value back."""
        self.sum -= value

    def value(self):
        """Return the present sum."""
        return self.sum


def window(module, connection):
    """Moving sums of ten rows by a window function that is a Python class."""
    total = 0
    for quantity, moving in connection.execute(
            'SELECT availqty, py_moving(availqty) OVER (ORDER BY partkey, suppkey '
            'ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM partsupp'):
        total += quantity ^ moving
    return total


def recursion(module, connection):
    """The rows of a recursive query, used one by one."""
    total = 0
    for number, value in connection.execute(
            'WITH RECURSIVE walk(n, x) AS (SELECT 1, 1 UNION ALL '
            'SELECT n + 1, (x * 1103515245 + 12345) % 2147483648 FROM walk WHERE n < 200000) '
            'SELECT n, x FROM walk'):
        total += number ^ value
    return total


def joinfunction(module, connection):
    """SQL calls a Python function for every row of a join; Python adds up what it returns."""
    total = 0
    for value, in connection.execute(
            'SELECT py_abs(lineitem.extendedprice - orders.totalprice) FROM orders, lineitem '
            'WHERE lineitem.orderkey = orders.orderkey'):
        total += value
    return total


def joinaggregate(module, connection):
    """A sum over the same join whose aggregate is a Python class."""
    return connection.execute(
        'SELECT py_sum(lineitem.quantity) FROM orders, lineitem '
        'WHERE lineitem.orderkey = orders.orderkey').fetchone()[0]


def joingroups(module, connection):
    """The same sums, of each customer's rows."""
    total = 0
    for customer, quantity in connection.execute(
            'SELECT orders.custkey, py_sum(lineitem.quantity) FROM orders, lineitem '
            'WHERE lineitem.orderkey = orders.orderkey GROUP BY orders.custkey'):
        total += customer ^ quantity
    return total


def groupfunction(module, connection):
    """Sums by a Python class, of groups by what a Python function returns, over lineitem."""
    total = 0
    for key, quantity in connection.execute(
            'SELECT py_abs(suppkey), py_sum(quantity) FROM lineitem GROUP BY py_abs(suppkey)'):
        total += key ^ quantity
    return total


def alphabetical(first, second):
    """A collation in pure Python, called by `collation` for each comparison of a sort."""
    return -1 if first < second else 1 if first > second else 0


def collation(module, connection):
    """Part's names, sorted by a collation that is a Python function."""
    total = 0
    number = 0
    for name, in connection.execute('SELECT name FROM part ORDER BY name COLLATE py_order'):
        number += 1
        total += number * len(name)
    return total


PAPER = {function.__name__: function for function in (
    select, innerjoin, pythonjoin, pyfunction, pyaggregate, filltable)}
BENCHMARKS = dict(PAPER, **{function.__name__: function for function in (
    cfunction, builtin, executemany, fetchall, window, recursion, joinfunction, joinaggregate,
    joingroups, groupfunction, collation)})
NAMES = tuple(BENCHMARKS)


def prepare(connection, name=None, extension=None):
    """Make what a benchmark needs, before any timing.

    Args:
        connection: the connection that will be used.
        name: the benchmark's name, or None.
        extension: path of the compiled c_functions.c, for `cfunction`.
    """
    connection.create_function('py_abs', 1, absolute)
    connection.create_aggregate('py_sum', 1, MySum)
    connection.create_collation('py_order', alphabetical)
    if name == 'window':
        if hasattr(connection, 'create_window_function'):
            connection.create_window_function('py_moving', 1, MovingSum)
        else:
            pypy_window.create_window_function(connection, 'py_moving', 1, MovingSum)
    if name == 'executemany':
        wide_rows()
    if name == 'cfunction':
        connection.enable_load_extension(True)
        connection.load_extension(extension)
        connection.enable_load_extension(False)
