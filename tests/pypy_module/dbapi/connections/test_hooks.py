"""Authorizer, progress handler, trace callback and collations."""

import signal

import pytest

import sqpyte


def test_authorizer(numbers):
    asked = []

    def authorizer(action, first, second, database, source):
        asked.append((action, first, second, database, source))
        if action == sqpyte.SQLITE_READ and second == 'b':
            return sqpyte.SQLITE_DENY
        if action == sqpyte.SQLITE_READ and second == 'a':
            return sqpyte.SQLITE_IGNORE
        return sqpyte.SQLITE_OK
    numbers.set_authorizer(authorizer)
    assert numbers.execute('SELECT a FROM t LIMIT 1').fetchall() == [(None,)]
    assert (sqpyte.SQLITE_SELECT, None, None, None, None) in asked
    assert (sqpyte.SQLITE_READ, 't', 'a', 'main', None) in asked
    with pytest.raises(sqpyte.DatabaseError, match='access to t.b is prohibited'):
        numbers.execute('SELECT b FROM t')
    numbers.set_authorizer(None)
    assert numbers.execute('SELECT b FROM t LIMIT 1').fetchall() == [('row 0',)]


@pytest.mark.parametrize('answer', ['x', None, 1.0, 2 ** 40])
def test_authorizers_that_answer_nonsense_deny(numbers, answer):
    numbers.set_authorizer(lambda *args: answer)
    with pytest.raises(sqpyte.DatabaseError, match='not authorized'):
        numbers.execute('SELECT 1')


