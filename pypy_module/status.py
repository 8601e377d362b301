"""`sqpyte.status`: which library serves, with which settings, and what its VM holds."""

from pypy_module import settings, version
from pypy_module.ffi import library
from pypy_module.ffi.library import NUMBERS, ffi, lib
from pypy_module.native.backend import backend


class Status(dict):
    """What `status` returns; printed, a line for each name."""

    def __str__(self):
        width = max(map(len, self))
        return '\n'.join('%-*s  %s' % (width, name, ', '.join(value) if isinstance(value, tuple) else value)
                         for name, value in self.items())


def status():
    """Tell what serves this process.

    Returns:
        a dict that prints as a report, of:
        sqpyte: its version (str).
        backend: 'sqlite3' or 'cffi' (see `sqpyte.backend`), and reason: why (str).
        library: the path of the SQLite that serves (str); sqlite: its version (str).
        vm, threshold, memory, inline, without: the settings in force, as `configure` takes them.
        used: bytes that the VM's programs and machine code take (int), of which code: machine code.
        programs: how many statements' programs it holds (int); forgotten: how many it has forgotten for room.
    """
    found = Status(sqpyte=version.sqpyte(), backend=str(backend), reason=backend.reason, library=library.path,
                   sqlite=ffi.string(lib.sqlite3_libversion()).decode())
    found.update(settings.in_force())
    for name in ('used', 'code', 'programs', 'forgotten'):
        found[name] = lib.sqpyte_memory(NUMBERS['SQPYTE_MEMORY_' + name.upper()])
    return found
