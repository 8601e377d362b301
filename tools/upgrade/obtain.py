"""Gets the amalgamation of any version of SQLite, for a trial: nothing is held against the pin's hashes.

npm's package better-sqlite3 ships one with each of its versions, and doesn't say which. Newer packages have newer ones,
so few questions find it. Each costs the download of a package, 11 MB, which npm keeps.
"""
import json
import os
import re
import subprocess
import tempfile
from typing import Dict

from c_engine.build import build, fetch, pin

PACKAGE = pin.SOURCES[0]
MOST_QUESTIONS = 12  # packages that are downloaded for one version at most
_VERSION = re.compile(r'^#define SQLITE_VERSION\s+"([\d.]+)"', re.M)
_ORIGIN = 'origin.txt'  # beside the files: where they come from


def number(version):
    """A version (str such as '3.53.2') as a tuple of ints, which can be compared."""
    return tuple(int(part) for part in version.split('.'))


def version_of(folder):
    """The version (str) of the sqlite3.h in a folder.

    Raises: fetch.Unavailable: sqlite3.c or sqlite3.h isn't there, or doesn't say.
    """
    for name in pin.SHA256:
        if not os.path.isfile(os.path.join(folder, name)):
            raise fetch.Unavailable('no %s in %s' % (name, folder))
    found = _VERSION.search(build.read(os.path.join(folder, 'sqlite3.h')))
    if found is None:
        raise fetch.Unavailable('%s/sqlite3.h has no SQLITE_VERSION' % folder)
    return found.group(1)


def search(wanted, packages, ask):
    """The package that ships a version of SQLite.

    The newest are asked first, for most trials are of them: from the end in steps that double, then by halves. One
    that can't be read is taken for an early one, as are all before it: those shipped SQLite in another form.

    Args:
        wanted: the version (str).
        packages: versions of the package (list of str), oldest first.
        ask: function of a package's version that returns its SQLite's; it may raise fetch.Unavailable.

    Returns: (the package's version (str) or None, {package: SQLite, or why it isn't known} of those asked).
    """
    left = list(packages)
    asked: Dict[str, str] = {}
    step, bounded = 1, False
    while left and len(asked) < MOST_QUESTIONS:
        place = len(left) // 2 if bounded else max(len(left) - step, 0)
        package = left[place]
        try:
            asked[package] = found = ask(package)
        except fetch.Unavailable as reason:
            asked[package] = '(%s)' % reason
            found = None
        if found == wanted:
            return package, asked
        if found is None or number(found) < number(wanted):
            left, bounded = left[place + 1:], True
        else:
            left, step = left[:place], step * 2
    return None, asked


def packages_of_npm():
    """The versions (list of str) of PACKAGE, oldest first, without pre-releases.

    Raises: fetch.Unavailable: there is no npm, or it can't reach its registry.
    """
    try:
        answer = subprocess.run(['npm', 'view', PACKAGE['package'], 'versions', '--json'], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    except OSError as error:
        raise fetch.Unavailable('npm is not installed (%s)' % error) from error
    if answer.returncode:
        raise fetch.Unavailable('`npm view` failed: %s' % ' / '.join(answer.stderr.strip().splitlines()[-3:]))
    found = json.loads(answer.stdout)
    # npm gives a package's only version as a text.
    found = [found] if isinstance(found, str) else found
    return sorted((one for one in found if re.fullmatch(r'[\d.]+', one)), key=number)


def _from_npm(wanted, target):
    """Put the files of the version `wanted` into the folder `target`; return their origin (str)."""
    with tempfile.TemporaryDirectory(prefix='sqpyte-') as scratch:

        def ask(package):
            folder = os.path.join(scratch, package)
            os.makedirs(folder)
            fetch.npm(PACKAGE['package'], package, PACKAGE['directory'], folder)
            version = version_of(os.path.join(folder, PACKAGE['directory']))
            build.say('%s@%s has SQLite %s' % (PACKAGE['package'], package, version))
            return version

        package, asked = search(wanted, packages_of_npm(), ask)
        if package is None:
            raise fetch.Unavailable('no %s has it: %s' % (PACKAGE['package'], ', '.join(
                '%s has %s' % one for one in sorted(asked.items(), key=lambda one: number(one[0])))))
        fetch.install(os.path.join(scratch, package, PACKAGE['directory']), target)
        return 'npm package %s@%s' % (PACKAGE['package'], package)


def _from_user(wanted, path, target):
    """Put the user's files at `path`, a folder or its sqlite3.c, into `target`; return their origin (str)."""
    folder = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    version = version_of(folder)
    if version != wanted:
        raise fetch.Unavailable('%s has SQLite %s, and %s was asked for' % (path, version, wanted))
    fetch.install(folder, target)
    return 'your copy in %s' % folder


def obtain(wanted, target, user_path=None):
    """Put sqlite3.c and sqlite3.h of a version into a folder.

    Args:
        wanted: the version (str).
        target: the folder; what an earlier trial has put there is used again.
        user_path: the user's own copy (a folder, or its sqlite3.c), which comes before all else; or None.

    Returns: where the files come from (str).
    Raises: fetch.FetchError: they can't be had; the message says what to do.
    """
    try:
        if user_path:
            origin = _from_user(wanted, user_path, target)
        elif wanted == pin.VERSION:
            origin = fetch.fetch(target)
        elif os.path.exists(os.path.join(target, _ORIGIN)) and version_of(target) == wanted:
            return 'an earlier trial (%s)' % build.read(os.path.join(target, _ORIGIN))
        else:
            build.say('looking for SQLite %s in the versions of npm package %s' % (wanted, PACKAGE['package']))
            origin = _from_npm(wanted, target)
    except fetch.Unavailable as reason:
        raise fetch.FetchError(NOT_THERE % {'version': wanted, 'reason': reason, 'options': OPTIONS}) from reason
    build.write(os.path.join(target, _ORIGIN), origin)
    return origin


OPTIONS = 'OPTIONS=-DSQLITE_ENABLE_UPDATE_DELETE_LIMIT'
NOT_THERE = '''\
SQLite %(version)s could not be obtained: %(reason)s
What to do: get sqlite3.c and sqlite3.h of that version and give their folder,
  make upgrade SQLITE=%(version)s SQPYTE_SQLITE=/path/to/folder
They are made of SQLite's source tree (https://sqlite.org/download.html, sqlite-src-*.zip) by
  sh configure && make %(options)s sqlite3.c
For a trial any amalgamation of that version will do, such as those in the folder sqlite3/ of the Rust crate
libsqlite3-sys; the one to pin has to be made with that option.'''
