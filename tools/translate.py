"""Translates the RPython VM to build/libsqpyte.so; `make vm` runs it after the engine is built.

The result is kept in build/vm/<hash of the inputs>/, so going back to an earlier state of the
sources costs nothing. The log of the last translation is build/vm/translate.log.
"""

import collections
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

from c_engine import build as engine
from tools import environments
from tools.environments import BUILD, ROOT, say

TARGET = os.path.join(ROOT, 'sqpyte', 'target.py')
CACHE = os.path.join(BUILD, 'vm')
LOG = os.path.join(CACHE, 'translate.log')
PRODUCT = os.path.join(BUILD, 'libsqpyte.so')
OPTIONS = ['-Ojit', '--shared', '--batch', '--no-pdb', '--output=sqpyte']

# As in the engine's own library: a process may hold another SQLite too. That library's internal
# functions stay visible, for the VM as plain Python; this one stands in for libsqlite3.so.
# RPython links a program to the library, too, with the same flags, which calls a function that
# isn't exported: one of that name is PyPy's start. Nobody runs that program.
EXPORTS = os.path.join(ROOT, 'c_engine', 'exports.map')
LINKER_FLAGS = '-Wl,-Bsymbolic -Wl,--unresolved-symbols=ignore-in-object-files'

KEPT = 3  # translations kept in the cache
SILENCE_S = 20  # seconds without a new phase after which the log's next line is shown
TAIL = 40  # lines of the log shown after a failure

# The log lines that mark a phase of the translation.
PHASE = re.compile(r'^\[(?:translation:info|jitcodewriter:info)\] ([a-zA-Z].*\.\.\.)\s*$')


def inputs():
    """Return the paths of all files the VM is made from, but for the C engine's own."""
    found = glob.glob(os.path.join(ROOT, 'sqpyte', '**', '*.py'), recursive=True)
    found += glob.glob(os.path.join(ROOT, 'c_engine', 'generated', '*.py'))
    return sorted(found + [EXPORTS, __file__])


def key_of_inputs():
    """Return a hash (hex str) of everything the VM depends on."""
    with open(engine.Paths().engine_library + '.inputs') as file:
        engine_key = file.read()
    state = hashlib.sha256(engine.digest(
        inputs(), engine_key, OPTIONS, LINKER_FLAGS, environments.RPYTHON_PACKAGES).encode())
    for path in inputs():
        state.update(os.path.relpath(path, ROOT).encode())
    return state.hexdigest()[:20]


def translate(python27, directory):
    """Run the RPython tool chain.

    Args:
        python27: path of the interpreter.
        directory: an empty folder; libsqpyte.so is there afterwards.

    Returns:
        True, or False with the reason in the log.
    """
    linker_flags = '%s -Wl,--version-script=%s' % (LINKER_FLAGS, EXPORTS)
    environment = dict(os.environ, LDFLAGS=linker_flags, PYPY_USESSION_DIR=directory,
                       PYTHONPATH=os.pathsep.join([ROOT, environments.make_rpython(python27)]))
    command = [python27, '-m', 'rpython'] + OPTIONS + [
        '--make-jobs=%d' % (os.cpu_count() or 1), TARGET]
    start = time.time()
    said = 0.0
    with open(LOG, 'w') as log:
        process = subprocess.Popen(command, cwd=directory, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, universal_newlines=True,
                                   errors='replace')
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            log.flush()
            phase = PHASE.match(line)
            elapsed = time.time() - start
            if phase:
                say('%4.0f s  %s' % (elapsed, phase.group(1)))
            elif elapsed > said + SILENCE_S:
                say('%4.0f s    %s' % (elapsed, line.strip()[:80]))
            else:
                continue
            said = elapsed
        code = process.wait()
    return code == 0 and os.path.exists(os.path.join(directory, 'libsqpyte.so'))


def drop_old_results():
    """Keep the last few translations."""
    results = glob.glob(os.path.join(CACHE, '*', 'libsqpyte.so'))
    for path in sorted(results, key=os.path.getmtime, reverse=True)[KEPT:]:
        shutil.rmtree(os.path.dirname(path))


def install(library):
    """Make the library build/libsqpyte.so, by an atomic rename."""
    partial = PRODUCT + '.part'
    shutil.copyfile(library, partial)
    os.chmod(partial, 0o755)
    os.replace(partial, PRODUCT)


def show_failure():
    """Print the end of the log."""
    with open(LOG, errors='replace') as file:
        tail = collections.deque(file, TAIL)
    sys.stderr.write(''.join(tail))
    print('error: the translation failed; its whole log is in %s' % LOG, file=sys.stderr)


def main():
    """Translate if needed; return the exit code."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            python27 = environments.find_python27()
        except environments.NoEnvironment as error:
            print(error, file=sys.stderr)
            return 1
        key = key_of_inputs()
        directory = os.path.join(CACHE, key)
        library = os.path.join(directory, 'libsqpyte.so')
        if not os.path.exists(library):
            say('translating the VM with %s: 5 to 10 minutes' % python27)
            scratch = directory + '.part'
            shutil.rmtree(scratch, ignore_errors=True)
            os.makedirs(scratch)
            start = time.time()
            if not translate(python27, scratch):
                show_failure()
                return 1
            os.makedirs(directory, exist_ok=True)
            os.replace(os.path.join(scratch, 'libsqpyte.so'), library)
            shutil.rmtree(scratch)
            say('translated in %.0f s' % (time.time() - start))
        else:
            os.utime(library)
            say('translated VM: up to date')
        install(library)
        drop_old_results()
    return 0


if __name__ == '__main__':
    sys.exit(main())
