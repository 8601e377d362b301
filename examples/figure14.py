"""The paper's Figure 14: a join of TPC-H's partsupp, part and supplier, written in Python.

    build/pypy-env/bin/python examples/figure14.py build/data/tpch-0.05.db [--module sqlite3] [--runs 5]
"""

import argparse
import importlib
import time

parser = argparse.ArgumentParser()
parser.add_argument('database')
parser.add_argument('--module', default='sqpyte', help='DB-API module: sqpyte or sqlite3')
parser.add_argument('--runs', type=int, default=1, help='how often to run the loop')
options = parser.parse_args()
sqpyte = importlib.import_module(options.module)


def figure14(conn):
    d = {}
    for key, suppkey in conn.execute('SELECT partsupp.partkey, partsupp.suppkey FROM partsupp'):
        cursor = conn.execute('SELECT part.name FROM part WHERE part.partkey = ?', [key])
        partname, = next(cursor)
        cursor = conn.execute('SELECT supplier.name FROM supplier WHERE supplier.suppkey = ?',
                              [suppkey])
        suppname, = next(cursor)
        d[partname] = suppname
    return d


conn = sqpyte.connect(options.database)
for _ in range(options.runs):
    start = time.perf_counter()
    suppliers = figure14(conn)
    print('%d parts: %.6f s' % (len(suppliers), time.perf_counter() - start))
