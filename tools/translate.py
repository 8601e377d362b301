"""Translates the RPython VM, and links it and the engine to build/libsqpyte.so; `make vm` runs it.

RPython translates a copy of what it reads. All it makes, one object, is kept in
build/vm/<hash of its inputs>/vm.o, so a change of the engine's C code costs a link, and going back
to an earlier state of the VM's sources costs no more. What such an object may be linked to is
tools/vm_inputs.py's matter. The log of the last translation is build/vm/translate.log.
"""

import collections
import fcntl
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import time

from c_engine.build import build as engine
from c_engine.build import flags
from tools import environments, late_relocations, vm_inputs
from tools.environments import BUILD, ROOT, say

CACHE = os.path.join(BUILD, 'vm')
LOG = os.path.join(CACHE, 'translate.log')
PRODUCT = os.path.join(BUILD, 'libsqpyte.so')

OBJECT = 'vm.o'
# What RPython asks of the C library is answered by the engine (c_engine/vm/system_memory.c, system_environment.c).
SYSTEM_CALLS = {'malloc': 'sqpyte_system_malloc', 'free': 'sqpyte_system_free', 'mmap64': 'sqpyte_system_mmap',
                'rand': 'sqpyte_system_rand', 'getenv': 'sqpyte_system_getenv', 'unsetenv': 'sqpyte_system_unsetenv'}
LIBRARIES = 'libraries'  # beside it: the linker's flags for the libraries that it needs

# As in the engine's own library: a process may hold another SQLite too. That library's internal
# functions stay visible, for the VM as plain Python; this one stands in for libsqlite3.so.
EXPORTS = os.path.join(ROOT, 'c_engine', 'build', 'exports.map')
LINK = ['-shared', '-pthread', '-Wl,-Bsymbolic', '-Wl,--no-undefined'] + flags.STAY

KEPT = 4  # translations kept in the cache
SILENCE_S = 20  # seconds without a new phase after which the log's next line is shown
TAIL = 40  # lines of the log shown after a failure

MACHINE = 'x86_64'
OTHER_MACHINE = '''\
error: the VM is for x86-64, and this machine is %s: RPython has a JIT for it, but what our traces do there has never
been tested. The engine serves without the VM, and PyPy inlines loops over rows all the same: `make` builds it.'''

# The log lines that mark a phase of the translation.
PHASE = re.compile(r'^\[(?:translation:info|jitcodewriter:info)\] ([a-zA-Z].*\.\.\.)\s*$')


def translate(python27, directory):
    """Run the RPython tool chain.

    Args:
        python27: path of the interpreter.
        directory: a folder with a copy of what RPython reads, in `source`. What it makes is there
            afterwards.

    Returns:
        True, or False with the reason in the log.
    """
    source = os.path.join(directory, 'source')
    environment = dict(os.environ, LDFLAGS='', PYPY_USESSION_DIR=directory,
                       PYTHONPATH=os.pathsep.join([source, environments.make_rpython(python27)]))
    command = [python27, '-m', 'rpython'] + vm_inputs.OPTIONS + [
        '--make-jobs=%d' % (os.cpu_count() or 1), os.path.join(source, 'sqpyte', 'vm', 'target.py')]
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


def variable(makefile, name):
    """Return the words (list of str) of a variable in the text of a Makefile."""
    found = re.search(r'^%s = ((?:.*\\\n)*.*)$' % name, makefile, re.MULTILINE)
    if found is None:
        raise ValueError('no %s in the Makefile that RPython wrote' % name)
    return found.group(1).replace('\\\n', ' ').split()


def gather(directory, target):
    """Make one object of all that RPython has made, with SYSTEM_CALLS, and note which libraries it needs.

    Args:
        directory: as for translate().
        target: the folder for OBJECT and LIBRARIES; it is there afterwards.
    """
    [path] = glob.glob(os.path.join(directory, 'usession-*-0', 'testing_1', 'Makefile'))
    makefile = engine.read(path)
    os.makedirs(target)
    made = os.path.join(target, OBJECT)
    subprocess.run(flags.compiler() + ['-r', '-nostdlib', '-o', made] + variable(makefile, 'OBJECTS'),
                   cwd=os.path.dirname(path), check=True)
    subprocess.run(['objcopy'] + ['--redefine-sym=%s=%s' % pair for pair in SYSTEM_CALLS.items()] + [made], check=True)
    engine.write(os.path.join(target, LIBRARIES), ' '.join(variable(makefile, 'LIBS')))


