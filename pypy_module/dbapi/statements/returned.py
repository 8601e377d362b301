"""The rows of a statement that writes, as of RETURNING, read at once where dropped cursors aren't freed at once.

Such a statement has made all of its changes when it returns its first row. When it ends they are counted, and outside
of a transaction committed. If its cursor were dropped in the middle of the rows, that would wait for a garbage
collection, and with it all that is written meanwhile; a transaction couldn't end. So the statement is run to its end,
and a `Returned` stands in for it.
"""

from pypy_module.dbapi import versions
from pypy_module.dbapi.statements import decoding
from pypy_module.dbapi.statements.decoding import Undecodable
from pypy_module.dbapi.statements.dropped import REFERENCE_COUNTS
from pypy_module.dbapi.statements.locks import Asking
from pypy_module.ffi.library import NUMBERS

ROW, DONE = NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
CHANGES = NUMBERS['SQPYTE_ROW_CHANGES']


def reads_at_once(session, statement):
    """Whether a Statement of a Session, at its first row, is to be run to its end (bool); not if a function that it has
    called has closed the connection."""
    return not (REFERENCE_COUNTS or statement.readonly or session.closed)


TEXTS = object()        # stands for the text factory in what has been taken of a row


class Converted:
    """A row whose columns are converted when it is fetched; for the attributes see decoding.taken."""

    def __init__(self, statement):
        self.make, self.raw = decoding.taken(statement, TEXTS, statement.converters)
        self.columns = statement.description

    def row(self, session, statement):
        """Return the row (tuple); raises what converters raise, or OperationalError."""
        factory, raw = decoding.text_maker(session.text_factory), self.raw
        if type(raw) is list:
            raw = [(factory if made_by is TEXTS else made_by, value) for made_by, value in raw]
        else:
            raw = tuple([factory if item is TEXTS else item for item in raw])
        return decoding.converted(session, statement, self.make, raw, self.columns)


class Returned:
    """Stands in a ResultSet for a Statement that has ended.

    Attributes:
        rows: what is left, the last one first: of each a tuple, an Undecodable or a Converted (list).
        error: what ending the statement has raised, or None; changes: how many rows it has changed (int).
    """

    def __init__(self, result, session, statement):
        """Take the rows of a Statement at its first one, and give it back."""
        self.result, self.session, self.statement = result, session, statement
        self.error, self.changes, rows = None, 0, []
        rc = ROW
        with Asking(session):
            while rc == ROW:
                rows.append(self._taken())
                rc = statement.step()
        rows.reverse()
        self.rows = rows
        if rc == DONE and session.raised is None:
            self.changes = statement.cells[CHANGES]
            session.release(statement)
        else:
            self.error = session.error(rc)
            session.give_up(statement)

    def _taken(self):
        """The row that the statement is at."""
        statement = self.statement
        if statement.converters is not None:
            return Converted(statement)
        row = decoding.decoded(statement)
        return Undecodable.of(statement) if row is None else row

    def first(self):
        """Return the first row as text factory and converters make it now; it stays the next one."""
        return self._made(self.rows[-1])

    def _made(self, row):
        """Return a row as text factory and converters make it now."""
        if type(row) is Converted:
            return row.row(self.session, self.statement)
        if type(row) is tuple and self.session.plain:
            return row
        return self.result.decoded_early(row)

    def __next__(self):
        """Return the next row, or None after the last one."""
        if not self.rows:
            return None
        row = self._made(self.rows[-1])
        self.pass_row(self.result)
        return row

    def pass_row(self, result):
        """The next row is handed out, perhaps the last one of a statement that has ended with an error. Before Python
        3.11 the one behind it is made now, if it can be."""
        self.rows.pop()
        if not self.rows:
            if self.error is not None:
                raise self.error
            if self.statement.is_dml:
                result.rowcount = self.changes
        elif not versions.FIRST_ROW_LATER:
            try:
                result.row = self.first()
            except Exception:
                pass        # it is made when it is fetched

    def abandon(self, claim):
        """Nobody wants the rows any more."""
        self.rows = []
