"""`sqpyte.backend`: which module serves, and why."""

from pypy_module.native import binding


class Backend(str):
    """Which module serves: 'sqlite3', CPython's own on our library, or 'cffi', ours.

    Attributes:
        reason: why (str).
    """

    reason = ''


def _backend():
    """Return the Backend."""
    refusal = binding.refusal()
    found = Backend('sqlite3' if refusal is None else 'cffi')
    found.reason = "it calls sqpyte's library" if refusal is None else refusal
    return found


backend = _backend()
