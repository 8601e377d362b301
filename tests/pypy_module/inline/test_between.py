"""The inliner when something happens between two rows, or inside a function that a row calls."""
import gc
import threading

import pytest
from tests.outcome import outcome
from tests.pypy_module.inline.test_loops import ROWS, Sum, filled

from tests.pypy_module.inline.inlining import answers, compare, planned

AT = [0, 1, 2, 40, 41, 350, 698, 699]    # rows after which it happens

WRITES = [
    'UPDATE t SET d = \'changed\' WHERE a = {here}',
    'UPDATE t SET d = \'changed\' WHERE a = {next}',
    'UPDATE t SET d = \'changed\' WHERE a > {here}',
    'DELETE FROM t WHERE a = {here}',
    'DELETE FROM t WHERE a = {next}',
    'DELETE FROM t WHERE a > {here} AND a < {here} + 60',
    'DELETE FROM t',
    'INSERT INTO t VALUES(10000, 1, 2.5, \'new\', x\'00\')',
    'INSERT INTO t SELECT a + 1000, b, c, d, e FROM t',
    'UPDATE t SET a = a + 100000 WHERE a = {here}',
    'UPDATE t SET d = zeroblob(3000) WHERE a = {next}',
    'ALTER TABLE t ADD COLUMN f DEFAULT 7',
    'CREATE INDEX i ON t(b)',
    'CREATE TABLE u(x)',
    'DROP TABLE t',
    'VACUUM',
    'PRAGMA user_version = 5',
    'PRAGMA cache_size = 5',
    'PRAGMA wal_checkpoint',
    'BEGIN; DELETE FROM t; ROLLBACK',
    'SAVEPOINT s; DELETE FROM t WHERE a % 2; ROLLBACK TO s; RELEASE s',
    'BEGIN; DELETE FROM t WHERE a % 2; COMMIT',
    'ATTACH \':memory:\' AS other',
]


@pytest.mark.parametrize('write', WRITES)
def test_writes_between_rows(write):
    def action(side):
        found = []
        for at in AT:
            connection = filled(side)
            cursor = connection.execute('SELECT a, d, c FROM t WHERE b <> 4')
            rows = [cursor.fetchone() for _ in range(at)]
            here = rows[-1][0] if rows and rows[-1] else -1
            for part in write.split(';'):
                found.append(outcome(
                    lambda: connection.execute(part.format(here=here, next=here + 1)).fetchall()))
            found.append(outcome(cursor.fetchall))
            found.append(connection.execute('SELECT count(*), total(a), min(d) FROM t').fetchall()
                         if 'DROP' not in write else None)
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('write', WRITES)
@pytest.mark.parametrize('query', ['SELECT a, f(a), d FROM t WHERE b <> 4',
                                   'SELECT a, d, c FROM t WHERE f(a) % 3 <> 1 AND d > \'a\'',
                                   'SELECT s(f(a), d) FROM t'])
def test_writes_inside_functions(write, query):
    def action(side):
        found = []
        for at in (0, 1, 40, 350, 699):
            connection = filled(side)
            connection.create_aggregate('s', -1, Sum)
            calls = []

            def f(value):
                calls.append(value)
                if value == at:
                    for part in write.split(';'):
                        found.append(outcome(lambda: connection.execute(
                            part.format(here=value, next=value + 1)).fetchall()))
                return value
            connection.create_function('f', 1, f)
            found.append(outcome(lambda: connection.execute(query).fetchall()))
            found.append(list(calls))
        return found
    compare(action, oracle='C')


def test_writes_in_every_call():
    def action(side):
        connection = filled(side)
        calls = []

        def f(value):
            calls.append(value)
            connection.execute('INSERT INTO log VALUES(?)', (value,))
            return value
        connection.create_function('f', 1, f)
        found = connection.execute('SELECT f(a), f(b) FROM t WHERE c > 5').fetchall()
        return found, calls, connection.execute('SELECT * FROM log').fetchall()
    compare(action)


