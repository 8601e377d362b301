"""Runners whose rows C returns: a row is left in the statement's buffer, and handed out from there."""

from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements.decoding import decoded
from pypy_module.ffi.memory import BYTES


class RowsOfC:
    """What such a Runner has in common; `advance` is each one's own.

    Attributes:
        made: the next row is the first one, which `execute` has made, whatever text factory is set now (bool).
    """

    statement: Any
    session: Any
    asker: Any
    bail_out: Any
    advance: Any
    inside: Any
    left: Any
    mid_step: int
    made = False

    def readable(self):
        """See Runner."""
        return decoded(self.statement) is not None

    def leave_first_row(self, result):
        """See tiers.py."""
        super().leave_first_row(result)         # type: ignore[misc]
        self.made = not self.left

    def __next__(self):
        """Return the row that C has computed, and run to the next one."""
        statement, result = self.statement, self.asker()
        self.inside = True
        if self.left:       # a signal's handler has come just before
            self.inside = False
            return result.advance()
        row = None
        if self.session.plain or self.made:     # else a step has set another text factory
            row = decoded(statement)
        if row is None:
            self.bail_out(result)
            return result.advance()
        self.made = False
        BYTES[self.mid_step] = 0
        self.advance()
        return row

    def deoptimize_row(self, result):
        """See `deoptimize`."""
        row = decoded(self.statement) if self.made else None
        self.bail_out(result)
        if row is not None:
            result.row = row
