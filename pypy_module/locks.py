"""What to do when a statement meets a lock: it may be that of a cursor which is garbage.

Where dropped cursors aren't freed at once, a statement doesn't wait for a lock before garbage has been
collected: it is tried without waiting first (`impatiently`), and again (`run_again`). And no error is
raised that a statement in the middle of its rows may be to blame for, before *all* garbage has been
collected: where objects count references, cursors that are gone hold nobody up.
"""

import gc

from pypy_module import errors
from pypy_module.library import NUMBERS, ffi, lib

BUSY, LOCKED, ERROR = NUMBERS['SQLITE_BUSY'], NUMBERS['SQLITE_LOCKED'], NUMBERS['SQLITE_ERROR']
# Statements that fail with SQLITE_ERROR beside others that are in the middle of their rows; they run no
# code of the user's, so they can be tried twice.
EXCLUSIVE = ('vacuum', 'detach', 'pragma')

# Includes a minor collection, unless it is the last step of a major one: hence twice.
collect_step = getattr(gc, 'collect_step', gc.collect)

# Connections with cursors in the middle of their rows, as far as is known, by their identity: only
# where dropped cursors aren't freed at once. A lock that SQLite meets may be one of theirs.
watching: dict = {}


def impatiently(connection, action):
    """Call `action`, which returns a result code, and return that; it doesn't wait for locks.

    Args:
        connection: a Connection; `action` may close it.
        action: function without arguments.
    """
    handler = ffi.new('int64_t[2]')
    lib.sqpyte_take_busy_handler(connection._db, handler)
    rc = action()
    if connection._db:
        lib.sqpyte_put_busy_handler(connection._db, handler)
    return rc


def run_again(connection, rc, impatient, again, exclusive=False):
    """What has failed is tried again where dropped cursors, or not having waited, may be to blame.

    First young garbage is collected, for that is quick, and it is tried without waiting; then all of it,
    and it is tried as it is to be.

    Args:
        connection: the Connection.
        rc: the result code (int).
        impatient: it hasn't waited for locks yet (bool).
        again: function of whether it is to wait for locks (bool), which tries it and returns a result code.
        exclusive: it fails with ERROR, too, while other statements are in the middle of their rows (bool).
    Returns:
        the last result code; it isn't BUSY or LOCKED.
    Raises:
        SQLite's error of the last try.
    """
    error = errors.from_database(connection._db)
    if rc == BUSY or rc == LOCKED or exclusive:
        for collect in (collect_young, gc.collect):
            thoroughly = collect is gc.collect
            if free_locks(collect) or thoroughly and impatient:
                rc = again(thoroughly)
                if rc != BUSY and rc != LOCKED and not (exclusive and rc == ERROR):
                    return rc
                error = errors.from_database(connection._db)
    raise error


def tried(call):
    """Return the result code of `call()`; it is called again if dropped cursors may be to blame for it."""
    rc = call()
    if rc and free_locks(gc.collect):
        rc = call()
    return rc


def free_locks(collect):
    """Reset statements, of any connection of this thread, whose cursors are garbage.

    Args:
        collect: the function that collects it: collect_young or gc.collect.

    Returns:
        whether there were any (bool).
    """
    lenders = [lender for lender in [reference() for reference in list(watching.values())]
               if lender is not None]
    if not lenders:
        return False
    before = sum(lender._reclaimed for lender in lenders)
    collect()
    for lender in lenders:
        lender._reclaim_if_mine()
    return sum(lender._reclaimed for lender in lenders) > before


def collect_young():
    """Collect garbage of the youngest generation."""
    collect_step()
    collect_step()
