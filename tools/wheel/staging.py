"""The tree of an installed copy: one package, `sqpyte`, with all that it needs.

In a checkout a room is a top-level package. An installed copy has them inside `sqpyte`, so that it occupies one name;
the modules are the same but for their names. NAMES says which is which. Of the VM's modules it has those that the
Python module imports; the library has them all, translated.
"""

import ast
import glob
import os
import re
import shutil

from c_engine.build import build as engine
from pypy_module.ffi import interface, place

# A package of a checkout: its name in an installed copy.
NAMES = {'pypy_module': 'sqpyte.pypy_module', 'c_engine.generated': 'sqpyte.generated'}
NAME = re.compile(r'(?<![\w./])(%s)(?![\w/])' % '|'.join(re.escape(name) for name in NAMES))
TYPES = ('py.typed', '__init__.pyi', 'dbapi2.pyi')
ROOMS = ('benchmarks', 'c_engine', 'pypy_module', 'tests', 'tools')


def renamed(text):
    """Return a module's source (str) with the names of an installed copy."""
    return NAME.sub(lambda match: NAMES[match.group(1)], text)


def imports(text):
    """Return what a module's source (str) imports: a set of names, of modules and of what is in them."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ''} | {'%s.%s' % (node.module, alias.name) for alias in node.names}
    return found


def modules(root):
    """Return the modules that an installed copy has: a dict from the name to the path in the checkout `root`."""
    known, found = {}, {}
    for room in ('sqpyte', 'pypy_module', 'c_engine/generated'):
        for path in glob.glob(os.path.join(root, room, '**', '*.py'), recursive=True):
            path = os.path.relpath(path, root)
            known[re.sub(r'(\.__init__)?\.py$', '', path.replace(os.sep, '.'))] = path
    left = {name for name in known if name.startswith('pypy_module')} | {'sqpyte', 'sqpyte.__main__', 'sqpyte.dbapi2'}
    while left:
        name = left.pop()
        found[name] = known[name]
        wanted = imports(engine.read(os.path.join(root, known[name]))) | {name.rpartition('.')[0]}
        left |= {one for one in wanted if one in known and one not in found}
    return found


def stage(root, target, library):
    """Write the tree of an installed copy.

    Args:
        root: of the checkout, with what the build has generated.
        target: the folder that will hold `sqpyte`; what it holds now is deleted.
        library: path of the C library.
    Raises:
        ValueError: a module imports what an installed copy hasn't.
    """
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(modules(root).values()):
        text = renamed(engine.read(os.path.join(root, path)))
        missing = sorted(name for name in imports(text) if name.partition('.')[0] in ROOMS)
        if missing:
            raise ValueError('%s imports %s, which an installed copy hasn\'t' % (path, ', '.join(missing)))
        inside = re.sub('^c_engine', 'sqpyte', path) if path.startswith('c_engine') else path
        engine.write(os.path.join(target, inside if inside.startswith('sqpyte') else
                                  os.path.join('sqpyte', inside)), text)
    package = os.path.join(target, 'sqpyte')
    for name in TYPES:
        shutil.copy(os.path.join(root, 'sqpyte', name), package)
    interface.generate(os.path.join(package, place.DECLARATIONS), place.HEADERS)
    shutil.rmtree(os.path.join(package, '__pycache__'))
    os.makedirs(os.path.join(package, os.path.dirname(place.LIBRARY)))
    shutil.copyfile(library, os.path.join(package, place.LIBRARY))
