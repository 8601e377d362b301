"""Rows: text factories, converters, row factories, and texts that aren't UTF-8."""

import datetime
import sqlite3
import sys

import pytest

import sqpyte
from pypy_module.dbapi import adapters, versions
from pypy_module.dbapi.statements.decoding import UNROLLED


@pytest.mark.parametrize('count', [1, 2, UNROLLED, UNROLLED + 1, 500])
def test_any_number_of_columns(connection, count):
    values = [[1, 2.5, 'text', None, b'blob'][i % 5] for i in range(count)]
    sql = 'SELECT ' + ', '.join(["1", "2.5", "'text'", "NULL", "x'626c6f62'"][i % 5]
                                for i in range(count))
    assert connection.execute(sql).fetchall() == [tuple(values)]
    assert connection.execute(sql + ' UNION ALL ' + sql).fetchall() == [tuple(values)] * 2


@pytest.mark.parametrize('factory, expected', [
    (str, 'aä'), (bytes, 'aä'.encode()), (bytearray, bytearray('aä'.encode())),
    (lambda data: data.decode().upper(), 'AÄ'), (len, 3)])
def test_text_factories(connection, factory, expected):
    connection.text_factory = factory
    assert connection.text_factory is factory
    rows = connection.execute("SELECT 'aä', 1, x'00', NULL UNION ALL SELECT 'aä', 2, '', 3"
                              ).fetchall()
    assert rows[0] == (expected, 1, b'\0', None)
    assert connection.execute("SELECT 'aä'").fetchone() == (expected,)


@pytest.mark.since(3, 11)
def test_the_text_factory_is_asked_when_a_row_is_fetched(connection):
    one = connection.execute("SELECT 'a', 1")
    many = connection.execute("SELECT 'a' UNION ALL SELECT 'b'")
    connection.text_factory = bytes
    assert one.fetchone() == (b'a', 1)
    assert many.fetchall() == [(b'a',), (b'b',)]


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('rest', ['', " UNION ALL SELECT 'next'"])
def test_texts_that_are_not_utf8(connection, rest):
    cursor = connection.execute("SELECT CAST(x'61ff62' AS TEXT) AS c" + rest)
    message = "Could not decode to UTF-8 column 'c' with text 'a\ufffdb'"
    for _ in range(2):
        with pytest.raises(sqpyte.OperationalError) as caught:
            cursor.fetchone()
        assert str(caught.value) == message
    connection.text_factory = bytes
    assert cursor.fetchone() == (b'a\xffb',)
    connection.text_factory = lambda data: data.decode(errors='replace')
    assert connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchone() == ('\ufffd',)


def test_converters_by_declared_type(path):
    connection = sqpyte.connect(path, detect_types=sqpyte.PARSE_DECLTYPES)
    sqpyte.register_converter('testpoint', lambda data: tuple(map(int, data.split(b';'))))
    connection.execute('CREATE TABLE t(p testpoint, q TestPoint(10), i INTEGER, n testpoint)')
    connection.execute("INSERT INTO t VALUES ('1;2', '3;4', 5, NULL)")
    assert connection.execute('SELECT * FROM t').fetchall() == [((1, 2), (3, 4), 5, None)]
    assert connection.execute('SELECT p || 0 FROM t').fetchone() == ('1;20',)
    connection.execute("UPDATE t SET p = ''")
    assert connection.execute('SELECT p FROM t').fetchone() == (None,)
    connection.execute('UPDATE t SET p = 7')
    assert connection.execute('SELECT p FROM t').fetchone() == ((7,),)
    connection.close()


def test_converters_by_column_name(path):
    connection = sqpyte.connect(path, detect_types=sqpyte.PARSE_COLNAMES)
    sqpyte.register_converter('testlen', len)
    cursor = connection.execute('SELECT \'abc\' AS "x [testlen]", 1 AS "y [nothing]"')
    assert [column[0] for column in cursor.description] == ['x', 'y']
    assert cursor.fetchone() == (3, 1)
    connection.close()


