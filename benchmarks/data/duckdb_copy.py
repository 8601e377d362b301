"""Copies a TPC-H database to DuckDB's format, once, into a file beside it.

`python -m benchmarks.data.duckdb_copy DATABASE COPY`, under the Python that has DuckDB. The rows go by CSV: DuckDB's
own reader of SQLite's files is an extension that it would have to download.
"""

import csv
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from benchmarks import places
from benchmarks.data import load
from tools import environments

VERSION = 1     # to be raised when this file makes other copies than before


def path_of(database):
    """Return where the copy of a database (path) is kept (path)."""
    return os.path.splitext(database)[0] + '.duckdb'


def schema():
    """Return the statements (str) that make TPC-H's tables in DuckDB.

    REAL has 4 bytes there, DOUBLE is SQLite's REAL. A primary key would be an index that checks for duplicates, which
    joins don't use: DuckDB's own TPC-H tables have none.
    """
    text = load.read('schema.sql').replace(' REAL', ' DOUBLE')
    return re.sub(r',?\s+PRIMARY KEY(\([^)]*\))?', '', text)


def made_from(database):
    """Return a text that is another one when a copy of a database (path) comes out different."""
    connection = sqlite3.connect('file:%s?mode=ro' % database, uri=True)
    try:
        version, = connection.execute('PRAGMA user_version').fetchone()
    finally:
        connection.close()
    return '%d.%d %s' % (version, VERSION, environments.read(*environments.requirements('duckdb')))


def ensure(database):
    """Return the path of a database's copy, making it first if need be; COPY.inputs says what it was made from.

    Raises:
        places.Missing: there is no Python with DuckDB.
        RuntimeError: copying failed; the message holds the error.
    """
    path = path_of(database)
    inputs = made_from(database)
    if os.path.exists(path) and environments.read(path + '.inputs') == inputs:
        return path
    partial = '%s.%d.part' % (path, os.getpid())
    command = [places.duckdb_python(), '-m', 'benchmarks.data.duckdb_copy', database, partial]
    try:
        made = subprocess.run(command, cwd=places.ROOT, stderr=subprocess.PIPE, universal_newlines=True)
        if made.returncode != 0:
            raise RuntimeError('copying %s to DuckDB failed:\n%s' % (database, made.stderr))
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)
    environments.write(path + '.inputs', inputs)
    return path


def main(database, path):
    """Make a copy of a database at `path`, where nothing may be."""
    import duckdb
    rows = sqlite3.connect('file:%s?mode=ro' % database, uri=True)
    copy = duckdb.connect(path)
    copy.execute(schema())
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        for table in load.TPCH_TABLES:
            lines = os.path.join(folder, table + '.csv')
            with open(lines, 'w', encoding='utf-8', newline='') as file:
                csv.writer(file).writerows(rows.execute('SELECT * FROM %s' % table))
            copy.execute('''COPY %s FROM '%s' (FORMAT csv, HEADER false, AUTO_DETECT false, DELIMITER ',', QUOTE '"')
                ''' % (table, lines))
            os.remove(lines)
    copy.close()
    rows.close()


if __name__ == '__main__':
    main(*sys.argv[1:])
