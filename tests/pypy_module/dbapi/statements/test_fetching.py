"""Lists of rows: all kinds of values, errors in the middle, what is left after them."""

import platform
import sys

import pytest

from tests.outcome import outcome
from tests.pypy_module.inline.inlining import answers

# Older versions, and PyPy, forget the rows after an error.
ORACLE = platform.python_implementation() == 'CPython' and sys.version_info >= (3, 13)
ALL = 'sqlite3', 'C', 'inlined'
SIZES = [0, 1, 2, 127, 128, 129, 300]
VALUES = [1, -2 ** 63, 2.5, None, 'ascii', '', 'ünïcode \U0001f600', b'', b'\xff\0', 'x' * 700, 'a\0b']


def compare(action):
    """The answer that all tiers and the newest CPython's sqlite3 give."""
    found = answers(action, ALL if ORACLE else ALL[1:])
    for answer in found.values():
        assert answer == found['C']
    return found['C']


def table(side, rows, columns=3, **keywords):
    """A connection with the table t of these rows."""
    connection = side.connect(**keywords)
    connection.execute('CREATE TABLE t(%s)' % ', '.join('c%d' % n for n in range(columns)))
    connection.executemany('INSERT INTO t VALUES(%s)' % ', '.join('?' * columns), rows)
    return connection


