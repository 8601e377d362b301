"""`python -m tests.sqllogictest`: see cli.py."""

import sys

from tests.sqllogictest import cli

if __name__ == '__main__':
    sys.exit(cli.main(sys.argv[1:]))
