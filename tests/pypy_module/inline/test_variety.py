"""Rows whose columns' types vary: the same rows, and no path of PyPy's JIT for each combination of types."""

import random
import sqlite3
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.dbapi.statements import variety
from pypy_module.dbapi.statements.decoding import UNROLLED
from tests.pypy_module.inline.inlining import planned

VALUES = (None, 7, -2.5, 'text', b'blob', '', b'', 2 ** 40, 'na\u00efve')
# Rows of 12 columns, parameters and, with another text factory, rows again: as sqlite3 itself, some 50 bridges.
PROGRAM = '''
import random, pypyjit, sqpyte
random.seed(1)
connection = sqpyte.connect(':memory:')
connection.execute('CREATE TABLE t(%s)' % ', '.join('c%d' % i for i in range(12)))
for _ in range(30):
    connection.executemany('INSERT INTO t VALUES(%s)' % ','.join('?' * 12),
                           [[random.choice((1, None)) for _ in range(12)] for _ in range(500)])
for factory in [str] * 20 + [bytes] * 4:
    connection.text_factory = factory
    for row in connection.execute('SELECT * FROM t'):
        pass
print(pypyjit.get_stats_snapshot().counters['TOTAL_COMPILED_BRIDGES'])
'''


def table(module, count, seed):
    """Return a connection whose table t has 300 rows of `count` columns, of types at random, bound one by one."""
    choose = random.Random(seed).choice
    connection = module.connect(':memory:')
    connection.execute('CREATE TABLE t(%s)' % ', '.join(['c%d' % i for i in range(count)]))
    connection.executemany('INSERT INTO t VALUES(%s)' % ','.join('?' * count),
                           [[choose(VALUES) for _ in range(count)] for _ in range(300)])
    return connection


@pytest.mark.parametrize('factory', [None, bytes, len])
@pytest.mark.parametrize('count', [1, 2, 5, 16, 17, UNROLLED, UNROLLED + 1])
def test_rows_are_sqlite3s(count, factory):
    answers = []
    for module in (sqpyte, sqlite3):
        connection = table(module, count, seed=count)
        if factory is not None:
            connection.text_factory = factory
        answers.append([connection.execute('SELECT * FROM t').fetchall() for _ in range(3)])
    assert answers[0] == answers[1]


@pytest.mark.parametrize('count', [3, 9])
def test_rows_that_c_computes_ahead(count):
    """From an index: row batches."""
    query = 'SELECT * FROM t WHERE c0 >= -100 ORDER BY c0, rowid'
    answers = []
    for module in (sqpyte, sqlite3):
        connection = table(module, count, seed=count)
        connection.execute('CREATE INDEX i ON t(c0)')
        with planned('inlined'):
            answers.append([list(connection.execute(query)) for _ in range(3)])
    assert answers[0] == answers[1]


def test_explain_says_so():
    with planned('unhurried'):      # which is off under CPython, unless asked for
        connection = table(sqpyte, 9, seed=1)
        connection.execute('SELECT * FROM t').fetchall()
        assert 'the types of its columns vary from row to row' in str(sqpyte.explain(connection, 'SELECT * FROM t'))
        assert 'vary' not in str(sqpyte.explain(connection, 'SELECT c1 FROM t'))


@pytest.mark.skipif(sys.implementation.name != 'pypy', reason='it is about the JIT of PyPy')
def test_paths_are_few():
    done = subprocess.run([sys.executable, '-c', PROGRAM], stdout=subprocess.PIPE, check=True, timeout=300)
    assert int(done.stdout) < 150


def test_kinds_are_told_apart():
    """Of rows of NULLs and others in four columns all but a few have a bit of their own."""
    kinds = {sum([variety.weight(i, 5) for i in range(4) if n >> i & 1]) % variety.BITS for n in range(16)}
    assert len(kinds) > variety.MOST
