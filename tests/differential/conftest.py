"""Fixtures: the running tiers, and the comparison of all of them with stock."""
import os
import pprint

import pytest

from . import tiers
from .scripts import difference, script
from .worker import SCRATCH, Crash


class Comparison:
    """Runs scripts in every tier that is there, and compares the transcripts with stock's.

    Args: oracle, the tiers.Tier that is right; others, those compared with it.
    """

    def __init__(self, oracle, others):
        self.oracle = oracle
        self.others = others

    def image(self, actions):
        """The database file (bytes) that the oracle makes of the actions."""
        made = self.oracle.worker.run(script(actions + [("dump", 0)]))
        return made[-2][0]

    def check(self, case):
        """Run a script everywhere. Raises: a Mismatch that shows the first difference."""
        running = [self.oracle] + self.others
        for tier in running:
            tier.worker.send(case)
        transcripts, crashes = {}, {}
        for tier in running:
            try:
                transcripts[tier.name] = tier.worker.receive()
            except Crash as crash:
                crashes[tier.name] = str(crash)
        assert self.oracle.name in transcripts, crashes
        expected = transcripts[self.oracle.name]
        for tier in self.others:
            if tier.name in crashes:
                words = crashes[tier.name]
            else:
                words = difference(case["actions"], expected, transcripts[tier.name])
            if words:
                raise tier.Mismatch("%s differs from %s\n%s\nthe script is in %s" % (
                    tier.name, self.oracle.name, words, kept(tier.name, case)))
        return expected


def kept(name, case):
    """Write a failing script to a file: `python -m tests.differential.replay FILE` repeats it."""
    path = os.path.join(SCRATCH, "failed-%s.py" % name)
    with open(path, "w") as file:
        file.write(pprint.pformat(case, width=100))
    return path


def _comparison(oracle, others):
    running, missing = tiers.started([oracle] + others)
    if oracle not in running:
        pytest.fail("the oracle doesn't start: %s" % missing[oracle.name])
    comparison = Comparison(oracle, [tier for tier in running if tier is not oracle])
    comparison.missing = missing
    yield comparison
    for tier in running:
        tier.worker.stop()


@pytest.fixture(scope="session")
def capi_tiers():
    """The Comparison of all tiers with a C API."""
    stock = tiers.capi_tier("stock")
    names = tiers.chosen([name for name in tiers.MODES if name != "stock"])
    yield from _comparison(stock, [tiers.capi_tier(name) for name in names])
