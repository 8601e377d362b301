"""SQLite's own fuzzer inputs, run on ours: fuzzcheck with the eight databases of inputs in the tree.

fuzzcheck runs each input, checks invariants of its queries (the same rows by another way of asking),
looks for leaks, and ends at the first error. It is built without a progress handler, so the statements
run as most programs' do (guard.c), and with the product's layout: the options of SQLite's makefile that would
move a struct's field are left out.
"""

import concurrent.futures
import os
import re
import shutil
import signal
import subprocess

from c_engine.build import build as engine
from c_engine.build import flags
from tests.upstream import running
from tests.upstream.programs import linking
from tests.upstream.tree import edits

GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs', 'guard.c')
# By default a loop of these small inputs is hardly ever hot: `hot` alone would say little.
MODES = ['always', 'always-eager', 'hot', 'hot-1']
DATABASES = ['fuzzdata%d.db' % number for number in range(1, 9)]

# These add fields to structs that the VM reads, or contradict an option of the product.
LEFT_OUT = ['-DSQLITE_ENABLE_EXPLAIN_COMMENTS', '-DSQLITE_ENABLE_NORMALIZE',
            '-DSQLITE_ENABLE_STMT_SCANSTATUS', '-DSQLITE_OMIT_LOAD_EXTENSION', '-DSQLITE_MAX_MMAP_SIZE=0']

PASSED = re.compile(r'^fuzzcheck:?(?: fuzzdata\d\.db:)? 0 errors out of (\d+) tests', re.MULTILINE)
COUNTS = re.compile(r'^guard: (\d+) inputs, (\d+) runs of statements, (\d+) of them in the VM$', re.MULTILINE)
INVARIANTS = re.compile(r'^fuzzcheck: (\d+) query invariants checked$', re.MULTILINE)

# fuzzcheck says nothing for long; a machine that is busy must not make an error of it.
LIMIT_S = 4 * 3600


class Fuzzcheck:
    """The program, in build/upstream/fuzzcheck.

    Args:
        paths: c_engine.build.Paths.
        origin: sources.Sources, prepared.
        needs_vm: False: it is built for the C tier if there is no translated VM.
        sanitizers: the compiler's options for them; they leave out the VM.
    """

    def __init__(self, paths, origin, needs_vm=True, sanitizers=()):
        self.sources = origin
        self.folder = os.path.join(paths.build, 'sanitized' if sanitizers else 'upstream', 'fuzzcheck')
        self.program = os.path.join(self.folder, 'fuzzcheck')
        words = origin.words('FUZZCHECK_OPT')
        self.options = flags.DEFINES + [word for word in words if word not in LEFT_OUT]
        compiling = linking.COMPILE + list(sanitizers)
        self.library = linking.Library(linking.OURS, paths, self.options, [],
                                       os.path.join(self.folder, 'sqlite3.o'), compiling)
        self.vm = None if sanitizers else linking.vm(needs_vm)
        self.sanitizers = list(sanitizers)
        self.key = engine.digest(list(self.vm or ()) + [GUARD], self.library.key,
                                 origin.key, edits.GUARD)

    def build(self):
        """Compile and link it, as far as needed. Raises NotBuilt, CalledProcessError, EditError."""
        self.library.build()

        def action():
            copies = os.path.join(self.folder, 'test')
            for path in sorted({one.path for one in edits.GUARD}):
                engine.write(os.path.join(self.folder, path), engine.read(self.sources.path(path)))
            edits.apply(self.folder, edits.GUARD)
            files = [GUARD]
            for path in self.sources.words('FUZZCHECK_SRC'):
                own = os.path.join(copies, os.path.basename(path))
                if path != 'sqlite3.c':
                    files.append(own if os.path.exists(own) else path)
            options = [option for option in self.options if not option.startswith('-DSQLITE_PRIVATE')]
            options += ['-O1', '-w', '-DSQLITE_CORE'] + self.sanitizers + self.sources.includes()
            linking.link(self.program, options + files + [self.library.target], [], self.vm)

        engine.step(os.path.relpath(self.program, engine.ROOT), [self.program], self.key, action)


def outcome(code, said):
    """Return what came of a process.

    Args:
        code: its return code; None: it was ended because it hung.
        said: what it printed.

    Returns:
        {'inputs': int, 'statements': runs of statements, 'in_vm': those of them in the VM, 'invariants':
        checked, 'error': None or the end of what it said}.
    """
    passed, counts, invariants = (pattern.search(said) for pattern in (PASSED, COUNTS, INVARIANTS))
    error = None
    if code is None:
        error = 'fuzzcheck hung:\n' + said[-3000:]
    elif code or not passed:
        end = signal.Signals(-code).name if code < 0 else 'code %d' % code
        error = 'fuzzcheck ended with %s:\n%s' % (end, said[-3000:])
    return {'inputs': int(passed.group(1)) if passed else 0,
            'statements': int(counts.group(2)) if counts else 0,
            'in_vm': int(counts.group(3)) if counts else 0,
            'invariants': int(invariants.group(1)) if invariants else 0, 'error': error}


def check(processes, fuzzcheck, database, environment, work, one_of=1):
    """Run the inputs of a database.

    Args:
        processes: running.Processes.
        fuzzcheck: Fuzzcheck, built.
        database: its name, of DATABASES.
        environment: of the process.
        work: a folder for its files; it is removed afterwards.
        one_of: run one of so many inputs.

    Returns:
        What outcome() returns.
    """
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    command = [fuzzcheck.program] + (['--slice', '0', str(one_of)] if one_of > 1 else [])
    path = os.path.join(work, 'said')
    with open(path, 'wb') as out:
        process = processes.start(command + [fuzzcheck.sources.path('test', database)], cwd=work, stdout=out,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
        try:
            process.wait(LIMIT_S)
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = None
        finally:
            processes.end(process)
    with open(path, errors='replace') as file:
        said = file.read()
    shutil.rmtree(work, ignore_errors=True)
    if processes.stopped:
        raise running.Stopped()
    return outcome(code, said)


def check_all(fuzzcheck, modes, one_of=1, jobs=1, again=False, environment=(), done=None):
    """Run all databases of inputs in some modes; what has been run before isn't run again.

    Args:
        fuzzcheck: Fuzzcheck, built.
        modes: names in running.CONFIGURATIONS.
        one_of: run one of so many inputs.
        jobs: how many processes at a time.
        again: run what has been run before, too.
        environment: more of the processes' environment (dict).
        done: called after each with (mode, database).

    Returns:
        {(mode, database): as of outcome()}.
    """
    processes = running.Processes()
    results = {mode: running.Results(os.path.join(fuzzcheck.folder, os.pardir, 'results'),
                                     'fuzz-%d-%s' % (one_of, mode), fuzzcheck.key) for mode in modes}

    def one(mode, database):
        found = None if again else results[mode].get(database)
        if found is None:
            work = os.path.join(fuzzcheck.folder, 'work-%d-%s-%s' % (os.getpid(), mode, database))
            settings = dict(running.environment(mode), **dict(environment))
            found = check(processes, fuzzcheck, database, settings, work, one_of)
            if found['error'] is None:
                results[mode].put(database, found)
        if done is not None:
            done(mode, database)
        return found

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            tasks = {(mode, database): pool.submit(one, mode, database)
                     for mode in modes for database in DATABASES}
            return {key: task.result() for key, task in tasks.items()}
        except BaseException:
            processes.stop()
            raise
