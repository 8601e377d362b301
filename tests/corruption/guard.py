"""Memory in which nothing can be read a byte too far unnoticed: guard.c, built and loaded.

`Guard` gives it to a library before that is initialised; `wrong` says afterwards what was done
that is neither allowed nor upstream's own habit.
"""
import bisect
import os
import subprocess

import cffi

from c_engine.build import build, flags

ROOM = os.path.dirname(os.path.abspath(__file__))
AFTER, BEFORE = 0, 1
# What upstream's page cache provides for: "no more than 16 bytes" past the end (pcache1.c).
UPSTREAM_OVERREAD = 16

ffi = cffi.FFI()
ffi.cdef("""
typedef struct { const char *what; long distance, size, code, caller; int write; } Note;
int guard_install(intptr_t config, int where);
int guard_count(void);
Note *guard_note(int i);
void guard_rearm(void);
long guard_base(intptr_t function);
int sqlite3_config(int, ...);
""")


def library(name, source):
    """The path of a shared library made of a C file of this room's, for tests.

    Args: name, the library's without directory and suffix; source, the C file's path (str).
    """
    paths = build.Paths()
    target = os.path.join(paths.build, "tests", name + ".so")
    os.makedirs(os.path.dirname(target), exist_ok=True)

    def action():
        partial = "%s.%d.part" % (target, os.getpid())
        subprocess.run(flags.compiler() + [
            "-O2", "-g", "-Wall", "-shared", "-fPIC", "-I", paths.upstream, source, "-o", partial,
            "-lpthread", "-ldl"], check=True)
        os.replace(partial, target)

    build.step(name, [target], build.digest([source], build.compiler_identity()), action)
    return target


class Symbols:
    """The functions of a shared library, by address.

    Args: path, the library's (str).
    """

    def __init__(self, path):
        listing = subprocess.run(["nm", "--defined-only", path], check=True,
                                 stdout=subprocess.PIPE, universal_newlines=True).stdout
        found = sorted((int(line.split()[0], 16), line.split()[2])
                       for line in listing.splitlines() if line.split()[1] in "tTwWi")
        self.starts = [address for address, _ in found]
        self.names = [name for _, name in found]
        self.end = self.starts[-1] + (1 << 16)

    def at(self, offset):
        """The name of the function at an offset in the library, or None outside of it."""
        if not self.starts[0] <= offset < self.end:
            return None
        return self.names[bisect.bisect(self.starts, offset) - 1]


def is_upstreams(name):
    """Whether a function (str, or None for code of the JIT) is upstream's, not the VM's or one
    of its helpers."""
    if name is None or name.startswith("pypy_"):
        return False
    return not name.startswith("sqpyte") or name.startswith("sqpyteVdbeExec")


class Guard:
    """Installs the memory in a library.

    Args: path, of a library with SQLite in it that hasn't been used yet (str); side, AFTER or
    BEFORE: where the guards touch what they guard.
    """

    def __init__(self, path, side):
        self.c = ffi.dlopen(library("guard", os.path.join(ROOM, "guard.c")))
        self.sqlite = ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL)
        config = int(ffi.cast("intptr_t", ffi.addressof(self.sqlite, "sqlite3_config")))
        self.base = self.c.guard_base(config)
        self.symbols = Symbols(path)
        if self.c.guard_install(config, side) != 0:
            raise RuntimeError("SQLite is in use already")

    def _name(self, address):
        return self.symbols.at(address - self.base)

    def wrong(self):
        """What was done since the last call that must not be: a list of str, and the number of
        upstream's own reads past the end, which are no errors."""
        found, habits = [], 0
        for i in range(self.c.guard_count()):
            note = self.c.guard_note(i)
            name = self._name(note.code)
            if name is None and _in_c_library(note.code):
                name = self._name(note.caller)
            what = ffi.string(note.what).decode()
            if (what == "after" and not note.write and is_upstreams(name)
                    and note.distance <= UPSTREAM_OVERREAD):
                habits += 1
                continue
            found.append("%s %s, %d bytes, of %d, by %s" % (
                "written" if note.write else "read", what, note.distance, note.size,
                name or "code of the JIT"))
        self.c.guard_rearm()
        return found, habits


def _in_c_library(address):
    with open("/proc/self/maps") as maps:
        for line in maps:
            bounds, *_, path = line.rstrip("\n").split(" ")
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            if start <= address < end:
                return "/libc" in path
    return False
