"""`sqpyte-run`: a program with sqpyte in the place of sqlite3, without a change of the program.

A Python program runs in this interpreter, after `sqpyte.install()`. Any other is started with our library where the
dynamic loader looks first for libsqlite3.so.0, and so are the processes that it starts.
"""

import os
import sys

from pypy_module.ffi import place

USAGE = """usage: %s PROGRAM.py [ARGUMENT...]
       %s -m MODULE [ARGUMENT...]
       %s -c CODE [ARGUMENT...]
       %s COMMAND [ARGUMENT...]

A Python program, module or code runs in this interpreter with sqpyte in the place of sqlite3.
Any other command runs with libsqpyte in the place of libsqlite3.so.0."""


def look_first_in(folder):
    """Have Python look for modules in a folder first, in place of this command's own."""
    if not getattr(sys.flags, 'safe_path', False):
        sys.path[:1] = [folder]


def run_python(arguments):
    """Run a Python program, as `python ARGUMENT...` would; return the exit code."""
    import runpy

    import sqpyte
    sqpyte.install()
    first = arguments[0]
    if first == '-m':
        sys.argv = arguments[1:]
        look_first_in(os.getcwd())
        runpy.run_module(arguments[1], run_name='__main__', alter_sys=True)
    elif first == '-c':
        sys.argv = ['-c'] + arguments[2:]
        look_first_in('')
        exec(compile(arguments[1], '<string>', 'exec'), sys.modules['__main__'].__dict__)
    else:
        sys.argv = arguments
        look_first_in(os.path.dirname(os.path.abspath(first)))
        runpy.run_path(first, run_name='__main__')
    return 0


def environment(found):
    """Return the environment (dict) for a command that is to have our library.

    Args:
        found: the environment it would have (mapping of str).
    Raises:
        ImportError: there is no library.
    """
    path = place.find()
    changed = dict(found)
    if os.path.basename(path) == 'libsqlite3.so.0':
        name, value, between = 'LD_LIBRARY_PATH', os.path.dirname(path), ':'
    else:
        name, value, between = 'LD_PRELOAD', path, ' '
    others = changed.get(name, '')
    changed[name] = value + between + others if others else value
    return changed


def main(arguments=None, name='sqpyte-run'):
    """Run the command line (list of str; None: the process's); return the exit code.

    Args:
        name: what the command is called, for its usage (str).
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    python = arguments and (arguments[0] in ('-m', '-c') or arguments[0].endswith(('.py', '.pyw', '.pyc')))
    if not arguments or arguments[0].startswith('-') and not (python and len(arguments) > 1):
        asked = arguments[:1] in (['-h'], ['--help'])
        print(USAGE % (name, name, name, name), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    if python:
        return run_python(arguments)
    try:
        os.execvpe(arguments[0], arguments, environment(os.environ))
    except OSError as error:
        print('%s: %s: %s' % (name, arguments[0], error.strerror), file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