def test_a_function_changes_the_text_that_it_is_compared_with():
    def action(side):
        found = []
        for at in (1, 40, 350):
            connection = filled(side)

            def f(value, at=at, connection=connection):
                if value == at:
                    connection.execute('UPDATE t SET d = replace(d, \'text\', \'~~~~\') WHERE a = ?',
                                       (value,))
                return 'zzz'
            connection.create_function('f', 1, f)
            found.append(connection.execute('SELECT a FROM t WHERE d < f(a)').fetchall())
        return found
    compare(action)


def test_commit_rollback_and_close_between_rows():
    def action(side):
        found = []
        for at in AT:
            for what in ('commit', 'rollback', 'close'):
                connection = filled(side, isolation_level='')
                connection.execute('INSERT INTO log VALUES(1)')
                cursor = connection.execute('SELECT a, d FROM t')
                for _ in range(at):
                    cursor.fetchone()
                found.append(outcome(getattr(connection, what)))
                found.append(outcome(cursor.fetchall))
        return found
    compare(action, oracle='C')


def test_other_cursors_read_the_same_table():
    def action(side):
        connection = filled(side)
        found = []
        for row in connection.execute('SELECT a, d FROM t WHERE a % 50 = 0 OR b = 3'):
            found.append(row)
            found.append(connection.execute('SELECT count(*) FROM t WHERE b = ?',
                                            (row[0] % 13,)).fetchall())
            if row[0] % 100 == 0:
                found.append(connection.execute('SELECT a, d FROM t').fetchall())
        return found
    compare(action)


def test_the_same_query_inside_the_function_of_its_row():
    def action(side):
        connection = filled(side, ROWS[:60])
        depth = []

        def f(value):
            if len(depth) < 2 and value % 20 == 0:
                depth.append(value)
                try:
                    return sum(row[0] for row in connection.execute('SELECT f(a) FROM t'))
                finally:
                    depth.pop()
            return value
        connection.create_function('f', 1, f)
        return connection.execute('SELECT f(a) FROM t').fetchall()
    compare(action)


def test_recursive_use_of_the_cursor():
    def action(side):
        connection = filled(side, ROWS[:60])
        cursor = connection.cursor()
        found = []

        def f(value):
            found.append(outcome(cursor.fetchone))
            found.append(outcome(cursor.close))
            return value
        connection.create_function('f', 1, f)
        cursor.execute('SELECT f(a) FROM t')
        return [cursor.fetchone() for _ in range(10)], found
    compare(action, oracle='C')


def test_the_connection_is_closed_inside_a_function():
    with planned('inlined'):
        for query in ('SELECT f(a) FROM t', 'SELECT a FROM t WHERE f(a) > -1',
                      'SELECT s(f(a)) FROM t'):
            connection = filled(type('Side', (), {'connect': staticmethod(connect)}))
            connection.create_aggregate('s', -1, Sum)

            def f(value, connection=connection):
                if value == 50:
                    connection.close()
                return value
            connection.create_function('f', 1, f)
            found = outcome(lambda: connection.execute(query).fetchall())
            assert found == 'ProgrammingError: Cannot operate on a closed database.', query


@pytest.mark.parametrize('query', [
    'SELECT a FROM t WHERE f(a) > -1 AND a > (SELECT closing())', 'SELECT f(a), closing() FROM t',
    'INSERT INTO log VALUES(1), (2) RETURNING closing()', 'INSERT INTO log VALUES(closing()), (2) RETURNING 1',
    'SELECT s(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t WHERE a > (SELECT closing())'])
@pytest.mark.parametrize('planner', ['C', 'soon', 'inlined'])
def test_the_connection_is_closed_before_the_first_row(query, planner):
    with planned(planner):
        connection = filled(type('Side', (), {'connect': staticmethod(connect)}))
        connection.create_window_function('s', 1, Sum)
        connection.create_function('f', 1, lambda value: value)
        connection.create_function('closing', 0, lambda: connection.close() or 1)
        found = outcome(lambda: connection.execute(query).fetchall())
        assert found == 'ProgrammingError: Cannot operate on a closed database.'


