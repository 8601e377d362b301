"""How a session runs statements: through fused calls, or handed to the inliner."""

from pypy_module.dbapi import constants, errors
from pypy_module.dbapi.adapters import converters
from pypy_module.dbapi.mixin import Any, Mixin
from pypy_module.dbapi.statements import binding, decoding, tiers
from pypy_module.dbapi.statements.dropped import abandoned, watching
from pypy_module.dbapi.statements.locks import (
    LOCKED, committed, free_locks, free_others_cursors, free_own, is_exclusive, met_own, refused_at_once, run_again)
from pypy_module.ffi.library import NUMBERS, ffi, lib

OK, ROW, DONE = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
BUSY, INTERRUPT = NUMBERS['SQLITE_BUSY'], NUMBERS['SQLITE_INTERRUPT']
LAST, BEGIN = NUMBERS['SQPYTE_LAST'], NUMBERS['SQPYTE_BEGIN']
IN_TRANSACTION, ASK = NUMBERS['SQPYTE_IN_TRANSACTION'], NUMBERS['SQPYTE_ASK']
AS_COMPILED = NUMBERS['SQPYTE_AS_COMPILED']
REPREPARES = NUMBERS['SQPYTE_ROW_REPREPARES']
ROWID, ERROR = NUMBERS['SQPYTE_ROW_ROWID'], NUMBERS['SQLITE_ERROR']

# What a signal's handler or a finalizer is told: see may_be_asked in tiers.py.
BROKEN_INTO = ('a query of this connection is in the middle of computing a row, and what runs now is a signal\'s '
               'handler or a finalizer: do this later, by another connection, or with sqpyte.configure(inline=False)')
# Switched off, another of settings.py.
fused_execute = lib.sqpyte_execute


def broken_off(runner):
    """Whether a runner that can't be asked is amid a row for which nobody asks any more (bool): a RecursionError came
    there, and another one when the rows were given up."""
    result = runner.owner and runner.owner()
    return result is not None and (result.ready or result.closed)


