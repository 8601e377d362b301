"""Imports that leave no closed files.

The inliner is loaded when a program's first loop is hot, just before PyPy's JIT traces that loop. An import reads a
module by a file object. Closed, it still has a finalizer, and PyPy runs finalizers at the end of an iteration of
whatever loop is running. If a collection ends while the first loop is traced, they are a part of it, and every other
iteration leaves it by a guard. Where that happened depended on the length of a path: in one folder in 12 of 12
processes, in another in none. So these modules are read without file objects.
"""

import contextlib
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader


class Loader(SourceFileLoader):
    """Reads files by descriptors."""

    def get_data(self, path):
        """Return the content (bytes) of the file at `path` (str)."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            parts: list = []
            while True:
                part = os.read(descriptor, 1 << 20)
                if not part:
                    return b''.join(parts)
                parts.append(part)
        finally:
            os.close(descriptor)


class Finder:
    """Finds what the usual finder does, for our Loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """See importlib.abc.MetaPathFinder."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


@contextlib.contextmanager
def without_files():
    """Within it imports leave no closed files."""
    sys.meta_path.insert(0, Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(Finder)
