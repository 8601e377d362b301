"""Seeks that begin in the leaf page at hand, and cursors that stay open: the same rows as stock.

Small pages make deep trees; keys come in order, backwards, at random, and of all types."""

import random
import sqlite3

import pytest

import sqpyte

SCHEMA = (
    'CREATE TABLE o(id INTEGER PRIMARY KEY, r INTEGER, k)',
    'CREATE TABLE l(o INTEGER, n INTEGER, v, PRIMARY KEY(o, n))',
    'CREATE INDEX l_v ON l(v)',
    'CREATE INDEX l_d ON l(o DESC, v)',
    'CREATE TABLE w(a INTEGER, b INTEGER, c, PRIMARY KEY(a, b)) WITHOUT ROWID',
)
# Correlated on purpose: each evaluation opens its cursors again.
QUERIES = [
    'SELECT o.id, l.n, l.v FROM o CROSS JOIN l ON l.o = o.id',
    'SELECT o.id, l.n FROM o CROSS JOIN l ON l.o = o.r',
    'SELECT o.id, l.n FROM (SELECT id FROM o ORDER BY id DESC) AS o CROSS JOIN l ON l.o = o.id',
    'SELECT o.id, l.o, l.n FROM o CROSS JOIN l INDEXED BY l_v ON l.v = o.k',
    'SELECT o.id, l.o, l.n FROM o CROSS JOIN l INDEXED BY l_v ON l.v > o.k WHERE o.id % 50 = 1',
    'SELECT o.id, l.v FROM o CROSS JOIN l INDEXED BY l_d ON l.o = o.id',
    'SELECT o.id, l.n FROM o CROSS JOIN l ON l.o >= o.id AND l.o < o.id + 2 '
    'ORDER BY o.id, l.o DESC, l.n DESC',
    'SELECT o.id, w.c FROM o CROSS JOIN w ON w.a = o.id AND w.b > 1',
    'SELECT o.id, p.r FROM o CROSS JOIN o AS p ON p.id = o.id + 3',
    'SELECT o.id, p.id FROM o CROSS JOIN o AS p ON p.id = o.r',
    'SELECT id, (SELECT count(*) FROM l WHERE l.o = o.id AND l.v <> o.k) FROM o',
    'SELECT id, (SELECT max(v) FROM l WHERE l.o = o.id), (SELECT c FROM w WHERE a = o.id AND b >= 2) FROM o',
    'SELECT id FROM o WHERE EXISTS (SELECT 1 FROM l WHERE l.o = o.id AND l.n > 2 AND l.v <> o.r) '
    'AND NOT EXISTS (SELECT 1 FROM w WHERE w.a = o.id AND w.b = o.r % 5)',
    'SELECT o.id, x.n FROM o LEFT JOIN l AS x ON x.o = o.id AND x.n = 1 LEFT JOIN w ON w.a = x.n',
]


def value(numbers):
    """A value of some type (object) by `numbers` (Random)."""
    return numbers.choice([None, numbers.randrange(300), numbers.randrange(300), numbers.random() * 300,
                           float(numbers.randrange(300)), 'text%d' % numbers.randrange(50), b'blob',
                           2 ** 62 - numbers.randrange(3), -numbers.randrange(70000)])


def fill(connection, page_size, rows=600):
    """Make the tables, the same for a number."""
    numbers = random.Random(page_size)
    connection.execute('PRAGMA page_size=%d' % page_size)
    for sql in SCHEMA:
        connection.execute(sql)
    connection.executemany('INSERT INTO o VALUES(?, ?, ?)', [
        (i, numbers.randrange(-5, rows), value(numbers)) for i in range(-3, rows)])
    connection.executemany('INSERT INTO l VALUES(?, ?, ?)', [
        (i, n, value(numbers)) for i in range(rows) for n in range(numbers.randrange(5))])
    connection.executemany('INSERT INTO w VALUES(?, ?, ?)', [
        (i, n, 'x' * numbers.randrange(90)) for i in range(rows) for n in range(numbers.randrange(4))])
    connection.commit()


def both(page_size):
    """Connections of stock and of ours to equal databases in memory."""
    connections = sqlite3.connect(':memory:'), sqpyte.connect(':memory:')
    for connection in connections:
        fill(connection, page_size)
    return connections


@pytest.mark.parametrize('page_size', [512, 4096])
@pytest.mark.parametrize('sql', QUERIES)
def test_rows_are_stocks(page_size, sql):
    stock, ours = both(page_size)
    assert ours.execute(sql).fetchall() == stock.execute(sql).fetchall()


CHANGES = [
    'DELETE FROM l WHERE o = ?1 + 1',
    'INSERT OR IGNORE INTO l SELECT ?1 + 1, 100 + n, v FROM l AS x WHERE x.o = 5',
    'UPDATE OR IGNORE l SET o = o + 1 WHERE o > ?1 AND o < ?1 + 4 AND n = 0',
    'DELETE FROM w WHERE a BETWEEN ?1 + 1 AND ?1 + 30',
    'UPDATE o SET k = 7 WHERE id = ?1 + 2',
    'SAVEPOINT s; DELETE FROM l WHERE o % 3 = 0; ROLLBACK TO s; RELEASE s',
    'DELETE FROM l',
]


@pytest.mark.parametrize('page_size', [512, 4096])
@pytest.mark.parametrize('sql', QUERIES)
def test_writes_between_rows_are_seen_as_in_stock(page_size, sql):
    results = []
    for connection in both(page_size):
        numbers = random.Random(page_size)
        seen = []
        for i, row in enumerate(connection.execute(sql)):
            seen.append(row)
            if i % 9 == 3:
                for change in CHANGES[i // 9 % len(CHANGES)].split(';'):
                    wanted = (row[0],) if '?' in change else ()
                    connection.execute(change, wanted)
            if len(seen) > 300 + numbers.randrange(9):
                break
        results.append((seen, connection.execute('SELECT count(*), sum(o) FROM l').fetchall()))
    assert results[0] == results[1]
