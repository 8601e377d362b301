"""In which configuration a script is run: library, interpreter and environment, chosen at random.

A way is a dict: `how` (see child.py), `library`, `environment`, `times` (how often each script is run
for a JIT to warm up) and, for the DB-API, `parameters` of PyPy's JIT.
"""
import glob
import os
import sys

from c_engine.generated.mechanisms import MECHANISMS
from sqpyte.vm.opcodes import every
from tests.differential.sessions.worker import ROOT, Worker
from tests.differential.tiers import EAGER

BUILD = os.environ.get("SQPYTE_BUILD", os.path.join(ROOT, "build"))
STOCK = os.path.join(BUILD, "libsqlite3-stock.so")
ENGINE = os.path.join(BUILD, "libsqpyte-engine.so")
# For programs linked to libsqlite3.so.0. No sanitizer is loaded: CPython's own module may crash where a
# callback ends what runs, which is no finding.
STOCK_PATH = {"LD_LIBRARY_PATH": os.path.join(BUILD, "stock"), "SQPYTE_LIBRARY": "libsqlite3.so.0",
              "LD_PRELOAD": ""}
TRANSLATED = os.path.join(BUILD, "libsqpyte.so")
PATIENCE = 600          # seconds for a script, which takes some hundredths of one; tracing, some seconds
# With a threshold of 2 a loop whose trace is too long is traced again in every second round: such a trace ends early,
# or a query of 5 ms takes minutes.
_JIT = [
    None, EAGER["SQPYTE_JIT"], "threshold=2,trace_eagerness=1,trace_limit=1500",
    "threshold=5,trace_eagerness=1,trace_limit=700", "threshold=3,trace_eagerness=2,decay=0", "off",
    "threshold=3,trace_eagerness=2,enable_opts=intbounds:rewrite:virtualize:string:pure:earlyforce:heap",
    "threshold=4,trace_eagerness=3,retrace_limit=3,max_unroll_loops=2", "threshold=7,trace_eagerness=200",
    "threshold=3,trace_eagerness=2,loop_longevity=2", "threshold=3,trace_eagerness=2,disable_unrolling=0",
]
_GROUPS = [name for name, reader, _, _ in MECHANISMS if reader != "module"]
_OUTSIDE_OF_VM = [name for name, reader, _, _ in MECHANISMS if reader != "vm"]
_OPCODES = sorted(declaration.name for declaration in every.TABLE.values() if declaration.name != "IsType")
_PYPY_JIT = [{}, {}, {}, {"threshold": 13, "function_threshold": 17, "trace_eagerness": 5},
             {"threshold": 30, "function_threshold": 40, "trace_eagerness": 2, "loop_longevity": 3}]


def _without(chance):
    """What SQPYTE_WITHOUT names."""
    words = []
    if chance.one_in(3):
        words += chance.some(_GROUPS, 1, 2)
    if chance.one_in(3):
        words += chance.some(_OPCODES, 1, chance.pick([1, 2, 12]))
    return ",".join(words)


def c_api(chance, hows):
    """A way over the C API (dict). Args: chance, a Chance; hows, those that may be drawn (list of str)."""
    how = chance.pick(hows)
    environment = {}
    left_out = _without(chance)
    if left_out:
        environment["SQPYTE_WITHOUT"] = left_out
    times = 1
    library = ENGINE
    if how == "translated":
        library = TRANSLATED
        times = chance.pick([1, 2, 3])
        parameters = chance.pick(_JIT)
        if parameters:
            environment["SQPYTE_JIT"] = parameters
        if chance.one_in(8):
            environment["SQPYTE_VM_MEMORY"] = chance.pick(["0", "1", "2"])
    return {"how": how, "library": library, "environment": environment, "times": times}


def module(chance):
    """A way over the DB-API (dict)."""
    environment = {"SQPYTE_INLINE": chance.pick(["always", "always", "1", "0"]),
                   "SQPYTE_LIBRARY": ENGINE, "SQPYTE_SEMANTICS": semantics()}
    left_out = ",".join(chance.some(_OUTSIDE_OF_VM, 1, 3)) if chance.one_in(3) else ""
    if left_out:
        environment["SQPYTE_WITHOUT"] = left_out
    if os.path.exists(TRANSLATED) and chance.one_in(3):
        environment.update(SQPYTE_LIBRARY=TRANSLATED, SQPYTE_VM=chance.pick(["hot", "always", "off"]),
                           SQPYTE_VM_THRESHOLD=chance.pick(["1", "30"]), **EAGER)
    return {"how": "module", "library": environment["SQPYTE_LIBRARY"], "environment": environment,
            "times": chance.pick([1, 2, 4]), "parameters": chance.pick(_PYPY_JIT)}


def available():
    """The ways of the C API whose library is there (list of str): the untranslated VM's ones only if
    there is no other."""
    return ["translated"] * 5 + ["engine"] if os.path.exists(TRANSLATED) else ["untranslated", "engine"]


def cpython():
    """The newest CPython that the build has made an environment for (str), or this interpreter."""
    found = glob.glob(os.path.join(ROOT, "build", "cpython-env-3.*", "bin", "python"))
    found.sort(key=lambda path: int(path.split("env-3.")[1].split(os.sep)[0]))
    return found[-1] if found else sys.executable


def semantics():
    """The version of Python (str) whose sqlite3 is the oracle: ours follows the running Python's else."""
    named = cpython().split("cpython-env-")
    return named[1].split(os.sep)[0] if len(named) == 2 else "%d.%d" % sys.version_info[:2]


def worker(way):
    """A Worker for a way."""
    if way["how"] == "module":
        arguments = ["tests.fuzz.kinds.child:module", "sqpyte", repr(way["parameters"])]
        return Worker(arguments, environment=way["environment"], patience=PATIENCE)
    slow = way["how"] in ("untranslated", "poison", "in-c")
    return Worker(["tests.fuzz.kinds.child:c_api", way["library"], way["how"]],
                  sys.executable if slow else cpython(), way["environment"], PATIENCE)


def stock():
    """A Worker for the stock library, over the C API."""
    return Worker(["tests.fuzz.kinds.child:c_api", STOCK, "stock"], cpython(), patience=PATIENCE)


def stock_module():
    """A Worker for CPython's sqlite3 on the stock library."""
    return Worker(["tests.fuzz.kinds.child:module", "sqlite3", "{}"], cpython(), STOCK_PATH, PATIENCE)