def test_an_authorizer_that_raises_denies(numbers):
    numbers.set_authorizer(lambda *args: 1 // 0)
    with pytest.raises(sqpyte.DatabaseError, match='not authorized'):
        numbers.execute('SELECT 1')


def test_progress_handler(numbers):
    calls = []
    numbers.set_progress_handler(lambda: calls.append(1), 10)
    numbers.execute('SELECT count(*) FROM t, t, t').fetchone()
    assert len(calls) > 5
    numbers.set_progress_handler(lambda: True, 10)
    with pytest.raises(sqpyte.OperationalError, match='interrupted'):
        numbers.execute('SELECT count(*) FROM t, t, t').fetchone()
    numbers.set_progress_handler(lambda: 1 // 0, 10)
    with pytest.raises(sqpyte.OperationalError, match='interrupted'):
        numbers.execute('SELECT count(*) FROM t, t, t').fetchone()
    numbers.set_progress_handler(None, 10)
    del calls[:]
    numbers.execute('SELECT count(*) FROM t, t, t').fetchone()
    assert calls == []


def test_trace_callback(numbers):
    traced = []
    numbers.set_trace_callback(traced.append)
    numbers.execute("SELECT ?, 'ä'", ('x',)).fetchall()
    numbers.execute('INSERT INTO t VALUES (1, 1)')
    numbers.rollback()
    assert traced == ["SELECT 'x', 'ä'", 'BEGIN ', 'INSERT INTO t VALUES (1, 1)', 'ROLLBACK']
    numbers.set_trace_callback(lambda sql: 1 // 0)
    assert numbers.execute('SELECT 1').fetchall() == [(1,)]
    numbers.set_trace_callback(None)
    numbers.execute('SELECT 2')
    assert len(traced) == 4


def test_interrupt(numbers):
    numbers.create_function('stop', 0, numbers.interrupt)
    with pytest.raises(sqpyte.OperationalError, match='interrupted') as caught:
        numbers.execute('SELECT stop(), count(*) FROM t, t, t, t').fetchall()
    assert caught.value.sqlite_errorname == 'SQLITE_INTERRUPT'
    numbers.execute('SELECT 1').fetchall()


@pytest.mark.since(3, 11)
def test_collations(numbers):
    numbers.create_collation('backwards', lambda a, b: (a < b) - (a > b))
    assert numbers.execute('SELECT a FROM t WHERE a < 3 ORDER BY b COLLATE backwards'
                           ).fetchall() == [(2,), (1,), (0,)]
    numbers.create_collation('ähnlich', lambda a, b: (a > b) - (a < b))
    assert numbers.execute("SELECT 'a' < 'b' COLLATE \"ähnlich\"").fetchone() == (1,)
    numbers.create_collation('BACKWARDS', None)
    with pytest.raises(sqpyte.OperationalError, match='no such collation sequence: backwards'):
        numbers.execute('SELECT a FROM t ORDER BY b COLLATE backwards')
    with pytest.raises(TypeError, match='parameter must be callable'):
        numbers.create_collation('x', 5)
    with pytest.raises(TypeError):
        numbers.create_collation(5, len)


@pytest.mark.parametrize('answer', [2 ** 100, -2 ** 100, 'x', None, 0.5])
def test_what_collations_answer(numbers, answer):
    numbers.create_collation('odd', lambda a, b: answer)
    expected = 0 if not isinstance(answer, int) else (answer > 0) - (answer < 0)
    assert numbers.execute("SELECT ('a' > 'b' COLLATE odd) - ('a' < 'b' COLLATE odd)"
                           ).fetchone() == (expected,)


def test_a_collation_that_answers_what_is_like_an_int(numbers):
    class Like:
        def __init__(self, value):
            self.value = value

        def __index__(self):
            return self.value
    numbers.create_collation('backwards', lambda a, b: Like((a < b) - (a > b)))
    assert numbers.execute('SELECT a FROM t ORDER BY b COLLATE backwards').fetchall() == [
        (i,) for i in range(9, -1, -1)]


def test_what_a_collation_raises(numbers):
    numbers.create_collation('fails', lambda a, b: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        numbers.execute('SELECT a FROM t ORDER BY b COLLATE fails')
    assert numbers.execute('SELECT 1').fetchall() == [(1,)]


@pytest.mark.parametrize('run', ['execute', 'executemany'])
def test_what_a_collation_raises_beside_an_error_of_sqlite(connection, run):
    """SQLite's error is raised, and the next statement knows nothing of the other."""
    failing = []
    connection.create_collation('fails', lambda a, b: 1 // 0 if failing else (a > b) - (a < b))
    connection.execute('CREATE TABLE u(a TEXT COLLATE fails UNIQUE)')
    connection.execute("INSERT INTO u VALUES('a')")
    failing.append(True)
    with pytest.raises(sqpyte.IntegrityError, match='UNIQUE'):
        if run == 'execute':
            connection.execute("INSERT INTO u VALUES('b')")
        else:
            connection.executemany('INSERT INTO u VALUES(?)', [('b',)])
    assert connection.execute('SELECT 1').fetchall() == [(1,)]


def test_what_a_collation_raises_in_a_script(numbers):
    """It ends the script, also where its statement fails, and is over then."""
    numbers.create_collation('fails', lambda a, b: 1 // 0)
    for first in ("SELECT 'x' < 'y' COLLATE fails",
                  "CREATE TABLE w(a COLLATE fails UNIQUE); INSERT INTO w VALUES('x'), ('y')"):
        with pytest.raises(ZeroDivisionError):
            numbers.executescript(first + '; CREATE TABLE u(a); SELECT nonsense')
        assert numbers.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'u'").fetchall() == [(0,)]


def test_limits(connection):
    category = sqpyte.SQLITE_LIMIT_VARIABLE_NUMBER
    before = connection.getlimit(category)
    assert connection.setlimit(category, 5) == before
    assert connection.getlimit(category) == 5
    with pytest.raises(sqpyte.OperationalError, match='too many SQL variables'):
        connection.execute('SELECT ' + ', '.join('?' * 6))
    with pytest.raises(sqpyte.ProgrammingError, match="'category' is out of bounds"):
        connection.getlimit(1111)


def test_switches(connection):
    op = sqpyte.SQLITE_DBCONFIG_ENABLE_FKEY
    assert connection.getconfig(op) is False
    connection.setconfig(op)
    assert connection.getconfig(op) is True
    connection.setconfig(op, False)
    assert connection.getconfig(op) is False
    with pytest.raises(ValueError, match="unknown config 'op': 0"):
        connection.getconfig(0)


def test_extensions(connection, tmp_path):
    connection.enable_load_extension(True)
    with pytest.raises(sqpyte.OperationalError, match='cannot open shared object file'):
        connection.load_extension(str(tmp_path / 'nothing'), entrypoint='start')
    connection.enable_load_extension(False)
    with pytest.raises(sqpyte.OperationalError, match='not authorized'):
        connection.load_extension(str(tmp_path / 'nothing'))


ROWS = 'WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r LIMIT %d) SELECT ' % 10 ** 8


@pytest.mark.parametrize('query', ['sum(a) FROM r', 'sum(f(a)) FROM r', 'g(a) FROM r',
                                   'sum(f(x.a)) FROM r AS x JOIN (VALUES(1), (2)) ORDER BY f(1)'])
def test_signals_are_heard_while_sqlite_calls_functions(connection, query):
    """The handler of a signal, which the functions ask for; PyPy has compiled them long before."""
    heard = []

    def look():
        if heard:
            raise ValueError

    class Last:
        def step(self, value):
            look()
            self.value = value

        def finalize(self):
            return self.value
    connection.create_function('f', 1, lambda value: look() or value)
    connection.create_aggregate('g', 1, Last)
    if 'f(' not in query and 'g(' not in query:
        connection.set_progress_handler(lambda: bool(heard), 100)
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(sqpyte.OperationalError):
            connection.execute(ROWS + query).fetchall()
        assert heard
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
