"""Which types the values of a row have, noted where a generated function handles them one by one.

Such a function has a branch for each type of each value, and PyPy's JIT a path through it for each combination: of ten
columns that may be NULL there are a thousand, and each is traced and compiled, until it is given up for others. Rows of
20 such columns took 15 to 30 times as long as in sqlite3, for minutes. So the function notes each row's kinds as one
bit of 61, which is a constant on each path. After MOST different bits the values are handled in a loop, whose paths
are as many as there are types: such rows take half of sqlite3's time. A row whose columns have the types of rows before
costs a load and a comparison. Arguments of functions written in Python and parameters are handled alike.

An inlined loop has no such other way. It notes the kinds of each batch's first rows. Each is worth ANOTHER_KIND of
rows: PyPy takes 40 ms to trace its path, and a row gains 0.1 us by it. A loop that has done, and is to do, fewer goes
on in C until they are done: 8 kinds, of three columns, take 0.6 to 0.8 times sqlite3's time over the first million
rows, and took 0.8 to 1.3 without that. After MOST_INLINED the statement isn't inlined any more.

Invariant: which of the two handles a row changes nothing but the time. SQPYTE_WITHOUT=varying-types switches it off.
"""

from pypy_module.ffi.library import switched_off

MOST = 8                # different kinds of rows that are handled without a loop
MOST_INLINED = 32       # by an inlined loop
ANOTHER_KIND = 400000   # rows that each of them beyond the first is worth
SAMPLED = 8             # rows of a batch that it looks at
SAMPLED_FIRST = 64      # and of its first one
BITS = 61               # so many fit an int of the JIT; a prime


def weight(column, kind):
    """Return what a value adds to its row's kind (int): `column` counts from 0, `kind` is SQLite's type (int).
    Integers, the commonest, aren't asked for: they add nothing.
    """
    return ((5 * column + kind) * 2654435761 >> 7) % BITS


def noting(seen, count):
    """Return the lines (list of str) that note a row's kind, the sum of weights in the variable `kinds`.

    Args:
        seen: expression of the bits of the kinds that were seen (str).
        count: expression of how many there are (str).
    """
    return ['kinds = 1 << kinds %% %d' % BITS,
            'if not %s & kinds:' % seen,
            '    %s |= kinds' % seen,
            '    %s += 1' % count]


def before():
    """Return how many kinds there are before the first row (int): too few ever to reach MOST, if that is off."""
    return 0 if noted() else -1 << 60


def noted():
    """Whether kinds are noted."""
    return not switched_off('varying-types')
