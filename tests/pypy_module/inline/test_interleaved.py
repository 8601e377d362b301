"""Loops that are inlined while others are: by other threads, or by what a function does that SQL calls on the way to
the loop."""
import gc

import pytest

import sqpyte
from pypy_module.ffi.library import ffi
from pypy_module.inline import known
from tests.at_once import at_once
from tests.pypy_module.inline.inlining import planned

ROWS = 200


def filled():
    """A connection with a table of numbers, and of texts that are numbers."""
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, s TEXT)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', [(i, str(i + 1)) for i in range(ROWS)])
    connection.create_function('f', 1, lambda value: value)
    return connection


@pytest.mark.parametrize('query', [
    "SELECT a, 'k%d' FROM t WHERE a >= 3", "SELECT f(a), 'k%d' FROM t WHERE a >= 3",
    "SELECT x.a, 'k%d' FROM t AS x JOIN t AS y ON y.a = x.a WHERE f(x.a) >= 3"])
def test_threads_have_their_own_constants(restless, query):
    def run(number):
        connection = filled()
        wrong = []
        for k in range(number, 4 * 12, 4):
            rows = connection.execute(query % k).fetchall()
            if rows != [(a, 'k%d' % k) for a in range(3, ROWS)]:
                wrong.append((k, len(rows), rows[:1]))
        connection.close()
        return wrong
    with planned('inlined'):
        assert at_once(run, 4) == [[]] * 4


def test_threads_have_their_own_numbers(restless):
    """Texts become numbers in C, which gives two results."""
    def run(number):
        connection = filled()
        wrong = []
        for _ in range(8):
            for query in ('SELECT a FROM t WHERE s > a', 'SELECT a FROM t WHERE s + 0 = a + 1',
                          "SELECT a FROM t WHERE substr('x' || s, 2) = s"):
                rows = connection.execute(query).fetchall()
                if rows != [(a,) for a in range(ROWS)]:
                    wrong.append((query, len(rows)))
        connection.close()
        return wrong
    with planned('inlined'):
        assert at_once(run, 4) == [[]] * 4


def on_the_way(connection, deed):
    """Have the function `g` do a deed once, which a LIMIT calls before the loop is begun."""
    todo = [deed]

    def g(value):
        if todo:
            todo.pop()()
        return value
    connection.create_function('g', 1, g)


QUERIES = ['SELECT s FROM t WHERE f(a) >= 0 LIMIT g(50)',
           'SELECT x.s FROM t AS x JOIN t AS y ON y.a = x.a WHERE f(y.a) >= 0 LIMIT g(50)']


@pytest.mark.parametrize('query', QUERIES)
def test_a_text_factory_is_set_on_the_way(query):
    with planned('inlined'):
        connection = filled()
        on_the_way(connection, lambda: setattr(connection, 'text_factory', bytes))
        assert connection.execute(query).fetchall() == [(b'%d' % (i + 1),) for i in range(50)]
        connection.close()


@pytest.mark.parametrize('query', QUERIES)
def test_a_progress_handler_is_set_on_the_way(query):
    found = []
    for planner in ('C', 'inlined'):
        calls: list = []
        with planned(planner):
            connection = filled()
            on_the_way(connection, lambda: connection.set_progress_handler(lambda: calls.append(1), 10))
            assert len(connection.execute(query).fetchall()) == 50
            connection.close()
        found.append(len(calls))
    assert found[0] > 10
    assert abs(found[1] - found[0]) <= 2


def test_a_program_is_forgotten_on_the_way():
    """The loop's class keeps its own program's constants, though other statements have taken its place meanwhile."""
    connection = filled()
    connection.execute("ALTER TABLE t ADD COLUMN d DEFAULT 'the default'")

    def forget():
        connection.create_function('other', 1, lambda value: value)
        for i in range(known.MOST_SHAPES + 10):
            connection.execute("SELECT a, 'text %d' FROM t WHERE a <> %d LIMIT 3" % (i, i)).fetchall()
    on_the_way(connection, forget)
    reused: list = []       # what was freed
    query = "SELECT a FROM t WHERE f(a) >= 0 AND d = 'the default' LIMIT g(50)"
    with planned('inlined'):
        for _ in range(2):
            assert len(connection.execute(query).fetchall()) == 50
            gc.collect()
            reused.extend(ffi.new('char[]', b'J' * size) for size in range(1, 60) for _ in range(50))
    connection.close()


@pytest.mark.parametrize('planner', ['C', 'inlined'])
def test_an_aggregate_sets_a_text_factory_in_a_query_of_one_row(planner):
    class Setter:
        def step(self, value):
            connection.text_factory = bytes

        def finalize(self):
            return 'text'
    with planned(planner):
        connection = filled()
        connection.create_aggregate('s', 1, Setter)
        assert connection.execute('SELECT s(a) FROM t').fetchall() == [(b'text',)]
        connection.close()


def test_a_statement_stays_in_c_while_the_inliner_is_loaded(monkeypatch):
    """A signal's handler may ask amid the import."""
    from pypy_module.inline import manager, policy
    with planned('inlined'):
        connection = filled()
        monkeypatch.delattr(manager, 'LOADED')
        assert connection.execute('SELECT f(a) FROM t').fetchall() == [(a,) for a in range(ROWS)]
        assert connection.execute('SELECT a FROM t').fetchall() == [(a,) for a in range(ROWS)]
        assert policy._machine(None) is None
        connection.close()
