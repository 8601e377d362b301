"""Starts a process for each script, a few at a time, and watches over them.

A process that crashes, or stays too long at one record, is a failure of the record that it was at.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from tests.sqllogictest import records
from tests.sqllogictest.script import Failure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRATCH = os.path.join(ROOT, 'build', 'sqllogictest')
MODES = {'off': 0, 'hot': 1, 'always': 2}   # as in c_engine/core/engine.h
PERIOD = 0.05   # seconds between two looks at the processes

# How scripts are run. `library` is a path; `mode` a name in MODES, or None: as the library is;
# `threshold` goes to sqpyte_set_mode (0: the library's own); `jit` to SQPYTE_JIT, or None;
# `records`: None, or stop after so many; `patience`: seconds that a record may take;
# `untranslated`: whether the VM is to be sqpyte/ as plain Python.
Options = collections.namedtuple(
    'Options', 'library mode threshold jit records patience untranslated', defaults=(False,))

# What became of a script: its path, numbers of records, `failures` (list of Failure), `error`
# (str or None: the script can't be read), numbers of statements and of those that entered the VM,
# `why` the others didn't (dict of sqpyte_why's number, as str, to int), time in seconds.
Outcome = collections.namedtuple(
    'Outcome', 'path passed failed skipped failures error statements in_vm why seconds')


def failed(path, failures, error, seconds):
    """Return the Outcome of a process that didn't end well."""
    return Outcome(path, 0, len(failures), 0, failures, error, 0, 0, {}, seconds)


def environment(options):
    """Return the environment of a process: ours, but the tiers are as `options` say."""
    kept = {key: value for key, value in os.environ.items()
            if key not in ('SQPYTE_VM', 'SQPYTE_VM_THRESHOLD', 'SQPYTE_JIT', 'LD_PRELOAD')}
    if options.jit:
        kept['SQPYTE_JIT'] = options.jit
    return kept


class Process:
    """The process of one script; `outcome()` is what became of it, None while it runs."""

    def __init__(self, path, options):
        self.path = path
        self.patience = options.patience
        os.makedirs(SCRATCH, exist_ok=True)
        self.position = tempfile.NamedTemporaryFile(dir=SCRATCH)
        self.output = tempfile.TemporaryFile(dir=SCRATCH)
        self.errors = tempfile.TemporaryFile(dir=SCRATCH)
        request = {'script': os.path.abspath(path), 'library': options.library,
                   'mode': None if options.mode is None else MODES[options.mode],
                   'threshold': options.threshold, 'untranslated': options.untranslated,
                   'records': options.records,
                   'position': self.position.name}
        self.started = self.moved = time.monotonic()
        self.line = 0
        self.hung = False
        self.process = subprocess.Popen(
            [sys.executable, '-X', 'faulthandler', '-m', 'tests.sqllogictest.child',
             json.dumps(request)],
            cwd=ROOT, env=environment(options), stdin=subprocess.DEVNULL, stdout=self.output,
            stderr=self.errors)

    def look(self):
        """Return the line (int) of the record that the process is at; abort it if it hangs."""
        line = int(os.pread(self.position.fileno(), 32, 0) or 0)
        now = time.monotonic()
        if line != self.line:
            self.line, self.moved = line, now
        elif now - self.moved > self.patience and not self.hung:
            self.hung = True
            self.process.send_signal(signal.SIGABRT)   # faulthandler shows where it was
        return line

    def outcome(self):
        """Return the Outcome, or None while the process runs."""
        code = self.process.poll()
        if code is None:
            return None
        self.look()
        seconds = time.monotonic() - self.started
        self.output.seek(0)
        self.errors.seek(0)
        text, errors = self.output.read(), self.errors.read().decode('utf-8', 'replace').strip()
        self.stop()
        if code != 0 or self.hung:
            what = ('no end within %g s' % self.patience if self.hung
                    else 'the process ended with status %d' % code)
            return failed(self.path, [self.at_the_end('%s\n%s' % (what, errors[-3000:]))], None,
                          seconds)
        found = json.loads(text)
        if 'error' in found:
            return failed(self.path, [], found['error'], seconds)
        failures = [Failure(*fields) for fields in found.pop('failures')]
        return Outcome(self.path, error=None, failures=failures, seconds=seconds, **found)

    def at_the_end(self, what):
        """Return the Failure of the record that the process was at when it ended."""
        sql = '(before the first record)'
        if self.line:
            sql = next((record.sql for record in records.read(self.path)
                        if record.line == self.line), '(unknown)')
        return Failure(self.line, sql, 'the process to go on', what.strip())

    def stop(self):
        """End the process, if it still runs, and remove its files."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for file in (self.position, self.output, self.errors):
            file.close()


def run(paths, options, jobs=1, progress=None):
    """Yield the Outcome of each script, as they end.

    Args:
        paths: the scripts' paths.
        options: Options.
        jobs: how many processes at a time (int).
        progress: None, or a function called with (path, line that its process is at).
    """
    waiting, running = list(paths), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Process(waiting.pop(0), options))
            for process in list(running):
                outcome = process.outcome()
                if outcome is not None:
                    running.remove(process)
                    yield outcome
                elif progress is not None:
                    progress(process.path, process.look())
                else:
                    process.look()
            time.sleep(PERIOD)
    finally:
        for process in running:
            process.stop()
