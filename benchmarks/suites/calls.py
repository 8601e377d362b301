"""What programs do with a connection all day, two queries of TPC-H's, and threads that read: for modules under CPython.

There `sqpyte` is the interpreter's own module on our library, so the plain calls can't become faster; they must not
become slower. A benchmark is a function of a DB-API module and a connection to a TPC-H database, as in micro.py, from
which three are.
"""

import functools
import threading

from benchmarks.suites import micro, queries

POINTS = 20000      # executions of one statement
TEXTS = 2000        # different statements: a connection keeps 128
COUNTS = (1, 2, 4, 8)
# What each of the threads asks: scans that the VM is for; and joins and groups beside them.
MIXED = ('q1', 'q3', 'q6', 'q12')


def iterate(module, connection):
    """The rows of a query, used one by one."""
    total = 0
    for orderkey, quantity, mode in connection.execute('SELECT orderkey, quantity, shipmode FROM lineitem'):
        total += orderkey ^ quantity ^ len(mode)
    return total


def points(module, connection):
    """One statement, executed for one row of a table after the other."""
    count, = connection.execute('SELECT count(*) FROM part').fetchone()
    total = 0
    for number in range(POINTS):
        name, = connection.execute('SELECT name FROM part WHERE partkey = ?', (number % count + 1,)).fetchone()
        total += len(name)
    return total


def statements(module, connection):
    """Statements that all have another text, so that each is compiled."""
    total = 0
    for number in range(TEXTS):
        name, value = connection.execute(
            'SELECT name, %d FROM part WHERE partkey = ?' % number, (number % 100 + 1,)).fetchone()
        total += len(name) ^ value
    return total


def names(module, connection):
    """Rows whose columns are asked for by their names."""
    cursor = connection.cursor()
    cursor.row_factory = module.Row
    total = 0
    for row in cursor.execute('SELECT partkey, suppkey, availqty FROM partsupp'):
        total += row['partkey'] ^ row['suppkey'] ^ row['availqty']
    return total


def query(name):
    """Return the benchmark (function) that runs a query of TPC-H's."""
    def run(module, connection):
        return [tuple(row) for row in connection.execute(queries.text(name, 1.0))]
    return run


pragmas: list = []      # what the connections of the process have been given


def give(connection, given):
    """Give pragmas (list of str, such as `cache_size=-9000`) to a connection, and to those of the threads to come."""
    pragmas[:] = given
    for pragma in pragmas:
        connection.execute('PRAGMA ' + pragma).fetchall()
    return connection


@functools.lru_cache()
def readers(module, path, count):
    """Return connections to a database (list of `count`), which other threads may use."""
    return [give(module.connect(path, check_same_thread=False), pragmas) for _ in range(count)]


def threads(count, texts):
    """Return the benchmark (function) in which each of `count` threads runs the queries of these names.

    Each begins with another one. What it returns is what the first thread gets, if all get the same.
    """
    def run(module, connection):
        path = connection.execute('PRAGMA database_list').fetchone()[2]
        found: list = [None] * count

        def read(number, reader):
            order = texts[number % len(texts):] + texts[:number % len(texts)]
            rows = {name: reader.execute(queries.text(name, 1.0)).fetchall() for name in order}
            found[number] = [rows[name] for name in texts]
        started = [threading.Thread(target=read, args=one) for one in enumerate(readers(module, path, count))]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return found[0] if found == found[:1] * count else found
    return run


PLAIN = {'iterate': iterate, 'fetchall': micro.fetchall, 'executemany': micro.executemany, 'points': points,
         'statements': statements, 'pyfunction': micro.pyfunction, 'names': names}
BENCHMARKS = dict(PLAIN, q1=query('q1'), q6=query('q6'))
BENCHMARKS.update({'q6-threads-%d' % count: threads(count, ('q6',)) for count in COUNTS})
BENCHMARKS.update({'mixed-threads-%d' % count: threads(count, MIXED) for count in COUNTS})
NAMES = tuple(BENCHMARKS)
