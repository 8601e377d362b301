"""The tiers that are compared with stock, and how each is started.

name                  library                       mode
stock                 libsqlite3-stock.so           the oracle
engine                libsqpyte-engine.so           the VM off: the edits must change nothing
untranslated-always   libsqpyte-engine.so + sqpyte  every statement in the VM, as plain Python
untranslated-hot      the same                      hot loops only: the hand-over in mid-loop
translated-always     libsqpyte.so                  every statement in the translated VM
translated-hot        the same                      hot loops only
"""
import os

from .worker import ROOT, Unavailable, Worker

BUILD = os.environ.get("SQPYTE_BUILD", os.path.join(ROOT, "build"))
OFF, HOT, ALWAYS = 0, 1, 2
MODES = {
    "stock": None,
    "engine": OFF,
    "untranslated-always": ALWAYS,
    "untranslated-hot": HOT,
    "translated-always": ALWAYS,
    "translated-hot": HOT,
}
LIBRARIES = {
    "stock": "libsqlite3-stock.so",
    "engine": "libsqpyte-engine.so",
    "untranslated": "libsqpyte-engine.so",
    "translated": "libsqpyte.so",
}
# The translated VM's JIT, made to compile loops of a few iterations.
_JIT = {"SQPYTE_JIT": "threshold=3,function_threshold=3,trace_eagerness=2"}


class Mismatch(AssertionError):
    """A tier's transcript isn't stock's."""


class Tier:
    """One tier: its worker, and the exception class of its mismatches, one for each tier so
    that hypothesis reports and shrinks a bug of each."""

    def __init__(self, name, worker):
        self.name = name
        self.worker = worker
        self.Mismatch = type("Mismatch_" + name.replace("-", "_"), (Mismatch,), {})


def capi_tier(name):
    """The tier of that name, from MODES."""
    library = os.path.join(BUILD, LIBRARIES[name.split("-")[0]])
    return Tier(name, Worker(["capi", library, name], environment=_JIT))


def chosen(names):
    """Those of names that SQPYTE_DIFFERENTIAL (a list separated by commas) leaves in."""
    wanted = os.environ.get("SQPYTE_DIFFERENTIAL", "")
    return [name for name in names if not wanted or name in wanted.split(",")]


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
