"""Runs a program on stock's library, or through `sqpyte-run` on ours, and says what the VM did for it.

Programs are linked to libsqlite3.so.0 and know nothing of sqpyte. On both libraries witness.c is preloaded before it;
it counts the statements that the VM has served, so a test can show that what it compares has run there.
"""

import collections
import os
import shutil
import struct
import subprocess
import sys

import pytest

from c_engine.build import pin
from c_engine.build.build import ROOT, Paths
from tests.corruption.guard import library as compiled
from tests.differential import tiers
from tests.upstream.tree.tree import number
from tools.environments import inherited

ROOM = os.path.dirname(os.path.abspath(__file__))
PATHS = Paths()
FOLDER = os.path.join(PATHS.build, 'languages')
SQPYTE_RUN = [sys.executable, '-m', 'sqpyte', 'run']
# How our library is run: as it comes; all statements in the VM, every loop traced at once.
WAYS = {'default': {}, 'always': dict(tiers.EAGER, SQPYTE_VM='always')}
REASONS = 16
WHY_HOT, WHY_THREAD = 1, 3      # of engine.h

# Of witness.c. version: of SQLite, as a number (int). ours: whether the library is ours (int). statements, served:
# those that have ended, and those of them that have entered the VM. entries: how often they have. programs, code: the
# most that the VM held, and bytes of its machine code. why: statements by sqpyte_why (list of int).
Witness = collections.namedtuple('Witness', 'version ours statements served entries programs code why')


def tool(name, least, arguments, how):
    """Return the path of a tool; skip the test, with what to do, if it is missing or too old.

    Args:
        name: of the command.
        least: the version that is needed (tuple of int).
        arguments: of the command that prints its version as the first word with a dot (list of str).
        how: where to get it (str).
    """
    path = shutil.which(name)
    wanted = '.'.join(map(str, least))
    if not path:
        pytest.skip('no %s here, %s or newer is needed: %s' % (name, wanted, how))
    said = subprocess.run([path] + arguments, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    version = next(word for word in said.split() if '.' in word).lstrip('go')
    if tuple(int(part) for part in version.split('.')[:2]) < least:
        pytest.skip('%s is version %s, %s or newer is needed: %s' % (path, version, wanted, how))
    return path


def linking():
    """Return the folder (path) where a linker finds stock's library of the pinned version as libsqlite3.so."""
    folder = os.path.join(FOLDER, 'lib')
    os.makedirs(folder, exist_ok=True)
    for name in ('libsqlite3.so', 'libsqlite3.so.0'):
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            os.symlink(PATHS.stock_library, path)
    return folder


def witness_library():
    """Return the path of witness.c, compiled."""
    return compiled('witness', os.path.join(ROOM, 'witness.c'))


def read(path):
    """Return the Witness of a file; before the first statement has ended, one of zeros."""
    content = b''
    if os.path.exists(path):
        with open(path, 'rb') as file:
            content = file.read()
    numbers = struct.unpack('%dq' % (len(Witness._fields) - 1 + REASONS),
                            content or bytes(8 * (len(Witness._fields) - 1 + REASONS)))
    return Witness(*numbers[:-REASONS], why=list(numbers[-REASONS:]))


def clean():
    """Return this process's environment (dict) without what changes the library."""
    return inherited('SQPYTE_', 'LD_')


def command_on(library, command, counts, settings=()):
    """Return how a program is started: the command (list of str) and its environment (dict).

    Args:
        library: 'stock', or 'ours': `sqpyte-run` with the translated VM's, never the engine alone.
        command: list of str.
        counts: path for the Witness.
        settings: environment variables besides (dict).
    """
    changed = dict(clean(), SQPYTE_WITNESS=str(counts), **dict(settings))
    preloading = ['sh', '-c', 'LD_PRELOAD="$0 $LD_PRELOAD" exec "$@"', witness_library()] + command
    if library == 'stock':
        return preloading, dict(changed, LD_LIBRARY_PATH=os.path.dirname(PATHS.stock_link))
    return SQPYTE_RUN + preloading, dict(changed, SQPYTE_LIBRARY=os.path.join(PATHS.build, 'libsqpyte.so'))


def run(library, command, directory, settings=(), limit=900):
    """Run a program to its end.

    Args:
        library, command, settings: see command_on.
        directory: where it runs, a folder of its own (path).
        limit: seconds.

    Returns: (exit code, what it printed (str), its errors (str), Witness).
    """
    counts = os.path.join(str(directory), 'witness')
    started, environment = command_on(library, command, counts, settings)
    done = subprocess.run(started, cwd=str(directory), env=environment, stdin=subprocess.DEVNULL, timeout=limit,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, errors='replace')
    return done.returncode, done.stdout, done.stderr, read(counts)


def version():
    """Return the pinned SQLite's version as the number that sqlite3_libversion_number gives (int)."""
    return number(pin.VERSION)


def build(command, directory=ROOT, settings=()):
    """Run a compiler; a failure is the test's, with what it said."""
    done = subprocess.run(command, cwd=str(directory), env=dict(clean(), **dict(settings)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert done.returncode == 0, '%s\n%s' % (' '.join(command), done.stdout[-5000:])
    return done.stdout
