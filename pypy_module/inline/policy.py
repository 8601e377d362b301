"""The inliner's front: decides when a statement's loop is taken over into Python, and explains.

A loop is worth it only if it runs long: analysing a program and generating its class takes
milliseconds, and PyPy's JIT has to see a thousand rows.  So statements start in C.  One that
returns rows is looked at after so many of them (its `tier_up`), and again after as many as it has
returned; one that calls functions written in Python for rows that it doesn't return is stopped at
the head of its loop.  The engine does the stopping: `sqpyteStopPc` in c_engine/patches/tiers.py.

Whether inlining pays depends on how much of a loop is left.  In C a row costs 0.1 to 0.2 us.  Inlined it costs a
quarter of that, but the first loop of a process loads the inliner and is traced, for 70 to 100 ms of CPU time; a later
one costs 25.  So C goes on until it has done, or is about to do, as many rows as that is worth: then a program is at
no time much slower than with C alone, nor than with inlining alone.  Rows whose columns have several types have a path
through the loop for each combination, which costs 40 ms and gains less: each kind of rows beyond the first is worth
ANOTHER_KIND (variety.py).  In a slice that no row leaves only the calls are Python's, most often beside a sorter: a row
gains 0.03 to 0.06 us.

What is left is read from the B-tree's cursor: an estimate by the pages on its way down (c_engine/core/cardinality.c).
That tells nothing of a range, and little of a join: such statements have as much left as their last runs have done on
average, which SQLite counts.  Where those did less than was estimated, as the program fetched the first rows alone,
the estimate is divided by as much.

The way into a class and back is some hundreds of lines of Python, for each run.  PyPy compiles it after two thousand
runs and half a second to a second; until then it costs what thousands of rows save, afterwards what a hundred do.  So
a loop has to be LONG. A shorter one is inlined only if it calls user code, which gains the most, and once its
statement has done millions of rows.

All that is in this module because it is needed at once for a statement that calls user code: to load one more would
take as long as ten small joins.

Classes are kept by the bytecode's content, the calls of user code and what is switched off, not by statement.
"""

import os
import sys

from pypy_module.dbapi.statements import tiers
from pypy_module.dbapi.statements.statement import explains
from pypy_module.ffi.library import NUMBERS, address_of, lib
from pypy_module.inline.residual import residual_call
from pypy_module.inline.state import session_obstacle, state_of
from sqpyte.vm.base import mem

ROW = NUMBERS['SQLITE_ROW']
COLUMNS, COUNT = NUMBERS['SQPYTE_ROW_COLUMNS'], NUMBERS['SQPYTE_ROW_COUNT']
LOOP_PYTHON, LOOP_MORE, LOOP_SORTS = (NUMBERS['SQPYTE_LOOP_' + name] for name in ('PYTHON', 'MORE', 'SORTS'))
# SQLite's counters, in which a Next counts each row that it steps to: of a range or a sorter, and of a full scan.
STEPS, FULLSCAN_STEPS, RUN = 0, NUMBERS['SQLITE_STMTSTATUS_FULLSCAN_STEP'], NUMBERS['SQLITE_STMTSTATUS_RUN']
COUNTER = 0xffffffff    # the most that one holds

MOST_ROWS = 1 << 62     # that C is asked for
TIER_UP = 400          # rows from C before a statement's loop is looked at
MOST_TIER_UP = 10000   # rows from one look to the next, at most
TIER_UP_AGAIN = 16     # and, once it has a class, before it is taken over
FIRST_LOOP = 600000     # rows that are worth the first loop of a process
LATER_LOOP = 200000     # and each later one
RUN_SLICE = 1000000     # and a slice that no row leaves, beyond that
LONG = 2000             # rows that are worth the way into a class and back
SHORT_LOOPS = 8000000   # and rows after which compiling that way is worth it, where user code is called:
SHORTEST = 100          # ... then these are enough
SPAN = 8                # runs, the last ones, that tell how many rows a run has
UNKNOWN = 0             # rows left where it can't be told: what has been done decides

MOSTLY_IN_C = 'C would do opcodes of it one at a time, each for less than two calls of user code'

RUN_SLICE_SO_FAR = 'too few rows so far for calls in a loop that stays in C (%d must be done or left); with more, %s'

_taken_over: list = []      # not empty once a loop of this process was worth it. (A global that changes ends traces.)


