"""`python -m tests.everything.folders`: the tests of traces at paths of different depth, three times each.

Where PyPy's JIT begins a loop depends on hashes of addresses, and these on the lengths of paths and environments.
The checkout is mounted at each path, in a mount namespace of the test's own: that needs Linux's `unshare` and root.
Exit code 0: all have passed; 1: some failed, or it can't mount.
"""

import os
import subprocess
import sys
import tempfile

from tests.everything.parts import ROOT
from tests.extent import count

TIMES = 3
FOLDERS = ['s', 'a checkout', 'home/somebody/projects/sqpyte', 'deep/' * 12 + 'sqpyte', 'x' * 200]
TESTS = ['tests/jit', 'tests/jit_pypy']     # each of their programs runs in 20 layouts of its own
SCRIPT = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'


def run(folder):
    """Run the tests in a checkout at `folder` (str); return whether they have passed."""
    os.makedirs(folder)
    python = os.path.join(folder, os.path.relpath(sys.executable, ROOT))
    command = ['unshare', '--mount', 'sh', '-c', SCRIPT, 'sh', ROOT, folder, python, '-m', 'pytest', '-q', *TESTS]
    return subprocess.run(command).returncode == 0


def main():
    if os.geteuid():
        sys.exit('folders: only root may mount the checkout at other paths: run this part as root')
    failed = []
    for time in range(TIMES):
        for name in FOLDERS:
            with tempfile.TemporaryDirectory() as base:
                folder = os.path.join(base, name.rstrip('/'))
                print('folders: %s, %d of %d' % (folder, time + 1, TIMES), flush=True)
                if run(folder):
                    count('runs of the tests of traces in %d folders' % len(FOLDERS), 1)
                else:
                    failed.append(folder)
    for folder in failed:
        print('folders: failed in %s' % folder)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
