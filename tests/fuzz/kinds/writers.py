"""Two processes that take turns as writers of one file, one of them on stock and one on ours.

What each sees and is told must be what two processes on stock are: locks and their errors, too, where a
transaction or a reader stays open over the other's turn.  The connections stay open, so that a cache which
isn't forgotten shows.
"""
import os
import shutil
import tempfile

from tests.differential.sessions import capi
from tests.differential.sessions.capi_session import Session
from tests.differential.sessions.scripts import difference
from tests.differential.sessions.worker import SCRATCH, Crash, Worker
from tests.fuzz import ways
from tests.fuzz.generate import transactions
from tests.fuzz.generate.chance import Chance
from tests.fuzz.shrink import without_runs

VFS = ["unix", "unix", "unix", "unix-dotfile", "unix-excl", "unix-none"]
_READS = ["SELECT id, n FROM a", "SELECT t, id FROM a ORDER BY n", "SELECT k, n FROM w",
          "SELECT n, id FROM a"]


class Writer(Session):
    """The worker's side: one connection to the shared file, opened and closed as it is told.

    Args: library, a capi.Library; message, a dict with `uri`, `pragmas`, `mode` and `threshold`.
    """

    def __init__(self, library, message):
        self.library = library
        self.message = message
        self.statements = {}
        self.connections = []
        self.calls = 0
        if library.has_tiers():
            library.set_mode(message["mode"], message["threshold"])

    def act(self, action):
        """The transcript of an action (list of str)."""
        verb = action[0]
        if verb == "open":
            return self.open()
        if verb == "close":
            return self.close()
        if not self.connections:
            return ["closed"]
        return getattr(self, verb)(self.connections[0], *action[1:])

    def open(self):
        """Open the connection, if it is closed."""
        if self.connections:
            return ["is open"]
        entry = []
        try:
            connection = capi.Connection(self.library, self.message["uri"])
        except capi.Error as error:
            return ["error %d: %s" % (error.code, error.message)]
        self.connections.append(connection)
        self._functions(connection)
        for pragma in ["PRAGMA synchronous=OFF"] + self.message["pragmas"]:
            entry += self.run(connection, pragma)
        return entry

    def close(self):
        """Close the connection, and what is open on it."""
        for statement in self.statements.values():
            statement.finalize()
        self.statements.clear()
        for connection in self.connections:
            connection.close()
        self.connections.clear()
        return ["closed"]


def child(path):
    """A runner for worker.py: a message is {"uri": ...}, which begins, ("act", action), or "end"."""
    library = capi.Library(path)
    writers = []

    def run(message, directory):
        if isinstance(message, dict):
            writers.append(Writer(library, message))
            return []
        if message == "end":
            return writers.pop().close()
        return writers[0].act(message[1])
    return "SQLite %s" % library.version(), run


