"""The statement cache: prepared statements by their SQL, acquired by cursors, and released.

A cursor in the middle of its rows keeps its statement busy, and with it a read transaction. CPython
frees a dropped cursor at once. PyPy frees it when it collects garbage, so statements look whether their
cursor is gone (dropped.py), on four occasions: when the same SQL runs again and its statements
are all busy; after the garbage collection that finds such a cursor (`Sentinel`); when the connection is
closed; and when a statement of any connection meets a lock: before it waits, garbage is
collected (locks.py). So a dropped cursor makes nobody in its own process begin to wait, unless its connection's own
thread is in the middle of something just then. Another process waits until the one that dropped the cursor has a major
collection, or has closed the connection: if it does nothing at all, as long as that lasts.

A finaliser runs between any two instructions of the program, in any thread, so all it does is to reset statements
that nobody else will touch: whoever resets one whose cursor is gone claims it first (`end_abandoned`).
"""

import gc
from _thread import get_ident
from _weakref import ref

from pypy_module.dbapi import open_databases
from pypy_module.dbapi.arguments import plain_text
from pypy_module.dbapi.mixin import Any, Mixin
from pypy_module.dbapi.statements.dropped import (
    REFERENCE_COUNTS, Era, Sentinel, Token, abandoned, find_gone, watching)
from pypy_module.dbapi.statements.held import in_the_middle, meanwhile
from pypy_module.dbapi.statements.locks import Vain, free_locks, ready
from pypy_module.dbapi.statements.statement import Statement
from pypy_module.ffi.library import lib

# So many statements of the same SQL, all busy, suggest that their cursors are garbage.
MANY = 256


class Clones:
    """Further statements of a SQL text that is cached, for when the cached one is busy.

    Attributes:
        all: every one of them (set of Statement).
        idle: those that aren't in use (list of Statement); some may be missing.
        many: how many there are before garbage is looked for among their cursors (int).
        most_busy: how many may then be busy before all garbage is collected (int).
    """

    def __init__(self):
        self.all = set()
        self.idle = []
        self.many = MANY
        self.most_busy = 2 * MANY
        Era.go_on()

    def gather(self, cache):
        """Put into `idle` what isn't in use, or whose cursor is gone; `cache`: the StatementCache."""
        for statement in list(self.all):
            if abandoned(statement):
                cache.end_abandoned(statement)
        self.idle = [statement for statement in list(self.all) if not statement.busy]

    def collect(self, cache):
        """Find cursors that are gone."""
        find_gone(list(self.all))
        self.gather(cache)
        if len(self.all) - len(self.idle) > self.most_busy:
            # SQLite walks the list of its open cursors for each one that it opens and closes.
            gc.collect()
            Era.go_on()
            self.gather(cache)
            self.most_busy = max(self.most_busy, 2 * (len(self.all) - len(self.idle)))
        if len(self.idle) < len(self.all) // 4:
            self.many = len(self.all) + MANY // 2   # they are in use, it seems, or have gone in other ways


def popped(kept):
    """Take the last from a list that has some, and return it; None if a signal's handler, or another thread, has taken
    it just now."""
    try:
        return kept.pop()
    except IndexError:
        return None


