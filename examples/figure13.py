"""The paper's Figure 13: a sum over TPC-H's lineitem whose aggregate is a Python class.

    build/pypy-env/bin/python examples/figure13.py build/data/tpch-0.05.db [--module sqlite3] [--runs 5]
"""

import argparse
import importlib
import time

parser = argparse.ArgumentParser()
parser.add_argument('database')
parser.add_argument('--module', default='sqpyte', help='DB-API module: sqpyte or sqlite3')
parser.add_argument('--runs', type=int, default=1, help='how often to run the query')
options = parser.parse_args()
sqpyte = importlib.import_module(options.module)


class MySum:
    def __init__(self):
        self.sum = 0

    def step(self, x):
        self.sum += x

    def finalize(self):
        return self.sum


conn = sqpyte.connect(options.database)
conn.create_aggregate('mysum', 1, MySum)
for _ in range(options.runs):
    start = time.perf_counter()
    total, = conn.execute('SELECT mysum(quantity) FROM lineitem').fetchone()
    print('quantity %r: %.6f s' % (total, time.perf_counter() - start))
