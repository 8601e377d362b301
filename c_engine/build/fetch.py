"""Obtains the pinned SQLite, from the nearest source that has it, and checks its hash.

The order: a path the user gives (--sqlite or $SQPYTE_SQLITE), the cache ($SQPYTE_CACHE, else
~/.cache/sqpyte), then `pin.SOURCES`. Bytes that don't hash to the pin never reach the build.
"""

import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from typing import Callable, Dict

from c_engine.build import pin

DOWNLOAD_TIMEOUT_S = 30


class FetchError(Exception):
    """The pinned files can't be had; the message says why and what to do."""


class NoSource(FetchError):
    """No source had the pinned files; the message says what was tried."""


class WrongHash(FetchError):
    """A file is there, but it isn't the pinned one; the message names both hashes."""


class Unavailable(Exception):
    """One source can't be used; the message says why. The next one is tried."""


def cache_directory():
    """Return the folder (str) where checked files are kept between builds."""
    root = os.environ.get('SQPYTE_CACHE')
    if not root:
        root = os.path.join(os.path.expanduser('~'), '.cache', 'sqpyte')
    return os.path.join(root, 'sqlite-' + pin.VERSION)


def sha256(path):
    """Return the SHA-256 of the file at `path` as 64 hex digits."""
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def check(directory, origin):
    """Hold sqlite3.c and sqlite3.h in `directory` against the pin.

    Args:
        directory: folder with the two files.
        origin: where they come from, for the message (str).

    Raises:
        Unavailable: one of the files isn't there.
        WrongHash: one of the files isn't the pinned one.
    """
    for name, expected in sorted(pin.SHA256.items()):
        path = os.path.join(directory, name)
        if not os.path.isfile(path):
            raise Unavailable('no %s in %s' % (name, directory))
        actual = sha256(path)
        if actual != expected:
            raise WrongHash(
                '%s (from %s) is not the pinned SQLite %s:\n'
                '  expected sha256 %s\n'
                '  found    sha256 %s\n'
                'Give the pinned file, or no file, or change c_engine/build/pin.py to build another '
                'version.' % (path, origin, pin.VERSION, expected, actual))


def npm(package, version, directory, scratch):
    """Unpack an npm package into `scratch`; return the folder with the amalgamation.

    Args:
        package, version: what `npm pack` is asked for.
        directory: folder inside the package.
        scratch: an empty folder to work in.

    Raises:
        Unavailable: there is no npm, or it can't get the package.
    """
    if shutil.which('npm') is None:
        raise Unavailable('npm is not installed')
    run(['npm', 'pack', '--loglevel=error', '%s@%s' % (package, version)], scratch)
    archives = glob.glob(os.path.join(scratch, '*.tgz'))
    if len(archives) != 1:
        raise Unavailable('npm pack left %d archives' % len(archives))
    with tarfile.open(archives[0]) as archive:
        for name in pin.SHA256:
            path = directory + '/' + name
            if path not in archive.getnames():
                raise Unavailable('no %s in the package' % path)
            archive.extract(path, scratch)
    return os.path.join(scratch, directory)


def sqlite_org(url, options, scratch):
    """Download SQLite's source tree and have its own makefile write the amalgamation.

    sqlite.org's ready amalgamation can't serve: its parser lacks UPDATE/DELETE ... LIMIT.

    Args:
        url: the source tree's zip file.
        options: -D options for SQLite's makefile.
        scratch: an empty folder to work in.

    Raises:
        Unavailable: the download or the makefile failed.
    """
    path = os.path.join(scratch, 'source.zip')
    try:
        with urllib.request.urlopen(url, timeout=DOWNLOAD_TIMEOUT_S) as answer:
            with open(path, 'wb') as file:
                shutil.copyfileobj(answer, file)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(scratch)
    except (urllib.error.URLError, OSError, zipfile.BadZipFile) as error:
        raise Unavailable('%s' % error) from error
    tree = os.path.join(scratch, os.path.basename(url)[:-len('.zip')])
    run(['sh', 'configure'], tree)
    run(['make', 'OPTIONS=' + options, 'sqlite3.c'], tree)
    return tree


KINDS: Dict[str, Callable[..., str]] = {'npm': npm, 'sqlite_org': sqlite_org}


