"""Help for the tests of the inliner: connections with it and without, and their answers compared.

An action is a function of a `Side`.  `compare` runs it with every loop inlined as soon as possible, in the C tier, and
on sqlite3, each with databases of its own, and compares what the action returned or raised.
"""
import contextlib
import gc
import itertools
import os
import sqlite3
import tempfile

import sqpyte
from pypy_module.dbapi.statements import tiers, variety
from pypy_module.inline import policy
from pypy_module.inline.runtime import call_log, scan
from pypy_module.inline.runtime import rows as inline_rows
from tests.outcome import outcome

COLLECTS = 8        # garbage is collected after so many answers: 0.2 s, in a process with all of the tests

_asked = itertools.count()

PLANNERS = {
    'inlined': lambda: policy.Planner(1, 0),
    'soon': lambda: policy.Planner(1, 1),       # as 'inlined', but not whatever the types of the values
    'later': lambda: policy.Planner(3, 0),      # as 'inlined', but after three rows from C
    'unhurried': policy.Planner,
    'C': lambda: None,
}


class Side:
    """One module with its connections.

    Attributes:
        name: of the planner, or 'sqlite3'.
        module: sqlite3 or sqpyte.
    """

    def __init__(self, name, folder):
        self.name = name
        self.module = sqlite3 if name == 'sqlite3' else sqpyte
        self.path = os.path.join(folder, name + '.db')
        self.connections = []

    def connect(self, path=':memory:', **keywords):
        """A new connection; transactions are left to the test."""
        keywords.setdefault('isolation_level', None)
        connection = self.module.connect(path, **keywords)
        self.connections.append(connection)
        return connection

    def close(self):
        """Close all connections."""
        for connection in self.connections:
            connection.close()
        self.connections = []


class Sum:
    """An aggregate and window function: the sum."""

    def __init__(self):
        self.total = 0

    def step(self, value):
        self.total += value

    def inverse(self, value):
        self.total -= value

    def value(self):
        return self.total

    finalize = value


def until_error(cursor, query, form=lambda answer: answer):
    """The answers of a query, one by one and in a form, to its end or its error, which is the last one."""
    found = [outcome(cursor.execute, query)]
    if found[0] is cursor:
        while found[-1] is not None and not isinstance(found[-1], str):
            found.append(outcome(cursor.fetchone))
        del found[0]
    return list(map(form, found))


@contextlib.contextmanager
def planned(name):
    """Within it statements are planned by the planner of that name."""
    before, price = tiers.planner, variety.ANOTHER_KIND
    sqpyte.connect      # loads the module, which installs a planner
    tiers.planner = PLANNERS[name]()
    if name == 'soon':
        variety.ANOTHER_KIND = 0
    try:
        yield
    finally:
        tiers.planner, variety.ANOTHER_KIND = before, price


def planned_by_default(monkeypatch, rows, **constants):
    """Have the default planner take a loop over, or a slice, that has so many rows (int); `constants`: others of
    policy's."""
    monkeypatch.setattr(tiers, 'planner', policy.Planner())
    for name, value in dict({'RUN_SLICE': 0}, FIRST_LOOP=rows, LATER_LOOP=rows, **constants).items():
        monkeypatch.setattr(policy, name, value)