def mixed(count):
    """Rows (list) of three columns of all kinds of values."""
    return [(i, VALUES[i % len(VALUES)], VALUES[(i * 7 + i // 40) % len(VALUES)]) for i in range(count)]


@pytest.mark.parametrize('values', [[7], ['text'], ['ü'], [b'\xff'], VALUES])
def test_values(values):
    rows = [(i, values[i % len(values)], values[i // 50 % len(values)]) for i in range(400)]
    assert compare(lambda side: table(side, rows).execute('SELECT * FROM t').fetchall()) == rows


@pytest.mark.parametrize('size', SIZES)
def test_sizes(size):
    def action(side):
        cursor = table(side, mixed(700)).execute('SELECT * FROM t')
        found = [cursor.fetchone(), cursor.fetchmany(size), next(cursor), cursor.fetchmany(size),
                 cursor.fetchmany(), cursor.fetchall(), cursor.fetchall(), cursor.fetchone()]
        return found, cursor.rowcount
    compare(action)


@pytest.mark.parametrize('columns', [1, 2, 50, 51, 200])
def test_many_columns(columns):
    rows = [tuple(VALUES[(i + j) % 9] for j in range(columns)) for i in range(150)]
    assert compare(lambda side: table(side, rows, columns).execute(
        'SELECT * FROM t').fetchall()) == rows


def test_long_texts():
    """Longer than the buffer, and so long that a few fill it."""
    rows = [(i, 'y' * (size + i), 'ü' * i) for size in (1, 30000, 200000) for i in range(30)]
    assert compare(lambda side: table(side, rows).execute('SELECT * FROM t').fetchall()) == rows


BAD = [b'\xff', b'ok\x80', b'\xed\xa0\x80', b'\xc0\x80', b'\xf5\x80\x80\x80', b'\xe2\x82',
       b'\xf4\x90\x80\x80', b'\xe0\x9f\xbf', b'\xf0\x8f\xbf\xbf']
GOOD = [b'\xc2\x80', b'\xdf\xbf', b'\xe0\xa0\x80', b'\xed\x9f\xbf', b'\xee\x80\x80', b'\xef\xbf\xbf',
        b'\xf0\x90\x80\x80', b'\xf4\x8f\xbf\xbf']


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('at', [0, 1, 5, 130])
@pytest.mark.parametrize('bad', BAD)
def test_texts_that_are_not_utf_8(bad, at):
    """The row is named by the error, and stays: it can be had as bytes."""
    def action(side):
        connection = table(side, [(i, 'x', 'y') for i in range(300)])
        connection.execute('UPDATE t SET c1 = CAST(? AS TEXT) WHERE c0 = ?', (bad, at))
        cursor = connection.execute('SELECT * FROM t')
        found = [outcome(cursor.fetchmany, 10 + at), outcome(cursor.fetchall)]
        connection.text_factory = bytes
        return found + [cursor.fetchmany(3)]
    found = compare(action)
    assert 'Could not decode to UTF-8' in found[0]


def test_texts_that_are_just_utf_8():
    def action(side):
        connection = table(side, [(i, GOOD[i % len(GOOD)], b'') for i in range(300)])
        return connection.execute('SELECT CAST(c1 AS TEXT) FROM t').fetchall()
    assert set(compare(action)) == {(text.decode(),) for text in GOOD}


def test_utf_16():
    def action(side):
        connection = side.connect()
        connection.execute("PRAGMA encoding = 'UTF-16le'")
        connection.execute('CREATE TABLE t(a, b)')
        connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 'ü%d' % i) for i in range(300)])
        return connection.execute('SELECT * FROM t').fetchall()
    compare(action)


@pytest.mark.parametrize('at', [0, 1, 127, 128, 129, 299])
def test_errors(at):
    """An error at a row is raised in place of the list, and ends the statement."""
    def action(side):
        connection = table(side, [(-2 ** 63 if i == at else i, 0, 0) for i in range(300)])
        cursor = connection.cursor()
        found = [outcome(lambda: len(cursor.execute('SELECT abs(c0) FROM t').fetchall()))]
        found += [outcome(cursor.fetchall), connection.execute('SELECT count(*) FROM t').fetchall()]
        cursor = connection.cursor()
        found.append(outcome(lambda: cursor.execute('SELECT abs(c0) FROM t').fetchmany(200)))
        return found + [outcome(cursor.fetchmany, 50)]
    assert 'integer overflow' in compare(action)[0]


def test_what_returning_gives():
    def action(side):
        connection = table(side, mixed(300))
        cursor = connection.execute('UPDATE t SET c1 = c0 + 1 RETURNING c0, c1')
        return cursor.fetchmany(100), cursor.rowcount, cursor.fetchall(), cursor.rowcount
    found = answers(action, ('C',))['C']
    assert found[0] + found[2] == [(i, i + 1) for i in range(300)]
    assert found[3] == 300


def test_functions_are_called_once_for_each_row():
    def action(side):
        connection = table(side, mixed(300))
        calls = []
        connection.create_function('f', 1, lambda value: calls.append(value) or value)
        cursor = connection.execute('SELECT f(c0) FROM t')
        return cursor.fetchmany(130), list(calls), cursor.fetchall(), calls
    compare(action)


def test_a_function_interrupts():
    def action(side):
        connection = table(side, mixed(300))
        connection.create_function('f', 1, lambda value: connection.interrupt() if value == 150 else value)
        return [outcome(connection.execute('SELECT f(c0) FROM t').fetchall)]
    assert compare(action) == ['OperationalError: interrupted']


def test_a_collation_raises():
    def action(side):
        connection = table(side, mixed(300))
        calls = []

        def raising(x, y):
            calls.append(x)
            raise KeyError(x)
        connection.create_collation('raising', raising)
        cursor = connection.execute("SELECT c0 FROM t WHERE c0 < 100 OR 'a' < 'b' COLLATE raising")
        return outcome(cursor.fetchall), calls
    found = answers(action, ('C',))['C']
    assert found == ("KeyError: 'a'", ['a']) or found == ("KeyError: 'b'", ['b'])


def test_a_row_factory_may_write():
    def action(side):
        connection = table(side, mixed(300))

        def factory(cursor, row):
            connection.execute('DELETE FROM t WHERE c0 = ?', (row[0] + 10,))
            return row[0]
        cursor = connection.cursor()
        cursor.row_factory = factory
        return cursor.execute('SELECT c0 FROM t').fetchall()
    compare(action)
