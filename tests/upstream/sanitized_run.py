"""The command line of `make test-sanitized`: `python -m tests.upstream.sanitized_run [PART...]`.

Parts: `damaged` (the damaged databases), `fuzz` (fuzzcheck), `generated` (the fuzzers of tests/fuzz),
`python` (the differential tests and those of the DB-API module, which call the C helpers from Python),
`suite` (SQLite's suite). All in the C tier
or with the VM as plain Python. Exit code 1: a finding, or a part that failed; 2: something is missing.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys

from rich.console import Console

from c_engine.build import build as engine
from tests import extent
from tests.corruption import images
from tests.differential.sessions import capi
from tests.upstream import campaign, cli, files, fuzzing, running
from tests.upstream.programs import build, linking, sanitized
from tests.upstream.tree import sources, tree

PARTS = ['damaged', 'fuzz', 'generated', 'python', 'suite']
# (tier, how many seeds): the untranslated VM is a hundred times slower.
DAMAGED = [('engine', 2400), ('untranslated-always', 120)]
# Of the differential tests, those that need no translated VM.
TIERS = 'engine,untranslated-always,untranslated-hot,module,module-inline'
SECONDS = 600       # for the fuzzers


class Run:
    """The parts, with what they share.

    Args:
        paths: c_engine.build.Paths.
        console: rich.console.Console.
        jobs: processes at a time.
        names: test files of SQLite's suite; none: all.
    """

    def __init__(self, paths, console, jobs, names):
        self.paths = paths
        self.console = console
        self.jobs = jobs
        self.names = names
        self.findings = os.path.join(sanitized.folder(paths), 'findings')
        shutil.rmtree(self.findings, ignore_errors=True)
        os.makedirs(self.findings)
        where = ':log_path=%s' % os.path.join(self.findings, 'finding')
        self.settings = {name: value + where for name, value in sanitized.ENVIRONMENT.items()}

    def interpreter(self):
        """Return the environment of a Python that loads the sanitized library."""
        library = sanitized.build_library(self.paths)
        return dict(os.environ, SQPYTE_BUILD=sanitized.folder(self.paths), SQPYTE_LIBRARY=library,
                    SQPYTE_DIFFERENTIAL=TIERS, **dict(sanitized.preloaded(), **self.settings))

    def tree(self):
        """Return the prepared sources.Sources."""
        origin = sources.Sources(self.paths)
        origin.prepare()
        return origin

    def damaged(self):
        """Query damaged databases; return whether all is well."""
        environment = self.interpreter()
        directory = os.path.join(sanitized.folder(self.paths), 'sound')
        os.makedirs(directory, exist_ok=True)
        library = capi.Library(self.paths.stock_library)
        for number, shape in enumerate(images.SHAPES):
            connection = capi.Connection(library)
            for sql in images.statements(shape):
                connection.execute(sql)
            with open(os.path.join(directory, '%d.db' % number), 'wb') as file:
                file.write(connection.serialize())
            connection.close()
        fine = True
        for tier, seeds in DAMAGED:
            process = subprocess.run([sys.executable, '-m', 'tests.upstream.damaged', directory, tier, '0',
                                      str(seeds)], cwd=engine.ROOT, env=environment, stdout=subprocess.PIPE)
            last = process.stdout.decode().split()[-1:]
            fine = fine and process.returncode == 0 and last == [str(seeds - 1)]
            extent.count('damaged databases', int(last[0]) + 1 if last else 0)
            self.console.print('damaged databases, %s: %s of %d, code %d' % (
                tier, int(last[0]) + 1 if last else 0, seeds, process.returncode), highlight=False)
        return fine

    def fuzz(self):
        """Run fuzzcheck; return whether all is well."""
        program = fuzzing.Fuzzcheck(self.paths, self.tree(), sanitizers=['-g1'] + sanitized.SANITIZERS)
        program.build()
        return cli.show_fuzz(self.console, fuzzing.check_all(program, [running.C_TIER], jobs=self.jobs,
                                                             environment=self.settings))

    def generated(self):
        """Run the fuzzers; return whether all is well."""
        command = [sys.executable, '-m', 'tests.fuzz', '--seconds', str(SECONDS)]
        for how in ('engine', 'untranslated', 'in-c'):
            command += ['--how', how]
        return subprocess.run(command, cwd=engine.ROOT, env=self.interpreter()).returncode == 0

    def python(self):
        """Run the tests in Python; return whether all is well."""
        # The checking build of test_effects.py isn't a sanitized one, and the cost of a process is another.
        command = [sys.executable, '-m', 'pytest', '-q', '-x', '--ignore=tests/differential/test_effects.py',
                   '-k', 'not short_programs_cost', 'tests/differential', 'tests/pypy_module']
        return subprocess.run(command, cwd=engine.ROOT, env=self.interpreter()).returncode == 0

    def suite(self):
        """Run SQLite's suite; return whether all is well."""
        origin = self.tree()
        programs = {'stock': build.Programs(linking.STOCK, self.paths, origin),
                    running.SANITIZED: sanitized.testfixture(self.paths, origin)}
        for one in programs.values():
            one.build()
        chosen = files.choose(origin.directory, self.names)
        os.environ.update(self.settings)
        work = campaign.Campaign(os.path.join(self.paths.build, 'upstream'), origin.directory, programs)
        cli.run(self.console, work, chosen, [running.SANITIZED], self.jobs)
        return cli.show(self.console, work.summaries(chosen, [running.SANITIZED]))

    def found(self):
        """Print what the sanitizers found, in whatever process; return whether there was anything."""
        paths = sorted(glob.glob(os.path.join(self.findings, '*')))
        for path in paths:
            self.console.print('[bold red]FINDING[/] %s' % path, highlight=False, soft_wrap=True)
            self.console.print(engine.read(path)[:3000], markup=False, highlight=False)
        return bool(paths)


def main(arguments):
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tests.upstream.sanitized_run', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('parts', nargs='*', help='of %s; none: all' % ', '.join(PARTS))
    parser.add_argument('--file', action='append', default=[], help='of SQLite\'s suite, only this file')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error('no part %s' % ', '.join(sorted(unknown)))
    console = Console()
    run = Run(engine.Paths(), console, options.jobs, options.file)
    try:
        failed = [part for part in options.parts or PARTS if not getattr(run, part)()]
    except (tree.NoTree, linking.NotBuilt, files.Unknown) as error:
        print('error: %s' % error, file=sys.stderr)
        return 2
    found = run.found()
    console.print('sanitizers: %s' % ('failed: %s' % ', '.join(failed) if failed else
                                      'findings' if found else 'nothing found'), highlight=False)
    return 1 if failed or found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
