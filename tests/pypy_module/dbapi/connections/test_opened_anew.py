"""Connection.__init__, called anew: what cursors are in the middle of goes on in the old database."""

import os

import pytest

import sqpyte


def churned(connection, collect):
    """Free what nobody refers to, and use its memory for something else."""
    collect()
    for number in range(200):
        connection.create_function('g%d' % number, 1, lambda a: 'wrong')


def test_functions_of_the_old_database_stay(numbers, collect):
    class Count:
        def __init__(self):
            self.count = 0

        def step(self, value):
            self.count += 1

        def finalize(self):
            return self.count

    numbers.create_function('f', 1, lambda a: a)
    numbers.create_aggregate('n', 1, Count)
    numbers.create_collation('c', lambda a, b: (a > b) - (a < b))
    cursors = [numbers.execute(sql) for sql in (
        'SELECT f(a) FROM t', 'SELECT f(a) + n(b) FROM t GROUP BY a', "SELECT a FROM t WHERE b > 'row' COLLATE c",
        'SELECT f(t.a) FROM t JOIN t AS u USING(a)')]
    assert [cursor.fetchone()[0] for cursor in cursors] == [0, 1, 0, 0]
    numbers.__init__(':memory:')
    churned(numbers, collect)
    assert [[a for a, in cursor.fetchall()] for cursor in cursors] == [
        list(range(1, 10)), list(range(2, 11)), list(range(1, 10)), list(range(1, 10))]


@pytest.mark.parametrize('set_hook', [
    lambda connection, calls: connection.set_progress_handler(lambda: calls.append(1), 2),
    lambda connection, calls: connection.set_authorizer(lambda *args: calls.append(1) or sqpyte.SQLITE_OK)])
def test_hooks_of_the_old_database_stay(numbers, collect, set_hook):
    calls = []
    set_hook(numbers, calls)
    cursor = numbers.execute('SELECT a FROM t')
    cursor.fetchone()
    numbers.__init__(':memory:')
    churned(numbers, collect)
    assert len(cursor.fetchall()) == 9 and calls


def test_within_a_function_of_its_own(path, collect):
    connection = sqpyte.connect(path)
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES(?)', [(number,) for number in range(100)])
    connection.commit()

    def anew(a):
        if a == 50:
            connection.__init__(':memory:')
            churned(connection, collect)
        return a
    connection.create_function('anew', 1, anew)
    assert connection.execute('SELECT anew(a) FROM t').fetchall() == [(number,) for number in range(100)]
    assert connection.execute('SELECT * FROM sqlite_master').fetchall() == []
    connection.close()
    collect()
    assert path not in [os.readlink('/proc/self/fd/' + fd) for fd in os.listdir('/proc/self/fd')
                        if os.path.exists('/proc/self/fd/' + fd)]


@pytest.mark.parametrize('sql', ['SELECT anew(a) FROM t ORDER BY b', 'SELECT max(anew(a)) FROM t',
                                 'SELECT anew(a) FROM t LIMIT 3', 'SELECT a FROM t WHERE anew(a) < 5'])
@pytest.mark.parametrize('call', [1, 3])
def test_within_a_function_in_execute(numbers, sql, call):
    expected = numbers.execute(sql.replace('anew(a)', 'a')).fetchall()
    calls = []

    def anew(a):
        calls.append(a)
        if len(calls) == call:
            numbers.__init__(':memory:')
        return a
    numbers.create_function('anew', 1, anew)
    cursor = numbers.execute(sql)
    assert cursor.fetchall() == expected
    with pytest.raises(sqpyte.OperationalError, match='no such table'):
        cursor.execute(sql)


def test_as_the_target_of_a_backup(numbers):
    target = sqpyte.connect(':memory:')
    calls = []

    def progress(*args):
        calls.append(args)
        if len(calls) == 1:
            target.__init__(':memory:')
            target.execute('CREATE TABLE fresh(a)')
    numbers.execute('CREATE TABLE large AS WITH c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 9) '
                    'SELECT randomblob(9000) FROM c')
    numbers.backup(target, pages=1, progress=progress)
    assert len(calls) > 2
    assert target.execute('SELECT name FROM sqlite_master').fetchall() == [('fresh',)]
    target.close()


def test_a_cursor_executes_in_the_new_database(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    cursor.fetchone()
    numbers.text_factory = bytes
    numbers.__init__(':memory:', check_same_thread=False)
    assert numbers.text_factory is str
    numbers.execute('CREATE TABLE u(a)')
    assert cursor.executemany('INSERT INTO u VALUES(?)', [('x',), ('y',)]).rowcount == 2
    assert cursor.execute('SELECT a FROM u').fetchall() == [('x',), ('y',)]
    cursor.executescript('DROP TABLE u')
    with pytest.raises(sqpyte.OperationalError, match='no such table: u'):
        cursor.execute('SELECT a FROM u')


def test_that_fails(numbers, tmp_path):
    cursor = numbers.execute('SELECT a FROM t')
    cursor.fetchone()
    with pytest.raises(sqpyte.OperationalError, match='unable to open'):
        numbers.__init__(str(tmp_path))
    for use in (cursor.fetchone, lambda: cursor.execute('SELECT 1'), lambda: numbers.execute('SELECT 1')):
        with pytest.raises(sqpyte.ProgrammingError, match='Base Connection.__init__ not called.'):
            use()
    numbers.__init__(':memory:')
    assert numbers.execute('SELECT 1').fetchall() == [(1,)]


def test_again_and_again(collect):
    connection = sqpyte.connect(':memory:')
    cursors = []
    for number in range(20):
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(number,)] * 5)
        cursor = connection.execute('SELECT a FROM t')
        cursor.fetchone()
        cursors.append(cursor)
        connection.__init__(':memory:')
    assert [cursor.fetchall() for cursor in cursors] == [[(number,)] * 4 for number in range(20)]
    connection.close()


def test_settings_before_init_are_forgotten():
    class Early(sqpyte.Connection):
        def __init__(self, *args):
            assert self.text_factory is None
            self.text_factory = bytes
            self.row_factory = sqpyte.Row
            self.isolation_level = 'IMMEDIATE'
            super().__init__(*args)
    connection, other = Early(':memory:'), sqpyte.connect(':memory:')
    for one in (connection, other):
        assert one.text_factory is str and one.row_factory is None and one.isolation_level == ''
        assert one.execute("SELECT 'x'").fetchall() == [('x',)]
