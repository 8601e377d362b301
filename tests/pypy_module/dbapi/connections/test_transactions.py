"""Transactions: implicit ones, the autocommit attribute, scripts, the context manager."""

import sqlite3
import sys

import pytest

import sqpyte


@pytest.fixture
def other(path):
    """A second connection to the file, which waits for no lock."""
    other = sqpyte.connect(path, timeout=0)
    yield other
    other.close()


@pytest.fixture
def first(path):
    """A connection to the file with a table `t(a)`."""
    first = sqpyte.connect(path)
    first.execute('CREATE TABLE t(a)')
    yield first
    first.close()


def test_a_change_begins_a_transaction(first, other):
    assert not first.in_transaction
    first.execute('SELECT * FROM t').fetchall()
    assert not first.in_transaction
    first.execute('INSERT INTO t VALUES (1)')
    assert first.in_transaction
    assert other.execute('SELECT * FROM t').fetchall() == []
    first.commit()
    assert not first.in_transaction
    assert other.execute('SELECT * FROM t').fetchall() == [(1,)]
    first.execute('DELETE FROM t')
    first.rollback()
    assert first.execute('SELECT * FROM t').fetchall() == [(1,)]
    first.rollback()
    first.commit()


@pytest.mark.since(3, 10)
@pytest.mark.parametrize('sql', ['INSERT INTO t VALUES (1)', ' \n/* c */ UPDATE t SET a = 1',
                                 '-- c\ndelete from t', 'Replace INTO t VALUES (1)'])
def test_which_statements_begin_one(first, sql):
    first.execute(sql)
    assert first.in_transaction


@pytest.mark.parametrize('sql', ['CREATE TABLE u(a)', 'SELECT 1', 'PRAGMA user_version = 1',
                                 'WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c'])
def test_which_do_not(first, sql):
    first.execute(sql).fetchall()
    assert not first.in_transaction


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('parameters, error', [
    ((), sqpyte.ProgrammingError), ((object(),), sqpyte.ProgrammingError), ((2 ** 70,), OverflowError),
    (('\udcff',), UnicodeEncodeError)])
def test_a_transaction_is_begun_even_if_the_parameters_do_not_fit(first, parameters, error):
    with pytest.raises(error):
        first.execute('INSERT INTO t VALUES (?)', parameters)
    assert first.in_transaction


@pytest.mark.since(3, 11)
@pytest.mark.parametrize('level, locks', [
    ('', False), ('DEFERRED', False), ('immediate', True), ('EXCLUSIVE', True)])
def test_isolation_levels(path, other, level, locks):
    connection = sqpyte.connect(path, isolation_level=level)
    connection.execute('CREATE TABLE t(a)')
    assert connection.isolation_level == level.upper()
    traced = []
    connection.set_trace_callback(traced.append)
    connection.execute('INSERT INTO t SELECT 1 WHERE 0')
    assert traced[0] == 'BEGIN ' + level.upper()
    other.execute('PRAGMA busy_timeout = 0')
    if locks:
        with pytest.raises(sqpyte.OperationalError, match='database is locked'):
            other.execute('BEGIN IMMEDIATE')
    connection.close()


def test_isolation_level_none(first):
    first.execute('INSERT INTO t VALUES (1)')
    first.isolation_level = None
    assert not first.in_transaction
    first.execute('INSERT INTO t VALUES (1)')
    assert not first.in_transaction
    first.execute('BEGIN')
    first.execute('INSERT INTO t VALUES (1)')
    assert first.in_transaction
    first.isolation_level = 'DEFERRED'
    assert first.in_transaction
    first.rollback()
    assert first.execute('SELECT count(*) FROM t').fetchone() == (2,)


def test_what_an_isolation_level_is(first):
    for level, kind in [('NONE', ValueError), ('\0', ValueError), (1, TypeError)]:
        with pytest.raises(kind):
            first.isolation_level = level
        with pytest.raises(kind):
            sqpyte.connect(':memory:', isolation_level=level)
    with pytest.raises(AttributeError):
        del first.isolation_level
    assert first.isolation_level == ''


def test_autocommit_true(path):
    connection = sqpyte.connect(path, autocommit=True)
    assert connection.autocommit is True
    connection.execute('CREATE TABLE t(a)')
    connection.execute('INSERT INTO t VALUES (1)')
    assert not connection.in_transaction
    connection.execute('BEGIN')
    connection.commit()
    assert connection.in_transaction
    connection.rollback()
    assert connection.in_transaction
    connection.close()


