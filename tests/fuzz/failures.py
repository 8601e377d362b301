"""Failing cases, kept in files that are Python literals."""
import hashlib
import math
import os
import pprint

from tests.differential.sessions.worker import ROOT

FOLDER = os.path.join(ROOT, "build", "fuzz", "failures")


def kept(case, words):
    """Write a failing case to a file. Args: case; words, what is wrong with it (str).
    Returns: the file's path, from the project's folder (str)."""
    text = pprint.pformat(case, width=110)
    digest = hashlib.sha1(text.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    path = os.path.join(FOLDER, "%s-%s.py" % (case["kind"], digest))
    os.makedirs(FOLDER, exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("# %s\n%s\n" % (words.replace("\n", "\n# "), text))
    return os.path.relpath(path, ROOT)


def read(path):
    """The case in a file."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return eval(file.read(), {"__builtins__": {}, "inf": math.inf})
