"""The command line: `python -m tests.sqllogictest [FILES...]` (`--help` says more).

Without FILES: every script there is. Exit code 0: all records passed; 1: some failed; 2: something is
missing or can't be read.
"""

import argparse
import os

from c_engine.generated import layout
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.differential.sessions.capi import Library
from tests.sqllogictest import processes
from tests.sqllogictest.processes import ROOT

FOLDER = os.path.abspath(os.environ.get(
    'SQPYTE_SQLLOGICTEST', os.path.join(ROOT, os.pardir, 'shared', 'sqllogictest')))
LIBRARY = os.path.join(ROOT, 'build', 'libsqpyte.so')
ENGINE = os.path.join(ROOT, 'build', 'libsqpyte-engine.so')
WORDS = {
    'COLD': 'not hot', 'HOT': 'never entered', 'NO_VM': 'no VM in the library', 'THREAD': 'another thread',
    'OPCODE': 'opcodes left in C', 'REFUSED': 'bailed out too often',
    'FULL': 'no room for machine code', 'SEEKS': 'seeks, not expected to be faster',
    'SHORT': 'too little left to do'}
WHY = {str(getattr(layout, 'SQPYTE_WHY_' + name)): words for name, words in WORDS.items()}


class Missing(Exception):
    """Something isn't there or doesn't fit together; the message says what."""


def scripts_in(folder):
    """Return the paths of all scripts (*.test) below a folder, sorted."""
    return sorted(os.path.join(here, name) for here, _, names in os.walk(folder)
                  for name in names if name.endswith('.test'))


def scripts_of(names):
    """Return the paths of the scripts that are named (files or folders), or of all.

    Raises:
        Missing: one isn't there, or there are none.
    """
    paths = []
    for name in names or [FOLDER]:
        if not os.path.exists(name):
            raise Missing('no script %s: name files, or a folder of them in SQPYTE_SQLLOGICTEST'
                          % name)
        paths += scripts_in(name) if os.path.isdir(name) else [name]
    if not paths:
        raise Missing('no *.test in %s' % ', '.join(names or [FOLDER]))
    return paths


def options_of(arguments):
    """Return processes.Options for the parsed command line. Raises Missing."""
    path = arguments.library or (ENGINE if arguments.untranslated else LIBRARY)
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise Missing('%s is missing: run `make engine`, or `make vm` for build/libsqpyte.so'
                      % os.path.relpath(path))
    mode = arguments.vm
    if arguments.threshold == 0:   # hot from the start
        if mode == 'off':
            raise Missing('--threshold 0 means that everything goes through the VM; so not --vm off')
        mode = 'always'
    needs_vm = mode or arguments.threshold or arguments.untranslated
    if needs_vm and not Library(path).has_tiers():
        raise Missing('%s has no VM: leave out --vm, --threshold and --untranslated'
                      % os.path.relpath(path))
    if arguments.threshold and mode is None:
        mode = 'hot'
    return processes.Options(path, mode, arguments.threshold or 0, arguments.jit, arguments.records,
                             arguments.patience, arguments.untranslated)


def natural(text):
    """Return the number (int, not negative) that `text` says; argparse's type."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def parser():
    """Return the command line's parser."""
    made = argparse.ArgumentParser(prog='python -m tests.sqllogictest', description=__doc__)
    option = made.add_argument
    option('files', nargs='*', help='scripts, or folders of them; without any, all in %s' % FOLDER)
    option('--library', help='a library with the sqlite3 C API (%s)' % os.path.relpath(LIBRARY))
    option('--vm', choices=sorted(processes.MODES), help='when statements enter the VM: never, in '
           'hot loops, from their first opcode on; the library decides if this is left out')
    option('--threshold', type=natural, metavar='N',
           help='loop back-edges before a loop is hot; 0 is --vm always')
    option('--untranslated', action='store_true', help='put the VM of sqpyte/, as plain Python, into '
           'the library, which is %s then' % os.path.relpath(ENGINE))
    option('--jit', metavar='PARAMETERS', help='the VM\'s JIT parameters, as in SQPYTE_JIT')
    option('--records', type=natural, metavar='N', help='stop each script after N records')
    option('--jobs', type=int, default=os.cpu_count(), help='scripts at a time (%(default)s)')
    option('--patience', type=float, default=600, help='seconds for one record (%(default)g)')
    option('--failures', type=int, default=10, help='failures shown of each script (%(default)s)')
    return made


def name_of(path):
    """Return a script's name as it is shown (str)."""
    inside = os.path.relpath(path, FOLDER)
    return os.path.relpath(path) if inside.startswith(os.pardir) else inside


