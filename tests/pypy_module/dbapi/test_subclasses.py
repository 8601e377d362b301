"""What subclasses and odd arguments see of the DB-API, as in CPython's own module: only what it asks them for."""

import enum
import os
import subprocess
import sys
import warnings

import pytest

import sqpyte
from pypy_module.dbapi.connections.session import session_of
from pypy_module.ffi.place import ROOT


@pytest.fixture
def connection():
    return sqpyte.connect(':memory:')


def test_a_block_does_not_call_a_subclass_s_own_commit_and_rollback():
    calls = []

    class Noted(sqpyte.Connection):
        def commit(self):
            calls.append('commit')
            raise ValueError

        rollback = commit

    connection = Noted(':memory:')
    connection.execute('CREATE TABLE t(a)')
    with connection:
        connection.execute('INSERT INTO t VALUES(1)')
    assert not connection.in_transaction
    with pytest.raises(KeyError), connection:
        connection.execute('INSERT INTO t VALUES(2)')
        raise KeyError
    assert connection.execute('SELECT a FROM t').fetchall() == [(1,)]
    connection.execute('INSERT INTO t VALUES(3)')
    connection.isolation_level = None
    assert not connection.in_transaction and calls == []


def test_attributes_of_subclasses_are_theirs():
    """The usual names of private attributes are free."""
    names = '_session _cursor _connection _config _define _result _data _columns _check _fetch'.split()

    class Wrapped(sqpyte.Connection):
        def __init__(self, *args):
            super().__init__(*args)
            for name in names:
                setattr(self, name, 1)

    class WrappedCursor(sqpyte.Cursor):
        def __init__(self, *args):
            super().__init__(*args)
            for name in names:
                setattr(self, name, 1)

    connection = Wrapped(':memory:')
    connection.create_function('f', 1, abs)
    assert connection.execute('SELECT f(-1)').fetchall() == [(1,)]
    cursor = connection.cursor(WrappedCursor)
    assert cursor.execute('SELECT 2 UNION SELECT 3').fetchmany(5) == [(2,), (3,)]
    assert cursor.connection is connection


class Five(int):
    def __int__(self):
        return 99
    __index__ = __int__


class Half(float):
    def __float__(self):
        return 99.0


class Pretends:
    __class__ = int         # as mock.MagicMock(spec=int) does

    def __int__(self):
        return 1


@pytest.mark.parametrize('inline', [True, 'always'])
def test_numbers_are_what_they_are(connection, inline):
    saved = sqpyte.configure()
    sqpyte.configure(inline=inline)
    try:
        assert connection.execute('SELECT ?, ?, ?', (Five(5), Half(0.5), Five(6))).fetchone() == (5, 0.5, 6)
        connection.create_function('i', 1, Five)
        connection.create_function('r', 1, Half)
        rows = 'WITH t(x) AS (VALUES(1), (2), (3)) '
        assert connection.execute(rows + 'SELECT i(x), r(x) FROM t').fetchall() == [(1, 1.0), (2, 2.0), (3, 3.0)]
        with pytest.raises(sqpyte.Error):
            connection.execute('SELECT ?', (Pretends(),))
        connection.create_function('p', 0, Pretends)
        with pytest.raises(sqpyte.OperationalError):
            connection.execute('SELECT p()').fetchall()
    finally:
        sqpyte.configure(**saved)


def test_an_authorizer_s_answer_is_what_it_is(connection):
    class Allows(int):
        def __int__(self):
            return sqpyte.SQLITE_OK
        __index__ = __int__

    connection.set_authorizer(lambda *args: Allows(sqpyte.SQLITE_DENY))
    with pytest.raises(sqpyte.DatabaseError, match='not authorized'):
        connection.execute('SELECT 1')


