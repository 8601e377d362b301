"""Fills a database with TPC-H's tables, in a process of its own that runs on the stock SQLite.

`python -m benchmarks.load GENERATOR SCALE DATABASE VERSION LIBRARY`: runs tpchgen-cli (once: each
of its processes needs a second before it writes), fills DATABASE from its files, and prints
progress on stdout, one line a step: `<step> <rows so far>`.
"""

import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile

from benchmarks import worker

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ('region', 'nation', 'supplier', 'customer', 'part', 'partsupp', 'orders', 'lineitem')
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


def load_table(connection, folder, table):
    """Insert the rows of one generated file; the columns' affinities give the values their types.

    Args:
        connection: an sqlite3.Connection.
        folder: where the generator's files are.
        table: the table's name.
    """
    columns = len(connection.execute('PRAGMA table_info(%s)' % table).fetchall())
    insert = 'INSERT INTO %s VALUES(%s)' % (table, ','.join('?' * columns))
    with open(os.path.join(folder, table + '.tbl'), encoding='utf-8') as file:
        rows = rows_of(file, columns)
        for count in itertools.count(BATCH, BATCH):
            batch = list(itertools.islice(rows, BATCH))
            connection.executemany(insert, batch)
            print(table, count - BATCH + len(batch), flush=True)
            if len(batch) < BATCH:
                return


def main(generator, scale, path, version, library):
    """Make a database.

    Args:
        generator: path of tpchgen-cli.
        scale: TPC-H's scale factor, as a str.
        path: where to make it; nothing may be there.
        version: the mark (int, PRAGMA user_version) of a complete database.
        library: path of the SQLite that has to do it.

    Raises:
        RuntimeError: this Python's sqlite3 module uses another SQLite.
    """
    connection = sqlite3.connect(path)
    found = [os.path.realpath(found) for found in worker.loaded_libraries()]
    if found != [os.path.realpath(library)]:
        raise RuntimeError('%s loads %s instead of %s' % (sys.executable, found, library))
    connection.execute('PRAGMA journal_mode = OFF').fetchall()
    connection.execute('PRAGMA synchronous = OFF')
    connection.executescript(read('schema.sql'))
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        print('generate', 0, flush=True)
        subprocess.run([generator, '-s', scale, '--output-dir', folder, '--quiet'], check=True)
        for table in TABLES:
            load_table(connection, folder, table)
    connection.commit()
    print('indexes', 0, flush=True)
    connection.executescript(read('indexes.sql'))
    print('analyze', 0, flush=True)
    connection.execute('ANALYZE')
    connection.commit()
    connection.execute('PRAGMA user_version = %d' % version)
    connection.close()


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
