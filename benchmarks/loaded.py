"""Which database libraries a process has loaded."""

import os


def libraries(names=('libsqlite3', 'libsqpyte')):
    """Return the paths of the shared libraries in this process whose names begin with one of `names` (tuple of str)."""
    with open('/proc/self/maps', encoding='utf-8') as file:
        paths = {line.split(None, 5)[5].strip() for line in file if '/' in line}
    return sorted(path for path in paths if path.endswith(('.so', '.so.0')) and
                  os.path.basename(path).startswith(names))