def test_autocommit_false(path, other):
    connection = sqpyte.connect(path, autocommit=False)
    assert connection.autocommit is False
    assert connection.in_transaction
    connection.execute('CREATE TABLE t(a)')
    connection.commit()
    assert connection.in_transaction
    connection.execute('INSERT INTO t VALUES (1)')
    connection.rollback()
    assert connection.in_transaction
    connection.executescript('INSERT INTO t VALUES (2)')
    assert connection.in_transaction
    connection.close()
    assert other.execute('SELECT * FROM t').fetchall() == []


def test_changing_autocommit(first):
    assert first.autocommit == sqpyte.LEGACY_TRANSACTION_CONTROL
    first.autocommit = False
    assert first.in_transaction
    first.execute('INSERT INTO t VALUES (1)')
    first.autocommit = True
    assert not first.in_transaction
    first.autocommit = sqpyte.LEGACY_TRANSACTION_CONTROL
    first.execute('INSERT INTO t VALUES (1)')
    assert first.in_transaction
    for value in (1, 0, None, 'x'):
        with pytest.raises(ValueError, match='autocommit must be True, False, or'):
            first.autocommit = value


def test_the_context_manager_commits(first):
    with first as entered:
        assert entered is first
        first.execute('INSERT INTO t VALUES (1)')
    assert not first.in_transaction
    with pytest.raises(ZeroDivisionError), first:
        first.execute('INSERT INTO t VALUES (2)')
        raise ZeroDivisionError
    assert not first.in_transaction
    assert first.execute('SELECT * FROM t').fetchall() == [(1,)]


def test_a_commit_that_fails_is_rolled_back(first):
    first.executescript('PRAGMA foreign_keys = ON; CREATE TABLE p(a PRIMARY KEY);'
                        'CREATE TABLE c(a REFERENCES p(a) DEFERRABLE INITIALLY DEFERRED)')
    with pytest.raises(sqpyte.IntegrityError, match='FOREIGN KEY constraint failed'), first:
        first.execute('INSERT INTO c VALUES (1)')
    assert not first.in_transaction
    assert first.execute('SELECT * FROM c').fetchall() == []


@pytest.mark.since(3, 11)
def test_rollback_while_reading(first):
    """Readers go on after a rollback, unless it undid a change of the schema."""
    first.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(5)])
    first.commit()
    first.execute('INSERT INTO t VALUES (5)')
    cursor = first.execute('SELECT a FROM t')
    assert cursor.fetchone() == (0,)
    first.rollback()
    assert [a for a, in cursor.fetchall()][:4] == [1, 2, 3, 4]
    first.execute('BEGIN')
    first.execute('CREATE TABLE u(a)')
    cursor = first.execute('SELECT a FROM t')
    first.rollback()
    with pytest.raises(sqpyte.OperationalError, match='abort due to ROLLBACK'):
        cursor.fetchall()


def test_commit_while_reading(first):
    first.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(5)])
    found = []
    for a, in first.execute('SELECT a FROM t'):
        first.commit()
        found.append(a)
    assert found == [0, 1, 2, 3, 4]


def test_scripts(first):
    first.execute('INSERT INTO t VALUES (1)')
    cursor = first.executescript("""
        CREATE TABLE u(b); -- a comment;
        INSERT INTO u VALUES ('a;b'); SELECT * FROM u; BEGIN;
        INSERT INTO u VALUES (2)
    """)
    assert cursor.fetchall() == []
    assert first.in_transaction
    first.rollback()
    assert first.execute('SELECT * FROM t, u').fetchall() == [(1, 'a;b')]
    for script in ('', '-- c', ';;;', '/* open'):
        first.executescript(script)


@pytest.mark.since(3, 11)
def test_scripts_that_fail(first):
    with pytest.raises(sqpyte.OperationalError, match='no such table: missing'):
        first.executescript('CREATE TABLE v(a); SELECT * FROM missing; CREATE TABLE w(a)')
    assert first.execute('SELECT name FROM sqlite_master').fetchall() == [('t',), ('v',)]
    for script, kind in [(b'SELECT 1', TypeError), ('SELECT 1;\0', ValueError),
                         ('SELECT 1; SELECT "\ud8ff"', UnicodeEncodeError)]:
        with pytest.raises(kind):
            first.executescript(script)
    first.setlimit(sqpyte.SQLITE_LIMIT_SQL_LENGTH, 10)
    with pytest.raises(sqpyte.DataError, match='query string is too large'):
        first.executescript('SELECT 1000000')


