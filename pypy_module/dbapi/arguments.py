"""Arguments as C has them: what CPython's parser of arguments makes of numbers and texts, and refuses."""

import operator

from pypy_module.dbapi import errors

LOWER = {code: code + 32 for code in range(ord('A'), ord('Z') + 1)}


def c_int(value):
    """Return an int that C's int can hold; raises TypeError or OverflowError."""
    size = operator.index(value)
    if not -2 ** 31 <= size < 2 ** 31:
        raise OverflowError('Python int too large to convert to C int')
    return size


def c_double(value):
    """Return a real number as a float; raises TypeError."""
    kind = type(value)
    if not (hasattr(kind, '__float__') or hasattr(kind, '__index__')):
        raise TypeError('must be real number, not ' + kind.__name__)
    return float(value)


def plain_text(value):
    """Return the str that C sees in a str, whatever methods the class of `value` has of its own."""
    return value if type(value) is str else str.__getitem__(value, slice(None))


def checked_text(value, argument):
    """Return a plain str that C can have; raises TypeError or ValueError.

    Args:
        value: the argument.
        argument: what it is called, as in "create_function() argument 1" (str).
    """
    if not isinstance(value, str):
        raise TypeError('%s must be str, not %s' % (argument, errors.kind(value)))
    value = plain_text(value)
    if '\0' in value:
        raise ValueError('embedded null character')
    return value


def folded(name):
    """Return a str with ASCII's capitals in lower case: SQLite takes names that differ in these alone for one."""
    return name.translate(LOWER)
