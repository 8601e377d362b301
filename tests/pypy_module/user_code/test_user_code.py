"""User code that SQLite calls, beside sqlite3: CPython's where it runs, and every way to inline it."""

import platform
import random
import sqlite3
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.ffi import place
from tests.extent import everything
from tests.pypy_module.inline.inlining import planned
from tests.pypy_module.user_code import deeds, scenarios

CPYTHON = platform.python_implementation() == 'CPython'


def transcript(module, scenario):
    """What the actions of a scenario returned or raised (list)."""
    notes = scenarios.Notes(module)
    try:
        scenario(notes)
    finally:
        notes.close()
    return [repr(value) for value in notes.found]


def assert_same(found, expected):
    """Assert that two transcripts are the same, naming the first difference."""
    for number, (ours, theirs) in enumerate(zip(found, expected)):
        assert ours == theirs, number
    assert len(found) == len(expected)


@pytest.mark.parametrize('scenario', scenarios.SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_beside_sqlite3(scenario):
    """On PyPy the C tier is what the other tiers are compared with."""
    with planned('C'):
        in_c = transcript(sqpyte, scenario)
    oracle = CPYTHON and sys.version_info >= (3, 13)
    if oracle or scenario not in scenarios.ONLY_CPYTHON:
        assert_same(in_c, transcript(sqlite3, scenario))
    with planned('inlined'):
        assert_same(transcript(sqpyte, scenario), in_c)


def outcome(action):
    try:
        return action()
    except sqpyte.Error as error:
        return '%s: %s' % (type(error).__name__, error)


@pytest.mark.parametrize('planner', ['C', 'inlined'])
@pytest.mark.parametrize('sql', [
    'SELECT closes(a) FROM t', 'SELECT a FROM t WHERE closes(a)', 'SELECT count(closes(a)) FROM t',
    'SELECT step_closes(a) FROM t', 'SELECT end_closes(a) FROM t', 'UPDATE t SET b = closes(a)',
    'SELECT a FROM t ORDER BY closes(a)', 'SELECT c FROM t ORDER BY c COLLATE closes'])
def test_user_code_closes_the_connection(planner, sql):
    """CPython's sqlite3 crashes in some of these."""
    with planned(planner):
        connection = scenarios.Notes(sqpyte).connect(20)

        def closes(x, other=None):
            if x == 5 or other:
                connection.close()
            return x if other is None else 0

        connection.create_function('closes', 1, closes)
        connection.create_collation('closes', closes)
        for name, methods in (('step_closes', (closes, lambda: 1)),
                              ('end_closes', (lambda x: None, connection.close))):
            connection.create_aggregate(name, 1, type('Closing', (), {
                'step': lambda self, x, methods=methods: methods[0](x),
                'finalize': lambda self, methods=methods: methods[1]()}))

        def rows():
            cursor = connection.execute(sql)
            return [cursor.fetchone() for _ in range(20)]
        assert outcome(rows) == 'ProgrammingError: Cannot operate on a closed database.'


@pytest.mark.parametrize('run', [
    lambda connection, value: connection.execute('SELECT ?', (value,)),
    lambda connection, value: connection.execute('UPDATE t SET b = ?', (value,)),
    lambda connection, value: connection.execute('SELECT a FROM t WHERE ident(a) = ?', (value,)),
    lambda connection, value: connection.executemany('INSERT INTO t(b) VALUES(?)', [(value,)] * 5)])
def test_an_adapter_closes_the_connection(run):
    class Value:
        def __conform__(self, protocol):
            connection.close()
            return 1
    connection = scenarios.Notes(sqpyte).connect(20)
    connection.create_function('ident', 1, lambda x: x)
    assert outcome(lambda: run(connection, Value())) == (
        'ProgrammingError: Cannot operate on a closed database.')


def test_every_deed_in_every_call():
    """No process dies of it; all 20 000 cases take five minutes under PyPy."""
    most = len(deeds.cases())
    count = most if everything() else 300
    first = random.randint(0, most - count)
    done = subprocess.run([sys.executable, '-X', 'faulthandler', '-m', deeds.__name__, str(first), str(count)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=1800,
                          cwd=place.ROOT)
    assert done.stdout.endswith('done\n'), (first, done.stdout[-300:], done.stderr[-3000:])


def test_names_with_a_null_character(connection):
    for define in (connection.create_function, connection.create_aggregate):
        with pytest.raises(ValueError, match='embedded null character'):
            define('x\0y', 1, lambda x: x)
    with pytest.raises(ValueError, match='embedded null character'):
        connection.create_collation('x\0y', lambda x, y: 0)
