"""Files of the repository that `make docs` writes: written, or with --check held against what they are to be."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def content(path):
    """Return the text of a file (str), '' if it isn't there."""
    if not os.path.exists(path):
        return ''
    with open(path, encoding='utf-8') as file:
        return file.read()


def main(arguments, path, text):
    """Write or check a file; return the exit status.

    Args:
        arguments: of the command line (list of str).
        path: the file's.
        text: what it is to be (str).
    """
    if '--check' not in arguments:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return 0
    if content(path) == text:
        return 0
    print('%s is not up to date: run `make docs`' % os.path.relpath(path, ROOT), file=sys.stderr)
    return 1
