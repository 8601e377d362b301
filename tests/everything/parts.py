"""The parts of `make test-all`: the command of each, and which files' change makes it run again."""

import collections
import glob
import os
import sys

from c_engine.build import build as engine
from tests.faults.run import KINDS
from tests.sqllogictest.test_scripts import WAYS
from tests.upstream.running import CONFIGURATIONS as UPSTREAM
from tests.upstream.sanitized_run import PARTS as SANITIZED

ROOT = engine.ROOT
# Which parts have passed (record.py); no part depends on it.
RECORD = os.path.join(ROOT, 'tests', 'everything', 'record.json')
# What the libraries are made of, and all else; folders, or files.
LIBRARY = ['c_engine', 'sqpyte/vm', 'tools/translate.py', 'tools/vm_inputs.py']
PRODUCT = LIBRARY + ['sqpyte', 'pypy_module', 'tools']
# What the checking build alone has of them.
CHECKING = ['c_engine/effects', 'tools/effects.py']
# What the tests of one room use of others: all there but its tests.
SHARED = ['tests/differential']
ALL = {'SQPYTE_TESTS': 'all'}
# What the documentation site is made of beside the docstrings.
SITE = ['*.md', 'docs/*.md', 'benchmarks/README.md', 'tools/*.txt', 'tools/site/*.yml', 'tools/site/*.css',
        'tools/site/*.svg']
# SQLite's suite takes most of a day: in slices, what one machine has run is kept for the next.
SLICES = 8
WITH_MODULE = ('generated', 'python')       # parts of sanitized_run.py that run the Python module

# name: one word (str). command: list of str. rooms: folders, or files, that it depends on beside SHARED's. settings:
# environment variables (dict). alone: it keeps the whole machine busy by itself (bool). product: PRODUCT or LIBRARY.
Part = collections.namedtuple('Part', 'name command rooms settings alone product', defaults=[PRODUCT])


def pytest(name, arguments, rooms, settings=(), alone=False, python=sys.executable, product=PRODUCT):
    """Return the Part of some tests of pytest's."""
    return Part(name, [python, '-m', 'pytest', '-q'] + arguments, rooms, dict(settings), alone, product)


def module(name, arguments, rooms, product=PRODUCT):
    """Return the Part of a module's command line, which keeps the machine busy."""
    return Part(name, [sys.executable, '-m'] + arguments, rooms, {}, True, product)


