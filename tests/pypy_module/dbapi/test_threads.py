"""Threads: refused by default, taking turns if allowed."""

import gc
import queue
import random
import threading
import time

import pytest

import sqpyte
from tests.at_once import at_once
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


def in_time(function):
    """The same, in a minute: the thread is left where it is if it hangs."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), 'it hangs'
    return found[0]


class Adapted:
    """A parameter whose adapter is `act`."""

    def __init__(self, act):
        self.act = act

    def __conform__(self, protocol):
        return self.act()


class Sequence:
    """Parameters whose only item is what `act` returns."""

    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.act()


@pytest.mark.parametrize('inline', [True, 'always'])
def test_what_the_program_gives_may_wait_for_another_thread(path, inline):
    """An adapter, a sequence, an iterator, a text factory and a converter wait for a thread that writes and reads."""
    saved = sqpyte.configure()
    sqpyte.configure(inline=inline)
    connection = sqpyte.connect(path, check_same_thread=False, detect_types=sqpyte.PARSE_COLNAMES)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    done = []

    def another(data=None):
        """The value for a parameter, a text or a column, after another thread has inserted a row and counted."""
        def use():
            connection.execute('INSERT INTO t(b) VALUES (?)', ('x',))
            return connection.execute('SELECT count(*) FROM t').fetchone()[0]
        done.append(in_thread(use))
        return 'y%d' % done[-1]
    insert = 'INSERT INTO t(b) VALUES (?)'

    def act():
        connection.execute(insert, (Adapted(another),))
        connection.execute(insert, Sequence(another))
        connection.executemany(insert, iter([(Adapted(another),)]))
        connection.executemany(insert, ((another(),) for _ in range(2)))
        connection.text_factory = another
        texts = connection.execute("SELECT 'a' UNION ALL SELECT 'b'").fetchall()
        connection.text_factory = str
        sqpyte.register_converter('other', another)
        return texts, connection.execute("SELECT 'c' AS 'c [other]', 1").fetchall()
    try:
        assert in_time(act) == ([('y11',), ('y12',)], [('y13', 1)])
    finally:
        sqpyte.configure(**saved)
    assert done == [1, 3, 5, 7, 9, 11, 12, 13]
    assert [b for b, in connection.execute("SELECT b FROM t WHERE b <> 'x' ORDER BY a")] == [
        'y1', 'y3', 'y5', 'y7', 'y9']
    assert connection.in_transaction
    connection.close()


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


def use(connection, what):
    """Use a connection, which another thread may close at any time."""
    if what == 'execute':
        return connection.execute('VALUES(1), (2), (3)').fetchall()
    if what == 'executemany':
        return connection.executemany('INSERT INTO t VALUES(?)', [(1,), (2,)])
    if what == 'blob':
        with connection.blobopen('t', 'a', 1) as blob:
            return blob.read(), len(blob), blob[0]
    method = getattr(connection, what)
    return method(*ARGUMENTS[what]) if what in ARGUMENTS else method


ARGUMENTS = {
    'commit': (), 'rollback': (), 'interrupt': (), 'serialize': (), 'executescript': ['SELECT 1; SELECT 2'],
    'getlimit': [1], 'create_function': ['f', 1, len], 'create_collation': ['c', min], 'set_authorizer': [None],
    'set_progress_handler': [None, 5], 'set_trace_callback': [None], '__call__': ['SELECT 1']}


@pytest.mark.parametrize('what', ['execute', 'executemany', 'blob', 'in_transaction', 'total_changes', *ARGUMENTS])
def test_another_thread_closes_the_connection(what, restless):
    """Whoever waits for its lock meanwhile, or is about to use it, is told so."""
    def opened():
        connection = sqpyte.connect(':memory:', check_same_thread=False)
        connection.execute('CREATE TABLE t(a)')
        connection.execute('INSERT INTO t VALUES(zeroblob(9))')
        return connection
    open_now, failures, done = [opened()], [], []

    def work():
        while not done:
            try:
                use(open_now[0], what)
            except sqpyte.Error as error:
                if 'closed' not in str(error) and what != 'blob' and 'interrupted' not in str(error):
                    failures.append(error)
            except BaseException as error:
                failures.append(error)
                return
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        before, open_now[0] = open_now[0], opened()
        before.close()
    done.append(True)
    for thread in threads:
        thread.join()
    assert failures == []
    open_now[0].close()


class Owner:
    """A thread with a connection of its own, which does one thing after the other with it."""

    def __init__(self, path):
        self.jobs: queue.SimpleQueue = queue.SimpleQueue()
        self.done: queue.SimpleQueue = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.run, args=(path,))
        self.thread.start()

    def run(self, path):
        connection = sqpyte.connect(path, isolation_level=None, timeout=60)
        for job in iter(self.jobs.get, None):
            self.done.put(job(connection))
        if self.closes:
            connection.close()

    def do(self, job):
        """What job(connection) returns, in the thread."""
        self.jobs.put(job)
        return self.done.get(timeout=60)

    def end(self, closes=True):
        self.closes = closes
        self.jobs.put(None)
        self.thread.join(60)


def many_rows(path, count=3000):
    connection = sqpyte.connect(path, isolation_level=None, timeout=60)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
    connection.execute('BEGIN')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 2 * i) for i in range(count)])
    connection.execute('COMMIT')
    connection.execute('CREATE TABLE u(n, k)')
    return connection


def drops_a_cursor(connection):
    assert connection.execute('SELECT a, b FROM t').fetchone() == (0, 0)


@pytest.mark.parametrize('inline', [False, True, 'always'])
def test_an_idle_thread_has_dropped_a_cursor(path, inline, configured):
    """Nobody waits for its lock, as long as that thread does nothing else, and when it has ended."""
    configured(inline=inline)
    connection = many_rows(path)
    connection.execute('PRAGMA busy_timeout=500')
    owner = Owner(path)
    owner.do(drops_a_cursor)
    connection.execute('INSERT INTO u VALUES(1, 1)')
    owner.do(drops_a_cursor)
    gc.collect()
    gc.collect()        # PyPy runs finalizers in the thread that collects
    assert owner.do(lambda own: own.execute('SELECT a, b FROM t').fetchall()) == [(i, 2 * i) for i in range(3000)]
    kept = []
    owner.do(lambda own: (drops_a_cursor(own), kept.append(own)))
    owner.end(closes=False)
    connection.execute('INSERT INTO u VALUES(1, 2)')
    connection.close()


def test_a_cursor_that_is_used_keeps_its_lock(path):
    """In another thread, whose cursor isn't garbage."""
    connection = many_rows(path)
    connection.execute('PRAGMA busy_timeout=0')
    owner, kept = Owner(path), []
    owner.do(lambda own: kept.append(own.execute('SELECT a, b FROM t')))
    assert owner.do(lambda own: kept[0].fetchone()) == (0, 0)
    with pytest.raises(sqpyte.OperationalError, match='locked'):
        connection.execute('INSERT INTO u VALUES(1, 1)')
    assert owner.do(lambda own: kept[0].fetchall()) == [(i, 2 * i) for i in range(1, 3000)]
    connection.execute('INSERT INTO u VALUES(1, 1)')
    owner.end()
    connection.close()


