"""The command line: `python -m benchmarks micro|tpch|ssb|tatp|calls|figure3|startup|profile|bought|data`
(`--help` says more).

Exit code 0: all answers were the same; 1: they weren't, or a process failed; 2: something is
missing.
"""

import argparse
import collections

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import ablations, places
from benchmarks.results import beside, bought
from benchmarks.run import configuration, engines, measure, profile, worker
from benchmarks.results import report as reports
from benchmarks.data import databases
from benchmarks.run import figure3, startup
from benchmarks.suites import calls, micro, queries, ssb, tatp

Suite = collections.namedtuple(
    'Suite', 'help dataset engines default baseline queries normal scale groups')

SUITES = {
    'micro': Suite('the paper\'s six micro-benchmarks and eleven more, on DB-API modules and in C',
                   databases.TPCH, engines.MICRO, tuple(
                       name for name in engines.MICRO if name not in ablations.MODULE),
                   'stock-pypy', micro.NAMES, str, 0.2,
                   {'mean of the six': tuple(micro.PAPER), 'mean of all': micro.NAMES}),
    'tpch': Suite('TPC-H\'s 22 queries on libraries with the sqlite3 C API', databases.TPCH,
                  engines.TPCH, ('stock', 'vm'), 'stock', queries.NAMES, queries.normal, 0.2,
                  {'geometric mean': queries.NAMES}),
    'ssb': Suite('the Star Schema Benchmark\'s 13 queries on the same libraries', databases.SSB,
                 engines.SSB, ('stock', 'vm'), 'stock', ssb.NAMES, ssb.normal, 0.2,
                 {'geometric mean': ssb.NAMES}),
    'tatp': Suite('TATP\'s seven transactions and their mixture, by the C API, on the same libraries',
                  databases.TATP, engines.TATP, ('stock', 'vm', 'engine'), 'stock', tatp.NAMES, tatp.normal, 1.0,
                  {'mean of the seven': tatp.SEVEN}),
    'calls': Suite('plain calls, two of TPC-H\'s queries and reading threads, on modules under CPython',
                   databases.TPCH, engines.CALLS, tuple(engines.CALLS), 'stock-cpython', calls.NAMES, str, 0.2,
                   {'mean of the seven plain calls': tuple(calls.PLAIN)}),
    'figure3': Suite('examples/figure3.py on sqpyte and on sqlite3', databases.TPCH, figure3.ENGINES,
                     tuple(figure3.ENGINES), 'stock-pypy', (figure3.QUERY,), str, 0.05, {}),
}

MMAP_SIZE = ('PRAGMA mmap_size; SQLite takes its compile-time maximum where it is more. Without the option, no engine '
             'is given the pragma')


def positive(text):
    """Return the scale factor (float) that `text` says; argparse's type."""
    value = float(text)
    if not value > 0:
        raise ValueError(text)
    return value


