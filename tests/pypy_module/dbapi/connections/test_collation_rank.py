"""Sorting by collations written in Python, whose texts are ranked in one call (collation_ranks.c)."""

import random
import re

import pytest

import sqpyte
from pypy_module.dbapi.connections import collation_rank
from tests.extent import everything
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Side, answers, failing_collation

SORTS = [
    'SELECT a, k FROM t ORDER BY k COLLATE mine', 'SELECT a, k FROM t ORDER BY k COLLATE mine DESC',
    'SELECT a, k FROM t ORDER BY k COLLATE mine NULLS LAST, a',
    'SELECT a, k, m FROM t ORDER BY m, k COLLATE mine DESC, a',
    'SELECT a, k FROM t ORDER BY k COLLATE mine, m DESC, a',
    'SELECT a, k FROM t ORDER BY m COLLATE mine DESC, k COLLATE odd, a DESC',
    'SELECT a, k FROM t ORDER BY k COLLATE odd, k || m COLLATE mine, a',
    'SELECT a, k FROM t ORDER BY k COLLATE mine LIMIT 7 OFFSET 50',
    'SELECT max(a), count(*), k FROM t WHERE typeof(k) = \'text\' GROUP BY k COLLATE mine',
    'SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY k COLLATE mine, a)',
    'SELECT a, row_number() OVER (ORDER BY k COLLATE mine, a) FROM t',
    'SELECT k FROM t UNION SELECT m FROM t ORDER BY 1 COLLATE mine',
    'SELECT DISTINCT lower(k) FROM t ORDER BY 1 COLLATE odd',
]
SMALL = 512     # bytes of a page: a sorter's run is written to disk after 250 of them


def mine(x, y):
    """Without regard to case; then it is the number of letters that decides."""
    x, y = x.lower(), y.lower()
    return (x > y) - (x < y)


def odd(x, y):
    """By lengths, and only that."""
    return len(x) - len(y)


def texts(count, kinds, seed=0):
    """Rows of a number, a text or something else, and a text; in ASCII, as PyPy's sqlite3 gives bytes to
    collations."""
    rng = random.Random(seed)
    rows: list = []
    for i in range(count):
        word = ''.join(rng.choice('abABz_') for _ in range(rng.randrange(7)))
        rows.append((i, rng.choice([word, word, word * 9, None, i, i / 4, word.encode()][:kinds]),
                     rng.choice(['x', 'X', 'y', 'long ' * 9])))
    return rows


def filled(side, rows, page_size=4096):
    """A connection with a table t(a, k, m) and two collations."""
    connection = side.connect()
    connection.create_collation('mine', mine)
    connection.create_collation('odd', odd)
    connection.execute('PRAGMA page_size = %d' % page_size)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, k, m)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', rows)
    return connection


@pytest.fixture
def ranked(monkeypatch):
    """How many texts were ranked, call by call (list)."""
    counts = []
    rank = collation_rank.rank

    def counting(function, address, count):
        counts.append(count)
        return rank(function, address, count)
    monkeypatch.setattr(collation_rank, 'rank', counting)
    return counts


def compare(action):
    """Assert that the action gives the same in C and inlined as on sqlite3; return it."""
    found = answers(action, ('sqlite3', 'C', 'inlined'))
    assert found['C'] == found['sqlite3'] == found['inlined']
    return found['C']


@pytest.mark.parametrize('count, kinds', [(60, 1), (70, 1), (1000, 3), (3000, 7)])
def test_sorts(ranked, count, kinds):
    def action(side):
        connection = filled(side, texts(count, kinds))
        return [connection.execute(sql).fetchall() for sql in SORTS]
    compare(action)
    assert bool(ranked) == (count > 60)


