"""The loop: cases of the kinds until the time is over; failures are shrunk and kept."""
import sys
import time

from tests import extent
from tests.fuzz import failures
from tests.fuzz.shrink import shrunk

_SHARES = {"scripts": 3, "module": 2}   # of the time; 1 for the others
_LOOKS = 3      # how often a failing case is run again, in a new process, before it counts as unsteady


class Campaign:
    """Fuzzes for a while.

    Args: kinds, a list of those of kinds.py; seed, a text (str); say, prints a line.
    Attributes: failed, the files of the failures (list of str); counts, cases by kind (dict).
    """

    def __init__(self, kinds, seed, say=None):
        self.kinds = kinds
        self.seed = seed
        self.say = say or (lambda text: print(text, file=sys.stderr, flush=True))
        self.failed = []
        self.counts = {kind.name: 0 for kind in kinds}
        self.spent = {kind.name: 0.0 for kind in kinds}

    def run(self, seconds=None, count=None, most_failures=20):
        """Run cases for so many seconds, or so many of each kind. Returns: whether all is well (bool)."""
        start = said = time.monotonic()
        while len(self.failed) < most_failures:
            kind = min(self.kinds, key=self._turn if seconds is None else self._share)
            before = time.monotonic()
            if self.counts[kind.name] == count or (seconds is not None and before - start >= seconds):
                break
            if before - said >= 30:
                said = before
                self.say("fuzz: %d s, %s, %d failures" % (before - start, self.summary(), len(self.failed)))
            self._one(kind, "%s/%s/%d" % (self.seed, kind.name, self.counts[kind.name]))
            self.spent[kind.name] += time.monotonic() - before
        self.say("fuzz: seed %s: %s in %d s, %d failures" % (
            self.seed, self.summary(), time.monotonic() - start, len(self.failed)))
        for name, number in self.counts.items():
            extent.count("fuzzers' %s" % name, number)
        return not self.failed

    def _turn(self, kind):
        return self.counts[kind.name]

    def _share(self, kind):
        return self.spent[kind.name] / _SHARES.get(kind.name, 1)

    def summary(self):
        """How many cases of each kind (str)."""
        return ", ".join("%d %s" % (self.counts[name], name) for name in sorted(self.counts))

    def _one(self, kind, seed):
        case = kind.case(seed)
        words = kind.check(case)
        self.counts[kind.name] += 1
        if words:
            self._failure(kind, case, words)

    def _failure(self, kind, case, words):
        self.say("fuzz: seed %s: %s" % (case["seed"], words))
        case, steady = self._reproduced(kind, case)
        if steady:
            case, words = shrunk(case, kind, words)
        path = failures.kept(case, words)
        self.failed.append(path)
        self.say("fuzz: kept%s: %s\nfuzz: run it again: python -m tests.fuzz --replay %s" % (
            "" if steady else " (unsteady, not shrunk)", words, path))

    def _reproduced(self, kind, case):
        """(the case as it fails in a new process, with what ran before if it takes that; whether it does)."""
        history = kind.with_history(case)
        for candidate in (case, history):
            for _ in range(_LOOKS):
                kind.fresh()
                if kind.check(candidate):
                    return candidate, True
        return history, False

    def stop(self):
        """End the kinds' processes."""
        for kind in self.kinds:
            kind.stop()