def parts(fuzz_seconds):
    """Return all parts (list of Part), the longest of each kind first.

    Args:
        fuzz_seconds: for how long `make fuzz` runs (int).
    """
    cpythons = sorted(glob.glob(os.path.join(ROOT, 'build', 'cpython-env-3.*', 'bin', 'python')))
    deep = {'HYPOTHESIS_PROFILE': 'deep'}
    faults = ['tests/faults', 'tests/corruption']
    found = [pytest('faults-%s' % kind, faults[:1] + ['-k', kind + '-'], faults, ALL, product=LIBRARY)
             for kind in KINDS]
    inline = os.path.join('tests', 'pypy_module', 'inline')     # several parts: PyPy collects a thousand times there
    modules, folders = [sorted(glob.glob(os.path.join(ROOT, inline, pattern)))
                        for pattern in ('test_*.py', '*/test_*.py')]
    groups = [('dbapi', ['tests/pypy_module', '--ignore=' + inline]), ('folders', folders)]
    groups += [('%d' % i, modules[i::3]) for i in range(3)]
    found += [pytest('module-pypy-' + name, arguments, ['tests/pypy_module'], ALL) for name, arguments in groups]
    for path in cpythons:       # the semantics of each version
        version = path.split(os.sep)[-3].replace('cpython-env-', '')
        found += [pytest('module-cpython-' + version, ['tests/pypy_module'], ['tests/pypy_module'],
                         dict(ALL, SQPYTE_SEMANTICS=version), python=path)]
    found += [pytest('wheel', ['tests/wheel'], ['tests/wheel'], ALL),
              pytest('languages', ['tests/languages'],
                     ['tests/languages', 'tests/corruption', 'tests/upstream/tree'], ALL),
              pytest('optimizer', ['tests/jit/test_optimizer.py'], ['tests/jit'], ALL),
              pytest('threads', ['tests/translated/test_threads.py'], ['tests/translated'], ALL),
              pytest('file-map', ['tests/file_map'], ['tests/file_map'], ALL),
              pytest('damaged-databases', ['tests/corruption'], ['tests/corruption'], ALL, product=LIBRARY),
              pytest('benchmarks', ['tests/benchmarks/test_translated.py', 'tests/benchmarks/test_duckdb.py'],
                     ['tests/benchmarks', 'benchmarks'], ALL),
              pytest('differential', ['tests/differential'], ['tests/differential'], deep),
              pytest('oracles', ['tests/fuzz/test_oracles.py'], ['tests/fuzz'], deep)]
    found += [module('folders', ['tests.everything.folders'],
                     ['tests/everything/folders.py', 'tests/jit', 'tests/jit_pypy'])]
    found += [Part('site', ['make', '--no-print-directory', 'test-site'], ['tests/site'] + SITE, {}, False)]
    found += [pytest('sqllogictest-%s' % way, ['tests/sqllogictest/test_scripts.py', '-k', '[%s]' % way],
                     ['tests/sqllogictest'], ALL, alone=True, product=LIBRARY) for way in WAYS]
    found += [Part('make-test', ['make', '--no-print-directory', 'test'], ['tests', 'benchmarks'], {}, True),
              Part('ecosystem', ['make', '--no-print-directory', 'test-ecosystem'], ['tests/ecosystem'], {}, True),
              module('fuzz', ['tests.fuzz', '--seconds', '%d' % fuzz_seconds], ['tests/fuzz']),
              module('upstream-fuzzcheck', ['tests.upstream', 'fuzz'], ['tests/upstream'], LIBRARY),
              Part('effects', ['make', '--no-print-directory', 'test-effects-scripts'],
                   CHECKING + ['tests/effects', 'tests/sqllogictest', 'tests/differential'], {}, True)]
    # Slice by slice, so that all configurations are compared with the same runs of stock.
    found += [module('suite-%s-%d' % (name, number),
                     ['tests.upstream', 'run', '--config', name, '--slice', '%d/%d' % (number, SLICES)],
                     ['tests/upstream'] + (CHECKING if name == 'effects' else []), LIBRARY)
              for number in range(1, SLICES + 1) for name in UPSTREAM]
    found += [module('sanitized-%s' % name, ['tests.upstream.sanitized_run', name],
                     ['tests/upstream', 'tests/corruption'] + (
                         ['tests/pypy_module', 'tests/differential'] if name in WITH_MODULE else []),
                     PRODUCT if name in WITH_MODULE else LIBRARY) for name in SANITIZED]
    return found


def sources(room):
    """Return the files of a room, a folder or a file (list of str)."""
    found = glob.glob(os.path.join(ROOT, room)) if os.path.splitext(room)[1] else []
    for ending in ('py', 'c', 'h', 'sh', 'mk', 'json', 'sql', 'map', 'go', 'mod', 'sum', 'toml', 'lock', 'txt'):
        found += glob.glob(os.path.join(ROOT, room, '**', '*.' + ending), recursive=True)
    return found


def key(part):
    """Return a hash (hex str) of all that a part's outcome depends on."""
    paths = glob.glob(os.path.join(ROOT, 'tests', '*.py')) + [os.path.join(ROOT, 'Makefile')]
    paths += [path for room in SHARED for path in sources(room) if not os.path.basename(path).startswith('test_')]
    checking = {path for room in CHECKING for path in sources(room)}
    paths += [path for room in part.product for path in sources(room) if path not in checking]
    for room in part.rooms:
        paths += sources(room)
    command = [word.replace(ROOT + os.sep, '') for word in part.command]
    return engine.digest(sorted(set(paths) - {RECORD}), command, sorted(part.settings.items()))
