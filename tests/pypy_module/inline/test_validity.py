"""Rows computed ahead of their caller, and a database that changes meanwhile (c_engine/core/validity.h).

What has run ahead is rolled back before a change, whoever makes it; and where that has been left out, as
these tests do by force, the stamp tells: no stale row is handed out.
"""

import contextlib

import pytest
from c_engine.generated import layout

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.ffi.library import NULL, address_of, lib
from pypy_module.ffi.memory import BASE, WORDS
from tests.outcome import outcome
from tests.pypy_module.dbapi.connections.test_functions import Sum
from tests.pypy_module.inline.inlining import Counter, compare, planned

ROWS = 3000
# One query for each road that a row takes.
QUERIES = {
    'page batch': 'SELECT id, v, s FROM t',
    'page batch, selected': 'SELECT id, v, s FROM t WHERE v >= 0',
    'page batch, a call': 'SELECT id, f(v), s FROM t',
    'row batch': 'SELECT t.id, u.v, t.s FROM t CROSS JOIN u ON u.id = t.id',
    'row batch, distinct': 'SELECT DISTINCT id, v, s FROM t',
    'row batch, backwards': 'SELECT id, v, s FROM t ORDER BY id DESC',
    'slice': 'SELECT t.id, f(u.v), t.s FROM t CROSS JOIN u ON u.id = t.id',
    'call log': 'SELECT id, w(v) OVER (ORDER BY id ROWS 2 PRECEDING), s FROM t',
    'sorted': 'SELECT id, v, s FROM t ORDER BY -id',
}


def filled(connection, rows=ROWS):
    """Make the tables and functions of QUERIES."""
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, v, s)')
    connection.execute('CREATE TABLE u(id INTEGER PRIMARY KEY, v)')
    connection.execute('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT %d) '
                       "INSERT INTO t SELECT n, 0, 'row-' || n FROM r" % rows)
    connection.execute('INSERT INTO u SELECT id, 0 FROM t')
    connection.create_function('f', 1, lambda value: value)
    if hasattr(connection, 'create_window_function'):
        connection.create_window_function('w', 1, Sum)
    return connection


@pytest.fixture(params=list(QUERIES))
def query(request):
    """Each of QUERIES."""
    return QUERIES[request.param]


def test_a_fetch_inside_a_function_of_a_statement_that_writes(query):
    def action(side):
        found = []
        for write in ('UPDATE t SET v = g(id) WHERE id BETWEEN 100 AND 900',
                      'UPDATE u SET v = g(id) WHERE id BETWEEN 100 AND 900',
                      'DELETE FROM t WHERE id BETWEEN 100 AND 900 AND g(id) = 7'):
            connection = filled(side.connect())
            cursor = connection.execute(query)
            seen = [cursor.fetchone() for _ in range(90)]
            connection.create_function('g', 1, lambda value: seen.append(cursor.fetchone()) or 7)
            found.append(outcome(lambda: connection.execute(write).fetchall()))
            found += [outcome(cursor.fetchall), seen,
                      connection.execute('SELECT count(*), sum(v) FROM t').fetchone()]
        return found
    compare(action, oracle='C')


def test_a_fetch_inside_a_trace(query):
    def action(side):
        connection = filled(side.connect())
        cursor = connection.execute(query)
        seen = [cursor.fetchone() for _ in range(60)]
        connection.set_trace_callback(lambda sql: seen.append(cursor.fetchone()))
        for i in range(100):
            connection.execute('UPDATE t SET v = 7 WHERE id >= %d AND id <= %d' % (i * 3, i * 3 + 90))
        connection.set_trace_callback(None)
        return seen, cursor.fetchall()
    compare(action, oracle='C')


def test_incremental_vacuum_is_stepped_between_rows(query):
    """It writes at each of its steps, and began before the query."""
    def action(side):
        connection = side.connect()
        connection.execute('PRAGMA auto_vacuum = 2')
        connection.execute('CREATE TABLE junk(x)')
        connection.execute('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 300) '
                           'INSERT INTO junk SELECT zeroblob(3000) FROM r')
        filled(connection)
        connection.execute('DELETE FROM junk')
        vacuum = connection.execute('PRAGMA incremental_vacuum')
        vacuum.fetchone()
        cursor = connection.execute(query)
        seen = [cursor.fetchone() for _ in range(100)]
        for _ in range(200):
            vacuum.fetchone()
            seen.append(cursor.fetchone())
        return seen + cursor.fetchall(), connection.execute('PRAGMA integrity_check').fetchall()
    compare(action, oracle='C', inlined=False)


