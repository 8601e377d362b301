"""The same scenarios with sqpyte and with sqlite3, each a transcript of values and errors.

Messages are compared where the semantics are those of the Python that runs the tests; else, with those of a newer
one, what they have in common: classes of errors and values.
"""

import platform
import sqlite3
import sys

import pytest

import sqpyte
from pypy_module.dbapi import versions

EXACT = platform.python_implementation() == 'CPython' and versions.PYTHON == sys.version_info[:2]
COMPARABLE = platform.python_implementation() == 'CPython' and sys.version_info >= (3, 11)


class Session:
    """Runs actions and writes down what they return or raise."""

    def __init__(self, module, tmp_path):
        self.module = module
        self.path = str(tmp_path / (module.__name__ + '.db'))
        self.connection = module.connect(self.path)
        self.transcript = []

    def note(self, action, *args, **keywords):
        try:
            value = action(*args, **keywords)
        except Exception as error:
            value = type(error).__name__
            if EXACT:
                value = value, str(error), versions.PYTHON >= (3, 11) and getattr(error, 'sqlite_errorname', None)
        if isinstance(value, (self.module.Cursor, self.module.Connection)):
            value = type(value).__name__
        self.transcript.append(value)

    def run(self, sql, *parameters, **keywords):
        """Note a statement's rows and what its cursor tells."""
        def action():
            cursor = self.connection.execute(sql, *parameters, **keywords)
            rows = cursor.fetchall()
            return rows, cursor.description, cursor.rowcount, cursor.lastrowid
        self.note(action)
        self.note(lambda: (self.connection.in_transaction, self.connection.total_changes))


def statements(session):
    for sql in ['CREATE TABLE t(a INTEGER PRIMARY KEY, b, c REAL)', 'INSERT INTO t VALUES (1, 2, 3)',
                'INSERT INTO t VALUES (1, 2, 3)', 'INSERT OR IGNORE INTO t VALUES (1, 2, 3)',
                'INSERT INTO t(b) VALUES (\'x\'), (NULL), (x\'00\') RETURNING a, b', 'SELECT * FROM t',
                'UPDATE t SET b = 5 WHERE a > 1', 'SELECT sum(a), group_concat(b) FROM t',
                'PRAGMA table_info(t)', 'PRAGMA user_version = 5', 'PRAGMA user_version',
                'SELECT 1 WHERE 0', 'BEGIN', 'COMMIT', 'COMMIT', 'SAVEPOINT s',
                'DELETE FROM t', 'ROLLBACK TO s', 'RELEASE s', 'SELECT count(*) FROM t',
                'DELETE FROM t WHERE a = 2 RETURNING *', 'VALUES (1, 2), (3, 4)', 'VACUUM', '',
                'SELECT 1 AS "a [b]", 2 AS "", 3', 'SELEC', 'SELECT * FROM nowhere', 'SELECT 1;;',
                'SELECT 1; SELECT 2', '-- comment', 'DROP TABLE t', 'WITH x AS (SELECT 1) SELECT * '
                'FROM x', 'ATTACH \':memory:\' AS other', 'CREATE TABLE other.u(a)', 'DETACH other']:
        session.run(sql)
    session.note(session.connection.commit)
    session.run('VACUUM')


def parameters(session):
    for given in [(1, 2), [1, 2], {'a': 1, 'b': 2}, (1,), (1, 2, 3), 'ab', b'ab', {1, 2}, 5, None,
                  range(2), (1, object()), (2 ** 63, 1), (float('nan'), float('inf')),
                  ('\ud8ff', 1), (bytearray(b'x'), memoryview(b'y')), (True, None)]:
        session.run('SELECT ?, ?', given)
    for given in [{'a': 1, 'b': 2}, {'a': 1}, {'a': 1, 'b': 2, 'c': 3}, {}]:
        session.run('SELECT :a, :b, @a, $b', given)
        session.run('SELECT ?, :b', given)


