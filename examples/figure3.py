"""The paper's Figure 3: sum three columns of TPC-H's lineitem in Python.

    build/pypy-env/bin/python examples/figure3.py build/data/tpch-0.05.db [--module sqlite3] [--runs 5]
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


def figure3(conn):
    sum_qty = 0
    sum_base_price = 0
    sum_disc_price = 0
    iterator = conn.execute('SELECT quantity, extendedprice, discount FROM lineitem')
    for quantity, extendedprice, discount in iterator:
        sum_qty += quantity
        sum_base_price += extendedprice
        sum_disc_price += extendedprice * (1 - discount)
    return sum_qty, sum_base_price, sum_disc_price


conn = sqpyte.connect(options.database)
for _ in range(options.runs):
    start = time.perf_counter()
    sums = figure3(conn)
    print('quantity %r, base price %r, discounted price %r: %.6f s'
          % (sums + (time.perf_counter() - start,)))