def test_a_function_of_a_statement_that_writes_runs_queries(query):
    """Nothing runs ahead while a statement that writes is being stepped."""
    with planned('inlined'):
        connection = filled(sqpyte.connect(':memory:', isolation_level=None))
        before = Counter.started
        connection.create_function('g', 1, lambda _: len(connection.execute(query).fetchmany(30)))
        connection.execute('UPDATE t SET v = g(id) WHERE id < 5')
        assert Counter.started == before
        assert connection.execute('SELECT v FROM t WHERE id < 6').fetchall() == [(30,)] * 4 + [(0,)]
        connection.execute(query).fetchall()
        assert Counter.started > before


@contextlib.contextmanager
def silent(connection):
    """Within it nobody has anything rolled back before a change."""
    from pypy_module.inline import manager
    lib.sqpyte_roll_back_by(session_of(connection).db, NULL)
    runners, session_of(connection).runners = session_of(connection).runners, []
    yield
    session_of(connection).runners += [runner for runner in runners if runner not in session_of(connection).runners]
    lib.sqpyte_roll_back_by(session_of(connection).db, manager._roll_back)


def changes(connection, sql):
    """Run a statement behind the module's back."""
    from pypy_module.ffi.library import ffi
    statement = ffi.new('sqlite3_stmt *[1]')
    assert lib.sqlite3_prepare_v2(session_of(connection).db, sql.encode(), -1, statement, NULL) == 0
    lib.sqlite3_step(statement[0])
    assert lib.sqlite3_finalize(statement[0]) == 0


WRITES = ["UPDATE t SET v = 7, s = 'changed-' || s", 'UPDATE u SET v = 7', 'DELETE FROM t WHERE id > 50',
          'DELETE FROM t WHERE id % 2', 'UPDATE t SET id = id + 100000 WHERE id < 200', 'DELETE FROM t',
          'INSERT INTO t SELECT id + 5000, 1, zeroblob(500) FROM t', 'PRAGMA user_version = 1']


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('rows', [1, 40, 41, 700])
def test_a_change_that_nobody_told_of(query, write, rows):
    """A page batch ends where it is, and its cursor goes on; all other roads fail: it is too late."""
    found = {}
    for name in ('C', 'inlined'):
        with planned(name):
            connection = filled(sqpyte.connect(':memory:', isolation_level=None))
            if rows in (40, 700):
                connection.execute('DELETE FROM t WHERE id % 7 = 3')    # rowids that aren't consecutive
            cursor = connection.execute(query)
            seen = [cursor.fetchone() for _ in range(rows)]
            with silent(connection):
                changes(connection, write)
                seen.append(outcome(cursor.fetchone))
            seen.append(outcome(cursor.fetchall))
            found[name] = seen
            cursor.close()
            connection.close()
    if found['inlined'] != found['C']:
        assert 'page' not in query
        given = [row for row in found['inlined'] if isinstance(row, tuple)]
        assert given == found['C'][:len(given)]
        assert 'execute the query again' in [row for row in found['inlined'] if isinstance(row, str)][0]
        assert query not in (QUERIES['page batch'], QUERIES['page batch, selected'],
                             QUERIES['page batch, a call'], QUERIES['sorted'])


def test_a_stamp_that_rises_for_nothing(query):
    """The rows are the same, or an error says that they may not be."""
    with planned('inlined'):
        connection = filled(sqpyte.connect(':memory:', isolation_level=None))
        expected = connection.execute(query).fetchall()
        at = (address_of(session_of(connection).db) + layout.sqlite3_nSqpyteStamp - BASE) >> 3
        cursor = connection.execute(query)
        seen = []
        try:
            for _ in range(len(expected)):
                seen.append(cursor.fetchone())
                WORDS[at] += 1
        except sqpyte.OperationalError as error:
            assert 'execute the query again' in str(error)
        else:
            assert seen == expected
        assert seen == expected[:len(seen)]


def test_the_stamp_never_falls():
    """Neither do databases that go away take anything from it."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    at = (address_of(session_of(connection).db) + layout.sqlite3_nSqpyteStamp - BASE) >> 3
    before = WORDS[at]
    for sql in ('CREATE TABLE t(x)', 'INSERT INTO t VALUES(1)', 'BEGIN', 'DELETE FROM t', 'SAVEPOINT a',
                'ROLLBACK TO a', 'ROLLBACK', 'CREATE TEMP TABLE x(y)', 'PRAGMA temp_store = memory',
                "ATTACH ':memory:' AS b",
                'CREATE TABLE b.c(d)', 'DETACH b', 'VACUUM', 'PRAGMA foreign_keys = 1'):
        connection.execute(sql).fetchall()
        assert WORDS[at] > before, sql
        before = WORDS[at]
    for change in (lambda: connection.set_authorizer(None), lambda: connection.set_trace_callback(None),
                   lambda: connection.set_progress_handler(lambda: 0, 100),
                   lambda: connection.setlimit(sqpyte.SQLITE_LIMIT_LENGTH, 10 ** 6)):
        change()
        assert WORDS[at] > before
        before = WORDS[at]
    connection.execute('SELECT * FROM t').fetchall()
    assert WORDS[at] == before