def test_executemany_asks_an_iterator_for_items_alone(connection):
    class Again:
        def __init__(self):
            self.left = [1, 2, 3]

        def __iter__(self):
            return Again()

        def __next__(self):
            if not self.left:
                raise StopIteration
            return (self.left.pop(0),)

    items = Again()
    assert next(items) == (1,)
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES(?)', items)
    assert connection.execute('SELECT a FROM t').fetchall() == [(2,), (3,)]


@pytest.mark.parametrize('check_same_thread', [True, False])
def test_executemany_whose_iterator_closes_the_connection(check_same_thread):
    connection = sqpyte.connect(':memory:', check_same_thread=check_same_thread)
    connection.execute('CREATE TABLE t(a)')

    def items():
        yield (1,)
        connection.close()
        yield (2,)
    with pytest.raises(sqpyte.ProgrammingError, match='closed database'):
        connection.executemany('INSERT INTO t VALUES(?)', items())


@pytest.mark.parametrize('size, error', [
    (None, TypeError), ('a', TypeError), (1.5, TypeError), (2 ** 31, OverflowError)])
def test_sizes_are_checked(connection, size, error):
    cursor = connection.execute('SELECT 1 UNION SELECT 2')
    with pytest.raises(error):
        cursor.fetchmany(size)
    with pytest.raises(error):
        cursor.arraysize = size
    assert cursor.fetchall() == [(1,), (2,)]


def test_sizes_that_are_taken(connection):
    class Two:
        def __index__(self):
            return 2

    class Own(sqpyte.Cursor):
        arraysize = 3

    cursor = connection.execute('VALUES(1), (2), (3), (4)')
    assert len(cursor.fetchmany(Two())) == 2 and len(cursor.fetchmany()) == 1 and len(cursor.fetchmany(0)) == 1
    assert len(connection.cursor(Own).execute('VALUES(1), (2), (3), (4)').fetchmany()) == 1
    assert len(connection.execute('VALUES(1), (2), (3), (4)').fetchmany(-1)) == 4


@pytest.mark.parametrize('timeout', [float('inf'), 1e10, float('nan'), -5, 0, True, 10 ** 9])
def test_timeouts_that_are_taken(timeout):
    sqpyte.connect(':memory:', timeout=timeout).close()


@pytest.mark.parametrize('timeout', ['5', b'5', None, ()])
def test_timeouts_that_are_no_numbers(timeout):
    with pytest.raises(TypeError):
        sqpyte.connect(':memory:', timeout=timeout)


def test_a_text_factory_that_is_none_is_called(connection):
    connection.text_factory = None
    assert connection.execute('SELECT 1').fetchall() == [(1,)]
    with pytest.raises(TypeError, match='not callable'):
        connection.execute("SELECT 'a' UNION SELECT 'b'").fetchall()


def test_names_that_are_none(connection):
    other = sqpyte.connect(':memory:')
    for name, error in ((5, TypeError), ('main\0x', ValueError)):
        with pytest.raises(error):
            connection.backup(other, name=name)
        with pytest.raises(error):
            connection.serialize(name=name)
        with pytest.raises(error):
            connection.deserialize(b'', name=name)
        with pytest.raises(error):
            connection.blobopen('t', 'a', 1, name=name)
        with pytest.raises(error):
            connection.blobopen(name, 'a', 1)


class Shouting(str):
    """A str with other ideas of itself than C has."""

    def lower(self):
        return 'another'
    encode = __str__ = __format__ = translate = upper = lower


def test_c_sees_the_text_of_a_str(connection):
    connection.executescript(Shouting('CREATE TABLE t(a, b)'))
    connection.execute(Shouting('INSERT INTO t VALUES(1, zeroblob(3))'))
    connection.create_function(Shouting('f'), 1, lambda a: a + 1)
    connection.create_function(Shouting('F'), 1, lambda a: a + 2)
    connection.create_collation(Shouting('c'), lambda a, b: 0)
    assert connection.execute("SELECT f(a) FROM t WHERE 'x' = 'y' COLLATE c").fetchall() == [(3,)]
    assert len(connection.serialize(name=Shouting('main'))) > 1000
    connection.commit()
    with connection.blobopen(Shouting('t'), Shouting('b'), 1, name=Shouting('main')) as blob:
        assert blob.read() == bytes(3)