def executing_many(session):
    connection = session.connection
    session.run('CREATE TABLE t(a UNIQUE, b)')

    def many(sql, rows):
        cursor = connection.cursor()
        try:
            cursor.executemany(sql, rows)
        finally:
            session.transcript.append((cursor.rowcount, cursor.lastrowid, cursor.description))
    insert = 'INSERT INTO t VALUES (?, ?)'
    for sql, rows in [(insert, [(i, i) for i in range(250)]), (insert, iter([(300, 1), (301, 1)])),
                      (insert, []), (insert, [(500, 1), (1, 1), (501, 1)]), (insert, [(600,)]),
                      (insert, [(i, i) for i in range(700, 900)] + [(0, 0)]), (insert, 5),
                      (insert, [(900, object())]), ('SELECT ?', [(1,)]), ('PRAGMA user_version', [()]),
                      ('UPDATE t SET b = ? WHERE a > ?', [('x', 100), (None, 240)]),
                      ('INSERT INTO t VALUES (:a, :b)', [{'a': 1000, 'b': 1}, {'a': 1001}]),
                      ('DELETE FROM t WHERE a = ?', [(i,) for i in range(20)]),
                      ('CREATE TABLE u(a)', [()]), ('SELEC', [()]), ('', [()])]:
        session.note(many, sql, rows)
        session.run('SELECT count(*), total(a), count(b) FROM t')
        session.note(connection.commit)


def fetching(session):
    connection = session.connection
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES (0), (1), (2), (3), (4), (5)')
    cursor = connection.cursor()
    session.note(cursor.fetchone)
    session.note(cursor.fetchall)
    cursor.execute('SELECT a FROM t')
    for action in [cursor.fetchone, cursor.fetchmany, lambda: cursor.fetchmany(2),
                   lambda: next(cursor), lambda: cursor.fetchmany(size=0), cursor.fetchone,
                   lambda: next(cursor), cursor.fetchall]:
        session.note(action)
    for sql in [None, 5, b'SELECT 1']:      # refused before anything is dropped
        cursor.execute('SELECT a FROM t')
        session.note(cursor.fetchone)
        session.note(cursor.execute, sql)
        session.note(cursor.executemany, sql, [()])
        session.note(lambda: (cursor.fetchone(), cursor.description, cursor.rowcount))
    for call in [connection, connection.execute, connection.executescript, connection.create_collation]:
        session.note(call, *[None, repr][:1 + (call == connection.create_collation)])
    cursor.arraysize = 4
    cursor.execute('SELECT a FROM t')
    session.note(cursor.fetchmany)
    session.note(cursor.close)
    session.note(cursor.fetchone)
    session.note(cursor.close)
    session.note(lambda: cursor.execute('SELECT 1'))
    session.note(connection.close)
    session.note(connection.cursor)
    session.note(cursor.fetchone)
    session.note(lambda: connection.execute('SELECT 1'))


def writing_between_rows(session):
    connection = session.connection
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES (0), (1), (2), (3), (4), (5)')
    for sql in ['DELETE FROM t WHERE a = :a + 1', 'INSERT INTO t SELECT :a + 10 WHERE :a < 10',
                'UPDATE t SET a = a + 1 WHERE a = :a + 2', 'DELETE FROM t WHERE a = :a',
                'CREATE TABLE IF NOT EXISTS u(a)', 'DROP TABLE IF EXISTS u', 'DROP TABLE t']:
        def read(sql=sql):
            found = []
            for a, in connection.execute('SELECT a FROM t'):
                found.append(a)
                try:
                    found.append(connection.execute(
                        sql, {'a': a} if ':a' in sql else ()).rowcount)
                except session.module.OperationalError as error:
                    found.append(str(error))
            return found
        session.note(read)
        session.run('SELECT a FROM t')
        session.note(connection.commit)


def rolling_back_between_rows(session):
    connection = session.connection
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES (0), (1), (2), (3), (4), (5)')
    for sql in ['DELETE FROM t WHERE a = 4', 'INSERT INTO t VALUES (9)', 'CREATE TABLE u(a)']:
        for end in [connection.commit, connection.rollback]:
            connection.execute('BEGIN')
            cursor = connection.execute('SELECT a FROM t')
            session.note(cursor.fetchone)
            session.run(sql)
            session.note(end)
            session.note(cursor.fetchone)
            session.note(cursor.fetchall)


