"""The source tree of SQLite whose tests are run: Debian's, of the version nearest to the pin.

The amalgamation that is built holds no tests, so they come from the source package `sqlite3` of the
nearest version in bookworm, trixie and sid. The archive is kept in the project's cache with its
SHA-256, which apt has checked against the signed index when it was downloaded. SQPYTE_SQLITE_TREE=DIR
names another tree.
"""

import json
import os
import shutil
import tarfile
import tempfile

from c_engine.build import fetch, pin
from tests.upstream.tree import apt

PACKAGE = 'sqlite3'
RECORD = 'origin.json'

NOT_TO_BE_HAD = '''\
SQLite's test suite could not be obtained: %s
It isn't part of the amalgamation; it comes with Debian's source package of sqlite3.
What to do: let apt-get reach a Debian mirror; or unpack a source tree of SQLite %s, or of a version
near to it, and give its folder: SQPYTE_SQLITE_TREE=DIR make test-upstream'''


class NoTree(Exception):
    """No source tree can be had; the message says why and what to do."""


class Origin:
    """Where a tree comes from.

    Attributes:
        version: SQLite's version (str).
        source: a short text for people.
        sha256: of the archive; for a folder that the user names, None.
        archive: the archive's path, or None.
        directory: the tree's folder if the user names one, or None.
    """

    def __init__(self, version, source, sha256=None, archive=None, directory=None):
        self.version = version
        self.source = source
        self.sha256 = sha256
        self.archive = archive
        self.directory = directory

    def __str__(self):
        return 'SQLite %s\'s tests from %s%s' % (
            self.version, self.source, ', sha256 %s' % self.sha256 if self.sha256 else '')


def number(version):
    """Return a version such as 3.53.4 as SQLite counts it: 3053004."""
    major, minor, patch = ([int(part) for part in version.split('.')[:3]] + [0, 0])[:3]
    return major * 1000000 + minor * 1000 + patch


def nearest(versions, wanted=pin.VERSION):
    """Return the Debian version, of an iterable of them, whose upstream part is nearest to `wanted`."""
    return min(versions, key=lambda version: abs(number(upstream(version)) - number(wanted)))


def upstream(version):
    """Return the upstream part of a Debian version: 3.53.4 of 3.53.4-2."""
    return version.split('-')[0].split('+')[0]


def cache_directory():
    """Return the folder (str) where the archive is kept."""
    return os.path.join(os.path.dirname(fetch.cache_directory()), 'tests-for-' + pin.VERSION)


def cached(directory):
    """Return the Origin of the archive in the cache `directory`, or None if it isn't whole."""
    try:
        with open(os.path.join(directory, RECORD)) as file:
            record = json.load(file)
        path = os.path.join(directory, record['file'])
        if fetch.sha256(path) != record['sha256']:
            fetch.say('%s is damaged and will be replaced' % path)
            return None
    except (OSError, ValueError, KeyError):
        return None
    return Origin(record['version'], record['source'], record['sha256'], path)


def download(directory):
    """Put the nearest version's archive into the folder `directory`; return its Origin.

    Raises:
        apt.Unavailable: it can't be had.
    """
    fetch.say('getting SQLite\'s test suite from Debian\'s archive')
    with tempfile.TemporaryDirectory(prefix='sqpyte-') as scratch:
        archive = apt.Archive(os.path.join(scratch, 'apt'))
        archive.update()
        versions = archive.versions(PACKAGE)
        version = nearest(versions)
        name = '%s_%s.orig.tar.xz' % (PACKAGE, upstream(version))
        if name not in versions[version]:
            raise apt.Unavailable('no %s in the source package %s %s' % (name, PACKAGE, version))
        archive.download(PACKAGE, version, scratch)
        digest = fetch.sha256(os.path.join(scratch, name))
        if digest != versions[version][name]:
            raise apt.Unavailable('%s has sha256 %s, the index says %s'
                                  % (name, digest, versions[version][name]))
        os.makedirs(directory, exist_ok=True)
        target = os.path.join(directory, name)
        shutil.copyfile(os.path.join(scratch, name), target + '.part')
        os.replace(target + '.part', target)
        record = {'version': upstream(version), 'source': 'Debian\'s %s %s' % (PACKAGE, version),
                  'sha256': digest, 'file': name}
        with open(os.path.join(directory, RECORD), 'w') as file:
            json.dump(record, file, indent=1)
    return Origin(record['version'], record['source'], digest, target)


def obtain():
    """Return the Origin of the tree to be tested with, downloaded if need be.

    Raises:
        NoTree: it can't be had.
    """
    given = os.environ.get('SQPYTE_SQLITE_TREE')
    if given:
        try:
            with open(os.path.join(given, 'VERSION')) as file:
                version = file.read().strip()
        except OSError as error:
            raise NoTree('SQPYTE_SQLITE_TREE=%s is not a source tree of SQLite: %s'
                         % (given, error)) from error
        return Origin(version, given, directory=os.path.abspath(given))
    directory = cache_directory()
    origin = cached(directory)
    if origin is None:
        try:
            origin = download(directory)
        except (apt.Unavailable, OSError) as error:
            raise NoTree(NOT_TO_BE_HAD % (error, pin.VERSION)) from error
    return origin


def unpack(origin, target):
    """Make the folder `target` a copy of the tree."""
    partial = '%s.%d.part' % (target, os.getpid())
    shutil.rmtree(partial, ignore_errors=True)
    if origin.directory:
        shutil.copytree(origin.directory, partial, symlinks=True)
    else:
        os.makedirs(partial)
        with tarfile.open(origin.archive) as archive:
            archive.extractall(partial)
        inner = os.path.join(partial, *os.listdir(partial))
        if not os.path.isfile(os.path.join(inner, 'VERSION')):
            raise NoTree('%s holds no source tree of SQLite' % origin.archive)
        os.rename(inner, partial + '.inner')
        os.rmdir(partial)
        os.rename(partial + '.inner', partial)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(partial, target)