def test_an_isolation_level_that_is_an_enum():
    class Level(str, enum.Enum):
        IMMEDIATE = 'IMMEDIATE'
    connection = sqpyte.connect(':memory:', isolation_level=Level.IMMEDIATE)
    connection.execute('CREATE TABLE t(a)')
    connection.execute('INSERT INTO t VALUES(1)')
    assert connection.in_transaction


@pytest.mark.parametrize('use, error', [
    (lambda c: c.load_extension('x\0y'), ValueError), (lambda c: c.load_extension(5), TypeError),
    (lambda c: c.load_extension('x', entrypoint='a\0b'), ValueError),
    (lambda c: c.getconfig(1.0), TypeError), (lambda c: c.getconfig('x'), TypeError),
    (lambda c: c.getconfig(2 ** 40), OverflowError), (lambda c: c.setlimit(2 ** 40, 1), OverflowError),
    (lambda c: c.setlimit(1, 1.5), TypeError), (lambda c: c.set_progress_handler(abs, 2 ** 40), OverflowError),
    (lambda c: c.deserialize(b'', name='absent'), sqpyte.OperationalError)])
def test_arguments_that_c_cannot_have(connection, use, error):
    with pytest.raises(error) as raised:
        use(connection)
    assert 'not an error' not in str(raised.value)


@pytest.mark.parametrize('use, error', [
    (lambda b: b.read(1.5), TypeError), (lambda b: b.read(2 ** 31), OverflowError),
    (lambda b: b.seek(0, 1.0), TypeError), (lambda b: b.seek(2 ** 31), OverflowError),
    (lambda b: type('Derived', (type(b),), {}), TypeError)])
def test_arguments_of_blobs(connection, use, error):
    connection.execute('CREATE TABLE t(a)')
    connection.execute('INSERT INTO t VALUES(zeroblob(3))')
    with connection.blobopen('t', 'a', 1) as blob:
        blob.seek(0, 2)
        with pytest.raises(error):
            use(blob)
        blob.seek(Five(2), False)
        assert blob.tell() in (2, 5) and blob.read(True) == b'\0'


def test_statements_that_are_only_prepared_are_freed(connection):
    before = len(session_of(connection).all)
    for number in range(5):
        assert type(connection('SELECT %d' % number)).__name__ == 'Statement'
    assert len(session_of(connection).all) == before


NOTED = """
import sqpyte

given = []

class Noted(sqpyte.Cursor):
    def execute(self, *args):
        given.append(args)
        return super().execute(*args)

class Own(sqpyte.Connection):
    def cursor(self):
        return super().cursor(Noted)

connection = Own(':memory:')
assert connection.execute('SELECT 1').fetchall() == [(1,)]
assert connection.execute('SELECT 1', ()).fetchall() == [(1,)]
print(given)
"""


@pytest.mark.parametrize('semantics, given', [('3.9', "[('SELECT 1',), ('SELECT 1', ())]"), ('3.11', '[]')])
def test_a_cursor_of_a_subclass_gets_the_arguments_that_were_given(semantics, given):
    done = subprocess.run([sys.executable, '-c', NOTED], stdout=subprocess.PIPE, universal_newlines=True, check=True,
                          env=dict(os.environ, SQPYTE_SEMANTICS=semantics, PYTHONPATH=ROOT))
    assert done.stdout == given + '\n'


def refused(self, *arguments):
    raise AttributeError('refused')