@pytest.mark.parametrize('count', [1, 8, UNROLLED, UNROLLED + 1])
def test_converters_and_a_text_factory_in_any_number_of_columns(monkeypatch, count):
    monkeypatch.setitem(adapters.converters, 'TESTPAIR', lambda data: ('pair', data))
    connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_COLNAMES)
    connection.text_factory = lambda data: ('text', data)
    kinds = [('12', b'12', 12), ('2.5', b'2.5', 2.5), ("'a'", b'a', ('text', b'a')), ("x'ff'", b'\xff', b'\xff'),
             ("''", None, ('text', b'')), ("x''", None, b''), ('NULL', None, None)]
    columns, expected = [], []
    for i in range(count):
        sql, given, plain = kinds[i % 7]
        columns.append(sql + (' AS "c [testpair]"' if i % 2 else ''))
        expected.append(plain if i % 2 == 0 else None if given is None else ('pair', given))
    sql = 'SELECT ' + ', '.join(columns)
    assert connection.execute(sql + ' UNION ALL ' + sql).fetchall() == [tuple(expected)] * 2
    connection.close()


def test_what_is_kept_of_converters_with_a_statement(monkeypatch):
    """Not the converters, nor what a change of the schema or of the encoding makes of its columns."""
    monkeypatch.setitem(adapters.converters, 'TESTKEPT', lambda data: ('first', data))
    connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_DECLTYPES | sqpyte.PARSE_COLNAMES)
    named = "SELECT 'a' AS \"a [testkept]\""
    assert connection.execute(named).fetchall() == [(('first', b'a'),)]
    connection.execute("PRAGMA encoding = 'UTF-16le'")
    text = b'a\0' if versions.CONVERTER_ENCODING else b'a'
    assert connection.execute(named).fetchall() == [(('first', text),)]
    monkeypatch.setitem(adapters.converters, 'TESTKEPT', lambda data: ('second', data))
    assert connection.execute(named).fetchall() == [(('second', text),)]
    connection.execute('CREATE TABLE t(a INTEGER)')
    connection.execute('INSERT INTO t VALUES (1)')
    assert connection.execute('SELECT * FROM t').fetchall() == [(1,)]
    connection.execute('ALTER TABLE t ADD COLUMN b testkept DEFAULT 2')
    assert connection.execute('SELECT * FROM t').fetchall() == [(1, ('second', b'2'))]
    connection.close()


@pytest.mark.parametrize('encoding', ['utf-16-le', 'utf-16-be'])
def test_converters_of_a_utf_16_database(encoding):
    found = []
    for module in (sqlite3, sqpyte):
        connection = module.connect(':memory:', detect_types=module.PARSE_COLNAMES)
        connection.execute('PRAGMA encoding = "%s"' % encoding.replace('16-', '16'))
        module.register_converter('testbytes', lambda data: data)
        found.append([connection.execute('SELECT %s AS "x [testbytes]"' % value).fetchone()[0]
                      for value in ("'a\xe9\U0001f40d'", '12', '2.5', "x'6162'", "''", 'NULL')])
        connection.close()
    assert found[1] == ['a\xe9\U0001f40d'.encode(encoding if versions.CONVERTER_ENCODING else 'utf-8'),
                        b'12', b'2.5', b'ab', None, None]
    assert found[0][1:] == found[1][1:]
    if (sys.version_info >= (3, 10)) == versions.CONVERTER_ENCODING:
        assert found[0] == found[1]


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_default_converters(path):
    connection = sqpyte.connect(path, detect_types=sqpyte.PARSE_DECLTYPES)
    connection.execute('CREATE TABLE t(d date, s timestamp)')
    connection.execute("INSERT INTO t VALUES ('2024-02-29', '2024-02-29 01:02:03.5')")
    assert connection.execute('SELECT * FROM t').fetchone() == (
        datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 500000))
    # As CPython's lines have it: of two fractions none counts.
    for seconds, microseconds in (('03', 0), ('03.', 0), ('03.1234567', 123456), ('03.1.2', 0)):
        connection.execute("UPDATE t SET s = '2024-02-29 01:02:' || ?", (seconds,))
        assert connection.execute('SELECT s FROM t').fetchone()[0].microsecond == microseconds
    connection.close()


