"""Sources of packages: their tests, which the packages themselves don't have."""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import urllib.request

import pytest

from tests.languages import running
from tests.upstream.tree import apt
from tests.upstream.tree.tree import nearest


def tree_in(folder):
    """Return the folder (path) of the sources that have been unpacked in a folder."""
    tree, = (entry.path for entry in os.scandir(folder) if entry.is_dir())
    return tree


def unpacked(package, wanted, members):
    """Return the folder (path) of a source package's tree, of the version that is nearest to the installed one's.

    Args:
        package: the source package's name (str).
        wanted: the version that is installed (str).
        members: pattern of the paths that are unpacked (str, a regular expression).

    Skips the test if there is no such package to be had.
    """
    folder = os.path.join(running.FOLDER, 'sources', package)
    try:
        if not os.path.isdir(folder):
            archive = apt.Archive(os.path.join(running.FOLDER, 'apt'))
            archive.update()
            version = nearest(archive.versions(package), wanted)
            partial = '%s.%d.part' % (folder, os.getpid())
            os.makedirs(partial)
            archive.download(package, version, partial)
            found, = (name for name in os.listdir(partial) if re.search(r'\.orig\.tar\.\w+$', name))
            with tarfile.open(os.path.join(partial, found)) as tar:
                tar.extractall(partial, [one for one in tar.getmembers() if re.search(members, one.name)])
            os.rename(partial, folder)
    except apt.Unavailable as error:
        pytest.skip('no source package %s is to be had: %s' % (package, error))
    return tree_in(folder)


def installed(command, how):
    """Return what a command prints (str, stripped); skip the test, with what to install (str), if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                              env=running.clean())
    except OSError as error:
        pytest.skip('%s; install it: %s' % (error, how))
    if done.returncode:
        pytest.skip('`%s` fails; install it: %s' % (' '.join(command), how))
    return done.stdout.strip()


def from_pypi(name, version, digest):
    """Return the folder (path) of a source distribution, unpacked.

    `pip download` would run its setup.py, and APSW's gets SQLite from the network.

    Args:
        name, version: of the distribution (str).
        digest: SHA-256 of the archive (hex str).

    Skips the test if PyPI can't be reached.
    """
    folder = os.path.join(running.FOLDER, 'sources', '%s-%s' % (name, version))
    if not os.path.isdir(folder):
        index = urllib.request.Request('https://pypi.org/simple/%s/' % name,
                                       headers={'Accept': 'application/vnd.pypi.simple.v1+json'})
        wanted = '%s-%s.tar.gz' % (name, version)
        try:
            with urllib.request.urlopen(index, timeout=60) as answer:
                url, = (file['url'] for file in json.load(answer)['files'] if file['filename'] == wanted)
            with urllib.request.urlopen(url, timeout=300) as answer:
                content = answer.read()
        except OSError as error:
            pytest.skip('%s can\'t be had from PyPI: %s' % (wanted, error))
        assert hashlib.sha256(content).hexdigest() == digest, '%s isn\'t what it was' % wanted
        partial = '%s.%d.part' % (folder, os.getpid())
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            tar.extractall(partial)
        os.rename(partial, folder)
    return tree_in(folder)
