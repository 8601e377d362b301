"""Threads: refused by default, taking turns if allowed."""

import threading

import pytest

import sqpyte
from tests.interrupting import interrupted


def in_thread(function):
    """What `function` returns or raises in another thread."""
    found = []

    def run():
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_other_threads_are_refused(numbers):
    cursor = numbers.execute('SELECT a FROM t')
    row = numbers.execute('SELECT count(*) FROM t')
    for use in (cursor.fetchone, cursor.fetchall, cursor.close, row.fetchone,
                lambda: cursor.execute('SELECT 1'), lambda: numbers.execute('SELECT 1'),
                lambda: numbers.executemany('INSERT INTO t VALUES (?, ?)', [(1, 2)]),
                numbers.cursor, numbers.commit, numbers.rollback, numbers.close,
                lambda: numbers.create_function('f', 1, len), numbers.serialize,
                lambda: list(numbers.iterdump()), lambda: numbers.autocommit):
        error = in_thread(use)
        assert isinstance(error, sqpyte.ProgrammingError), use
        assert 'SQLite objects created in a thread can only be used in that same thread' in str(
            error)
    assert cursor.fetchone() == (0,)
    cursor.fetchall()
    assert in_thread(numbers.interrupt) is None


def test_threads_share_a_connection_if_allowed(path):
    connection = sqpyte.connect(path, check_same_thread=False)
    connection.execute('CREATE TABLE t(a INTEGER, b)')
    connection.create_function('double', 1, lambda a: 2 * a)
    failures = []

    def work(number):
        try:
            for i in range(100):
                connection.execute('INSERT INTO t VALUES (?, ?)', (number, 'text %d' % i))
                rows = connection.execute('SELECT double(a), b FROM t WHERE a = ?', (number,)
                                          ).fetchall()
                assert rows == [(2 * number, 'text %d' % j) for j in range(i + 1)]
                count, = connection.execute('SELECT count(*) FROM t WHERE a = ?', (number,)
                                            ).fetchone()
                assert count == i + 1
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    connection.commit()
    assert connection.execute('SELECT count(*) FROM t').fetchone() == (600,)
    connection.close()


def test_threads_share_a_cursor_if_allowed(path):
    connection = sqpyte.connect(path, check_same_thread=False)
    connection.execute('CREATE TABLE t(a)')
    connection.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(1000)])
    cursor = connection.execute('SELECT a FROM t')
    found, failures = [], []

    def fetch():
        try:
            row = cursor.fetchone()
            while row is not None:
                found.append(row[0])
                row = cursor.fetchone()
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=fetch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(found) == list(range(1000))
    connection.close()


def test_interrupt_from_another_thread(path):
    connection = sqpyte.connect(path)
    with interrupted(connection.interrupt, 0.2):
        with pytest.raises(sqpyte.OperationalError, match='interrupted'):
            connection.execute('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) '
                               'SELECT count(*) FROM c').fetchall()
    connection.close()


def test_connections_of_their_own(tmp_path):
    failures = []

    def work(number):
        try:
            connection = sqpyte.connect(str(tmp_path / ('%d.db' % number)))
            connection.execute('CREATE TABLE t(a)')
            connection.executemany('INSERT INTO t VALUES (?)', [(i,) for i in range(2000)])
            connection.create_function('f', 1, lambda a: a + number)
            assert sum(a for a, in connection.execute('SELECT f(a) FROM t')) == (
                1999000 + 2000 * number)
            connection.close()
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
