"""The tree as it is built from: unpacked, with the pinned SQLite's headers, and edited.

Also what its own makefile says of the test programs: which C files they consist of, with which
options they are compiled.
"""

import glob
import os
import re

from c_engine.build import build as engine
from c_engine.build import pin
from tests.upstream.tree import edits, headers, tree

# Folders whose headers stay as they are: other programs' copies.
OTHERS = ('autoconf', 'ext/jni', 'ext/wasm')

# Where the test programs' C files look for headers, below the tree.
INCLUDES = ['src', 'ext/rbu', 'ext/expert', 'ext/recover', 'ext/intck', 'ext/fts3', 'ext/session',
            'ext/rtree', 'ext/fts5', 'ext/misc', 'ext/qrf', 'test']


class Sources:
    """The edited tree.

    Args:
        paths: c_engine.build.Paths.

    Attributes:
        origin: tree.Origin.
        directory: the tree's folder.
        key: hash (hex str) of all that it is made from.
    """

    def __init__(self, paths):
        self.paths = paths
        self.origin = tree.obtain()
        self.directory = os.path.join(paths.build, 'upstream', 'tree')
        identity = self.origin.sha256 or (self.origin.directory, self.origin.version)
        self.key = engine.digest([headers.__file__], identity, edits.EDITS, pin.SHA256)

    def prepare(self):
        """Unpack and edit the tree, unless that has been done. Raises NoTree, EditError, Malformed."""
        def action():
            tree.unpack(self.origin, self.directory)
            self._replace_headers()
            edits.apply(self.directory, edits.EDITS)

        engine.step('SQLite\'s test suite', [os.path.join(self.directory, 'VERSION')], self.key, action)

    def _replace_headers(self):
        parts = headers.take_apart(engine.read(os.path.join(self.paths.upstream, 'sqlite3.c')))
        # As it is published: the amalgamation's copy lacks the extensions' headers at its end.
        parts['sqlite3.h'] = engine.read(os.path.join(self.paths.upstream, 'sqlite3.h'))
        for name, text in parts.items():
            places = [path for path in glob.glob(os.path.join(self.directory, '**', name), recursive=True)
                      if not os.path.relpath(path, self.directory).startswith(OTHERS)]
            for path in places or [os.path.join(self.directory, 'src', name)]:
                engine.write(path, text)

    def path(self, *parts):
        """Return the path of a file of the tree."""
        return os.path.join(self.directory, *parts)

    def words(self, name):
        """Return all words that the tree's makefile gives a variable, in order."""
        text = engine.read(self.path('main.mk')).replace('\\\n', ' ')
        found = []
        for value in re.findall(r'^%s[ \t]*\+?=(.*)$' % re.escape(name), text, re.MULTILINE):
            found += value.replace('$(TOP)', self.directory).replace('""', '').split()
        return found

    def includes(self):
        """Return the compiler's options for the tree's headers."""
        return [option for folder in INCLUDES for option in ('-I', self.path(folder))]
