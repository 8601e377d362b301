"""Runs one test file in one configuration, in a process and a folder of its own, and keeps the result.

What is kept of a run is one JSON file: what became of each case, how the process ended, how long it
took. Its folder is named by a hash of the test programs and of the tree, so a result is found again as
long as nothing has changed, and a run that was stopped goes on where it was.
"""

import collections
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from tests.differential import tiers
from tests.upstream import events
from tools import effects
from tools.environments import inherited

# By name: which library, and the environment that chooses the tier.
STOCK = 'stock'
C_TIER = 'c'
CONFIGURATIONS = {
    C_TIER: {'SQPYTE_VM': 'off'},
    'always': {'SQPYTE_VM': 'always'},
    'always-eager': dict(tiers.EAGER, SQPYTE_VM='always'),
    'hot': {'SQPYTE_VM': 'hot'},
    'hot-1': {'SQPYTE_VM': 'hot', 'SQPYTE_VM_THRESHOLD': '1'},
    'effects': {'SQPYTE_EFFECTS_COUNTS': effects.counts_file('upstream')},
}
# The C tier under sanitizers (sanitized_run.py).
SANITIZED = 'sanitized'
# These read a connection after it is closed, on purpose; a variable of SQLite's own makes them leave it out.
MISUSES = ['test/capi3c.test', 'test/misc7.test']


def program_of(configuration):
    """Return which test programs (build.Programs.which) a configuration runs."""
    return configuration if configuration in (STOCK, 'effects', SANITIZED) else 'ours'


# A file may take this long, and this many times as long as it took stock: tracing costs, and the
# machine may be busy. An eager JIT traces each of select9.test's 36 000 statements, which takes an hour.
LEAST_S = collections.defaultdict(lambda: 600, {'always-eager': 3600})
TIMES = collections.defaultdict(lambda: 40, {'always-eager': 400})
STOCK_LIMIT_S = 7200

FINISHED = re.compile(rb'^(?:\d+ new errors and )?\d+ (?:errors|known errors) +out of \d+ tests',
                      re.MULTILINE)
LEAKED = re.compile(rb'^Unfreed memory: ', re.MULTILINE)
LEFT_OPEN = re.compile(rb'^(\d+) files were left open$', re.MULTILINE)

END = '(end)'
MEMORY = '(memory)'
FILES = '(open files)'
HANG = 'hang'
CRASH = 'signal'
LAST = 3000  # characters of what a process said last that are kept when it did not end well


class Stopped(Exception):
    """The whole run is being stopped; what was running has no result."""


class Processes:
    """The test processes that run, so that they can be ended together."""

    def __init__(self):
        self._lock = threading.Lock()
        self._alive = set()
        self.stopped = False

    def start(self, *arguments, **options):
        """Start a process in a group of its own (subprocess.Popen). Raises Stopped."""
        with self._lock:
            if self.stopped:
                raise Stopped()
            process = subprocess.Popen(*arguments, start_new_session=True, **options)
            self._alive.add(process)
            return process

    def end(self, process):
        """End what is left of a process and of those that it started."""
        end_group(process)
        with self._lock:
            self._alive.discard(process)

    def stop(self):
        """End all, and start no more."""
        with self._lock:
            self.stopped = True
            for process in self._alive:
                end_group(process)


class Results:
    """The kept results of one configuration.

    Args:
        folder: where all results are.
        configuration: its name.
        key: hash of the test programs and the tree.
    """

    def __init__(self, folder, configuration, key):
        self.folder = os.path.join(folder, '%s-%s' % (configuration, key[:16]))

    def path(self, name):
        """Return where the result of a test file is, or will be."""
        return os.path.join(self.folder, name.replace('/', '+') + '.json')

    def get(self, name):
        """Return the result (dict) of a test file, or None."""
        try:
            with open(self.path(name)) as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def put(self, name, result):
        """Keep a result."""
        os.makedirs(self.folder, exist_ok=True)
        partial = '%s.%d.part' % (self.path(name), os.getpid())
        with open(partial, 'w') as file:
            json.dump(result, file, indent=0)
        os.replace(partial, self.path(name))

    def forget(self, name):
        """Remove the result of a test file."""
        if os.path.exists(self.path(name)):
            os.remove(self.path(name))


