"""What to do when a statement meets a lock: it may be that of a cursor which is garbage.

Where dropped cursors aren't freed at once, a statement doesn't wait for a lock before garbage has been
collected: C asks (`Asking`), at the very place where the lock is met, so nothing is done twice. A COMMIT
can be done twice, and is (`committed`): in the midst of one nothing of its connection may be touched. And no
error is raised that a statement in the middle of its own connection's rows may be to blame for, before *all*
garbage has been collected (`run_again`, `tried`): where objects count references, cursors that are gone hold
nobody up.
"""

import atexit
import gc
import time
from _thread import _count as threads
from _weakref import ref

from pypy_module.dbapi.statements.dropped import about_to_be_abandoned, find_young, watching
from pypy_module.dbapi.statements.statement import beginning
from pypy_module.ffi.library import NULL, NUMBERS, address_of, ffi, lib

LOCKED, ERROR, BUSY = NUMBERS['SQLITE_LOCKED'], NUMBERS['SQLITE_ERROR'], NUMBERS['SQLITE_BUSY']
BUSY_WORDS = NUMBERS['SQPYTE_BUSY_WORDS']
PATIENCE = 0.05         # seconds that finalizers of other threads are waited for
TRIES = 3               # all garbage is collected so often in vain, where there are other threads
# Statements that fail with SQLITE_ERROR beside others that are in the middle of their rows; they run no
# code of the user's, so they can be tried twice.
EXCLUSIVE = ('vacuum', 'detach', 'pragma')
HANDLER, ASKED = NUMBERS['SQPYTE_BUSY_HANDLER'], NUMBERS['SQPYTE_BUSY_ASKED']
VAIN = 4                # times as long as garbage was collected in vain it isn't again, if it was
OFTEN = 3               # times in a row: see Vain
# Pragmas that beside another connection's cursor do nothing, or not all, and say so by their row alone: `journal_mode`
# if it writes, `wal_checkpoint(PASSIVE)` if it reads.
UNTOLD = ('journal_mode', 'wal_checkpoint')


# References to the Sessions without a timeout, by their ids.
impatient: dict = {}


class Asked:
    """The callback by which C asks, once it is made, and the `sqlite3 *` for which it has asked (set of int)."""

    callback = None
    databases: set = set()


def ready():
    """Have C ask before a statement waits for a lock; called when the first connection is watched."""
    if Asked.callback is None:
        Asked.callback = ffi.callback('int(void *)', free_others, error=0)
        lib.sqpyte_free_locks_by(Asked.callback)


def free_others(db):
    """Free locks of other connections than that with this `sqlite3 *`, which is in a statement;
    returns whether there were any (bool). None amid a COMMIT: finalizers might use the connection."""
    Asked.databases.add(address_of(db))
    return not commits(db) and (free_locks(db, young=True) or free_locks(db, waits=will_wait(db)))


def will_wait(db):
    """Whether the connection with this `sqlite3 *` waits for locks (bool): it has a timeout."""
    sessions = [reference() for reference in list(impatient.values())]
    return not any(session and session.db and address_of(session.db) == address_of(db) for session in sessions)


def never_waits(session):
    """Note that a Session has no timeout."""
    for key, reference in list(impatient.items()):
        if reference() is None:
            impatient.pop(key, None)
    impatient[id(session)] = ref(session)


