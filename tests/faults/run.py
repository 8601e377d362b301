"""A process that does the workload again and again in one tier, with a failure at another point
each time.

`python -m tests.faults.run TIER KIND JOURNAL FIRST STEP`: KIND is one of KINDS; the failures are
at the calls FIRST, FIRST + STEP, ... until the workload ends before the next one. A line of JSON
on stdout for each: [call, answers, what is in the file afterwards, problems], see Workload.once.
"""
import json
import os
import sys
import tempfile

import cffi

from tests.corruption.guard import library as compiled
from tests.differential import tiers
from tests.differential.sessions import capi
from tests.faults import workload

ROOM = os.path.dirname(os.path.abspath(__file__))
# What fails, from then on or once, with which result code (0: the call's own).
KINDS = {
    "memory-once": ("memory", 0, 0),
    "memory-on": ("memory", 1, 0),
    "io-once": ("io", 0, 0),
    "io-on": ("io", 1, 0),
    "full": ("io", 1, 13),
    "busy": ("io", 0, 5),
}

ffi = cffi.FFI()
ffi.cdef("""
int faults_install(void *, void *, void *);
void faults_memory(int, int);
void faults_io(int, int, int);
int faults_memory_count(void);
int faults_memory_hits(void);
int faults_io_count(void);
int faults_io_hits(void);
int sqlite3_config(int, ...);
void *sqlite3_vfs_find(const char *);
int sqlite3_vfs_register(void *, int);
int64_t sqlite3_memory_used(void);
""")


class Faults:
    """Failures in a library that hasn't been used yet.

    Args: path, the library's (str); kind, one of KINDS.
    """

    def __init__(self, path, kind):
        self.c = ffi.dlopen(compiled("faults", os.path.join(ROOM, "faults.c")))
        self.sqlite = ffi.dlopen(path)
        self.what, self.forever, self.result = KINDS[kind]
        functions = [ffi.addressof(self.sqlite, name) for name in (
            "sqlite3_config", "sqlite3_vfs_find", "sqlite3_vfs_register")]
        if self.c.faults_install(*functions) != 0:
            raise RuntimeError("SQLite is in use already")

    def arm(self, call):
        """Let the call of that number fail, from 1; 0 for none."""
        if self.what == "memory":
            self.c.faults_memory(call, self.forever)
        else:
            self.c.faults_io(call, self.forever, self.result)

    def hits(self):
        """How many calls have failed (int)."""
        return self.c.faults_memory_hits() + self.c.faults_io_hits()

    def used(self):
        """Bytes that SQLite has allocated."""
        return self.sqlite.sqlite3_memory_used()


def library_path(tier):
    """Where the library of a tier is."""
    return os.path.join(tiers.BUILD, tiers.LIBRARIES[tier.split("-")[0]])


def prepared(tier, kind):
    """The library of a tier, in its mode, with failures of that kind: (capi.Library, Faults)."""
    path = library_path(tier)
    faults = Faults(path, kind)
    library = capi.Library(path)
    if tier.startswith("untranslated"):
        from sqpyte.vm import host
        host.install(path)
    if tiers.MODES[tier] is not None:
        library.set_mode(tiers.MODES[tier], 1)
    return library, faults


class Workload:
    """The workload on copies of a sound database, in a directory.

    Args: library, a capi.Library; faults, its Faults; directory (str); journal, one of
    workload.JOURNALS.
    """

    def __init__(self, library, faults, directory, journal):
        self.library = library
        self.faults = faults
        self.path = os.path.join(directory, "test.db")
        self.statements = workload.statements(journal)
        sound = capi.Connection(library)
        for sql in workload.SOUND:
            sound.execute(sql)
        self.sound = sound.serialize()
        sound.close()
        self.usual = None
        self.usual = [rows for _, rows in self._statements()]

    def _fresh(self):
        for suffix in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(self.path + suffix):
                os.unlink(self.path + suffix)
        with open(self.path, "wb") as file:
            file.write(self.sound)

    def _statements(self):
        self._fresh()
        connection = capi.Connection(self.library, self.path)
        answers = [workload.run(connection, sql) for sql in self.statements]
        connection.close()
        return answers

    def once(self, call):
        """Do it with a failure at that call.

        Returns: (answers, what is in the file afterwards, problems). An answer is a result code
        and the rows' digest or, of a statement that failed, whether those it gave are right.
        """
        self._fresh()
        before = self.faults.used()
        problems, answers, connection = [], [], None
        self.faults.arm(call)
        try:
            connection = capi.Connection(self.library, self.path)
        except capi.Error as error:
            answers.append(["open %d" % error.code, ""])
        if connection:
            for sql, usual in zip(self.statements, self.usual):
                code, rows = workload.run(connection, sql)
                answers.append([code, workload.digest(rows) if code == 0 else
                                str(rows == usual[:len(rows)])])
        hits = self.faults.hits()
        self.faults.arm(0)
        if connection and not connection.c.sqlite3_get_autocommit(connection.db):
            workload.run(connection, "ROLLBACK")
        found = workload.content(self.library, self.path)
        if connection:
            try:
                connection.close()
            except capi.Error as error:
                problems.append("close: %d" % error.code)
        leaked = self.faults.used() - before
        if leaked:
            problems.append("%d bytes leaked" % leaked)
        return answers, found, problems, hits


def main(tier, kind, journal, first, step):
    library, faults = prepared(tier, kind)
    with tempfile.TemporaryDirectory(dir=os.path.join(tiers.BUILD, "tests")) as directory:
        work = Workload(library, faults, directory, journal)
        call = int(first)
        for _ in range(2):
            work.once(0)                # what is allocated once and kept is there now
        while True:
            print("[%d," % call, end=" ", flush=True)       # whose fault a crash is
            answers, found, problems, hits = work.once(call)
            print("%s, %s, %s]" % (json.dumps(answers), json.dumps(found), json.dumps(problems)),
                  flush=True)
            if hits == 0:
                break
            call += int(step)


if __name__ == "__main__":
    main(*sys.argv[1:])
