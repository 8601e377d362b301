"""`sqpyte-run`: a program with sqpyte in the place of sqlite3, without a change of the program.

A Python program runs in this interpreter, after `sqpyte.install()`, and the Python programs that it starts have sqpyte,
too: see children/sitecustomize.py. They aren't given the library by the dynamic loader, because then other programs
that they start would have it, and some refuse it, as Debian's `sqlite3` shell does.

Any other program is started with our library where the dynamic loader looks first for libsqlite3.so.0, and so are the
processes that it starts. This command is such a program, too: `sqpyte-run sqpyte-run program.py` gives the library to
all that program.py starts.
"""

import errno
import hashlib
import os
import sys

from pypy_module.ffi import place

USAGE = """usage: %s PROGRAM.py [ARGUMENT...]
       %s -m MODULE [ARGUMENT...]
       %s -c CODE [ARGUMENT...]
       %s COMMAND [ARGUMENT...]

A Python program (a file, a folder or an archive with a __main__.py, or a command that this interpreter's pip has
installed), module or code runs in this interpreter, with sqpyte in the place of sqlite3.
Any other command runs with sqpyte's library in place of libsqlite3.so.0."""

COMMAND = 'sqpyte-run'      # as pip installs this one
MISSING = {'-m': '-m takes a module', '-c': '-c takes code', '': 'name a program'}
OPTION = 'there is no option %s; options of Python\'s come first: python -u -m sqpyte run prog.py'
NO_PROGRAM = '; if it is a Python program: %s needs a name that ends with .py'

SONAME = 'libsqlite3.so.0'
SEPARATORS = set(':;')      # of folders in LD_LIBRARY_PATH
CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'children')


class Unreachable(Exception):
    """The library is where no variable of the environment can name it; the message says what to do."""


def put_first(environment, name, value, between):
    """Put a value (str) first in the list that a variable (name, str) of an environment is, unless it is there."""
    others = environment.get(name, '')
    if others.split(between)[0] != value:
        environment[name] = value + between + others if others else value


def linked(path):
    """Return the folder (str) where a library (path) has the name that programs ask the dynamic loader for: a link in
    the cache, made if it isn't there. Raises OSError."""
    link = os.path.join(place.cache(), 'libraries', hashlib.sha256(os.fsencode(path)).hexdigest()[:16], SONAME)
    if not os.path.lexists(link):
        place.put(link, lambda partial: os.symlink(path, partial))
    return os.path.dirname(link)


def variables(path):
    """Return the variables (dict of str) by which the dynamic loader takes a library for libsqlite3.so.0.

    LD_LIBRARY_PATH is split at colons and semicolons, LD_PRELOAD at blanks and colons. A library with another name is
    preloaded, so that a child which sets LD_LIBRARY_PATH anew finds it, too, and searched by a link: who loads a module
    so that the module's own libraries come first, as PHP does, doesn't look at what is preloaded.

    Args:
        path: of the library.
    Raises:
        Unreachable: its path is split by both, and there can't be a link to it.
    """
    folder, name = os.path.split(path)
    if name == SONAME and not set(folder) & SEPARATORS:
        return {'LD_LIBRARY_PATH': folder}
    found = {} if set(path) & set(' :') else {'LD_PRELOAD': path}
    try:
        folder = linked(path)
        if not set(folder) & SEPARATORS:
            found['LD_LIBRARY_PATH'] = folder
    except OSError as error:
        print('sqpyte-run: there can\'t be a link to the library (%s): programs that look for their modules\' own '
              'libraries first, as PHP does, will have another SQLite' % error, file=sys.stderr)
    if not found:
        raise Unreachable('the dynamic loader can\'t be told of %s, as its path has a colon or a blank in it, and it '
                          'can\'t be linked to in %s; install sqpyte in, or move it to, a folder without them'
                          % (path, place.cache()))
    return found


def environment(found, path):
    """Return the environment (dict) for a command that is to have our library.

    Args:
        found: the environment it would have (mapping of str).
        path: of the library.
    Raises:
        Unreachable: see `variables`.
    """
    changed = dict(found)
    for name, value in variables(path).items():
        put_first(changed, name, value, ' ' if name == 'LD_PRELOAD' else ':')
    return changed


