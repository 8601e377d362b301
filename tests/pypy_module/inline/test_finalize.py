"""What an aggregate's `finalize` executes where its statement has failed in C: the statement's error stays its own."""

import pytest

from tests.pypy_module.inline.inlining import compare

QUERIES = [
    'SELECT steps(abs(a)) FROM t',
    'SELECT steps(abs(f(a))) FROM t',
    'SELECT steps(abs(t.a)) FROM t JOIN u ON u.k = t.rowid',
    'SELECT steps(abs(f(t.a))) FROM t JOIN u ON u.k = t.rowid',
    'SELECT b, steps(abs(a)) FROM t GROUP BY b',
    'SELECT abs(a), steps(a) OVER (ORDER BY t.rowid) FROM t',
    'SELECT steps(abs(a)) OVER (ORDER BY t.rowid ROWS 2 PRECEDING) FROM t',
]
EXECUTED = ['SELECT * FROM nowhere', 'SELECT 1', 'INSERT INTO log VALUES(1)', 'INSERT INTO u(k) VALUES(1)']


@pytest.mark.parametrize('executed', EXECUTED)
@pytest.mark.parametrize('query', QUERIES)
def test_the_error_is_the_statements(query, executed):
    def action(side):
        connection = side.connect()
        met = []

        class Steps:
            def __init__(self):
                self.count = 0

            def step(self, value):
                self.count += 1

            def inverse(self, value):
                self.count -= 1

            def value(self):
                return self.count

            def finalize(self):
                try:
                    met.append(connection.execute(executed).fetchall())
                except side.module.Error as error:
                    met.append(str(error))
                return self.count
        connection.executescript('''
            CREATE TABLE t(a, b); CREATE TABLE u(k INTEGER PRIMARY KEY); CREATE TABLE log(x);
            WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 100) INSERT INTO u SELECT n FROM r;
            INSERT INTO t SELECT k, 'b' FROM u WHERE k < 100;
            INSERT INTO t VALUES(-9223372036854775808, 'b');''')
        connection.create_function('f', 1, lambda value: value)
        connection.create_window_function('steps', 1, Steps)
        with pytest.raises(side.module.OperationalError) as raised:
            connection.execute(query).fetchall()
        return str(raised.value), met, connection.execute('SELECT count(*) FROM log').fetchall()
    said, met, _ = compare(action, oracle='C')
    assert said == 'integer overflow' and len(met) == 1


@pytest.mark.since(3, 11)
def test_a_result_that_sqlite_does_not_know_is_shown(monkeypatch):
    """As in C, where enable_callback_tracebacks asks for it."""
    def action(side):
        shown: list = []
        monkeypatch.setattr('sys.unraisablehook', lambda what: shown.append(str(what.exc_value)))
        connection = side.connect()
        connection.create_aggregate('lists', 1, type('Lists', (), {
            'step': lambda self, value: None, 'finalize': lambda self: [1]}))
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(i,) for i in range(100)] + [(-2 ** 63,)])
        side.module.enable_callback_tracebacks(True)
        try:
            with pytest.raises(side.module.OperationalError, match='integer overflow'):
                connection.execute('SELECT lists(abs(a)) FROM t').fetchall()
        finally:
            side.module.enable_callback_tracebacks(False)
        return len(shown)
    assert compare(action, oracle='C') == 1
