"""The worker's side of a kind: (greeting, run(case, directory)) for tests/differential/sessions/worker.py.

A case that a worker gets is a dict with `script` and `times`, how often it is run for a JIT to warm up.
The answer is ("transcript", lines of each action), the last one, or the first that isn't as those
before it; or ("too long", places of actions), from stock.
"""
import ast
import ctypes
import importlib
import os

from tests.differential.sessions import capi
from tests.differential.sessions.worker import ROOT, Unavailable
from tests.fuzz.kinds import module_session
from tests.fuzz.kinds.session import Session, TooLong


def c_api(path, how):
    """A runner over the C API.

    Args: path, the library's; how: "stock", "translated", "untranslated" (the VM as plain Python), "poison"
    (so, dead registers overwritten) or "in-c" (so, and every opcode runs in C).
    """
    if not os.path.exists(path):
        raise Unavailable("%s is missing: run `make vm`" % os.path.relpath(path, ROOT))
    if how in ("untranslated", "poison", "in-c"):
        from sqpyte.vm import host
        host.install(path)
        if how != "untranslated":
            host.poison(all_in_c=how == "in-c")
    library = capi.Library(path)

    def perform(script, directory):
        if how != "stock":
            library.set_mode(script["mode"], script["threshold"])
        if how == "stock":      # first under a progress handler; with one, fewer pages may be written
            library.seed()
            Session(library, script, directory, watched=True).perform(script["actions"])
        library.seed()
        return Session(library, script, directory).perform(script["actions"])
    return "SQLite %s" % library.version(), repeated(perform, 1 if how == "stock" else None)


def repeated(perform, times=None):
    """A runner that performs a case's script several times: `times`, or if that is None case["times"]."""
    def run(case, directory):
        transcript = None
        for _ in range(times or case["times"]):
            before = transcript
            try:
                transcript = perform(case["script"], directory)
            except TooLong as error:
                return "too long", error.args[0]
            if before is not None and transcript != before:
                break
        return "transcript", transcript
    return run


def imported(name, parameters):
    """(a DB-API module, what it says of itself), with PyPy's JIT set.

    Args: name, "sqlite3" (on the stock library) or "sqpyte"; parameters, of PyPy's JIT (a dict's text).
    """
    try:
        found = importlib.import_module(name)
        version = found.sqlite_version
    except (ImportError, AttributeError, OSError) as error:
        raise Unavailable("import %s: %s" % (name, error)) from None
    chosen = ast.literal_eval(parameters)
    if chosen:
        import pypyjit
        pypyjit.set_param(**chosen)
    return found, "SQLite %s" % version


def module(name, parameters):
    """A runner over a DB-API module. Args: as `imported`."""
    found, version = imported(name, parameters)
    library = ctypes.CDLL(os.environ.get("SQPYTE_LIBRARY", "libsqlite3.so.0"))

    def perform(script, directory):
        if name == "sqlite3":       # as in `c_api`
            library.sqlite3_test_control(capi.PRNG_SEED, 1, None)
            module_session.Session(found, script, directory, watched=True).perform(script["actions"])
        library.sqlite3_test_control(capi.PRNG_SEED, 1, None)
        return module_session.Session(found, script, directory).perform(script["actions"])
    return version, repeated(perform, 1 if name == "sqlite3" else None)
