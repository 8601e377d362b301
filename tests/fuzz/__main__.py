"""The command line of the fuzzers: `python -m tests.fuzz --help`."""
import argparse
import sys
import time

from tests.fuzz import failures
from tests.fuzz.campaign import Campaign
from tests.fuzz.kinds.callbacks import Callbacks
from tests.fuzz.kinds.kills import Kills
from tests.fuzz.kinds.kinds import Module, Scripts
from tests.fuzz.kinds.oracle_cases import Oracles
from tests.fuzz.kinds.queries import Queries
from tests.fuzz.kinds.writers import Writers

KINDS = {kind.name: kind for kind in (Scripts, Module, Queries, Oracles, Callbacks, Writers, Kills)}


def _arguments():
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Fuzz SQPyte beside stock SQLite.")
    parser.add_argument("--seconds", type=float, default=60, help="for how long (default: 60)")
    parser.add_argument("--seed", help="a text; cases are made of it alone (default: from the clock)")
    parser.add_argument("--only", action="append", choices=sorted(KINDS), help="this kind (may be repeated)")
    parser.add_argument("--how", action="append",
                        help="for scripts: translated, engine, untranslated, poison or in-c")
    parser.add_argument("--most-failures", type=int, default=20, help="stop after so many (default: 20)")
    parser.add_argument("--replay", metavar="FILE", help="run a kept case again, and nothing else")
    return parser.parse_args()


def _replay(path):
    case = failures.read(path)
    kind = KINDS[case["kind"]]()
    words = kind.check(case)
    kind.stop()
    print(words or "as it should be")
    return 1 if words else 0


def main():
    """Run a campaign, or a kept case; the exit status is 1 if anything is wrong."""
    options = _arguments()
    if options.replay:
        return _replay(options.replay)
    seed = options.seed or "%d" % time.time()
    print("fuzz: --seed %s" % seed, file=sys.stderr)
    kinds = [Scripts(options.how) if name == "scripts" else KINDS[name]()
             for name in options.only or sorted(KINDS)]
    campaign = Campaign(kinds, seed)
    try:
        return 0 if campaign.run(options.seconds, most_failures=options.most_failures) else 1
    finally:
        campaign.stop()


if __name__ == "__main__":
    sys.exit(main())
