"""Failures at every point of a workload: the VM's outcome is stock's, nothing is leaked, no lock
is left.

Every 37th point, of half of the cases; all of them with SQPYTE_TESTS=all (`make test-all`).
"""
import functools
import json
import os
import subprocess
import sys

import pytest

from tests import extent
from tests.differential import tiers
from tests.faults.run import KINDS
from tests.faults.workload import JOURNALS

STEP = 1 if extent.everything() else 37
# Of a part, every kind with one of the journals.
CASES = [(kind, journal) for i, kind in enumerate(KINDS) for j, journal in enumerate(JOURNALS)
         if STEP == 1 or i % len(JOURNALS) == j]


def outcomes(tier, kind, journal, step, first=1):
    """{call: (answers, what is in the file afterwards)} of all points at that distance."""
    environment = dict(os.environ, **tiers.EAGER)
    process = subprocess.run(
        [sys.executable, "-m", "tests.faults.run", tier, kind, journal, str(first), str(step)],
        cwd=tiers.ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True)
    lines = process.stdout.splitlines()
    assert process.returncode == 0, "%s with status %d at call %s\n%s" % (
        tier, process.returncode, lines[-1].split(",")[0] if lines else "-", process.stderr[-2000:])
    found = {}
    for line in lines:
        call, answers, file, problems = json.loads(line)
        assert not problems, "%s, call %d: %s\n%s" % (tier, call, problems, answers)
        found[call] = answers, file
    return found


class Stock:
    """Stock's outcomes, of more and more points until one is found: all of them take minutes."""

    # First point and distance; together they are every point once.
    PARTS = [(1, 8), (5, 8), (3, 4), (2, 2)]

    def __init__(self, kind, journal):
        self.case = kind, journal
        self.parts = list(self.PARTS)
        self.found = {}     # the statements' result codes: outcomes as JSON

    def has(self, answers, file):
        """Whether some point has this outcome; or, if file is None, these result codes."""
        codes = tuple(code for code, _ in answers)
        while True:
            known = self.found.get(codes)
            if known is not None and (file is None or json.dumps([answers, file]) in known):
                return True
            if not self.parts:
                return False
            first, step = self.parts.pop(0)
            for answer in outcomes("stock", *self.case, step, first).values():
                self.found.setdefault(tuple(code for code, _ in answer[0]), set()).add(
                    json.dumps(answer))


@functools.lru_cache(maxsize=None)
def stock(kind, journal):
    """The Stock of a case."""
    return Stock(kind, journal)


@pytest.mark.parametrize("tier", ["untranslated-always", "translated-always", "translated-hot"])
@pytest.mark.parametrize("kind, journal", CASES, ids=["-".join(case) for case in CASES])
def test_as_in_stock(tier, kind, journal, request):
    """The VM asks for memory, and through its seeks and sort keys for pages, at other points than
    upstream, so each of its outcomes must be one that stock has at some point."""
    if tier.startswith("translated"):
        request.getfixturevalue("vm_library")
    expected = stock(kind, journal)
    found = outcomes(tier, kind, journal, STEP if tier.startswith("translated") else STEP * 10)
    extent.count("injected failures", len(found))
    for call, (answers, file) in found.items():
        assert expected.has(answers, None), "call %d: %s" % (call, answers)
        assert expected.has(answers, file), "call %d" % call
