"""Several engines' processes at once, of which one runs while the others wait: run by run in turns.

The speed of a shared machine changes by a half within seconds. Runs that follow each other on one
engine and on the other meet the same machine, so that the ratio of the two is the engines' own, where
that of two processes one after the other is also the machine's (T. Kalibera, R. Jones: Rigorous
benchmarking in reasonable time, ISMM 2013, on interleaving).
"""

import contextlib
import os
import select
import subprocess
import tempfile
import time

from benchmarks import places
from benchmarks.run.engines import EngineFailure, outcome


class Waiting:
    """A process of an engine that runs its query when it is asked to (harness.h, worker.py).

    Args:
        engine: one of engines.py.
        query: the query's name.
        scale, database, settings: as in measure.collect.
    """

    def __init__(self, engine, query, scale, database, settings):
        self.engine = engine
        self.end = time.monotonic() + settings.timeout
        self.errors = tempfile.TemporaryFile()
        command, environment = engine.command(query, scale, database,
                                              settings._replace(runs='turns'))
        self.process = subprocess.Popen(command, cwd=places.ROOT, env=environment, bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)
        assert self.process.stdin is not None and self.process.stdout is not None   # they are pipes
        self.asked, self.answers = self.process.stdin, self.process.stdout
        self.printed = b''

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        for file in (self.asked, self.answers, self.errors):
            with contextlib.suppress(OSError):
                file.close()

    def fail(self, why):
        """Raise an EngineFailure with what the process wrote on stderr."""
        self.errors.seek(0)
        text = self.errors.read().decode('utf-8', 'replace').strip()
        raise EngineFailure('%s: %s\n%s' % (self.engine.name, why, text[-4000:]))

    def read(self):
        """Wait until the process prints more; return whether it did, or has closed its output."""
        left = self.end - time.monotonic()
        if left <= 0 or not select.select([self.answers], [], [], left)[0]:
            self.fail('no end in time')
        more = os.read(self.answers.fileno(), 1 << 16)
        self.printed += more
        return bool(more)

    def run(self, phase):
        """Have the process run its query once.

        Args:
            phase: 'first', 'warmup' or 'run'.

        Returns:
            The seconds that it took, by the process's clock.

        Raises:
            EngineFailure: the process ended, or its time did.
        """
        try:
            self.asked.write(b'%s\n' % phase.encode())
        except OSError:
            self.fail('exit code %d' % self.process.wait())
        while b'\n' not in self.printed:
            if not self.read():
                self.fail('exit code %d' % self.process.wait())
        line, _, self.printed = self.printed.partition(b'\n')
        return float(line)

    def finish(self):
        """Let the process end; return its engines.Outcome. Raises EngineFailure."""
        self.asked.close()
        while self.read():
            pass
        code = self.process.wait()
        if code:
            self.fail('exit code %d' % code)
        return self.engine.read(outcome(self.engine.name,
                                        self.printed.decode('utf-8', 'surrogateescape')))


def phase(processes, name, least_runs, least_seconds):
    """Have all processes run in turns until each has run `least_runs` times and for `least_seconds`."""
    spent = [0.0] * len(processes)
    number = 0
    while number < least_runs or min(spent) < least_seconds:
        for i, process in enumerate(processes):
            spent[i] += process.run(name)
        number += 1


def outcomes(engines, query, scale, database, settings):
    """Run one query in a process of each engine, run by run in turns; processes that can't wait
    (`in_turns` is false) one after the other.

    Args:
        engines: list of engines, in the order in which they run.
        query, scale, database, settings: as in measure.collect.

    Returns:
        The list of their Outcomes, all with as many samples.

    Raises:
        EngineFailure: a process failed.
    """
    if not all(engine.in_turns for engine in engines):
        return [engine.run(query, scale, database, settings) for engine in engines]
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(engine.own(database)) for engine in engines]
        processes = [stack.enter_context(Waiting(engine, query, scale, path, settings))
                     for engine, path in zip(engines, paths)]
        phase(processes, 'first', 1, 0.0)
        phase(processes, 'warmup', settings.warmup_runs, settings.warmup_seconds)
        phase(processes, 'run', settings.runs, settings.seconds)
        return [process.finish() for process in processes]