def wanted(statement, least=None):
    """How many rows a loop of a statement must still have to be taken over (int); none above 0 if
    what has been done, in this run and earlier ones, is enough.

    Args:
        statement: a Statement.
        least: how many rows a loop has to have (int), or None: as many as it takes at present.
    """
    state = state_of(statement)
    if least is None:
        least = LATER_LOOP if _taken_over else FIRST_LOOP
    return least + state.extra - state.rows


def rows_left(statement):
    """About how many rows the outermost loop still has that a statement, at a row or stopped at
    the head of a loop, is in (int); UNKNOWN if that loop isn't a scan."""
    return lib.sqpyte_rows_left(address_of(statement.pointer))


def steps_of(statement):
    """How many rows C has stepped a statement's loops to (int, which begins anew after COUNTER)."""
    pointer = statement.pointer
    return lib.sqlite3_stmt_status(pointer, STEPS, 0) + lib.sqlite3_stmt_status(pointer, FULLSCAN_STEPS, 0)


def count_rows(statement):
    """Note the rows that C has stepped a statement's loops to since this was called last, beside those that were noted
    as they were returned; return `steps_of` it."""
    state, steps = state_of(statement), steps_of(statement)
    state.rows += max(((steps - state.steps) & COUNTER) - state.returned, 0)
    state.steps, state.returned = steps, 0
    return steps


def usual(statement, steps):
    """How many rows a run of a statement, whose `steps_of` are `steps`, has had on average since at most SPAN runs
    ended (int): the rows that have been returned to it and those of page batches, or those that C has stepped to,
    whichever are more."""
    state = state_of(statement)
    runs = lib.sqlite3_stmt_status(statement.pointer, RUN, 0)
    rows_before, steps_before, runs_before = state.span
    ended = max((runs - runs_before) & COUNTER, 1)
    if ended >= SPAN:
        state.span = state.rows, steps, runs
    return max(state.rows - rows_before, (steps - steps_before) & COUNTER) // ended


