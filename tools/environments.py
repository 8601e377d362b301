"""Finds Pythons and makes the project's private environments under build/.

usage: python -m tools.environments pypy [--test]    build/pypy-env, for everything
       python -m tools.environments rpython          build/rpython-env, RPython for Python 2.7
       python -m tools.environments cpython          build/cpython-env-3.x, one a CPython found
       python -m tools.environments site [--test]    build/site-env, for the documentation site
       python -m tools.environments duckdb           build/duckdb-env, for the benchmarks' engine of that name

Nothing is installed into a Python of the user's. An environment is made again when the list of
packages, the Python it was made from or its place changes.
"""

import argparse
import glob
import hashlib
import os
import shutil
import subprocess
import sys

ROOM = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(ROOM)
BUILD = os.path.join(ROOT, 'build')

CPYTHON_VERSIONS = [(3, 9), (3, 10), (3, 11), (3, 12), (3, 13)]
SITE_PYTHON = (3, 11)       # the oldest that what makes the site runs on
DUCKDB_PYTHON = (3, 11)    # the oldest that DuckDB has a wheel for; it has none for PyPy

# py and pytest are RPython's own dependencies, in the last versions for Python 2.7 that it takes; all are wheels.
RPYTHON_PACKAGES = ['rpython==0.2.1', 'py==1.11.0', 'pytest==2.9.2']

NO_PYTHON27 = '''\
error: translating the VM needs Python 2.7 (CPython; it needs no pip), and none was found. Tried:
%s
Debian 11 and Ubuntu 22.04 have a package of it: sudo apt-get install python2.7. Newer ones haven't; pyenv builds one
in two minutes:
    sudo apt-get install --yes git curl ca-certificates make gcc libc6-dev zlib1g-dev libssl-dev \\
        libffi-dev libbz2-dev libreadline-dev libsqlite3-dev
    git clone https://github.com/pyenv/pyenv ~/.pyenv
    ~/.pyenv/bin/pyenv install 2.7.18
and `make vm` finds it there. A Python 2.7 elsewhere: make vm PYTHON27=/path/to/python2.7'''


class NoEnvironment(Exception):
    """A Python or an environment can't be had; the message says what to do."""


def say(message):
    """Show progress on stderr, at once."""
    print('sqpyte: ' + message, file=sys.stderr, flush=True)


