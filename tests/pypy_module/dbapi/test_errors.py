"""Exceptions: their classes, codes and names, and how a database is opened."""

import os
import pydoc

import pytest

import sqpyte


def test_the_hierarchy():
    assert issubclass(sqpyte.Warning, Exception)
    assert issubclass(sqpyte.Error, Exception)
    for name in ('InterfaceError', 'DatabaseError'):
        assert getattr(sqpyte, name).__bases__ == (sqpyte.Error,)
    for name in ('DataError', 'OperationalError', 'IntegrityError', 'InternalError',
                 'ProgrammingError', 'NotSupportedError'):
        assert getattr(sqpyte, name).__bases__ == (sqpyte.DatabaseError,)


@pytest.mark.parametrize('sql, kind, name, message', [
    ('SELECT', sqpyte.OperationalError, 'SQLITE_ERROR', 'incomplete input'),
    ('SELECT x', sqpyte.OperationalError, 'SQLITE_ERROR', 'no such column: x'),
    ('INSERT INTO t VALUES (1, 1)', sqpyte.IntegrityError, 'SQLITE_CONSTRAINT_PRIMARYKEY',
     'UNIQUE constraint failed: t.a'),
    ('INSERT INTO t VALUES (2, NULL)', sqpyte.IntegrityError, 'SQLITE_CONSTRAINT_NOTNULL',
     'NOT NULL constraint failed: t.b'),
    ('INSERT INTO t VALUES (2, -1)', sqpyte.IntegrityError, 'SQLITE_CONSTRAINT_CHECK',
     'CHECK constraint failed: b > 0'),
    ("INSERT INTO t VALUES ('x', 1)", sqpyte.IntegrityError, 'SQLITE_MISMATCH',
     'datatype mismatch'),
    ("SELECT abs(-9223372036854775808)", sqpyte.OperationalError, 'SQLITE_ERROR',
     'integer overflow'),
    ('SELECT zeroblob(3000000000)', sqpyte.DataError, 'SQLITE_TOOBIG',
     'string or blob too big'),
    ("ATTACH '/nothing/at/all' AS x", sqpyte.OperationalError, 'SQLITE_CANTOPEN',
     'unable to open database: /nothing/at/all'),
    ("SELECT RAISE(FAIL, 'x')", sqpyte.OperationalError, 'SQLITE_ERROR',
     'RAISE() may only be used within a trigger-program'),
])
def test_errors_of_sqlite(connection, sql, kind, name, message):
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b NOT NULL CHECK (b > 0))')
    connection.execute('INSERT INTO t VALUES (1, 1)')
    for _ in range(2):
        with pytest.raises(kind) as caught:
            connection.execute(sql).fetchall()
        assert type(caught.value) is kind
        assert str(caught.value) == message
        assert caught.value.sqlite_errorname == name
        assert caught.value.sqlite_errorcode == getattr(sqpyte, name)


@pytest.mark.since(3, 11)
def test_errors_of_ours_have_no_code(connection):
    with pytest.raises(sqpyte.ProgrammingError) as caught:
        connection.execute('SELECT 1; SELECT 2')
    assert not hasattr(caught.value, 'sqlite_errorcode')
    assert not hasattr(caught.value, 'sqlite_errorname')


def test_damaged_files(path):
    with open(path, 'wb') as file:
        file.write(b'no database' * 1000)
    connection = sqpyte.connect(path)
    with pytest.raises(sqpyte.DatabaseError, match='file is not a database') as caught:
        connection.execute('SELECT * FROM t')
    assert type(caught.value) is sqpyte.DatabaseError
    assert caught.value.sqlite_errorname == 'SQLITE_NOTADB'
    connection.close()


def test_opening(tmp_path):
    path = tmp_path / 'ä.db'
    for name in (str(path), path, os.fsencode(path)):
        connection = sqpyte.connect(name)
        connection.execute('CREATE TABLE IF NOT EXISTS t(a)')
        connection.close()
    assert path.exists()
    with pytest.raises(sqpyte.OperationalError, match='unable to open database file') as caught:
        sqpyte.connect(str(tmp_path / 'no' / 'folder'))
    assert caught.value.sqlite_errorname == 'SQLITE_CANTOPEN'
    for name, kind in [(None, TypeError), (5, TypeError), ('a\0b', ValueError)]:
        with pytest.raises(kind):
            sqpyte.connect(name)
    with pytest.raises(TypeError):
        sqpyte.connect(':memory:', nonsense=5)


def test_uris(path):
    sqpyte.connect(path).close()
    connection = sqpyte.connect('file:%s?mode=ro' % path, uri=True)
    with pytest.raises(sqpyte.OperationalError, match='attempt to write a readonly database'):
        connection.execute('CREATE TABLE t(a)')
    connection.close()
    first, second = (sqpyte.connect('file:shared?mode=memory&cache=shared', uri=True)
                     for _ in range(2))
    first.execute('CREATE TABLE t(a)')
    assert second.execute('SELECT * FROM t').fetchall() == []
    first.close()
    second.close()


@pytest.mark.since(3, 13)
def test_connection_factories(path):
    class Mine(sqpyte.Connection):
        def __init__(self, *args, **keywords):
            self.given = args, keywords
            super().__init__(*args, **keywords)
    connection = sqpyte.connect(path, factory=Mine, timeout=1.0)
    assert isinstance(connection, Mine)
    assert connection.given == ((path,), {'factory': Mine, 'timeout': 1.0})
    assert connection.execute('SELECT 1').fetchone() == (1,)
    connection.close()
    with pytest.warns(DeprecationWarning, match='more than 1 positional argument') as all:
        sqpyte.connect(path, 1.0).close()
    assert all[0].filename == __file__


def test_a_connection_has_the_exceptions(connection):
    """Which can't be set, and which its help doesn't explain once more."""
    for name in ('Warning Error InterfaceError DatabaseError InternalError OperationalError ProgrammingError '
                 'IntegrityError DataError NotSupportedError').split():
        assert getattr(connection, name) is getattr(sqpyte, name)
        with pytest.raises(AttributeError):
            setattr(connection, name, ValueError)
    assert sqpyte.DataError.__doc__ not in pydoc.plain(pydoc.render_doc(sqpyte.Connection))
