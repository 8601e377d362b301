"""The engine and its C helpers under AddressSanitizer and UBSan: `make test-sanitized`.

A build of its own, in build/sanitized: the engine as a library (with which the tests of other rooms run
when SQPYTE_BUILD or SQPYTE_LIBRARY names it), fuzzcheck and testfixture. The VM is translated code and
isn't compiled so; the C functions that it calls are, and are run by the VM as plain Python.
"""

import os
import subprocess

from c_engine.build import build as engine
from c_engine.build import flags
from tests.upstream.programs import build, linking

# All that is compiled so is compiled with these, and linked with SANITIZERS.
SANITIZERS = ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer']
COMPILE = linking.COMPILE + ['-g1'] + SANITIZERS
# Each page, and each small thing, has memory of its own: AddressSanitizer sees what is read beside it, or when it is
# free.
DEFINES = flags.DEFINES + ['-DSQLITE_DEFAULT_LOOKASIDE=0,0', '-DSQLITE_DEFAULT_PCACHE_INITSZ=0']

# detect_leaks: an interpreter keeps much until it ends; the suite and fuzzcheck look for leaks themselves.
# abort_on_error: a finding ends the process by a signal, which nobody takes for an answer.
# allocator_may_return_null: as malloc does, for tests of sizes that can't be had.
ENVIRONMENT = {
    'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:handle_segv=1',
    'UBSAN_OPTIONS': 'print_stacktrace=1:abort_on_error=1',
}


def folder(paths):
    """Return the path of build/sanitized."""
    return os.path.join(paths.build, 'sanitized')


def preloaded():
    """Return the environment (dict) of an interpreter that loads the sanitized library."""
    found = []
    for name in ('libasan.so', 'libubsan.so'):
        answer = subprocess.run(flags.compiler() + ['-print-file-name=' + name], check=True,
                                stdout=subprocess.PIPE).stdout.decode().strip()
        found.append(os.path.realpath(answer))
    return dict(ENVIRONMENT, LD_PRELOAD=' '.join(found))


def build_library(paths):
    """Build build/sanitized/libsqpyte-engine.so, with the stock library beside it; return its path."""
    target = os.path.join(folder(paths), 'libsqpyte-engine.so')
    library = linking.Library(linking.OURS, paths, DEFINES, [],
                              os.path.join(folder(paths), 'engine', 'engine.o'), COMPILE)
    library.build()

    def action():
        partial = '%s.%d.part' % (target, os.getpid())
        subprocess.run(flags.compiler() + SANITIZERS + flags.LINK + ['-Wl,-soname,libsqpyte-engine.so',
                       library.target, '-o', partial] + flags.LIBRARIES, check=True)
        os.replace(partial, target)

    engine.step('the sanitized engine', [target], engine.digest([], library.key, SANITIZERS), action)
    for name in (os.path.basename(paths.stock_library), 'stock'):
        link = os.path.join(folder(paths), name)
        if not os.path.lexists(link):
            os.symlink(os.path.join(paths.build, name), link)
    return target


def testfixture(paths, origin):
    """Return build.Programs of ours, sanitized and without the VM."""
    return build.Programs(linking.OURS, paths, origin, sanitizers=['-g1'] + SANITIZERS, folder=folder(paths))
