"""Fills a database with a data set's tables, in a process of its own that runs on the stock SQLite.

`python -m benchmarks.data.load DATASET SCALE DATABASE VERSION LIBRARY [GENERATOR]`. TPC-H's rows come from
GENERATOR, tpchgen-cli (run once: each of its processes needs a second before it writes), SSB's from
ssb_rows.py, TATP's from tatp_rows.py. Prints progress on stdout, one line a step: `<step> <rows so far>`.
"""

import functools
import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile

from benchmarks import loaded
from benchmarks.data import ssb_rows, tatp_rows

HERE = os.path.dirname(os.path.abspath(__file__))
TPCH_TABLES = ('region', 'nation', 'supplier', 'customer', 'part', 'partsupp', 'orders', 'lineitem')
BATCH = 20000   # rows between two lines of progress
LOADER = 1   # to be raised when this file makes other databases than before from the same schema


def read(name):
    """Return the text of a file of this folder."""
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return file.read()


def rows_of(lines, columns):
    """Yield the values (tuples of str) of generated lines, which end every field with '|'."""
    for line in lines:
        values = line.split('|')
        if len(values) != columns + 1:
            raise ValueError('%d fields expected, the generator gave %r' % (columns, line))
        yield values[:columns]


def width(connection, table):
    """Return how many columns a table has (int)."""
    return len(connection.execute('PRAGMA table_info(%s)' % table).fetchall())


def insert(connection, table, rows):
    """Insert rows (iterator of sequences) into a table; its columns' affinities give texts their
    types."""
    sql = 'INSERT INTO %s VALUES(%s)' % (table, ','.join('?' * width(connection, table)))
    for count in itertools.count(BATCH, BATCH):
        batch = list(itertools.islice(rows, BATCH))
        connection.executemany(sql, batch)
        print(table, count - BATCH + len(batch), flush=True)
        if len(batch) < BATCH:
            return


def load_tpch(connection, scale, folder, generator):
    """Make TPC-H's tables; the generator's files are in `folder` meanwhile."""
    connection.executescript(read('schema.sql'))
    print('generate', 0, flush=True)
    subprocess.run([generator, '-s', scale, '--output-dir', folder, '--quiet'], check=True)
    for table in TPCH_TABLES:
        with open(os.path.join(folder, table + '.tbl'), encoding='utf-8') as file:
            insert(connection, table, rows_of(file, width(connection, table)))
    connection.commit()
    print('indexes', 0, flush=True)
    connection.executescript(read('indexes.sql'))


def load_own(schema, rows, connection, scale, folder, generator):
    """Make the tables of a schema (its file's name) with rows that a module of ours generates."""
    connection.executescript(read(schema))
    for table in rows.TABLES:
        insert(connection, table, rows.ROWS[table](float(scale)))
    connection.commit()


LOADERS: dict = {'tpch': load_tpch, 'ssb': functools.partial(load_own, 'ssb_schema.sql', ssb_rows),
                 'tatp': functools.partial(load_own, 'tatp_schema.sql', tatp_rows)}
# With statistics (STAT4), SQLite compiles a statement anew for each value that is bound to the bound of a range: TATP's
# get_new_destination each time, in place of every second one.
ANALYZED = ('tpch', 'ssb')


def main(dataset, scale, path, version, library, generator=None):
    """Make a database.

    Args:
        dataset: a name in LOADERS.
        scale: the scale factor, as a str.
        path: where to make it; nothing may be there.
        version: the mark (int, PRAGMA user_version) of a complete database.
        library: path of the SQLite that has to do it.
        generator: path of tpchgen-cli, for TPC-H.

    Raises:
        RuntimeError: this Python's sqlite3 module uses another SQLite.
    """
    connection = sqlite3.connect(path)
    found = [os.path.realpath(found) for found in loaded.libraries()]
    if found != [os.path.realpath(library)]:
        raise RuntimeError('%s loads %s instead of %s' % (sys.executable, found, library))
    connection.execute('PRAGMA journal_mode = OFF').fetchall()
    connection.execute('PRAGMA synchronous = OFF')
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        LOADERS[dataset](connection, scale, folder, generator)
    if dataset in ANALYZED:
        print('analyze', 0, flush=True)
        connection.execute('ANALYZE')
        connection.commit()
    connection.execute('PRAGMA user_version = %d' % version)
    connection.close()


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
