"""Connections with `detect_types`: queries are inlined whose columns have no converter."""
import sqlite3
import sys

import pytest

import sqpyte
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import compare, planned

QUERIES = [
    'SELECT a, b FROM t', 'SELECT f(a) FROM t WHERE f(a) > 3', 'SELECT a, d FROM t', 'SELECT f(a), d FROM t',
    "SELECT a AS 'a [pair]', b FROM t", "SELECT f(a) AS 'x [pair]' FROM t", 'SELECT count(*), max(d) FROM t',
    'SELECT d FROM t WHERE a = 5', 'SELECT b FROM t WHERE a = 5', 'SELECT DISTINCT f(a), d FROM t']


def pair(data):
    """A converter."""
    return 'pair', data


@pytest.fixture(autouse=True)
def converters():
    """Both modules have a converter of the type `pair`."""
    for module in (sqlite3, sqpyte):
        module.register_converter('pair', pair)
    yield
    for module in (sqlite3, sqpyte):
        del module.converters['PAIR']


def filled(side):
    """A connection that detects types, with a table that has a column of a type with a converter."""
    connection = side.connect(detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, d pair)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [(i, 'b%d' % i, 'd%d' % i) for i in range(200)])
    connection.create_function('f', 1, lambda value: value + 1)
    return connection


@pytest.mark.parametrize('query', QUERIES)
def test_queries(query):
    def action(side):
        connection = filled(side)
        return [connection.execute(query).fetchall() for _ in range(3)]
    converts = 'd FROM' in query or 'pair' in query
    compare(action, inlined=not converts and 't WHERE a' not in query and 'count' not in query)


@pytest.mark.parametrize('query', ['SELECT a, b, d FROM t', 'SELECT d FROM t WHERE a = 5', 'SELECT f(a), d FROM t',
                                   'SELECT * FROM t WHERE a > 4'])
@pytest.mark.parametrize('declared', ['d pair', 'd', 'd TEXT', 'd pair, e pair'])
def test_the_columns_type_changes(query, declared):
    """SQLite compiles the cached statement again when it is run."""
    def action(side):
        connection = filled(side)
        found = [connection.execute(query).fetchall()[:3]]
        for columns in (declared, 'd pair', 'd blob', declared):
            connection.executescript('''
                DROP TABLE t; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, %s);
                INSERT INTO t(a, b, d) VALUES(5, 'five', 'd5'), (6, 'six', NULL), (7, 'seven', 7)''' % columns)
            for _ in range(2):
                found.append(outcome(connection.execute(query).fetchall))
        return found
    compare(action, inlined=False)


def test_a_converter_comes_and_goes():
    def action(side):
        connection = filled(side)
        found = []
        for _ in range(3):
            side.module.register_converter('other', pair)
            query = "SELECT f(a) AS 'a [other]', b FROM t WHERE a < 9"
            found.append(connection.execute(query).fetchall())
            cursor = connection.execute(query)
            del side.module.converters['OTHER']
            found += [cursor.fetchall(), connection.execute(query).fetchall()]
        return found
    compare(action, oracle='C' if sys.implementation.name == 'pypy' else 'sqlite3')    # PyPy's raises KeyError


def test_explain_says_which_are():
    with planned('inlined'):
        connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_DECLTYPES)
        connection.execute('CREATE TABLE t(a, d pair)')
        connection.executemany('INSERT INTO t VALUES(?, 2)', [(i,) for i in range(50)])
        for _ in range(2):
            assert sqpyte.explain(connection, 'SELECT a FROM t')[0].tier == 'inliner'
            plan, = sqpyte.explain(connection, 'SELECT a, d FROM t')
            assert plan.reason.endswith('not inlined: texts or columns are converted by the program')
            connection.execute('SELECT a FROM t').fetchall()
            connection.execute('SELECT a, d FROM t').fetchall()
        connection.close()


@pytest.mark.parametrize('sql', ['', '-- nothing', ';'])
def test_empty_statements(sql):
    connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_DECLTYPES)
    assert connection.execute(sql).fetchall() == []


def test_a_column_of_numbers_comes():
    """The statement is compiled again, and returns one row, whose new column has a converter of what isn't a text."""
    query = 'SELECT * FROM t WHERE a = 5'

    def action(side):
        connection = side.connect(detect_types=side.module.PARSE_DECLTYPES)     # PyPy's has other numbers
        connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
        connection.execute('INSERT INTO t VALUES(5, 6)')
        found = [connection.execute(query).fetchall()]
        connection.execute('ALTER TABLE t ADD COLUMN c pair DEFAULT 7.25')
        return found + [connection.execute(query).fetchall() for _ in range(2)]
    assert compare(action, inlined=False, oracle='C')[1:] == [[(5, 6, ('pair', b'7.25'))]] * 2
