"""A short part of each kind, and the fuzzers' own works: planted faults are found and made small."""
import os
import subprocess
import time

import pytest

from tests.differential.sessions.worker import Crash
from tests.fuzz import failures, ways
from tests.fuzz.campaign import Campaign
from tests.fuzz.generate import scripts
from tests.fuzz.generate.chance import Chance
from tests.fuzz.kinds.callbacks import Callbacks
from tests.fuzz.kinds.kills import Kills
from tests.fuzz.kinds.kinds import Module, Scripts
from tests.fuzz.kinds.queries import Queries
from tests.fuzz.kinds.writers import Writers
from tests.fuzz.shrink import smaller_scripts

# The same cases in every run where CI is set: a change is judged by what it changes.
SEED = "ci" if os.environ.get("CI") else "%d" % time.time()
STEPS = 20000


def run(kind, count):
    """Run count cases of a kind; fails with the files of those that failed."""
    campaign = Campaign([kind], SEED)
    try:
        good = campaign.run(count=count, most_failures=5)
    finally:
        campaign.stop()
    assert good, "seed %s: `python -m tests.fuzz --replay` shows what is wrong with %s" % (
        SEED, ", ".join(campaign.failed))


def test_scripts():
    run(Scripts(["translated"] * 5 + ["engine"]), 150)


@pytest.mark.parametrize("how", ["untranslated", "poison", "in-c"])
def test_scripts_in_the_untranslated_vm(how):
    run(Scripts([how]), 8)


@pytest.mark.parametrize("kind, count", [(Module, 12), (Queries, 40), (Callbacks, 60), (Writers, 20), (Kills, 1)])
def test_kinds(kind, count):
    run(kind(), count)


def test_the_module_has_the_semantics_of_the_python_that_it_is_compared_with():
    asked = [ways.cpython(), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    assert ways.module(Chance("any"))["environment"]["SQPYTE_SEMANTICS"] == subprocess.run(
        asked, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.strip()


def test_scripts_are_made_of_their_seed():
    assert scripts.generated("one", STEPS) == scripts.generated("one", STEPS)
    assert scripts.generated("one", STEPS) != scripts.generated("another", STEPS)


class Planted:
    """Stands for a worker whose VM answers wrongly to whatever has the words of a fault."""

    process = True

    def __init__(self, worker, fault, crashes=False):
        self.worker = worker
        self.fault = fault
        self.crashes = crashes

    def run(self, case):
        state, transcript = self.worker.run(case)
        for i, action in enumerate(case["script"]["actions"]):
            if any(isinstance(word, str) and self.fault in word for word in action):
                if self.crashes:
                    raise Crash("planted")
                transcript[i] = ["planted"]
        return state, transcript

    def stop(self):
        self.worker.stop()


@pytest.mark.parametrize("crashes", [False, True])
def test_planted_faults_are_found_made_small_and_kept(crashes, monkeypatch, tmp_path):
    monkeypatch.setattr(failures, "FOLDER", str(tmp_path))
    made = ways.worker
    monkeypatch.setattr(ways, "worker", lambda way: Planted(made(way), "DISTINCT", crashes))
    kind = Scripts(["engine"])
    campaign = Campaign([kind], "planted", say=lambda text: None)
    try:
        assert not campaign.run(count=40, most_failures=1)
        case = failures.read(os.path.join(tmp_path, os.listdir(tmp_path)[0]))
        assert len(case["script"]["actions"]) == 1 and not case["before"]
        assert kind.check(case)
    finally:
        campaign.stop()


def test_what_is_kept_is_read_again(monkeypatch, tmp_path):
    monkeypatch.setattr(failures, "FOLDER", str(tmp_path))
    case = {"kind": "scripts", "values": [float("inf"), -float("inf"), "inf, \udcff", b"\xff", -0.0, None]}
    failures.kept(case, "two\nlines")
    assert failures.read(os.path.join(tmp_path, os.listdir(tmp_path)[0])) == case


def test_simpler_scripts_lose_something():
    script = scripts.generated("small", STEPS)
    for simpler in smaller_scripts(script):
        assert simpler != script and len(repr(simpler)) <= len(repr(script)) + 200
