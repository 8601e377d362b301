"""The rows that a cursor is in the middle of, and what of them the inliner may touch.

A cursor has one ResultSet as long as it lives, and nobody else holds it: when it is gone, the cursor is. A
ResultSet is always one row ahead, as sqlite3's cursor is: when it hands row k out, the statement has been
stepped to row k+1, and an error met there is raised instead of row k. A query that can return one row only is
finished, and its statement free again, before `execute` returns.
"""

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import decoding, tiers
from pypy_module.dbapi.statements.decoding import Undecodable, decoded
from pypy_module.dbapi.statements.executemany import ExecuteMany
from pypy_module.dbapi.statements.returned import Returned, reads_at_once
from pypy_module.ffi.library import NUMBERS, lib

ROW, DONE = NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
LAST = NUMBERS['SQPYTE_LAST']
CHANGES, ROWID = NUMBERS['SQPYTE_ROW_CHANGES'], NUMBERS['SQPYTE_ROW_ROWID']

step = lib.sqpyte_step


class GivenUp:
    """In place of the runner of rows in the middle of which an exception came."""

    def __init__(self, why):
        self.why = why

    def __next__(self):
        raise errors.OperationalError('the rows that are left are lost: %s; execute the query again' % self.why)

    def leave_row(self, result):
        """Do nothing: there are no rows."""

    def abandon(self, claim):
        """The same."""


STACK_ENDED = GivenUp('RecursionError interrupted one')     # there is no stack to make it


class Ahead(tuple):
    """A row that was computed ahead, in versions in which a tuple is what `execute` has converted, and is handed out as
    it is. These are marked, as the others are in every query of one row."""


def ahead(row):
    """Return a row that was computed ahead (tuple, or Undecodable) so that it is known by its type."""
    return Ahead(row) if type(row) is tuple and not versions.FIRST_ROW_LATER else row