class StatementCache(Mixin):
    """The part of a Session that owns its statements.

    Attributes:
        statements: the cached statements by their SQL (dict of str to Statement).
        _clones: further statements of a cached SQL, while the cached one is busy (dict of Clones).
        all: every statement there is (set of Statement).
        left: those of a database that was closed when a cursor used them (set of Statement).
        _evicted: those taken out of the cache while a cursor used them (list of Statement).
        ending: those that are being reset as their cursors are gone (dict: of each, an object of who does it).
        _sentinels: those that no cursor holds (list of Sentinel); held: None for each that is held, and
            each open blob (list).
        reclaimed: how many statements have been reset because their cursors were gone (int).
        preparing: how many operations compile a statement, or run one that no cursor has, one in the other (int).
        vain: where it was refused; vain_young: where it has begun a transaction (Vain).
        user: the thread that may use the connection without a lock (its identity), 0 if closed,
            -1 if several may.
    """

    user = 0
    preparing = 0
    left: Any = ()
    blobs: Any
    left_by_fork: Any

    def _open_statements(self, capacity):
        """Start with no statements and room for `capacity` (int) in the cache."""
        self.statements = {}
        self._clones = {}
        self.all = set()
        self._evicted = []
        self._capacity = capacity
        self.ending = {}
        self._sentinels = []
        self.held = []
        self.reclaimed = 0
        self.vain, self.vain_young = Vain(), Vain()

    def acquire(self, sql):
        """Return a Statement for `sql` (str) that isn't busy, and mark it as busy."""
        if watching:
            self.end_interrupt()
        statement = self.statements.get(sql) if type(sql) is str else None
        if statement is None or statement.busy:
            statement = self._prepare_for(sql)
        else:
            statement.used = True
        statement.busy = True
        if statement.owner is not None:     # a signal's handler has acquired it just now, and is amid its rows
            return self.acquire(sql)
        if self.user == 0:                  # ... or has closed the connection, before it was busy
            statement.busy = False
            self.check_open()
        return statement

    def end_interrupt(self):
        """End an interrupt that only statements of dropped cursors keep up."""
        if self.db and lib.sqlite3_is_interrupted(self.db):
            free_locks()

    def _prepare_for(self, sql):
        """`acquire` when the cache has no idle statement for `sql`."""
        sql = plain_text(sql)
        cached = self.statements.get(sql)
        if cached is None:
            statement = self.prepare(sql)
            if self._capacity > 0:
                if len(self.statements) >= self._capacity:
                    self._evict()
                statement.cached = True
                self.statements[sql] = statement
            return statement
        if abandoned(cached):
            self.end_abandoned(cached)
        if not cached.busy:
            return cached
        return self._clone(sql, cached)

    def _clone(self, sql, cached):
        """Return an idle Statement for a `sql` whose cached one is busy."""
        clones = self._clones.get(sql)
        if clones is None:
            clones = self._clones[sql] = Clones()
        if not clones.idle:
            if REFERENCE_COUNTS:
                clones.gather(self)
            elif len(clones.all) >= clones.many:
                clones.collect(self)
        while clones.idle:
            statement = popped(clones.idle)
            if statement is not None and not statement.busy:
                return statement
        statement = self.prepare(sql)
        if cached.inlined is not None:
            statement.inlined = cached.inlined.heir()
        clones.all.add(statement)
        return statement

    def prepare(self, sql):
        """Return a new Statement; raises what `statement.prepare` raises."""
        self.preparing += 1
        try:
            db = self.db
            if self.closed:
                self.check_open()
            statement = Statement.of(db, sql, self.without_type)
            if REFERENCE_COUNTS:
                statement.cache = ref(self)
            self.consider(statement)
            self.all.add(statement)
            return statement
        finally:
            self.preparing -= 1

    def _evict(self):
        """Take a statement out of the cache that wasn't used for long."""
        oldest = self.statements.pop(next(iter(self.statements)))
        while oldest.used:
            oldest.used = False
            self.statements[oldest.sql] = oldest
            oldest = self.statements.pop(next(iter(self.statements)))
        oldest.cached = False
        self._evicted.append(oldest)
        clones = self._clones.pop(oldest.sql, None)
        if clones is not None:
            self._evicted += list(clones.all)
        busy = []
        for statement in self._evicted:
            if statement.busy:
                busy.append(statement)
            else:
                self.retire(statement)
        self._evicted = busy

    def release(self, statement):
        """Take a statement back whose run has ended."""
        statement.disown()
        if statement.short:
            statement.lengthen()
        statement.busy = False      # from now on a signal's handler may acquire it
        if not statement.cached:
            self.retire(statement)

    def give_up(self, statement):
        """End a statement's run, and take it back."""
        try:
            statement.rewind()
        finally:
            self.release(statement)

    def retire(self, statement):
        """Finalise a statement that isn't cached, unless its SQL is and it may be needed again."""
        clones = self._clones.get(statement.sql)
        if clones is not None and statement in clones.all:
            if len(clones.idle) < MANY:
                clones.idle.append(statement)
                return
            clones.all.discard(statement)
        self.all.discard(statement)
        if self.left:
            self.left.discard(statement)
        statement.finalize()

    def watch(self, result, statement):
        """Return the weak reference that tells when a ResultSet is gone, which resets `statement`."""
        if REFERENCE_COUNTS:
            result.sentinel = Token(statement)
            return ref(result)
        sentinel = result.sentinel
        if sentinel is None:
            self.hold()
            sentinel = result.sentinel = self._sentinels and popped(self._sentinels) or Sentinel(self)
        statement.era = Era.number
        sentinel.statement = statement
        sentinel.owner = owner = ref(result)
        return owner

    def unwatch(self, sentinel):
        """Take a sentinel back from a cursor whose rows have ended."""
        sentinel.statement = sentinel.owner = None
        self._sentinels.append(sentinel)
        self.hold_no_more()

    def hold(self):
        """A cursor in the middle of its rows, or a blob, may be dropped: whoever meets its lock looks for it."""
        if not REFERENCE_COUNTS:
            self.held.append(None)
            if id(self) not in watching:
                ready()
                watching[id(self)] = ref(self)

    def hold_no_more(self):
        """It has ended. Finalizers call this, in any thread, amid `hold`, too: so what it finds is looked at again."""
        if not REFERENCE_COUNTS:
            popped(self.held)
            if not self.held:
                watching.pop(id(self), None)
                if self.held:
                    watching[id(self)] = ref(self)

    def cursor_dropped(self, statement):
        """Called by a finaliser: the cursor in the middle of the statement's rows is garbage."""
        if statement is None:
            return
        if abandoned(statement) and not open_databases.calling(but=self):
            self.reclaim_now([statement], finalizing=True)
        if self.user and abandoned(statement):
            # It couldn't be reset now: the next collection finalises another sentinel, which no cursor has.
            Sentinel(self, statement, statement.owner)
            return
        self.hold_no_more()

    def if_mine(self, call, *arguments):
        """Do `call(*arguments)` if this thread may use the connection now, without waiting for another."""
        if self.user == get_ident():
            call(*arguments)
        elif self.user == -1 and not self.left_by_fork() and self.lock.acquire(False):
            try:
                call(*arguments)
            finally:
                self.lock.release()

    def reclaim_now(self, statements=None, finalizing=False):
        """`_reclaim`, if this thread may use the connection now, or its own is in the middle of nothing."""
        if self.user in (0, -1, get_ident()):
            self.if_mine(self._reclaim, statements, finalizing)
        elif not self.left_by_fork():
            meanwhile(self, self._reclaim, statements, True, True)

    def end_abandoned(self, statement, foreign=False):
        """Reset a statement whose cursor is gone, unless another thread does so; `reclaimed` counts it. One that isn't
        cached is finalised.

        Args:
            foreign: this isn't the connection's thread, which may be in the middle of something (bool).
        """
        own = object()
        if self.ending.setdefault(statement, own) is own:
            try:
                if abandoned(statement) and not (foreign and in_the_middle(self)):
                    self.give_up(statement)
                    self.reclaimed += 1
            finally:
                del self.ending[statement]

    def _reclaim(self, statements=None, finalizing=False, foreign=False):
        """Reset the statements whose cursors are gone, no more; `reclaimed` counts them.

        Args:
            statements: only these (list); None: all.
            finalizing: a runner of the inliner may be in the middle of a row (bool): statements that write,
                whose end it would have to be rolled back for, wait for the next occasion.
            foreign: see `end_abandoned`.
        """
        for statement in list(self.all) if statements is None else statements:
            if abandoned(statement) and (statement.readonly or not (finalizing and self.runners)):
                self.end_abandoned(statement, foreign)
        if not finalizing:
            self.release_dropped()

    def release_dropped(self):
        """Release the blobs that are gone; `reclaimed` counts them."""
        while self.dropped:
            blob = popped(self.dropped)
            if blob is not None:
                blob.release()
                self.reclaimed += 1

    def end_if_mine(self):
        """Reset all statements and close all blobs, at the program's end, if this thread may use the connection."""
        if self.left_by_fork():
            return
        if self.user == get_ident() or self.user == -1 and self.lock.acquire(False):
            for statement in list(self.all):
                if statement.owner is not None:
                    statement.reset()
            for handle in list(self.blobs or ()):
                handle.release()

    def _close_statements(self, busy_too):
        """Finalise all statements; without `busy_too` those that a cursor uses stay usable."""
        left = set()
        for statement in list(self.all) + list(self.left):
            statement.cached = False
            if busy_too or not statement.busy:
                statement.finalize()
            else:
                left.add(statement)
        self.left = left
        self.statements = {}
        self._clones = {}
        self.all = set()
        self._evicted = []