@pytest.mark.parametrize('sql', SORTS)
def test_sorts_on_disk(ranked, sql):
    """Runs on disk are ranked one by one, and merged through the callback."""
    def action(side):
        connection = filled(side, texts(40000 if everything() else 4000, 7), page_size=SMALL)
        connection.execute('PRAGMA cache_size = 10')
        return connection.execute(sql).fetchall()
    compare(action)
    # More than one run in C, and inlined; others' rows are few, not ranked, or kept in a tree.
    assert len(ranked) > 2 or re.search('NULLS LAST|LIMIT|GROUP BY|UNION|DISTINCT', sql)


def backwards(x, y):
    """By the letters from the last one on."""
    return (x[::-1] > y[::-1]) - (x[::-1] < y[::-1])


@pytest.mark.parametrize('count, kinds, cache', [(60, 1, 1000), (500, 1, 1000), (30000 if everything() else 5000, 1, 2),
                                                 (500, 7, 1000)])
def test_binary_as_another_collation(ranked, count, kinds, cache):
    """Where the first column has nothing but texts, SQLite's sorter compares bytes, whatever BINARY is."""
    def action(side):
        connection = filled(side, texts(count, kinds), page_size=SMALL if cache < 10 else 4096)
        connection.create_collation('BINARY', backwards)
        connection.execute('PRAGMA cache_size = %d' % cache)
        found = [connection.execute(sql).fetchall() for sql in (
            'SELECT k FROM t ORDER BY +k, +m', 'SELECT m, +k FROM t ORDER BY m COLLATE mine, k, a',
            'SELECT k, m, a FROM t ORDER BY +k DESC, m COLLATE mine, a', 'SELECT k, count(*) FROM t GROUP BY +k')]
        connection.execute('CREATE INDEX i ON t(k, m)')
        return found + connection.execute('SELECT a FROM t INDEXED BY i WHERE k > \'a\'').fetchall()
    compare(action)
    assert bool(ranked) == (count > 60)


def test_an_index(ranked):
    def action(side):
        connection = filled(side, texts(2000, 7))
        connection.execute('CREATE INDEX i ON t(k COLLATE mine, m)')
        found = connection.execute('PRAGMA integrity_check').fetchall()
        found += connection.execute('SELECT k FROM t INDEXED BY i WHERE k COLLATE mine > \'b\'').fetchall()
        connection.execute('REINDEX')
        return found + connection.execute('PRAGMA integrity_check').fetchall()
    compare(action)
    assert 2 <= len(ranked)


def test_texts_that_are_compared_once(ranked):
    """Texts that come again are given to the collation once."""
    def action(side):
        calls = []

        def noted(x, y):
            calls.append((x, y))
            return (x > y) - (x < y)
        connection = filled(side, [(i, 'text %d' % (i * 7 % 10), 'x') for i in range(2000)])
        connection.create_collation('noted', noted)
        found = connection.execute('SELECT a FROM t ORDER BY k COLLATE noted').fetchall()
        if side.name != 'sqlite3':
            assert len(calls) < 100
        return found
    compare(action)


@pytest.mark.parametrize('late', [1, 30, 500])
def test_what_a_collation_raises(ranked, late):
    def action(side):
        calls = []
        connection = filled(side, texts(500, 1))
        connection.create_collation('fails', failing_collation(calls, late))
        found = [outcome(lambda: connection.execute('SELECT a FROM t ORDER BY k COLLATE fails').fetchall())]
        calls[:] = [1] * 1000
        return found + connection.execute('SELECT a FROM t ORDER BY k COLLATE fails, a').fetchall()
    found = answers(action, ('C', 'inlined'))
    assert found['C'] == found['inlined']
    assert found['C'][0] == "KeyError: 'late'" and len(found['C']) == 501


def test_texts_that_are_not_utf_8(ranked):
    def action(side):
        connection = filled(side, texts(200, 1))
        connection.execute('UPDATE t SET k = CAST(x\'ff\' AS TEXT) WHERE a = 77')
        return outcome(lambda: connection.execute('SELECT a FROM t ORDER BY k COLLATE mine').fetchall())
    found = answers(action, ('C', 'inlined'))
    assert found['C'] == found['inlined'] and found['C'].startswith('UnicodeDecodeError')