@pytest.mark.since(3, 11)
def test_what_a_converter_raises(path):
    connection = sqpyte.connect(path, detect_types=sqpyte.PARSE_COLNAMES)
    sqpyte.register_converter('testbad', lambda data: 1 // 0)
    cursor = connection.execute('SELECT 1 AS "x [testbad]"')
    with pytest.raises(ZeroDivisionError):
        cursor.fetchone()
    connection.close()


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('count', [2, UNROLLED + 2])
def test_a_converter_closes_before_a_text_that_is_not_utf_8(monkeypatch, count):
    """What the message says is taken before user code."""
    connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_DECLTYPES)
    closes = []
    monkeypatch.setitem(adapters.converters, 'CLOSING', lambda data: (closes and connection.close(), len(data))[1])
    connection.execute('CREATE TABLE t(a closing, b)')
    connection.execute("INSERT INTO t VALUES(CAST(x'41ff' AS TEXT), CAST(x'42fe' AS TEXT)), ('x', 'y')")
    cursor = connection.execute('SELECT a, b%s FROM t' % (', 1' * (count - 2)))
    message = "Could not decode to UTF-8 column 'b' with text 'B\ufffd'"
    with pytest.raises(sqpyte.OperationalError, match=message):
        cursor.fetchone() if versions.FIRST_ROW_LATER else connection.execute('SELECT a, b FROM t')
    closes.append(1)
    with pytest.raises(sqpyte.OperationalError, match=message):
        cursor.fetchone()
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        cursor.fetchone()


def test_row_factory(numbers):
    numbers.row_factory = lambda cursor, row: {
        column[0]: value for column, value in zip(cursor.description, row)}
    assert numbers.execute('SELECT a, b FROM t WHERE a = 3').fetchone() == {'a': 3, 'b': 'row 3'}
    cursor = numbers.cursor()
    cursor.row_factory = None
    assert cursor.execute('SELECT a FROM t WHERE a = 3').fetchall() == [(3,)]
    cursor.row_factory = lambda cursor, row: None
    assert list(cursor.execute('SELECT a FROM t WHERE a < 2')) == [None, None]


class TestRow:
    @pytest.fixture
    def row(self, connection):
        connection.row_factory = sqpyte.Row
        return connection.execute('SELECT 1 AS a, 2 AS B, 3 AS b, 4 AS Ä').fetchone()

    def test_by_position(self, row):
        assert [row[0], row[3], row[-1], row[1:3]] == [1, 4, 4, (2, 3)]
        for index in (4, -5, 2 ** 1000):
            with pytest.raises(IndexError):
                row[index]

    def test_by_name(self, row):
        assert [row['a'], row['A'], row['b'], row['B'], row['Ä']] == [1, 1, 2, 2, 4]
        for name in ('c', 'ä', 'a\0', ''):
            with pytest.raises(IndexError, match='No item with that key'):
                row[name]
        with pytest.raises(IndexError, match='Index must be int or string'):
            row[1.5]

    def test_like_a_sequence(self, row):
        assert len(row) == 4
        assert tuple(row) == (1, 2, 3, 4)
        assert list(reversed(row)) == [4, 3, 2, 1]
        assert 3 in row
        assert row.keys() == ['a', 'B', 'b', 'Ä']
        assert dict(row) == {'a': 1, 'B': 2, 'b': 2, 'Ä': 4}

    def test_equality(self, connection, row):
        same, other = connection.execute(
            'SELECT 1 AS a, 2 AS B, 3 AS b, 4 AS Ä UNION ALL SELECT 1, 2, 3, 5').fetchall()
        renamed = connection.execute('SELECT 1 AS x, 2 AS B, 3 AS b, 4 AS Ä').fetchone()
        assert row == same
        assert hash(row) == hash(same)
        assert row != other
        assert row != renamed
        assert row != (1, 2, 3, 4)

    def test_what_it_is_made_of(self, connection):
        with pytest.raises(TypeError, match='argument 1 must be sqlite3.Cursor'):
            sqpyte.Row(None, ())
        with pytest.raises(TypeError, match='argument 2 must be tuple'):
            sqpyte.Row(connection.cursor(), [])
        assert sqpyte.Row(connection.cursor(), (1,)).keys() == []


def test_a_converter_that_is_str(monkeypatch):
    """It is called, as any other."""
    monkeypatch.setitem(adapters.converters, 'SAID', None)      # taken away again
    sqpyte.register_converter('said', str)
    connection = sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_COLNAMES)
    assert connection.execute("SELECT 'abc' AS \"a [said]\", cast(x'80' AS TEXT) AS \"b [said]\"").fetchall() == [
        ("b'abc'", "b'\\x80'")]
    connection.close()


def test_names_that_are_not_ascii(connection):
    connection.row_factory = sqpyte.Row
    row = connection.execute('SELECT 1 AS "äA", 2 AS "äa", 3 AS "Äb", 4 AS "Cd"').fetchone()
    assert [row[name] for name in ('äA', 'äa', 'Äb', 'cD')] == [1, 2, 3, 4]
    for name in 'äÄ', 'ÄB', 'äb':
        with pytest.raises(IndexError):
            row[name]
