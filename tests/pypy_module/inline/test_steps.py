"""What an sqlite3_step is, to loops that are inlined: interrupts that come from a query's own functions,
collations and aggregates, and between two rows, end it where it ends in C, after as many calls and rows;
and the time is one time in a step, another in the next."""
import time

import pytest

import sqpyte
from tests.at_once import at_once
from tests.outcome import outcome
from tests.pypy_module.inline.inlining import compare

ROWS = 120
CALLS = (1, 2, 5, 40, 119, 120, 121)    # at which call of user code the query is interrupted

QUERIES = [
    'SELECT f(a) FROM t',
    'SELECT f(a) FROM t LIMIT 5',
    'SELECT a FROM t WHERE f(a) % 3 = 0',
    "SELECT CASE WHEN f(a) THEN 'x' ELSE 'y' END, upper(b) FROM t",
    'SELECT sum(f(a)) FROM t',
    'SELECT steps(a) FROM t',
    'SELECT steps(f(a)) FROM t WHERE a > 3',
    'SELECT f(a), (SELECT max(b) FROM t WHERE a = 3) FROM t',
    'SELECT f(t.a), v.b FROM t, t AS v WHERE v.a = t.a',
    'SELECT f(t.a), v.b FROM t, t AS v WHERE v.a = t.a LIMIT 5',
    'SELECT steps(f(t.a)) FROM t, t AS v WHERE v.a = t.a',
    'SELECT steps(t.a) FROM t, t AS v WHERE v.a = t.a',
    'SELECT b, steps(a) FROM t GROUP BY a % 7',
    'SELECT a FROM t ORDER BY f(a)',
    'SELECT DISTINCT f(a % 5) FROM t',
    'SELECT t.a, v.b FROM t CROSS JOIN t AS v ON v.a = t.a WHERE f(t.a) % 3 = 0',
    'SELECT sum(v.a) FROM t CROSS JOIN t AS v ON v.a = t.a WHERE f(t.a) % 3 = 0 AND f(v.a)',
    "SELECT a FROM t WHERE b > 'x5' COLLATE counted",
    "SELECT count(*) FROM t WHERE b = 'x3' COLLATE counted OR a > 5",
    'SELECT max(b COLLATE counted) FROM t',
    'SELECT a, sum(a) OVER (ORDER BY f(a)) FROM t',
    'SELECT a, sums(f(a)) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t',
    'SELECT a, sums(a) OVER (PARTITION BY a % 3) FROM t',
    'INSERT INTO u SELECT f(a), b FROM t',
    'INSERT INTO u SELECT f(a), b FROM t RETURNING a',
]