def test_a_collation_that_uses_its_connection(ranked):
    def action(side):
        connection = filled(side, texts(150, 1))

        def asks(x, y):
            (x, y), = connection.execute('SELECT upper(?), upper(?)', (x, y)).fetchall()
            if not connection.execute('SELECT count(*) FROM t WHERE m = \'new\'').fetchone()[0]:
                connection.execute('UPDATE t SET m = \'new\' WHERE a = 149')
                connection.execute('SELECT k FROM t ORDER BY k COLLATE mine').fetchall()
            return (x > y) - (x < y)
        connection.create_collation('asks', asks)
        found = connection.execute('SELECT a, k FROM t ORDER BY k COLLATE asks, a').fetchall()
        return found, connection.execute('SELECT a FROM t WHERE m = \'new\'').fetchall()
    compare(action)
    assert len(ranked) >= 4


def test_the_encoding_utf_16(ranked):
    def action(side):
        connection = side.connect()
        connection.execute('PRAGMA encoding = \'UTF-16\'')
        connection.create_collation('mine', mine)
        connection.execute('CREATE TABLE t(a, k, m)')
        connection.executemany('INSERT INTO t VALUES(?, ?, ?)', texts(500, 7))
        return connection.execute('SELECT a, k FROM t ORDER BY k COLLATE mine, a').fetchall()
    compare(action)
    assert not ranked


@pytest.mark.parametrize('jit', [False, True])
@pytest.mark.parametrize('count', [0, 1, 2, 3, 64, 1000])
def test_the_order(monkeypatch, jit, count):
    monkeypatch.setattr(collation_rank, 'JIT', jit)
    rng = random.Random(count)
    found: list = [str(rng.randrange(count)) for _ in range(count)]
    for some in (found, sorted(found), sorted(found, reverse=True)):
        assert collation_rank.ordered(some, mine) == sorted(some)
        assert collation_rank.ordered(some, lambda x, y: len(x) - len(y)) == sorted(some, key=len)
        assert len(collation_rank.ordered(some, lambda x, y: rng.choice([-1, 0, 1, None]))) == count


def test_letters_of_any_kind(ranked):
    rng = random.Random(5)
    words = [''.join(rng.choice('aA\u00e4\u00c4\U0001f600\uffff') for _ in range(5)) for _ in range(500)]
    connection = filled(Side('C', ''), [(i, word, '') for i, word in enumerate(words)])
    found = connection.execute('SELECT k FROM t ORDER BY k COLLATE mine').fetchall()
    assert [k for k, in found] == sorted(words, key=str.lower) and ranked == [500]
    connection.close()


def test_many_sorts_at_once():
    connection = sqpyte.connect(':memory:')
    connection.create_collation('mine', mine)
    sql = ('WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT hex(i % 40) AS h, i '
           'FROM n ORDER BY h COLLATE mine')
    expected = connection.execute(sql).fetchall()
    cursors = [connection.execute(sql) for _ in range(5)]
    assert list(zip(*cursors)) == [(row,) * 5 for row in expected]


@pytest.mark.parametrize('name', ['bool', 'first', 'of a subclass'])
def test_what_is_no_order(name):
    """A collation that says whether its first text is behind, say, sorts in SQLite, which asks no more than that."""
    class Number(int):
        def __gt__(self, other):
            return False

        __lt__ = __gt__

    collations = {'bool': lambda x, y: x > y, 'first': lambda x, y: 1,
                  'of a subclass': lambda x, y: Number((x > y) - (x < y))}

    def action(side):
        connection = side.connect()
        connection.create_collation('c', collations[name])
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
        numbers = random.Random(7)
        connection.executemany('INSERT INTO t(b) VALUES(?)', [('x%d' % numbers.randrange(999),) for _ in range(3000)])
        return connection.execute('SELECT b, a FROM t ORDER BY b COLLATE c, a').fetchall()
    found = answers(action, ('C', 'inlined'))
    assert found['C'] == found['inlined']
    if name != 'first':
        assert found['C'] == sorted(found['C'])
