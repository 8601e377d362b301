"""What the inliner keeps with a statement, in the one place that a Statement has for it: see tiers.py."""

from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import tiers, variety


CONVERTED = 'texts or columns are converted by the program'
VARIED = 'the types of its columns vary from row to row'


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
        spare: how many rows its loop had done and left, when it was taken over, beyond those that were wanted (int).
        more_kinds: for how many kinds of rows, beyond those that the loop's class had paid, C goes on with it (int).
        run_slice: what pays is a slice that no row leaves (bool).
        known: the Known of the statement (manager.py), or None.
        runner: which runs it at present, or None.
        leftover: the runner that has rows which C has computed ahead, in place of the next steps, or None.
        kept: what the texts of the row in the statement's buffer are in, if not in SQLite's memory.
        noted: whether an inlined loop notes the types of its values (bool): see variety.py.
        measured: whether it is given up if it turns out to be slower than C (bool): not if every loop is inlined.
        slower: why a loop of it is, so that C does it from now on (str), or ''.
    """

    taken = run_slice = False
    slower = ''
    rows = steps = returned = estimate = spare = more_kinds = 0
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
        state.slower, state.more_kinds = self.slower, self.more_kinds
        return state

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
