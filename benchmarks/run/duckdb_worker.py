"""Runs one query on DuckDB in this process: `python -m benchmarks.run.duckdb_worker SETTINGS` (JSON).

Prints what worker.py prints, under the Python that has DuckDB. A run executes the statement and fetches all rows;
DuckDB has one thread for it, as SQLite has.
"""

import datetime
import json
import os
import platform
import sys

import duckdb

from benchmarks import loaded
from benchmarks.run import worker


def plain(rows):
    """Return rows as lists of what JSON has; dates are SQLite's texts."""
    return [[value.isoformat() if isinstance(value, datetime.date) else value for value in row] for row in rows]


def configuration(connection, path):
    """Return what this process runs on (dict): interpreter, DuckDB, its settings, the file."""
    version, source = connection.execute('SELECT library_version, source_id FROM pragma_version()').fetchone()
    found = {name: connection.execute('SELECT current_setting(?)', [name]).fetchone()[0]
             for name in ('threads', 'memory_limit')}
    return {
        'python': '%s %s' % (platform.python_implementation(), ' '.join(sys.version.split())),
        'executable': sys.executable,
        'duckdb_version': version,
        'duckdb_source_id': source,
        'libraries': loaded.libraries(('_duckdb',)),
        'settings': found,
        'database': path,
        'bytes': os.path.getsize(path) if os.path.exists(path) else 0,
    }


def main(settings):
    """Run one query and return what the module's docstring says.

    Args:
        settings: dict of `database` (path of a file of DuckDB's, or `:memory:`), `sql` (str; None: no more than the
            configuration is returned), `warmup_runs`, `warmup_seconds`, `runs`, `seconds` and `clock` as worker.main's.
    """
    clock = worker.CLOCKS[settings['clock']]
    start = clock()
    connection = duckdb.connect(settings['database'], read_only=settings['database'] != ':memory:')
    connection.execute('SET threads TO 1')
    startup = clock() - start
    if settings['sql'] is None:
        return {'configuration': configuration(connection, settings['database'])}
    found = worker.measured(lambda: connection.execute(settings['sql']).fetchall(), plain, settings)
    return dict(found, configuration=configuration(connection, settings['database']), startup_s=startup)


if __name__ == '__main__':
    json.dump(main(json.loads(sys.argv[1])), sys.stdout)
