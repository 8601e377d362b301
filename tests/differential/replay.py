"""`python -m tests.differential.replay FILE [TIER...]`: repeat a kept script.

Without tiers: stock and the one in the file's name. Prints both transcripts' first difference,
or that there is none.
"""
import math
import os
import sys

from . import tiers
from .scripts import difference
from .worker import Crash


def main(path, names):
    """Run the script in path in stock and in the named tiers, and print what differs."""
    with open(path) as file:
        case = eval(file.read(), {"inf": math.inf})
    expected = tiers.capi_tier("stock").worker.run(case)
    for name in names or [os.path.basename(path).split(".")[0]]:
        try:
            words = difference(case["actions"], expected, tiers.capi_tier(name).worker.run(case))
        except Crash as crash:
            words = str(crash)
        print("%s: %s" % (name, words or "as stock"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
