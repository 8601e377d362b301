"""Where our code names a thing of SQLite's."""
import glob
import os
import re
from typing import Dict, List

from c_engine.build import build

PYTHON = ['sqpyte', 'pypy_module']
C = [os.path.join('c_engine', room) for room in build.C_ROOMS]


def files_with(words, rooms, root=build.ROOT):
    """The files that name some words, in code or in a comment.

    Args: words (collection of str), the folders to look in (list of str), and the source tree (path).
    Returns: {word: paths relative to the tree (sorted list of str)}, without words that no file has.
    """
    wanted = set(words)
    found: Dict[str, List[str]] = {}
    for room in rooms:
        for path in sorted(glob.glob(os.path.join(root, room, '**', '*.*'), recursive=True)):
            if path.endswith(('.py', '.c', '.h')):
                for word in wanted & set(re.findall(r'\w+', build.read(path))):
                    found.setdefault(word, []).append(os.path.relpath(path, root))
    return found
