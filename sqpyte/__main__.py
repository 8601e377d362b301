"""`python -m sqpyte`, and the command `sqpyte-run`."""

import sys


def run():
    """Run a program with sqpyte in the place of sqlite3: `sqpyte-run`; return the exit code."""
    from pypy_module.commands import run as command
    return command.main()


if __name__ == '__main__':
    from pypy_module.commands.main import main
    sys.exit(main())
