"""A query's values as scripts write them: each a line of ASCII, in an order that can be compared.

The rules are the reference runner's (its src/slt_sqlite.c): `I` is sqlite3_column_int, `R` has three
decimals, a text that is empty is `(empty)` and its other bytes than printable ASCII are `@`.
"""

import hashlib

from tests.differential.sessions.capi import ffi

# What an I column gives to a value is 32 bits wide: sqlite3_column_int is.
PRINTABLE = bytes(code if 0x20 <= code < 0x7f else ord('@') for code in range(256))


def text(c, statement, i):
    """Return the value of a column of type T (str)."""
    address = c.sqlite3_column_text(statement, i)
    data = ffi.string(address) if address != ffi.NULL else b''
    return data.translate(PRINTABLE).decode('ascii') or '(empty)'


def integer(c, statement, i):
    """Return the value of a column of type I (str)."""
    return '%d' % c.sqlite3_column_int(statement, i)


def real(c, statement, i):
    """Return the value of a column of type R (str), rounded as SQLite's printf does."""
    value = c.sqlite3_column_double(statement, i)
    address = c.sqlite3_mprintf(b'%.3f', ffi.cast('double', value))
    if address == ffi.NULL:
        raise MemoryError
    try:
        return ffi.string(address).decode('ascii')
    finally:
        c.sqlite3_free(address)


READERS = {'T': text, 'I': integer, 'R': real}


def row(statement, readers):
    """Return the values (tuple of str) of the row that a capi.Statement is at.

    Args:
        statement: the capi.Statement.
        readers: one of READERS' functions for each column.
    """
    c, handle = statement.c, statement.statement
    return tuple('NULL' if c.sqlite3_column_type(handle, i) == 5 else reader(c, handle, i)
                 for i, reader in enumerate(readers))


def ordered(rows, sort):
    """Return the values of rows (list of str) in the order that `sort` says.

    Args:
        rows: a list of tuples of str.
        sort: 'nosort', 'rowsort' or 'valuesort'.
    """
    if sort == 'rowsort':
        rows = sorted(rows)
    values = [value for one in rows for value in one]
    return sorted(values) if sort == 'valuesort' else values


def hashed(values):
    """Return the line (str) that stands for values where there are many of them."""
    state = hashlib.md5()
    for value in values:
        state.update(value.encode('ascii') + b'\n')
    return '%d values hashing to %s' % (len(values), state.hexdigest())
