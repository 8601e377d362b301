"""Builds SQLite's test programs: from the stock amalgamation, and from ours with the VM linked in.

testfixture is a Tcl interpreter with SQLite and its tests' C code; some tests run the shell and its
companions beside it. Ours consist of the same edited amalgamation and helpers as the product, compiled
with SQLITE_TEST, and the same `vm.o`. So the structs must lie as in the product, and that is checked.
"""

import glob
import os
import re
import subprocess

from c_engine import build as engine
from c_engine import flags, layout
from tools import translate, vm_inputs

# The suite tests these, and the product hasn't them.
EXTRA = ['-DSQLITE_NO_SYNC=1', '-DSQLITE_ENABLE_RBU']

# A test's C file that calls what isn't declared, or with other arguments, must not be compiled.
STRICT = ['-Werror=implicit-function-declaration', '-Werror=incompatible-pointer-types',
          '-Werror=int-conversion']

NO_TCL = 'no tclConfig.sh: Tcl\'s development files are missing (tools/install.sh upstream installs them)'
NO_VM = 'the translated VM is missing: run `make vm`'

PROGRAMS = ['testfixture', 'sqlite3', 'sqldiff', 'dbhash']

# As the product is compiled, but with less effort: it takes half the time.
COMPILE = ['-O1' if option == '-O2' else option for option in flags.COMPILE]
# The amalgamation declares its internal variables without `extern`, because it defines them, too.
FOR_TESTS = ['-O1'] + STRICT + ['-DSQLITE_PRIVATE=extern']

# Numbers that SQLITE_TEST or the suite's options may change, and nothing of the VM's reads.
OWN_TO_TESTS = re.compile(r'SQLITE_DEFAULT_PAGE_SIZE|SQLITE_DEFAULT_PCACHE_INITSZ')


