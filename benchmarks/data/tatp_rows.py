"""Generates the rows of TATP's tables, the same ones every time.

After S. Neuvonen, A. Wolski, M. Manner, V. Raatikka: Telecom Application Transaction Processing Benchmark, 2011.
A subscriber has one to four kinds of access, one to four special facilities, of which 85 % are active, and each
facility up to three call forwardings, which begin at 0, 8 and 16 o'clock. At scale 1 there are 100,000 subscribers.
"""

import random

VERSION = 1   # to be raised when other rows than before are generated
TABLES = ('subscriber', 'access_info', 'special_facility', 'call_forwarding')
SUBSCRIBERS_AT_1 = 100000
ROWS_OF_ONE = {'subscriber': 1, 'access_info': 2.5, 'special_facility': 2.5, 'call_forwarding': 3.75}   # on average
TYPES = (1, 2, 3, 4)
STARTS = (0, 8, 16)     # o'clock
LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
LOCATIONS = 2 ** 32 - 1


def count(table, scale):
    """Return about how many rows `table` has at `scale` (float); of subscriber, exactly."""
    return round(max(1, round(SUBSCRIBERS_AT_1 * scale)) * ROWS_OF_ONE[table])


def numbers(table):
    """Return a function: below(n) is a random int from 0 to n - 1, of the table's own sequence (see ssb_rows.py)."""
    source = random.Random(2009 + TABLES.index(table)).random

    def below(n):
        return int(source() * n)
    return below


def some(below, values, number):
    """Return `number` of `values`, none twice, in their order (list)."""
    left = list(values)
    return sorted(left.pop(below(len(left))) for _ in range(number))


def letters(below, number):
    """Return a text of `number` random letters."""
    return ''.join(LETTERS[below(len(LETTERS))] for _ in range(number))


def subscriber(scale):
    """Yield the rows of subscriber."""
    below = numbers('subscriber')
    for key in range(1, count('subscriber', scale) + 1):
        yield (key, '%015d' % key, *[below(2) for _ in range(10)], *[below(16) for _ in range(10)],
               *[below(256) for _ in range(10)], 1 + below(LOCATIONS), 1 + below(LOCATIONS))


def access_info(scale):
    """Yield the rows of access_info."""
    below = numbers('access_info')
    for key in range(1, count('subscriber', scale) + 1):
        for kind in some(below, TYPES, 1 + below(4)):
            yield key, kind, below(256), below(256), letters(below, 3), letters(below, 5)


def special_facility(scale):
    """Yield the rows of special_facility."""
    below = numbers('special_facility')
    for key in range(1, count('subscriber', scale) + 1):
        for kind in some(below, TYPES, 1 + below(4)):
            yield key, kind, int(below(100) < 85), below(256), below(256), letters(below, 5)


def call_forwarding(scale):
    """Yield the rows of call_forwarding."""
    below = numbers('call_forwarding')
    for facility in special_facility(scale):
        for start in some(below, STARTS, below(4)):
            yield facility[0], facility[1], start, start + 1 + below(8), '%015d' % below(10 ** 15)


ROWS = {'subscriber': subscriber, 'access_info': access_info, 'special_facility': special_facility,
        'call_forwarding': call_forwarding}
