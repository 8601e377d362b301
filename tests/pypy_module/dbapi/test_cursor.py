"""Cursors: fetching, one row ahead; what they tell; their limits."""

import pytest

import sqpyte


def test_fetching(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany() == [(1,)]
    assert cursor.fetchmany(2) == [(2,), (3,)]
    cursor.arraysize = 3
    assert cursor.fetchmany() == [(4,), (5,), (6,)]
    assert next(cursor) == (7,)
    assert cursor.fetchall() == [(8,), (9,)]
    assert cursor.fetchall() == cursor.fetchmany(5) == []
    assert cursor.fetchone() is None
    with pytest.raises(StopIteration):
        next(cursor)
    assert numbers.execute('SELECT a FROM t WHERE a < 3').fetchmany(0) == [(0,), (1,), (2,)]


def test_a_cursor_is_its_own_iterator(numbers):
    cursor = numbers.execute('SELECT a FROM t WHERE a < 2')
    assert iter(cursor) is cursor
    assert list(cursor) == [(0,), (1,)]
    assert cursor.execute('SELECT 5') is cursor
    assert list(cursor) == [(5,)]


def test_one_row_ahead(numbers):
    """Row k+1 has been computed when row k is handed out, and no more."""
    called = []
    numbers.create_function('note', 1, lambda a: called.append(a) or a)
    cursor = numbers.execute('SELECT note(a) FROM t WHERE a < 3')
    assert called == [0]
    assert cursor.fetchone() == (0,)
    assert called == [0, 1]
    assert cursor.fetchone() == (1,)
    assert called == [0, 1, 2]
    assert cursor.fetchone() == (2,)
    assert cursor.fetchone() is None


def test_an_error_ahead_replaces_the_row_before_it(numbers):
    numbers.create_function('fail_at', 1, lambda a: 1 // (a - 2))
    cursor = numbers.execute('SELECT fail_at(a), a FROM t')
    assert cursor.fetchone() == (-1, 0)
    with pytest.raises(sqpyte.OperationalError, match='user-defined function raised exception'):
        cursor.fetchone()
    assert cursor.fetchone() is None


def test_writing_between_rows(numbers):
    found = []
    for a, in numbers.execute('SELECT a FROM t'):
        found.append(a)
        numbers.execute('DELETE FROM t WHERE a = ?', (a + 2,))
    assert found == [0, 1, 3, 4, 6, 7, 9]


def test_description(connection):
    cursor = connection.cursor()
    assert cursor.description is None
    cursor.execute('SELECT 1 AS x, 2 "y [z]"')
    assert cursor.description == (('x',) + (None,) * 6, ('y [z]',) + (None,) * 6)
    cursor.execute('CREATE TABLE t(a)')
    assert cursor.description is None
    assert cursor.execute('SELECT * FROM t').description[0][0] == 'a'
    assert cursor.execute('INSERT INTO t VALUES (1)').description is None
    connection.execute('ALTER TABLE t ADD COLUMN b DEFAULT 7')
    assert [column[0] for column in cursor.execute('SELECT * FROM t').description] == ['a', 'b']
    assert cursor.fetchall() == [(1, 7)]
    with pytest.raises(sqpyte.OperationalError):
        cursor.execute('SELECT nothing')
    assert cursor.description is None


@pytest.mark.since(3, 10)
def test_rowcount(connection):
    cursor = connection.cursor()
    assert cursor.rowcount == -1
    assert cursor.execute('CREATE TABLE t(a)').rowcount == -1
    assert cursor.execute('INSERT INTO t VALUES (1), (2), (3)').rowcount == 3
    assert cursor.execute('-- comment\n UPDATE t SET a = 5 WHERE a > 1').rowcount == 2
    assert cursor.execute('SELECT * FROM t').rowcount == -1
    assert cursor.execute('DELETE FROM t').rowcount == 3
    assert cursor.execute('REPLACE INTO t VALUES (1)').rowcount == 1
    cursor.execute('INSERT INTO t VALUES (1), (2) RETURNING a')
    assert cursor.rowcount == 0
    assert cursor.fetchall() == [(1,), (2,)]
    assert cursor.rowcount == 2


def test_lastrowid(connection):
    cursor = connection.cursor()
    assert cursor.lastrowid is None
    cursor.execute('CREATE TABLE t(a INTEGER PRIMARY KEY UNIQUE)')
    assert cursor.execute('INSERT INTO t VALUES (5)').lastrowid == 5
    assert cursor.execute('INSERT INTO t VALUES (NULL)').lastrowid == 6
    cursor.executemany('INSERT INTO t VALUES (?)', [(10,), (11,)])
    assert cursor.lastrowid == 6
    with pytest.raises(sqpyte.IntegrityError):
        cursor.execute('INSERT INTO t VALUES (5)')
    assert cursor.lastrowid == 6
    assert cursor.execute('SELECT 1').lastrowid == 11


def test_lastrowid_of_a_row_that_has_become_longer(connection):
    insert = 'INSERT INTO long(a) VALUES (5) RETURNING *'
    connection.execute('CREATE TABLE long(a)')
    assert connection.execute(insert).fetchall() == [(5,)]
    connection.execute('ALTER TABLE long ADD b')
    cursor = connection.execute(insert)     # compiled again: the row needs a larger buffer
    assert cursor.lastrowid == 2 and cursor.fetchall() == [(5, None)]


def test_what_is_read_only(connection):
    cursor = connection.cursor()
    assert cursor.connection is connection
    for name in ('connection', 'description', 'rowcount', 'lastrowid'):
        with pytest.raises(AttributeError):
            setattr(cursor, name, None)


@pytest.mark.parametrize('sql', ['', ' \n', '-- nothing', '/* nothing */', '/* open', ';'])
def test_empty_statements(connection, sql):
    cursor = connection.execute(sql)
    assert cursor.fetchall() == []
    assert cursor.description is None
    with pytest.raises(sqpyte.ProgrammingError):
        connection.execute(sql, [1])


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('sql', ['SELECT 1; SELECT 2', 'SELECT 1; // c', 'SELECT 1; */',
                                 'SELECT 1; -- c\nSELECT 2'])
def test_one_statement_at_a_time(connection, sql):
    with pytest.raises(sqpyte.ProgrammingError,
                       match='You can only execute one statement at a time.'):
        connection.execute(sql)


def test_comments_may_follow(connection):
    assert connection.execute('SELECT 1; -- more\n /* and\n more */ ').fetchall() == [(1,)]


@pytest.mark.since(3, 11)
def test_what_sql_may_be(connection):
    for sql in (b'SELECT 1', 1, None, ['SELECT 1']):
        with pytest.raises(TypeError):
            connection.execute(sql)

    class Text(str):
        def __hash__(self):
            return 0

        def __eq__(self, other):
            return True
    assert connection.execute(Text('SELECT 1')).fetchall() == [(1,)]
    assert connection.execute(Text('SELECT 2')).fetchall() == [(2,)]
    with pytest.raises(sqpyte.ProgrammingError, match='null character'):
        connection.execute('SELECT 1\0')
    connection.setlimit(sqpyte.SQLITE_LIMIT_SQL_LENGTH, 20)
    with pytest.raises(sqpyte.DataError, match='query string is too large'):
        connection.execute('SELECT ' + '1' * 20)


def test_closing(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    cursor.close()
    cursor.close()
    for use in (cursor.fetchone, cursor.fetchall, lambda: next(cursor),
                lambda: cursor.execute('SELECT 1')):
        with pytest.raises(sqpyte.ProgrammingError, match='Cannot operate on a closed cursor.'):
            use()
    numbers.execute('DROP TABLE t')


def test_a_cursor_without_init():
    class Broken(sqpyte.Cursor):
        def __init__(self, connection):
            pass
    connection = sqpyte.connect(':memory:')
    cursor = Broken(connection)
    for use in (cursor.fetchone, cursor.close, lambda: cursor.execute('SELECT 1')):
        with pytest.raises(sqpyte.ProgrammingError, match='Base Cursor.__init__ not called.'):
            use()
    connection.close()


def test_cursor_factories(connection):
    class Mine(sqpyte.Cursor):
        pass
    assert isinstance(connection.cursor(Mine), Mine)
    assert isinstance(connection.cursor(factory=lambda connection: Mine(connection)), Mine)
    for factory in (lambda connection: None, lambda connection: 'x'):
        with pytest.raises(TypeError, match='factory must return a cursor'):
            connection.cursor(factory)
    with pytest.raises(TypeError):
        sqpyte.Cursor(None)


class FailsToIterate:
    def __init__(self, first):
        self.first = first

    def __iter__(self):
        self.first()
        raise KeyError('iterates over nothing')


def test_executemany_over_nothing_ends_the_rows_before(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    cursor.fetchone()
    with pytest.raises(KeyError, match='iterates over nothing'):
        cursor.executemany('INSERT INTO t VALUES (?, 1)', FailsToIterate(numbers.commit))
    assert cursor.fetchall() == []
    numbers.execute('DROP TABLE t')     # nothing reads it any more
    with pytest.raises(KeyError, match='iterates over nothing'):
        cursor.executemany('INSERT INTO t VALUES (?, 1)', FailsToIterate(numbers.close))


def test_a_function_may_not_use_the_cursor_that_calls_it(numbers):
    cursor = numbers.cursor()
    uses = iter([cursor.fetchone, cursor.close, lambda: cursor.execute('SELECT 1'),
                 lambda: cursor.executemany('INSERT INTO t VALUES (1, 1)', [()]),
                 lambda: cursor.__init__(numbers)])
    raised = []

    def function(a):
        try:
            next(uses)()
        except sqpyte.ProgrammingError as error:
            raised.append(str(error))
    numbers.create_function('use_cursor', 1, function)
    assert len(cursor.execute('SELECT use_cursor(a) FROM t WHERE a < 5').fetchall()) == 5
    assert raised == ['Recursive use of cursors not allowed.'] * 5


@pytest.mark.skipif(not hasattr(sqpyte.Connection, 'create_window_function'), reason='Python 3.11 has them')
@pytest.mark.parametrize('again', [lambda cursor: cursor.execute('SELECT 1'),
                                   lambda cursor: cursor.executemany('INSERT INTO t VALUES (?, 1)', [(90,)])])
def test_a_window_that_is_given_up_finds_the_cursor_in_use(numbers, again):
    """Its finalize is called where the statement is reset, for what the cursor executes next."""
    cursor = numbers.cursor()
    raised = []

    class Last:
        def step(self, a):
            pass

        inverse = step

        def value(self):
            return 0

        def finalize(self):
            try:
                cursor.fetchall()
            except sqpyte.ProgrammingError as error:
                raised.append(str(error))
            return 0
    numbers.create_window_function('last_of', 1, Last)
    cursor.execute('SELECT a, last_of(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t')
    cursor.fetchone()
    again(cursor)
    assert raised == ['Recursive use of cursors not allowed.']


def test_the_same_sql_inside_itself(numbers):
    """A statement that is running isn't lent to another cursor."""
    sql = 'SELECT a, deeper(a) FROM t WHERE a < 3'
    depth = []

    def deeper(a):
        depth.append(a)
        result = 0
        if len(depth) < 4:
            result = sum(x for x, _ in numbers.execute(sql))
        depth.pop()
        return result
    numbers.create_function('deeper', 1, deeper)
    assert numbers.execute(sql).fetchall() == [(0, 3), (1, 3), (2, 3)]
    pairs = [(a, b) for a, in numbers.execute('SELECT a FROM t')
             for b, in numbers.execute('SELECT a FROM t')]
    assert len(pairs) == 100


def test_attributes_of_ones_own_need_a_class_of_ones_own():
    connection = sqpyte.connect(':memory:')
    for wrong in (connection, connection.cursor(), connection.execute('SELECT 1')):
        with pytest.raises(AttributeError, match="object has no attribute 'mine'"):
            wrong.mine = 1
        assert not hasattr(wrong, 'mine')
    with pytest.raises(AttributeError):
        connection.cursor().rowcount = 3

    class Mine(sqpyte.Cursor):
        pass
    cursor = connection.cursor(Mine)
    cursor.mine, cursor.arraysize = 1, 5
    assert (cursor.mine, cursor.arraysize, connection.cursor().arraysize) == (1, 5, 1)


def test_what_is_another_librarys_is_said_to_be():
    sqlite3 = pytest.importorskip('sqlite3')
    if sqlite3.Connection is sqpyte.Connection:
        pytest.skip('sqlite3 is on the same library')
    connection, other = sqpyte.connect(':memory:'), sqlite3.connect(':memory:')
    for call in (lambda: connection.backup(other), lambda: sqpyte.Cursor(other),
                 lambda: sqpyte.Row(other.cursor(), (1,))):
        with pytest.raises(TypeError, match="not another SQLite library's: .*sqpyte.install"):
            call()
    with pytest.raises(TypeError, match='must be sqlite3.Connection, not int'):
        connection.backup(3)
