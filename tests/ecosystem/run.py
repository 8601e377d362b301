"""Runs a project's suite on each side, in turns, and again if a test differs or the suite is short."""

import collections
import contextlib
import fcntl
import functools
import os
import resource
import signal
import subprocess
import time

from tests.ecosystem import compare, install
from tests.ecosystem.projects import SIDES
from tools.environments import inherited

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'plugin')
PROGRESS = 30       # seconds between two lines
SHORT = 60          # a suite that takes less is timed ROUNDS times
ROUNDS = 3

# What came out of a project. rounds: list of {side: Run}. differences: {side: list of compare.Difference} that stay;
# flaky: those that don't. problem: why nothing can be said (str), or None.
Outcome = collections.namedtuple('Outcome', 'rounds differences flaky problem')
# results: compare.Results. wall, processor: seconds.
Run = collections.namedtuple('Run', 'results wall processor')
# Files of pytest's settings, and what those begin with in files that have other things too.
CONFIGURATIONS = {'pytest.ini': '', 'pyproject.toml': '[tool.pytest.ini_options]', 'tox.ini': '[pytest]',
                  'setup.cfg': '[tool:pytest]'}


def configures(folder, name):
    """Return whether a file of CONFIGURATIONS is in a folder and has settings of pytest's."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return CONFIGURATIONS[name] in file.read()


def settings(project, side, results):
    """Return the environment (dict) that a suite runs in.

    Args:
        project: a projects.Project.
        side: one of its host's sides (str).
        results: path of the plugin's file.
    """
    clean = inherited('SQPYTE_', 'PYTHON', 'LD_')
    clean.update(SIDES[project.host][side], SQPYTE_ECOSYSTEM_RESULTS=results, PYTHONPATH=PLUGIN, PYTHONHASHSEED='0')
    if side == 'sqlite3':
        clean['LD_LIBRARY_PATH'] = install.stock()
    return clean


def command(project, python, side, sources):
    """Return the command (list of str) that runs a suite.

    Args:
        project: a projects.Project.
        python: the environment's.
        side: one of its host's sides (str).
        sources: the folder it runs in.
    """
    start = [python, *(['-m', 'sqpyte', 'run'] if side != 'sqlite3' else [])]
    if project.program:
        return [*start, '-m', *project.program, *project.arguments]
    start += ['-m', 'pytest', '-q', '-p', 'sqpyte_witness', '-p', 'no:cacheprovider', '--rootdir', '.',
              '--continue-on-collection-errors']
    if not any(map(functools.partial(configures, sources), CONFIGURATIONS)):
        start += ['-c', os.devnull]       # else pytest finds the checkout's, in a folder above
    return start + list(project.arguments)


def lines(path):
    """Return how many lines a file has, 0 if there is none."""
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return sum(1 for _ in file)


def processor():
    """Return the CPU time (seconds) of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def suite(project, python, side, say):
    """Run a suite; return a Run. Raises install.Failed.

    Args:
        project: a projects.Project.
        python: the environment's.
        side: one of its host's sides (str).
        say: is called with progress (str).
    """
    folder = os.path.join(install.FOLDER, 'runs', project.host, project.name, side)
    sources = install.unpacked(install.archive(python, project), folder)
    results = os.path.join(folder, 'results.jsonl')
    start, used, said = time.monotonic(), processor(), 0.0
    with open(os.path.join(folder, 'log'), 'wb') as log:
        process = subprocess.Popen(command(project, python, side, sources), cwd=sources, stdin=subprocess.DEVNULL,
                                   env=settings(project, side, results), stdout=log, stderr=log, start_new_session=True)
        try:
            while process.poll() is None and time.monotonic() - start < project.limit:
                try:
                    process.wait(1)
                except subprocess.TimeoutExpired:
                    if time.monotonic() - start - said > PROGRESS:
                        said = time.monotonic() - start
                        say('%s with %s: %d tests in %.0f s' % (project.name, side, lines(results), said))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if not os.path.exists(results):
        raise install.Failed('its tests did not begin; see ' + log.name)
    return Run(compare.read(results), time.monotonic() - start, processor() - used)


@contextlib.contextmanager
def alone(project):
    """Let no other process run this projects.Project's suite meanwhile: its folders are the same. Raises Failed."""
    os.makedirs(os.path.join(install.FOLDER, 'runs'), exist_ok=True)
    with open(os.path.join(install.FOLDER, 'runs', '%s-%s.lock' % (project.host, project.name)), 'w') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise install.Failed('another `make test-ecosystem` is running its suite in this checkout: wait for that, '
                                 'or stop it') from error
        yield


def every(project, python, say):
    """Run a project's suite on all sides; return an Outcome. Raises install.Failed.

    The whole suite runs again where a test differs: a defect may need what the tests before it did.

    Args:
        project: a projects.Project.
        python: path of the interpreter.
        say: is called with progress (str).
    """
    sides = list(SIDES[project.host])
    inside = {side: install.environment(python, project, side != 'sqlite3') for side in sides}
    rounds = []
    while True:
        runs = {}
        for side in sides if len(rounds) % 2 == 0 else sides[::-1]:
            runs[side] = suite(project, inside[side], side, say)
            say('%s: %d tests with %s in %.0f s' % (project.name, len(runs[side].results.tests), side, runs[side].wall))
        rounds.append(runs)
        problems = [compare.untrusted(runs['sqlite3'].results, runs[side].results, side) for side in sides[1:]]
        found = {side: compare.differing([(one['sqlite3'].results.tests, one[side].results.tests) for one in rounds])
                 for side in sides[1:]}
        problem = next(filter(None, problems), None)
        short = all(run.wall < SHORT for run in runs.values())
        wanted = ROUNDS if short else 2 if any(map(any, found.values())) else 1
        if problem or len(rounds) >= wanted:
            return Outcome(rounds, {side: stays for side, (stays, _) in found.items()},
                           {side: flaky for side, (_, flaky) in found.items()}, problem)
        if any(map(any, found.values())):
            say('%s: tests differ, so it runs again' % project.name)
