"""Results of correlated subqueries that are kept (memoize.c): when, and never an old one."""

import os
import sqlite3
import subprocess
import sys

import pytest

import sqpyte

ROWS = 3000


def fill(connection):
    """Make tables whose values come again: t's rows have 1, 7 or 600 different ones."""
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c TEXT COLLATE NOCASE)')
    connection.execute('CREATE TABLE u(k, v)')
    connection.execute('CREATE INDEX u_k ON u(k)')
    kinds = [None, 1, 1.0, '1', b'1', -0.0, 0, 'a', 'A', 2 ** 62, 'x' * 600]
    connection.executemany('INSERT INTO t VALUES(?, ?, ?, ?)', (
        (i, kinds[i % len(kinds)], i % 600, 'aA'[i % 2] + str(i // 2 % 4)) for i in range(ROWS)))
    connection.executemany('INSERT INTO u VALUES(?, ?)', (
        (kinds[i % 9] if i % 3 else i % 700, i % 13) for i in range(900)))
    connection.commit()


@pytest.fixture
def connections():
    """Stock and ours, with the same rows."""
    made = sqlite3.connect(':memory:'), sqpyte.connect(':memory:')
    for connection in made:
        fill(connection)
    return made


def memoizes(connection, sql):
    """How many Memoizes that keep something the program of `sql` has."""
    return sum(row[1] == 'Memoize' and int(row[6]) > 0 for row in connection.execute('EXPLAIN ' + sql))


KEPT = [
    'SELECT id, (SELECT count(*) FROM u WHERE u.k = t.a) FROM t',
    'SELECT id, (SELECT group_concat(u.rowid) FROM u WHERE u.k IS t.a AND u.v < 3) FROM t',
    'SELECT id, typeof((SELECT t.a FROM u LIMIT 1)), (SELECT t.a FROM u LIMIT 1) FROM t',
    'SELECT id, (SELECT sum(v) FROM u WHERE k = t.b) FROM t',
    'SELECT id, (SELECT max(v) FROM u WHERE k > t.b AND v < t.id % 4) FROM t WHERE id < 300',
    'SELECT id, NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.c OR u.k = t.b) FROM t',
    'SELECT id, (SELECT count(*) FROM u WHERE k < t.c) FROM t',
    'SELECT id FROM t WHERE (SELECT min(k), max(v) FROM u WHERE k = t.b) > (3, 2)',
    'SELECT id, (SELECT count(*) FROM u WHERE v = (SELECT min(x.v) FROM u AS x WHERE x.k = t.b)) FROM t',
    'SELECT id, (SELECT v FROM u WHERE k = t.b UNION SELECT 5 FROM u WHERE t.id > 0 ORDER BY 1) FROM t',
    'SELECT a, (SELECT zeroblob(3) || sum(v) FROM u WHERE k = t.a) FROM t',
]


def test_a_virtual_column_is_not_computed_for_a_key():
    """It may fail, where the subquery doesn't read it."""
    rows = []
    for connection in (sqlite3.connect(':memory:'), sqpyte.connect(':memory:')):
        connection.execute('CREATE TABLE t(a, s AS (a + 1) STORED)')
        connection.execute('INSERT INTO t VALUES(-9223372036854775808), (3)')
        connection.execute('ALTER TABLE t ADD COLUMN g AS (abs(a))')
        connection.execute('CREATE TABLE u(x, y)')
        connection.executemany('INSERT INTO u VALUES(?, ?)', [(i, i) for i in range(9)])
        rows.append(connection.execute(
            'SELECT a, (SELECT count(*) FROM u WHERE x = t.a AND y = t.g) FROM t').fetchall())
    assert rows[0] == rows[1] == [(-9223372036854775808, 0), (3, 1)]
    assert memoizes(connection, 'SELECT (SELECT count(*) FROM u WHERE x = t.a AND y = t.g) FROM t') == 0
    assert memoizes(connection, 'SELECT (SELECT count(*) FROM u WHERE x = t.a AND y = t.s) FROM t') == 1


def test_a_column_that_a_comparison_fixes():
    """It is a constant in some places, and the column, whose type may differ, in others."""
    rows = []
    for connection in (sqlite3.connect(':memory:'), sqpyte.connect(':memory:')):
        connection.executescript('CREATE TABLE o(id INTEGER PRIMARY KEY, a); CREATE TABLE t(x);'
                                 'INSERT INTO t VALUES(5); INSERT INTO o(a) VALUES(5), (5.0), (5), (5.0)')
        rows.append([connection.execute('SELECT id, a FROM o WHERE a = 5 AND ' + sql).fetchall() for sql in (
            "(SELECT count(*) FROM t WHERE t.x = o.a AND typeof(o.a) = 'real') = 1",
            "(SELECT (t.x = o.a) || typeof(o.a) FROM t LIMIT 1) = '1real'",
            "(SELECT max(t.x = o.a) || quote(o.a) FROM t) > '15.'")])
    assert rows[0] == rows[1] and rows[0][0] == [(2, 5.0), (4, 5.0)]


@pytest.mark.parametrize('sql', KEPT)
def test_rows_are_stocks(connections, sql):
    stock, ours = connections
    assert memoizes(ours, sql) >= 1
    expected = stock.execute(sql).fetchall()
    for _ in range(2):
        found = ours.execute(sql).fetchall()
        assert found == expected
        assert [[type(value) for value in row] for row in found] == [
            [type(value) for value in row] for row in expected]


def test_a_statement_that_is_run_again_and_again(connections):
    """Whether it pays is known from earlier runs; the results are of this one."""
    sql = 'SELECT id, (SELECT count(*) FROM u WHERE v = t.b %% 13 AND u.rowid > ?1) FROM t WHERE id < %d'
    for run in range(300):
        few, many = [[connection.execute(sql % count, (run % 40,)).fetchall() for connection in connections]
                     for count in (5, 400 if run % 50 == 0 else 1)]
        assert few[0] == few[1] and many[0] == many[1]
        for connection in connections:
            connection.execute('UPDATE u SET v = v + 1 WHERE rowid = ?', (run + 1,))


COMPUTED = [
    'SELECT id, (SELECT count(*) FROM u WHERE k = t.a AND abs(random()) > -1) FROM t',
    "SELECT id, (SELECT count(*) FROM u WHERE k = t.a AND date('now') > '2000') FROM t",
    'SELECT id, (SELECT sum(seen(v)) FROM u WHERE k = t.b) FROM t WHERE id < 1300',
    'SELECT id, (SELECT count(*) FROM pragma_table_info(t.c)) FROM t WHERE id < 9',
    'SELECT id, (SELECT count(*) FROM (SELECT 1 FROM u) WHERE changes() = t.b) FROM t WHERE id < 9',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) '
    'SELECT id, (SELECT count(*) FROM r WHERE n < t.b) FROM t WHERE id < 9',
    'SELECT (SELECT t.a + 1) FROM t',
]


@pytest.mark.parametrize('sql', COMPUTED)
def test_what_may_change_is_computed_each_time(connections, sql):
    results = []
    for connection in connections:
        calls = []
        connection.create_function('seen', 1, lambda v, calls=calls: calls.append(v) or v,
                                   deterministic=True)
        results.append((connection.execute(sql).fetchall(), calls))
    assert memoizes(connections[1], sql) == 0
    assert results[0] == results[1]


SEEN = [
    'SELECT (SELECT count(*) FROM w WHERE w.a = t.c) FROM t',
    'SELECT (SELECT count(*) FROM w WHERE w.b = t.a COLLATE mine) FROM t',
    'SELECT (SELECT w.a FROM w WHERE w.b >= t.b ORDER BY w.a DESC LIMIT 1) FROM t',
    'SELECT (SELECT max(w.a) FROM w WHERE w.b < t.b) FROM t',
    'SELECT (SELECT count(DISTINCT w.a) FROM w WHERE w.b < t.b) FROM t',
    'SELECT (SELECT sum(n) FROM (SELECT count(*) AS n FROM w WHERE w.b < t.b GROUP BY w.a)) FROM t',
    'SELECT (SELECT nullif(w.a, t.c) FROM w LIMIT 1) FROM t',
    "SELECT t.c IN (SELECT x.a FROM w AS x), "
    "(SELECT count(*) FROM w WHERE w.b < t.b AND 'a' IN (SELECT x.a FROM w AS x)) FROM t",
    'SELECT (SELECT sum(w.g) FROM w WHERE w.b < t.b) FROM t',
]


@pytest.mark.parametrize('sql', SEEN)
def test_calls_of_collations_and_of_virtual_columns_are_stocks(sql):
    def text(value):
        return value.decode() if isinstance(value, bytes) else value        # PyPy's sqlite3 has bytes
    results = []
    for module in (sqlite3, sqpyte):
        calls = []
        connection = module.connect(':memory:')
        connection.create_collation('mine', lambda x, y, calls=calls: (
            calls.append((text(x), text(y))) or (x > y) - (x < y)))
        connection.create_function('seen', 1, lambda v, calls=calls: calls.append(v) or v, deterministic=True)
        fill(connection)
        connection.execute('CREATE TABLE w(a TEXT COLLATE mine, b, g AS (seen(b)))')
        connection.executemany('INSERT INTO w(a, b) VALUES(?, ?)', [('b', 1), ('a', 2), ('B', 70), ('a', 'a')])
        del calls[:]
        results.append((connection.execute(sql + ' WHERE id < 700').fetchall(), calls))
    assert memoizes(connection, sql) == 0
    assert results[0] == results[1]


CHANGES = ['UPDATE u SET v = v + 1', 'DELETE FROM u WHERE rowid % 7 = 3', 'INSERT INTO u VALUES(1, 100)',
           'SAVEPOINT s', 'UPDATE u SET k = 1, v = 1000', 'ROLLBACK TO s', 'RELEASE s',
           'DELETE FROM u']


@pytest.mark.parametrize('sql', KEPT)
def test_what_is_written_between_rows_is_seen(connections, sql):
    results = []
    for connection in connections:
        rows = []
        for i, row in enumerate(connection.execute(sql)):
            rows.append(row)
            if i % 40 == 25:
                connection.execute(CHANGES[i // 40 % len(CHANGES)])
        results.append(rows)
    assert results[0] == results[1]


def small(connection):
    """Tables whose subquery gives 100, for each of 50 rows with one value."""
    connection.executescript('CREATE TABLE t(k); CREATE TABLE u(k, v);')
    connection.executemany('INSERT INTO t VALUES(?)', [(1,)] * 50)
    connection.execute('INSERT INTO u VALUES(1, 100)')
    return connection


def changed_between_rows(connection, *changes):
    """The rows of a query of small's tables, these statements run after the fifth; an error ends them."""
    cursor = connection.execute('SELECT (SELECT sum(v) FROM u WHERE u.k = t.k) FROM t')
    rows = [cursor.fetchone() for _ in range(5)]
    try:
        for sql in changes:
            connection.execute(sql)
        rows += cursor.fetchall()
    except (sqlite3.Error, sqpyte.Error) as error:
        rows.append(str(error))
    return rows


@pytest.mark.parametrize('written', [0, 1, 2, 3, 4, 5, 8, 13])
@pytest.mark.parametrize('goes', ['PRAGMA temp_store = memory', 'DETACH other'])
def test_a_database_that_goes_away_hides_no_change(written, goes):
    results = []
    for module in (sqlite3, sqpyte):
        connection = module.connect(':memory:', isolation_level=None)
        small(connection)
        connection.execute("ATTACH ':memory:' AS other")
        for name in ('temp.x', 'other.x'):
            connection.execute('CREATE TABLE %s(a)' % name)
            for _ in range(20):
                connection.execute('INSERT INTO %s VALUES(1)' % name)
        results.append(changed_between_rows(connection, goes, *['UPDATE u SET v = v + 1'] * written))
    assert results[0] == results[1]


@pytest.mark.parametrize('sql', [
    'PRAGMA reverse_unordered_selects = 1', 'PRAGMA foreign_keys = 1', 'PRAGMA case_sensitive_like = 1',
    'CREATE TABLE z(x)', 'PRAGMA recursive_triggers = 1', 'ANALYZE'])
def test_a_statement_that_has_expired_is_told_so(sql):
    """By the subquery's next OpenRead, so results that are kept end."""
    results = []
    for module in (sqlite3, sqpyte):
        connection = small(module.connect(':memory:', isolation_level=None))
        results.append(changed_between_rows(connection, sql))
    assert results[0] == results[1]


@pytest.mark.parametrize('sql', [
    'UPDATE u SET v = (SELECT count(x.v) FROM u AS x WHERE x.k IS u.k)',
    'INSERT INTO u SELECT a, (SELECT count(*) FROM u WHERE k = t.a) FROM t WHERE id < 200',
    'DELETE FROM u WHERE v < (SELECT avg(x.v) FROM u AS x WHERE x.k = u.k)',
    'UPDATE u SET v = seen(v) WHERE (SELECT count(*) FROM u AS x WHERE x.k = u.k) > 3',
])
def test_statements_that_write(connections, sql):
    results = []
    for connection in connections:
        connection.create_function('seen', 1, lambda v: v + 1)
        connection.execute(sql)
        connection.execute('CREATE TRIGGER tr AFTER INSERT ON u BEGIN UPDATE t SET b = '
                           '(SELECT count(*) FROM u WHERE k = new.k) WHERE id = new.v; END')
        connection.execute('INSERT INTO u SELECT k, v FROM u LIMIT 40')
        results.append([connection.execute('SELECT * FROM %s ORDER BY rowid' % name).fetchall()
                        for name in ('t', 'u')])
    assert results[0] == results[1]


def test_a_function_that_writes_between_evaluations(connections):
    results = []
    for connection in connections:
        connection.create_function(
            'bump', 1, lambda i, c=connection: c.execute('UPDATE u SET v = v + 1 WHERE k = 1').rowcount)
        results.append(connection.execute(
            'SELECT id, bump(id), (SELECT sum(v) FROM u WHERE k = t.a) FROM t WHERE id < 60').fetchall())
    assert results[0] == results[1]


_STEPS = '''
import sys
from tests.differential.sessions import capi
from pypy_module.ffi import library
connection = capi.Connection(capi.Library(library.path))
connection.execute('CREATE TABLE t(a)')
connection.execute('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200) '
                   'INSERT INTO t SELECT n % 9 FROM r')
statement = connection.prepare('SELECT (SELECT sum(x.a) FROM t AS x WHERE x.a > t.a) FROM t')
found = capi.ffi.new('int[2]')
while statement.step():
    if sys.argv[1] == 'measured':
        connection.c.sqlite3_db_status(connection.db, 3, found, found + 1, 0)
        connection.c.sqlite3_stmt_status(statement.statement, 99, 0)
        assert found[0] > 1000
print(connection.c.sqlite3_stmt_status(statement.statement, 4, 0))
'''


def test_measuring_a_statements_memory_forgets_nothing():
    """It goes the way of giving it back, without giving it back."""
    room = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    alone, measured = [int(subprocess.run([sys.executable, '-c', _STEPS, how], cwd=room, stdout=subprocess.PIPE,
                                          check=True).stdout) for how in ('alone', 'measured')]
    assert measured == alone < 20000


def test_it_can_be_switched_off():
    """SQPYTE_WITHOUT=memoize, read when the library is loaded."""
    code = ("import sqpyte; c = sqpyte.connect(':memory:'); c.execute('CREATE TABLE t(a)'); "
            "print([r[1] for r in c.execute('EXPLAIN SELECT (SELECT count(*) FROM t x WHERE x.a = t.a) "
            "FROM t')].count('Memoize'))")
    for without, expected in (('', '1'), ('memoize', '0')):
        done = subprocess.run([sys.executable, '-c', code], env=dict(os.environ, SQPYTE_WITHOUT=without),
                              stdout=subprocess.PIPE, check=True)
        assert done.stdout.decode().strip() == expected
