"""Which types the values of a row have, noted where a generated function handles them one by one.

Such a function has a branch for each type of each value, and PyPy's JIT a path through it for each combination: of ten
columns that may be NULL there are a thousand, and each is traced and compiled, until it is given up for others. Rows of
20 such columns took 15 to 30 times as long as in sqlite3, for minutes. So the function notes each row's kinds as one
bit of 61, which is a constant on each path. After MOST different bits the values are handled in a loop, whose paths
are as many as there are types: such rows take half of sqlite3's time. A row whose columns have the types of rows before
costs a load and a comparison. Invariant: which of the two handles a row changes nothing but the time.
"""

MOST = 8                # different kinds of rows that are handled without a loop
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
