"""`python -m benchmarks`: see cli.py."""

import sys

try:
    from benchmarks import cli
except ModuleNotFoundError as error:
    if (error.name or '').partition('.')[0] != 'rich':
        raise
    print('error: run it with build/pypy-env/bin/python (`make` makes it)', file=sys.stderr)
    sys.exit(2)

if __name__ == '__main__':
    sys.exit(cli.main(sys.argv[1:]))
