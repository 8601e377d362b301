"""What the inliner keeps with a statement, in the one place that a Statement has for it: see tiers.py."""

from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import tiers, variety


CONVERTED = 'texts or columns are converted by the program'
VARIED = 'the types of its columns vary from row to row'
VARIED_SO_FAR = ('the types of its columns vary from row to row: %d must be done or left for a path for each; '
                 'with more, %s')


class Learned:
    """What the runs of a SQL text, by any statement, have shown.

    Attributes:
        too_many: how many times the rows that its first loop has had was estimated, in the run that is known of last
            (int): its program may fetch the first rows alone.
    """

    too_many = 1


class State:
    """The inliner's state of one Statement.

    Attributes:
        taken: whether a loop of it has been taken over, in this run or an earlier one (bool).
        rows: how many rows of loops that may be inlined have been done (int): those that C has returned; if the
            statement calls user code, those that C has stepped to, too; and those of page batches.
        steps: what SQLite's counters were when it was begun last, if it calls user code (int); returned: how many of
            `rows` have been returned since (int).
        span: rows and SQLite's counters, of rows and of runs, when the span of policy.usual() began (tuple of int).
        estimate: how many rows its first loop was thought to have when it was begun last (int).
        learned: what the runs of all statements of its SQL have shown (Learned).
        extra: how many rows its loop is worth beyond those that any is (int).
        spare: how many it had done and left beyond those that any is worth, when it was taken over (int).
        waits_for: while it has too few for `extra`, what `explain` says, with places for a number of rows and for why
            it could be inlined (str); else ''.
        known: the Known of the statement (manager.py), or None.
        runner: which runs it at present, or None.
        leftover: the runner that has rows which C has computed ahead, in place of the next steps, or None.
        kept: what the texts of the row in the statement's buffer are in, if not in SQLite's memory.
        noted: whether an inlined loop notes the types of its values (bool): see variety.py.
        measured: whether it is given up if it turns out to be slower than C (bool): not if every loop is inlined.
        passes: how many rows have passed its filters (int), and tried: of how many, as was counted last (int).
        slower: why a loop of it is, so that C does it from now on (str), or ''.
    """

    taken = False
    slower = waits_for = ''
    rows = steps = returned = estimate = extra = spare = passes = tried = 0
    span = 0, 0, 0
    known: Any = None
    runner: Any = None
    leftover: Any = None
    kept: Any = None

    def __init__(self, learned=None):
        """Take what is switched off, and whether every loop is taken over as soon as possible; `learned`: a Learned, or
        None."""
        self.learned = learned or Learned()
        self.measured = getattr(tiers.planner, 'worth', None) != 0
        self.noted = self.measured and variety.noted()

    def detach(self):
        """The statement is reset or finalised: nothing runs it any more."""
        if self.runner is not None:
            self.runner.detach()

    def heir(self):
        """Return the State of a further statement of the same SQL."""
        state = State(self.learned)
        state.slower, state.extra, state.waits_for = self.slower, self.extra, self.waits_for
        return state

    def affords(self, extra, why):
        """Note that the loop which is being taken over is worth so many rows beyond those that any is (int); return
        whether it has them. If not, C goes on until they are done, which `why` says (see `waits_for`)."""
        self.extra = extra
        self.waits_for = why if self.spare < extra else ''
        return not self.waits_for

    def forget(self):
        """Functions or hooks are others: what is known holds no more. Rows that C has computed ahead still come first,
        whatever tier_up their statement has got now."""
        self.known = None
        if self.leftover is not None:
            self.leftover.statement.tier_up = 1


def session_obstacle(session, statement):
    """Why a statement of a Session can't be inlined, by what the program has set (str), or ''."""
    if not session.plain or statement.converters is not None:
        return CONVERTED
    if session.hooks.get('progress'):
        return 'a progress handler counts instructions'
    if session.hooks.get('trace'):
        return 'a trace callback is told what functions execute'
    return ''


def state_of(statement):
    """Return the State of a Statement."""
    state = statement.inlined
    if state is None:
        state = statement.inlined = State()
    return state
