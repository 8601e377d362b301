"""A collation that is the program's is called as in stock: as often, in the same order, with the same texts.

Nothing that makes comparisons fewer may be used where such a collation could see it. A sort in which Python ranks all
texts at once (collation_ranks.c) is the exception, so it is switched off here. Stock is the same SQLite without
what changes the ways of its storage.
"""

import pytest

import sqpyte
from c_engine.generated.mechanisms import MECHANISMS
from tests.mechanisms import without

STOCK = [name for name, reader, _, _ in MECHANISMS if reader == 'engine']


def calls_of(sql):
    """What a statement returns, and the calls of the collation that it made (two lists)."""
    calls = []

    def back(x, y):
        calls.append((x, y))
        return (x < y) - (x > y)
    connection = sqpyte.connect(':memory:')
    connection.create_collation('back', back)
    connection.executescript('''
        CREATE TABLE k(a COLLATE back, b);
        CREATE TABLE t(a INTEGER PRIMARY KEY, b);
        WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r LIMIT 40)
            INSERT INTO k SELECT iif(n % 4 AND n < 23, 'k' || (n % 7), n % 3), n FROM r;
        INSERT INTO t SELECT b, b % 5 FROM k;
        CREATE INDEX ka ON k(a);
    ''')
    del calls[:]
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows, calls


@pytest.mark.parametrize('sql', [
    # A subquery's cursors stay open in the next evaluation (seek.c).
    "UPDATE t SET b = 1 WHERE EXISTS (SELECT 1 FROM k WHERE k.a = '0' AND k.b > t.a)",
    "SELECT (SELECT count(*) FROM k WHERE k.a = '0' AND k.b > t.a + random() * 0) FROM t",
    # Integers, of few different values, are sorted into lists (sort_key.c).
    'REINDEX ka',
    'SELECT a FROM k ORDER BY +a',
    'SELECT a, count(*) FROM k GROUP BY a',
    # A Bloom filter, DISTINCT, a compound, a join by the index.
    'SELECT DISTINCT a FROM k',
    'SELECT a FROM k EXCEPT SELECT b FROM t',
    "SELECT count(*) FROM t CROSS JOIN k ON k.a = 'k' || t.b",
    "SELECT max(a), min(a) FROM k WHERE a > 'k3'",
])
def test_it_is_called_as_in_stock(sql):
    with without(sqpyte, STOCK):
        stock = calls_of(sql)
    with without(sqpyte, ['collation-ranks']):
        ours = calls_of(sql)
    assert ours == stock
    assert stock[1]
