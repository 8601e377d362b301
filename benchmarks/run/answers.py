"""Compares answers: all runs of all processes of all engines must give the same one, exactly.

Nothing is tolerated, not even in the last bit of a real: the engines share SQLite's version and
plans, so they add in the same order. Types count (1 is not 1.0), and so does the order of rows.
"""

import json


def same(first, second):
    """Return whether two answers are the same JSON, types included."""
    return json.dumps(first) == json.dumps(second)


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


def differences(outcomes, baseline):
    """Return what is wrong with the answers of one query: a list of str, empty when all agree.

    Args:
        outcomes: dict of engine name to its Outcomes.
        baseline: the name of the engine whose first answer is the expected one.
    """
    reference = outcomes[baseline][0]
    problems = []
    for engine, processes in outcomes.items():
        for number, outcome in enumerate(processes):
            where = '%s, process %d' % (engine, number + 1)
            if len(outcome.answers) != 1 or len(outcome.checksums) > 1:
                problems.append('%s: its runs gave different answers' % where)
            for answer in outcome.answers:
                if not same(reference.answers[0], answer):
                    problems.append('%s: %s' % (where, explain(reference.answers[0], answer)))
            if outcome.checksums != reference.checksums and len(outcome.checksums) == 1:
                problems.append('%s: checksum %s instead of %s' % (
                    where, outcome.checksums[0], reference.checksums[0]))
    return problems
