"""What another SQLite has changed in the structs and constants that the VM knows by number.

Both versions are measured without our edits, so that this works while some of them don't fit.
"""
import os
import re
import subprocess
from typing import Dict, List

from c_engine.build import build, flags, layout
from tools.upgrade import uses
from tools.upgrade.findings import TO_MEND, TO_READ

_NUMBER = re.compile(r'^(\w+) = (-?\d+)$', re.M)


def measure(source, target):
    """The numbers of an unedited amalgamation.

    Args:
        source: path of its sqlite3.c, sqlite3.h beside it.
        target: path of the file that keeps them.

    Returns: {name: int}, the names those of c_engine/generated/layout.py.
    Raises: subprocess.CalledProcessError: a field or a constant is gone; its `stderr` names it.
    """
    inputs = [source, os.path.join(os.path.dirname(source), 'sqlite3.h'), layout.__file__, layout.ENGINE_HEADER]
    build.step('struct layouts of ' + os.path.relpath(source, build.ROOT), [target],
               build.digest(inputs, flags.DEFINES, build.compiler_identity()),
               lambda: build.write(target, layout.generate(source, edited=False)))
    return {name: int(value) for name, value in _NUMBER.findall(build.read(target))}


def complaints(error):
    """The lines (list of str) of a compiler's message that are errors, without the path of a temporary file.

    Args: error, a subprocess.CalledProcessError of c_engine.build.flags.compile_or_link.
    """
    found = [re.sub(r'^.*?: (?=(?:fatal )?error: )', '', line) for line in (error.stderr or '').splitlines()
             if re.search(r'\berror: |undefined reference', line)]
    return list(dict.fromkeys(found)) or [error.stderr or 'it failed with code %d' % error.returncode]


def changes(before, after):
    """What differs between the numbers of two versions ({name: int}): a list of lines (str), one for a struct or a
    family of constants that share the word before the first underscore."""
    families: Dict[str, List[str]] = {}
    for name in sorted(set(before) | set(after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            # sizeof_Mem belongs to Mem; sqlite3_context_pOut to sqlite3_context.
            family = next((prefix for prefix, _, _ in sorted(layout.STRUCTS, reverse=True)
                           if name.startswith((prefix + '_', 'sizeof_' + prefix))), name.split('_')[0])
            told = 'new' if old is None else 'gone' if new is None else '%d, was %d' % (new, old)
            families.setdefault(family, []).append('%s %s' % (name, told))
    return ['%s: %s' % (family, '; '.join(lines)) for family, lines in families.items()]


def compare(pinned, other, findings):
    """Measure two versions and note what differs.

    Args:
        pinned, other: (path of sqlite3.c, path of the file that keeps its numbers) of each.
        findings: takes what was found (tools.upgrade.findings.Findings).
    """
    try:
        before, after = measure(*pinned), measure(*other)
    except subprocess.CalledProcessError as error:
        findings.add(TO_MEND, 'what c_engine/build/layout.py asks for and the compiler does not find',
                     complaints(error))
        return
    used = uses.files_with(set(before) - set(after), uses.PYTHON)
    findings.add(TO_MEND, 'constants', ['%s is gone, but used in %s' % (name, ' '.join(paths))
                                        for name, paths in sorted(used.items())])
    findings.add(TO_READ, 'struct layouts and constants; their numbers are generated', changes(before, after))