class Planner:
    """What tiers.py describes.

    Attributes:
        tier_up: of new statements (int).
        tier_up_again: of statements whose loop has a class (int).
        worth: rows that make a loop worth a class (int); None for what `wanted` says.
    """

    def __init__(self, tier_up=TIER_UP, worth=None):
        """Take what the attributes say."""
        self.tier_up = tier_up
        self.tier_up_again = min(tier_up, TIER_UP_AGAIN)
        self.worth = worth

    def considers(self, statement):
        """See tiers.py."""
        if not statement.queries:
            return tiers.NOT
        loops = lib.sqpyte_loops(address_of(statement.pointer))
        if loops & LOOP_PYTHON:
            if loops & LOOP_SORTS and self.worth is None:
                state_of(statement).affords(RUN_SLICE, RUN_SLICE_SO_FAR)    # as the inliner will find, once loaded
            return tiers.AT_ONCE
        return tiers.LATER if loops & LOOP_MORE else tiers.NOT

    def begin(self, session, result, statement):
        """See tiers.py."""
        if session_obstacle(session, statement):
            return statement.step()
        rc = self._begun(statement)
        if rc != tiers.INLINED:
            statement.tier_up = self.tier_up
            return rc
        # A trace that begins at the row at which a loop is taken over would follow the analysis, be too long, and have
        # PyPy never inline `__next__` any more.
        return residual_call(self._begin_inlined, session, result, statement)

    def _begin_inlined(self, session, result, statement):
        """`begin`, for a statement at the head of its first loop, which is worth it."""
        machine = _machine_for_loop(session)
        if machine is None:
            return statement.step()
        if machine.too_large(statement):
            statement.inlinable = False
            statement.tier_up = -1
            return statement.step()
        known = machine.known(statement)
        if self.worth is None and known.shapes.mostly_in_c:
            statement.inlinable = False
            statement.tier_up = -1
            return statement.step()
        loop = known.loop_with_user_code()
        window_log = None if loop is not None else known.shapes.window_log
        sliced = None if loop is not None or window_log is not None else known.slice_at(None)
        if loop is None and sliced is None and window_log is None:
            statement.inlinable = False
            statement.tier_up = self.tier_up
            return statement.step()
        if machine.obstacle(statement) or not self._slice_pays(statement, sliced):
            return statement.step()
        if window_log is not None:
            statement.tier_up = self.tier_up_again
            return machine.enter_window_log(session, result, statement, known, window_log)
        if loop is None:
            statement.tier_up = self.tier_up_again
            return machine.enter_slice(session, result, statement, known, sliced)
        if machine.counter(statement) != loop.head:
            rc = step_to(statement, loop.head)
            if rc != tiers.INLINED:
                return rc
        return machine.enter(session, result, statement, known, loop)

    def take_over(self, session, result, statement):
        """See tiers.py."""
        state = state_of(statement)
        if state.leftover is not None:
            rc = state.leftover.step_leftover(result)
            return statement.step() if rc is None else rc
        statement.tier_up = self.tier_up
        if session_obstacle(session, statement) or not self._pays(statement):
            return statement.step()
        return residual_call(self._take_over_inlined, session, result, statement)

    def _take_over_inlined(self, session, result, statement):
        """`take_over`, for a statement whose loop is worth it."""
        machine = _machine_for_loop(session)
        if machine is None:
            return statement.step()
        if machine.too_large(statement):
            statement.tier_up = -1
            return statement.step()
        known = machine.known(statement)
        if self.worth is None and known.shapes.mostly_in_c:
            statement.tier_up = -1
            return statement.step()
        place = machine.counter(statement)
        loop = known.loop_at(place)
        window_log = known.window_log_at(place)
        if window_log is not None and not machine.obstacle(statement):
            statement.tier_up = self.tier_up_again
            return machine.enter_window_log(session, result, statement, known, window_log)
        ahead = None if loop is not None else known.ahead_at(place)
        sliced = None if loop is not None or ahead is not None else known.slice_at(place)
        if loop is None and ahead is None and sliced is None:
            if not known.has_loops():
                statement.tier_up = -1
            return statement.step()
        if machine.obstacle(statement) or not self._slice_pays(statement, sliced):
            return statement.step()
        statement.tier_up = self.tier_up_again
        if sliced is not None:
            return machine.enter_slice(session, result, statement, known, sliced)
        if loop is None:
            return machine.run_ahead(session, result, statement, known, ahead, self.tier_up_again)
        rc = step_to(statement, loop.head)
        if rc != tiers.INLINED:
            return rc
        return machine.enter(session, result, statement, known, loop)

    def _begun(self, statement):
        """Step a statement to the head of its first loop, and on in C if the loop doesn't pay.

        Returns:
            INLINED, or what stepping the statement in C returned.
        """
        if self.worth == 0:
            return tiers.INLINED
        cells = statement.cells
        steps = count_rows(statement)
        least, missing = self._least(statement), wanted(statement, self.worth)
        rows, state = usual(statement, steps), state_of(statement)
        if state.estimate > 0:
            state.learned.too_many = max(state.estimate // max(rows, 1), 1)
        too_many = state.learned.too_many
        needed = max(least, missing)
        if rows >= needed:
            needed = 0              # whatever C finds
        rc = lib.sqpyte_begin(statement.pointer, cells, min(needed * too_many, MOST_ROWS))
        state.estimate = cells[COUNT]
        state.spare = max(rows, state.estimate // too_many) - missing + state.extra
        if cells[COUNT] < 0:
            statement.inlinable = False
            statement.tier_up = self.tier_up
        if rc == ROW and cells[COLUMNS] == 0:
            return tiers.INLINED
        return statement.grown(rc)

    def _least(self, statement):
        """How many rows a loop of a statement must have to be taken over (int)."""
        if self.worth is not None or statement.inlinable and state_of(statement).rows >= SHORT_LOOPS:
            return SHORTEST
        return LONG

    def _pays(self, statement):
        """Whether a statement that C has come to the end of its tier_up with is to be taken over;
        if not, until when it is to have tier_up."""
        if self.worth == 0:
            return True
        left, least = rows_left(statement), self._least(statement)
        if left == UNKNOWN:
            long = self.worth is not None or usual(statement, steps_of(statement)) >= least
        else:
            long = left >= least
        state, missing = state_of(statement), wanted(statement, self.worth)
        if long and left >= missing:
            state.spare = left - missing + state.extra
            return True
        statement.tier_up = max(self.tier_up, min(state.rows, MOST_TIER_UP))
        state.rows += statement.tier_up
        state.returned += statement.tier_up
        return False

    def _slice_pays(self, statement, sliced):
        """Whether a Slice (or None) pays, of a statement of which a loop would."""
        extra = RUN_SLICE if self.worth is None and sliced is not None and sliced.row is None else 0
        return state_of(statement).affords(extra, RUN_SLICE_SO_FAR)

    def explain(self, session, statement, ran):
        """See tiers.py."""
        if not statement.queries or explains(statement.sql):
            return False, 'it is not a query', '', {}
        machine = _machine(session)
        if machine is None:
            return False, self._too_few(), '', {}
        why = (session_obstacle(session, statement) or machine.obstacle(statement)
               or machine.too_large(statement))
        if why:
            return False, why, '', {}
        known = machine.known(statement)
        inlined, why, details, places = known.explained()
        if inlined and self.worth is None and known.shapes.mostly_in_c:
            return False, MOSTLY_IN_C, details, {}
        state = state_of(statement)
        if inlined and ran and state.waits_for:
            return False, state.waits_for % (wanted(statement, self.worth) + state.rows, why), details, {}
        if inlined and ran and not state.taken:
            return False, '%s; with more, %s' % (self._too_few(), why), details, {}
        return inlined, why, details, places

    def _too_few(self):
        """Why a statement that has run hasn't been taken over, though it can be (str)."""
        if self.worth is not None:
            return 'too few rows so far (more than %d must be done or left)' % max(self.tier_up, self.worth)
        return ('too few rows so far: %d must be done or left for the first loop of a process, %d for each later one, '
                'and %d in each run (or %d, if the rows call user code, once %d have been done)' % (
                    FIRST_LOOP, LATER_LOOP, LONG, SHORTEST, SHORT_LOOPS))


def step_to(statement, head):
    """Step the statement in C up to the opcode at the pc `head` (int).

    Returns:
        INLINED if it is there, else the code of a step that has ended elsewhere.
    """
    from c_engine.generated import layout
    mem.set_i32(address_of(statement.pointer), layout.Vdbe_sqpyteStopPc, head)
    rc = lib.sqpyte_step(statement.pointer, statement.cells)
    if rc == ROW and statement.cells[COLUMNS] == 0:
        return tiers.INLINED
    return statement.grown(rc)


def _machine_for_loop(session):
    """The module that does the work, for a Session of which a loop is worth it; None while it is being loaded, for a
    signal's handler amid that."""
    if not _taken_over:
        _taken_over.append(True)
    return _machine(session)


def _machine(session):
    """The same, to be asked only; loaded when it is needed first."""
    first = 'pypy_module.inline.manager' not in sys.modules
    from pypy_module.inline import manager
    if not hasattr(manager, 'LOADED'):
        return None
    if first:
        from pypy_module.inline.runtime import trace
        trace.finalize_what_imports_left()
    manager.watch(session)
    return manager


class Idle:
    """In place of a Planner once inlining is switched off: statements that were prepared before still ask."""

    tier_up = -1

    def considers(self, statement):
        """See tiers.py."""
        return tiers.NOT

    def begin(self, session, result, statement):
        """See tiers.py."""
        return statement.step()

    def take_over(self, session, result, statement):
        """See tiers.py."""
        leftover = state_of(statement).leftover
        rc = None if leftover is None else leftover.step_leftover(result)
        return statement.step() if rc is None else rc

    def explain(self, session, statement, ran):
        """See tiers.py."""
        return False, 'inlining switched off', '', {}


def setting():
    """What configure() has for `inline`: True, False or 'always'."""
    planner = tiers.planner
    if planner is None or type(planner) is Idle:
        return False
    return 'always' if planner.worth == 0 else True


def planner_for(wanted):
    """The planner for a setting: True, False, or 'always', which takes over every loop as soon as possible."""
    if not wanted:
        return Idle()
    return Planner(1, 0) if wanted == 'always' else Planner()


def planner_wanted():
    """The Planner that the environment and the interpreter ask for, or None.

    SQPYTE_INLINE=0 turns inlining off, 1 on; without it it is on where there is a JIT.
    """
    wanted = os.environ.get('SQPYTE_INLINE', '')
    if wanted not in ('', '0', '1', 'always'):
        sys.stderr.write('sqpyte: SQPYTE_INLINE=%s ignored; it takes 0, 1 or always\n' % wanted)
    if wanted == 'always' or wanted == '1' or (wanted != '0' and sys.implementation.name == 'pypy'):
        return planner_for(wanted or True)
    return None


def install():
    """Have connections ask the inliner, if it is wanted."""
    tiers.planner = planner_wanted()
