"""Writers killed in the middle: what was committed is there, nothing else, and the file is sound.

A case is a file with a journal mode and VFS, and a number of writers, stock's and ours in any order.
Each continues where the one before was killed, tells when a transaction is committed, and is killed
after a while.  Then stock looks: the contents must be those after the last transaction told, or after
the one that was at work.
"""
import os
import shutil
import signal
import tempfile
import time

from tests.differential.sessions import capi
from tests.differential.sessions.worker import SCRATCH, Crash, Worker
from tests.fuzz import ways
from tests.fuzz.generate import transactions
from tests.fuzz.generate.chance import Chance
from tests.fuzz.kinds.kinds import Pair

_VFS = ["unix", "unix", "unix-dotfile", "unix-excl", "unix-none"]
_JOURNALS = ["DELETE", "TRUNCATE", "PERSIST", "WAL"]       # MEMORY and OFF promise nothing
_ANSWER = b"%d\n"


def _write(message, report):
    """A writer's life: transactions until it is killed, or the last; each committed one is reported."""
    library = capi.Library(message["library"])
    if library.has_tiers():
        library.set_mode(message["mode"], message["threshold"])
    connection = capi.Connection(library, message["uri"])
    for pragma in message["pragmas"]:
        connection.execute(pragma)
    for number in range(message["first"], message["first"] + message["count"]):
        for sql in transactions.transaction(message["seed"], number):
            connection.execute(sql)
        os.write(report, _ANSWER % number)


def child():
    """A runner for worker.py: a message is a writer's; it is forked, and killed after message["after"]
    transactions and message["delay"] seconds. Returns: (the number of the last transaction told, the exit
    status if it ended by itself)."""
    def run(message, directory):
        told, report = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(told)
            status = 1
            try:
                _write(message, report)
                status = 0
            except capi.Error as error:
                print("error %d: %s" % (error.code, error.message), flush=True)
            finally:
                os._exit(status)
        os.close(report)
        data = b""
        while data.count(b"\n") < message["after"]:
            more = os.read(told, 4096)
            if not more:
                break
            data += more
        time.sleep(message["delay"])
        os.kill(pid, signal.SIGKILL)
        more = os.read(told, 65536)
        while more:
            data += more
            more = os.read(told, 65536)
        os.close(told)
        status = os.waitpid(pid, 0)[1]
        numbers = data.split()
        return int(numbers[-1]) if numbers else message["first"] - 1, status
    return "kills", run


class Model:
    """What the file must hold after each transaction: stock does them one by one, in memory."""

    def __init__(self, library, seed, pragmas):
        self.connection = capi.Connection(library)
        self.seed = seed
        self.number = 0
        for sql in pragmas + transactions.SCHEMA:
            if "journal_mode" not in sql and "locking_mode" not in sql:
                self.connection.execute(sql)

    def after(self, number):
        """The contents after the transaction of that number; numbers never fall."""
        while self.number < number:
            self.number += 1
            for sql in transactions.transaction(self.seed, self.number):
                self.connection.execute(sql)
        return contents(self.connection)


def contents(connection):
    """All rows (list)."""
    return [connection.execute(sql) for sql in transactions.CHECKS]


def judge():
    """A runner for worker.py, on stock: a message is {"seed", "uri", "pragmas"}, which makes the file, or
    (last, uri, pragmas): whether the file holds what it must after transaction `last` or the next one.
    Returns: (the number of the transaction it is at, what is wrong or None)."""
    library = capi.Library(ways.STOCK)
    models = []

    def run(message, directory):
        if isinstance(message, dict):
            connection = capi.Connection(library, message["uri"])
            for sql in message["pragmas"] + transactions.SCHEMA:
                connection.execute(sql)
            connection.close()
            models[:] = [Model(library, message["seed"], message["pragmas"])]
            return None
        last, uri, pragmas = message
        connection = capi.Connection(library, uri)
        try:
            for sql in pragmas:
                if "locking_mode" in sql:
                    connection.execute(sql)
            checked = connection.execute("PRAGMA integrity_check")
            found = contents(connection)
        except capi.Error as error:
            return last, "error %d: %s" % (error.code, error.message)
        finally:
            connection.close()
        if checked != [("ok",)]:
            return last, "integrity_check: %r" % checked[:5]
        for number in (last, last + 1):
            if models[0].after(number) == found:
                return number, None
        return last, "the contents are neither those after transaction %d nor after %d" % (last, last + 1)
    return "judge", run


