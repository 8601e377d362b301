"""TPC-H's queries in DuckDB's dialect: SQLite's texts, with what DuckDB hasn't or means otherwise replaced.

A number with a point is a DECIMAL there, so that Q6's 0.06 + 0.01 would be 0.07, which it isn't in reals; and
strftime() makes a text of each row's date, where a user of DuckDB asks for the year.
"""

import re

from benchmarks.suites import queries

REPLACEMENTS = tuple((re.compile(pattern), replacement) for pattern, replacement in (
    (r"\bdate\('([-0-9]+)', '[+]?([^']+)'\)", r"CAST(DATE '\1' + INTERVAL '\2' AS DATE)"),
    (r"\bCAST\(strftime\('%Y', ([a-z.]+)\) AS INTEGER\)", r'year(\1)'),
    (r'\b(\d+\.\d+)\b', r'\1e0'),
))
# Where a query's ORDER BY may have ties, the positions of its columns: those rows come in any order.
TIES = {'q3': (1, 2), 'q5': (1,), 'q10': (2,), 'q11': (1,), 'q18': (4, 3)}


def translated(sql):
    """Return a statement of SQLite's (str) in DuckDB's dialect."""
    for pattern, replacement in REPLACEMENTS:
        sql = pattern.sub(replacement, sql)
    return sql


def text(name, scale):
    """Return the SQL of the query `name` at `scale`, as queries.text does."""
    return translated(queries.text(name, scale))
