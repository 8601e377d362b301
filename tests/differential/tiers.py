"""The tiers that are compared with stock, and how each is started.

name                  library                       mode
stock                 libsqlite3-stock.so           the oracle
engine                libsqpyte-engine.so           the VM off: the edits must change nothing
untranslated-always   libsqpyte-engine.so + sqpyte  every statement in the VM, as plain Python
untranslated-hot      the same                      hot loops only: the hand-over in mid-loop
untranslated-poison   the same                      as -always, dead registers overwritten before
                                                    C goes on
untranslated-c        the same                      so, too, and every opcode runs in C
untranslated-views    the same                      as -always, texts and blobs compared with what they were
effects               effects/libsqpyte-effects.so  the checking build of the C tier, by the opcode table
effects-vm            the same                      by the VM's analysis of each program, and its liveness
translated-always     libsqpyte.so                  every statement in the translated VM
translated-hot        the same                      hot loops only

and of the DB-API, `import sqpyte` beside the sqlite3 of CPython on the stock library:

sqlite3               libsqlite3-stock.so           the oracle
module                libsqpyte-engine.so           sqpyte without inlining
module-inline         libsqpyte-engine.so           sqpyte with it
module-vm             libsqpyte.so                  sqpyte, hot loops in the translated VM
"""
import glob
import os

from tests.differential.sessions.worker import ROOT, Unavailable, Worker

BUILD = os.environ.get("SQPYTE_BUILD", os.path.join(ROOT, "build"))
OFF, HOT, ALWAYS = 0, 1, 2
MODES = {
    "stock": None,
    "engine": OFF,
    "untranslated-always": ALWAYS,
    "untranslated-hot": HOT,
    "untranslated-poison": ALWAYS,
    "untranslated-c": ALWAYS,
    "untranslated-views": ALWAYS,
    "effects": OFF,
    "effects-vm": OFF,
    "translated-always": ALWAYS,
    "translated-hot": HOT,
}
LIBRARIES = {
    "stock": "libsqlite3-stock.so",
    "engine": "libsqpyte-engine.so",
    "untranslated": "libsqpyte-engine.so",
    "translated": "libsqpyte.so",
    "effects": os.path.join("effects", "libsqpyte-effects.so"),
}
# Those that only test_poison.py runs.
POISONED = ("untranslated-poison", "untranslated-c", "untranslated-views")
# Those that only test_effects.py runs; the others, too, if SQPYTE_DIFFERENTIAL names them, as
# `make test-effects` does.
CHECKED = ("effects", "effects-vm")
# How often a script is run before its transcript counts: the JIT's code has to be right too.
RUNS = {"translated-always": 6, "translated-hot": 6}
# The translated VM's JIT, made to compile loops of a few iterations.
EAGER = {"SQPYTE_JIT": "threshold=3,function_threshold=3,trace_eagerness=2"}


class Mismatch(AssertionError):
    """A tier's transcript isn't stock's."""


class Tier:
    """One tier: its worker, and the exception class of its mismatches, one for each tier so
    that hypothesis reports and shrinks a bug of each."""

    def __init__(self, name, worker):
        self.name = name
        self.worker = worker
        self.Mismatch = type("Mismatch_" + name.replace("-", "_"), (Mismatch,), {})


def capi_tier(name, environment=()):
    """The tier of that name, from MODES; environment: variables besides (dict)."""
    library = os.path.join(BUILD, LIBRARIES[name.split("-")[0]])
    return Tier(name, Worker(["capi", library, name], environment=dict(EAGER, **dict(environment))))


_ENGINE = {"SQPYTE_LIBRARY": os.path.join(BUILD, LIBRARIES["engine"])}
MODULES = {
    "module": dict(_ENGINE, SQPYTE_INLINE="0"),
    "module-inline": dict(_ENGINE, SQPYTE_INLINE="always"),
    "module-vm": dict(EAGER, SQPYTE_LIBRARY=os.path.join(BUILD, LIBRARIES["translated"]),
                      SQPYTE_INLINE="0", SQPYTE_VM="hot", SQPYTE_VM_THRESHOLD="1"),
}


def module_tier(name):
    """The tier of that name, from MODULES, in this Python."""
    return Tier(name, Worker(["module", "sqpyte"], environment=MODULES[name]))


def newest_cpython():
    """The newest CPython of those that the build found (path), or None."""
    found = sorted(glob.glob(os.path.join(ROOT, "build", "cpython-env-3.*", "bin", "python")),
                   key=lambda path: int(path.split("env-3.")[1].split(os.sep)[0]))
    return found[-1] if found else None


def module_oracle():
    """The tier of sqlite3 on the stock library, in the newest CPython (3.12 is the first with all of the interface), or
    in the system's."""
    return Tier("sqlite3", Worker(["module", "sqlite3"], newest_cpython() or "python3", {
        "LD_LIBRARY_PATH": os.path.join(ROOT, "build", "stock")}))


def chosen(names):
    """Those of names that SQPYTE_DIFFERENTIAL (a list separated by commas) leaves in; all but the
    checking build's, if it is empty."""
    wanted = os.environ.get("SQPYTE_DIFFERENTIAL", "")
    return [name for name in names if (name in wanted.split(",") if wanted else name not in CHECKED)]


def started(tiers):
    """Start tiers: (those that run, {name: why the others don't})."""
    running, missing = [], {}
    for tier in tiers:
        try:
            tier.worker.start()
            running.append(tier)
        except Unavailable as error:
            missing[tier.name] = str(error)
    return running, missing