class Kills(Pair):
    """Writers of one file that are killed. A kind, see kinds.py. Args: writers, how many a case has."""

    name = "kills"

    def __init__(self, writers=10):
        self.count = writers
        super().__init__(Worker(["tests.fuzz.kinds.kills:judge"], ways.cpython(), patience=ways.PATIENCE))

    def case(self, seed):
        """See kinds.py."""
        chance = Chance(seed)
        way = ways.c_api(chance, [how for how in ways.available() if how != "untranslated"])
        # First of all: WAL needs shared memory, which some VFS don't have unless the file is theirs alone.
        pragmas = ["PRAGMA locking_mode=EXCLUSIVE"] if chance.one_in(4) else []
        pragmas.append("PRAGMA page_size=%d" % chance.pick([512, 1024, 4096]))
        if chance.one_in(3):
            pragmas.append("PRAGMA auto_vacuum=%s" % chance.pick(["FULL", "INCREMENTAL"]))
        pragmas += ["PRAGMA journal_mode=" + chance.pick(_JOURNALS), "PRAGMA synchronous=OFF",
                    "PRAGMA cache_size=%d" % chance.pick([2, 10, 300])]
        writers = [{"ours": chance.random() < 0.75, "mode": chance.pick([0, 1, 2, 2]),
                    "threshold": chance.pick([1, 3, 100]), "after": chance.pick([0, 1, 3, 9]),
                    "delay": chance.random() * chance.pick([0.0005, 0.003, 0.02])}
                   for _ in range(self.count)]
        return {"kind": self.name, "seed": seed, "way": way, "vfs": chance.pick(_VFS), "pragmas": pragmas,
                "writers": writers}

    def check(self, case):
        """See kinds.py."""
        if case["way"] != self.way:
            self.take(case["way"])
        os.makedirs(SCRATCH, exist_ok=True)
        folder = tempfile.mkdtemp(dir=SCRATCH)
        path = os.path.join(folder, "k.db")
        uri = "file:%s?vfs=%s" % (path, case["vfs"])
        last = 0
        try:
            self.oracle.run({"seed": case["seed"], "uri": uri, "pragmas": case["pragmas"]})
            for place, writer in enumerate(case["writers"]):
                library = case["way"]["library"] if writer["ours"] else ways.STOCK
                told, status = self.worker.run(dict(
                    writer, library=library, uri=uri, pragmas=case["pragmas"], seed=case["seed"],
                    first=last + 1, count=60))
                self._unlock(path)
                last, wrong = self.oracle.run((told, uri, case["pragmas"]))
                self._unlock(path)
                if status not in (0, signal.SIGKILL):
                    wrong = "the writer ended with status %d %s\n%s" % (
                        status, wrong or "", self.worker.last_words())
                if wrong:
                    return "writer %d (%s): %s" % (place, library, wrong)
        except Crash as crash:
            return str(crash)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return None

    def _unlock(self, path):
        """The lock that a killed process has left with unix-dotfile: somebody has to take it away."""
        if os.path.isdir(path + ".lock"):
            os.rmdir(path + ".lock")

    def worker_of(self, way):
        """See Pair."""
        return Worker(["tests.fuzz.kinds.kills:child"], ways.cpython(), way["environment"], ways.PATIENCE)

    def smaller(self, case):
        """When a process is killed is a matter of time, so a case can't be made smaller."""
        return ()
