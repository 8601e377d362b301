"""`python -m tests.ecosystem [PROJECT...]`: suites of projects that use sqlite3, on stock and on our library.

A project that has passed isn't run again until its version, the wheel or these tests change. Exit code 0: what passes
with sqlite3 passes with sqpyte; 1: not so; 2: no such project, no interpreter, or it was stopped.
"""

import argparse
import collections
import glob
import json
import os
import signal
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from c_engine.build import build as engine
from tests.ecosystem import compare, install, meant, run
from tests.ecosystem.projects import SIDES, chosen
from tests.extent import count
from tools import environments


def key(project, python):
    """Return a hash (hex str) of all that a project's outcome depends on."""
    here = os.path.dirname(os.path.abspath(__file__))
    files = [path for path in glob.glob(os.path.join(here, '**', '*.py'), recursive=True)
             if os.path.basename(path) not in ('projects.py', 'meant.py')]
    stock = os.path.join(install.stock(), 'libsqlite3.so.0')
    return engine.digest([*sorted(files), install.constraints(project), install.wheel(), stock], repr(project), python,
                         repr([one for one in meant.MEANT if one.project == project.name]), repr(SIDES[project.host]))


def interpreters():
    """Return {host: path of its interpreter} of those that are here."""
    found = {'cpython-%d.%d' % version: path for version, path in environments.find_cpythons()}
    return dict(found, **environments.find_pypy())


def summary(found, side):
    """Return a side's figures (dict) of a run.Outcome."""
    first = found.rounds[0]
    stock, ours = first['sqlite3'].results.tests, first[side].results.tests
    best = {name: [min(getattr(one[where], name) for one in found.rounds) for where in ('sqlite3', side)]
            for name in ('wall', 'processor')}
    passed = {test for test, outcome in stock.items() if outcome == compare.PASSED}
    return {'both': sum(ours.get(test) == compare.PASSED for test in passed),
            'neither': sum(stock[test] == ours.get(test) == 'failed' for test in stock),
            'better': sum(outcome == compare.PASSED and stock.get(test) == 'failed' for test, outcome in ours.items()),
            'outcomes': [collections.Counter(tests.values()) for tests in (stock, ours)],
            'rounds': len(found.rounds), 'witness': first[side].results.witness, **best}


def one(project, python, say):
    """Return what came out of a project (dict), of an earlier run if that still holds; raises install.Failed."""
    path = os.path.join(install.FOLDER, '%s-%s.json' % (project.host, project.name))
    of = key(project, python)
    try:
        with open(path) as file:
            kept = json.load(file)
        if kept['key'] == of and kept['passed']:
            return kept
    except (OSError, ValueError, KeyError):
        pass
    with run.alone(project):
        found = run.every(project, python, say)
    sides = {}
    for side in list(SIDES[project.host])[1:]:
        wrong, unused = compare.judge(found.differences[side], meant.of(project, side))
        sides[side] = dict(summary(found, side), wrong=wrong, unused=[one.test for one in unused],
                           flaky=[one.test for one in found.flaky[side]])
    kept = {'key': of, 'passed': not (found.problem or any(one['wrong'] or one['unused'] for one in sides.values())),
            'problem': found.problem, 'sides': sides}
    with open(path, 'w') as file:
        json.dump(kept, file, indent=1)
    return kept


def show(console, rows):
    """Print the table, and what is wrong.

    Args:
        console: a rich.console.Console.
        rows: {projects.Project: what `one` returned}.
    """
    table = Table()
    for title in ('project', 'host', 'side', 'passed on both', 'failed on both', 'worse', 'flaky', 'rounds',
                  'sqlite3 s', 'sqpyte s', 'ratio', 'of CPU time'):
        table.add_column(title)
    for project, kept in rows.items():
        for side, of in kept['sides'].items():
            table.add_row('%s %s' % project[:2], project.host, side, str(of['both']), str(of['neither']),
                          str(len(of['wrong'])), str(len(of['flaky'])), str(of['rounds']),
                          *('%.1f' % seconds for seconds in of['wall']),
                          *('%.2f' % (of[name][1] / of[name][0]) for name in ('wall', 'processor')))
    console.print(table)
    for project, kept in rows.items():
        name = '%s: %s' % (project.host, project.name)
        said = []
        if kept['problem']:
            said.append('%s; see %s' % (kept['problem'],
                                        os.path.join(install.FOLDER, 'runs', project.host, project.name)))
        for side, of in kept['sides'].items():
            said += ['%s: %s with sqlite3, %s with %s' % (test, stock, ours, side) for test, stock, ours in of['wrong']]
            said += ['%s: flaky with %s' % (test, side) for test in of['flaky']]
            said += ['%s: differs no more with %s; remove it from tests/ecosystem/meant.py' % (test, side)
                     for test in of['unused']]
        for line in said:
            console.print('%s: %s' % (name, line), markup=False, highlight=False, soft_wrap=True)


def main(arguments):
    """Run the command line; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)   # the suite at work, a group of its own, is ended too
    parser = argparse.ArgumentParser(prog='python -m tests.ecosystem', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('projects', nargs='*', help='names; none: all')
    parser.add_argument('--host', action='append', choices=list(SIDES), help='only there')
    parser.add_argument('--freeze', action='store_true', help='write the constraints of the environments, run nothing')
    options = parser.parse_args(arguments)
    try:
        projects = chosen(options.projects, options.host or ())
    except ValueError as error:
        print('error: %s' % error, file=sys.stderr)
        return 2
    pythons = interpreters()
    missing = {project.host for project in projects} - set(pythons)
    if not options.host and any(host.startswith('pypy') for host in pythons):
        # A system has one PyPy.
        for host in sorted(host for host in missing if host.startswith('pypy')):
            environments.say('no %s here: its projects are not run (PYPY names one)' % host)
            projects = [one for one in projects if one.host != host]
            missing.remove(host)
    if missing:
        print('error: no %s with venv was found; `--host` chooses another' % ', '.join(sorted(missing)),
              file=sys.stderr)
        return 2
    rows, failed = {}, False
    for project in projects:
        python = pythons[project.host]
        try:
            if options.freeze:
                install.environment(python, project, False, freeze=True)
                continue
            rows[project] = one(project, python, environments.say)
        except (install.Failed, subprocess.SubprocessError) as error:
            print('error: %s: %s: %s' % (project.host, project.name, error), file=sys.stderr)
            failed = True
            continue
        except KeyboardInterrupt:
            print('stopped; the same command goes on from here', file=sys.stderr)
            return 2
        count('tests of other projects', sum(sum(outcomes.values()) for of in rows[project]['sides'].values()
                                             for outcomes in of['outcomes']))
    if rows:
        show(Console(width=170), rows)
    return int(failed or not all(kept['passed'] for kept in rows.values()))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
