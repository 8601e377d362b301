"""`python -m sqpyte`: the shell that `python -m sqlite3` is, `run`, and `--self-test`."""

import sys

from pypy_module.native import binding


def main(arguments=None):
    """Run the command line (list of str; None: the process's); return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ['run']:
        from pypy_module.commands import run
        return run.main(arguments[1:], 'python -m sqpyte run')
    try:
        if arguments[:1] == ['--self-test']:
            binding.bind()
            from pypy_module.commands import self_test
            return self_test.main(arguments[1:])
        from pypy_module.commands import shell
        return shell.main(arguments)
    except ImportError as error:    # there is no library, or no cffi
        print('python -m sqpyte: %s' % error, file=sys.stderr)
        return 1
