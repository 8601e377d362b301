"""Runs one micro-benchmark in this process: `python -m benchmarks.run.worker SETTINGS` (JSON).

Uses nothing but the standard library, because it runs under every interpreter that is compared.
Prints one JSON object: `configuration`, `startup_s`, `first_run_s`, `samples_s`, `warmup_runs` and
`answers` (the distinct answers of all runs, in order: more than one means the engine is wrong).
"""

import hashlib
import importlib
import json
import os
import platform
import sys
import time

from benchmarks import loaded
from benchmarks.suites import calls, micro

BENCHMARKS = dict(micro.BENCHMARKS, **calls.BENCHMARKS)
PRAGMAS = ('journal_mode', 'synchronous', 'page_size', 'cache_size', 'mmap_size', 'temp_store',
           'locking_mode', 'foreign_keys')
# Time passed, and time for which this process had a processor.
CLOCKS = {'wall': time.perf_counter, 'cpu': time.process_time}


def summary(answer):
    """Return `answer` as something JSON keeps exactly: of a dict or list, its size and a digest."""
    if isinstance(answer, (dict, list)):
        state = hashlib.sha256()
        for item in answer.items() if isinstance(answer, dict) else answer:
            state.update(repr(item).encode())
        return {'rows': len(answer), 'sha256': state.hexdigest()}
    return list(answer) if isinstance(answer, tuple) else answer


def configuration(connection):
    """Return what this process runs on: interpreter, SQLite, its libraries, options, pragmas."""
    version, source = connection.execute(
        'SELECT sqlite_version(), sqlite_source_id()').fetchone()
    pragmas = {name: (connection.execute('PRAGMA ' + name).fetchone() or (0,))[0]
               for name in PRAGMAS}
    return {
        'python': '%s %s' % (platform.python_implementation(), ' '.join(sys.version.split())),
        'executable': sys.executable,
        'gc_nursery': os.environ.get('PYPY_GC_NURSERY'),
        'sqlite_version': version,
        'sqlite_source_id': source,
        'compile_options': [row[0] for row in connection.execute('PRAGMA compile_options')],
        'libraries': loaded.libraries(),
        'pragmas': pragmas,
    }


def repeat(run, clock, least_runs, least_seconds):
    """Call `run` at least `least_runs` times and for `least_seconds`; return its results."""
    results: list = []
    start = clock()
    while len(results) < least_runs or clock() - start < least_seconds:
        results.append(run())
    return results


def take_turns(run, asked, answers):
    """Call `run` for each line of `asked`, writing its seconds to `answers` at once.

    Args:
        run: function without arguments that returns seconds.
        asked: iterable of lines: `first`, `warmup` or `run`.
        answers: a text file.

    Returns:
        The seconds of the first run, the number of warm-up runs, and the seconds of the others.
    """
    first, warmups, samples = 0.0, 0, []
    for line in asked:
        seconds = run()
        if line.startswith('first'):
            first = seconds
        elif line.startswith('warmup'):
            warmups += 1
        else:
            samples.append(seconds)
        answers.write('%.9f\n' % seconds)
        answers.flush()
    return first, warmups, samples


def measured(execute, shown, settings):
    """Call a function as often as `settings` say (see `main`).

    Args:
        execute: function without arguments that returns an answer; it alone is timed.
        shown: function that makes something of an answer which JSON keeps exactly.
        settings: dict.

    Returns:
        A dict of `first_run_s`, `samples_s`, `warmup_runs` and `answers`.
    """
    clock = CLOCKS[settings['clock']]
    answers = []

    def run():
        start = clock()
        answer = execute()
        seconds = clock() - start
        answer = shown(answer)
        if answer not in answers:
            answers.append(answer)
        return seconds

    if settings['runs'] == 'turns':
        first, warmups, samples = take_turns(run, sys.stdin, sys.stdout)
    else:
        first = run()
        warmups = len(repeat(run, clock, settings['warmup_runs'], settings['warmup_seconds']))
        samples = repeat(run, clock, settings['runs'], settings['seconds'])
    return {'first_run_s': first, 'samples_s': samples, 'warmup_runs': warmups, 'answers': answers}


def main(settings):
    """Run one benchmark and return what the module's docstring lists.

    Args:
        settings: dict of `module` (DB-API module's name), `database` (path), `benchmark` (name),
            `pragmas` (list of str, such as `cache_size=-9000`), `warmup_runs`, `warmup_seconds`, `runs`
            (a number, or `turns`: stdin asks for each run, see take_turns), `seconds`, `clock`
            (name in CLOCKS), `extension` (see micro.prepare). Without a `benchmark`, returns the
            configuration alone.
    """
    clock = CLOCKS[settings['clock']]
    start = clock()
    module = importlib.import_module(settings['module'])
    connection = module.connect(settings['database'])
    calls.give(connection, settings['pragmas'])
    micro.prepare(connection, settings['benchmark'], settings['extension'])
    startup = clock() - start
    if settings['benchmark'] is None:
        return {'configuration': configuration(connection)}
    benchmark = BENCHMARKS[settings['benchmark']]
    found = measured(lambda: benchmark(module, connection), summary, settings)
    return dict(found, configuration=configuration(connection), startup_s=startup)


if __name__ == '__main__':
    json.dump(main(json.loads(sys.argv[1])), sys.stdout)
