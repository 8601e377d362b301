"""Parameters: every type, both styles, and what is refused."""

import collections
import datetime
import enum
import platform
import sys

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.dbapi.statements.binding import UNROLLED

since_312 = pytest.mark.skipif(sys.version_info < (3, 12), reason='sqlite3 warns since Python 3.12; '
                               'CI runs it with 3.12 and 3.13')


class Text(str):
    pass


class Number(float):
    pass


class Colour(enum.IntEnum):
    RED = 7


@pytest.mark.parametrize('value', [
    0, 1, -1, 2 ** 31, -2 ** 31 - 1, 2 ** 63 - 1, -2 ** 63, True, False, 0.0, -0.5, 1e308,
    float('inf'), '', 'a', 'ä€😀', 'with\0zero', 'x' * 100000, b'', b'\0\xff', b'y' * 100000, None])
def test_what_goes_in_comes_out(connection, value):
    assert connection.execute('SELECT ?', [value]).fetchone() == (value,)
    assert connection.execute('SELECT :v', {'v': value}).fetchone() == (value,)


@pytest.mark.parametrize('value, stored', [
    (bytearray(b'abc'), b'abc'), (memoryview(b'xabcx')[1:4], b'abc'), (Text('abc'), 'abc'),
    (Number(1.5), 1.5), (Colour.RED, 7), (float('nan'), None)])
def test_what_is_stored_as_something_else(connection, value, stored):
    found, = connection.execute('SELECT ?', [value]).fetchone()
    assert found == stored
    assert type(found) is type(stored)


@pytest.mark.parametrize('count', [0, 1, 2, UNROLLED, UNROLLED + 1, 300])
@pytest.mark.parametrize('kind', [tuple, list])
def test_any_number_of_parameters(connection, count, kind):
    values = kind(i if i % 2 else 'text %d' % i for i in range(count))
    sql = 'SELECT 1' + ', ?' * count
    assert connection.execute(sql, values).fetchone() == (1,) + tuple(values)
    with pytest.raises(sqpyte.ProgrammingError,
                       match='statement uses %d, and there are %d supplied' % (count, count + 1)):
        connection.execute(sql, values + kind([1]))


class Sequence:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return 'ab'[index]


def test_other_sequences_and_mappings(connection):
    class Missing(dict):
        def __missing__(self, key):
            return 'no ' + key

    assert connection.execute('SELECT ?, ?', Sequence()).fetchone() == ('a', 'b')
    assert connection.execute('SELECT ?, ?', 'xy').fetchone() == ('x', 'y')
    assert connection.execute('SELECT ?2, ?1', (1, 2)).fetchone() == (2, 1)
    assert connection.execute('SELECT :a, @b, $c, :a', {'a': 1, 'b': 2, 'c': 3, 'd': 4}
                              ).fetchone() == (1, 2, 3, 1)
    assert connection.execute('SELECT :a', Missing()).fetchone() == ('no a',)


@pytest.mark.since(3, 12)
@since_312
def test_positions_for_names_are_deprecated(connection):
    with pytest.warns(DeprecationWarning, match="Binding 2 \\(':b'\\) is a named parameter") as all:
        assert connection.execute('SELECT ?, :b', (1, 2)).fetchone() == (1, 2)
    assert all[0].filename == __file__


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('sql, parameters, kind, message', [
    ('SELECT ?', (), sqpyte.ProgrammingError,
     'Incorrect number of bindings supplied. The current statement uses 1, and there are 0'
     ' supplied.'),
    ('SELECT ?', {'a': 1}, sqpyte.ProgrammingError,
     'Binding 1 has no name, but you supplied a dictionary (which has only names).'),
    ('SELECT :a', {'b': 1}, sqpyte.ProgrammingError,
     'You did not supply a value for binding parameter :a.'),
    ('SELECT ?', {1}, sqpyte.ProgrammingError, 'parameters are of unsupported type'),
    ('SELECT ?', 5, sqpyte.ProgrammingError, 'parameters are of unsupported type'),
    ('SELECT ?, ?', (1, object()), sqpyte.ProgrammingError,
     "Error binding parameter 2: type 'object' is not supported"),
    ('SELECT ?', (2 ** 63,), OverflowError, 'Python int too large to convert to SQLite INTEGER'),
    ('SELECT ?', (-2 ** 63 - 1,), OverflowError,
     'Python int too large to convert to SQLite INTEGER'),
    ('SELECT :a', {'a': 2 ** 70}, OverflowError,
     'Python int too large to convert to SQLite INTEGER'),
])
def test_what_is_refused(connection, sql, parameters, kind, message):
    with pytest.raises(kind) as caught:
        connection.execute(sql, parameters)
    assert str(caught.value) == message
    # The statement is free again.
    assert not any(statement.busy for statement in session_of(connection).all)


