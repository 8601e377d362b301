"""TPC-H's 22 queries with the specification's validation parameters, one file each in tpch/.

The dialect is SQLite's: dates are ISO text, an interval is a modifier of date(), the year is
taken with strftime(), Q15 is the specification's variant with a common table expression. Columns
have no prefixes (see schema.sql).
"""

import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tpch')
NAMES = tuple('q%d' % number for number in range(1, 23))


def text(name, scale):
    """Return the SQL of the query `name` ('q1' to 'q22').

    Args:
        name: one of NAMES.
        scale: the database's scale factor (float): Q11's threshold is 0.0001 / scale.
    """
    path = os.path.join(FOLDER, 'q%02d.sql' % int(name[1:]))
    with open(path, encoding='utf-8') as file:
        return file.read().replace('{fraction}', repr(0.0001 / scale))


def normal(name):
    """Return a query's name as in NAMES from '6', 'q6', 'Q06'; other text unchanged."""
    digits = name.lower().lstrip('q')
    return 'q%d' % int(digits) if digits.isdigit() else name