class Execution(Mixin):
    """The part of a Session that runs statements.

    Attributes:
        runners: of the inliner, in the middle of their rows (list; see tiers.py).
        raised: what a collation raised during the present call, or None.
        dropped: Handles of blobs that were dropped while there were runners (list).
        plain: texts are str (bool). Rows without converters can be decoded by the generated functions then.
        rollbacks: how often cut_off was called (int).
        handing_over: `roll_back` is running, so often (int).
        begin_flag: IN_TRANSACTION if a transaction is to be begun before a statement that changes rows, else 0.
    """

    runners: list
    dropped: list
    raised: Any
    check_not_closed: Any
    closed: Any
    superseded: Any
    rollbacks = handing_over = 0
    end_abandoned: Any
    give_up: Any
    outside_lock: Any

    def run(self, statement, parameters, begins=True):
        """Bind, step and fetch in one call.

        Args:
            statement: the Statement.
            parameters: for it (tuple, list or mapping).
            begins: whether a transaction is begun for it, if need be (bool).
        Returns:
            ROW with a row in the statement's buffer, LAST with the only row there, or DONE.
        Raises:
            what packing the parameters raises, or SQLite's error.
        """
        flags = self._flags(statement)
        if not statement.readonly:
            if statement.is_dml:
                if begins:
                    flags |= self.begin_flag
            elif watching:
                free_others_cursors(self, statement.sql)
        if self.runners and not statement.queries:
            self.before_c_call_that_may_write()
        if self._pack(statement, parameters, begins):
            flags &= ~IN_TRANSACTION
        return self._run_packed(statement, flags)

    def _flags(self, statement):
        """What a statement that may ask for locks is run with by `sqpyte_execute` (int)."""
        # ASK if there are any, without a branch: in machine code it would be a guard, and would fail in each
        # execution as soon as the last of them is gone.
        asks = -len(watching) >> 63 & ASK
        return asks | statement.one_row if self.plain and statement.converters is None else asks

    def _run_packed(self, statement, flags):
        """`run`, for a statement whose parameters are packed; `flags`: those of `sqpyte_execute`."""
        rc = fused_execute(statement.pointer, statement.cells_in, statement.arena.pointer,
                           flags, statement.cells)
        if rc != ROW and rc != DONE and rc != LAST:
            rc = self._run_otherwise(statement, rc, flags)
        if statement.cells[REPREPARES] != statement.reprepares:
            statement.recompiled()
        return rc

    def _pack(self, statement, parameters, begins=True):
        """Pack the parameters; the transaction is begun before any adapter runs, and if they don't fit.

        Args: as in `run`.
        Returns:
            whether it has been begun: once, even if an adapter has ended it.
        """
        error = None
        try:
            if statement.pack(statement, parameters):
                return False
        except BaseException as raised:
            error = raised
        if begins:
            self.begin_for(statement)
        if error is not None:
            raise error
        self.outside_lock(binding.pack_any, statement, parameters)
        if self.closed:     # by an adapter
            self.check_open()
        return True

    def _run_otherwise(self, statement, rc, flags):
        """Deal with what the fused call rarely returns; see `run`."""
        begun = rc == BEGIN
        if begun:
            self.begin_for(statement)
            rc = fused_execute(statement.pointer, statement.cells_in, statement.arena.pointer,
                               flags & ~IN_TRANSACTION, statement.cells)
        exclusive = (bool(watching) and not statement.is_dml and not statement.queries
                     and is_exclusive(statement.sql))
        if rc != OK and watching and met_own(self, rc, exclusive) or flags & ASK and refused_at_once(self, rc):
            anew = begun and rc == BUSY

            def again():
                lib.sqlite3_reset(statement.pointer)
                if anew:        # the transaction, of which this is the first statement, has a dropped cursor's lock,
                    # and in WAL its snapshot
                    self.run_alone('ROLLBACK')
                    self.begin_for(statement)
                return fused_execute(statement.pointer, statement.cells_in, statement.arena.pointer,
                                     flags & ~IN_TRANSACTION, statement.cells)
            rc = again() if rc == BUSY and not self.held else run_again(self, rc, again, exclusive)
        rc = statement.grown(rc)
        if rc != ROW and rc != DONE and rc != LAST:
            raise self.error(rc)
        return rc

    def consider(self, statement):
        """Decide whether a statement takes the way through `plan`: the inliner's, empty ones', or that of a COMMIT or
        BEGIN."""
        statement.tier_up = -1
        statement.inlinable = not statement.pointer or statement.commits or statement.begins
        if not statement.inlinable and tiers.planner is not None:
            interest = tiers.planner.considers(statement)
            if interest == tiers.LATER:
                statement.tier_up = tiers.planner.tier_up
            statement.inlinable = interest == tiers.AT_ONCE
        statement.forget()

    def plan(self, result, statement, parameters):
        """`run`, but the inliner may take the statement over: then INLINED is returned.

        An empty statement does nothing: OK. One that commits waits as `locks.committed` says; what begins a transaction
        frees dropped cursors.
        """
        if self.runners and not statement.queries:
            self.before_c_call_that_may_write()
        self._pack(statement, parameters)
        if not statement.pointer:
            self.release(statement)
            return OK
        if statement.commits:
            return self._commit(statement)
        if statement.begins:
            free_own(self)
            return self._run_packed(statement, self._flags(statement))
        rc = lib.sqpyte_bind(statement.pointer, statement.cells_in, statement.arena.pointer)
        if rc:
            raise self.error(rc)
        rc = tiers.planner.begin(self, result, statement)
        if rc != ROW and rc != DONE and rc != tiers.INLINED:
            if rc not in (BUSY, LOCKED) or self.raised is not None:
                raise self.error(rc)
            statement.rewind()
            rc = self._run_packed(statement, self._flags(statement))
        self.check_not_closed()
        if statement.cells[REPREPARES] != statement.reprepares:
            statement.recompiled()
        if self.db:     # else a function has opened the connection anew
            statement.cells[ROWID] = lib.sqlite3_last_insert_rowid(self.db)
        return rc

    def _commit(self, statement):
        """`run`, for a statement that commits, whose parameters are packed."""
        def again():
            lib.sqlite3_reset(statement.pointer)
            return fused_execute(statement.pointer, statement.cells_in, statement.arena.pointer, 0, statement.cells)
        rc = committed(self, again)
        if rc == BUSY:
            rc = run_again(self, rc, again)
        if rc != DONE:
            raise self.error(rc)
        return rc

    def plan_anew(self):
        """Have the inliner asked again about every statement."""
        for statement in list(self.all):
            self.consider(statement)

    def cut_off(self):
        """Have all cursors that are in the middle of their rows give them up before a rollback; they and those that
        have a kept row say so when they are asked for one. What is being stepped, and has called a function that rolls
        back, can't be reset now: its result set does that when it returns."""
        self.rollbacks += 1
        for statement in list(self.all):
            owner = statement.owner
            result = owner and owner()
            if result is not None and result.ready:
                result.drop()

    def before_c_call_that_may_write(self):
        """Hand statements that the inliner runs back to C, before their pages or schema change."""
        if self.runners:
            for runner in list(self.runners):
                if not runner.may_be_asked():
                    if not broken_off(runner):
                        raise errors.OperationalError(BROKEN_INTO)
                    runner.give_up()
            self.roll_back()
        if self.dropped:
            self.release_dropped()

    def leave_all(self):
        """Leave the runners that can't be asked: the Connection is garbage, so nobody is amid a row of theirs."""
        for runner in list(self.runners):
            if not runner.may_be_asked():
                runner.give_up()

    def roll_back(self):
        """The same, called by C in the middle of something. A runner that can't be asked now finds that the stamp has
        risen, when it is asked for its next row."""
        self.handing_over += 1      # before the cursors are looked at: see end_abandoned
        try:
            runners, self.runners = self.runners, []
            for runner in list(runners):
                if abandoned(runner.statement) and runner.statement.readonly:
                    self.end_abandoned(runner.statement)
                elif runner.may_be_asked():
                    runner.deoptimize()
                else:
                    self.runners.append(runner)
        finally:
            self.handing_over -= 1

    def error(self, rc=ERROR):
        """Return the exception for SQLite's last error, which is `rc` (int) if the connection knows of none. It is told
        of in place of what a collation has raised."""
        self.raised = None
        if self.closed and not self.superseded:
            return errors.ProgrammingError('Cannot operate on a closed database.')
        error = errors.from_database(self.db, rc)
        if watching and self.db and lib.sqlite3_errcode(self.db) == INTERRUPT:
            free_locks()        # an interrupt lasts until no statement is in the middle of its rows
        return error

    def reraise(self):
        """Raise what a collation raised; it couldn't pass through SQLite."""
        error, self.raised = self.raised, None
        raise error

    def find_converters(self, statement):
        """Find what converts a statement's columns, by declared type and column name, as they are registered now."""
        if not statement.pointer:
            return
        if statement.types is None:     # kept: a query for one row of four columns takes 1.0 us, 1.3 without
            statement.types = [self._types_of(statement.pointer, i) for i in range(statement.columns)]
            statement.codec = decoding.converters_codec(statement.pointer)
            statement.one_row |= AS_COMPILED if statement.one_row else 0    # other columns may have converters
        found = []
        none = True
        for named, declared in statement.types:
            converter = converters.get(named)
            if converter is None:
                converter = converters.get(declared)
            found.append(converter)
            if converter is not None:
                none = False
        statement.converters = None if none else found

    def _types_of(self, pointer, i):
        """Return what converters are looked up by for column `i`, as far as `detect_types` says so: the type in its
        name, and its declared type (str, or None)."""
        named = declared = None
        if self.detect_types & constants.PARSE_COLNAMES:
            name = ffi.string(lib.sqlite3_column_name(pointer, i)).decode()
            _, bracket, rest = name.partition('[')
            inside, end, _ = rest.partition(']')
            if bracket and end:
                named = inside.rpartition('[')[2].upper()
        if self.detect_types & constants.PARSE_DECLTYPES:
            found = lib.sqlite3_column_decltype(pointer, i)
            if found:
                declared = ffi.string(found).decode().partition(' ')[0].partition('(')[0].upper()
        return named, declared
