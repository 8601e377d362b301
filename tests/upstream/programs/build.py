"""Builds SQLite's test programs: from the stock amalgamation, and from ours with the VM linked in.

testfixture is a Tcl interpreter with SQLite and its tests' C code; some tests run the shell and its
companions beside it. Ours consist of the same edited amalgamation and helpers as the product, compiled
with SQLITE_TEST, and the same `vm.o`.
"""

import glob
import os
import re
import subprocess

from c_engine.build import build as engine
from c_engine.build import flags
from tests.upstream.programs import linking
from tests.upstream.programs.linking import NotBuilt

# The suite tests these, and the product hasn't them.
EXTRA = ['-DSQLITE_NO_SYNC=1', '-DSQLITE_ENABLE_RBU']

# A test's C file that calls what isn't declared, or with other arguments, must not be compiled.
STRICT = ['-Werror=implicit-function-declaration', '-Werror=incompatible-pointer-types',
          '-Werror=int-conversion']

# The amalgamation declares its internal variables without `extern`, because it defines them, too.
FOR_TESTS = ['-O1'] + STRICT + ['-DSQLITE_PRIVATE=extern']

# like.test has two limits of a millisecond, which a busy machine misses. Upstream's own switch for that; no
# other file asks for it, so the results of a run (Programs.key) don't depend on it.
PATIENT = ['-DCONFIG_SLOWDOWN_FACTOR=1000.0']

PROGRAMS = ['testfixture', 'sqlite3', 'sqldiff', 'dbhash']

NO_TCL = 'no tclConfig.sh: Tcl\'s development files are missing (tools/install.sh upstream installs them)'


def tcl():
    """Return (compiler's options, linker's options) of Tcl. Raises NotBuilt."""
    for pattern in ('/usr/lib/tclConfig.sh', '/usr/lib/*/tclConfig.sh', '/usr/lib/tcl8*/tclConfig.sh',
                    '/usr/local/lib/tclConfig.sh'):
        for path in glob.glob(pattern):
            values = dict(re.findall(r"^(TCL_\w+)='([^']*)'$", engine.read(path), re.MULTILINE))
            if 'TCL_INCLUDE_SPEC' in values and 'TCL_LIB_SPEC' in values:
                return values['TCL_INCLUDE_SPEC'].split(), values['TCL_LIB_SPEC'].split()
    raise NotBuilt(NO_TCL)


class Programs:
    """The test programs of one library: in a folder of build/upstream.

    Args:
        which: linking.STOCK, linking.OURS or linking.CHECKED, which is the folder's name, too.
        paths: c_engine.build.Paths.
        origin: sources.Sources, prepared.
        needs_vm: False: for the C tier, ours is built even if there is no translated VM.
        sanitizers: the compiler's options for them; they leave out the VM.
        folder: where the programs' folder is; None: build/upstream.

    Attributes:
        directory: the folder with testfixture, sqlite3, sqldiff, dbhash.
        key: hash (hex str) of all that they are made from.
        key_of_c: the same without the VM, on which the C tier does not depend.
    """

    def __init__(self, which, paths, origin, needs_vm=True, sanitizers=(), folder=None):
        self.which = which
        self.paths = paths
        self.sources = origin
        self.folder = folder or os.path.join(paths.build, 'upstream')
        self.sanitizers = list(sanitizers)
        self.directory = os.path.join(self.folder, which)
        self.testfixture = os.path.join(self.directory, 'testfixture')
        compiled, self.tcl_libraries = tcl()
        self.options = flags.DEFINES + origin.words('TESTFIXTURE_FLAGS') + EXTRA + compiled
        # tree/src for tclsqlite.h, which parts of SQLite include under SQLITE_TEST.
        self.library = linking.Library(which, paths, self.options, [origin.path('src')],
                                       os.path.join(self.directory, 'sqlite3.o'),
                                       linking.COMPILE + self.sanitizers)
        self.vm = linking.vm(needs_vm) if which == linking.OURS and not sanitizers else None
        self.key_of_c = engine.digest([], self.library.key, origin.key, FOR_TESTS)
        self.key = engine.digest(list(self.vm), self.library.key, origin.key, FOR_TESTS) if self.vm \
            else self.key_of_c

    def build(self):
        """Compile and link them, as far as needed. Raises NotBuilt, CalledProcessError."""
        self.library.build()
        links = [os.path.join(self.directory, name) for name in PROGRAMS]

        def action():
            linking.link(links[0], self.sanitizers + self._tests() + [self.library.target],
                         self.tcl_libraries, self.vm)
            for path, source in zip(links[1:], self._companions()):
                linking.link_to_product(self.which, self.paths, path, source, self.sources.includes(),
                                        self.vm is not None)

        engine.step('%s testfixture' % self.which, links, engine.digest([], self.key, PATIENT), action)

    def _tests(self):
        """Compile the tests' own C files, which all testfixtures share; return their objects."""
        folder = os.path.join(self.paths.build, 'upstream', 'objects')
        os.makedirs(folder, exist_ok=True)
        combined = os.path.join(folder, 'tclsqlite-ex.c')
        files = self.sources.words('TESTSRC') + [combined]
        objects = [os.path.join(folder, os.path.basename(path)[:-2] + '.o') for path in files]
        options = [option for option in self.options if not option.startswith('-DSQLITE_PRIVATE')]
        options = FOR_TESTS + PATIENT + options + self.sources.includes()

        def action():
            parts = self.sources.words('TCLSQLITEEX')
            subprocess.run(['tclsh', self.sources.path('tool', 'mkcombo.tcl')] + parts + ['-o', combined],
                           check=True)
            for source, target in zip(files, objects):
                linking.compile_object(options, source, target)

        engine.step('SQLite\'s tests in C', objects,
                    engine.digest([], self.sources.key, options, engine.compiler_identity()), action)
        return objects

    def _companions(self):
        """Return the C files of the shell, sqldiff and dbhash."""
        shell = os.path.join(self.paths.build, 'upstream', 'objects', 'shell.c')
        text = subprocess.run(['tclsh', self.sources.path('tool', 'mkshellc.tcl')], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        engine.write(shell, text)
        return [shell, self.sources.path('tool', 'sqldiff.c'), self.sources.path('tool', 'dbhash.c')]
