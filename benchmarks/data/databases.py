"""TPC-H, SSB and TATP databases: made once for each scale, kept under build/data (or $SQPYTE_DATA)."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import zlib

from benchmarks import places
from benchmarks.data import load, ssb_rows, tatp_rows

# Rows at scale 1 (specification 4.2.5); region and nation have 5 and 25 at every scale, and
# lineitem's number is approximate. Only progress bars use these.
ROWS_AT_1 = {'supplier': 10000, 'customer': 150000, 'part': 200000, 'partsupp': 800000,
             'orders': 1500000, 'lineitem': 6000000}


class Dataset:
    """A benchmark's data, at any scale.

    Attributes:
        name: 'tpch', 'ssb' or 'tatp', as files and load.py call it.
        title: its name in messages.
        tables: the tables' names.
        smallest: the least scale (float) of sound data, `why` (str) none is below it.
    """
    name = title = why = ''
    tables: tuple = ()
    smallest = 0.0

    def version(self):
        """Return the number (int) that marks databases of today's schema, indexes and loader."""
        return zlib.crc32(self.made_from().encode()) & 0x7fffffff

    def made_from(self):
        """Return a text that is another one when databases come out different."""
        raise NotImplementedError

    def generator(self):
        """Return the arguments (list of str) that name the generator to load.py. Raises
        places.Missing."""
        return []

    def indexes(self):
        """Return the statements (list of str) that make indexes, besides primary keys."""
        return []

    def expected_rows(self, table, scale):
        """Return about how many rows `table` has at `scale` (int, at least 1); table may be
        another of load.py's steps."""
        raise NotImplementedError

    def path_of(self, scale):
        """Return where the database of `scale` (float) is kept (path)."""
        return os.path.join(places.data_folder(), '%s-%g.db' % (self.name, scale))

    def is_current(self, path):
        """Return whether `path` holds a database that the present loader completed."""
        if not os.path.exists(path):
            return False
        connection = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
        try:
            return connection.execute('PRAGMA user_version').fetchone()[0] == self.version()
        except sqlite3.DatabaseError:
            return False
        finally:
            connection.close()

    def row_counts(self, path):
        """Return the number of rows of every table (dict of str to int)."""
        connection = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
        try:
            return {table: connection.execute('SELECT count(*) FROM %s' % table).fetchone()[0]
                    for table in self.tables}
        finally:
            connection.close()

    def ensure(self, scale, progress=None):
        """Return the path of the database of `scale`, generating it first if need be.

        Args:
            scale: the scale factor (float from `smallest` up; 1 is about 1 GB).
            progress: None, or a function called with (step's name, rows so far, rows expected).

        Raises:
            places.Missing: the generator or the stock library isn't there, or the scale is too
                small.
            RuntimeError: generating or loading failed; the message holds the loader's error.
        """
        if scale < self.smallest:
            raise places.Missing('scale %g at least: below it, %s' % (self.smallest, self.why))
        path = self.path_of(scale)
        if self.is_current(path):
            return path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        partial = '%s.%d.part' % (path, os.getpid())
        command = [sys.executable, '-m', 'benchmarks.data.load', self.name, '%g' % scale, partial,
                   str(self.version()), places.stock_library()] + self.generator()
        environment = dict(os.environ, LD_LIBRARY_PATH=places.stock_loader_folder())
        try:
            with tempfile.TemporaryFile('w+') as errors:
                with subprocess.Popen(command, cwd=places.ROOT, env=environment, stderr=errors,
                                      stdout=subprocess.PIPE, universal_newlines=True) as process:
                    for line in process.stdout or ():
                        step, rows = line.split()
                        if progress is not None:
                            progress(step, int(rows), self.expected_rows(step, scale))
                if process.returncode != 0:
                    errors.seek(0)
                    raise RuntimeError('loading scale %g failed:\n%s' % (scale, errors.read()))
            os.replace(partial, path)
        finally:
            if os.path.exists(partial):
                os.remove(partial)
        return path


class TpchData(Dataset):
    """TPC-H's tables, as tpchgen-cli generates them."""
    name = 'tpch'
    title = 'TPC-H'
    tables = load.TPCH_TABLES
    smallest = 0.01
    why = 'TPC-H\'s keys are not unique'

    def made_from(self):
        """See Dataset."""
        return '%s%s%d' % (load.read('schema.sql'), load.read('indexes.sql'), load.LOADER)

    def generator(self):
        """See Dataset."""
        return [places.tpchgen()]

    def indexes(self):
        """See Dataset."""
        return [line for line in load.read('indexes.sql').splitlines()
                if line.startswith('CREATE')]

    def expected_rows(self, table, scale):
        """See Dataset."""
        return max(1, int(ROWS_AT_1[table] * scale)) if table in ROWS_AT_1 else 25


class OwnData(Dataset):
    """A benchmark's tables, with rows that a module of ours generates.

    Args:
        name, title, why: see Dataset.
        schema: name of the file with the schema.
        rows: the module, such as ssb_rows.py.
    """
    smallest = 0.01

    def __init__(self, name, title, why, schema, rows):
        self.name, self.title, self.why, self.schema, self.rows = name, title, why, schema, rows
        self.tables = rows.TABLES

    def made_from(self):
        """See Dataset."""
        return '%s%d.%d' % (load.read(self.schema), load.LOADER, self.rows.VERSION)

    def indexes(self):
        """See Dataset."""
        return [line for line in load.read(self.schema).splitlines() if line.startswith('CREATE INDEX')]

    def expected_rows(self, table, scale):
        """See Dataset."""
        return self.rows.count(table, scale) if table in self.rows.TABLES else 1


TPCH = TpchData()
SSB = OwnData('ssb', 'SSB', 'SSB\'s queries find nothing', 'ssb_schema.sql', ssb_rows)
TATP = OwnData('tatp', 'TATP', 'TATP has too few subscribers', 'tatp_schema.sql', tatp_rows)
DATASETS = {dataset.name: dataset for dataset in (TPCH, SSB, TATP)}