def translated(key):
    """Return the folder of the translation of the present sources, made if it isn't kept.

    Args:
        key: vm_inputs.key of the sources.

    Returns:
        Its path; None after a failure, which has been said.

    Raises:
        environments.NoEnvironment: a translation is needed, and there is no Python 2.7.
    """
    directory = os.path.join(CACHE, key)
    vm = os.path.join(directory, OBJECT)
    if os.path.exists(vm):
        os.utime(vm)
        say('translated VM: up to date')
        return directory
    python27 = environments.find_python27()
    say('translating the VM with %s: 5 to 10 minutes' % python27)
    start = time.time()
    scratch = directory + '.part'
    shutil.rmtree(scratch, ignore_errors=True)
    source = os.path.join(scratch, 'source')
    vm_inputs.copy(ROOT, source)
    # RPython links a library, too, which isn't used: RPython knows no engine but this.
    linked = os.path.join(source, 'build', 'engine', 'engine.o')
    os.makedirs(os.path.dirname(linked))
    shutil.copyfile(engine.Paths().engine_object, linked)
    if vm_inputs.key(source) != key:
        print('error: the VM\'s sources are being changed', file=sys.stderr)
        return None
    if not translate(python27, scratch):
        show_failure()
        return None
    gathered = os.path.join(scratch, 'gathered')
    gather(scratch, gathered)
    shutil.rmtree(directory, ignore_errors=True)
    os.rename(gathered, directory)
    shutil.rmtree(scratch)
    say('translated in %.0f s' % (time.time() - start))
    return directory


def make_library(linker, directory, target):
    """Link a translation and the engine.

    Args:
        linker: the command (list of str), with its options.
        directory: the translation's folder.
        target: the library's path.

    Raises:
        subprocess.CalledProcessError: a tool failed, and has said why.
        late_relocations.NotMoved: the library is there and works, but the VM's data is written whenever it is loaded.
    """
    separated = target + '.o'
    late_relocations.separate(os.path.join(directory, OBJECT), separated)
    subprocess.run(linker + [separated, engine.Paths().engine_object]
                   + engine.read(os.path.join(directory, LIBRARIES)).split() + ['-o', target], check=True)
    os.remove(separated)
    late_relocations.take_out(target)


def link(directory):
    """Link a translation and the engine to the product, if that isn't what it is made of.

    Args:
        directory: the translation's folder.
    """
    inputs = [os.path.join(directory, OBJECT), os.path.join(directory, LIBRARIES),
              engine.Paths().engine_object]

    def action():
        partial = '%s.%d.part' % (PRODUCT, os.getpid())
        try:
            make_library(flags.compiler() + LINK + ['-Wl,--version-script=' + EXPORTS], directory, partial)
        except late_relocations.NotMoved as error:
            say('libsqpyte.so: %s; so the VM\'s data is written when it is loaded, not when the VM starts' % error)
        os.replace(partial, PRODUCT)

    key = engine.digest(inputs + [EXPORTS, late_relocations.__file__], LINK, engine.compiler_identity())
    engine.step('libsqpyte.so', [PRODUCT], key, action)


def drop_old_results():
    """Keep the last few translations, and nothing else but the log and the lock."""
    folders = [path for path in glob.glob(os.path.join(CACHE, '*')) if os.path.isdir(path)]
    objects = [os.path.join(path, OBJECT) for path in folders]
    kept = sorted(filter(os.path.exists, objects), key=os.path.getmtime, reverse=True)[:KEPT]
    for path in folders:
        if os.path.join(path, OBJECT) not in kept:
            shutil.rmtree(path)


def show_failure():
    """Print the end of the log."""
    with open(LOG, errors='replace') as file:
        tail = collections.deque(file, TAIL)
    sys.stderr.write(''.join(tail))
    print('error: the translation failed; its whole log is in %s' % LOG, file=sys.stderr)


def main():
    """Translate and link, as far as needed; return the exit code."""
    if platform.machine() != MACHINE:
        print(OTHER_MACHINE % platform.machine(), file=sys.stderr)
        return 1
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            directory = translated(vm_inputs.key(ROOT))
            if directory is None:
                return 1
            link(directory)
        except environments.NoEnvironment as error:
            print(error, file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as error:
            print('error: this command failed with code %d:\n  %s'
                  % (error.returncode, ' '.join(error.cmd)), file=sys.stderr)
            return 1
        drop_old_results()
    return 0


if __name__ == '__main__':
    sys.exit(main())
