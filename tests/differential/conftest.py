"""Fixtures: the running tiers, and the comparison of all of them with stock."""
import re

import pytest

from tests.differential import tiers
from tests.differential.replay import kept
from tests.differential.sessions.scripts import difference, script
from tests.differential.sessions.worker import Crash


class Comparison:
    """Runs scripts in every tier that is there, and compares the transcripts with the oracle's.

    Attributes: oracle, the tiers.Tier that is right; others, those compared with it; missing,
    why tiers aren't among them (dict of name to str).
    """

    def __init__(self, maker, oracle, others):
        self.maker = maker
        running, self.missing = tiers.started([oracle] + others)
        if oracle not in running:
            pytest.fail("the oracle doesn't start: %s" % self.missing[oracle.name])
        self.oracle = oracle
        self.others = running[1:]

    def image(self, actions):
        """The database file (bytes) that the stock library makes of the actions."""
        made = self.maker.worker.run(script(actions + [("dump", 0)]))
        return made[-2][0]

    def stop(self):
        """End the tiers' processes."""
        for tier in [self.oracle] + self.others:
            tier.worker.stop()

    def check(self, case, excused=(), witnesses=()):
        """Run a script everywhere.

        Args: case, a script; excused, lines of which none may be in the oracle's transcript, or
        it is no example; witnesses, tiers.Tiers that have to agree with the oracle, or any
        answer will do (as it will where the tier agrees in new processes).
        Returns: the oracle's transcript. Raises: a Mismatch that shows the first difference.
        """
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
        if any(line in entry for entry in expected for line in excused):
            return expected
        for tier in self.others:
            if tier.name in crashes:
                words = crashes[tier.name]
            else:
                words = difference(case["actions"], expected, transcripts[tier.name])
                if words and FORGOTTEN.search(words):
                    continue
                if words and any(other.worker.run(case) != expected for other in witnesses):
                    continue
                if words and witnesses and agree_in_new_processes(tier.name, case):
                    continue
            if words:
                raise tier.Mismatch("%s differs from %s\n%s\nthe script is in %s" % (
                    tier.name, self.oracle.name, words, kept(tier.name, case)))
        return expected


def agree_in_new_processes(name, case):
    """Whether a tier gives stock's answer to a script, both in new processes.

    What lies behind a damaged page is an address, which no witness can choose: upstream reads it as the size of
    a header, and after some hundred scripts the heaps of two processes aren't alike. Our own reads past a page are
    found by tests/corruption, whatever they give.
    """
    fresh = [tiers.capi_tier("stock"), tiers.capi_tier(name)]
    try:
        stock, other = [tier.worker.run(case) for tier in fresh]
    finally:
        for tier in fresh:
            tier.worker.stop()
    return stock == other


# CPython forgets that an aggregate's argument isn't UTF-8, and goes on to the row's next error.
FORGOTTEN = re.compile(
    r"stock: \w+Error .*\n *here:  OperationalError 1: user-defined aggregate's 'step' method raised error")


@pytest.fixture(scope="session")
def stock():
    """The stock library's tier."""
    tier = tiers.capi_tier("stock")
    yield tier
    tier.worker.stop()


@pytest.fixture(scope="session")
def witnesses():
    """The stock library on heaps filled with different bytes: where its answers differ, it has
    read past the end of a damaged page."""
    found = [tiers.capi_tier("stock", {"MALLOC_PERTURB_": fill}) for fill in ("85", "170", "255")]
    yield found
    for tier in found:
        tier.worker.stop()


@pytest.fixture(scope="session")
def capi_tiers(stock):
    """The Comparison of all tiers with a C API."""
    names = tiers.chosen([name for name in tiers.MODES if name not in ("stock",) + tiers.POISONED])
    comparison = Comparison(stock, stock, [tiers.capi_tier(name) for name in names])
    yield comparison
    comparison.stop()


@pytest.fixture(scope="session")
def poisoned_tiers(stock):
    """The Comparison of the tiers in which dead registers are overwritten."""
    comparison = Comparison(stock, stock, [tiers.capi_tier(name) for name in tiers.POISONED])
    yield comparison
    comparison.stop()


@pytest.fixture(scope="session")
def checked_tiers(stock):
    """The Comparison of the checking build, by the opcode table and by the VM's own analysis."""
    comparison = Comparison(stock, stock, [tiers.capi_tier(name) for name in tiers.CHECKED])
    if comparison.missing:
        pytest.fail(str(comparison.missing), pytrace=False)
    yield comparison
    comparison.stop()


@pytest.fixture(scope="session")
def module_tiers(stock):
    """The Comparison of the ways in which `import sqpyte` runs statements."""
    names = tiers.chosen(tiers.MODULES)
    comparison = Comparison(
        stock, tiers.module_oracle(), [tiers.module_tier(name) for name in names])
    yield comparison
    comparison.stop()
