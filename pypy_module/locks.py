"""What to do when a statement meets a lock: it may be that of a cursor which is garbage.

Where dropped cursors aren't freed at once, a statement doesn't wait for a lock before garbage has been
collected: it is tried without waiting first (`patience`), and again (`check_retry`).
"""

import gc
import time

from pypy_module import errors
from pypy_module.library import NUMBERS, lib

BUSY, LOCKED = NUMBERS['SQLITE_BUSY'], NUMBERS['SQLITE_LOCKED']

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
    patience = lib.sqpyte_patience(connection._db, 0)
    rc = action()
    if patience and connection._db:
        lib.sqpyte_patience(connection._db, patience)
    return rc


def check_retry(connection, rc, impatient):
    """Raise SQLite's error unless what has failed is worth another try, now with waiting for locks.

    Args:
        connection: the Connection.
        rc: the result code (int).
        impatient: it hasn't waited for locks yet (bool).
    """
    error = errors.from_database(connection._db)
    if rc not in (BUSY, LOCKED) or not free_locks() and not impatient:
        raise error


class Collected:
    """When free_locks last collected all garbage (seconds; see time.monotonic)."""

    at = 0.0


def free_locks():
    """Reset statements, of any connection of this thread, whose cursors are garbage.

    Young garbage is looked for first; all of it at most once a second, for that takes as long as it
    has objects to look at.

    Returns:
        whether there were any (bool).
    """
    lenders = [lender for lender in [reference() for reference in list(watching.values())]
               if lender is not None]
    before = sum(lender._reclaimed for lender in lenders)
    for collect in (collect_young, collect_all):
        if lenders and collect():
            for lender in lenders:
                lender._reclaim_if_mine()
            if sum(lender._reclaimed for lender in lenders) > before:
                return True
    return False


def collect_young():
    """Collect garbage of the youngest generation; returns True."""
    collect_step()
    collect_step()
    return True


def collect_all():
    """Collect all garbage, unless that was done in the last second; returns whether it was done."""
    if time.monotonic() - Collected.at < 1:
        return False
    gc.collect()
    Collected.at = time.monotonic()
    return True
