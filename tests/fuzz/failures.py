"""Failing cases, kept in files that Python reads as literals."""
import ast
import hashlib
import os
import pprint

from tests.differential.worker import ROOT

FOLDER = os.path.join(ROOT, "build", "fuzz", "failures")


def kept(case, words):
    """Write a failing case to a file. Args: case; words, what is wrong with it (str).
    Returns: the file's path, from the project's folder (str)."""
    text = pprint.pformat(case, width=110)
    digest = hashlib.sha1(text.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    path = os.path.join(FOLDER, "%s-%s.py" % (case["kind"], digest))
    os.makedirs(FOLDER, exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("# %s\n%s\n" % (words.replace("\n", "\n# "), text.replace("inf", "9e999")
                                   if "inf," in text or "inf)" in text else text))
    return os.path.relpath(path, ROOT)


def read(path):
    """The case in a file."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return ast.literal_eval(file.read())
