"""Compares a run of a test file with stock's runs of it.

Every case of either must have come out the same: right, or wrong with the same result. Two things
aren't differences. How many steps a series of injected faults has depends on how often memory or a
file is asked for; a step that only one of the two has, and where all was well, is none. And a case that
stock itself answers differently from run to run says nothing; it is counted as flaky.
"""

import re

from tests.upstream import events

# The last parts of the names of such steps, as malloc_common.tcl, tester.tcl and malloc3.test make them.
STEP = re.compile(r'(?:-(?:oom|ioerr|shmerr|cantopen|full|interrupt|faults?|nofail|tran|pers)[\w-]*'
                  r'|\.(?:transient|persistent|nofail))(?:\.\d+)+(?:#\d+)?$'
                  r'|\.iFail=\d+-(?:sql|test)(?:#\d+)?$'
                  r'|\.\d+\.[1-6](?:#\d+)?$')
# The file names of those whose steps have but numbers: do_ioerr_test, and loops of their own.
FAULTS = re.compile(r'malloc|ioerr|fault|crash|diskfull|_err|oom|interrupt')
# As ioerr2-4.2.248.cksum.
NUMBERED = re.compile(r'(?:\d|\.\d+\.\w+)(?:#\d+)?$')
# A time in microseconds, as walsetlk_recover-1.3.(501702): the case's outcome says if it was a good one.
# How many rows a table has of which random ones were deleted, as avtrans-9.32.1-17904.
UNSTEADY = [(re.compile(r'^(walsetlk_recover-1\.3)\.\(\d+\)'), r'\1.(time)'),
            (re.compile(r'^(avtrans-9\.\d+(?:\.\d|-6))[-.]\d+'), r'\1-rows')]
# Cases that are named by what a random number has drawn; fts5bigtok has one for each letter that occurs.
DRAWN = re.compile(r'fts5bigtok-\w+-\d\.[a-z](?:#\d+)?$')

MISSING = 'missing'


class Difference:
    """A case that came out differently.

    Attributes:
        file, case: names.
        stock, ours: what became of it (str).
    """

    def __init__(self, file, case, stock, ours):
        self.file = file
        self.case = case
        self.stock = stock
        self.ours = ours

    def __str__(self):
        return '%s %s\n    stock: %s\n    ours:  %s' % (self.file, self.case, self.stock, self.ours)


def flat(run):
    """Return {case: outcome} of a run with the end of its process as cases, named as by `steady`."""
    found = {}
    for case, outcome in run['cases'].items():
        name = steady(case)
        if found.get(name, events.OK) == events.OK:     # of several of one name, one that isn't right stays
            found[name] = outcome
    return dict(found, **run['ends'])


def steady(case):
    """Return a case's name without what differs from run to run."""
    for pattern, instead in UNSTEADY:
        case = pattern.sub(instead, case)
    return case


def step_of_faults(file, case):
    """Return whether a case is one of a series of injected faults."""
    return bool(STEP.search(case)) or bool(FAULTS.search(file) and NUMBERED.search(case))


def differences(file, stock, ours):
    """Compare two runs.

    Args:
        file: the test file's name.
        stock, ours: runs as running.run returns them.

    Returns:
        A list of Difference.
    """
    left, right = flat(stock), flat(ours)
    found = []
    for case in list(left) + [case for case in right if case not in left]:
        before, after = left.get(case, MISSING), right.get(case, MISSING)
        if before == after:
            continue
        if MISSING in (before, after) and events.OK in (before, after) and (
                step_of_faults(file, case) or DRAWN.match(case)):
            continue
        found.append(Difference(file, case, before, after))
    return found


def judge(file, runs, ours):
    """Compare a run with all runs of stock.

    Args:
        file: the test file's name.
        runs: stock's, one or more.
        ours: a run.

    Returns:
        (differences, flaky): lists of Difference. Flaky are those cases in which runs of stock differ.
    """
    unsteady = {one.case for again in runs[1:] for one in differences(file, runs[0], again)}
    found = differences(file, runs[0], ours)
    return ([one for one in found if one.case not in unsteady],
            [one for one in found if one.case in unsteady])