class NotBuilt(Exception):
    """The test programs can't be built; the message says why and what to do."""


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
    """The test programs of one library: in build/upstream/stock or build/upstream/ours.

    Args:
        which: 'stock' or 'ours'.
        paths: c_engine.build.Paths.
        origin: sources.Sources, prepared.
        needs_vm: False: for the C tier, ours is built even if there is no translated VM.

    Attributes:
        directory: the folder with testfixture, sqlite3, sqldiff, dbhash.
        key: hash (hex str) of all that they are made from.
    """

    def __init__(self, which, paths, origin, needs_vm=True):
        self.which = which
        self.paths = paths
        self.sources = origin
        self.needs_vm = needs_vm
        self.folder = os.path.join(paths.build, 'upstream')
        self.directory = os.path.join(self.folder, which)
        self.testfixture = os.path.join(self.directory, 'testfixture')
        self.tcl, self.tcl_libraries = tcl()
        self.options = flags.DEFINES + origin.words('TESTFIXTURE_FLAGS') + EXTRA + self.tcl
        if which == 'stock':
            inputs = [os.path.join(paths.upstream, 'sqlite3.c')]
        else:
            inputs = [os.path.join(paths.edited, 'sqlite3.c')] + engine.engine_sources()
        self.library_key = engine.digest(inputs, COMPILE, self.options, engine.compiler_identity())
        vm = self._vm() if which == 'ours' else []
        self.key = engine.digest(vm, self.library_key, origin.key, FOR_TESTS)

    def _vm(self):
        directory = os.path.join(translate.CACHE, vm_inputs.key(translate.ROOT))
        found = [os.path.join(directory, name) for name in (translate.OBJECT, translate.LIBRARIES)]
        if os.path.exists(found[0]):
            return found
        if self.needs_vm:
            raise NotBuilt(NO_VM)
        return []

    def build(self):
        """Compile and link them, as far as needed. Raises NotBuilt, CalledProcessError."""
        os.makedirs(self.directory, exist_ok=True)
        library = self._library()
        links = [os.path.join(self.directory, name) for name in PROGRAMS]

        def action():
            self._link(links[0], self._tests() + [library], self.tcl_libraries)
            for path, source in zip(links[1:], self._companions()):
                self._link_to_product(path, source)

        engine.step('%s testfixture' % self.which, links, self.key, action)

    def _compile(self, options, source, target):
        partial = '%s.%d.part' % (target, os.getpid())
        subprocess.run(flags.compiler() + options + ['-c', source, '-o', partial], check=True)
        os.replace(partial, target)

    def _link(self, target, inputs, libraries):
        partial = '%s.%d.part' % (target, os.getpid())
        if self.which == 'ours':
            for vm, needed in [self._vm()] if self._vm() else []:
                libraries = [vm] + libraries + engine.read(needed).split()
        subprocess.run(flags.compiler() + ['-pthread', '-rdynamic'] + inputs + ['-o', partial] + libraries
                       + ['-lz'] + flags.LIBRARIES, check=True)
        os.replace(partial, target)

    def _link_to_product(self, target, source):
        if self.which == 'stock':
            library = [self.paths.stock_link, '-Wl,-rpath,' + os.path.dirname(self.paths.stock_link)]
        else:
            name = 'libsqpyte.so' if self._vm() else 'libsqpyte-engine.so'
            library = [os.path.join(self.paths.build, name), '-Wl,-rpath,' + self.paths.build]
        partial = '%s.%d.part' % (target, os.getpid())
        subprocess.run(flags.compiler() + ['-O1', '-w'] + flags.DEFINES + self.sources.includes() + [source]
                       + ['-o', partial] + library + ['-lz'] + flags.LIBRARIES, check=True)
        os.replace(partial, target)

    def _library(self):
        """Compile SQLite as the suite wants it; return the object's path."""
        target = os.path.join(self.directory, 'sqlite3.o')
        if self.which == 'stock':
            source, includes = os.path.join(self.paths.upstream, 'sqlite3.c'), [self.paths.upstream]
        else:
            source, includes = os.path.join(engine.ROOM, 'engine.c'), [self.paths.edited, engine.ROOM]

        def action():
            options = list(self.options)
            # The last one for tclsqlite.h, which parts of SQLite include under SQLITE_TEST.
            for folder in includes + [self.sources.path('src')]:
                options += ['-I', folder]
            if self.which == 'ours':
                check_layout(self.paths, options)
            self._compile(COMPILE + options, source, target)

        engine.step('%s library for SQLite\'s tests' % self.which, [target], self.library_key, action)
        return target

    def _tests(self):
        """Compile the tests' own C files, which both testfixtures share; return their objects."""
        folder = os.path.join(self.folder, 'objects')
        os.makedirs(folder, exist_ok=True)
        combined = os.path.join(folder, 'tclsqlite-ex.c')
        files = self.sources.words('TESTSRC') + [combined]
        objects = [os.path.join(folder, os.path.basename(path)[:-2] + '.o') for path in files]
        options = [option for option in self.options if not option.startswith('-DSQLITE_PRIVATE')]
        options = FOR_TESTS + options + self.sources.includes()

        def action():
            parts = self.sources.words('TCLSQLITEEX')
            subprocess.run(['tclsh', self.sources.path('tool', 'mkcombo.tcl')] + parts + ['-o', combined],
                           check=True)
            for source, target in zip(files, objects):
                self._compile(options, source, target)

        engine.step('SQLite\'s tests in C', objects,
                    engine.digest([], self.sources.key, options, engine.compiler_identity()), action)
        return objects

    def _companions(self):
        """Return the C files of the shell, sqldiff and dbhash."""
        shell = os.path.join(self.folder, 'objects', 'shell.c')
        text = subprocess.run(['tclsh', self.sources.path('tool', 'mkshellc.tcl')], check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        engine.write(shell, text)
        return [shell, self.sources.path('tool', 'sqldiff.c'), self.sources.path('tool', 'dbhash.c')]


def check_layout(paths, options):
    """Compare the layout of a build with the suite's options with the one that the VM was translated for.

    Args:
        paths: c_engine.build.Paths.
        options: the compiler's -D options.

    Raises:
        NotBuilt: a number differs; the message names it.
    """
    expected = numbers(engine.read(os.path.join(paths.generated, 'layout.py')))
    found = numbers(layout.generate(os.path.join(paths.edited, 'sqlite3.c'), options))
    wrong = ['%s is %s, not %s' % (name, found.get(name), value) for name, value in sorted(expected.items())
             if found.get(name) != value and not OWN_TO_TESTS.match(name)]
    if wrong:
        raise NotBuilt('SQLITE_TEST moves what the VM reads: %s. So vm.o can\'t be linked to such a build; '
                       'see tests/upstream/build.py' % '; '.join(wrong[:10]))


def numbers(text):
    """Return {name: value} of a generated layout module."""
    return dict(re.findall(r'^(\w+) = (-?\d+)$', text, re.MULTILINE))
