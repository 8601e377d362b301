"""The page cache, with and without a map of the file, and the rows that are fetched ahead: the same rows as stock, and
all memory given back."""

import ctypes
import random
import sqlite3

import pytest

import sqpyte
from pypy_module.ffi import library

ROWS = 12000


def fill(connection):
    """Make a table of some 3 000 pages whose rows an index has in another order."""
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, v INTEGER, filler TEXT)')
    random_numbers = random.Random(5)
    connection.executemany(
        'INSERT INTO t VALUES(?, ?, ?, ?)',
        ((i * 3 + i % 2, random_numbers.randrange(400), i % 97, 'x' * random_numbers.randrange(500, 1500))
         for i in range(ROWS)))
    connection.execute('CREATE INDEX tk ON t(k)')
    connection.commit()


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    """A database file made by stock."""
    name = str(tmp_path_factory.mktemp('pages') / 'a.db')
    connection = sqlite3.connect(name)
    fill(connection)
    connection.close()
    return name


def used():
    """Return the bytes that the engine has allocated."""
    function = ctypes.CDLL(library.path).sqlite3_memory_used
    function.restype = ctypes.c_int64
    return function()


QUERIES = [
    'SELECT k, sum(v), count(filler) FROM t INDEXED BY tk GROUP BY k',
    'SELECT sum(v * k) FROM t INDEXED BY tk WHERE k BETWEEN 100 AND 300',
    'SELECT k, v FROM t INDEXED BY tk WHERE k > 50 ORDER BY k DESC, id DESC',
    'SELECT a.k, sum(b.v) FROM t a JOIN t b INDEXED BY tk ON b.k = a.v WHERE a.id < 900 GROUP BY 1',
    'SELECT sum(v) FROM t INDEXED BY tk WHERE k IN (1, 5, 9, 13, 200, 300, 399) AND v > 3',
]


@pytest.mark.parametrize('mapped', ['by us', 'by the program', 'not'])
@pytest.mark.parametrize('pages', [3, 50, 1000, 100000])
def test_the_rows_are_stocks_with_any_cache(path, pages, mapped):
    stock, ours = sqlite3.connect(path), sqpyte.connect(path)
    ours.execute('PRAGMA cache_size=%d' % pages)
    if mapped != 'by us':
        ours.execute('PRAGMA mmap_size=%d' % (1 << 30 if mapped == 'by the program' else 0)).fetchall()
    for sql in QUERIES * 2:
        assert ours.execute(sql).fetchall() == stock.execute(sql).fetchall(), sql


def test_rows_deleted_while_an_index_leads_to_them(path, tmp_path):
    results = []
    for module in (sqlite3, sqpyte):
        connection = module.connect(str(tmp_path / module.__name__))
        connection.execute('PRAGMA cache_size=100000')
        fill(connection)
        for k in range(0, 400, 7):
            connection.execute('DELETE FROM t WHERE k=? AND v%3=0', (k,))
            connection.execute('UPDATE t SET k=k+1000, filler=filler||filler WHERE k=?', (k + 1,))
        results.append([connection.execute(sql).fetchall() for sql in QUERIES])
        assert connection.execute('PRAGMA integrity_check').fetchone() == ('ok',)
    assert results[0] == results[1]


def test_memory_is_given_back(path):
    before = used()
    connection = sqpyte.connect(path)
    connection.execute('PRAGMA mmap_size=0').fetchall()
    connection.execute('PRAGMA cache_size=100000')
    connection.execute(QUERIES[0]).fetchall()
    assert used() - before > 10 << 20
    connection.execute('PRAGMA shrink_memory')
    assert used() - before < 1 << 20
    connection.execute(QUERIES[0]).fetchall()
    connection.execute('PRAGMA cache_size=10')
    connection.execute(QUERIES[1]).fetchall()
    connection.execute(QUERIES[0]).fetchall()
    connection.execute('PRAGMA shrink_memory')
    assert used() - before < 1 << 20
    connection.close()
    assert used() - before < 1 << 17


def test_a_cache_is_not_larger_than_asked_for(path):
    before = used()
    connection = sqpyte.connect(path)
    connection.execute('PRAGMA cache_size=2000')
    connection.execute('PRAGMA mmap_size=0').fetchall()
    connection.execute(QUERIES[0]).fetchall()
    assert used() - before < 2000 * 4600 + (1 << 20)


def calls_that_read():
    """Return how many system calls of this process have read."""
    with open('/proc/self/io', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('syscr'))


def test_a_page_in_use_often_stays(path):
    """With room for a part of the table only, the pages that are visited again and again stay."""
    connection = sqpyte.connect(path)
    connection.execute('PRAGMA cache_size=40')
    connection.execute('PRAGMA mmap_size=0').fetchall()
    reads = []
    for _ in range(2):
        reads.append(calls_that_read())
        connection.execute('SELECT count(*) FROM (SELECT 1 FROM t, (SELECT 1 FROM t WHERE id=30) '
                           'LIMIT 1000)').fetchone()
    assert reads[1] - reads[0] < 600
