"""Any value comes out as it went in, by every road on which a row's values cross between C and Python."""
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pypy_module.inline.inlining import Side, planned

INTEGERS = st.one_of(st.integers(-2 ** 63, 2 ** 63 - 1), st.integers(-300, 300),
                     st.sampled_from([2 ** n + d for n in (7, 8, 15, 16, 31, 32, 47, 62) for d in (-1, 0, 1)]))
VALUES = st.one_of(st.none(), INTEGERS, st.floats(allow_nan=False), st.text(max_size=70), st.binary(max_size=70),
                   st.sampled_from(['x' * 5000, b'y' * 5000, '\0', 'a\0b', '', b'', '\U0001f600' * 9, -0.0]))


class Last:
    """A window function: the row's own value, of a frame of one row."""

    def __init__(self):
        self.values = []

    def step(self, value):
        self.values.append(value)

    def inverse(self, value):
        self.values.pop(0)

    def value(self):
        return self.values[-1]

    finalize = value


ROADS = {
    'one call a row': 'SELECT v, n FROM t WHERE n >= 0 LIMIT -1 OFFSET 0',
    'page batch': 'SELECT v, v, n FROM t',
    'row batch': 'SELECT v, v, n FROM t ORDER BY n',
    'row batch of a join': 'SELECT t.v, t.n FROM t CROSS JOIN u ON u.n = t.n',
    'function in a scan': 'SELECT same(v), n FROM t',
    'function in a slice': 'SELECT same(t.v), t.n FROM t CROSS JOIN u ON u.n = t.n',
    'function behind a sorter': 'SELECT same(v), n FROM t ORDER BY n',
    'window function': 'SELECT last(v) OVER (ORDER BY n ROWS 0 PRECEDING), n FROM t',
}


def exact(value):
    """What tells a value from all others: 1 from 1.0, 0.0 from -0.0."""
    return type(value).__name__, repr(value), math.copysign(1, value) if isinstance(value, float) else 0


def rows(side, sql, values):
    """The rows of a query on a table of the values, each as `exact` has it."""
    connection = side.connect()
    connection.execute('CREATE TABLE t(n INTEGER PRIMARY KEY, v)')
    connection.execute('CREATE TABLE u(n INTEGER PRIMARY KEY)')
    connection.executemany('INSERT INTO t VALUES (?, ?)', list(enumerate(values)))
    connection.execute('INSERT INTO u SELECT n FROM t')
    connection.create_function('same', 1, lambda value: value)
    connection.create_window_function('last', 1, Last)
    return [[exact(value) for value in row] for row in connection.execute(sql)]


@given(values=st.lists(VALUES, min_size=1, max_size=40))
@settings(deadline=None, max_examples=40)
def test_every_road(values):
    given_values = [exact(value) for value in values]
    for name in ('C', 'inlined'):
        for road, sql in ROADS.items():
            side = Side(name, '')
            with planned(name):
                try:
                    found = rows(side, sql, values)
                finally:
                    side.close()
            assert [row[0] for row in found] == given_values, (name, road)
            assert [row[-1] for row in found] == [exact(n) for n in range(len(values))], (name, road)


@given(values=st.lists(VALUES, min_size=1, max_size=9))
@settings(deadline=None, max_examples=100)
def test_parameters(values):
    for name in ('C', 'inlined'):
        side = Side(name, '')
        with planned(name):
            try:
                connection = side.connect()
                [row] = connection.execute('SELECT %s' % ', '.join('?' * len(values)), values).fetchall()
            finally:
                side.close()
        assert [exact(value) for value in row] == [exact(value) for value in values]
