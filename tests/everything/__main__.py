"""`python -m tests.everything [PART...]`: all tests in full, part by part (`make test-all`).

A part that has passed isn't run again until the product, its tests or its command change (record.py): the command
goes on where it was stopped. Two parts run at a time, but for those that keep the machine busy by themselves.
What a part prints goes to a file; at the end a table says how much of what was tried. Exit code 0: all
parts have passed; 1: some failed; 2: it was stopped, or there is no such part.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import signal
import sys
import time

from rich.console import Console
from rich.table import Table

from tests.everything.parts import RECORD, ROOT, key, parts
from tests.everything.record import Record
from tests.extent import counted
from tests.upstream.running import Processes, Stopped

FOLDER = os.path.join(ROOT, 'build', 'everything')
LAST = 25   # lines that are shown of what a failed part printed


class Everything:
    """Runs parts and keeps what came out.

    Args:
        console: a rich.console.Console.
        chosen: list of parts.Part.
        folder, record: see Record.
    """

    def __init__(self, console, chosen, folder=FOLDER, record=RECORD):
        self.console = console
        self.chosen = chosen
        self.record = Record(folder, record)
        self.processes = Processes()

    def passed(self, part):
        """Whether a part has passed, and nothing that it depends on has changed since."""
        return (self.record.get(part) or {}).get('passed', False)

    def run(self):
        """Run what has not passed yet; return whether all parts have passed."""
        left = [part for part in self.chosen if not self.passed(part)]
        if len(left) < len(self.chosen):
            self.console.print('%d of %d parts have passed already' % (
                len(self.chosen) - len(left), len(self.chosen)), highlight=False)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            try:
                list(pool.map(self.one, [part for part in left if not part.alone]))
                for part in left:
                    if part.alone:
                        self.one(part)
            except BaseException:
                self.processes.stop()
                raise
        return all(map(self.passed, self.chosen))

    def one(self, part):
        """Run a part and keep what came out."""
        of, counts, log_path = key(part), self.record.file(part, '.counts'), self.record.file(part, '.log')
        if os.path.exists(counts):
            os.remove(counts)
        environment = dict(os.environ, SQPYTE_COUNTS=counts, **part.settings)
        self.console.print('%s: begins; see %s' % (part.name, os.path.relpath(log_path)),
                           highlight=False, soft_wrap=True)
        start = time.monotonic()
        with open(log_path, 'wb') as log:
            process = self.processes.start(part.command, cwd=ROOT, env=environment, stdout=log, stderr=log)
            code = process.wait()
        self.processes.end(process)
        if self.processes.stopped:
            raise Stopped()
        seconds = time.monotonic() - start
        self.record.put(part, of, code == 0, seconds, counted(counts))
        outcome = 'passed' if code == 0 else 'FAILED (code %d)' % code
        self.console.print('%s: %s after %.0f s' % (part.name, outcome, seconds), highlight=False)
        if code:
            with open(log_path, errors='replace') as log:
                self.console.print(''.join(log.readlines()[-LAST:]), markup=False, highlight=False)

    def show(self):
        """Print what came out of each part, and the sums."""
        table = Table()
        for title in ('part', 'result', 'on', 'minutes', 'counts'):
            table.add_column(title, justify='right' if title == 'minutes' else 'left')
        sums = {}
        for part in self.chosen:
            kept = self.record.get(part)
            counts = kept['counts'] if kept else {}
            for what, number in counts.items():
                sums[what] = sums.get(what, 0) + number
            table.add_row(part.name, 'not run' if not kept else 'passed' if kept['passed'] else 'FAILED',
                          kept['date'] if kept else '', '%.1f' % (kept['seconds'] / 60) if kept else '', words(counts))
        self.console.print(table)
        self.console.print('Tried in all: %s' % (words(sums) or 'nothing'), highlight=False)


def words(counts):
    """Return counts {what: number} as a text."""
    return ', '.join('%s %s' % (format(counts[what], ',').replace(',', ' '), what) for what in sorted(counts))


def main(arguments):
    """Run the command line; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(prog='python -m tests.everything', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('parts', nargs='*', help='names, with * and ?; none: all')
    parser.add_argument('--seconds', type=int, default=600, help='for the fuzzers (%(default)s)')
    parser.add_argument('--show', action='store_true', help='say what came out before, and run nothing')
    options = parser.parse_args(arguments)
    found = parts(options.seconds)
    chosen = [part for part in found
              if not options.parts or any(fnmatch.fnmatch(part.name, name) for name in options.parts)]
    if not chosen:
        print('error: no part %s; there are: %s' % (
            ', '.join(options.parts), ', '.join(part.name for part in found)), file=sys.stderr)
        return 2
    everything = Everything(Console(), chosen)
    try:
        fine = all(map(everything.passed, chosen)) if options.show else everything.run()
    except (KeyboardInterrupt, Stopped):
        print('stopped; the same command goes on from here', file=sys.stderr)
        return 2
    everything.show()
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
