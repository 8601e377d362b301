"""Compares runs of a suite, test by test: a test that passes with sqlite3 has to pass with sqpyte."""

import collections
import json

PASSED = 'passed'
LOST = 'not run'        # the process ended before it, or it wasn't collected

# tests: {test's name: outcome}. witness: which library served (dict), None if the run didn't get to its end.
Results = collections.namedtuple('Results', 'tests witness')
# test: its name; stock, ours: outcomes (str).
Difference = collections.namedtuple('Difference', 'test stock ours')


def read(path):
    """Return the Results in a file that a plugin has written; raises OSError, ValueError."""
    tests, witness = {}, None
    with open(path) as file:
        for line in file:
            what = json.loads(line)
            if 'test' in what:
                tests[what['test']] = what['outcome']
            else:
                witness = what['witness']
    return Results(tests, witness)


def worse(stock, ours):
    """Return the tests that pass with stock and don't with ours (list of Difference).

    Args:
        stock, ours: {test: outcome}.
    """
    return [Difference(test, PASSED, ours.get(test, LOST)) for test, outcome in sorted(stock.items())
            if outcome == PASSED and ours.get(test) != PASSED]


def differing(rounds):
    """Return two lists of Difference: those that stay, and flaky ones.

    A test is flaky if it fails with ours in one of two rounds or more, or if it has failed with stock. A round that
    doesn't have the test says nothing of stock, and counts as failed with ours.

    Args:
        rounds: a pair of {test: outcome} for each, stock's and ours.
    """
    found = {}
    for stock, ours in rounds:
        for one in worse(stock, ours):
            found.setdefault(one.test, []).append(one)
    stays, flaky = [], []
    for test, differences in sorted(found.items()):
        failed = sum(ours.get(test) != PASSED for _, ours in rounds)
        sound = all(stock.get(test, PASSED) == PASSED for stock, _ in rounds)
        (stays if sound and (failed > 1 or len(rounds) == 1) else flaky).append(differences[0])
    return stays, flaky


def untrusted(stock, ours, side='sqpyte'):
    """Return why two Results can't be compared (str), or None: each side has to have run on its library.

    Args:
        stock, ours: Results.
        side: what ours is called (str).
    """
    for name, one in (('sqlite3', stock), (side, ours)):
        if one.witness is None:
            return 'the run with %s did not get to its end' % name
        if not any(outcome == PASSED for outcome in one.tests.values()):
            return 'no test passes with ' + name
    if stock.witness['vm'] is not None or stock.witness['backend'] is not None:
        return "the run with sqlite3 had sqpyte's library"
    if ours.witness['vm'] is None or ours.witness['backend'] is None:
        return "the run with %s had another library than sqpyte's" % side
    if stock.witness['version'] != ours.witness['version']:
        return 'SQLite %s with sqlite3, %s with %s' % (stock.witness['version'], ours.witness['version'], side)
    return None


def judge(differences, entries):
    """Return what fails one side of a project (list of Difference), and the entries that have to go (list).

    Args:
        differences: list of Difference that stay.
        entries: list of meant.Meant, of this project, host and side.
    """
    excused = {one.test for one in entries}
    found = {one.test for one in differences}
    return ([one for one in differences if one.test not in excused], [one for one in entries if one.test not in found])
