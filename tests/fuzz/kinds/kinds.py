"""What is fuzzed: each kind makes cases from seeds, and says what is wrong with one.

A kind has `name`; `case(seed)`, the case of a seed (a dict of plain values); `check(case)`, what is wrong
with it in words (str), or None; `smaller(case)`, cases that are a step simpler; `stop()`, which ends its
processes.  A case has `kind`, and all that it takes to run it again.
"""
import copy

from tests.differential.sessions.scripts import difference
from tests.differential.sessions.worker import Crash, Worker
from tests.fuzz import ways
from tests.fuzz.generate import scripts
from tests.fuzz.generate.chance import Chance
from tests.fuzz.shrink import smaller_scripts

SCRIPTS_PER_WAY = 25    # before another configuration gets a new process
_STEPS = {"untranslated": 4000, "poison": 3000, "in-c": 3000}
_ESCAPED = ("UnicodeDecodeError", "SystemError", "'__init__' method raised error")
_MOST_STEPS = 150000    # opcodes that stock may take for a statement
# What a connection is told of a database that another one has locked; the second if it hasn't read the schema yet.
_LOCKED = ("database is locked", "no such table")
_IMAGE = "('image', 0)\n"       # the file's bytes, which are compared behind its contents


class Pair:
    """Two processes, which a kind has: the oracle's, and one of the present way. `worker_of(way)` makes its Worker.

    Args: oracle, a Worker.
    Attributes: way, a dict (ways.py), None at first; worker, its Worker.
    """

    def __init__(self, oracle):
        self.oracle = oracle
        self.way = None
        self.worker = None

    def take(self, way):
        """Have a new process for a way."""
        if self.worker is not None:
            self.worker.stop()
        self.way = way
        self.worker = self.worker_of(way)

    def with_history(self, case):
        """The case with all that its worker ran before (dict), to be asked before another check: here one says
        nothing of the next."""
        return case

    def fresh(self):
        """Have the next check begin with a new process."""
        self.take(self.way)

    def stop(self):
        """End the processes."""
        self.oracle.stop()
        if self.worker is not None:
            self.worker.stop()


class Scripts(Pair):
    """Generated scripts over the C API, ours beside stock.

    Args: hows, the ways that are drawn from (list of str; see ways.c_api).
    """

    name = "scripts"

    def __init__(self, hows=None):
        self.hows = hows or ways.available()
        super().__init__(self._oracle())
        self.done = []

    def _oracle(self):
        return ways.stock()

    def _way(self, chance):
        return ways.c_api(chance, self.hows)

    def _script(self, seed, way):
        return scripts.generated(seed, _STEPS.get(way["how"], _MOST_STEPS))

    def case(self, seed):
        """The case of a seed; every so often it begins a new configuration."""
        if self.way is None or len(self.done) >= SCRIPTS_PER_WAY:
            self.take(self._way(Chance("way " + seed)))
        case = {"kind": self.name, "seed": seed, "way": self.way, "script": self._script(seed, self.way),
                "before": []}
        return case

    def worker_of(self, way):
        """See Pair."""
        self.done = []
        return ways.worker(way)

    def check(self, case):
        """Stock's transcript beside ours. What takes stock too long is left out of case["script"]."""
        expected = self._expected(case)
        if self.excused(expected):
            return None
        if case["way"] != self.way or case["before"] or self.worker.process is None:
            self.take(case["way"])
            for script in case["before"]:
                self._run(script)
        try:
            actual = self._run(case["script"])
        except Crash as crash:
            self.take(self.way)
            return "%s crashed\n%s" % (case["way"]["how"], crash)
        words = difference(case["script"]["actions"], expected, actual)
        if words is None or self._writes_later(case, expected, words):
            return None
        return "%s differs from stock\n%s" % (case["way"]["how"], words)

    def _writes_later(self, case, expected, words):
        """Whether a difference is only that the file is written at another time (bool): pages by map aren't in the
        page cache, so a writer whose cache is small writes to the file, and locks it, later. Another connection is
        locked out at another time, or a page that is free has other bytes. The same script without a map then gives
        what stock does."""
        late = _IMAGE in words or any(lock in words for lock in _LOCKED)
        if not late or case["script"]["storage"] != "file":
            return False
        environment = dict(case["way"]["environment"])
        left_out = environment.get("SQPYTE_WITHOUT", "")
        environment["SQPYTE_WITHOUT"] = left_out + ",mmap" if left_out else "mmap"
        worker = ways.worker(dict(case["way"], environment=environment))
        try:
            _, answer = worker.run({"script": case["script"], "times": case["way"]["times"]})
        except Crash:
            return False
        finally:
            worker.stop()
        return difference(case["script"]["actions"], expected, answer) is None

    def with_history(self, case):
        """See Pair."""
        return dict(case, before=copy.deepcopy(self.done[:-1]))

    def _run(self, script):
        self.done.append(script)
        state, answer = self.worker.run({"script": script, "times": self.way["times"]})
        assert state == "transcript", answer
        return answer

    def _expected(self, case):
        script = case["script"]
        while True:
            state, answer = self.oracle.run({"script": script, "times": 1})
            if state == "transcript":
                return answer
            actions = script["actions"]
            script["actions"] = [actions[i] for i in range(len(actions)) if i not in answer]

    def excused(self, expected):
        """Whether a transcript of stock's says nothing about ours (bool)."""
        return False

    def smaller(self, case):
        """Cases a step simpler: fewer scripts before, a plainer way, a smaller script."""
        for i in range(len(case["before"])):
            yield dict(case, before=case["before"][:i] + case["before"][i + 1:])
        for name in sorted(case["way"]["environment"]):
            environment = {n: v for n, v in case["way"]["environment"].items() if n != name}
            if name not in ("SQPYTE_LIBRARY", "SQPYTE_INLINE", "SQPYTE_SEMANTICS"):
                yield dict(case, way=dict(case["way"], environment=environment))
        for script in smaller_scripts(case["script"]):
            yield dict(case, script=script)