def test_lone_surrogates_are_refused(connection):
    with pytest.raises(UnicodeEncodeError):
        connection.execute('SELECT ?', ['\ud8ff'])
    with pytest.raises(UnicodeEncodeError):
        connection.execute("SELECT '\ud8ff'")


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __conform__(self, protocol):
        if protocol is sqpyte.PrepareProtocol:
            return '%d;%d' % (self.x, self.y)


def test_adapters(connection, monkeypatch):
    class Money:
        pass

    from pypy_module.dbapi import adapters
    monkeypatch.setattr(adapters, 'adapters', dict(adapters.adapters))
    monkeypatch.setattr(adapters.registry, 'plain', True)
    assert connection.execute('SELECT ?', [Point(1, 2)]).fetchone() == ('1;2',)
    sqpyte.register_adapter(Money, lambda money: 5)
    assert connection.execute('SELECT ?', [Money()]).fetchone() == (5,)
    sqpyte.register_adapter(int, lambda number: 'int %d' % number)
    assert connection.execute('SELECT ?, ?', [3, 'x']).fetchone() == ('int 3', 'x')
    assert sqpyte.adapt(Point(3, 4)) == '3;4'
    assert sqpyte.adapt(object, sqpyte.PrepareProtocol, 'other') == 'other'
    with pytest.raises(sqpyte.ProgrammingError, match="can't adapt"):
        sqpyte.adapt(object())


def test_what_getattr_raises_is_not_an_adapters_refusal(connection):
    """Only what `__conform__` raises when it is called is."""
    class Broken:
        def __getattr__(self, name):
            raise TypeError('no ' + name)
    with pytest.raises(TypeError, match='no __conform__'):
        connection.execute('SELECT ?', [Broken()])
    with pytest.raises(TypeError, match='no __conform__'):
        sqpyte.adapt(Broken())


DATES = [(datetime.date(2024, 2, 29), '2024-02-29'),
         (datetime.datetime(2024, 2, 29, 1, 2, 3), '2024-02-29 01:02:03')]


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize('value, stored', DATES)
def test_dates(connection, value, stored):
    assert connection.execute('SELECT ?', [value]).fetchone() == (stored,)


@pytest.mark.since(3, 12)
@since_312
def test_adapters_of_dates_are_deprecated(connection):
    for value, stored in DATES:
        with pytest.warns(DeprecationWarning, match='deprecated as of Python 3.12') as all:
            assert connection.execute('SELECT ?', [value]).fetchone() == (stored,)
        assert all[0].filename == __file__


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_positions_for_names(connection):
    for _ in range(2):
        assert connection.execute('SELECT :a, @b, ?, :a', (1, 2, 3)).fetchone() == (1, 2, 3, 1)


