"""A statement that SQLite has compiled again, in a run that failed: what is known of its earlier program is nothing."""

import contextlib

import pytest

import sqpyte

ROWS = 5000


@pytest.fixture
def connection():
    saved = sqpyte.configure()
    sqpyte.configure(inline='always')
    yield sqpyte.connect(':memory:', isolation_level=None)
    sqpyte.configure(**saved)


@pytest.mark.parametrize('change, modulus', [
    ('CREATE INDEX i ON t(b)', 7),
    ('DROP TABLE t; CREATE TABLE t(c, b); INSERT INTO t SELECT 1, value % 7 FROM n', 7),
    ('DROP TABLE t; CREATE TABLE t(x, y, z, b); INSERT INTO t SELECT 1, 2, 3, value % 5 FROM n', 5),
])
@pytest.mark.parametrize('warm', [1, 3, 12])
def test_a_function_that_fails_in_the_first_run_of_the_new_program(connection, change, modulus, warm):
    fails = False

    def f(x):
        if fails:
            raise ValueError
        return x
    connection.create_function('f', 1, f)
    connection.execute('CREATE TABLE n(value)')
    connection.executemany('INSERT INTO n VALUES(?)', [(i,) for i in range(ROWS)])
    connection.execute('CREATE TABLE t(a, b, c)')
    connection.execute('INSERT INTO t SELECT value, value % 7, value FROM n')
    query = 'SELECT count(*) FROM t WHERE f(b) > 3'
    for _ in range(warm):
        assert connection.execute(query).fetchall() == [(sum(i % 7 > 3 for i in range(ROWS)),)]
    connection.executescript(change)
    fails = True
    with pytest.raises(sqpyte.OperationalError):
        connection.execute(query)
    fails = False
    assert connection.execute(query).fetchall() == [(sum(i % modulus > 3 for i in range(ROWS)),)]


def test_columns_that_have_changed_places(connection):
    fails = False

    def f(x):
        if fails:
            raise ValueError
        return x
    connection.create_function('f', 1, f)
    connection.execute('CREATE TABLE t(a, b, c)')
    rows = [('a%d' % i, i % 7, 'c%d' % i) for i in range(2000)]
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', rows)
    query = 'SELECT a, b FROM t WHERE f(b) > 2'
    for _ in range(5):
        connection.execute(query).fetchall()
    connection.executescript('DROP TABLE t; CREATE TABLE t(c, b, a)')
    connection.executemany('INSERT INTO t(a, b, c) VALUES(?, ?, ?)', rows)
    fails = True
    with pytest.raises(sqpyte.OperationalError):
        connection.execute(query).fetchall()
    fails = False
    assert connection.execute(query).fetchall() == [row[:2] for row in rows if row[1] > 2]


def test_an_error_of_a_function_has_no_context(connection):
    """The function's own error was in SQLite's middle: it isn't what the caller handles."""
    def f(x):
        return 1 // (50 - x)
    connection.create_function('f', 1, f)
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(100)])
    for query in ('SELECT f(a) FROM t', 'SELECT sum(f(a)), 5 FROM t', 'SELECT a FROM t WHERE f(a) < 5'):
        with pytest.raises(sqpyte.OperationalError) as raised:
            connection.execute(query).fetchall()
        assert raised.value.__context__ is None


@pytest.mark.parametrize('query', ['SELECT total(f(a)) AS "x [noted]" FROM t', 'SELECT f(a) AS "x [noted]" FROM t',
                                   'SELECT f(a) AS "x [noted]" FROM t LIMIT 1'])
def test_columns_keep_their_converters(connection, query):
    sqpyte.register_converter('noted', lambda text: ('converted', text))
    with contextlib.closing(sqpyte.connect(':memory:', detect_types=sqpyte.PARSE_COLNAMES)) as connection:
        connection.create_function('f', 1, lambda x: x)
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(100)])
        connection.commit()
        expected = connection.execute(query).fetchall()
        assert expected[0][0][0] == 'converted'
        for _ in range(3):
            connection.create_collation('other', lambda a, b: 0)        # all statements are compiled again
            assert connection.execute(query).fetchall() == expected