def run(command, directory):
    """Run `command` (list) in `directory`.

    Raises:
        Unavailable: it can't be started or fails; with the end of what it printed.
    """
    try:
        process = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise Unavailable('%s: %s' % (command[0], error)) from error
    if process.returncode:
        said = process.stdout.decode('utf-8', 'replace').strip().splitlines()[-5:]
        raise Unavailable('`%s` failed: %s' % (' '.join(command), ' / '.join(said)))


def describe(source):
    """Return a short name (str) of an entry of pin.SOURCES for messages."""
    if source['kind'] == 'npm':
        return 'npm package %s@%s' % (source['package'], source['version'])
    return source['url']


def install(directory, target):
    """Copy the checked files from `directory` into `target`, each by an atomic rename."""
    os.makedirs(target, exist_ok=True)
    for name in pin.SHA256:
        partial = os.path.join(target, '%s.%d.part' % (name, os.getpid()))
        shutil.copyfile(os.path.join(directory, name), partial)
        os.replace(partial, os.path.join(target, name))


def say(message):
    """Tell the user, on stderr."""
    print('sqpyte: ' + message, file=sys.stderr)


def fetch(target, user_path=None):
    """Put the pinned sqlite3.c and sqlite3.h into the folder `target`.

    Args:
        target: folder to fill; nothing is done if it holds the pinned files.
        user_path: the folder that holds sqlite3.c and sqlite3.h, or the path of its sqlite3.c;
            None: $SQPYTE_SQLITE, if it is set.

    Returns:
        Where the files came from (str).

    Raises:
        WrongHash: the user's file, or a package's, isn't the pinned one.
        NoSource: no source has it.
        FetchError: the user's path doesn't hold it.
    """
    user_path = user_path or os.environ.get('SQPYTE_SQLITE')
    if user_path:
        return from_user(user_path, target)
    try:
        check(target, 'an earlier build')
        return 'an earlier build'
    except (Unavailable, WrongHash):
        pass
    tried = []
    cache = cache_directory()
    try:
        check(cache, 'the cache')
        install(cache, target)
        return 'the cache ' + cache
    except Unavailable as reason:
        tried.append(('the cache', str(reason)))
    except WrongHash as reason:
        say('the cache is damaged and will be replaced: %s' % reason)
        tried.append(('the cache', 'damaged'))
    for source in pin.SOURCES:
        name = describe(source)
        say('getting SQLite %s from %s' % (pin.VERSION, name))
        arguments = {key: value for key, value in source.items() if key != 'kind'}
        with tempfile.TemporaryDirectory(prefix='sqpyte-') as scratch:
            try:
                directory = KINDS[source['kind']](scratch=scratch, **arguments)
                check(directory, name)
            except Unavailable as reason:
                tried.append((name, str(reason)))
                continue
            install(directory, target)
            try:
                install(directory, cache)
            except OSError as error:
                say('not cached: %s' % error)
            return name
    raise NoSource(no_source(tried))


def from_user(path, target):
    """Take the files the user points at, and nothing else."""
    directory = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    if not os.path.exists(path):
        raise FetchError('no such file or folder: %s (given by --sqlite or SQPYTE_SQLITE)' % path)
    if not os.path.isdir(path) and os.path.basename(path) != 'sqlite3.c':
        raise FetchError('%s: give sqlite3.c, with sqlite3.h beside it, or their folder' % path)
    try:
        check(directory, 'the path you gave')
    except Unavailable as reason:
        raise FetchError('the path you gave: %s' % reason) from reason
    install(directory, target)
    return path


def no_source(tried):
    """Return the message for `tried`, a list of (source, why it failed)."""
    lines = ['SQLite %s could not be obtained. Tried:' % pin.VERSION]
    lines += ['  %s: %s' % (name, why) for name, why in tried]
    package = pin.SOURCES[0]
    lines += [
        'What to do: install npm (apt-get install npm) and run make again; or, on a machine that '
        'has npm,',
        '  npm pack %s@%s && tar xzf %s-%s.tgz' % (package['package'], package['version'],
                                                  package['package'], package['version']),
        'and give the folder: SQPYTE_SQLITE=%s make' % package['directory']]
    return '\n'.join(lines)
