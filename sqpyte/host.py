"""The untranslated VM: installs the RPython code, run as plain Python 3, into the engine.

For tests only: it is a thousand times slower than the translated VM, and needs no translation.
"""
import os

from sqpyte import capi, interp
from sqpyte.mem import ffi

MODE_OFF, MODE_HOT, MODE_ALWAYS = 0, 1, 2

DECLARATIONS = '''
    void sqpyte_set_vm(int (*)(void *));
    int sqpyte_set_mode(int mode, int threshold);
'''
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                       'build', 'libsqpyte-engine.so')
_installed = []
runs = [0]


def install(path=LIBRARY, mode=MODE_ALWAYS, threshold=0):
    """Run the statements of the engine at path through the VM, in this thread.

    Args: path of the engine's library; mode, MODE_*; threshold, back-edges before a loop is
        hot (0 keeps it).
    """
    if not _installed:
        capi.load(path, DECLARATIONS)
        interp.start()

        @ffi.callback('int(void *)', error=1)
        def enter(vdbe):
            runs[0] += 1
            return interp.run(int(ffi.cast('intptr_t', vdbe)))
        _installed.append(enter)
    capi.library.sqpyte_set_vm(_installed[0])
    set_mode(mode, threshold)


def set_mode(mode, threshold=0):
    """Set when the VM takes statements over: MODE_OFF, MODE_HOT or MODE_ALWAYS."""
    if capi.library.sqpyte_set_mode(mode, threshold) != 0:
        raise ValueError('mode is MODE_OFF, MODE_HOT or MODE_ALWAYS, not %r' % (mode,))


def uninstall():
    """Run the statements in C again."""
    capi.library.sqpyte_set_vm(ffi.NULL)
