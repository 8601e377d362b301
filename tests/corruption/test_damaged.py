"""Damaged databases, each from a seed, in stock and in the VM, on guarded memory.

120 of them; 2400 with SQPYTE_TESTS=all (`make test-all`).
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests import extent
from tests.corruption import images, run
from tests.differential import tiers
from tests.differential.sessions import capi

CASES = 2400 if extent.everything() else 120
CORRUPT = 11


@pytest.fixture(scope="module")
def directory(stock_library):
    """Where the sound databases are; they stay there, for failures to be looked at."""
    made = pathlib.Path(tiers.BUILD, "tests", "sound")
    made.mkdir(parents=True, exist_ok=True)
    library = capi.Library(stock_library)
    for i, shape in enumerate(images.SHAPES):
        connection = capi.Connection(library)
        for sql in images.statements(shape):
            connection.execute(sql)
        (made / ("%d.db" % i)).write_bytes(connection.serialize())
        connection.close()
    return str(made)


def queried(directory, tier, side, seeds):
    """{seed: (answers, what was read wrongly, upstream's reads past the end)} of a range."""
    environment = dict(os.environ, **tiers.EAGER)
    process = subprocess.run(
        [sys.executable, "-m", "tests.corruption.run", directory, tier, side,
         str(seeds[0]), str(seeds[-1] + 1)], cwd=run.ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    lines = process.stdout.splitlines()
    assert process.returncode == 0, "%s with status %d at seed %s\n%s" % (
        tier, process.returncode, lines[-1].split(",")[0] if lines else "-", process.stderr[-2000:])
    found = {}
    for line in lines:
        seed, answers, wrong, habits = json.loads(line)
        found[seed] = answers, wrong, habits
    assert sorted(found) == list(seeds)
    return found


def compare(directory, tier, side, seeds):
    """Query the databases of those seeds in stock and in a tier.

    Returns: how often each result code came, and how often the tier read past the end of a page
    where upstream does (collections.Counter).
    """
    codes = collections.Counter()
    expected = queried(directory, "stock", side, seeds)
    # Of a file some pages are read by map, some before there is one. Upstream reads a little past the end of a damaged
    # page, and what is there depends on it.
    unmapped = queried(directory, "stock", "after", seeds) if side == run.MAP else expected
    actual = queried(directory, tier, side, seeds)
    extent.count("damaged databases", len(seeds))
    problems = []
    for seed in seeds:
        answers, wrong, _ = actual[seed]
        for sql, a, other, b in zip(run.actions(seed), expected[seed][0], unmapped[seed][0], answers):
            codes[a[0]] += 1
            if b not in (a, other):
                problems.append("seed %d: %s\n  stock: code %d, %d rows %s\n  here:  code %d, %d rows %s"
                                % ((seed, sql) + tuple(a) + tuple(b)))
        known = set(expected[seed][1])
        problems += ["seed %d: %s" % (seed, line) for line in wrong if line not in known]
    assert not problems, "%d problems; python -m tests.corruption.run %s %s %s SEED\n%s" % (
        len(problems), directory, tier, side, "\n".join(problems[:20]))
    return codes


@pytest.mark.parametrize("side", ["after", "before"])
def test_the_translated_vm(directory, vm_library, side):
    """Most of the databases with the guards after what they guard; then some, before it."""
    count = CASES if side == "after" else CASES // 4
    codes = compare(directory, "translated-always", side, range(count))
    assert codes[0] > 3 * count and sum(codes[code] for code in codes if code & 255 == CORRUPT) > count


@pytest.mark.parametrize("side", ["after", "before"])
def test_the_untranslated_vm(directory, side):
    compare(directory, "untranslated-always", side, range(0, CASES // 20))


def test_hot_loops_in_the_translated_vm(directory, vm_library):
    compare(directory, "translated-hot", "after", range(CASES, CASES + CASES // 4))


@pytest.mark.parametrize("tier", ["engine", "translated-always"])
def test_files_that_are_read_by_map(directory, vm_library, tier):
    """Rows are located in the map, and index entries ahead."""
    compare(directory, tier, run.MAP, range(2 * CASES, 3 * CASES))


# A leaf with two parents, to which seeks from the leaf at hand went by the other one's bounds.
@pytest.mark.parametrize("tier", ["engine", "translated-always"])
@pytest.mark.parametrize("seed", [2362])
def test_databases_that_gave_other_rows(directory, vm_library, tier, seed):
    compare(directory, tier, "after", range(seed, seed + 1))