class Module(Scripts):
    """Generated scripts over the DB-API, under PyPy with the inliner, beside CPython's sqlite3 on stock."""

    name = "module"

    def _oracle(self):
        return ways.stock_module()

    def _way(self, chance):
        return ways.module(chance)

    def _script(self, seed, way):
        script = scripts.generated(seed, _MOST_STEPS, "python")
        chance = Chance("options " + seed)
        script["isolation_level"] = chance.pick([None, None, "", "IMMEDIATE"])
        script["text_factory"] = not chance.one_in(8)
        # An interrupt stops what is running, and here queries of one row aren't once they are executed.
        script["actions"] = [action for action in script["actions"] if action[0] != "interrupt"]
        return script

    def excused(self, expected):
        """What comes of it in CPython that an aggregate's argument isn't UTF-8: it forgets the exception,
        which then escapes somewhere else."""
        return any(words in line for entry in expected for line in entry for words in _ESCAPED)


class Beside(Pair):
    """Cases that a child of their own runs on sqpyte under PyPy, and on CPython's sqlite3 on the stock library.

    Attributes: child, the name of the child's function (str; see worker.py); cases_per_way, how many there are
    before another configuration gets a new process.
    """

    child = ""
    cases_per_way = 40

    def __init__(self):
        super().__init__(Worker([self.child, "sqlite3", "{}"], ways.cpython(), ways.STOCK_PATH, ways.PATIENCE))
        self.count = 0

    def next_way(self, seed):
        """The way of the next case, a new one every so often (dict)."""
        if self.way is None or self.count >= self.cases_per_way:
            self.take(ways.module(Chance("way " + seed)))
        self.count += 1
        return self.way

    def worker_of(self, way):
        """See Pair."""
        self.count = 0
        return Worker([self.child, "sqpyte", repr(way["parameters"])],
                      environment=way["environment"], patience=ways.PATIENCE)

    def run(self, case):
        """What sqpyte gives for a case, or what there is to say of its crash: (answer, None) or (None, words)."""
        if case["way"] != self.way:
            self.take(case["way"])
        try:
            return self.worker.run(case), None
        except Crash as crash:
            self.take(self.way)
            return None, "sqpyte crashed\n%s" % crash
