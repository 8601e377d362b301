"""Links the library of a wheel: the engine and the translated VM, for systems older than this one.

A library that is linked here asks for this system's glibc. Zig's linker (PyPI's `ziglang`) takes glibc's symbols in
the versions of an older one. Exported are the names that stock exports, and ours; SONAME is libsqlite3's, so that the
loader gives this library to whatever is linked to SQLite.
"""

import os
import subprocess
import sys

from c_engine.build import build as engine
from c_engine.build import flags
from tools import translate, vm_inputs

SONAME = 'libsqlite3.so.0'
FLAGS = ['-shared', '-pthread', '-Wl,-Bsymbolic', '-Wl,--no-undefined', '-Wl,-soname,' + SONAME, '-s',
         '-Wl,--version-script=' + translate.EXPORTS] + flags.STAY


def linker(glibc):
    """Return the command (list of str) that links for a version of glibc ('2.28'), or, for '', for this system's."""
    if not glibc:
        return flags.compiler()
    return [sys.executable, '-m', 'ziglang', 'cc', '-target', 'x86_64-linux-gnu.' + glibc]


def translation():
    """Return the folder (str) of the VM's translation, made if this can be done here; None without Python 2.7."""
    kept = os.path.join(translate.CACHE, vm_inputs.key(translate.ROOT))
    if os.path.exists(os.path.join(kept, translate.OBJECT)):
        return kept
    if translate.main():
        return None
    return kept


def link(target, glibc, vm):
    """Link the library.

    Args:
        target: its path.
        glibc: see `linker`.
        vm: the folder of a translation, or None for the engine alone.
    Raises:
        subprocess.CalledProcessError: the linker failed, and has said why.
        late_relocations.NotMoved: it has made something else than is known.
    """
    os.makedirs(os.path.dirname(target), exist_ok=True)
    command = linker(glibc) + FLAGS
    if vm:
        translate.make_library(command, vm, target)
    else:
        subprocess.run(command + [engine.Paths().engine_object] + flags.LIBRARIES + ['-o', target], check=True)
