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

from tests.differential import tiers

from .run import KINDS
from .workload import JOURNALS

STEP = 1 if os.environ.get("SQPYTE_TESTS") == "all" else 37
# Of a part, every kind with one of the journals.
CASES = [(kind, journal) for i, kind in enumerate(KINDS) for j, journal in enumerate(JOURNALS)
         if STEP == 1 or i % len(JOURNALS) == j]


def outcomes(tier, kind, journal, step):
    """{call: (answers, what is in the file afterwards)} of all points at that distance."""
    environment = dict(os.environ, SQPYTE_JIT="threshold=3,function_threshold=3,trace_eagerness=2")
    process = subprocess.run(
        [sys.executable, "-m", "tests.faults.run", tier, kind, journal, "1", str(step)],
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


@functools.lru_cache(maxsize=None)
def patterns(kind, journal):
    """Stock's outcomes of all points: {the statements' result codes: outcomes as JSON}."""
    found = {}
    for answers, file in outcomes("stock", kind, journal, 1).values():
        codes = tuple(code for code, _ in answers)
        found.setdefault(codes, set()).add(json.dumps([answers, file]))
    return found


@pytest.mark.parametrize("tier", ["untranslated-always", "translated-always", "translated-hot"])
@pytest.mark.parametrize("kind, journal", CASES, ids=["-".join(case) for case in CASES])
def test_as_in_stock(tier, kind, journal, request):
    """The VM asks for memory, and through its seeks and sort keys for pages, at other points than
    upstream, so each of its outcomes must be one that stock has at some point."""
    if tier.startswith("translated"):
        request.getfixturevalue("vm_library")
    expected = patterns(kind, journal)
    for call, (answers, file) in outcomes(
            tier, kind, journal, STEP if tier.startswith("translated") else STEP * 10).items():
        codes = tuple(code for code, _ in answers)
        assert codes in expected, "call %d: %s" % (call, answers)
        assert json.dumps([answers, file]) in expected[codes], "call %d" % call
