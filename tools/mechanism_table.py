"""Writes the table at the end of docs/environment.md, of what can be switched off, out of c_engine/core/mechanisms.h.

    python -m tools.mechanism_table           write the table
    python -m tools.mechanism_table --check   exit with 1 if it isn't up to date
"""

import os
import sys

from c_engine.generated.mechanisms import MECHANISMS
from tools import written

PAGE = os.path.join(written.ROOT, 'docs', 'environment.md')
HEAD = '| name | read by | without it |\n|---|---|---|\n'
READERS = {'vm': 'VM', 'engine': 'engine', 'module': 'module'}


def table():
    """The table's text (str)."""
    return HEAD + ''.join(['| `%s` | %s | %s |\n' % (name, READERS[reader], without)
                           for name, reader, _, without in MECHANISMS])


def page(text):
    """The page's text (str) with the table as it is now, for the page as it is (str): the table is its end."""
    return text.partition(HEAD)[0] + table()


def main(arguments):
    """Write or check the table; return the exit status."""
    return written.main(arguments, PAGE, page(written.content(PAGE)))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
