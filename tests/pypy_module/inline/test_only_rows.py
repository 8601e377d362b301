"""A query that can return one row is over when `execute` returns, whoever has computed the row."""
import pytest

import sqpyte
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import Sum, compare, planned_by_default

QUERIES = [
    'SELECT total_of(a) FROM t', 'SELECT total_of(a) FROM t LIMIT 3', 'SELECT 1, total_of(f(a)) FROM t WHERE f(a) > 3',
    'SELECT total_of(a) FILTER (WHERE f(a) < 9), max(b) FROM t', 'SELECT count(*) FROM t WHERE f(a) % 2',
    'SELECT max(f(a)), min(b) FROM t', "SELECT total_of(t.a) || 'x' FROM t JOIN t AS u ON u.a = t.b",
]


def filled(side, **keywords):
    connection = side.connect(**keywords)
    connection.create_function('f', 1, lambda value: value)
    connection.create_aggregate('total_of', 1, Sum)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 500 - i) for i in range(300)])
    return connection


@pytest.mark.parametrize('query', QUERIES)
def test_nothing_is_locked(query):
    def action(side):
        connection = filled(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        cursor = connection.execute(query)
        found = [outcome(other.execute, 'INSERT INTO t VALUES(1000, 1)').__class__,
                 outcome(connection.create_function, 'f', 1, len),
                 outcome(connection.execute, 'DROP TABLE t').__class__]
        return found, cursor.fetchall(), cursor.fetchall(), connection.in_transaction
    compare(action, oracle='C')


@pytest.mark.parametrize('query', QUERIES)
def test_nothing_is_locked_whenever_it_is_taken_over(query, path, monkeypatch):
    """Or is found not to be worth it, in a run of its own."""
    planned_by_default(monkeypatch, 1500, LONG=200)
    connection = sqpyte.connect(path)
    connection.create_function('f', 1, lambda value: value)
    connection.create_aggregate('total_of', 1, Sum)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 500 - i) for i in range(300)])
    connection.execute('CREATE TABLE w(a)')
    connection.commit()
    other = sqpyte.connect(path, isolation_level=None, timeout=0)
    for _ in range(20):
        cursor = connection.execute(query)
        other.execute('INSERT INTO w VALUES(1)')
        assert len(cursor.fetchall()) == 1
    connection.close()
    other.close()


@pytest.mark.parametrize('query', QUERIES)
def test_the_next_execute(query):
    """The row is handed out by any fetch, and not any more after the next statement."""
    def action(side):
        connection = filled(side)
        cursor = connection.cursor()
        found = [list(cursor.execute(query)), cursor.execute(query).fetchmany(5), cursor.execute(query).fetchone()]
        cursor.execute(query)
        cursor.execute('SELECT 5')
        return found, cursor.fetchall(), cursor.description, cursor.rowcount
    compare(action)


class Failing(Sum):
    """Its result can't be had."""

    def finalize(self):
        raise ValueError


def test_errors():
    def action(side):
        connection = filled(side)
        connection.create_aggregate('failing', 1, Failing)
        cursor = connection.cursor()
        return [outcome(cursor.execute, query).__class__ is str or cursor.fetchall() for query in (
            'SELECT failing(a) FROM t', 'SELECT total_of(abs(a - 9223372036854775807 - 1)) FROM t',
            "SELECT CAST(x'ff' AS TEXT) || total_of(a) FROM t", 'SELECT total_of(a) FROM t')]
    compare(action, oracle='C')


@pytest.mark.parametrize('query', ["SELECT CAST(x'ff' AS TEXT), total_of(a) FROM t",
                                   "SELECT CAST(x'ff' AS TEXT), total_of(t.a) FROM t JOIN t AS u ON u.a = t.b"])
def test_a_text_that_is_not_utf_8(query):
    """It is told of by `execute` before Python 3.11, later by the fetch; nothing is locked either way."""
    def action(side):
        connection = filled(side)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query) is cursor, outcome(connection.execute, 'DROP TABLE t').__class__]
        return found, outcome(cursor.fetchone), outcome(cursor.fetchall)
    compare(action, oracle='C')
