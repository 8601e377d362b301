"""What errors are raised in, and beside: the exception that was being handled before, and no other."""
import sys

import pytest

import sqpyte
from tests.pypy_module.inline.inlining import compare, planned

QUERIES = [
    'SELECT f(a) FROM t', 'SELECT s(a) FROM t', 'SELECT s(f(a)) FROM t', 'SELECT a FROM t WHERE f(a) < 0',
    'SELECT s(v.a) FROM t, t AS v WHERE v.a = t.a', 'SELECT f(v.a) FROM t, t AS v WHERE v.a = t.a',
    'SELECT s(a) OVER (ORDER BY a ROWS 2 PRECEDING) FROM t', 'SELECT s(a) OVER (ORDER BY b) FROM t',
    'SELECT f(b), s(a) FROM t GROUP BY f(b)', 'SELECT a FROM t ORDER BY f(a)', 'SELECT s(DISTINCT f(b)) FROM t',
    "SELECT a FROM t WHERE b > 'b' COLLATE k", 'SELECT c FROM t', 'SELECT f(a), c FROM t',
    'SELECT c, s(a) FROM t GROUP BY c', 'SELECT s(c) FROM t WHERE c > 0', 'SELECT s(c) FROM t WHERE a < 9 GROUP BY b',
    'SELECT s(c) FROM t WHERE typeof(c) = \'text\' AND c <> \'c\'', 'SELECT s(c) OVER (ORDER BY c DESC) FROM t',
    'SELECT v.c FROM t, t AS v WHERE v.a = t.a', 'SELECT s(a) OVER (ORDER BY a), c FROM t',
    'SELECT c FROM t ORDER BY b', 'SELECT v.c FROM t CROSS JOIN t AS v ON v.a = t.a WHERE f(t.a) % 2',
    'SELECT DISTINCT f(b), c FROM t']


def handled():
    """The name of the class of the exception that is being handled, or None."""
    kind = sys.exc_info()[0]
    return kind and kind.__name__


def contexts(error):
    """The classes' names of an exception and of those that it has come in."""
    found = []
    while error is not None:
        found.append(type(error).__name__)
        error = error.__context__
    return found


def made(side, late):
    """A connection of a Side, whose functions note what is being handled, and the notes; call number `late` raises."""
    connection = side.connect()
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)')
    connection.executemany("INSERT INTO t VALUES(?, ?, CAST(? AS TEXT))", [
        (i, 'xyz'[i % 3], b'\xff' if i == late else b'c') for i in range(20)])
    notes = []

    def called(value):
        notes.append(handled())
        if len(notes) == late:
            raise MemoryError if late == 3 else KeyError(late)
        return value

    class S:
        def __init__(self):
            notes.append(handled())

        def step(self, value):
            called(value)

        inverse = step

        def value(self):
            return called(1)

        def finalize(self):
            notes.append(handled())
            raise ValueError
    connection.create_function('f', 1, called)
    connection.create_window_function('s', 1, S)
    connection.create_collation('k', lambda x, y: called((x > y) - (x < y)))
    return connection, notes


@pytest.mark.parametrize('query', QUERIES)
def test_contexts(query):
    def action(side):
        found = []
        for late in (2, 3, 6, 12):
            connection, notes = made(side, late)
            for outer in (False, True):
                cursor = connection.cursor()
                try:
                    if outer:
                        try:
                            raise ZeroDivisionError
                        except ZeroDivisionError:
                            cursor.execute(query).fetchall()
                    else:
                        cursor.execute(query).fetchall()
                except side.module.Error as error:
                    found.append((contexts(error), error.__suppress_context__, error.__cause__))
                except KeyError as error:       # a collation's
                    found.append(contexts(error))
                cursor.close()
            found.append(notes)
        return found
    compare(action, inlined=False, oracle='C')


@pytest.mark.parametrize('query', ['SELECT f(a) FROM t', 'SELECT s(a) OVER (ORDER BY a) FROM t'])
@pytest.mark.parametrize('name', ['C', 'inlined'])
def test_what_is_shown_of_an_int_beyond_64_bits(name, query, monkeypatch):
    shown = []
    monkeypatch.setattr('sys.unraisablehook', lambda unraisable: shown.append(str(unraisable.exc_value)))
    monkeypatch.setattr('sys.excepthook', lambda kind, value, traceback: shown.append(str(value)))
    methods = dict.fromkeys(['step', 'inverse', 'finalize'], lambda *arguments: 2 ** 62)
    with planned(name):
        connection = sqpyte.connect(':memory:')
        connection.execute('CREATE TABLE t(a)')
        connection.executemany('INSERT INTO t VALUES(?)', [(a,) for a in range(50)])
        connection.create_function('f', 1, lambda a: 2 ** 63 if a == 30 else a)
        connection.create_window_function('s', 1, type('S', (), dict(methods, value=lambda self: 2 ** 64)))
        sqpyte.enable_callback_tracebacks(True)
        try:
            with pytest.raises(sqpyte.Error):
                connection.execute(query).fetchall()
        finally:
            sqpyte.enable_callback_tracebacks(False)
            connection.close()
    assert shown == ['Python int too large to convert to SQLite INTEGER']


def test_explain_within_a_call():
    """Also where C runs the statement ahead, with other opcodes in its program."""
    query = 'SELECT s(a) OVER (ORDER BY f(b)) FROM t'
    with planned('inlined'):
        class Side:
            connect = staticmethod(lambda: sqpyte.connect(':memory:', isolation_level=None))
        connection, _ = made(Side, 1000)
        told = []

        def explaining(value):
            told.append(str(sqpyte.explain(connection, query)))
            return value
        connection.create_function('f', 1, explaining)
        for _ in range(2):
            connection.execute(query).fetchall()
        assert len(told) == 40 and all('AggStep' in text for text in told)
        connection.close()