def answers(action, names=('sqlite3', 'C', 'inlined')):
    """What the action returned or raised, by the name of the side."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            side = Side(name, folder)
            try:
                if name == 'sqlite3':
                    found[name] = outcome(action, side)
                else:
                    with planned(name):
                        found[name] = outcome(action, side)
            finally:
                side.close()
    if next(_asked) % COLLECTS == 0:
        gc.collect()    # a full one, for what a cursor or a runner frees late
    return found


def compare(action, inlined=True, oracle='sqlite3'):
    """Assert that the action gives the same on all sides.

    Args:
        action: function of a Side.
        inlined: whether loops have to be inlined for it to count (bool).
        oracle: 'sqlite3', or 'C' where the versions of SQLite or Python differ.
    Returns:
        the answer.
    """
    counts = []

    def counting(side):
        before = Counter.started
        try:
            return action(side)
        finally:
            counts.append(Counter.started - before)
    names = ('C', 'inlined') if oracle == 'C' else ('sqlite3', 'C', 'inlined')
    found = answers(counting, names)
    expected = found[oracle]
    for name in names:
        assert found[name] == expected, (name, found[name], expected)
    if inlined:
        assert counts[-1] > 0, 'nothing was inlined'
    return expected


class Counter:
    """How many runners were started, in all."""

    started = 0


def _count(original):
    def __init__(self, *args):
        Counter.started += 1
        original(self, *args)
    return __init__


for _runner in (scan.PageBatchRunner, inline_rows.RowBatches, call_log.LogRunner):
    _runner.__init__ = _count(_runner.__init__)


def at_once_and_one_by_one(made, query, rows):
    """An action: the rows and the calls, at once and, so many rows, one by one; see below for `made`."""
    def action(side):
        connection, calls = made(side)
        found = []
        for _ in range(2):
            found.append(connection.execute(query).fetchall())
            found.append(list(calls))
        cursor = connection.execute(query)      # one row ahead of its caller, no more
        for _ in range(rows):
            found += [cursor.fetchone(), len(calls)]
        return found, calls
    return action


def dropped_in_the_middle(made, query):
    """An action: cursors that are closed after some rows, and a write after each.

    `made` is a function of a Side that gives a connection with tables, and the list of calls.
    """
    def action(side):
        connection, calls = made(side)
        found = []
        for count in (1, 2, 30):
            cursor = connection.execute(query)
            found += [cursor.fetchone() for _ in range(count)]
            cursor.close()
            found.append(connection.execute('DELETE FROM u WHERE rowid = ?', (count,)).rowcount)
        return found, calls
    return action


def odd_results(made, query, result):
    """An action: the rows of a query whose function returns `result` in each fifth call, and how many calls there were;
    see above for `made`."""
    def action(side):
        connection, calls = made(side)

        def f(*given):
            calls.append(given)
            return given[0] if len(calls) % 5 else result
        connection.create_function('f', -1, f)
        return outcome(lambda: connection.execute(query).fetchall()), len(calls)
    return action


def defined_again_between_rows(made, query):
    """An action: the rows of a query whose function is defined again behind five of them; see above for `made`."""
    def action(side):
        connection, calls = made(side)
        cursor = connection.execute(query)
        found = [cursor.fetchone() for _ in range(5)]
        found.append(outcome(connection.create_function, 'f', -1, lambda *given: 'new'))
        return found, outcome(cursor.fetchall), calls
    return action


def other_text_factories(made, query, rows, factories):
    """An action: the rows of a query, with other text factories for two each behind so many `rows` (int); see above for
    `made`."""
    def action(side):
        connection, calls = made(side)
        cursor = connection.execute(query)
        found = [cursor.fetchone() for _ in range(rows)]
        for factory in factories:
            connection.text_factory = factory
            found += [outcome(cursor.fetchone), outcome(cursor.fetchone)]
        return found + [outcome(cursor.fetchall), calls]
    return action


def row_by_row(made, query, change):
    """An action: the rows of a query, one by one, after the statement `change`; see above for `made`."""
    def action(side):
        connection, calls = made(side)
        connection.execute(change)
        cursor = connection.cursor()
        found = [outcome(cursor.execute, query).__class__ is str]
        for _ in range(300):
            found.append(outcome(cursor.fetchone))
        return found, calls
    return action


def written_between_rows(made, query, write, counts):
    """An action: the rows of a query, `write` after the first of them, for each number of `counts`; see
    above for `made`."""
    def action(side):
        found = []
        for count in counts:
            connection, calls = made(side)
            cursor = connection.execute(query)
            rows = [cursor.fetchone() for _ in range(count)]
            found.append(outcome(lambda: connection.execute(write).fetchall()))
            found += [rows, outcome(cursor.fetchall), calls]
        return found
    return action


def failing_collation(calls, late):
    """A collation that notes its first arguments in `calls`, and raises KeyError when there are `late`."""
    def fails(x, y):
        calls.append(x)
        if len(calls) == late:
            raise KeyError('late')
        return (x > y) - (x < y)
    return fails
