"""Failing scripts, kept in files: `python -m tests.differential.replay FILE [TIER...]` repeats one.

Without tiers: stock and the one in the file's name. Prints the first difference, if there is one.
"""
import base64
import hashlib
import math
import os
import pprint
import sys
import zlib

from tests.differential import tiers
from tests.differential.sessions.scripts import difference
from tests.differential.sessions.worker import SCRATCH, Crash

_TIMES = 10     # a JIT has to warm up


def kept(name, case):
    """Write a failing script to a file. Args: name, the tier's; case, the script.
    Returns: the file's path (str)."""
    image = case["image"]
    packed = None if image is None else base64.b85encode(zlib.compress(image)).decode()
    text = "dict(%s, image=unpacked(%r))\n" % (
        pprint.pformat(dict(case, image=None), width=100), packed)
    text = text.replace("'image': None,", "", 1)
    digest = hashlib.sha1(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    path = os.path.join(SCRATCH, "failed", "%s.%s.py" % (name, digest))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return path


def _unpacked(text):
    return None if text is None else zlib.decompress(base64.b85decode(text))


def main(path, names):
    """Run the script in path in stock and in the named tiers, and print what differs."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        case = eval(file.read(), {"inf": math.inf, "dict": dict, "unpacked": _unpacked})
    names = names or [os.path.basename(path).split(".")[0]]
    modules = [name for name in names if name in tiers.MODULES]
    oracle = tiers.module_oracle() if modules else tiers.capi_tier("stock")
    expected = oracle.worker.run(case)
    for name in names:
        worker = (tiers.module_tier(name) if modules else tiers.capi_tier(name)).worker
        words = None
        for _ in range(_TIMES):
            try:
                words = words or difference(case["actions"], expected, worker.run(case))
            except Crash as crash:
                words = words or str(crash)
        print("%s: %s" % (name, words or "as stock"))
        worker.stop()
    oracle.worker.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
