"""The Star Schema Benchmark's 13 queries, with the specification's parameters, one file each in ssb/.

P. O'Neil, B. O'Neil, X. Chen: Star Schema Benchmark, revision 3, 2009. Column names keep the
specification's prefixes. What is generated for them is in ssb_rows.py.
"""

import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ssb')
NAMES = tuple('q%d.%d' % (flight, number) for flight, numbers in ((1, 3), (2, 3), (3, 4), (4, 3))
              for number in range(1, numbers + 1))


def text(name, scale):
    """Return the SQL of the query `name` ('q1.1' to 'q4.3'); it is the same at every scale."""
    with open(os.path.join(FOLDER, name + '.sql'), encoding='utf-8') as file:
        return file.read()


def normal(name):
    """Return a query's name as in NAMES from '1.1', 'q1.1', 'Q1.1'; other text unchanged."""
    digits = name.lower().lstrip('q')
    return 'q' + digits if digits.replace('.', '', 1).isdigit() else name
