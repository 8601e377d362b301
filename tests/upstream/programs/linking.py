"""SQLite compiled for a test program, stock's or ours, and the product's VM linked to it.

The VM was translated for the structs of the product. A test program's SQLite is compiled with other
options, so its layout is generated, too, and must have the same numbers.
"""

import os
import re
import subprocess

from c_engine.build import build as engine
from c_engine.build import flags, layout
from tools import effects, translate, vm_inputs

STOCK = 'stock'
OURS = 'ours'
CHECKED = 'effects'     # the checking build of the C tier (tools/effects.py)

# As the product is compiled, but with less effort: it takes half the time.
COMPILE = ['-O1' if option == '-O2' else option for option in flags.COMPILE]

_SAID = {STOCK: 'stock SQLite', OURS: 'the engine', CHECKED: 'the checking build'}
NO_VM = 'the translated VM is missing: run `make vm`'


class NotBuilt(Exception):
    """The test programs can't be built; the message says why and what to do."""


def compile_object(options, source, target):
    """Compile one C file, by way of a temporary name."""
    partial = '%s.%d.part' % (target, os.getpid())
    subprocess.run(flags.compiler() + options + ['-c', source, '-o', partial], check=True)
    os.replace(partial, target)


def vm(needed=True):
    """Return the paths of the translated VM's object and of its list of libraries.

    Args:
        needed: False: None is returned if there is none.

    Raises:
        NotBuilt: there is none.
    """
    directory = os.path.join(translate.CACHE, vm_inputs.key(translate.ROOT))
    found = [os.path.join(directory, name) for name in (translate.OBJECT, translate.LIBRARIES)]
    if os.path.exists(found[0]):
        return found
    if needed:
        raise NotBuilt(NO_VM)
    return None


def link(target, inputs, libraries, virtual_machine):
    """Link a program.

    Args:
        target: its path.
        inputs: objects, C files and options.
        libraries: the linker's options after them.
        virtual_machine: what vm() returns, or None.
    """
    if virtual_machine:
        libraries = [virtual_machine[0]] + libraries + engine.read(virtual_machine[1]).split()
    partial = '%s.%d.part' % (target, os.getpid())
    subprocess.run(flags.compiler() + ['-pthread', '-rdynamic'] + inputs + ['-o', partial] + libraries
                   + ['-lz'] + flags.LIBRARIES, check=True)
    os.replace(partial, target)


def link_to_product(which, paths, target, source, includes, with_vm):
    """Compile a program of one C file and link it to the library itself, stock's or ours."""
    if which == STOCK:
        library = paths.stock_link
    elif which == CHECKED:
        library = effects.LIBRARY
    else:
        library = os.path.join(paths.build, 'libsqpyte.so' if with_vm else 'libsqpyte-engine.so')
    partial = '%s.%d.part' % (target, os.getpid())
    subprocess.run(flags.compiler() + ['-O1', '-w'] + flags.DEFINES + includes + [
        source, '-o', partial, library, '-Wl,-rpath,' + os.path.dirname(library), '-lz'] + flags.LIBRARIES,
        check=True)
    os.replace(partial, target)


class Library:
    """SQLite as one object.

    Args:
        which: STOCK, OURS or CHECKED.
        paths: c_engine.build.Paths.
        options: the compiler's options beside `compile`.
        includes: folders for headers beside SQLite's own.
        target: the object's path.
        compiling: how it is compiled.

    Attributes:
        target: the object's path.
        key: hash (hex str) of all that it is made from.
    """

    def __init__(self, which, paths, options, includes, target, compiling=None):
        self.which = which
        self.paths = paths
        self.target = target
        self.compiling = COMPILE if compiling is None else compiling
        if which == STOCK:
            self.source, own = os.path.join(paths.upstream, 'sqlite3.c'), [paths.upstream]
            inputs = [self.source]
        elif which == CHECKED:
            self.source, own = os.path.join(engine.ROOM, 'core', 'engine.c'), effects.INCLUDES
            inputs = effects.inputs(paths)
            options = list(options) + effects.OPTIONS
        else:
            self.source, own = os.path.join(engine.ROOM, 'core', 'engine.c'), [paths.edited, engine.ROOM]
            inputs = [os.path.join(paths.edited, 'sqlite3.c')] + engine.engine_sources()
        self.key = engine.digest(inputs, self.compiling, options, engine.compiler_identity())
        self.options = list(options)
        for folder in own + list(includes):
            self.options += ['-I', folder]

    def build(self):
        """Compile it, if need be. Raises NotBuilt, CalledProcessError."""
        os.makedirs(os.path.dirname(self.target), exist_ok=True)

        def action():
            if self.which == OURS:
                check_layout(self.paths, self.options)
            compile_object(self.compiling + self.options, self.source, self.target)

        engine.step('%s for %s' % (_SAID[self.which],
                                   os.path.relpath(self.target, self.paths.build)),
                    [self.target], self.key, action)


def check_layout(paths, options):
    """Compare the layout of a build with the one that the VM was translated for.

    Args:
        paths: c_engine.build.Paths.
        options: the compiler's -D and -I options of the build.

    Raises:
        NotBuilt: a number differs; the message names it.
    """
    expected = numbers(engine.read(os.path.join(paths.generated, 'layout.py')))
    found = numbers(layout.generate(os.path.join(paths.edited, 'sqlite3.c'), options))
    wrong = ['%s is %s, not %s' % (name, found.get(name), value) for name, value in sorted(expected.items())
             if found.get(name) != value]
    if wrong:
        raise NotBuilt('these options move what the VM reads, so vm.o can\'t be linked to such a build: %s'
                       % '; '.join(wrong[:10]))


def numbers(text):
    """Return {name: value} of a generated layout module."""
    return dict(re.findall(r'^(\w+) = (-?\d+)$', text, re.MULTILINE))
