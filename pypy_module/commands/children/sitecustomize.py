"""What any Python imports first that a Python program of `sqpyte-run` starts: a worker process of multiprocessing, or
`[sys.executable, ...]`.

Invariants: a program that doesn't import sqlite3 loads nothing of ours; a Python without sqpyte, of whatever version,
runs as it would without this; the environment's own sitecustomize runs, too.
"""

import os
import sys


class Finder(object):
    """Finds sqlite3, as what `sqpyte.install()` makes of it; and loads it."""

    def __init__(self):
        self.asked = False
        self.found = None

    def find_spec(self, name, path=None, target=None):
        """Return a ModuleSpec for sqlite3, None for all others, and if there is no sqpyte; the import system's."""
        if name != 'sqlite3':
            return None
        if not self.asked:
            self.asked = True       # CPython's own sqlite3, which `install` may import, is found by others
            try:
                import sqpyte
                sqpyte.install()
            except ImportError:
                return None
            # A module that is there already would be loaded again, by its own spec.
            found = sys.modules.pop(name, None)
            if sqpyte.backend != 'sqlite3':     # else it is Python's own, which is found as ever
                self.found = found
        if self.found is None:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec):
        """Return None: any module does, since `exec_module` exchanges it; the import system's."""

    def exec_module(self, module):
        """Put the module that is to be sqlite3 in the place of `module`; the import system's."""
        sys.modules['sqlite3'] = self.found  # type: ignore[assignment]


def run_hidden():
    """Run the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    this = sys.modules.pop('sitecustomize')
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if getattr(error, 'name', 'sitecustomize') != 'sitecustomize':
            raise
    finally:
        sys.modules.setdefault('sitecustomize', this)


if __name__ == 'sitecustomize':
    if sys.version_info >= (3, 9):
        sys.meta_path.insert(0, Finder())
    run_hidden()
