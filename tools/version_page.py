"""Writes the table at the end of docs/versions.md, of how versions of Python differ, out of dbapi/versions.py.

    python -m tools.version_page           write the table
    python -m tools.version_page --check   exit with 1 if it isn't up to date
"""

import os
import sys

from pypy_module.dbapi.versions import TABLE
from tools import written

PAGE = os.path.join(written.ROOT, 'docs', 'versions.md')
HEAD = '| Python | what | before | from then on |\n|---|---|---|---|\n'


def page(text):
    """The page's text (str) with the table as it is now, for the page as it is (str): the table is its end."""
    return text.partition(HEAD)[0] + HEAD + ''.join(
        ['| %d.%d | %s | %s | %s |\n' % (*version, what, before, after) for version, what, before, after in TABLE])


def main(arguments):
    """Write or check the table; return the exit status."""
    return written.main(arguments, PAGE, page(written.content(PAGE)))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