def test_a_statement_waits_beside_a_dropped_cursor_of_its_own(path):
    """SQLite doesn't wait for a lock as long as the connection reads."""
    connection = many_rows(path)
    owner = Owner(path)
    owner.do(lambda own: own.execute('BEGIN IMMEDIATE'))
    drops_a_cursor(connection)
    threading.Timer(0.3, owner.jobs.put, [lambda own: own.execute('COMMIT')]).start()
    connection.execute('INSERT INTO u VALUES(1, 1)')
    owner.end()
    connection.close()


@pytest.mark.parametrize('journal', ['delete', 'wal'])
@pytest.mark.parametrize('inline', [False, 'always'])
def test_threads_drop_cursors_and_write(path, inline, journal, configured):
    """Each with its own connection: nobody is refused, and all rows come."""
    configured(inline=inline)
    connection = many_rows(path, 1000)
    connection.execute('PRAGMA journal_mode=' + journal)

    def work(number):
        choice = random.Random(number)
        own = sqpyte.connect(path, isolation_level=None, timeout=60)
        own.create_function('f', 1, lambda value: value)
        written = 0
        end = time.monotonic() + 2
        while time.monotonic() < end:
            first, what = choice.randrange(900), choice.randrange(6)
            if what == 0:
                own.execute('SELECT a, b FROM t').fetchmany(5)
            elif what == 1:
                assert own.execute('SELECT f(a), b FROM t WHERE a >= ?', (first,)).fetchone() == (first, 2 * first)
            elif what == 2:
                assert own.execute('SELECT sum(f(a)) FROM t GROUP BY a / 100').fetchone() == (4950,)
            elif what == 3:
                rows = own.execute('SELECT f(a), b FROM t WHERE a >= ?', (first,)).fetchall()
                assert rows == [(i, 2 * i) for i in range(first, 1000)]
            elif what == 4:
                gc.collect()
            else:
                own.execute('INSERT INTO u VALUES(?, ?)', (number, written))
                written += 1
        own.close()
        return written
    written = at_once(work, 4)
    assert [type(count) for count in written] == [int] * 4, written
    assert connection.execute('SELECT count(*) FROM u').fetchone() == (sum(written),)
    assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    connection.close()
