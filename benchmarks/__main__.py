"""`python -m benchmarks`: see cli.py."""

import sys

from benchmarks import cli

if __name__ == '__main__':
    sys.exit(cli.main(sys.argv[1:]))
