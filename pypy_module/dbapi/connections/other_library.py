"""A file that is open by two SQLite libraries of one process is noticed, and warned of.

A process has one set of locks on a file: whoever closes it drops them, also those of the other library
(https://www.sqlite.org/howtocorrupt.html, 2.2). Python's own sqlite3 is another library where ours is on cffi.

Looked at when ours has opened a file that it had not open, and when it has closed it: who else has it open then isn't
ours. Invariant: nothing is looked at in a process that hasn't imported Python's own sqlite3.
"""

import os
import sys
import warnings

from pypy_module.dbapi import open_databases
from pypy_module.dbapi.deprecation import outside
from pypy_module.ffi.library import NULL, ffi, lib

FOLDER = '/proc/self/fd'


def other_loaded():
    """Whether Python's own sqlite3 has been imported (bool); `install` puts ours in its place without it."""
    return '_sqlite3_cffi' in sys.modules or '_sqlite3' in sys.modules


def identity(path):
    """Return what identifies a file (tuple); None if there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def main_file(db):
    """Return the path of the main database (bytes) of a `sqlite3 *`, b'' if it is in memory."""
    name = lib.sqlite3_db_filename(db, b'main')
    return ffi.string(name) if name != NULL else b''


def times_open(file):
    """Return how often this process has a file open (int)."""
    try:
        names = os.listdir(FOLDER)
    except OSError:
        return 0
    return sum(identity('%s/%s' % (FOLDER, name)) == file for name in names)


def files(db, all_of_them):
    """Return the paths (list of bytes) of a `sqlite3 *`'s main database, or of `all_of_them`, attached ones, too: only
    where no other thread may attach one meanwhile."""
    found, number = [main_file(db)], 2      # 0 is main, 1 temp
    while all_of_them:
        name = lib.sqlite3_db_name(db, number)
        if name == NULL:
            break
        path = lib.sqlite3_db_filename(db, name)
        found.append(ffi.string(path) if path != NULL else b'')
        number += 1
    return found


def open_by_ours(file):
    """Return how many Sessions have a file as their main database, or have attached it in this thread (int)."""
    return sum(file in map(identity, files(db, mine)) for db, mine in open_databases.databases())


def warn(path):
    """Warn of a file."""
    warnings.warn(
        'this process has %s open by Python\'s own sqlite3 (or by open()) and by sqpyte. When one of them closes it, '
        'the other loses its locks, and the file can be damaged: use one library in the whole program, with '
        '`import sqpyte as sqlite3`, sqpyte.install() at its beginning, or sqpyte-run' % os.fsdecode(path),
        RuntimeWarning, stacklevel=outside())


def opened(db):
    """A Session has opened a `sqlite3 *`: warn if another library has that file open."""
    if other_loaded():
        path = main_file(db)
        file = identity(path) if path else None
        if file is not None and open_by_ours(file) == 1 and times_open(file) > 1:
            warn(path)


def closing(db):
    """A Session is about to close a `sqlite3 *`; return what `closed` is given."""
    path = main_file(db) if other_loaded() else b''
    return (path, identity(path)) if path else None


def closed(found):
    """A Session has closed its database: warn if another library still has that file open."""
    if found is not None and found[1] is not None and not open_by_ours(found[1]) and times_open(found[1]):
        warn(found[0])
