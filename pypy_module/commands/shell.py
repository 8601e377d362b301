"""A shell for SQL, as `python -m sqlite3` is from Python 3.12 on, with `.explain` beside."""

import argparse
import code
import os
import re
import sys

from pypy_module import version
from pypy_module.commands.interrupts import Interrupts
from pypy_module.native import binding

HELP = """Enter SQL and press enter; a statement ends with a semicolon.
.explain SQL   which tier runs each statement, and why
.help          this text
.version       SQLite's version
.quit          leave
Ctrl-C ends a statement that runs."""

# A comment, to its end or to that of what has been read; or a quoted text or name, which may hold what looks like one.
TOKEN = re.compile(r'--[^\n]*|/\*.*?(?:\*/|\Z)|\'[^\']*\'|"[^"]*"|`[^`]*`|\[[^]]*\]', re.DOTALL)


def without_comments(sql):
    """Return SQL (str) without its comments."""
    return TOKEN.sub(lambda token: '' if token.group().startswith(('--', '/*')) else token.group(), sql)


def refused():
    """Return what SQL or the name of a file can be refused with (tuple of classes).

    Before Python 3.11 a second statement is refused with a Warning, which is no Error; text that is no UTF-8, or has a
    NUL in it, with a ValueError. `.explain` may lack cffi, which gives an ImportError.
    """
    import sqpyte       # not before the arguments are read: `--help` needs no library
    return sqpyte.Error, sqpyte.Warning, ValueError, ImportError


def complain(error):
    """Print an exception (one of `refused()`) on stderr, in one line."""
    name = getattr(error, 'sqlite_errorname', None)
    print('%s%s: %s' % (type(error).__name__, ' (%s)' % name if name else '', error), file=sys.stderr)


def execute(target, sql):
    """Run one statement and print its rows; return whether it succeeded.

    Args:
        target: a Connection or a Cursor.
        sql: the statement (str).
    """
    try:
        for row in target.execute(sql):
            print(row)
    except refused() as error:
        complain(error)
        return False
    return True


class Shell(code.InteractiveConsole):
    """Reads statements and runs them.

    Args:
        connection: a Connection.
    """

    def __init__(self, connection):
        super().__init__()
        self.connection = connection
        self.cursor = connection.cursor()

    def runsource(self, source, filename='<input>', symbol='single'):
        """Run what has been read; return whether more of it is needed. See InteractiveConsole."""
        try:
            return self.run(source)
        except refused() as error:
            complain(error)
            return False

    def run(self, source):
        """See `runsource`; raises what is in `refused()`."""
        import sqpyte
        word, _, rest = source.strip().partition(' ')
        if word == '.version':
            print(sqpyte.sqlite_version)
        elif word == '.help':
            print(HELP)
        elif word == '.quit':
            raise SystemExit(0)
        elif word == '.explain' and not rest.strip():
            print('Error: .explain takes a statement', file=sys.stderr)
        elif word == '.explain':
            print(sqpyte.explain(self.connection, rest))
        elif word.startswith('.'):
            print('Error: there is no command %s; .help lists them' % word, file=sys.stderr)
        elif not sqpyte.complete_statement(source + '\n'):      # which ends a comment
            return True
        else:
            execute(self.cursor, source)
        return False

    def end(self):
        """Deal with what is left at the end of the input: run it if nothing but comments follow its last semicolon;
        return whether that was all, without an error."""
        import sqpyte
        rest = without_comments('\n'.join(self.buffer)).strip()
        if rest and not sqpyte.complete_statement(rest):
            print('Error: the last statement has no semicolon, and was not run', file=sys.stderr)
            return False
        return not rest or execute(self.cursor, rest)


def converse(connection, filename):
    """Run what is typed, or comes by a pipe; return whether its last statement is whole, and succeeds.

    Args:
        connection: a Connection.
        filename: its database (str), ':memory:' if none.
    """
    import sqpyte
    try:
        import readline  # noqa: F401
    except ImportError:
        pass
    if hasattr(sys.stdin, 'reconfigure'):
        # Bytes that are no UTF-8 then reach the statement, which is refused, instead of ending the session.
        sys.stdin.reconfigure(errors='surrogateescape')
    sys.ps1, sys.ps2 = 'sqlite> ', '    ... '
    shell = Shell(connection)
    shell.interact('sqpyte shell, running on SQLite version %s\nConnected to %s\n\nType ".help" for help; ".quit" or '
                   'CTRL-D to quit.' % (sqpyte.sqlite_version, 'a transient in-memory database'
                                        if filename == ':memory:' else repr(filename)), exitmsg='')
    return shell.end()


def main(arguments):
    """Run the command line (list of str); return the exit code."""
    parser = argparse.ArgumentParser(
        prog='python -m sqpyte', description='A shell for SQL on sqpyte.',
        formatter_class=argparse.RawTextHelpFormatter,
        epilog='python -m sqpyte run PROGRAM [ARGUMENT...]   a program with sqpyte in the place of sqlite3\n'
               'python -m sqpyte --self-test                 try what is installed')
    parser.add_argument('filename', nargs='?', default=':memory:',
                        help="database to open (default: ':memory:'); a file that isn't there is made")
    parser.add_argument('sql', nargs='?', help='a statement to run; its rows are printed')
    parser.add_argument('-v', '--version', action='store_true', help="print sqpyte's version and SQLite's")
    options = parser.parse_args(arguments)
    binding.bind()
    import sqpyte
    if options.version:
        print('sqpyte %s, SQLite %s' % (version.sqpyte(), sqpyte.sqlite_version))
        return 0
    try:
        connection = sqpyte.connect(options.filename, isolation_level=None)
    except refused() as error:
        print('Error: unable to open database "%s": %s' % (options.filename, error), file=sys.stderr)
        return 1
    try:
        with Interrupts(connection):
            good = execute(connection, options.sql) if options.sql else converse(connection, options.filename)
        return 0 if good else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who read the rows wants no more of them. What is still to be written at the exit has nowhere to go, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        connection.close()
