"""Sorting many texts by a collation written in Python, in one call from the sorter.

C gives all texts at once (c_engine/storage/collation_ranks.c) and gets their ranks.  The sort is written in
Python, so that PyPy's JIT makes one loop of it and of the collation's function; texts that come
again are compared once.
"""

import functools
import operator
import sys

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.deprecation import warn
from pypy_module.ffi.memory import BASE, WORDS, data_at

JIT = sys.implementation.name == 'pypy'


def compared(result):
    """Return -1, 0 or 1 for what a collation has returned, 0 for what is neither an int nor like one."""
    try:
        number = int.__add__(as_int(result), 0)     # whatever the operators of a subclass say
    except Exception:
        return 0
    return (number > 0) - (number < 0)


def as_int(result):
    """Return the int that a collation has returned, or that its result is taken for; raises what that does."""
    try:
        return operator.index(result)
    except TypeError:
        kind = type(result)
        if versions.COLLATION_INTS or hasattr(kind, '__index__') or not hasattr(kind, '__int__'):
            raise
    warn('an integer is required (got type %s).  Implicit conversion to integers using __int__ is deprecated, and may '
         'be removed in a future version of Python.' % errors.c_name(kind))
    return kind.__int__(result)


class NotAnOrder(Exception):
    """Of two texts both come first, or one comes first or not, depending on which is asked about."""


def merge(source, target, low, middle, high, function):
    """Merge source[low:middle] and source[middle:high] to target[low:high], by a collation."""
    i, j, k = low, middle, low
    while i < middle and j < high:
        left, right = source[i], source[j]
        order = function(left, right)
        if type(order) is not int:
            order = compared(order)
        if order > 0:
            target[k] = right
            j += 1
        else:
            target[k] = left
            i += 1
        k += 1
    if i < middle:
        target[k:high] = source[i:middle]
    else:
        target[k:high] = source[j:high]


def ordered(texts, function):
    """Return texts (list of str) in the order that a collation gives."""
    if not JIT:
        return sorted(texts, key=functools.cmp_to_key(lambda x, y: compared(function(x, y))))
    count = len(texts)
    # With anything else than texts in it at first, a list doesn't unpack them.
    source: list = [None] * count
    target: list = [None] * count
    for i in range(count):
        source[i] = texts[i]
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle = min(low + width, count)
            high = min(middle + width, count)
            if middle < high and compared(function(source[middle - 1], source[middle])) > 0:
                merge(source, target, low, middle, high, function)
            else:
                target[low:high] = source[low:high]
        source, target = target, source
        width *= 2
    return source


def rank(function, address, count):
    """Replace texts by their ranks.

    Args:
        function: the collation, called with two str.
        address: of `count` (int) pairs of words: a text's address and its size in bytes. The first
            becomes how many different texts come before it.
    Raises:
        UnicodeDecodeError: a text isn't UTF-8.
        NotAnOrder: the collation isn't one; a sort by it has to ask what SQLite's asks.
        what the collation raises.
    """
    first = (address - BASE) >> 3
    texts = [data_at(WORDS[k], WORDS[k + 1]).decode()
             for k in range(first, first + 2 * count, 2)]
    ranks: dict = dict.fromkeys(texts, 0)
    last = None
    number = 0
    for text in ordered(list(ranks), function):
        if last is not None:
            order = compared(function(last, text))
            if order > 0 or order == 0 and compared(function(text, last)):
                raise NotAnOrder
            number -= order
        ranks[text] = number
        last = text
    k = first
    for text in texts:
        WORDS[k] = ranks[text]
        k += 2
