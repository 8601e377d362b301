"""Compares answers: all runs of all processes of all engines must give the same one, exactly.

Nothing is tolerated, not even in the last bit of a real: the engines share SQLite's version and
plans, so they add in the same order. Types count (1 is not 1.0), and so does the order of rows.

An engine that isn't SQLite adds in an order of its own: of its reals, a billionth may differ (`near_rows`).
"""

import json

NEAR = 1e-9


def same(first, second):
    """Return whether two answers are the same JSON, types included."""
    return json.dumps(first) == json.dumps(second)


def near(first, second):
    """Return whether two values are the same, or reals that differ by a billionth of them at most."""
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= NEAR * max(abs(first), abs(second))
    return same(first, second)


def near_row(first, second):
    """Return whether the values of two rows (lists) are near each other, one by one."""
    return len(first) == len(second) and all(map(near, first, second))


def near_rows(expected, found, keys=()):
    """Return whether two lists of rows are the same but for what another order of adding changes.

    Args:
        expected, found: lists of rows (lists).
        keys: positions (of int) of the columns that the rows are ordered by, if there may be ties: rows that are near
            each other in all of them may come in any order.
    """
    if len(expected) != len(found):
        return False
    start = 0
    while start < len(expected):
        end = start + 1
        while keys and end < len(expected) and all(near(expected[start][key], expected[end][key]) for key in keys):
            end += 1
        left = found[start:end]
        for row in expected[start:end]:
            match = next((other for other in left if near_row(row, other)), None)
            if match is None:
                return False
            left.remove(match)
        start = end
    return True


def shorten(value):
    """Return an answer's text, cut to one line's length."""
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:200] + '...'


def explain(expected, found):
    """Return where two different answers differ first (str)."""
    if isinstance(expected, list) and isinstance(found, list):
        for index, (left, right) in enumerate(zip(expected, found)):
            if not same(left, right):
                return 'at %d: %s instead of %s' % (index, shorten(right), shorten(left))
        return '%d values instead of %d' % (len(found), len(expected))
    return '%s instead of %s' % (shorten(found), shorten(expected))


def differences(outcomes, baseline, agree=None):
    """Return what is wrong with the answers of one query: a list of str, empty when all agree.

    Args:
        outcomes: dict of engine name to its Outcomes.
        baseline: the name of the engine whose first answer is the expected one.
        agree: dict of engine name to the function of two answers that says whether they are the same; `same` is that
            of engines that aren't there (None: of all).
    """
    reference = outcomes[baseline][0]
    problems = []
    for engine, processes in outcomes.items():
        for number, outcome in enumerate(processes):
            where = '%s, process %d' % (engine, number + 1)
            if len(outcome.answers) != 1 or len(outcome.checksums) > 1:
                problems.append('%s: its runs gave different answers' % where)
            for answer in outcome.answers:
                if not (agree or {}).get(engine, same)(reference.answers[0], answer):
                    problems.append('%s: %s' % (where, explain(reference.answers[0], answer)))
            if outcome.checksums != reference.checksums and len(outcome.checksums) == 1:
                problems.append('%s: checksum %s instead of %s' % (
                    where, outcome.checksums[0], reference.checksums[0]))
    return problems
