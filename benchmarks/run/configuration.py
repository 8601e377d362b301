"""Everything that a reader needs to repeat a measurement, as one JSON object.

A single setting of SQLite can change its speed by an order of magnitude, so nothing is left to
defaults unsaid: what the user chose, what SQLite reports about itself in each engine's process, the
data, and the machine.
"""

import datetime
import hashlib
import os
import subprocess
import sys

from benchmarks import places
from benchmarks.run import machine, measure


def git_commit():
    """Return the commit of this working tree, with '+changes' if files differ; None outside git."""
    def git(*arguments):
        return subprocess.run(('git',) + arguments, cwd=places.ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, universal_newlines=True)

    try:
        head = git('rev-parse', 'HEAD')
    except OSError:
        return None
    if head.returncode != 0:
        return None
    changed = git('status', '--porcelain', '--untracked-files=no').stdout.strip()
    return head.stdout.strip() + ('+changes' if changed else '')


def file_system(path):
    """Return the type and mount options (str) of the file system that holds `path`."""
    best = ('', 'unknown')
    with open('/proc/mounts', encoding='utf-8') as file:
        for line in file:
            _, mount, kind, options = line.split()[:4]
            mount = mount.replace('\\040', ' ')
            inside = os.path.realpath(path).startswith(mount.rstrip('/') + '/')
            if inside and len(mount) >= len(best[0]):
                best = (mount, '%s (%s)' % (kind, options))
    return best[1]


def sha256(path):
    """Return the SHA-256 (hex str) of a file."""
    state = hashlib.sha256()
    with open(path, 'rb') as file:
        for block in iter(lambda: file.read(1 << 20), b''):
            state.update(block)
    return state.hexdigest()


def warm(path):
    """Read a file once, so that every engine finds it in the operating system's cache."""
    with open(path, 'rb', buffering=0) as file:
        while file.read(1 << 20):
            pass


def gather(suite, dataset, scale, database, settings, rounds, engines):
    """Return the configuration (dict, as it goes into the JSON).

    Args:
        suite: the suite's name.
        dataset: data.Dataset.
        scale: its scale factor (float).
        database: path of the database.
        settings: engines.Settings.
        rounds: processes for each engine and query.
        engines: dict of engine name to what its process said of itself.
    """
    for found in engines.values():
        found['library_sha256'] = {path: sha256(path) for path in found.get('libraries', ())}
    return {
        'suite': suite,
        'command': ' '.join(['python -m benchmarks'] + sys.argv[1:]),
        'date': datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds'),
        'git_commit': git_commit(),
        'method': {
            'processes_per_engine': rounds,
            'order': ('runs of the engines\' processes in turns' if suite != 'figure3' else
                      'processes in turns') + '; every second round is reversed',
            'warmup_runs_at_least': settings.warmup_runs,
            'warmup_seconds_at_least': settings.warmup_seconds,
            'measured_runs_at_least': settings.runs,
            'measured_seconds_at_least': settings.seconds,
            'clock': settings.clock,
            'median': 'over processes, of each process\'s median run',
            'ratio': 'median over rounds, of the median of the runs\' ratios',
            'interval': '95 %, hierarchical bootstrap (rounds, then runs)',
            'first_run': 'of a new process, after connecting; database in the OS cache',
            'cache_size': 'default' if settings.cache_size is None else settings.cache_size,
            'mmap_size': 'default' if settings.mmap_size is None else settings.mmap_size,
            'PYPY_GC_NURSERY': settings.nursery,
            'layouts': 'environments of a round longer by up to %d bytes, seed %s'
                       % (measure.LONGEST_PADDING, settings.layouts),
        },
        'data': {
            'scale': scale,
            'path': database,
            'bytes': os.path.getsize(database),
            'rows': dataset.row_counts(database),
            'indexes': dataset.indexes(),
            'file_system': file_system(database),
        },
        'machine': machine.describe(),
        'harness_python': sys.version.replace('\n', ' '),
        'engines': engines,
    }
