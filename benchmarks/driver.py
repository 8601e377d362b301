"""Compiles driver.c, the C-API program that both TPC-H engines share, when it has changed."""

import os
import shlex
import subprocess

from benchmarks import places

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'driver.c')


def build():
    """Return the path of the compiled driver, under the build folder.

    Raises:
        places.Missing: there is no C compiler, or it refuses.
    """
    target = os.path.join(places.build_folder(), 'benchmarks', 'driver')
    if os.path.exists(target) and os.path.getmtime(target) >= os.path.getmtime(SOURCE):
        return target
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = '%s.%d.part' % (target, os.getpid())
    command = shlex.split(os.environ.get('CC', 'cc')) + ['-O2', '-o', partial, SOURCE, '-ldl']
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise places.Missing('cannot compile benchmarks/driver.c (%s): type `apt-get install gcc '
                             'libc6-dev`, or name a compiler in CC' % error) from error
    os.replace(partial, target)
    return target
