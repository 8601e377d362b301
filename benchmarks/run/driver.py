"""Compiles the harness's C programs when they have changed: driver.c, micro.c, tatp.c, c_functions.c."""

import os
import shlex
import subprocess

from benchmarks import places

HERE = os.path.join(places.ROOT, 'benchmarks', 'c')
HEADERS = tuple(os.path.join(HERE, name) for name in ('api.h', 'harness.h', 'answers.h', 'checksum.h'))
SOURCE, MICRO, TATP, FUNCTIONS = (
    os.path.join(HERE, name) for name in ('driver.c', 'micro.c', 'tatp.c', 'c_functions.c'))


def build(source=SOURCE, flags=()):
    """Return the path of a compiled program, under the build folder.

    Args:
        source: SOURCE (runs a query), MICRO (the micro-benchmarks in C), TATP (TATP's transactions) or FUNCTIONS.
        flags: the compiler's flags besides the usual ones.

    Raises:
        places.Missing: there is no C compiler, or it refuses.
    """
    name = os.path.basename(source)
    target = os.path.join(places.build_folder(), 'benchmarks', name[:-2])
    changed = max(os.path.getmtime(path) for path in (source,) + HEADERS)
    if os.path.exists(target) and os.path.getmtime(target) >= changed:
        return target
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = '%s.%d.part' % (target, os.getpid())
    command = shlex.split(os.environ.get('CC', 'cc')) + ['-O2', *flags, '-o', partial, source, '-ldl']
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise places.Missing('cannot compile benchmarks/%s (%s): type `apt-get install gcc '
                             'libc6-dev`, or name a compiler in CC' % (name, error)) from error
    os.replace(partial, target)
    return target


def extension():
    """Return the path of the compiled c_functions.c, a loadable extension of SQLite. Raises
    places.Missing."""
    return build(FUNCTIONS, ('-shared', '-fPIC'))
