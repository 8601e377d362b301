"""A tier in a process of its own: it takes scripts, and gives transcripts back.

Child: `python -m tests.differential.sessions.worker DIRECTORY capi LIBRARY TIER`, `... DIRECTORY module
MODULE`, or `... DIRECTORY PACKAGE.MODULE:FUNCTION ARGUMENTS`, where the function takes the arguments
and returns (greeting, run(script, directory)); pickles on stdin and stdout.  Parent: `Worker`.  A
child that crashes or hangs is a `Crash` of that script, so hypothesis shrinks it, and the next script
gets a new child.
"""
import importlib
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRATCH = os.path.join(ROOT, "build", "differential")
PATIENCE = 600     # seconds for one script
_PROTOCOL = 4


class Crash(Exception):
    """The process of a tier ended or hung while it ran a script."""


class Unavailable(Exception):
    """A tier can't be started; the message says why."""


class Worker:
    """The parent's end.

    Args: arguments, the child's command line after `-m tests.differential.sessions.worker` (list of str);
    python, its interpreter (str); environment, variables added to ours (dict); patience, seconds for
    one script.
    """

    def __init__(self, arguments, python=sys.executable, environment=(), patience=PATIENCE):
        self.arguments = list(arguments)
        self.python = python
        self.environment = dict(environment)
        self.patience = patience
        self.process = None
        self.directory = None
        self.errors = None

    def start(self):
        """Start the child if it isn't running. Returns: what it says of itself (str).
        Raises: Unavailable."""
        if self.process is None:
            os.makedirs(SCRATCH, exist_ok=True)
            self.directory = tempfile.TemporaryDirectory(dir=SCRATCH)
            self.errors = tempfile.TemporaryFile("w+", dir=SCRATCH)
            self.process = subprocess.Popen(
                [self.python, "-X", "faulthandler", "-m", "tests.differential.sessions.worker",
                 self.directory.name] + self.arguments,
                cwd=ROOT, env=dict(os.environ, **self.environment),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
            state, self.greeting = self._read()
            if state != "ready":
                self.stop()
                raise Unavailable(self.greeting)
        return self.greeting

    def send(self, script):
        """Hand over a script; `receive` has its transcript."""
        self.start()
        pickle.dump(script, self.process.stdin, _PROTOCOL)
        self.process.stdin.flush()

    def receive(self):
        """The transcript of the script sent last. Raises: Crash."""
        state, answer = self._read()
        if state != "done":
            raise Crash(answer)
        return answer

    def run(self, script):
        """The transcript of a script. Raises: Crash."""
        self.send(script)
        return self.receive()

    def _read(self):
        if not select.select([self.process.stdout], [], [], self.patience)[0]:
            self.process.send_signal(signal.SIGABRT)    # faulthandler shows where it was
            self.stop()
            raise Crash("no answer after %d s\n%s" % (self.patience, self.last_words()))
        try:
            return pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            self.stop()
            raise Crash("the process ended with status %s\n%s" % (
                self.status, self.last_words())) from None

    def last_words(self):
        """What the child has printed (str), without the middle of it."""
        self.errors.seek(0)
        words = self.errors.read()
        return words if len(words) < 3000 else words[:1500] + "\n...\n" + words[-1500:]

    def stop(self):
        """End the child."""
        if self.process is not None:
            process, self.process = self.process, None
            process.stdin.close()
            try:
                self.status = process.wait(600)
            except subprocess.TimeoutExpired:
                process.kill()
                self.status = process.wait()
            process.stdout.close()
            self.directory.cleanup()


def _capi_runner(path, tier):
    from tests.differential.sessions import capi
    from tests.differential.sessions.capi_session import Session
    from tests.differential.tiers import MODES, RUNS
    if not os.path.exists(path):
        raise Unavailable("%s is missing: run `make %s`" % (
            os.path.relpath(path, ROOT), "effects" if tier.startswith("effects") else "vm"))
    if tier.startswith("untranslated"):
        try:
            from sqpyte.vm import host
        except ImportError as error:
            raise Unavailable("no untranslated VM: %s" % error) from None
        host.install(path)
        if tier in ("untranslated-poison", "untranslated-c"):
            host.poison(all_in_c=tier == "untranslated-c")
        elif tier == "untranslated-views":
            from tests.differential.sessions import views
            views.install()
    if tier == "effects-vm":
        from tests.effects import provider
        provider.install(path)
    library = capi.Library(path)
    mode = MODES[tier]

    def run(script, directory):
        if mode is not None:
            library.set_mode(mode, script["threshold"])
        library.seed()
        return Session(library, script, directory).perform(script["actions"])
    return "SQLite %s" % library.version(), _repeated(run, RUNS.get(tier, 1))


def _repeated(run, times):
    """run, done several times for a JIT to warm up: the last transcript, or the first that isn't
    as those before."""
    def several(script, directory):
        transcript = run(script, directory)
        for _ in range(times - 1):
            another = run(script, directory)
            if another != transcript:
                return another
        return transcript
    return several


def _module_runner(name):
    import ctypes

    from tests.differential.sessions.module_session import Session
    try:
        module = importlib.import_module(name)
        version = module.sqlite_version
        library = ctypes.CDLL(os.environ.get("SQPYTE_LIBRARY", "libsqlite3.so.0"))
    except (ImportError, AttributeError, OSError) as error:
        raise Unavailable("import %s: %s" % (name, error)) from None

    def run(script, directory):
        library.sqlite3_test_control(28, 1, None)       # as capi.Library.seed does
        return Session(module, script, directory).perform(script["actions"])
    return "SQLite %s" % version, _repeated(run, 1 if name == "sqlite3" else _hasty_jit())


def _hasty_jit():
    """Have PyPy's JIT compile after a few iterations; how often to run a script then (int)."""
    try:
        import pypyjit
    except ImportError:
        return 1
    pypyjit.set_param(threshold=13, function_threshold=17, trace_eagerness=5)
    return 4


def _maker(name):
    """The function that makes a runner: of this module, or a named one of another."""
    if ":" not in name:
        return {"capi": _capi_runner, "module": _module_runner}[name]
    module, function = name.split(":")
    return getattr(importlib.import_module(module), function)


def main(directory, *arguments):
    """The child: greet, then answer scripts until stdin ends; directory is for its files."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)       # what is printed must not end up among the pickles

    def answer(state, content):
        pickle.dump((state, content), answers, _PROTOCOL)
        answers.flush()

    try:
        greeting, run = _maker(arguments[0])(*arguments[1:])
    except Unavailable as error:
        answer("unavailable", str(error))
        return
    answer("ready", greeting)
    while True:
        try:
            script = pickle.load(requests)
        except EOFError:
            return
        answer("done", run(script, directory))


if __name__ == "__main__":
    main(*sys.argv[1:])
