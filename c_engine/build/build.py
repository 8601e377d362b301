"""Builds the C engine: `python -m c_engine.build [stock|engine|layout|all] [--sqlite PATH]`.

Products, under build/ (see `Paths`): the checked upstream files, the edited amalgamation, the stock
library, the engine as a library and as an object, and the generated Python. A step whose inputs
(files, flags, compiler) haven't changed since it last succeeded is skipped.
"""

import argparse
import concurrent.futures
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

from c_engine.build import fetch, flags, layout, mechanisms, opcodes
from c_engine.patches import apply

ROOM = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(ROOM)

# Folders of c_engine with the C files of the engine.
C_ROOMS = ['core', 'vm', 'storage', 'rows']

NO_NPM = 3  # exit code: no source had SQLite, and installing npm may help


class Paths:
    """Where the build puts things; `build` is the product folder, c_engine/generated stays."""

    def __init__(self, build=None):
        build = build or os.path.join(ROOT, 'build')
        self.build = build
        self.upstream = os.path.join(build, 'sqlite')
        self.edited = os.path.join(build, 'engine')
        self.stock_library = os.path.join(build, 'libsqlite3-stock.so')
        # PyPy's and CPython's own sqlite3 modules ask the loader for libsqlite3.so.0: this folder
        # in LD_LIBRARY_PATH gives them the stock build.
        self.stock_link = os.path.join(build, 'stock', 'libsqlite3.so.0')
        self.engine_object = os.path.join(self.edited, 'engine.o')
        self.engine_library = os.path.join(build, 'libsqpyte-engine.so')
        self.generated = os.path.join(ROOM, 'generated')


def say(message):
    """Show progress on stderr, at once."""
    print('sqpyte: ' + message, file=sys.stderr, flush=True)


def digest(paths, *settings):
    """Return a hash (hex str) of the files' contents and of `settings`."""
    state = hashlib.sha256(repr(settings).encode())
    for path in paths:
        with open(path, 'rb') as file:
            content = file.read()
        state.update(('%s %d\n' % (os.path.basename(path), len(content))).encode())
        state.update(content)
    return state.hexdigest()


def compiler_identity():
    """Return what the compiler says of its version (str)."""
    command = flags.compiler() + ['--version']
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def step(what, products, key, action):
    """Run `action()` unless every product is there and was made from the same `key`.

    Args:
        what: the step's name, for progress.
        products: files it makes (list of paths); the key is kept beside the first.
        key: hash of everything the products depend on.
        action: function without arguments.
    """
    stamp = products[0] + '.inputs'
    if all(os.path.exists(product) for product in products) and os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == key:
                say('%s: up to date' % what)
                return
    say('%s ...' % what)
    start = time.time()
    action()
    with open(stamp, 'w') as file:
        file.write(key)
    say('%s: done in %.0f s' % (what, time.time() - start))


def compile_object(source, target, includes, defines=()):
    """Compile one C file to a position-independent object, by way of a temporary name; `defines` are
    options besides those of flags.py."""
    partial = '%s.%d.part' % (target, os.getpid())
    arguments = flags.COMPILE + flags.DEFINES + list(defines)
    for folder in includes:
        arguments += ['-I', folder]
    flags.compile_or_link(arguments + ['-c', source, '-o', partial])
    os.replace(partial, target)


def link_library(objects, target, soname):
    """Link objects, and options, into a shared library, by way of a temporary name."""
    partial = '%s.%d.part' % (target, os.getpid())
    flags.compile_or_link(flags.LINK + ['-Wl,-soname,' + soname] + objects + ['-o', partial] + flags.LIBRARIES)
    os.replace(partial, target)


