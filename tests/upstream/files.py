"""Which test files there are, and which of them only run others."""

import glob
import os
import re

PLACES = ['test', 'ext/expert', 'ext/fts5/test', 'ext/intck', 'ext/rbu', 'ext/recover', 'ext/rtree',
          'ext/session']

# Files that run all others, or choices of them, once more or with other settings.
DRIVERS = re.compile(r'/permutations\.test\b|\brun_test_suite\b|\bforeach testfile\b|\bset TIMEOUT 3600\b')

# Part of `make test`: a choice from every kind of file, each of a few seconds in stock.
PART = []


class Unknown(Exception):
    """No test file has that name; the message says so."""


def every(directory):
    """Return the names of all test files of a tree, as paths below it, sorted.

    Args:
        directory: the tree's folder.
    """
    found = []
    for place in PLACES:
        for path in sorted(glob.glob(os.path.join(directory, place, '*.test'))):
            if os.path.basename(path) == 'permutations.test':
                continue
            with open(path, encoding='utf-8', errors='replace') as file:
                if not DRIVERS.search(file.read()):
                    found.append(os.path.relpath(path, directory))
    return found


def choose(directory, names):
    """Return the test files that a user names.

    Args:
        directory: the tree's folder.
        names: paths below the tree, or names of files, with or without .test, or patterns of them; none: all.

    Raises:
        Unknown: a name fits no file.
    """
    files = every(directory)
    if not names:
        return files
    chosen = []
    for name in names:
        pattern = re.compile(re.escape(name).replace(r'\*', '.*') + r'(\.test)?$')
        found = [path for path in files if pattern.match(path) or pattern.match(os.path.basename(path))]
        if not found:
            raise Unknown('no test file %s in SQLite\'s tree' % name)
        chosen += [path for path in found if path not in chosen]
    return chosen
