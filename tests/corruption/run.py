"""A process that queries damaged databases in one tier, on guarded memory.

`python -m tests.corruption.run DIRECTORY TIER SIDE FIRST LAST`: for each seed from FIRST up to
LAST a line of JSON on stdout: [seed, [[result code, rows, hash of them] for each query], [what
was read wrongly], upstream's own reads past the end].  TIER is one of tests.differential.tiers;
SIDE, on which side of what they guard the guards are: after or before; or map: after, and the
databases are in files, which are read by map, in stock by PRAGMA mmap_size; DIRECTORY has the
sound databases.  With a seed's results wanted in full,
`python -m tests.corruption.run DIRECTORY TIER SIDE SEED` prints them.
"""
import hashlib
import json
import os
import sys

from tests.corruption import guard, images
from tests.corruption.damage import damaged
from tests.differential import tiers
from tests.differential.sessions import capi
from tests.differential.sessions.scripts import render_row

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_ROWS = 1500
MAP = "map"
# Seeds of one sound database follow one another, so that the JIT's code serves many.
RUN = 120


def shape_of(seed):
    """Which of images.SHAPES is damaged."""
    return seed // RUN % len(images.SHAPES)


def actions(seed):
    """The statements (list of str) that are run on the database of that seed."""
    if seed % 4:
        return images.QUERIES
    return images.QUERIES[:9] + images.WRITES + images.QUERIES[9:]


def results(connection, sql):
    """(result code, rows as str) of a statement."""
    rows = []
    try:
        statement = connection.prepare(sql)
    except capi.Error as error:
        return error.code, rows
    code = 0
    try:
        while len(rows) < MOST_ROWS:
            row = statement.step()
            if row is None:
                break
            rows.append(render_row(row))
    except capi.Error as error:
        code = error.code
    statement.finalize()
    return code, rows


class Case:
    """A damaged database that is queried.

    Args: library, a capi.Library; directory, of the sound databases (str); seed; tier, side (str).
    """

    def __init__(self, library, directory, seed, tier, side):
        shape = shape_of(seed)
        with open(os.path.join(directory, "%d.db" % shape), "rb") as file:
            sound = file.read()
        self.seed = seed
        self.path = os.path.join(directory, "damaged-%d.db" % os.getpid()) if side == MAP else None
        image = damaged(sound, images.SHAPES[shape][0], seed)
        if self.path:
            with open(self.path, "wb") as file:
                file.write(image)
            self.connection = capi.Connection(library, self.path)
            if tier == "stock":
                results(self.connection, "PRAGMA mmap_size = %d" % (1 << 30))
        else:
            self.connection = capi.Connection(library)
            self.connection.deserialize(image)
        # A small cache, so that pages leave it while a statement runs.
        results(self.connection, "PRAGMA cache_size = %d" % (8, 30, 1000)[seed % 3])

    def run(self):
        """Yields (statement, result code, rows)."""
        for sql in actions(self.seed):
            code, rows = results(self.connection, sql)
            yield sql, code, rows
        self.connection.close()
        for end in ("", "-journal", "-wal", "-shm") if self.path else ():
            if os.path.exists(self.path + end):
                os.remove(self.path + end)


def start(tier, side):
    """The (capi.Library, guard.Guard) of a tier."""
    path = os.path.join(tiers.BUILD, tiers.LIBRARIES[tier.split("-")[0]])
    guarded = guard.Guard(path, {"after": guard.AFTER, "before": guard.BEFORE, MAP: guard.AFTER}[side])
    library = capi.Library(path)
    if tier.startswith("untranslated"):
        from sqpyte.vm import host
        host.install(path)
    if tiers.MODES[tier] is not None:
        library.set_mode(tiers.MODES[tier], 1)
    library.seed()
    return library, guarded


def main(directory, tier, side, first, last=None):
    library, guarded = start(tier, side)
    if last is None:
        for sql, code, rows in Case(library, directory, int(first), tier, side).run():
            print("%s\n  code %d, %d rows\n    %s" % (sql, code, len(rows), "\n    ".join(rows)))
            print("".join("  %s\n" % line for line in guarded.wrong()[0]), end="")
        return
    for seed in range(int(first), int(last)):
        answers, wrong, habits = [], [], 0
        print("[%d," % seed, end=" ", flush=True)       # whose fault a crash is
        for sql, code, rows in Case(library, directory, seed, tier, side).run():
            answers.append([code, len(rows), hashlib.sha1("\n".join(rows).encode()).hexdigest()])
            found, more = guarded.wrong()
            wrong += ["%s: %s" % (sql, line) for line in found]
            habits += more
        print("%s, %s, %d]" % (json.dumps(answers), json.dumps(wrong), habits), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
