"""An aggregate written in Python over small groups: the same rows, and C goes on with what is slower inlined."""

import sqlite3

import pytest

import sqpyte
from pypy_module.inline.runtime.slices import GROUPS, SMALL, SMALL_GROUP
from tests.pypy_module.inline.inlining import Sum, planned

QUERIES = ['SELECT k, total_of(v) FROM t GROUP BY k',
           'SELECT total_of(v + 1), k, max(w) FROM t GROUP BY k HAVING f(k) > 1',
           'SELECT t.k, total_of(u.v), total_of(t.v) FROM t JOIN u ON u.a = t.a GROUP BY t.k',
           "SELECT total_of(v) || 'x', min(w) FROM t GROUP BY k ORDER BY k DESC"]


def filled(module, size):
    """A connection with more than GROUPS groups of `size` rows each, and what f has been called with (list)."""
    connection = module.connect(':memory:', isolation_level=None)
    calls = []
    connection.create_function('f', 1, lambda value: calls.append(value) or value)
    connection.create_aggregate('total_of', 1, Sum)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, k, v, w)')
    connection.execute('CREATE TABLE u(a INTEGER PRIMARY KEY, v)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?, ?)', [
        (i, i // size, i % 9, 'text %d' % (i % 7)) for i in range(size * (GROUPS + 60))])
    connection.execute('INSERT INTO u SELECT a, v + 1 FROM t')
    return connection, calls


@pytest.mark.parametrize('planner', ['soon', 'inlined'])
@pytest.mark.parametrize('size', [1, 3, SMALL_GROUP - 1, SMALL_GROUP + 5])
@pytest.mark.parametrize('query', QUERIES)
def test_groups(query, size, planner):
    found = []
    for module, name in ((sqlite3, 'C'), (sqpyte, planner)):
        with planned(name):
            connection, calls = filled(module, size)
            rows = []
            for row in connection.execute(query):
                rows.append((row, len(calls)))
            found.append((rows, [connection.execute(query).fetchall() for _ in range(2)], calls))
            if module is sqpyte:
                reason = str(sqpyte.explain(connection, query))
                assert (SMALL in reason) == (planner == 'soon' and size < SMALL_GROUP), reason
            connection.close()
    assert found[0] == found[1]


@pytest.mark.parametrize('what', ['execute', 'close', 'write', 'text_factory'])
def test_what_comes_where_c_goes_on(what):
    """Just before and behind the group after which it does."""
    found = []
    for module, name in ((sqpyte if what == 'text_factory' else sqlite3, 'C'), (sqpyte, 'soon')):
        with planned(name):
            answers = []
            for at in range(GROUPS - 3, GROUPS + 4):
                connection, _ = filled(module, 2)
                cursor = connection.execute('SELECT k, total_of(v), max(w) FROM t GROUP BY k')
                answers.append([cursor.fetchone() for _ in range(at)])
                if what == 'execute':
                    cursor.execute('SELECT 1')
                elif what == 'close':
                    cursor.close()
                    continue
                elif what == 'write':
                    connection.execute('INSERT INTO u(v) VALUES(1)')
                else:
                    connection.text_factory = bytes
                answers.append(cursor.fetchall())
                connection.close()
            found.append(answers)
    assert found[0] == found[1]