@pytest.mark.parametrize('count', [0, 1, 305])
def test_executemany_of_a_list_and_of_an_iterator(connection, count):
    connection.execute('CREATE TABLE t(a, b)')
    rows = [(i, 'text %d' % i if i % 3 else None) for i in range(count)]
    for given in (rows, tuple(rows), iter(rows)):
        cursor = connection.executemany('INSERT INTO t VALUES (?, ?)', given)
        assert cursor.rowcount == count
        assert connection.execute('SELECT a, b FROM t ORDER BY a').fetchall() == rows
        assert connection.execute('DELETE FROM t').rowcount == count


def test_executemany_of_mixed_rows(connection):
    connection.execute('CREATE TABLE t(a, b)')
    rows = []
    for i in range(400):
        row = [(i, b'x' * i), [i, Text(i)], (Colour.RED, i)][i % 3]
        rows.append(row)
    connection.executemany('INSERT INTO t VALUES (?, ?)', rows)
    assert connection.execute('SELECT a, b FROM t ORDER BY rowid').fetchall() == [
        tuple(row) for row in rows]


def test_executemany_of_long_texts(connection):
    connection.execute('CREATE TABLE t(a, b)')
    rows = [('x' * 20000, 'y' * i) for i in range(300)]
    connection.executemany('INSERT INTO t VALUES (?, ?)', rows)
    assert connection.execute('SELECT a, b FROM t ORDER BY rowid').fetchall() == rows


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('bad', [0, 1, 107])
def test_executemany_stops_at_an_error(connection, bad):
    connection.execute('CREATE TABLE t(a NOT NULL)')
    rows = [(i,) for i in range(200)]
    rows[bad] = (None,)
    cursor = connection.cursor()
    with pytest.raises(sqpyte.IntegrityError, match='NOT NULL constraint failed: t.a'):
        cursor.executemany('INSERT INTO t VALUES (?)', rows)
    assert cursor.rowcount == -1
    assert connection.in_transaction
    assert connection.execute('SELECT count(*) FROM t').fetchone() == (bad,)
    rows[bad] = (object(),)
    with pytest.raises(sqpyte.ProgrammingError, match='parameter 1: type'):
        cursor.executemany('INSERT INTO t VALUES (?)', rows)
    assert connection.execute('SELECT count(*) FROM t').fetchone() == (2 * bad,)


def test_executemany_reads_an_iterator_row_by_row(connection):
    """The iterator may look at what was inserted so far."""
    connection.execute('CREATE TABLE t(a)')
    seen = []

    def rows():
        for i in range(5):
            seen.append(connection.execute('SELECT count(*) FROM t').fetchone()[0])
            yield (i,)
    connection.executemany('INSERT INTO t VALUES (?)', rows())
    assert seen == [0, 1, 2, 3, 4]


def test_executemany_takes_statements_that_change_rows_only(connection):
    with pytest.raises(sqpyte.ProgrammingError,
                       match=r'executemany\(\) can only execute DML statements.'):
        connection.executemany('SELECT ?', [(1,)])
    connection.execute('CREATE TABLE t(a)')
    cursor = connection.executemany('INSERT INTO t VALUES (?) RETURNING a', [(1,), (2,)])
    assert cursor.fetchall() == []
    assert connection.execute('SELECT a FROM t').fetchall() == [(1,), (2,)]


@pytest.mark.since(3, 11)
@pytest.mark.skipif(platform.python_implementation() != 'CPython', reason='names a class that C has made in CPython')
def test_types_have_the_names_that_c_gives_them(connection):
    class Own:
        """Of the program's own."""
    for value, name in [(datetime.time(1), 'datetime.time'), (collections.deque(), 'collections.deque'),
                        (Own(), 'Own')]:
        with pytest.raises(sqpyte.ProgrammingError) as caught:
            connection.execute('SELECT ?', (value,))
        assert str(caught.value) == "Error binding parameter 1: type '%s' is not supported" % name
        assert caught.value.__context__ is None
        with pytest.raises(TypeError, match='execute\\(\\) argument 1 must be str, not %s$' % name):
            connection.execute(value)
