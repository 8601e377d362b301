"""A connection that is used in another thread than its own: a backup copies into it, or a cursor that is gone locks its
database.

The invariant: who uses it holds the connection's lock, has set `Session.user` to -1, and has looked only then whether
its own thread is in the middle of something. Whatever that begins from then on waits at the lock.
"""

import time
from _thread import get_ident

from pypy_module.dbapi import errors
from pypy_module.ffi.library import NUMBERS, lib

OK = NUMBERS['SQLITE_OK']
PATIENCE = 60.0     # seconds that a backup waits for a statement of another thread's


class Held:
    """Within it a Session is this thread's, whose ever it is: to copy a database into.

    Its own thread then waits at the lock with whatever it begins. What it is in the middle of is waited for: the
    code that PyPy makes of a query reads pages.
    """

    def __init__(self, session):
        self.session = session
        self.foreign = False

    def __enter__(self):
        session = self.session
        if session.shared or session.user == get_ident():
            return
        session.lock.acquire()
        if session.user == get_ident():     # another thread held it just now
            session.lock.release()
            return
        self.user, session.user = session.user, -1
        self.foreign = True
        try:
            end = time.monotonic() + PATIENCE
            while in_the_middle(session):
                if time.monotonic() > end:
                    raise errors.OperationalError('another thread is in the middle of a statement of the backup\'s '
                                                  'target')
                time.sleep(0)
        except BaseException:       # a signal's handler may raise, too
            self.__exit__()
            raise

    def __exit__(self, *error):
        if self.foreign:
            self.session.user = self.user
            self.session.lock.release()


def in_the_middle(session):
    """Whether a statement of a Session is being compiled or executed, or asked for a row, or its runners go back to C
    (bool)."""
    if session.handing_over or session.preparing:
        return True
    for statement in list(session.all) + list(session.left):
        if statement.busy:
            owner = statement.owner
            result = owner and owner()
            if owner is None or result is not None and not result.ready:
                return True
    return False


def meanwhile(session, call, *arguments):
    """Do `call(*arguments)` with a Session of another thread's, if that isn't in the middle of a call of C's with it.
    Nobody is waited for: this may be a finalizer. `call` looks at `in_the_middle`."""
    if not session.lock.acquire(False):
        return
    user = session.user
    try:
        session.user = -1
        with session.alive:
            if session.db:
                mutex = lib.sqlite3_db_mutex(session.db)
                if lib.sqlite3_mutex_try(mutex) == OK:
                    try:
                        call(*arguments)
                    finally:
                        lib.sqlite3_mutex_leave(mutex)
    finally:
        session.user = user
        session.lock.release()
