"""Built-in sums and counts beside Python's aggregates and functions: C, which runs ahead, may have ended them when it
is rolled back."""
import pytest

from tests.pypy_module.inline.inlining import Sum, compare

ROWS = 12
AGGREGATES = ['count(*)', 'sum(a)', 'total(a)', 'avg(b)', 'count(DISTINCT b)', 'sum(a) FILTER (WHERE b > 3)',
              'count(f(b))', 'sum(f(a))']
SOURCES = ['t WHERE c >= 0', 't GROUP BY c', 't NOT INDEXED GROUP BY c', 't GROUP BY c HAVING count(*) > 1',
           't, u WHERE u.k = t.c', 't, u WHERE u.k = t.c GROUP BY k', 't LEFT JOIN u ON u.k = t.c GROUP BY a']
FRAMES = ['ORDER BY a', 'PARTITION BY c ORDER BY a', 'ORDER BY a ROWS 2 PRECEDING',
          'ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW']


def filled(side, text):
    """A connection of a Side, where the value of row `text` is a text, so that its sum is C's."""
    connection = side.connect()
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.execute('CREATE INDEX tc ON t(c)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [
        (i, str(i) if i == text else i, i // 4) for i in range(ROWS)])
    connection.execute('CREATE TABLE u(k PRIMARY KEY, v) WITHOUT ROWID')
    connection.executemany('INSERT INTO u VALUES(?, ?)', [(i, i) for i in range(3)])
    connection.execute('CREATE TABLE z(y)')
    return connection


def rolled_back(query):
    """An action: the rows of a query, rolled back at each call of the program's: by a text that is added to a number,
    a write, and a limit."""
    def action(side):
        found = []
        for at in range(ROWS + 2):
            connection = filled(side, at)
            calls = []

            def called(value, late=0):
                calls.append(value)
                if len(calls) == late:
                    if late % 2:
                        connection.execute('INSERT INTO z VALUES(1)')
                    else:
                        connection.setlimit(0, 10 ** 8)
                return value

            class Summed(Sum):
                def step(self, value):
                    super().step(called(value, at))

            connection.create_window_function('s', 1, Summed)
            connection.create_function('f', 1, called)
            found.append((connection.execute(query).fetchall(), calls))
        return found
    return action


@pytest.mark.parametrize('source', SOURCES)
def test_before_and_behind(source):
    for aggregate in AGGREGATES:
        for columns in ('%s, s(f(b) + 1)', 's(f(b) + 1), %s', '%s, s(b)', 's(b), %s, min(c)', '%s, total(f(b) + 1)'):
            compare(rolled_back('SELECT %s FROM %s' % (columns % aggregate, source)), inlined=False, oracle='C')


@pytest.mark.parametrize('frame', FRAMES)
def test_windows(frame):
    for aggregate in ('count(*)', 'sum(a)', 'avg(a)'):
        for columns in ('%s OVER w, s(b + 1) OVER w', 's(a) OVER w, %s OVER w', '%s OVER w, s(f(a)) OVER w'):
            compare(rolled_back('SELECT %s FROM t WINDOW w AS (%s)' % (columns % aggregate, frame)), inlined=False,
                    oracle='C')


def test_a_group_is_not_short():
    """By sqlite3's own numbers."""
    def action(side):
        connection = filled(side, 5)
        connection.create_aggregate('s', 1, Sum)
        connection.create_function('f', 1, lambda value: value)
        return [connection.execute(query).fetchall() for query in (
            'SELECT c, count(*), s(f(b) + 1) FROM t GROUP BY c',
            'SELECT count(*), sum(a), avg(a), s(f(b) + 1) FROM t WHERE c >= 0',
            'SELECT count(*), total(f(b) + 1), group_concat(f(b)) FROM t WHERE c >= 0')]
    assert compare(action, oracle='C')[:2] == [[(0, 4, 10), (1, 4, 26), (2, 4, 42)], [(12, 66, 5.5, 78)]]