def made(side, at, threaded=False):
    """A connection to a table, whose functions interrupt at their call number `at`, in another thread or not, and the
    list of how many calls there have been."""
    connection = side.connect()
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)')
    connection.execute('CREATE TABLE u(a, b)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, 'x%d' % i) for i in range(ROWS)])
    calls = [0]

    def called():
        calls[0] += 1
        if calls[0] == at and threaded:
            at_once(lambda _: connection.interrupt(), 1)
        elif calls[0] == at:
            connection.interrupt()

    class Steps:
        def __init__(self):
            self.value_now = 0

        def step(self, value):
            called()
            self.value_now += value

        def inverse(self, value):
            called()
            self.value_now -= value

        def value(self):
            called()
            return self.value_now

        def finalize(self):
            called()
            return self.value_now

    def function(value):
        called()
        return value

    def collation(left, right):
        called()
        return (left > right) - (left < right)
    connection.create_function('f', 1, function)
    connection.create_collation('counted', collation)
    connection.create_aggregate('steps', 1, Steps)
    connection.create_window_function('sums', 1, Steps)
    return connection, calls


def interrupted(side, query, at_call=0, at_row=0):
    """What is seen of a query that is interrupted at a call of user code, or when a row has come (0: never):
    its rows and its error, the number of calls, what it has written."""
    connection, calls = made(side, at_call)
    rows = []
    try:
        for row in connection.execute(query):
            rows.append(row)
            if len(rows) == at_row:
                connection.interrupt()
    except sqpyte.OperationalError as error:
        rows.append(str(error))
    return rows, calls, connection.execute('SELECT * FROM u').fetchall()


@pytest.mark.parametrize('query', QUERIES)
def test_user_code_interrupts(query):
    def action(side):
        return [interrupted(side, query, at_call=at) for at in CALLS]
    compare(action, inlined=False, oracle='C')


@pytest.mark.parametrize('query', QUERIES)
def test_an_interrupt_between_two_rows(query):
    def action(side):
        return [interrupted(side, query, at_row=at) for at in (1, 4, 5, 6, 119)]
    compare(action, inlined=False, oracle='C')


NOW = "julianday('now', (t.a - t.a) || ' days')"
LATER = "julianday('now', (slow(t.a) - t.a) || ' days')"


@pytest.mark.parametrize('query', [
    'SELECT times(%s) FROM t' % NOW,
    'SELECT times(%s) FROM t, t AS v WHERE v.a = t.a' % NOW,
    'SELECT count(DISTINCT %s) FROM t' % LATER,
    'SELECT times(%s) FROM t GROUP BY a %% 4' % NOW,
    'SELECT times(%s) OVER () FROM t' % NOW,
    'SELECT slow(a), %s FROM t' % NOW,
    'SELECT %s, %s = %s, slow(a) FROM t' % (LATER, LATER, NOW),
    'SELECT slow(t.a), %s FROM t, t AS v WHERE v.a = t.a' % NOW,
    'SELECT a, %s FROM t WHERE slow(a) > -1' % NOW,
    'SELECT a, sum(a) OVER (ORDER BY a ROWS 1 PRECEDING), slow(a), %s FROM t' % NOW,
    'SELECT times(slow(a)), %s FROM t GROUP BY a %% 4' % NOW.replace('t.a', 'max(a)'),
    'SELECT a FROM t UNION ALL SELECT %s FROM u' % NOW.replace('t.a', 'a'),
    'SELECT slow(a) FROM t UNION ALL SELECT %s FROM u' % NOW.replace('t.a', 'a'),
    'SELECT slow(t.a) FROM t, t AS v WHERE v.a = t.a UNION ALL SELECT %s FROM u' % NOW.replace('t.a', 'a'),
    'SELECT sums(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM t UNION ALL SELECT %s FROM u'
    % NOW.replace('t.a', 'a'),
])
def test_the_time_of_a_step(query):
    """Each call takes longer than the clock's unit, a millisecond."""
    def action(side):
        connection, _ = made(side, 0)
        connection.execute('DELETE FROM t WHERE a >= 25')
        connection.execute("INSERT INTO u VALUES(1, 'once'), (2, 'twice')")

        class Times:
            def __init__(self):
                self.seen = set()

            def step(self, value):
                time.sleep(0.002)
                self.seen.add(value)

            def inverse(self, value):
                time.sleep(0.002)

            def value(self):
                return len(self.seen)
            finalize = value

        def slow(value):
            time.sleep(0.002)
            return value
        connection.create_window_function('times', 1, Times)
        connection.create_function('slow', 1, slow)
        rows = []
        for row in connection.execute(query):
            time.sleep(0.002)
            rows.append(row)
        return [len({row[n] for row in rows}) for n in range(len(rows[0]))], rows[0][-1] if len(
            rows) == 1 else len(rows)
    compare(action, inlined=False, oracle='C')


BEFORE_THE_LOOP = [
    'SELECT a FROM t WHERE g(b) > 0 LIMIT f(6)', 'SELECT g(a) FROM t LIMIT f(6)',
    'SELECT a FROM t WHERE g(a) >= 0 LIMIT f(6) OFFSET f(2)', 'SELECT steps(a) FROM t WHERE d(1)',
    'SELECT steps(a) FROM t WHERE d(1) AND g(a) >= 0', 'SELECT a FROM t WHERE d(1) AND g(a) >= 0',
    'SELECT steps(v.a) FROM t, t AS v WHERE v.a = f(t.a)', 'SELECT g(v.a) FROM t, t AS v WHERE v.a = f(t.a)',
    'SELECT steps(v.a) FROM t LEFT JOIN t AS v ON v.a = f(t.a)', 'SELECT steps(a) FROM t WHERE a > f(1)',
    'SELECT a, g(b) FROM t WHERE a > f(1) AND g(a) > 0', 'SELECT sums(a) OVER (ROWS f(2) PRECEDING) FROM t',
    'SELECT steps(a) FROM t WHERE exists(SELECT f(1)) AND b > 0',
    'SELECT v.a FROM t, t AS v WHERE v.a = f(t.a) ORDER BY g(v.a)',
    'SELECT DISTINCT g(v.a) FROM t, t AS v WHERE v.a = f(t.a)',
]


@pytest.mark.parametrize('query', BEFORE_THE_LOOP)
def test_an_interrupt_before_the_loop(query):
    """By a function that C calls in the step in which the loop is taken over: it is noticed where the loop jumps."""
    def action(side):
        found = []
        for at in (1, 2, 3):
            connection, calls = made(side, at)
            connection.create_function('d', 1, lambda value: connection.interrupt() or 1, deterministic=True)
            connection.create_function('g', 1, lambda value: calls.append(value) or value)
            cursor = connection.cursor()
            found += [outcome(cursor.execute, query) is cursor, outcome(cursor.fetchall), calls]
        return found
    compare(action, inlined=False, oracle='C')


@pytest.mark.parametrize('query', QUERIES)
def test_another_thread_interrupts_within_a_call(query):
    """It is noticed when the row is done, though nothing is handed back to C."""
    def action(side):
        found = []
        for at in (1, 5, 40, 100):
            connection, calls = made(side, at, threaded=True)
            found.append((outcome(lambda: connection.execute(query).fetchall()), calls))
        return found
    compare(action, inlined=False, oracle='C')