def commits(db):
    """Whether what meets a lock is a COMMIT of the connection with this `sqlite3 *` (bool). A statement of it that is
    reset meanwhile would commit by itself, and count as one that reads for ever."""
    from c_engine.generated import layout
    return bool(lib.sqlite3_txn_state(db, NULL) == layout.SQLITE_TXN_WRITE and lib.sqlite3_get_autocommit(db)
                and not ffi.cast('int32_t *', db)[layout.sqlite3_nSqpyteWriting // 4])


def committed(session, run):
    """Have `run()`, which commits, return its result code. It waits for a lock only after garbage has been collected.
    Raises ProgrammingError if a finalizer has closed the connection."""
    if not watching:
        return run()
    for young in True, False:
        with Asking(session, waits=False):
            rc = run()
        if rc != BUSY:
            return rc
        free_locks(young=young, waits=will_wait(session.db))
        session.check_open()
    return run()


def free_own(session):
    """Before a transaction begins: what its connection reads then is locked until the transaction's end, even if
    it was by a cursor which is garbage. Young garbage alone is collected, unless weak references say that there is
    more; in vain, a fifth of the time at most. Raises ProgrammingError if a finalizer has closed the connection."""
    if (not watching or not session.held or not lib.sqlite3_get_autocommit(session.db)
            or session.vain_young.lately(session)):
        return
    began = time.monotonic()
    freed = free_locks(young=True)
    if not freed and any(about_to_be_abandoned(statement) for statement in list(session.all)):
        freed = free_locks()
    session.check_open()
    if not freed:
        session.vain_young.note(began, session)


def refused_at_once(session, rc):
    """Whether SQLite hasn't waited for the lock that a statement has met with `rc`, as its connection was reading: a
    finalizer may have ended that just now."""
    if rc != BUSY:
        return False
    waited = address_of(session.db) in Asked.databases
    Asked.databases.discard(address_of(session.db))
    return not waited


class Vain:
    """Garbage was collected in vain, several times in a row: until when that is believed, so that it isn't again.

    SQLite doesn't wait as long as a connection reads, or if it has no timeout, so a program may try again at once, and
    each time all garbage would be collected: 20 to 500 ms for a refusal that takes 2 us. What a program has dropped
    after a refusal is found as long as it hasn't been refused OFTEN.

    The methods' `session`: of which the cursors amid their rows have to be the same (Session), or None.
    """

    def __init__(self):
        self.owners = []
        self.times = 0
        self.window = self.until = 0.0      # of time.monotonic()

    def same(self, session):
        """Whether the same cursors are amid their rows (bool)."""
        owners = self.amid(session)
        return (len(owners) == len(self.owners)
                and all(owner is before for owner, before in zip(owners, self.owners)))

    @staticmethod
    def amid(session):
        """The weak references to the cursors that are amid their rows (list)."""
        return [] if session is None else [
            statement.owner for statement in list(session.all) if statement.owner is not None]

    def note(self, began, session=None):
        """Garbage has been collected since `began` (time.monotonic()), and nothing was found."""
        now = time.monotonic()
        self.times = self.times + 1 if began < self.until + self.window and self.same(session) else 1
        self.owners, self.window = self.amid(session), VAIN * (now - began)
        self.until = now + self.window

    def lately(self, session=None):
        """Whether that was a moment ago, and often, and nobody has come since (bool)."""
        return self.times >= OFTEN and time.monotonic() < self.until and self.same(session)


vain = Vain()           # of who doesn't wait


class Asking:
    """Within it a Session frees locks of dropped cursors before it waits, or waits for none; it may be closed there.

    A class, as a generator with a `try` around its `yield` has a finalizer (see inline/runtime/trace.py).
    """

    def __init__(self, session, waits=True):
        self.session = session
        self.waits = waits
        self.handler = 0
        self.busy = None

    def __enter__(self):
        if watching and self.session.db:    # else a script's function has closed it
            self.busy = ffi.new('int64_t[]', BUSY_WORDS)
            lib.sqpyte_ask_before_waiting(self.session.db, self.busy)
            if not self.waits:
                self.handler, self.busy[HANDLER], self.busy[ASKED] = self.busy[HANDLER], 0, 1

    def __exit__(self, *_):
        if self.busy is not None and self.session.db:
            if not self.waits:
                self.busy[HANDLER] = self.handler
            lib.sqpyte_ask_no_more(self.session.db, self.busy)


def is_exclusive(sql):
    """Whether SQL (str) begins with a statement that fails beside others: one of EXCLUSIVE (bool)."""
    return beginning(sql).startswith(EXCLUSIVE)


def free_others_cursors(session, sql):
    """Before a Session runs SQL (str) that does less, without an error, beside a dropped cursor; raises
    ProgrammingError if a finalizer has closed it."""
    if beginning(sql).startswith('pragma') and any(name in sql.lower() for name in UNTOLD):
        free_locks()
        session.check_open()


def met_own(session, rc, exclusive=False):
    """Whether what has failed may have met a statement of its own connection that has rows left (bool).

    Args: as for `run_again`.
    """
    if rc == BUSY:
        # An old snapshot, a transaction that can't end, or a lock of somebody else's, for which SQLite doesn't wait as
        # long as its connection reads: both might wait for ever.
        return bool(session.held)
    return rc == LOCKED or rc == ERROR and exclusive


def run_again(session, rc, again, exclusive=False):
    """What has failed is tried again if a dropped cursor of its own connection may have been to blame.

    Args:
        session: the Session.
        rc: the result code (int).
        again: function without arguments, which tries it and returns a result code.
        exclusive: it fails with ERROR, too, while other statements are in the middle of their rows (bool).
    Returns:
        the result code of what hasn't met one.
    Raises:
        SQLite's error of the last try, or ProgrammingError if a finalizer has closed the connection.
    """
    error = session.error(rc)
    own, young, tries, began = session.reclaimed, True, TRIES, time.monotonic()
    at_once = refused_at_once(session, rc)
    if rc == BUSY and session.vain.lately(session):
        raise error
    while tries and (session.reclaimed > own or met_own(session, rc, exclusive)):
        freed = free_locks(young=young)
        if session.reclaimed > own or freed and (rc != BUSY or at_once):
            own = session.reclaimed
            session.check_open()
            rc = again()
            if not met_own(session, rc, exclusive):
                return rc
            error = session.error(rc)
        elif not young:     # another thread may be about to run finalizers of what this one has collected
            tries = threads() and tries - 1
            if not tries and rc == BUSY:
                session.vain.note(began, session)
        young = False
    raise error


def tried(session, call):
    """Return the result code of `call()`; it is called again if dropped cursors may be to blame for it. Raises
    ProgrammingError if a finalizer has closed the Session."""
    rc = call()
    if rc and free_locks():
        session.check_open()
        rc = call()
    return rc


def watched():
    """The StatementCaches with cursors amid their rows, or blobs (list)."""
    return [cache for cache in [reference() for reference in list(watching.values())] if cache is not None]


def free_locks(busy=ffi.NULL, young=False, waits=True):
    """Reset statements, of any connection, whose cursors are garbage.

    Args:
        busy: the `sqlite3 *` of a connection that is to be left alone, or NULL.
        young: only young garbage is collected (bool): that takes a hundredth of the time.
        waits: who has met a lock waits for it; if not, it may be back in a moment, and not all garbage is collected if
            that was in vain just now.

    Returns:
        whether there were any (bool).
    """
    caches = [cache for cache in watched() if not busy or address_of(cache.db) != address_of(busy)]
    if not caches or not young and not waits and vain.lately():
        return False
    before, began = sum(cache.reclaimed for cache in caches), time.monotonic()
    if young:
        find_young([statement for cache in caches for statement in list(cache.all)])
    else:
        gc.collect()
        wait_for_finalizers(caches)
    for cache in caches:
        cache.reclaim_now()
    freed = sum(cache.reclaimed for cache in caches) > before
    if not freed and not young:
        vain.note(began)
    return freed


def wait_for_finalizers(caches):
    """Wait, if other threads may be about to run finalizers that this one's collection has found, until statements of
    these StatementCaches (list) are known to be abandoned. Whose cursor is used by other finalizers isn't."""
    end = time.monotonic() + PATIENCE
    while threads() and any(about_to_be_abandoned(statement) for cache in caches for statement in list(cache.all)):
        if time.monotonic() > end:
            break
        time.sleep(0.0001)


@atexit.register
def end_statements():
    """At the program's end: statements end whose cursors have rows left, and blobs, as where objects count references.
    What one of them has written is committed then, if no transaction is open."""
    for reference in list(watching.values()):
        cache = reference()
        if cache is not None:
            cache.end_if_mine()
