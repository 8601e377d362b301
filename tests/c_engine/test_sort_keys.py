"""Sort keys (c_engine/storage/sort_key.c): any values are ordered as stock orders them, equal ones, too."""

import subprocess
import sys

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


# Prints, for a sort by temporary files and one in memory, the kilobytes above those in use that it needs.
LIMITED = '''
import ctypes, sys
from tests.differential.sessions.capi import Connection, Error, Library
path = sys.argv[1]
memory = ctypes.CDLL(path)
memory.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]
memory.sqlite3_memory_used.restype = ctypes.c_int64
connection = Connection(Library(path))
connection.execute('CREATE TABLE t(a, c, d)')
connection.execute("""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO t SELECT (i * 7919) % 20000, 'txt' || (i % 97) || substr('abcdefghij', 1, i % 10), i % 1000 FROM n""")
for store in 'file', 'memory':
    connection.execute('PRAGMA temp_store=' + store)
    for room in range(200, 4000, 50):
        memory.sqlite3_hard_heap_limit64(memory.sqlite3_memory_used() + 1000 * room)
        try:
            connection.execute('SELECT a FROM (SELECT a FROM t ORDER BY c, d DESC, a LIMIT -1 OFFSET 19990)')
            break
        except Error:
            pass
        finally:
            memory.sqlite3_hard_heap_limit64(0)
    print(store, room)
'''


def test_a_limit_of_memory(stock_library, engine_library):
    """Where SQLite's memory is limited, a sort needs no more of it than upstream's."""
    stock, ours = (subprocess.run([sys.executable, '-c', LIMITED, library], check=True, capture_output=True,
                                  text=True, timeout=500).stdout.split() for library in (stock_library, engine_library))
    assert ours == stock and stock[::2] == ['file', 'memory']