@pytest.mark.parametrize('query', ['SELECT a FROM t', 'SELECT f(a) FROM t', 'SELECT s(a) FROM t GROUP BY a',
                                   'SELECT s(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t'])
@pytest.mark.parametrize('fetched', [0, 1, 2, 40])
def test_the_connection_is_opened_anew_amid_rows(query, fetched):
    def action(side):
        connection = filled(side)
        connection.create_window_function('s', 1, Sum)
        connection.create_function('f', 1, lambda value: value)
        connection.execute(query).fetchall()
        cursor = connection.execute(query)
        found = [cursor.fetchone() for _ in range(fetched)]
        connection.__init__(':memory:')
        return found, outcome(cursor.fetchall), connection.execute('SELECT count(*) FROM sqlite_schema').fetchall()
    found = answers(action, ('C', 'soon', 'unhurried', 'inlined'))
    assert found['C'] == found['soon'] == found['unhurried'] == found['inlined']


def connect(path, **keywords):
    """A connection of sqpyte."""
    import sqpyte
    return sqpyte.connect(path, isolation_level=None)


def test_functions_are_defined_between_rows():
    def action(side):
        connection = filled(side)
        connection.create_function('f', 1, lambda value: value)
        found = []
        cursor = connection.execute('SELECT f(a) FROM t')
        found += cursor.fetchmany(50)
        found.append(outcome(connection.create_function, 'f', 1, lambda value: -1))
        found.append(outcome(connection.create_function, 'g', 1, lambda value: -1))
        found += cursor.fetchall()
        found.append(connection.execute('SELECT f(a) FROM t').fetchmany(60))
        connection.create_function('f', 1, lambda value: -2)
        found.append(connection.execute('SELECT f(a) FROM t').fetchmany(60))
        return found
    compare(action, oracle='C')


def test_hooks_are_set_between_rows():
    def action(side):
        connection = filled(side)
        cursor = connection.execute('SELECT a FROM t')
        found = cursor.fetchmany(50)
        calls = []
        connection.set_progress_handler(lambda: calls.append(1), 100)
        found += cursor.fetchmany(50)
        connection.set_trace_callback(calls.append)
        connection.set_authorizer(lambda *args: 0)
        found += cursor.fetchall()
        again = connection.execute('SELECT a FROM t').fetchall()
        return found, again, len(calls) > 5
    compare(action)


def test_interrupt():
    def action(side):
        found = []
        for at in AT:
            connection = filled(side)
            cursor = connection.execute('SELECT a, d FROM t')
            for _ in range(at):
                cursor.fetchone()
            connection.interrupt()
            found += [outcome(cursor.fetchone) for _ in range(3)]
            found.append(outcome(lambda: connection.execute('SELECT a FROM t').fetchmany(50)))
        return found
    compare(action, oracle='C')


@pytest.mark.parametrize('query', [
    'SELECT a, d FROM t', 'SELECT a, d FROM t WHERE b > 1', 'SELECT t.a, u.d FROM t JOIN t AS u ON u.a = t.b',
    'SELECT a, d FROM t ORDER BY d', 'SELECT f(a), d FROM t', 'SELECT f(t.a), u.d FROM t JOIN t AS u ON u.a = t.b',
    'SELECT a, s(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t', 'SELECT s(a), d FROM t GROUP BY d'])
def test_an_interrupt_by_another_thread(query):
    """Not a row more is handed out, however many have been computed ahead."""
    def action(side):
        connection = filled(side)
        connection.create_function('f', 1, lambda value: value)
        connection.create_window_function('s', 1, Sum)
        found = []
        for at in (1, 5, 40):
            cursor = connection.execute(query)
            for _ in range(at):
                cursor.fetchone()
            thread = threading.Thread(target=connection.interrupt)
            thread.start()
            thread.join()
            found += [outcome(cursor.fetchone) for _ in range(2)]
        return found, connection.execute(query).fetchall()
    compare(action, oracle='C')


