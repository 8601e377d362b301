"""What may stand in a ResultSet for its statement, whatever it computes: see tiers.py.

A stand-in knows its ResultSet by a weak reference, so that a cursor that is dropped goes. Garbage is used once more
where a finalizer has to do with it, and weak references to it are dead then: what is done to such a ResultSet meanwhile
is kept (`Unclaimed`) until it asks for its next row.
"""

import weakref

from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements.dropped import AliveAgain
from pypy_module.dbapi.statements.tiers import Claim
from pypy_module.ffi.library import NUMBERS

ROW, DONE = NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']


class Unclaimed:
    """In place of a ResultSet to which weak references are dead: keeps what is done to it.

    Attributes:
        done: names of its methods, with the arguments (list).
        row: what is set as the row that `execute` has made, or None.
    """

    row = None

    def __init__(self):
        self.done = []

    def __call__(self):
        """Return itself: it stands in place of a weak reference, too."""
        return self

    def resume(self, *arguments):
        """See ResultSet."""
        self.done.append(('resume', arguments))

    def go_on(self, statement, rc):
        """See ResultSet. An error comes at once."""
        self.done.append(('go_on', (statement, rc)))
        if rc != ROW and rc != DONE:
            raise Claim

    def advance(self):
        """See ResultSet: it is that which asks."""
        raise Claim

    def stand_in(self, *arguments):
        """See ResultSet."""
        self.done.append(('stand_in', arguments))

    def drop(self):
        """See ResultSet."""
        self.done.append(('drop', ()))

    def hand_over(self, result):
        """Do all of it to the ResultSet, which is there after all; raises what that raises."""
        for name, arguments in self.done:
            getattr(result, name)(*arguments)
        if self.row is not None:
            result.row = self.row


GONE = -1       # no stamp: `__next__` takes the way of a runner that is stale, or has left


class StandIn:
    """What stands in a ResultSet for its statement: see tiers.py.

    Attributes:
        session, statement: the Session and its Statement.
        owner: weak reference to the result set, once it stands there, before None.
        listed: it is among the connection's runners (bool).
        stamp: the connection's, under which the next row is handed out (int).
    """

    session: Any
    statement: Any
    owner: Any
    listed = False
    stamp: Any
    take_leave: Any

    def __iter__(self):
        """Return itself, whose `next` is the next row."""
        return self

    def attach(self, result):
        """Stand in the result set for the statement."""
        result.stand_in(self)
        self.owner = weakref.ref(result)    # last: from now on it can be asked to deoptimize

    def asker(self):
        """The result set, which asks for a row."""
        result = self.owner()
        if result is None:
            raise Claim
        return result

    def result_set(self):
        """The result set, or an Unclaimed in its place, for what somebody else asks for."""
        result = self.owner()
        if result is None:
            result = self.owner = Unclaimed()
        return result

    def claimed(self, result):
        """See tiers.py."""
        kept, self.owner = self.owner(), AliveAgain(result)
        if kept is not None:
            kept.hand_over(result)

    def enlist(self):
        """Be one of the connection's runners, which are told of changes."""
        if not self.listed:
            self.listed = True
            self.session.runners.append(self)

    def delist(self):
        """Be none of them any more; a signal's handler may have taken it off."""
        self.listed = False
        try:
            self.session.runners.remove(self)
        except ValueError:
            pass

    def be_wary(self):
        """See tiers.py."""
        self.stamp = GONE

    def leave_row(self, result):
        """See tiers.py; what has an effect on rows is why a runner leaves."""

    def give_up(self):
        """See tiers.py."""
        if self.statement.inlined.runner is self:
            self.session.give_up(self.statement)
        else:
            self.take_leave()

    def abandon(self, claim):
        """See tiers.py."""
        if self.statement.owner is claim:
            self.session.give_up(self.statement)


class Raising:
    """Stands in a result set whose next row has failed already."""

    def __init__(self, error):
        """Take the exception."""
        self.error = error

    def __next__(self):
        """Raise it."""
        raise self.error

    def leave_row(self, result):
        """Do nothing."""

    def pass_row(self, result):
        """Do nothing; see WindowRunner."""

    def abandon(self, claim):
        """Do nothing."""