def identify(command):
    """Ask a Python who it is.

    Args:
        command: its path, or its name on PATH.

    Returns:
        (implementation, (major, minor), executable), such as ('CPython', (2, 7), '/usr/bin/..'),
        or None if it doesn't run (a pyenv shim of a version that isn't selected, say).
    """
    code = ('import platform, sys; print("%s %d %d %s" % (platform.python_implementation(), '
            'sys.version_info[0], sys.version_info[1], sys.executable))')
    try:
        answer = subprocess.run([command, '-c', code], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return None
    implementation, major, minor, executable = answer.strip().split(' ', 3)
    return implementation, (int(major), int(minor)), executable


def pyenv_pythons(version):
    """Return the paths of pyenv's Pythons of `version` (str, '3.9'), newest first."""
    root = os.environ.get('PYENV_ROOT') or os.path.join(os.path.expanduser('~'), '.pyenv')
    found = glob.glob(os.path.join(root, 'versions', version + '*', 'bin', 'python' + version))
    return sorted(found, key=natural_order, reverse=True)


def natural_order(path):
    """Return a sort key that puts 3.9.18 after 3.9.2."""
    return [int(part) if part.isdigit() else part for part in path.replace('/', '.').split('.')]


def find_python27():
    """Find a CPython 2.7: $PYTHON27, python2.7 on PATH, pyenv's.

    Returns:
        Its path.

    Raises:
        NoEnvironment: there is none; the message says how to get one.
    """
    given = os.environ.get('PYTHON27')
    candidates = [given] if given else ['python2.7'] + pyenv_pythons('2.7')
    tried = []
    for candidate in candidates:
        who = identify(candidate)
        if who is None:
            tried.append('    %s: not found, or does not run' % candidate)
        elif who[1] != (2, 7):
            tried.append('    %s: is %s %d.%d' % (candidate, who[0], who[1][0], who[1][1]))
        else:
            return who[2]
    raise NoEnvironment(NO_PYTHON27 % '\n'.join(tried))


def has_module(python, module):
    """Return whether `python` (path) can import `module`."""
    return subprocess.run([python, '-c', 'import ' + module], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def find_cpythons():
    """Return a list of ((major, minor), path): a CPython for each supported version found."""
    found = []
    for version in CPYTHON_VERSIONS:
        name = '%d.%d' % version
        for candidate in ['python' + name, 'python3'] + pyenv_pythons(name):
            who = identify(candidate)
            if who and who[:2] == ('CPython', version) and has_module(who[2], 'venv, ensurepip'):
                found.append((version, who[2]))
                break
    return found


def find_pypy():
    """Return {'pypy-3.x': path} of $PYPY, or else of the pypy3 on PATH; an empty dict if there is none."""
    who = identify(os.environ.get('PYPY') or 'pypy3')
    return {'pypy-%d.%d' % who[1]: who[2]} if who and who[0] == 'PyPy' else {}


def requirements(*names):
    """Return the paths of requirement files by their names."""
    return [os.path.join(ROOM, 'requirements', name + '.txt') for name in names]


def stamp_of(python, lines):
    """Return a hash (hex str) of an interpreter's path and of what goes into its environment."""
    return hashlib.sha256('\n'.join([python] + lines).encode()).hexdigest()


def make_venv(python, directory, files):
    """Make a virtual environment with the packages of the requirement files, if it isn't there.

    An environment from the same Python is only added to, unless it has come from elsewhere with a checkout that was
    moved or copied: its programs and its sqpyte.pth name the place where it was made.

    Args:
        python: path of the interpreter.
        directory: the environment's folder.
        files: paths of requirement files.

    Returns:
        The path of the environment's python.
    """
    inside = os.path.join(directory, 'bin', 'python')
    base = os.path.join(directory, '.base')
    base_key = stamp_of(os.path.realpath(python), [os.path.realpath(directory)])
    if not os.path.exists(inside) or read(base) != base_key:
        say('making %s' % os.path.relpath(directory, ROOT))
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run([python, '-m', 'venv', directory], check=True)
        make_importable(directory)
        write(base, base_key)
    for path in files:
        stamp = os.path.join(directory, '.' + os.path.basename(path))
        if read(stamp) == read(path):
            continue
        say('installing %s into %s' % (os.path.relpath(path, ROOT), os.path.relpath(directory, ROOT)))
        subprocess.run([inside, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
                        '-r', path], check=True)
        shutil.copyfile(path, stamp)
    return inside


def make_importable(directory):
    """Let every program in the environment `directory` import this source tree."""
    for packages in glob.glob(os.path.join(directory, 'lib', '*', 'site-packages')):
        write(os.path.join(packages, 'sqpyte.pth'), ROOT + '\n')


def inherited(*prefixes):
    """Return this process's environment (dict) without the variables that begin with one of `prefixes` (str)."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def read(path):
    """Return the text of the file at `path`, or None if there is no such file."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path, text):
    """Write `text` to the file at `path`."""
    with open(path, 'w') as file:
        file.write(text)


def make_rpython(python27):
    """Install RPython into build/rpython-env, beside the user's Python 2.7, not into it.

    Python 2.7's packages haven't pip any more: our own environment's fetches the wheels.

    Args:
        python27: path of the interpreter.

    Returns:
        The folder to put on PYTHONPATH.
    """
    directory = os.path.join(BUILD, 'rpython-env')
    stamp = os.path.join(directory, '.installed')
    key = stamp_of(python27, RPYTHON_PACKAGES)
    if read(stamp) != key:
        say('installing %s into build/rpython-env' % ', '.join(RPYTHON_PACKAGES))
        shutil.rmtree(directory, ignore_errors=True)
        with_pip = make_venv(sys.executable, os.path.join(BUILD, 'pypy-env'), requirements('make'))
        subprocess.run([with_pip, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile',
                        '--python-version', '2.7', '--implementation', 'cp', '--only-binary=:all:', '--no-deps',
                        '--target', directory] + RPYTHON_PACKAGES, check=True)
        write(stamp, key)
    return directory


def make_cpythons():
    """Make build/cpython-env-3.x for each CPython found; return a list of (version, python)."""
    made = []
    for version, python in find_cpythons():
        directory = os.path.join(BUILD, 'cpython-env-%d.%d' % version)
        made.append((version, make_venv(python, directory, requirements('cpython', 'test'))))
    if not made:
        say('no CPython 3.9 to 3.13 with venv was found on PATH or under pyenv')
    return made


def newest_cpython(oldest, what):
    """Return the path of the newest CPython found.

    Args:
        oldest: the version ((major, minor)) that it has to have at least.
        what: needs it (str), for the message.
    Raises:
        NoEnvironment: none is new enough.
    """
    found = [python for version, python in find_cpythons() if version >= oldest]
    if not found:
        raise NoEnvironment('error: %s takes a CPython %d.%d to %d.%d with venv, and none was found on PATH or '
                            'under pyenv' % ((what,) + oldest + CPYTHON_VERSIONS[-1]))
    return found[-1]


def make_site(test):
    """Make build/site-env, from the newest CPython found.

    Args:
        test: whether it is to have what the site's tests need (bool).
    Raises:
        NoEnvironment: no CPython is new enough.
    """
    names = ['site', 'test', 'browser'] if test else ['site']
    make_venv(newest_cpython(SITE_PYTHON, 'the site'), os.path.join(BUILD, 'site-env'), requirements(*names))


def make_duckdb():
    """Make build/duckdb-env, from the newest CPython found. Raises NoEnvironment if none is new enough."""
    make_venv(newest_cpython(DUCKDB_PYTHON, 'DuckDB'), os.path.join(BUILD, 'duckdb-env'), requirements('duckdb'))


def main(arguments):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tools.environments')
    parser.add_argument('what', choices=['pypy', 'rpython', 'cpython', 'site', 'duckdb'])
    parser.add_argument('--test', action='store_true', help='with what tests and lint need')
    options = parser.parse_args(arguments)
    try:
        if options.what == 'pypy':
            names = ['make', 'test', 'lint'] if options.test else ['make']
            make_venv(sys.executable, os.path.join(BUILD, 'pypy-env'), requirements(*names))
        elif options.what == 'rpython':
            make_rpython(find_python27())
        elif options.what == 'site':
            make_site(options.test)
        elif options.what == 'duckdb':
            make_duckdb()
        else:
            make_cpythons()
    except NoEnvironment as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode('utf-8', 'replace') if error.stderr else ''
        print('error: `%s` failed\n%s' % (' '.join(error.cmd), said), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
