"""The inliner's front: decides when a statement's loop is taken over into Python, and explains.

A loop is worth it only if it runs long: analysing a program and generating its class takes
milliseconds, and PyPy's JIT has to see a thousand rows.  So statements start in C.  One that
returns rows is looked at after so many of them (its `patience`); one that calls functions written
in Python for rows that it doesn't return is stopped at the head of its loop, where the size of its
table tells.  The engine does the stopping: `sqpyteStopPc` in c_engine/edits.py.

Classes are kept by the program's content and the types of the first row, not by statement.
"""

import os
import sys

from pypy_module import tiers
from pypy_module.library import NUMBERS, address_of, lib

GROW = NUMBERS['SQPYTE_GROW']
LOOP_ROWS, LOOP_PYTHON = NUMBERS['SQPYTE_LOOP_ROWS'], NUMBERS['SQPYTE_LOOP_PYTHON']

PATIENCE = 400          # rows from C before a statement's loop is analysed
PATIENCE_AGAIN = 16     # and, in later runs, before it is taken over
WORTH_ROWS = 1000       # rows that make a loop with user code worth a class


class Planner:
    """What tiers.py describes.

    Attributes:
        patience: of new statements (int).
        patience_again: of statements whose loop has a class (int).
        worth: rows that make a loop with user code worth a class (int).
        specialise: whether classes are made for the types of the first row (bool).
    """

    def __init__(self, patience=PATIENCE, worth=WORTH_ROWS, specialise=True):
        """Take what the attributes say."""
        self.patience = patience
        self.patience_again = min(patience, PATIENCE_AGAIN)
        self.worth = worth
        self.specialise = specialise

    def considers(self, statement):
        """See tiers.py."""
        if not statement.queries:
            return tiers.NOT
        loops = lib.sqpyte_loops(address_of(statement.pointer))
        if loops & LOOP_PYTHON:
            return tiers.AT_ONCE
        return tiers.LATER if loops & LOOP_ROWS else tiers.NOT

    def begin(self, connection, cursor, statement):
        """See tiers.py."""
        if obstacle(connection):
            return stepped(statement)
        machine = _machine()
        loop = machine.known(statement).loop_with_user_code()
        if loop is None:
            statement.inlinable = False
            return stepped(statement)
        if machine.obstacle(statement):
            return stepped(statement)
        rc = machine.step_to(statement, loop)
        if rc != tiers.INLINED:
            return rc
        if not machine.known(statement).classes_of(loop) \
                and machine.rows_estimated(statement, loop) < self.worth:
            return stepped(statement)
        return machine.enter(self.specialise, connection, cursor, statement, loop)

    def take_over(self, connection, cursor, statement):
        """See tiers.py."""
        statement.patience = self.patience
        if obstacle(connection):
            return stepped(statement)
        machine = _machine()
        loop = machine.known(statement).loop_at(machine.counter(statement))
        if loop is None:
            if not machine.known(statement).has_loops():
                statement.patience = -1
            return stepped(statement)
        if machine.obstacle(statement):
            return stepped(statement)
        statement.patience = self.patience_again
        rc = machine.step_to(statement, loop)
        if rc != tiers.INLINED:
            return rc
        return machine.enter(self.specialise, connection, cursor, statement, loop)

    def explain(self, connection, statement):
        """See tiers.py."""
        if not statement.queries:
            return False, 'it is not a query', ''
        machine = _machine()
        why = obstacle(connection) or machine.obstacle(statement)
        if why:
            return False, why, ''
        return machine.known(statement).explained()


def obstacle(connection):
    """Why no statement of a connection can be inlined at present (str), or ''."""
    if not connection._plain:
        return 'texts or columns are converted by the program'
    if connection._user == -1:
        return 'other threads may use the connection'
    if connection._hooks.get('progress'):
        return 'a progress handler counts instructions'
    return ''


def stepped(statement):
    """Step the statement in C; return the code, with a row in the statement's buffer."""
    rc = lib.sqpyte_step(statement.pointer, statement.cells)
    return statement.grow() if rc == GROW else rc


def _machine():
    """The module that does the work, loaded when the first loop is hot."""
    from pypy_module import inline_machine
    return inline_machine


def planner_wanted():
    """The Planner that the environment and the interpreter ask for, or None.

    SQPYTE_INLINE=0 turns inlining off, 1 on; without it it is on where there is a JIT. With
    `always` every loop is taken over as soon as possible, for tests. SQPYTE_SPECIALISE=0 has
    classes made for any types.
    """
    setting = os.environ.get('SQPYTE_INLINE', '')
    specialise = os.environ.get('SQPYTE_SPECIALISE') != '0'
    if setting == 'always':
        return Planner(1, 0, specialise)
    if setting == '1' or (setting != '0' and sys.implementation.name == 'pypy'):
        return Planner(specialise=specialise)
    return None


def install():
    """Have connections ask the inliner, if it is wanted."""
    tiers.planner = planner_wanted()
