"""Runs many test files in several configurations, and sums up what came out.

Each file is run on stock first, if that has not been done; where ours differs, stock runs the file
again, to see whether it answers the same. Results that are there already are used as they are.
"""

import collections
import concurrent.futures
import os
import threading

from tests.upstream import comparing, meant, running
from tests.upstream.files import LEFT_OUT

AGAIN = 2  # further runs of stock for a file in which ours differs


class Summary:
    """What came out in one configuration.

    Attributes:
        files, cases: how many were compared.
        unexplained: list of comparing.Difference.
        flaky: the same, of cases that stock answers in several ways.
        meant: list of (Difference, meant.Meant).
        gone: entries of meant.MEANT that no longer occur.
        crashes, hangs: names of files.
    """

    def __init__(self):
        self.files = 0
        self.cases = 0
        self.unexplained = []
        self.flaky = []
        self.meant = []
        self.gone = []
        self.crashes = []
        self.hangs = []

    def add(self, file, configuration, runs, ours):
        """Add a file.

        Args:
            file, configuration: names.
            runs: of stock.
            ours: the run in this configuration.
        """
        self.files += 1
        self.cases += len(ours['cases'])
        found, flaky = comparing.judge(file, runs, ours)
        self.flaky += flaky
        met = set()
        for one in found:
            entry = meant.find(file, one.case, configuration)
            if entry is None:
                self.unexplained.append(one)
            else:
                self.meant.append((one, entry))
                met.add(entry)
        self.gone += [entry for entry in meant.expected(file, configuration) if entry not in met]
        end = ours['ends'][running.END]
        if end == running.HANG and runs[0]['ends'][running.END] != running.HANG:
            self.hangs.append(file)
        if end.startswith(running.CRASH) and end != runs[0]['ends'][running.END]:
            self.crashes.append(file)

    def fine(self):
        """Return whether nothing is left to explain."""
        return not (self.unexplained or self.gone or self.crashes or self.hangs)


class Campaign:
    """Test files and configurations to run.

    Args:
        folder: for results and work.
        tree: the tree's folder.
        programs: build.Programs by name (running.program_of).
    """

    def __init__(self, folder, tree, programs):
        self.folder = folder
        self.tree = tree
        self.programs = programs
        results = os.path.join(folder, 'results')
        running.drop_old(results)
        self.results = {running.STOCK: running.Results(results, running.STOCK, programs['stock'].key)}
        for name in [*running.CONFIGURATIONS, running.SANITIZED]:
            one = programs.get(running.program_of(name))
            if one is not None:
                self.results[name] = running.Results(
                    results, name, one.key_of_c if name == running.C_TIER else one.key)
        self._numbers = iter(range(1 << 30))
        self._lock = threading.Lock()
        self._processes = running.Processes()

    def _run(self, file, configuration, seconds):
        with self._lock:
            number = next(self._numbers)
        program = self.programs[running.program_of(configuration)].testfixture
        work = os.path.join(self.folder, 'work', '%d-%d' % (os.getpid(), number))
        path = os.path.join(self.tree, file)
        return running.run(self._processes, program, path, configuration, seconds, work)

    def stock(self, file):
        """Return stock's runs of a file, made if there is none (list)."""
        kept = self.results[running.STOCK].get(file)
        if kept is None:
            kept = {'runs': [self._run(file, running.STOCK, running.limit(None))]}
            self.results[running.STOCK].put(file, kept)
        return kept['runs']

    def ours(self, file, configuration, runs):
        """Return the run of a file in a configuration, made if there is none."""
        kept = self.results[configuration].get(file)
        if kept is None:
            kept = self._run(file, configuration, running.limit(runs[0], configuration))
            self.results[configuration].put(file, kept)
        return kept

    def settle(self, file, runs, ours):
        """Run stock again if a run of ours differs from it; return all runs of stock."""
        while len(runs) <= AGAIN and comparing.judge(file, runs, ours)[0]:
            runs = runs + [self._run(file, running.STOCK, running.limit(None))]
            self.results[running.STOCK].put(file, {'runs': runs})
        return runs

    def one(self, file, configurations, done):
        """Run one file on stock and in the configurations.

        Args:
            file: its name.
            configurations: names.
            done: called after each run with file and configuration.
        """
        runs = self.stock(file)
        done(file, running.STOCK)
        for configuration in configurations:
            if (file, configuration) not in LEFT_OUT:
                runs = self.settle(file, runs, self.ours(file, configuration, runs))
            done(file, configuration)

    def run(self, files, configurations, workers, done):
        """Run files, some at a time; see one()."""
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            try:
                tasks = [pool.submit(self.one, file, configurations, done) for file in files]
                for task in tasks:
                    task.result()
            except BaseException:
                self._processes.stop()
                for task in tasks:
                    task.cancel()
                raise

    def summaries(self, files, configurations):
        """Return {configuration: Summary} of the files that have been run."""
        found = collections.OrderedDict((name, Summary()) for name in configurations)
        for file in files:
            kept = self.results[running.STOCK].get(file)
            if kept is None:
                continue
            for name, summary in found.items():
                ours = self.results[name].get(file)
                if ours is not None:
                    summary.add(file, name, kept['runs'], ours)
        return found