def drop_old(folder, kept=4):
    """Remove results of older states of the library: of each configuration the newest ones stay.

    Args:
        folder: where all results are.
        kept: how many stay.
    """
    by_name = {}
    for path in glob.glob(os.path.join(folder, '*')):
        by_name.setdefault(path.rsplit('-', 1)[0], []).append(path)
    for paths in by_name.values():
        for path in sorted(paths, key=os.path.getmtime)[:-kept]:
            shutil.rmtree(path)


def environment(configuration, path=''):
    """Return the environment of a process in a configuration, for a test file, without settings of the
    caller's."""
    kept = inherited('SQPYTE_')
    kept.update(CONFIGURATIONS[C_TIER] if configuration == SANITIZED else CONFIGURATIONS.get(configuration, {}))
    if configuration == SANITIZED and path.endswith(tuple(MISUSES)):
        kept['OMIT_MISUSE'] = '1'
    return kept


def limit(stock, configuration=STOCK):
    """Return how many seconds a file may take whose result in stock is `stock` (None: stock itself)."""
    if stock is None:
        return STOCK_LIMIT_S
    return max(LEAST_S[configuration], TIMES[configuration] * stock['seconds'])


def run(processes, testfixture, path, configuration, seconds, work):
    """Run a test file.

    Args:
        processes: Processes.
        testfixture: the program.
        path: of the test file.
        configuration: a name in CONFIGURATIONS, or STOCK.
        seconds: after which it is taken to hang.
        work: a folder for its files; it is emptied before and removed afterwards.

    Returns:
        {'seconds': float, 'cases': as events.outcomes, 'ends': {END: str, MEMORY: str, FILES: str},
        'said': the last that it said, if it did not end well}.

    Raises:
        Stopped: by processes.stop().
    """
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    start = time.time()
    with open(os.path.join(work, 'out'), 'wb') as out, open(os.path.join(work, 'err'), 'wb') as err:
        process = processes.start([testfixture, path, '--maxerror=1000000000'], cwd=work, stdout=out,
                                  stderr=err, stdin=subprocess.DEVNULL, env=environment(configuration, path))
        hung = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            hung = True
        finally:
            processes.end(process)
    if processes.stopped:
        raise Stopped()
    took = time.time() - start
    with open(os.path.join(work, 'out'), 'rb') as out, open(os.path.join(work, 'err'), 'rb') as err:
        printed, log = out.read(), err.read()
    places = [(os.path.realpath(work), 'WORK'), (work, 'WORK'), (os.path.dirname(testfixture), 'PROGRAMS')]
    said = events.rest(log)
    for place, called in places:
        said = said.replace(place, called)
    result = {'seconds': round(took, 2), 'cases': events.outcomes(log, places)}
    left = LEFT_OPEN.search(printed)
    ends = {MEMORY: 'leaked' if LEAKED.search(printed) else events.OK,
            FILES: '%s left open' % left.group(1).decode() if left else events.OK}
    if hung:
        ends[END] = HANG
    elif process.returncode < 0:
        ends[END] = '%s %s' % (CRASH, signal.Signals(-process.returncode).name)
    elif FINISHED.search(printed):
        ends[END] = events.OK
    else:
        first = said.strip().splitlines()[:1]
        ends[END] = 'stopped with code %d: %s' % (process.returncode, first[0][:200] if first else '')
    result['ends'] = ends
    if ends[END] != events.OK:
        result['said'] = printed[-LAST:].decode('utf-8', 'replace') + '\n' + said.strip()[-LAST:]
    shutil.rmtree(work, ignore_errors=True)
    return result


def end_group(process):
    """End what is left of a process and of those that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
