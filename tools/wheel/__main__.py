"""`python -m tools.wheel [FOLDER]` (`make wheel`): a wheel for systems with glibc 2.28 or newer, and an sdist.

auditwheel says whether the wheel keeps what its name promises. The exit code is 1 if it doesn't, or if the wheel is too
large, or without the VM.
"""

import glob
import os
import re
import subprocess
import sys
import zipfile

from tools import environments
from tools.environments import ROOT, say

GLIBC = '2.28'
MOST = 10 << 20         # bytes of a wheel
DIST = os.path.join(ROOT, 'dist')


def wheel_python():
    """Return a CPython (path) with what a wheel is made with; raises NoEnvironment."""
    found = environments.find_cpythons()
    if not found:
        raise environments.NoEnvironment('error: a wheel takes a CPython 3.9 to 3.13 with venv, and none was found')
    return environments.make_venv(found[-1][1], os.path.join(environments.BUILD, 'wheel-env'),
                                  environments.requirements('wheel'))


def wrong(path, told):
    """Return what is wrong with a wheel (list of str).

    Args:
        path: of the wheel.
        told: what `auditwheel show` says of it (str).
    """
    found = []
    tag = 'manylinux_%s_x86_64' % GLIBC.replace('.', '_')
    if not re.search(r'platform tag:\s+"%s"' % tag, told):
        found.append('auditwheel doesn\'t call it %s:\n%s' % (tag, told))
    if os.path.getsize(path) > MOST:
        found.append('it has %d bytes, more than %d' % (os.path.getsize(path), MOST))
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        others = sorted({name.partition('/')[0] for name in names} - {'sqpyte'})
        if not all(name.endswith('.dist-info') for name in others):
            found.append('it has more than one top-level name: %s' % ', '.join(others))
        if b'jit-mem-looptoken-alloc' not in archive.read('sqpyte/lib/libsqlite3.so.0'):
            found.append('its library has no VM: `make vm` says what is missing')
    return found


def main(arguments):
    """Make both; return the exit code.

    Args:
        arguments: the folder for them (list of str); none: DIST.
    """
    folder = os.path.abspath(arguments[0]) if arguments else DIST
    try:
        python = wheel_python()
    except environments.NoEnvironment as error:
        print(error, file=sys.stderr)
        return 1
    settings = dict(os.environ, SQPYTE_GLIBC=GLIBC)
    for kind in ('sdist', 'wheel'):
        say('making the ' + kind)
        command = [python, '-m', 'hatchling', 'build', '-t', kind, '-d', folder]
        if subprocess.run(command, cwd=ROOT, env=settings).returncode:
            return 1
    path = max(glob.glob(os.path.join(folder, '*.whl')), key=os.path.getmtime)
    told = subprocess.run([python, '-m', 'auditwheel', 'show', path], stdout=subprocess.PIPE,
                          universal_newlines=True).stdout
    problems = wrong(path, told)
    for problem in problems:
        print('error: %s: %s' % (os.path.basename(path), problem), file=sys.stderr)
    if not problems:
        say('%s: %.1f MB, for glibc %s and newer' % (os.path.relpath(path, ROOT), os.path.getsize(path) / 1e6, GLIBC))
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
