"""Loops that are inlined on a connection that several threads use: whoever takes a turn has its lock."""
import contextlib
import threading

import pytest

import sqpyte
from tests.at_once import at_once
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Sum, compare, planned

ROWS = 300
QUERIES = {
    'rows': 'SELECT a, b FROM t WHERE a >= 3',
    'function': 'SELECT f(a), b FROM t WHERE f(a) >= 3',
    'join': 'SELECT f(x.a), y.b FROM t AS x JOIN t AS y ON y.a = x.a',
    'sorted': 'SELECT f(a), b FROM t ORDER BY b, a',
    'filter': 'SELECT x.a, y.b FROM t AS x CROSS JOIN t AS y ON y.a = x.a WHERE f(x.a) % 5',
    'aggregate': 'SELECT a % 100, total_of(a), count(*) FROM t GROUP BY a % 100',
    'window': 'SELECT a, total_of(a) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t',
}


def filled(connect=sqpyte.connect):
    """A connection for any thread, which `connect` opens, with a table and functions."""
    connection = connect(':memory:', check_same_thread=False, isolation_level=None)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 'text %d' % (i % 7)) for i in range(ROWS)])
    connection.create_function('f', 1, lambda value: value + 1)
    connection.create_window_function('total_of', 1, Sum)
    return connection


def in_thread(call, *arguments):
    """The outcome of a call in another thread, rows in place of a cursor."""
    found = []

    def run():
        result = outcome(call, *arguments)
        found.append(result if result is None or type(result) in (str, int) else type(result).__name__)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), 'it hangs'
    return found[0]


DEEDS = {
    'insert': lambda c: c.execute("INSERT INTO t VALUES(1000, 'new')"),
    'update': lambda c: c.execute("UPDATE t SET b = 'changed' WHERE a > 5"),
    'delete': lambda c: c.execute('DELETE FROM t WHERE a % 2'),
    'drop': lambda c: c.execute('DROP TABLE t'),
    'alter': lambda c: c.execute('ALTER TABLE t ADD COLUMN d'),
    'transaction': lambda c: (c.execute('BEGIN'), c.execute('DELETE FROM t WHERE a > 200'), c.execute('ROLLBACK'))[0],
    'function': lambda c: c.create_function('f', 1, lambda value: -value),
    'no function': lambda c: c.create_function('f', 1, None),
    'interrupt': lambda c: c.interrupt(),
    'text factory': lambda c: setattr(c, 'text_factory', bytes),
    'trace': lambda c: c.set_trace_callback(lambda sql: None),
    'progress': lambda c: c.set_progress_handler(lambda: 0, 100),
    'limit': lambda c: c.setlimit(sqpyte.SQLITE_LIMIT_LENGTH, 50000),
    'read': lambda c: c.execute('SELECT sum(f(a)) FROM t').fetchone()[0],
    'serialize': lambda c: c.serialize(),
    'close': lambda c: c.close(),
}


@pytest.mark.parametrize('deed', list(DEEDS))
@pytest.mark.parametrize('kind', list(QUERIES))
def test_another_thread_between_two_rows(kind, deed):
    def action(side):
        found = []
        for count in (1, 2, 40):
            connection = filled(side.connect)
            cursor = connection.execute(QUERIES[kind])
            rows = [cursor.fetchone() for _ in range(count)]
            found += [rows, in_thread(DEEDS[deed], connection), outcome(cursor.fetchall)]
        return found
    compare(action, inlined=kind != 'sorted', oracle='C')


@pytest.mark.parametrize('deed', ['interrupt', 'text factory'])
@pytest.mark.parametrize('shared', [False, True])
def test_another_thread_within_a_row(deed, shared):
    """What waits for nobody in SQLite, done while a function is being called."""
    def action(side):
        connection = side.connect(check_same_thread=not shared)
        connection.execute('CREATE TABLE t(a, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 'text %d' % i) for i in range(ROWS)])
        done = []

        def function(value):
            if value == 50:
                done.append(in_thread(DEEDS[deed], connection))
            return value
        connection.create_function('f', 1, function)
        rows = outcome(lambda: [row for row in connection.execute('SELECT f(a), b FROM t')])
        return rows, done, connection.execute("SELECT 'x'").fetchone()
    compare(action, oracle='C')


def read(connection, number, rounds):
    """Read and change a table of one's own; what was wrong (list)."""
    name = 'own%d' % number
    connection.execute('CREATE TABLE %s(a INTEGER PRIMARY KEY, b)' % name)
    connection.executemany('INSERT INTO %s VALUES(?, ?)' % name, [(i, str(i)) for i in range(ROWS)])
    wrong = []
    for k in range(rounds):
        for query, expected in (
                ('SELECT a, b FROM %s', [(i, str(i)) for i in range(k, ROWS)]),
                ('SELECT f(a), b FROM %s WHERE f(a) > 0', [(i + 1, str(i)) for i in range(k, ROWS)]),
                ('SELECT x.a, f(y.a) FROM %s AS x JOIN t AS y ON y.a = x.a', [(i, i + 1) for i in range(k, ROWS)]),
                ('SELECT total_of(a) FROM %s', [(sum(range(k, ROWS)),)])):
            rows = connection.execute(query % name).fetchall()
            if rows != expected:
                wrong.append((query, k, len(rows), rows[:1]))
        if connection.execute('DELETE FROM %s WHERE a = ?' % name, (k,)).rowcount != 1:
            wrong.append(k)
    return wrong


@pytest.mark.parametrize('planner', ['inlined', 'C'])
def test_threads_read_and_write(restless, planner):
    with planned(planner), contextlib.closing(filled()) as connection:
        assert at_once(lambda number: read(connection, number, 12), 4) == [[]] * 4


def test_threads_fetch_from_one_cursor(restless):
    with planned('inlined'), contextlib.closing(filled()) as connection:
        for query in ('SELECT a FROM t', 'SELECT f(a) - 1 FROM t',
                      'SELECT x.a FROM t AS x JOIN t AS y ON y.a = f(x.a) - 1'):
            cursor = connection.execute(query)
            found = [a for part in at_once(lambda _: [a for a, in iter(cursor.fetchone, None)], 4) for a in part]
            assert sorted(found) == list(range(ROWS))


def test_backups_meanwhile(restless):
    """Of what others read and write, and into it: each copy is whole."""
    with planned('inlined'), contextlib.closing(filled()) as connection:
        def work(number):
            if number:
                return read(connection, number, 8)
            wrong = []
            for _ in range(8):
                copy = sqpyte.connect(':memory:', check_same_thread=False)
                connection.backup(copy, pages=2, sleep=0)
                rows = copy.execute('SELECT a, b FROM t').fetchall()
                if rows != [(i, 'text %d' % (i % 7)) for i in range(ROWS)]:
                    wrong.append(len(rows))
                with contextlib.closing(sqpyte.connect(':memory:')) as other:
                    other.execute('CREATE TABLE t(a)')
                    other.executemany('INSERT INTO t VALUES(?)', [(-i,) for i in range(ROWS)])
                    other.commit()
                    cursor = copy.execute('SELECT a FROM t')
                    cursor.fetchone()
                    cursor.close()
                    other.backup(copy)
                if copy.execute('SELECT sum(a) FROM t').fetchone() != (-sum(range(ROWS)),):
                    wrong.append('target')
                copy.close()
            return wrong
        assert at_once(work, 3) == [[]] * 3


def test_it_is_inlined():
    with planned('inlined'), contextlib.closing(filled()) as connection:
        connection.execute(QUERIES['function']).fetchall()
        assert sqpyte.explain(connection, QUERIES['function'])[0].tier == 'inliner'
