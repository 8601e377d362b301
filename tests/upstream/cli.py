"""The command line: `python -m tests.upstream run [FILES]`, `show`, `list`, `tree`, `fuzz`.

FILES are test files of SQLite's tree: select1, func.test, 'fts5*', ext/rtree/rtree1.test; without any,
all of them. What has been run stays in build/upstream/results, so a command that was stopped goes on,
and `show` prints what is there. Exit code 0: no difference but those that are meant; 1: there are some;
2: something is missing.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from c_engine.build import build as engine
from c_engine.patches.edit import EditError
from tests import extent
from tests.upstream import campaign, comparing, files, fuzzing, running
from tests.upstream.programs import build, linking
from tests.upstream.tree import headers, sources, tree
from tools import effects

SHOWN = 10  # differences of one file that are shown


def slice_of(text):
    """Return the slice that 'I/N' names: every Nth, from the Ith on.

    Args:
        text: of the command line; '1/4' to '4/4' are together all.

    Raises argparse.ArgumentTypeError.
    """
    first, _, count = text.partition('/')
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise argparse.ArgumentTypeError('%r is no slice; write 1/4 for the first of four' % text)
    return slice(int(first) - 1, None, int(count))


def parser():
    """Return the command line's parser."""
    made = argparse.ArgumentParser(prog='python -m tests.upstream', description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument('what', choices=['run', 'show', 'list', 'tree', 'fuzz'])
    option = made.add_argument
    option('files', nargs='*', help='test files of SQLite\'s tree')
    option('--config', action='append', choices=sorted(running.CONFIGURATIONS), metavar='NAME',
           help='a configuration, more than once if you like: %s; without it, all but effects'
                % ', '.join(running.CONFIGURATIONS))
    option('--part', action='store_true', help='the files that `make test` runs')
    option('--again', action='store_true', help='run what has been run before, too (stock is kept)')
    option('--jobs', type=int, default=os.cpu_count(), help='files at a time (%(default)s)')
    option('--slice', type=slice_of, default=slice(None), metavar='I/N',
           help='of the files, the first of N and each Nth after it, or from the second on, ...')
    option('--one-of', type=int, default=1, metavar='N', help='fuzz: run one of N inputs')
    option('--all', action='store_true', help='show all differences, not %d of each file' % SHOWN)
    return made


def prepared(configurations):
    """Return (sources.Sources, {name: build.Programs}), built, of stock and of what the configurations
    need."""
    paths = engine.Paths()
    needed = {running.STOCK} | {running.program_of(name) for name in configurations}
    if linking.CHECKED in needed:
        effects.make()
    needs_vm = any(running.program_of(name) == linking.OURS and name != running.C_TIER
                   for name in configurations)
    origin = sources.Sources(paths)
    origin.prepare()
    programs = {which: build.Programs(which, paths, origin, needs_vm) for which in sorted(needed)}
    for one in programs.values():
        one.build()
    return origin, programs


def progress_bar(console):
    """Return a rich.progress.Progress as all long work here shows it."""
    columns = [TextColumn('{task.description}'), BarColumn(), TextColumn('{task.completed}/{task.total}'),
               TimeElapsedColumn()]
    return Progress(*columns, console=console)


def run(console, work, chosen, configurations, jobs):
    """Run files with progress on `console`."""
    # In no order, so that what has been run is a sample of the whole.
    chosen = random.Random(len(chosen)).sample(chosen, len(chosen))
    done = {name: 0 for name in [running.STOCK] + configurations}
    with progress_bar(console) as progress:
        task = progress.add_task('SQLite\'s suite', total=len(chosen) * len(done))
        said = time.time()

        def step(file, configuration):
            nonlocal said
            done[configuration] += 1
            progress.update(task, advance=1, description='%s: %s' % (configuration, escape(file)))
            if not console.is_terminal and time.time() > said + 60:
                said = time.time()
                console.print('%d of %d runs' % (sum(done.values()), len(chosen) * len(done)))

        work.run(chosen, configurations, jobs, step)


def show(console, summaries, everything=False):
    """Print differences and counts; return whether all is well."""
    for name, summary in summaries.items():
        by_file = {}
        for one in summary.unexplained:
            by_file.setdefault(one.file, []).append(one)
        for file, found in by_file.items():
            console.print('[bold red]DIFFERENT[/] %s %s: %d' % (name, escape(file), len(found)),
                          highlight=False)
            # After a crash all that follows is missing.
            lost = [one for one in found if one.ours == comparing.MISSING]
            if file in summary.crashes + summary.hangs:
                found = [one for one in found if one not in lost]
                console.print('  %d cases were not reached' % len(lost), highlight=False)
            for one in found if everything else found[:SHOWN]:
                for line in ('  ' + one.case, '    stock: ' + one.stock, '    ours:  ' + one.ours):
                    console.print(line if everything else line[:400], markup=False, highlight=False,
                                  soft_wrap=True)
        for entry in summary.gone:
            console.print('[bold red]GONE[/] %s %s %s: no longer differs; remove its line from '
                          'tests/upstream/meant.py' % (name, entry.file, escape(entry.case)), soft_wrap=True)
    table = Table()
    for title in ('configuration', 'files', 'cases', 'unexplained', 'crashes', 'hangs', 'meant', 'flaky'):
        table.add_column(title, justify='left' if title == 'configuration' else 'right')
    for name, summary in summaries.items():
        table.add_row(name, *['%d' % number for number in (
            summary.files, summary.cases, len(summary.unexplained), len(summary.crashes), len(summary.hangs),
            len(summary.meant), len(summary.flaky))])
    console.print(table)
    for (file, name), reason in sorted(files.LEFT_OUT.items()):
        if name in summaries:
            console.print('%s is left out of %s: %s' % (file, name, reason), highlight=False)
    extent.count('cases of SQLite\'s suite', sum(summary.cases for summary in summaries.values()))
    return all(summary.fine() for summary in summaries.values())


def fuzz(console, options):
    """Run SQLite's fuzzer inputs; return whether all is well."""
    paths = engine.Paths()
    origin = sources.Sources(paths)
    origin.prepare()
    program = fuzzing.Fuzzcheck(paths, origin)
    program.build()
    with progress_bar(console) as progress:
        task = progress.add_task('fuzzcheck', total=len(fuzzing.MODES) * len(fuzzing.DATABASES))
        found = fuzzing.check_all(program, fuzzing.MODES, options.one_of, options.jobs, options.again,
                                  done=lambda mode, database: progress.update(task, advance=1))
    console.print('[bold]%s[/]' % escape(str(origin.origin)), highlight=False, soft_wrap=True)
    return show_fuzz(console, found)


def show_fuzz(console, found):
    """Print errors and counts of fuzzing.check_all; return whether there were no errors."""
    counts = ('inputs', 'statements', 'in_vm', 'invariants')
    table = Table()
    for title in ('mode', 'inputs', 'runs of statements', 'in the VM', 'invariants', 'errors'):
        table.add_column(title, justify='left' if title == 'mode' else 'right')
    for mode in sorted({mode for mode, _ in found}):
        those = {database: one for (of, database), one in found.items() if of == mode}
        errors = {database: one['error'] for database, one in those.items() if one['error']}
        table.add_row(mode, *['%d' % sum(one[name] for one in those.values()) for name in counts],
                      str(len(errors)))
        for database, error in errors.items():
            console.print('[bold red]ERROR[/] %s %s' % (mode, database), highlight=False)
            console.print(error, markup=False, highlight=False, soft_wrap=True)
    console.print(table)
    extent.count('inputs of fuzzcheck', sum(one['inputs'] for one in found.values()))
    return not any(one['error'] for one in found.values())


def main(arguments):
    """Run the command line; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parser().parse_intermixed_args(arguments)
    console = Console(stderr=False)
    configurations = options.config or [name for name in running.CONFIGURATIONS
                                        if running.program_of(name) != linking.CHECKED]
    try:
        if options.what == 'tree':
            console.print(str(tree.obtain()), soft_wrap=True)
            return 0
        if options.what == 'list':
            origin = sources.Sources(engine.Paths())
            origin.prepare()
            console.print('\n'.join(files.choose(origin.directory, options.files)), soft_wrap=True)
            return 0
        if options.what == 'fuzz':
            return 0 if fuzz(console, options) else 1
        origin, programs = prepared(configurations)
        names = options.files + (files.PART if options.part else [])
        chosen = files.choose(origin.directory, names)[options.slice]
        work = campaign.Campaign(os.path.join(engine.Paths().build, 'upstream'), origin.directory, programs)
        if options.what == 'run':
            for configuration in configurations if options.again else []:
                for file in chosen:
                    work.results[configuration].forget(file)
            run(console, work, chosen, configurations, options.jobs)
        console.print('[bold]%s[/]' % escape(str(origin.origin)), highlight=False, soft_wrap=True)
        return 0 if show(console, work.summaries(chosen, configurations), options.all) else 1
    except (tree.NoTree, build.NotBuilt, files.Unknown, EditError, headers.Malformed) as error:
        print('error: %s' % error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print('stopped; the same command goes on from here', file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print('error: this command failed with code %d:\n  %s' % (error.returncode, ' '.join(error.cmd)),
              file=sys.stderr)
        return 2