def functions(session):
    connection = session.connection
    connection.executescript('CREATE TABLE t(a); INSERT INTO t VALUES (1), (2.5), (\'x\'), (NULL), '
                             '(x\'ff\')')

    class Count:
        def __init__(self):
            self.seen = []

        def step(self, *values):
            self.seen.append(values)

        def finalize(self):
            return repr(self.seen)

    class Bad:
        def step(self, value):
            raise ValueError

        def finalize(self):
            return object()
    connection.create_function('show', 1, repr)
    connection.create_function('show', -1, lambda *args: 'any ' + repr(args))
    connection.create_function('fail', 1, lambda a: a + 1)
    connection.create_function('back', 1, lambda a: [a])
    connection.create_aggregate('seen', 1, Count)
    connection.create_aggregate('seen', 2, Count)
    connection.create_aggregate('bad', 1, Bad)
    for sql in ['SELECT show(a) FROM t', 'SELECT show(), show(1, NULL)', 'SELECT fail(a) FROM t',
                'SELECT back(a) FROM t', 'SELECT seen(a), seen(a, a) FROM t',
                'SELECT seen(a) FROM t WHERE 0', 'SELECT a, seen(a) FROM t GROUP BY typeof(a)',
                'SELECT bad(a) FROM t', 'SELECT seen(a) OVER () FROM t', 'SELECT show(show(a)) FROM t']:
        session.run(sql)
    session.note(connection.create_function, 'x', -5, repr)
    session.note(connection.create_aggregate, 'x', -5, Count)


def factories(session):
    connection = session.connection
    connection.executescript('CREATE TABLE t(a, B); INSERT INTO t VALUES (1, \'ä\'), (2, \'x\')')
    for factory in [bytes, bytearray, str, lambda data: len(data)]:
        connection.text_factory = factory
        session.run('SELECT * FROM t')
    connection.text_factory = str
    connection.row_factory = session.module.Row

    def rows():
        return [(tuple(row), row.keys(), row['A'], row['b'], row[-1], row[0:1], len(row))
                for row in connection.execute('SELECT * FROM t')]
    session.note(rows)
    row = connection.execute('SELECT * FROM t').fetchone()
    for index in ['c', 5, -3, 1.5, None, slice(0, 5), True]:
        session.note(lambda index=index: row[index])
    connection.row_factory = lambda cursor, row: list(row)
    session.run('SELECT * FROM t')
    session.run("SELECT CAST(x'61ff' AS TEXT) AS c")
    session.run("SELECT 1 UNION ALL SELECT CAST(x'ff' AS TEXT)")


def levels(session):
    connection = session.connection
    session.run('CREATE TABLE t(a)')
    for level in ['DEFERRED', 'immediate', 'EXCLUSIVE', None, '', 'x', 5]:
        session.note(lambda level=level: setattr(connection, 'isolation_level', level))
        session.note(lambda: connection.isolation_level)
        session.run('INSERT INTO t VALUES (1)')
        session.note(connection.rollback)
        session.note(connection.rollback)
        session.run('SELECT count(*) FROM t')
    session.note(connection.executescript, 'BEGIN; INSERT INTO t VALUES (2); CREATE TABLE u(a)')
    session.note(lambda: connection.in_transaction)
    session.note(connection.executescript, 'SELECT 1; INSERT INTO t VALUES (3); SELEC; SELECT 2')
    session.note(connection.__enter__)
    session.note(connection.__exit__, None, None, None)
    session.note(connection.__exit__, ValueError, ValueError(), None)
    session.run('SELECT * FROM t')


def both(scenario, tmp_path):
    """The scenario's transcripts with sqpyte and with sqlite3."""
    transcripts = []
    for module in (sqpyte, sqlite3):
        session = Session(module, tmp_path)
        scenario(session)
        session.connection.close()
        transcripts.append(session.transcript)
    return transcripts


# Of each scenario the first version whose sqlite3 has none of the accidents in it that docs/versions.md lists.
SCENARIOS = [(statements, 10), (parameters, 9), (executing_many, 11), (fetching, 10), (writing_between_rows, 9),
             (functions, 9), (factories, 9), (levels, 9), (rolling_back_between_rows, 11)]


@pytest.mark.skipif(not EXACT and not COMPARABLE, reason='CI runs it with CPython 3.9 to 3.13')
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
@pytest.mark.parametrize('scenario', [
    pytest.param(scenario, marks=pytest.mark.since(3, minor)) for scenario, minor in SCENARIOS])
def test_the_same_as_sqlite3(scenario, tmp_path):
    ours, theirs = both(scenario, tmp_path)
    for i, (mine, other) in enumerate(zip(ours, theirs)):
        assert mine == other, 'action %d' % i
    assert len(ours) == len(theirs)