def write(path, text):
    """Write `text` to `path` by an atomic rename."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = '%s.%d.part' % (path, os.getpid())
    with open(partial, 'w') as file:
        file.write(text)
    os.replace(partial, path)


def read(path):
    """Return the text of the file at `path`."""
    with open(path) as file:
        return file.read()


def build_upstream(paths, user_path):
    """Obtain and check SQLite. Raises fetch.FetchError."""
    origin = fetch.fetch(paths.upstream, user_path)
    say('SQLite %s from %s, hashes as pinned' % (fetch.pin.VERSION, origin))


def build_stock(paths):
    """Build the untouched upstream library, the baseline of tests and benchmarks."""
    source = os.path.join(paths.upstream, 'sqlite3.c')

    def action():
        target = os.path.join(paths.upstream, 'sqlite3.o')
        compile_object(source, target, [paths.upstream])
        link_library([target], paths.stock_library, 'libsqlite3.so.0')
        os.makedirs(os.path.dirname(paths.stock_link), exist_ok=True)
        if not os.path.lexists(paths.stock_link):
            os.symlink(os.path.join('..', os.path.basename(paths.stock_library)), paths.stock_link)

    key = digest([source], flags.COMPILE, flags.DEFINES, flags.LINK, compiler_identity())
    step('stock library', [paths.stock_library, paths.stock_link], key, action)


def build_edited(paths):
    """Apply our edits to the amalgamation. Raises edits.EditError, which names the edit."""
    upstream = [os.path.join(paths.upstream, name) for name in ('sqlite3.c', 'sqlite3.h')]
    edited = [os.path.join(paths.edited, name) for name in ('sqlite3.c', 'sqlite3.h')]

    def action():
        write(edited[0], apply.apply(read(upstream[0])))
        write(edited[1], read(upstream[1]))

    step('edits', edited, digest(upstream + apply.FILES), action)


def engine_sources():
    """Return the paths of our own C files that make up the engine (not command.c)."""
    found = [path for room in C_ROOMS for path in glob.glob(os.path.join(ROOM, room, '*.[ch]'))]
    return sorted(path for path in found if os.path.basename(path) != 'command.c')


def build_engine(paths):
    """Build the edited SQLite with our helpers, as an object and as a library."""
    def action():
        compile_object(os.path.join(ROOM, 'core', 'engine.c'), paths.engine_object, [paths.edited, ROOM])
        link_library([paths.engine_object] + flags.STAY, paths.engine_library, 'libsqpyte-engine.so')

    inputs = [os.path.join(paths.edited, 'sqlite3.c')] + engine_sources()
    key = digest(inputs, flags.COMPILE, flags.DEFINES, flags.LINK, flags.STAY, compiler_identity())
    step('engine library', [paths.engine_library, paths.engine_object], key, action)


def build_layout(paths):
    """Write c_engine/generated: layout.py, opcodes.py and mechanisms.py."""
    source = os.path.join(paths.edited, 'sqlite3.c')
    products = [os.path.join(paths.generated, name)
                for name in ('layout.py', 'opcodes.py', '__init__.py')]

    def action():
        write(products[0], layout.generate(source))
        write(products[1], opcodes.generate(read(source)))
        write(products[2], '"""Generated from the amalgamation by c_engine/build/build.py."""\n')

    key = digest([source, layout.ENGINE_HEADER, layout.__file__, opcodes.__file__], flags.DEFINES,
                 compiler_identity())
    step('struct layouts and opcodes', products, key, action)

    table = os.path.join(paths.generated, 'mechanisms.py')
    step('mechanisms', [table], digest([mechanisms.HEADER, mechanisms.__file__]),
         lambda: write(table, mechanisms.generate(read(mechanisms.HEADER))))


def build_products(paths, what):
    """Build `what` ('stock', 'engine', 'layout' or 'all'), the two libraries side by side."""
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        stock = None
        if what in ('stock', 'all'):
            stock = workers.submit(build_stock, paths)
        if what != 'stock':
            build_edited(paths)
        if what in ('layout', 'all'):
            build_layout(paths)
        if what in ('engine', 'all'):
            build_engine(paths)
        if stock is not None:
            stock.result()


def main(arguments):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m c_engine.build', description=__doc__)
    parser.add_argument('what', nargs='?', default='all',
                        choices=['stock', 'engine', 'layout', 'all'])
    parser.add_argument('--sqlite', metavar='PATH', help='folder with sqlite3.c and sqlite3.h')
    parser.add_argument('--build', metavar='DIR', help='product folder')
    options = parser.parse_args(arguments)
    paths = Paths(options.build and os.path.abspath(options.build))
    try:
        build_upstream(paths, options.sqlite)
        build_products(paths, options.what)
    except fetch.NoSource as error:
        if shutil.which('npm'):
            print('error: %s' % error, file=sys.stderr)
            return 1
        say(str(error))
        return NO_NPM
    except (fetch.FetchError, apply.EditError) as error:
        print('error: %s' % error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print('%serror: this command failed with code %d:\n  %s'
              % (error.stderr or '', error.returncode, ' '.join(error.cmd)), file=sys.stderr)
        return 1
    return 0

