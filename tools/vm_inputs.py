"""What a translation of the VM depends on, and a hash of it: the key under which its result is kept.

RPython reads the files of sqpyte/vm/, some numbers that are generated from SQLite, and the declarations
of the C functions that it calls. It doesn't read the engine's C code, which is linked to its result
afterwards (tools/translate.py). So of c_engine/generated/ only the names that sqpyte/ imports count,
and of engine.h only what sqpyte/ may use: a new C function or field of a struct, as long as the
fields that RPython uses stay where they are, needs no translation.
"""

import ast
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
from typing import Dict, List, Optional, Set

from c_engine.build import build as engine
from c_engine.build import flags
from tools import environments

# Of the RPython tool chain.
OPTIONS = ['-Ojit', '--shared', '--batch', '--no-pdb', '--output=sqpyte']
# What is kept of a translation; to be increased when that changes.
FORMAT = 3

HEADER = os.path.join('c_engine', 'core', 'engine.h')
GENERATED = 'c_engine.generated'

WORD = re.compile(r'\w+')
MACRO = re.compile(r'#define (SQPYTE_\w+)')
# A function's declaration, without the semicolon; its name is in the group.
PROTOTYPE = re.compile(r'(?:extern\s+)?(?:__attribute__\s*\(\([^;]*?\)\)\s*)?[\w\s*]*?\b(\w+)\s*\([^()]*\)$')


def sources(root):
    """Return the sorted paths of the VM's modules in the source tree `root`."""
    return sorted(glob.glob(os.path.join(root, 'sqpyte', 'vm', '**', '*.py'), recursive=True))


def files(root):
    """Return the paths of all files that RPython reads in the source tree `root`."""
    return sources(root) + sorted(glob.glob(os.path.join(root, 'c_engine', 'generated', '*.py'))) + [
        os.path.join(root, 'c_engine', '__init__.py'), os.path.join(root, HEADER)]


def copy(root, target):
    """Copy the files that RPython reads to the folder `target`, which then is a source tree to it. The package
    `sqpyte` is an empty one there: what it offers to programs is not for RPython."""
    for path in files(root):
        place = os.path.join(target, os.path.relpath(path, root))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(path, place)
    engine.write(os.path.join(target, 'sqpyte', '__init__.py'), '')


def imports(paths):
    """Return what modules take from the generated ones.

    Args:
        paths: of Python modules.

    Returns:
        A dict from the name of a generated module to the set of names that are imported from it, or
        None if it is imported as a whole.
    """
    found: Dict[str, Optional[Set[str]]] = {}
    for path in paths:
        for node in ast.walk(ast.parse(engine.read(path))):
            if isinstance(node, ast.Import):
                wholes = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = {alias.name for alias in node.names}
                module = node.module or ''
                if module.startswith(GENERATED + '.') and '*' not in names:
                    before = found.setdefault(module[len(GENERATED) + 1:], set())
                    if before is not None:
                        before |= names
                    continue
                wholes = [module] if '*' in names else ['%s.%s' % (module, name) for name in names]
            else:
                continue
            for whole in wholes:
                if whole == GENERATED:
                    raise ValueError('%s imports all that is generated' % path)
                if whole.startswith(GENERATED + '.'):
                    found[whole[len(GENERATED) + 1:]] = None
    return found


def generated(root):
    """Return what the VM takes from the generated modules, as a sorted list of str."""
    taken = []
    for module, names in sorted(imports(sources(root)).items()):
        text = engine.read(os.path.join(root, 'c_engine', 'generated', module + '.py'))
        if names is None:
            taken.append('%s\n%s' % (module, text))
            continue
        values = {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                values[node.targets[0].id] = ast.dump(node.value)
        taken += ['%s.%s = %s' % (module, name, values.get(name)) for name in sorted(names)]
    return taken


def declarations(root):
    """Return what engine.h declares to the C compiler (list of str), but for the functions and the
    macros SQPYTE_... whose names no module of the VM has.

    Raises:
        subprocess.CalledProcessError: the compiler refuses the header.
    """
    words = set()
    for path in sources(root):
        words.update(WORD.findall(engine.read(path)))
    text = subprocess.run(flags.compiler() + ['-E', '-P', '-dD', os.path.join(root, HEADER)], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    macros: List[str] = []
    rest: List[str] = []
    for line in text.splitlines():
        (macros if line.startswith('#') else rest).append(line)
    kept = []
    for line in macros:
        macro = MACRO.match(line)
        if macro is None or macro.group(1) in words:
            kept.append(line)
    for declaration in ' '.join(rest).split(';'):
        declaration = ' '.join(declaration.split())
        prototype = PROTOTYPE.match(declaration)
        if prototype is None or prototype.group(1) in words:
            kept.append(declaration)
    return kept


def key(root):
    """Return a hash (hex str) of all that a translation of the source tree `root` depends on."""
    settings = [FORMAT, OPTIONS, environments.RPYTHON_PACKAGES, platform.machine(),
                engine.compiler_identity(), os.environ.get('CFLAGS'), generated(root), declarations(root)]
    state = hashlib.sha256(engine.digest(sources(root), *settings).encode())
    for path in sources(root):
        state.update(os.path.relpath(path, root).encode())
    return state.hexdigest()[:20]