def is_python(arguments):
    """Whether the command line (list of str) names a Python program: -m, -c, a file, a folder or an archive."""
    first = arguments[0]
    if first in ('-m', '-c'):
        return len(arguments) > 1
    if first.endswith(('.py', '.pyw', '.pyc', '.pyz', '.pyzw', '.zip')):
        return not first.startswith('-')
    if first.startswith('-') or not os.path.exists(os.path.join(first, '__main__.py')):
        return False
    import shutil
    return os.sep in first or shutil.which(first) is None   # a command may have a folder's name


def python_command(command):
    """Return the path of a command (str) that is a Python program of this interpreter's, as pip installs them: its
    first line names an interpreter beside this one that is the same. None for others."""
    import shutil
    path = shutil.which(command)
    if path is None:
        return None
    try:
        with open(path, 'rb') as file:
            first = file.readline(1000)
        interpreter = os.fsdecode(first[2:].strip()) if first.startswith(b'#!') else ''
        if (os.path.dirname(interpreter) == os.path.dirname(sys.executable)
                and os.path.samefile(interpreter, sys.executable)):
            return path
    except OSError:
        pass
    return None


def check(path):
    """Raise ImportError if the file at `path` isn't our library: the dynamic loader would pass over it in silence, or
    take another SQLite."""
    try:
        import ctypes
    except ImportError:
        return
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        place.fail(path, error)
    if not hasattr(library, 'sqpyte_fused_version'):
        place.fail(path, place.FOREIGN)


def run_python(arguments, name):
    """Run a Python program in this interpreter; arguments, what comes back and what is raised are program.run's."""
    from pypy_module.commands import program
    try:
        import sqpyte
        from pypy_module.native import binding
        binding.bind()
        sqpyte.install()
    except ImportError as error:
        return refuse(name, error, 126)
    if ':' in CHILDREN:
        print('%s: the Python programs that this one starts have their own SQLite: PYTHONPATH can\'t name %s, which '
              'has a colon in it' % (name, CHILDREN), file=sys.stderr)
    else:
        put_first(os.environ, 'PYTHONPATH', CHILDREN, ':')
    return program.run(arguments, name)


def run_other(arguments, name):
    """Start any program in the place of this process; return the exit code if that fails."""
    try:
        path = place.find()
        settings = environment(os.environ, path)
        check(path)
        os.execvpe(arguments[0], arguments, settings)
    except OSError as error:
        if os.path.isdir(arguments[0]):
            return refuse(name, "can't find '__main__' module in %r" % arguments[0], 1)
        hint = NO_PROGRAM % name if error.errno in (errno.EACCES, errno.ENOEXEC) else ''
        return refuse(name, '%s: %s%s' % (arguments[0], error.strerror, hint),
                      127 if isinstance(error, FileNotFoundError) else 126)
    except (ImportError, Unreachable) as error:
        return refuse(name, error, 126)


def refuse(name, reason, code):
    """Say why no program runs; return the exit code."""
    print('%s: %s' % (name, reason), file=sys.stderr)
    return code


def main(arguments=None, name=COMMAND):
    """Run the command line (list of str; None: the process's); return the exit code.

    Args:
        name: what the command is called, for its usage (str).
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0][:2] in ('-m', '-c') and len(arguments[0]) > 2:
        arguments = [arguments[0][:2], arguments[0][2:]] + arguments[1:]        # as Python takes -mmodule
    python = bool(arguments) and is_python(arguments)
    if not arguments or not arguments[0] or arguments[0].startswith('-') and not python:
        first = arguments[0] if arguments else ''
        asked = first in ('-h', '--help')
        if not asked:
            refuse(name, MISSING[first] if first in MISSING else OPTION % first, 2)
        print(USAGE % (name, name, name, name), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    if python:
        return run_python(arguments, name)
    installed = python_command(arguments[0])
    if installed and os.path.basename(installed) != COMMAND:
        return run_python([installed] + arguments[1:], name)
    return run_other(arguments, name)
