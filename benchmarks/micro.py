"""The paper's six micro-benchmarks (section 7.1), each written once for any DB-API module.

Each holds a loop that passes many values between SQL and Python. A benchmark is a function of a
DB-API module and a connection to a TPC-H database; it returns its answer, by which engines are
compared. Loops are spelled out where CPython's `sum` would round in another way than PyPy's.
"""


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


BENCHMARKS = {function.__name__: function for function in (
    select, innerjoin, pythonjoin, pyfunction, pyaggregate, filltable)}
NAMES = tuple(BENCHMARKS)


def prepare(connection):
    """Register the Python function and aggregate that the benchmarks call, before any timing."""
    connection.create_function('py_abs', 1, absolute)
    connection.create_aggregate('py_sum', 1, MySum)
