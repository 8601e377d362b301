"""`python -m tests.upstream`: see cli.py."""

import sys

from tests.upstream import cli

sys.exit(cli.main(sys.argv[1:]))
