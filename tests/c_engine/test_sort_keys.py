"""Sort keys (c_engine/storage/sort_key.c): any values are ordered as stock orders them, equal ones, too."""

from hypothesis import given
from hypothesis import strategies as st

from tests.differential.sessions.capi import Connection, Library

NUMBERS = st.one_of(st.integers(-2 ** 63, 2 ** 63 - 1), st.floats(allow_nan=False),
                    st.sampled_from([0, -0.0, 1, 1.0, 2 ** 53, 2.0 ** 53, 2 ** 53 + 1, -2 ** 63, 2 ** 63 - 1,
                                     2.0 ** 63]))
# Around what a key holds: 15 bytes; with zeros and the highest bytes; in cases that collations don't tell apart.
SHORT = st.lists(st.sampled_from([0, 1, 0x20, 0x41, 0x61, 0x7f, 0xff]), max_size=19).map(bytes)
TEXTS = st.text(alphabet='aAbB \0\x01\u00ff', max_size=19)
VALUES = st.one_of(st.none(), NUMBERS, SHORT, TEXTS)
TERMS = st.lists(st.tuples(st.sampled_from('ab'), st.sampled_from(['', ' COLLATE NOCASE', ' COLLATE RTRIM']),
                           st.sampled_from(['', ' DESC']), st.sampled_from(['', ' NULLS FIRST', ' NULLS LAST'])),
                 min_size=1, max_size=2)


def orders(library, rows, order):
    """The rows' numbers in that order, in groups, and in a list of the different ones."""
    connection = Connection(library)
    try:
        connection.execute('CREATE TABLE t(n INTEGER PRIMARY KEY, a, b)')
        for number, row in enumerate(rows):
            connection.execute('INSERT INTO t VALUES (?, ?, ?)', (number,) + row)
        return [connection.execute(sql) for sql in (
            'SELECT n FROM t ORDER BY ' + order,
            'SELECT a, count(*), group_concat(n) FROM t GROUP BY ' + order.replace(' DESC', '').split(' NULLS')[0],
            'SELECT DISTINCT a, b FROM t ORDER BY ' + order)]
    finally:
        connection.close()


@given(rows=st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=90), terms=TERMS)
def test_order(stock_library, engine_library, rows, terms):
    order = ', '.join(''.join(term) for term in terms)
    assert orders(Library(engine_library), rows, order) == orders(Library(stock_library), rows, order)


def test_lists_that_begin_without_keys(stock_library, engine_library):
    """A list's first records have no keys (SQPYTE_KEYS_FROM): none of a short list, all of a longer one in the end."""
    values = [None, 3, 'bb', 2.5, b'a', 'ab', -1, 2 ** 60, 2.0 ** 60, 'ab', 'bb' * 9, 'bb' * 9 + 'c']
    for count in range(2, 70):
        rows = [(values[i * 7 % len(values)], values[i * 5 % 11]) for i in range(count)]
        for order in ('a', 'b DESC, a', 'a COLLATE NOCASE, b'):
            assert orders(Library(engine_library), rows, order) == orders(Library(stock_library), rows, order), count