class ResultSet(ExecuteMany):
    """See the module's docstring.

    Attributes:
        session: the Session of the cursor's connection.
        ready: the cursor is initialised, not closed and not in the middle of something (bool).
        statement: whose rows are being fetched, or None; its buffer holds the next one.
        runner: the inliner's, in place of a statement, or None.
        row: the next row (tuple, or Undecodable), if it has been decoded already, or None.
        claim: what the statement has as its `owner` as long as the rows are this one's.
        sentinel: the Token or Sentinel, while it is in the middle of its rows where dropped cursors aren't freed at
            once, or None.
        columns: the Columns of the statement that ran last, or None.
        rollbacks: the session's number of them when `execute` began, or when the cursor was made (int).
        rowcount, lastrowid, arraysize, row_factory: see Cursor.
        closed: the cursor is closed (bool).
    """

    claim: Any = None
    sentinel: Any = None
    columns: Any = None
    rowcount = -1
    lastrowid: Any = None
    rollbacks: Any = None
    closed = False
    arraysize = 1
    row_factory: Any = None

    def __init__(self, session):
        """Be the result set of a new cursor, which isn't ready yet."""
        # In this order: PyPy keeps an object's first attributes in numbered fields, and after a write to one
        # its machine code reads that field of all objects anew. `ready` is written twice a row, so its number
        # is none of those by which a row is found: Cursor's `_result_`, `session`, `runner`.
        self.session = session
        self.runner: Any = None
        self.ready = False
        self.row: Any = None
        self.statement: Any = None

    # What the inliner calls: see tiers.py.

    def stand_in(self, runner, row=None):
        """Have a runner hand out the rows in place of its statement, behind `row` (tuple) if that is given."""
        self.runner = runner
        self.statement = None
        if row is not None:
            self.row = ahead(row)

    def resume(self, statement, row=None):
        """Have the statement go on where its runner has stood, behind `row` (tuple, or Undecodable) if that is
        given."""
        self.runner = None
        self.statement = statement
        if row is not None:
            self.row = ahead(row)

    def go_on(self, statement, rc):
        """Have the statement go on where its runner has stood, which has stepped it; see `stepped`. If that has found
        no row, none is read from the statement's buffer, whatever comes in the middle of this."""
        rc = statement.grown(rc)
        if rc == ROW:
            self.resume(statement)
            self.stepped(statement, rc)
        else:
            self.runner = GivenUp('something interrupted the last one')
            self.stepped(statement, rc)
            self.runner = None

    def stepped(self, statement, rc):
        """Deal with a step that has returned `rc`, above all if it found no further row, or something is to be raised
        after it; raises SQLite's error."""
        session = self.session
        rc = statement.grown(rc)
        if rc == tiers.INLINED:
            return
        if rc == DONE:
            if statement.is_dml:
                self.rowcount = statement.cells[CHANGES]
            self.statement = None
            session.release(statement)
        elif rc != ROW:
            error = session.error(rc)
            self.statement = None
            session.give_up(statement)
            self.drop()
            raise error
        if session.raised is not None:
            self.drop()
            session.reraise()
        if self.rollbacks != session.rollbacks:     # one of its functions has rolled back
            self.drop()
            self._check_no_rollback()

    def drop(self):
        """Give up the rows that are left."""
        self.row = None
        statement, self.statement = self.statement, None
        if statement is not None and statement.owner is self.claim:
            self.session.give_up(statement)
        runner, self.runner = self.runner, None
        if runner is not None:
            runner.abandon(self.claim)

    def _check_no_rollback(self):
        """Raise InterfaceError if the connection has rolled back since `execute`: every older cursor needs that then,
        also one whose rows have been fetched."""
        if self.rollbacks != self.session.rollbacks:
            raise errors.InterfaceError(
                'Cursor needed to be reset because of commit/rollback and can no longer be fetched from.')

    # What the cursor calls

    def execute(self, sql, parameters):
        """`Cursor.execute` without its checks."""
        if not isinstance(sql, str):
            raise errors.not_sql('execute()', sql)
        session, held = self.session, None
        try:
            self.ready = False
            if self.statement is not None or self.runner is not None:
                self.drop()     # which finalizes aggregates: their functions find the cursor in use
            self.row = self.columns = None
            self.rollbacks = session.rollbacks
            held = statement = session.acquire(sql)
            if session.detect_types:
                session.find_converters(statement)
            self.rowcount = 0 if statement.is_dml else -1
            planned = statement.inlinable
            if planned:
                rc = session.plan(self, statement, parameters)
            else:
                rc = session.run(statement, parameters)
            cells = statement.cells
            if rc == DONE:
                if statement.is_dml:
                    self.rowcount = cells[CHANGES]
                self.columns = statement.description
                self.lastrowid = cells[ROWID]
                held = None
                statement.busy = False
                if not statement.cached:
                    session.retire(statement)
            elif rc == LAST:
                self.row = decoded(statement)
                if self.row is None:
                    self.row = Undecodable.of(statement)
                    if session.plain and not versions.FIRST_ROW_LATER:
                        raise errors.OperationalError(self.row.message)
                if not session.plain and not versions.FIRST_ROW_LATER:      # a function has set a text factory
                    self.row = self.decoded_early(self.row)
                self.columns = statement.description
                self.lastrowid = cells[ROWID]
                held = None
                statement.busy = False
                if not statement.cached:
                    session.retire(statement)
            else:
                self._started(statement, rc, planned)
            held = None
            if session.raised is not None:
                self.drop()
                session.reraise()
        except BaseException:
            self.rowcount = -1
            if held is not None:
                self.statement = self.runner = None
                session.give_up(held)
            if not versions.FIRST_ROW_LATER:
                self.drop()     # a converter has failed
            raise
        finally:
            self.ready = True

    def _started(self, statement, rc, planned):
        """Take a statement over after `run`, or `plan`, if it isn't finished: it is at a row, or empty."""
        session = self.session
        if session.detect_types:        # it may have been compiled again
            session.find_converters(statement)
        if rc == ROW:
            if statement.one_row and session.plain and statement.converters is None:
                if planned:
                    self._end(statement)
                    return
                statement.short = True
            if reads_at_once(session, statement):
                self._read_at_once(statement)
                return
            self.statement = statement
            statement.owner = self.claim = session.watch(self, statement)
            self.columns = statement.description
            self.lastrowid = statement.cells[ROWID]
            if not versions.FIRST_ROW_LATER:
                self.row = self._first_row(statement)
        elif rc == tiers.INLINED:
            statement.owner = self.claim = session.watch(self, statement)
            self.columns = statement.description
            self.lastrowid = statement.cells[ROWID]
            if statement.one_row and session.plain and statement.converters is None and self.runner is not None:
                self._read_only_row()
            elif not versions.FIRST_ROW_LATER:
                self._make_first_row()

    def _end(self, statement):
        """Have a statement end that is at its only row, as C does where the inliner isn't asked."""
        row = decoded(statement)
        if row is None:
            row = Undecodable.of(statement)
            if not versions.FIRST_ROW_LATER:
                raise errors.OperationalError(row.message)
        rc = statement.step()
        if rc != DONE:
            raise self.session.error(rc)
        self.columns = statement.description
        self.lastrowid = statement.cells[ROWID]
        self.session.release(statement)
        self.row = row

    def _read_only_row(self):
        """Take the row that a runner has computed for a statement that has no other, and have the statement end: it is
        over when `execute` returns, as in C."""
        if not self.runner.readable():
            self.runner.deoptimize_row(self)
            statement, self.statement = self.statement, None
            self._end(statement)
            return
        row = self.advance()
        self.ready = False      # still in `execute`
        self.advance()
        self.ready = False
        self.row = row

    def _read_at_once(self, statement):
        """Have a statement that writes run to its end, and its rows handed out afterwards."""
        self.columns = statement.description
        self.lastrowid = statement.cells[ROWID]
        self.runner = rows = Returned(self, self.session, statement)
        if not versions.FIRST_ROW_LATER:
            self.row = rows.first()

    def _make_first_row(self):
        """Make the first row that a runner leaves, as a text factory makes it, or it can't be made."""
        runner = self.runner
        if runner is not None:      # else a signal's handler has come
            runner.leave_first_row(self)
        statement = self.statement
        row = self.row      # behind that: a handler that comes between leaves both
        if row is None and statement is not None:
            self.row = self._first_row(statement)
        elif type(row) is Undecodable and self.session.plain:
            raise errors.OperationalError(row.message)
        elif row is not None and not self.session.plain:
            self.row = self.decoded_early(row)

    def _first_row(self, statement):
        """Return the row that a statement is at as text factory and converters make it now."""
        if statement.converters is not None or not self.session.plain:
            return self._convert(statement)
        row = decoded(statement)
        if row is None:
            raise errors.OperationalError(decoding.undecodable(statement))
        return row

    def make_next_row(self, statement):
        """Make the next row as text factory and converters make it now, if it is a row of `statement`, and the cursor
        isn't in the middle of making it. If that fails, the row is made when it is fetched."""
        if not self.ready:
            return
        try:
            if self.runner is not None and self.row is None:
                self.runner.leave_row(self)
            if self.row is None and self.statement is statement:
                self.row = self._first_row(statement)
            elif type(self.row) is Ahead:
                self.row = self.decoded_early(self.row)
        except Exception:
            pass        # a converter's, or a text isn't UTF-8

    def advance(self):
        """Return the next row as a tuple, before the row factory, or None after the last one."""
        try:
            self.ready = False      # from now on nothing closes the database, not even a signal's handler
            if self.session.user == 0:
                self.session.check_not_closed()
            statement = self.statement
            row = self.row
            if statement is None and not versions.FETCH_AFTER_ROLLBACK:
                self._check_no_rollback()
            if row is not None:
                self.row = None
                if type(row) is not tuple or not self.session.plain and versions.FIRST_ROW_LATER:
                    row = self.decoded_early(row)
                if statement is None:
                    if self.runner is not None:
                        self._pass_row()
                        return row
                    statement = self.statement
                    if statement is None:       # else a signal's handler has come just now
                        return row
            elif statement is None:
                if self.runner is not None:
                    return self._advance_inlined()
                if self.statement is not None:      # a signal's handler has come: the statement goes on in C
                    return self.advance()
                return None
            elif statement.owner is not self.claim:
                self.statement = None
                self.session.check_not_closed()
                self.runner = GivenUp('the cursor was garbage')
                return self._advance_inlined()
            elif statement.converters is None and self.session.plain:
                row = decoded(statement)
                if row is None:
                    raise errors.OperationalError(decoding.undecodable(statement))
            else:
                row = self._convert(statement)
                self.session.check_not_closed()
            tier_up = statement.tier_up - 1
            statement.tier_up = tier_up
            try:
                if tier_up == 0:
                    rc = self._taken_over(statement)
                else:
                    rc = step(statement.pointer, statement.cells)
                if rc != ROW or self.session.raised is not None or self.rollbacks != self.session.rollbacks:
                    self.stepped(statement, rc)
            except BaseException as error:
                if self.statement is statement:     # a signal's: nobody knows what its buffer has
                    self._give_up(error)
                raise
            return row
        finally:
            self.ready = True

    def _taken_over(self, statement):
        """Step, or have the inliner take the statement over."""
        try:
            return tiers.planner.take_over(self.session, self, statement)
        except BaseException:
            self.drop()
            raise

    def _advance_inlined(self):
        """Return the inliner's next row, or None after the last one."""
        runner = self.runner
        if runner is None:      # a signal's handler has come
            return self.advance()
        try:
            return next(runner)
        except BaseException as error:
            if type(error) is tiers.Claim:
                runner.claimed(self)
                return self.advance()
            if self.runner is not None and self.row is None and not isinstance(self.runner, (GivenUp, Returned)):
                self._give_up(error)
            raise

    def _give_up(self, error):
        """Drop the rows that are left, in the middle of which an exception came. If it is neither SQLite's nor a
        function's, a signal's perhaps, whoever asks for one of them is told that they are gone."""
        try:
            self.drop()
        finally:    # the stack may end in it
            if type(error) is RecursionError:
                self.runner = STACK_ENDED
            elif not isinstance(error, errors.Error):
                self.runner = GivenUp('%s interrupted one' % type(error).__name__)

    def _pass_row(self):
        """Have the inliner go past a row that was kept."""
        runner = self.runner
        if runner is None:      # a signal's handler has come
            return
        try:
            runner.pass_row(self)
        except BaseException as error:
            if type(error) is tiers.Claim:
                runner.claimed(self)
                return
            if self.runner is not None:
                self._give_up(error)
            raise

    def _convert(self, statement):
        """Return the present row as text factory and converters make it."""
        session, ready = self.session, self.ready
        try:
            self.ready = False
            make, raw = decoding.taken(statement, session.text_factory, statement.converters)
            return decoding.converted(session, statement, make, raw, statement.description)
        finally:
            self.ready = ready

    def decoded_early(self, row):
        """Return a row that was computed ahead (tuple, or Undecodable), as the text factory makes it; if that fails, it
        is kept."""
        values = row
        factory = self.session.text_factory
        if type(row) is Undecodable:
            if factory is str:
                self.row = row
                raise errors.OperationalError(row.message)
            values = row.values
        if factory is str:
            return tuple(values)
        ready = self.ready
        try:
            self.ready = False
            made = self.session.outside_lock(decoding.made, [
                (decoding.text_maker(factory), value.encode('utf-8', 'surrogateescape'))
                if isinstance(value, str) else (None, value)
                for value in values])
            self.session.check_not_closed()
            return made
        except BaseException:
            self.row = ahead(row)
            raise
        finally:
            self.ready = ready