def test_the_last_row_frees_the_lock():
    def action(side):
        first = filled(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        cursor = first.execute('SELECT a FROM t WHERE b > 2')
        count = first.execute('SELECT count(*) FROM t WHERE b > 2').fetchone()[0]
        for _ in range(count - 1):
            cursor.fetchone()
        found = [outcome(lambda: other.execute('DELETE FROM t WHERE a = 0').fetchall())]
        cursor.fetchone()
        found.append(outcome(lambda: other.execute('DELETE FROM t WHERE a = 1').fetchall()))
        found.append(cursor.fetchone())
        return found
    answer = compare(action)
    assert answer[0] == 'OperationalError: database is locked'


def test_dropped_cursors_free_the_lock():
    def action(side):
        first = filled(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        for query in ('SELECT a FROM t', 'SELECT f(a) FROM t'):
            first.create_function('f', 1, lambda value: value)
            cursor = first.execute(query)
            cursor.fetchmany(50)
            cursor.close()
            other.execute('DELETE FROM t WHERE a = 0')
            cursor = first.execute(query)
            cursor.fetchmany(50)
            cursor.execute('SELECT 1')
            other.execute('DELETE FROM t WHERE a = 1')
            cursor = first.execute(query)
            cursor.fetchmany(50)
            del cursor
            for _ in range(4):
                gc.collect()
            other.execute('DELETE FROM t WHERE a = 2')
        return other.execute('SELECT count(*) FROM t').fetchall()
    compare(action, oracle='C')


def test_a_writer_on_another_connection():
    def action(side):
        first = filled(side, path=side.path)
        first.execute('PRAGMA journal_mode = WAL').fetchall()     # PyPy's own module doesn't end it by itself
        other = side.connect(side.path, timeout=0)
        cursor = first.execute('SELECT a, d FROM t')
        found = cursor.fetchmany(100)
        other.execute('DELETE FROM t WHERE a > 100')
        other.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
        other.execute('VACUUM')
        found += cursor.fetchall()
        found += first.execute('SELECT a, d FROM t').fetchall()
        return found
    compare(action)


def test_a_shared_cache():
    def action(side):
        first = filled(side, path='file:shared?mode=memory&cache=shared', uri=True)
        other = side.connect('file:shared?mode=memory&cache=shared', uri=True)
        other.execute('PRAGMA read_uncommitted = 1')
        cursor = other.execute('SELECT a, d FROM t')
        found = cursor.fetchmany(50)
        first.execute('DELETE FROM t WHERE a > 100')
        return found + cursor.fetchall()
    compare(action, inlined=False)


def test_statements_are_compiled_again():
    def action(side):
        first = filled(side, path=side.path)
        other = side.connect(side.path, timeout=0)
        first.create_function('f', 1, lambda value: value)
        found = []
        for change in ('CREATE TABLE u(x)', 'ALTER TABLE t ADD COLUMN f DEFAULT 5',
                       'ALTER TABLE t RENAME COLUMN d TO dd', 'DROP TABLE u'):
            for query in ('SELECT * FROM t', 'SELECT a FROM t WHERE f(a) > 600',
                          'SELECT f(a), b FROM t WHERE b > 5'):
                cursor = first.execute(query)
                found.append((cursor.fetchmany(60), cursor.description))
                cursor.close()
            other.execute(change)
            found.append(first.execute('SELECT * FROM t').fetchall())
        return found
    compare(action)


def test_a_second_thread():
    import threading

    def action(side):
        connection = filled(side, check_same_thread=False)
        cursor = connection.execute('SELECT a, d FROM t')
        found = cursor.fetchmany(50)
        thread = threading.Thread(target=lambda: found.extend(cursor.fetchmany(50)))
        thread.start()
        thread.join()
        return found + cursor.fetchall()
    compare(action, inlined=False)