def test_a_script_that_closes_the_connection(first, other):
    """Also while a cursor of another connection has rows left, so that locks are asked about."""
    other.execute('INSERT INTO t VALUES (1), (2), (3)')
    other.commit()
    first.create_function('close_it', 0, first.close)
    rows = other.execute('SELECT a FROM t')
    assert rows.fetchone() == (1,)
    with pytest.raises(sqpyte.ProgrammingError):
        first.executescript('SELECT close_it(); INSERT INTO t VALUES (4)')
    assert rows.fetchall() == [(2,), (3,)]
    assert other.execute('SELECT count(*) FROM t').fetchone() == (3,)


def test_total_changes(first):
    assert first.total_changes == 0
    first.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(5)])
    assert first.total_changes == 5
    first.execute('UPDATE t SET a = 1 WHERE a > 2')
    assert first.total_changes == 7


def test_a_lock_is_met_after_the_timeout(first, path):
    impatient = sqpyte.connect(path, timeout=0.05)
    first.execute('BEGIN IMMEDIATE')
    with pytest.raises(sqpyte.OperationalError, match='database is locked') as caught:
        impatient.execute('INSERT INTO t VALUES (1)')
    assert caught.value.sqlite_errorname == 'SQLITE_BUSY'
    first.rollback()
    impatient.execute('INSERT INTO t VALUES (1)')
    impatient.close()


class Adapted:
    """A parameter that notes whether a transaction is open when it is adapted."""

    def __init__(self, connection, seen):
        self.connection = connection
        self.seen = seen

    def __conform__(self, protocol):
        self.seen.append(self.connection.in_transaction)
        return 5


def test_a_transaction_is_begun_before_parameters_are_looked_at(tmp_path):
    path = str(tmp_path / 'x.db')
    connection = sqpyte.connect(path, timeout=0)
    connection.execute('CREATE TABLE t(a)')
    seen: list = []
    parameter = Adapted(connection, seen)

    class Named(dict):
        def __getitem__(self, name):
            seen.append(connection.in_transaction)
            return 6

    for what in (lambda: connection.execute('INSERT INTO t VALUES(?)', (parameter,)),
                 lambda: connection.execute('INSERT INTO t VALUES(:a)', Named(a=1)),
                 lambda: connection.executemany('INSERT INTO t VALUES(?)', [(parameter,)])):
        what()
        connection.rollback()
    assert seen == [True] * 3
    other = sqpyte.connect(path, isolation_level=None)
    other.execute('BEGIN EXCLUSIVE')
    connection.isolation_level = 'IMMEDIATE'
    with pytest.raises(sqpyte.OperationalError, match='database is locked'):
        connection.execute('INSERT INTO t VALUES(?)', (parameter,))
    assert seen == [True] * 3 and not connection.in_transaction
    other.close()


class RollingBack:
    """A parameter whose adapter rolls back."""

    def __init__(self, connection):
        self.connection = connection

    def __conform__(self, protocol):
        self.connection.rollback()
        return 5


@pytest.mark.parametrize('module', [sqpyte, pytest.param(sqlite3, marks=pytest.mark.skipif(
    sys.implementation.name == 'pypy' or sys.version_info < (3, 11), reason='other versions bind otherwise'))])
def test_a_transaction_is_begun_once_though_an_adapter_ends_it(module):
    connection = module.connect(':memory:')
    connection.execute('CREATE TABLE t(a)')
    parameter = RollingBack(connection)
    connection.execute('INSERT INTO t VALUES(?)', (parameter,))
    assert not connection.in_transaction
    connection.executemany('INSERT INTO t VALUES(?)', [(1,), (parameter,), (2,), (parameter,)])
    assert not connection.in_transaction
    connection.execute('INSERT INTO t VALUES(?)', (3,))
    assert connection.in_transaction
    # What the adapter found open in executemany is gone.
    assert [a for a, in connection.execute('SELECT a FROM t')] == [5, 5, 2, 5, 3]


def test_the_error_of_beginning_hides_that_of_a_parameter(tmp_path):
    path = str(tmp_path / 'x.db')
    connection = sqpyte.connect(path, timeout=0, isolation_level='IMMEDIATE')
    connection.execute('CREATE TABLE t(a)')
    other = sqpyte.connect(path, isolation_level=None)
    other.execute('BEGIN EXCLUSIVE')
    with pytest.raises(sqpyte.OperationalError, match='database is locked') as raised:
        connection.execute('INSERT INTO t VALUES(?)', ('\udcc3',))
    assert raised.value.__context__ is None
    other.close()
    with pytest.raises(UnicodeEncodeError):
        connection.execute('INSERT INTO t VALUES(?)', ('\udcc3',))
    assert connection.in_transaction
