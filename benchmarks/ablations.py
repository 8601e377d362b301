"""Engines with one thing switched off: what each buys is their time beside that of `vm`, or of `sqpyte-pypy`.

They are the same library, or module; what is off is named in SQPYTE_WITHOUT (c_engine/core/mechanisms.h has the names).
Nothing else differs: traces are made all the same.
"""

from c_engine.generated.mechanisms import MECHANISMS

# Name -> what happens without it.
WITHOUT = {name: without for name, _, _, without in MECHANISMS}
JIT = 'jit'     # nothing is traced: the VM interprets


def engines(prefix, readers):
    """What processes have in their environment (dict), by the engine's name.

    Args:
        prefix: of the names (str).
        readers: who reads the switches (str of `vm`, `engine`, `module`).
    """
    return {'%s-no-%s' % (prefix, name): {'SQPYTE_WITHOUT': name}
            for name, reader, _, _ in MECHANISMS if reader in readers}


# Of libraries, and of the module with PyPy; what only the VM reads says little of the module.
LIBRARY = engines('vm', ('vm', 'engine'))
LIBRARY['vm-no-' + JIT] = {'SQPYTE_JIT': 'off'}
MODULE = engines('sqpyte-pypy', ('vm', 'engine', 'module'))
MODULE['sqpyte-pypy-no-inline'] = {'SQPYTE_INLINE': '0'}
