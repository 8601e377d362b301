"""How much is tested, and the counts of it: a representative part, or with SQPYTE_TESTS=all (`make test-all`)
everything; what was tried is added up in the file that SQPYTE_COUNTS names."""

import os


def everything():
    """Return whether everything is to be tested, whatever time it takes."""
    return os.environ.get('SQPYTE_TESTS') == 'all'


def count(what, number):
    """Note that so many of something were tried.

    Args:
        what: a plural (str), such as 'damaged databases'.
        number: how many (int).
    """
    path = os.environ.get('SQPYTE_COUNTS')
    if path:
        with open(path, 'a') as file:
            file.write('%d %s\n' % (number, what))


def counted(path):
    """Return the sums {what: number} that a file of counts has; without a file there are none."""
    sums = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                number, what = line.rstrip('\n').split(' ', 1)
                sums[what] = sums.get(what, 0) + int(number)
    return sums
