"""Gets a project's tests and makes two environments that differ in one thing: sqpyte's wheel."""

import glob
import os
import shutil
import subprocess
import tarfile
import zipfile

from c_engine.build.build import Paths
from tests.ecosystem.projects import DEBIAN, PYTEST, SDIST, WHEEL
from tests.upstream.tree import apt
from tools.environments import BUILD, ROOT, read, stamp_of, write

FOLDER = os.path.join(BUILD, 'ecosystem')


class Failed(Exception):
    """Something can't be had; the message says what to do."""


def wheel():
    """Return the path of the newest wheel; raises Failed."""
    found = glob.glob(os.path.join(ROOT, 'dist', '*.whl'))
    if not found:
        raise Failed('there is no wheel in dist/: `make wheel` makes it')
    return max(found, key=os.path.getmtime)


def stock():
    """Return a folder (str) whose libsqlite3.so.0 is stock SQLite, of our version and with our flags; raises Failed."""
    link = Paths().stock_link
    if not os.path.exists(link):
        raise Failed('there is no %s: `make engine` makes it' % link)
    return os.path.dirname(link)


def pip(python, *arguments):
    """Run pip; return what it printed (str). Raises Failed with that."""
    process = subprocess.run([python, '-m', 'pip', '--quiet', '--disable-pip-version-check', *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=1800)
    if process.returncode:
        raise Failed('`pip %s` failed:\n%s' % (' '.join(arguments), process.stdout[-3000:]))
    return process.stdout


def from_debian(debian, project, folder):
    """Download a project's source package from an apt.Archive into a folder; raises Failed."""
    problem = ''
    try:
        debian.update()
    except apt.Unavailable as error:        # of one suite, sid's expired release for one: another may have the package
        problem = '; %s' % error
    try:
        debian.download(project.name, project.version, folder)
    except apt.Unavailable as error:
        raise Failed('Debian has no source package %s %s: %s%s' % (project[0], project[1], error, problem)) from error


def archive(python, project):
    """Return the path of the archive with a project's tests, downloaded if it isn't there; raises Failed."""
    folder = os.path.join(FOLDER, 'archives', '%s-%s-%s' % (project.host, project.name, project.version))
    patterns = {SDIST: '*.tar.gz', WHEEL: '*.whl', DEBIAN: '*.orig.tar.*'}
    pattern = os.path.join(folder, patterns[project.source])
    if not glob.glob(pattern):
        os.makedirs(folder, exist_ok=True)
        if project.source == DEBIAN:
            from_debian(apt.Archive(os.path.join(FOLDER, 'apt')), project, folder)
        else:
            # Not :all: for an sdist, which has pip compile what the sdist is built with, Cython for one.
            kind = ['--no-binary', project.name] if project.source == SDIST else ['--only-binary', ':all:']
            pip(python, 'download', '--no-deps', *kind, '--dest', folder, '%s==%s' % (project.name, project.version))
    path, = glob.glob(pattern)
    return path


def constraints(project):
    """Return the path of the file that pins all packages of a project's environment."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, 'constraints', project.host, project.name + '.txt')


def environment(python, project, ours, freeze=False):
    """Make the virtual environment of one side, if it isn't there; return its python (path).

    Args:
        python: path of the interpreter.
        project: a projects.Project.
        ours: whether sqpyte's wheel is in it.
        freeze: whether the file of constraints is written, not read.
    Raises:
        Failed: a package can't be had, or there is no file of constraints.
    """
    name = '%s-%s-%s' % (project.host, project.name, 'sqpyte' if ours else 'stock')
    folder = os.path.join(FOLDER, 'environments', name)
    inside, stamp = os.path.join(folder, 'bin', 'python'), os.path.join(folder, '.installed')
    wheels = [wheel()] if ours else []
    packages = [PYTEST, *project.packages]
    if project.source != DEBIAN:        # which runs where it is unpacked
        packages.append('%s==%s' % (project.name, project.version))
    pins = constraints(project)
    if not freeze and not os.path.exists(pins):
        raise Failed('there is no %s: `python -m tests.ecosystem --freeze %s` writes it' % (pins, project.name))
    key = stamp_of(python, packages + ['%s %d' % (path, os.stat(path).st_mtime_ns) for path in wheels] +
                   [read(pins) or ''])
    if freeze or read(stamp) != key:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, '-m', 'venv', folder], check=True)
        pip(inside, 'install', *packages, *([] if freeze else ['--constraint', pins]))
        if freeze:
            # What PyPy brings along isn't in this folder.
            where, = glob.glob(os.path.join(folder, 'lib', '*', 'site-packages'))
            frozen = pip(inside, 'freeze', '--path', where).splitlines()
            os.makedirs(os.path.dirname(pins), exist_ok=True)
            write(pins, ''.join(line + '\n' for line in frozen
                                if not line.lower().startswith(project.name.lower() + '==')))
            return inside
        if wheels:
            pip(inside, 'install', *wheels)
        write(stamp, key)
    return inside


def unpacked(path, folder):
    """Unpack an archive into a new folder; return the folder of its sources (str)."""
    shutil.rmtree(folder, ignore_errors=True)
    if path.endswith('.whl'):
        inner = os.path.join(folder, 'wheel')
        with zipfile.ZipFile(path) as file:
            file.extractall(inner)
        return inner
    with tarfile.open(path) as file:
        file.extractall(folder)
    name, = os.listdir(folder)
    return os.path.join(folder, name)