class Writers:
    """Turns of two processes, stock and ours, beside two on stock. A kind, see kinds.py."""

    name = "writers"

    def __init__(self):
        self.stock = [self._worker(ways.STOCK), self._worker(ways.STOCK)]
        self.way = None
        self.ours = None

    def _worker(self, path, environment=()):
        return Worker(["tests.fuzz.kinds.writers:child", path], ways.cpython(), environment, ways.PATIENCE)

    def case(self, seed):
        """See kinds.py."""
        chance = Chance(seed)
        if self.way is None or chance.one_in(20):
            self._take(ways.c_api(chance, [how for how in ways.available() if how != "untranslated"]))
        vfs, journal = chance.pick(VFS), transactions.journal(chance)
        page_size, cache_size = chance.pick([512, 1024, 4096]), chance.pick([2, 10, 300])
        # Without locks, or without a journal, only whole transactions take turns. So where a small cache, spilled,
        # takes the file for its writer alone: ours reads pages by map, and spills later.
        whole = vfs == "unix-none" or journal == "OFF" or cache_size < 300 and journal != "WAL"
        pragmas = ["PRAGMA page_size=%d" % page_size, "PRAGMA journal_mode=" + journal,
                   "PRAGMA cache_size=%d" % cache_size]
        extra = ["PRAGMA mmap_size=300000", "PRAGMA auto_vacuum=INCREMENTAL", "PRAGMA auto_vacuum=FULL"]
        if vfs != "unix-none":      # both would have it to themselves: what is in their caches decides
            extra.append("PRAGMA locking_mode=EXCLUSIVE")
        pragmas += chance.some(extra, 0, 1)
        turns = [(0, "open")] + [(0, "run", sql) for sql in transactions.SCHEMA] + [(1, "open")]
        for number in range(chance.randint(8, 40)):
            turns += self._turn(chance, seed, number, whole, journal != "OFF")
        turns += [(who, "run", sql) for who in (0, 1) for sql in
                  ["ROLLBACK"] + transactions.CHECKS + ["PRAGMA integrity_check"]]
        return {"kind": self.name, "seed": seed, "way": self.way, "vfs": vfs, "pragmas": pragmas,
                "turns": turns, "ours": chance.pick([(0,), (1,), (0, 1)]), "mode": chance.pick([0, 1, 2, 2]),
                "threshold": chance.pick([1, 3, 100])}

    def _turn(self, chance, seed, number, whole, rollback):
        who = chance.pick([0, 1])
        kind = chance.random()
        if kind < 0.1:
            return [(who, "close"), (who, "open")]
        if kind < 0.3:
            return [(who, "run", sql) for sql in chance.some(transactions.CHECKS, 1, 2)]
        turns = [(who, "run", sql) for sql in transactions.transaction(seed, number, rollback)]
        if whole:
            return turns
        if kind < 0.45:     # the other one is in between
            place = chance.randrange(len(turns))
            turns.insert(place, (1 - who, "run", transactions.statement(chance)))
        elif kind < 0.6:    # and reads row by row
            reader = [(1 - who, "prepare", "r", chance.pick(_READS)), (1 - who, "step", "r", 2)]
            end = [(1 - who, "step", "r", 1000), (1 - who, "finalize", "r")]
            turns = reader + turns + end
        return turns

    def check(self, case):
        """See kinds.py."""
        if case["way"] != self.way:
            self._take(case["way"])
        expected = self._performed(case, self.stock)
        ours = [self.ours[who] if who in case["ours"] else self.stock[who] for who in (0, 1)]
        try:
            actual = self._performed(case, ours)
        except Crash as crash:
            self._take(self.way)
            return "a writer crashed\n%s" % crash
        words = difference(case["turns"], expected, actual)
        return words and "writers %s ours differ from stock\n%s" % (case["ours"], words)

    def _performed(self, case, workers):
        os.makedirs(SCRATCH, exist_ok=True)
        folder = tempfile.mkdtemp(dir=SCRATCH)
        message = {"uri": "file:%s/w.db?vfs=%s" % (folder, case["vfs"]), "pragmas": case["pragmas"],
                   "mode": case["mode"], "threshold": case["threshold"]}
        try:
            for worker in workers:
                worker.run(message)
            transcript = [workers[turn[0]].run(("act", turn[1:])) for turn in case["turns"]]
            for worker in workers:
                worker.run("end")
            return transcript + [[]]
        except Crash:
            for worker in self.stock:
                worker.stop()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _take(self, way):
        for worker in self.ours or []:
            worker.stop()
        self.way = way
        self.ours = [self._worker(way["library"], way["environment"]) for _ in (0, 1)]

    def with_history(self, case):
        """See kinds.py."""
        return case

    def fresh(self):
        """See kinds.py."""
        self._take(self.way)

    def smaller(self, case):
        """See kinds.py."""
        for ours in [(0,), (1,)]:
            if len(case["ours"]) > 1:
                yield dict(case, ours=ours)
        for name, plain in (("vfs", "unix"), ("threshold", 1)):
            if case[name] != plain:
                yield dict(case, **{name: plain})
        for name in sorted(case["way"]["environment"]):
            environment = {n: v for n, v in case["way"]["environment"].items() if n != name}
            yield dict(case, way=dict(case["way"], environment=environment))
        for turns in without_runs(case["turns"]):
            yield dict(case, turns=turns)
        for pragmas in without_runs(case["pragmas"]):
            yield dict(case, pragmas=pragmas)

    def stop(self):
        """See kinds.py."""
        for worker in self.stock + (self.ours or []):
            worker.stop()
