"""TPC-H databases: made once for each scale, kept under build/data (or $SQPYTE_DATA)."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import zlib

from benchmarks import load, places

# Rows at scale 1 (specification 4.2.5); region and nation have 5 and 25 at every scale, and
# lineitem's number is approximate. Only progress bars use these.
ROWS_AT_1 = {'supplier': 10000, 'customer': 150000, 'part': 200000, 'partsupp': 800000,
             'orders': 1500000, 'lineitem': 6000000}
SMALLEST = 0.01


def version():
    """Return the number (int) that marks databases of today's schema, indexes and loader."""
    text = '%s%s%d' % (load.read('schema.sql'), load.read('indexes.sql'), load.LOADER)
    return zlib.crc32(text.encode()) & 0x7fffffff


def path_of(scale):
    """Return where the database of `scale` (float) is kept (path)."""
    return os.path.join(places.data_folder(), 'tpch-%g.db' % scale)


def is_current(path):
    """Return whether `path` holds a database that the present loader completed."""
    if not os.path.exists(path):
        return False
    connection = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
    try:
        return connection.execute('PRAGMA user_version').fetchone()[0] == version()
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


def expected_rows(table, scale):
    """Return about how many rows `table` has at `scale` (int, at least 1)."""
    if table in ROWS_AT_1:
        return max(1, int(ROWS_AT_1[table] * scale))
    return 25


def ensure(scale, progress=None):
    """Return the path of the database of `scale`, generating it first if need be.

    Args:
        scale: TPC-H's scale factor (float from SMALLEST up; 1 is about 1.3 GB).
        progress: None, or a function called with (step's name, rows so far, rows expected).

    Raises:
        places.Missing: the generator or the stock library isn't there, or the scale is too small.
        RuntimeError: generating or loading failed; the message holds the loader's error.
    """
    if scale < SMALLEST:
        raise places.Missing('scale %g at least: below it, TPC-H\'s keys are not unique' % SMALLEST)
    path = path_of(scale)
    if is_current(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = '%s.%d.part' % (path, os.getpid())
    command = [sys.executable, '-m', 'benchmarks.load', places.tpchgen(), '%g' % scale, partial,
               str(version()), places.stock_library()]
    environment = dict(os.environ, LD_LIBRARY_PATH=places.stock_loader_folder())
    try:
        with tempfile.TemporaryFile('w+') as errors:
            with subprocess.Popen(command, cwd=places.ROOT, env=environment, stderr=errors,
                                  stdout=subprocess.PIPE, universal_newlines=True) as process:
                for line in process.stdout or ():
                    step, rows = line.split()
                    if progress is not None:
                        progress(step, int(rows), expected_rows(step, scale))
            if process.returncode != 0:
                errors.seek(0)
                raise RuntimeError('loading scale %g failed:\n%s' % (scale, errors.read()))
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    return path


def row_counts(path):
    """Return the number of rows of every TPC-H table (dict of str to int)."""
    connection = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
    try:
        return {table: connection.execute('SELECT count(*) FROM %s' % table).fetchone()[0]
                for table in load.TABLES}
    finally:
        connection.close()