def show_failures(console, outcome, most):
    """Print the first `most` failures of a script, each as FILE:LINE with its SQL."""
    for failure in outcome.failures[:most]:
        console.print('[bold red]FAILED[/] %s:%d' % (escape(outcome.path), failure.line),
                      highlight=False, soft_wrap=True)
        for title, text in (('SQL', failure.sql), ('expected', failure.expected),
                            ('got', failure.got)):
            console.print('  %s:' % title, highlight=False)
            for line in text.splitlines():
                console.print('    ' + line, markup=False, highlight=False, soft_wrap=True)
    if len(outcome.failures) > most:
        console.print('  and %d more of %s' % (len(outcome.failures) - most, escape(outcome.path)),
                      highlight=False, soft_wrap=True)
    if outcome.error:
        console.print('[bold red]ERROR[/] ' + escape(outcome.error), highlight=False,
                      soft_wrap=True)


def vm_words(outcomes):
    """Return in words how many statements entered the VM, and why the others didn't."""
    statements = sum(outcome.statements for outcome in outcomes)
    if not statements:
        return ''
    reasons: dict = {}
    for outcome in outcomes:
        for why, count in outcome.why.items():
            reasons[why] = reasons.get(why, 0) + count
    words = ''.join('; %s: %d' % (WHY.get(why, why), count) for why, count in reasons.items())
    return 'in the VM: %d of %d statements%s' % (
        sum(outcome.in_vm for outcome in outcomes), statements, words)


def show(console, outcomes):
    """Print the table of counts."""
    table = Table()
    for heading in ('script', 'passed', 'failed', 'skipped', 'in the VM', 'seconds'):
        table.add_column(heading, justify='left' if heading == 'script' else 'right',
                         overflow='fold')
    for outcome in outcomes:
        failed = '[bold red]%d[/]' % outcome.failed if outcome.failed else '0'
        table.add_row(escape(name_of(outcome.path)), str(outcome.passed),
                      'unreadable' if outcome.error else failed, str(outcome.skipped),
                      '%d of %d' % (outcome.in_vm, outcome.statements) if outcome.statements else '',
                      '%.1f' % outcome.seconds)
    console.print(table)
    passed, failed, skipped = (sum(getattr(outcome, name) for outcome in outcomes)
                               for name in ('passed', 'failed', 'skipped'))
    console.print('%d scripts: %d passed, %d failed, %d skipped' % (
        len(outcomes), passed, failed, skipped), highlight=False)
    words = vm_words(outcomes)
    if words:
        console.print(words, highlight=False)


def run_all(paths, options, jobs, console, most):
    """Run scripts with progress bars, printing failures as they are found; return the Outcomes in
    the order of `paths`."""
    outcomes = {}
    with Progress(TextColumn('{task.description}'), BarColumn(), TextColumn('{task.fields[note]}'),
                  TimeElapsedColumn(), console=console) as progress:
        total = progress.add_task('scripts', total=len(paths), note='')
        tasks: dict = {}

        def step(path, line):
            if path not in tasks:
                with open(path, 'rb') as file:
                    lines = sum(1 for _ in file)
                tasks[path] = progress.add_task(name_of(path), total=lines, note='')
            progress.update(tasks[path], completed=line, note='line %d' % line)

        for outcome in processes.run(paths, options, jobs, step):
            outcomes[outcome.path] = outcome
            if outcome.path in tasks:
                progress.remove_task(tasks.pop(outcome.path))
            failed = sum(one.failed for one in outcomes.values())
            progress.update(total, advance=1, note='%d failures' % failed)
            show_failures(console, outcome, most)
    return [outcomes[path] for path in paths]


def header(options):
    """Return in a line what is run."""
    words = [os.path.relpath(options.library)]
    if options.untranslated:
        words.append('the VM untranslated')
    if options.mode is not None:
        words.append('the VM %s' % options.mode)
    if options.threshold:
        words.append('threshold %d' % options.threshold)
    if options.jit:
        words.append('JIT %s' % options.jit)
    return ', '.join(words)


def main(arguments):
    """Run the command line; return the exit code."""
    parsed = parser().parse_args(arguments)
    console = Console()
    if not console.is_terminal:   # a file or a pipe has no width of its own
        console.width = 110
    try:
        paths = scripts_of(parsed.files)
        options = options_of(parsed)
    except Missing as error:
        Console(stderr=True).print('error: %s' % error, markup=False, soft_wrap=True)
        return 2
    console.print(header(options), highlight=False)
    outcomes = run_all(list(dict.fromkeys(paths)), options, max(1, parsed.jobs), console,
                       parsed.failures)
    show(console, outcomes)
    if any(outcome.error for outcome in outcomes):
        return 2
    return 1 if any(outcome.failed for outcome in outcomes) else 0
