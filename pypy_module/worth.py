"""Whether taking a loop over into Python pays: how much of it is left.

In C a row costs a few tenths of a microsecond.  Inlined it costs a tenth, but the first loop of a
process loads the inliner and is traced, for 20 to 50 ms of the processor's time, later ones cost a
quarter of that.  So C goes on until it has done, or is about to do, as many rows as that is worth:
then a program is at no time much slower than with C alone, nor than with inlining alone.

What is left is read from the B-tree's cursor: an estimate by the pages on its way down
(c_engine/worth.c).
"""

import sys

from pypy_module.library import address_of, lib

FIRST_LOOP = 200000     # rows that are worth the first loop of a process
LATER_LOOP = 40000      # and each later one
SHORTEST = 100          # rows that are worth the way into a class and back
UNKNOWN = 0             # rows left where it can't be told: what has been done decides


def wanted(statement, least=None):
    """How many rows a loop of a statement must still have to be taken over (int); none above 0 if
    what C has done is enough.

    Args:
        statement: a Statement; its `rows_in_c` were done in C, in this run and earlier ones.
        least: how many rows a loop has to have (int), or None: as many as it takes at present.
    """
    if least is None:
        least = LATER_LOOP if 'pypy_module.inline_machine' in sys.modules else FIRST_LOOP
    return least - statement.rows_in_c


def pays(statement, left, least=None):
    """Whether a loop of a statement is to be taken over.

    Args:
        statement: a Statement.
        left: how many rows its loop still has (int), or UNKNOWN.
        least: see `wanted`.
    """
    return (left == UNKNOWN or left >= SHORTEST) and left >= wanted(statement, least)


def rows_left(statement):
    """About how many rows the outermost loop still has that a statement, at a row or stopped at
    the head of a loop, is in (int); UNKNOWN if that loop isn't a scan."""
    return lib.sqpyte_rows_left(address_of(statement.pointer))
