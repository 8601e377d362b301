"""Which libraries of SQLite or of ours a process has loaded."""

import os


def libraries():
    """Return the paths of the shared libraries of SQLite or of ours in this process."""
    with open('/proc/self/maps', encoding='utf-8') as file:
        paths = {line.split(None, 5)[5].strip() for line in file if '/' in line}
    return sorted(path for path in paths if path.endswith(('.so', '.so.0')) and
                  os.path.basename(path).startswith(('libsqlite3', 'libsqpyte')))
