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

    def perform(script, directory, watched):
        if how != "stock":
            library.set_mode(script["mode"], script["threshold"])
        library.seed()
        return Session(library, script, directory, watched).perform(script["actions"])
    return "SQLite %s" % library.version(), repeated(perform, how == "stock")


def repeated(perform, stock):
    """A runner that performs a case's script several times, case["times"]; stock's twice, first `watched`.

    With the progress handler that tells what takes too long, fewer pages may be written.

    Args: perform, a function of (script, directory, watched) that returns a transcript; stock, whether it is stock.
    """
    def run(case, directory):
        transcript = None
        try:
            if stock:
                perform(case["script"], directory, True)
            for _ in range(1 if stock else case["times"]):
                before = transcript
                transcript = perform(case["script"], directory, False)
                if before is not None and transcript != before:
                    break
        except TooLong as error:
            return "too long", error.args[0]
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

    def perform(script, directory, watched):
        library.sqlite3_test_control(capi.PRNG_SEED, 1, None)
        return module_session.Session(found, script, directory, watched).perform(script["actions"])
    return version, repeated(perform, name == "sqlite3")