def add_suite(commands, name, suite):
    """Add the sub-command that runs `suite`."""
    parser = commands.add_parser(name, help=suite.help, description=suite.help,
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    option = parser.add_argument
    option('--scale', type=positive, default=suite.scale,
           help='scale factor of the %s data' % suite.dataset.title)
    option('--queries', default=','.join(suite.queries), help='which, with commas between them')
    option('--engines', default=','.join(suite.default),
           help='which of %s, with commas; the baseline %s is always among them'
           % (', '.join(suite.engines), suite.baseline))
    option('--json', metavar='FILE', help='write configuration and results to FILE')
    option('--processes', type=int, default=5,
           help='rounds, with a process of each engine, for each query')
    option('--warmup', type=int, default=8, help='unmeasured runs after the first, at least')
    option('--warmup-seconds', type=float, default=1.0, help='time of unmeasured runs, at least')
    option('--runs', type=int, default=5, help='measured runs of each process, at least')
    option('--seconds', type=float, default=0.5, help='time of measured runs, at least')
    option('--cache-size', type=int, help='PRAGMA cache_size; without it, SQLite\'s default')
    option('--nursery', default='4M', help='PYPY_GC_NURSERY of every PyPy (see README.md here)')
    option('--layouts', type=int, default=1, metavar='SEED',
           help='of the lengths of the environments, which differ from round to round')
    if name == 'figure3':   # the example opens the database and reads the clock itself
        parser.set_defaults(clock='wall', mmap_size=None)
    else:
        option('--mmap-size', type=int, metavar='BYTES', help=MMAP_SIZE)
        option('--clock', choices=sorted(worker.CLOCKS), default='wall',
               help='time passed, or time for which the process had a processor')
    option('--timeout', type=float, default=1800, help='seconds that a process may take')


def chosen(text, known, what, normal=str):
    """Return the names in a comma-separated list. Raises places.Missing for an unknown one."""
    names = [normal(name.strip()) for name in text.split(',') if name.strip()]
    for name in names:
        if name not in known:
            raise places.Missing('no %s "%s"; there are: %s' % (what, name, ', '.join(known)))
    return list(dict.fromkeys(names))


def bar(console):
    """Return a progress bar."""
    return Progress(TextColumn('{task.description}'), BarColumn(),
                    TextColumn('{task.fields[note]}'), TimeElapsedColumn(), console=console)


def ensure_data(dataset, scale, console):
    """Return the path of a data set's database of `scale`, showing progress while it is
    generated."""
    if dataset.is_current(dataset.path_of(scale)):
        return dataset.path_of(scale)
    with bar(console) as progress:
        tasks: dict = {}

        def step(name, rows, expected):
            if name not in tasks:
                for task in tasks.values():
                    progress.update(task, completed=1, total=1)
                tasks[name] = progress.add_task('%s %g: %s' % (dataset.title, scale, name), note='',
                                                total=None)
            progress.update(tasks[name], completed=min(rows, expected), total=expected,
                            note='%d rows' % rows if rows else '')

        path = dataset.ensure(scale, step)
        for task in tasks.values():
            progress.update(task, completed=1, total=1)
    return path


def run_suite(name, suite, options, console):
    """Run one suite as `options` say; print and write what it found; return the exit code."""
    names = chosen(options.queries, suite.queries, 'query', suite.normal)
    wanted = chosen(options.engines, suite.engines, 'engine')
    engines_used = {engine: suite.engines[engine] for engine in suite.engines
                    if engine in wanted or engine == suite.baseline}
    settings = engines.Settings(options.warmup, options.warmup_seconds, options.runs,
                                options.seconds, options.cache_size, options.nursery,
                                options.timeout, options.clock, options.layouts,
                                mmap_size=options.mmap_size)
    for engine in engines_used.values():   # before the minutes that generating data may take
        engine.check(':memory:', settings)
    database = ensure_data(suite.dataset, options.scale, console)
    configuration.warm(database)
    found = {engine: engines_used[engine].check(database, settings) for engine in engines_used}
    configured = configuration.gather(name, suite.dataset, options.scale, database, settings,
                                      options.processes, found)
    with bar(console) as progress:
        task = progress.add_task(name, note='',
                                 total=len(names) * options.processes)

        def step(query, number):
            progress.update(task, advance=1, note='%s, round %d of %d' % (
                query, number + 1, options.processes))

        report = measure.run(name, engines_used, suite.baseline, names, options.scale, database,
                             settings, options.processes, step)
    if name == 'figure3':   # what a newcomer sees first: short; --json has the rest
        figure3.show_sums(console, report, configured)
    else:
        reports.show_configuration(console, configured)
    reports.show(report, console, suite.groups)
    if {'vm', 'duckdb'} <= set(engines_used):
        beside.show(console, report.results, 'vm', 'duckdb')
    if options.json:
        reports.write_json(options.json, report, configured)
    return 1 if report.problems else 0


def add_profile(commands):
    """Add the sub-command that tells where the time goes."""
    parser = commands.add_parser('profile', help='where the time of TPC-H\'s or SSB\'s queries goes',
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    option = parser.add_argument
    option('suite', choices=('tpch', 'ssb'), nargs='?', default='tpch')
    option('--scale', type=positive, default=0.2, help='scale factor of the data')
    option('--queries', help='which, with commas between them; without it all')
    option('--engines', default='stock,vm', help='which, with commas')
    option('--phase', choices=('warm', 'first'), default='warm', help='which runs')
    option('--seconds', type=float, default=2.0, help='time of measured runs, at least')
    option('--cache-size', type=int, help='PRAGMA cache_size; without it, SQLite\'s default')
    option('--mmap-size', type=int, metavar='BYTES', help=MMAP_SIZE)
    option('--timeout', type=float, default=1800, help='seconds that a process may take')
    option('--json', metavar='FILE', help='write the numbers of samples to FILE')


def run_profile(options, console):
    """Profile a suite as `options` say; return the exit code."""
    suite = SUITES[options.suite]
    names = chosen(options.queries or ','.join(suite.queries), suite.queries, 'query', suite.normal)
    known = {name: engine for name, engine in suite.engines.items() if isinstance(engine, engines.LibraryEngine)}
    engines_used = {name: known[name] for name in chosen(options.engines, known, 'engine')}
    database = ensure_data(suite.dataset, options.scale, console)
    configuration.warm(database)
    with bar(console) as progress:
        task = progress.add_task('profile', note='', total=len(names) * len(engines_used))

        def step(query, engine):
            progress.update(task, advance=1, note='%s on %s' % (query, engine))

        profiles = profile.run(names, engines_used, options.scale, database, options, step)
    profile.show(profiles, engines_used, console, '%s at scale %g, %s runs, cache_size %s: percent' % (
        options.suite, options.scale, options.phase, options.cache_size or 'default'))
    if options.json:
        profile.write_json(options.json, profiles)
    return 0


def main(arguments):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    for name, suite in SUITES.items():
        add_suite(commands, name, suite)
    add_profile(commands)
    generate = commands.add_parser('data', help='generate the database of a scale')
    generate.add_argument('--scale', type=positive, default=0.2, help='the scale factor')
    generate.add_argument('--dataset', choices=sorted(databases.DATASETS), default='tpch',
                          help='TPC-H, the Star Schema Benchmark or TATP')
    made = commands.add_parser('bought', help='a table of what each mechanism buys, from results')
    made.add_argument('files', nargs='+', help='what suites have written with --json')
    short = commands.add_parser('startup', help='what short programs cost, with sqlite3 and sqpyte')
    short.add_argument('--processes', type=int, default=15, help='for each program and module')
    short.add_argument('--programs', default=','.join(startup.PROGRAMS), help='which, with commas between them')
    short.add_argument('--host', choices=sorted(startup.HOSTS), default='pypy', help='the interpreter')
    options = parser.parse_args(arguments)
    console = Console()
    if not console.is_terminal:   # a file or a pipe has no width of its own
        console.width = 110
    try:
        if options.command == 'data':
            dataset = databases.DATASETS[options.dataset]
            console.print(ensure_data(dataset, options.scale, console), soft_wrap=True)
            return 0
        if options.command == 'profile':
            return run_profile(options, console)
        if options.command == 'bought':
            print(bought.table([one for path in options.files for one in bought.read(path)]))
            return 0
        if options.command == 'startup':
            startup.main(console, bar, options.processes, chosen(options.programs, startup.PROGRAMS, 'program'),
                         options.host)
            return 0
        return run_suite(options.command, SUITES[options.command], options, console)
    except (places.Missing, engines.EngineFailure, RuntimeError) as error:
        Console(stderr=True).print('error: %s' % error, markup=False, soft_wrap=True)
        return 2