@pytest.mark.parametrize('own', ['__getattr__', '__setattr__'])
def test_attributes_that_a_subclass_looks_after_itself(own):
    """What the module keeps with an object goes past it."""
    connection = type('Own', (sqpyte.Connection,), {own: refused})(':memory:')
    cursor = connection.cursor(type('OwnCursor', (sqpyte.Cursor,), {own: refused}))
    row = type('OwnRow', (sqpyte.Row,), {own: refused})(cursor.execute('SELECT 1 AS a'), (5,))
    assert cursor.fetchone() == (1,) and row['a'] == 5
    assert connection.execute('SELECT 2').fetchone() == (2,)
    with pytest.raises(AttributeError):
        connection.other
    connection.close()


def test_row_factories_that_a_subclass_has_itself():
    """The connection's is its own attribute, whatever stands before it; the cursor's is the connection's."""
    asked = []

    class Own(sqpyte.Connection):
        row_factory = property(lambda self: 'mine', lambda self, value: asked.append(value))

    class OwnCursor(sqpyte.Cursor):
        row_factory = None
    connection = Own(':memory:')
    assert connection.execute('SELECT 1').fetchone() == (1,) and asked == []
    plain = sqpyte.connect(':memory:')
    plain.row_factory = lambda cursor, row: list(row)
    assert plain.cursor(OwnCursor).execute('SELECT 1').fetchone() == [1]
    assert plain.execute('SELECT 1').fetchone() == [1]
    connection.close()
    plain.close()


def test_before_init():
    connection, cursor = sqpyte.Connection.__new__(sqpyte.Connection), sqpyte.Cursor.__new__(sqpyte.Cursor)
    assert connection.row_factory is None and cursor.connection is None
    with pytest.raises(sqpyte.ProgrammingError, match='Base Connection.__init__ not called'):
        connection.commit()
    with pytest.raises(sqpyte.ProgrammingError, match='Base Cursor.__init__ not called'):
        cursor.execute('SELECT 1')


def left_in_transaction(path, cls):
    """Drop a connection in the middle of a transaction."""
    connection = sqpyte.connect(path, factory=cls)
    connection.execute('CREATE TABLE IF NOT EXISTS t(a)')
    connection.commit()
    connection.execute('INSERT INTO t VALUES(1)')


def test_a_subclass_with_a_finalizer_of_its_own(tmp_path, collect):
    """The database is closed with the connection all the same."""
    path, dropped = str(tmp_path / 'a.db'), []
    left_in_transaction(path, type('Own', (sqpyte.Connection,), {
        '__del__': lambda self: dropped.append(self.total_changes)}))
    collect()
    with sqpyte.connect(path, timeout=0) as other:
        other.execute('INSERT INTO t VALUES(2)')
    other.close()
    assert dropped == [1]


def test_a_subclass_with_a_finalizer_whose_init_is_called_anew(collect):
    """Cursors go on with the rows of the database before, as those of others do."""
    connection = type('Own', (sqpyte.Connection,), {'__del__': lambda self: None})(':memory:')
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(5)])
    cursor = connection.execute('SELECT a FROM t')
    assert cursor.fetchone() == (0,)
    connection.__init__(':memory:')
    collect()
    assert cursor.fetchall() == [(1,), (2,), (3,), (4,)]
    connection.close()


def test_a_dropped_connection_where_warnings_are_errors(tmp_path, collect, monkeypatch):
    """It is closed, though its warning is an exception that nobody can catch."""
    monkeypatch.setattr(sys, 'unraisablehook', lambda what: None)
    path = str(tmp_path / 'a.db')
    with warnings.catch_warnings():
        warnings.simplefilter('error', ResourceWarning)
        left_in_transaction(path, sqpyte.Connection)
        collect()
    with sqpyte.connect(path, timeout=0) as other:
        other.execute('INSERT INTO t VALUES(2)')
    other.close()


def test_getlimit_does_not_call_a_subclass_s_setlimit():
    connection = type('Own', (sqpyte.Connection,), {'setlimit': refused})(':memory:')
    assert connection.getlimit(sqpyte.SQLITE_LIMIT_ATTACHED) > 0
    connection.close()
