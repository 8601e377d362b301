"""APSW's own tests, on stock's library and on ours: Python's binding of all of SQLite's C interface.

They register file systems, virtual tables, hooks and tokenizers, and make SQLite's calls fail. APSW is built as for a
system's SQLite, by CPython.
"""

import os
import re
import shutil

import pytest

from tests.differential import tiers
from tests.extent import count
from tests.languages import outcomes, running, sources

VERSION = '3.54.1.0'
DIGEST = 'd9fd64ed76dc0f3d2265d4aeedb74d678c2ac7dffbd4e8ba05bf9a87aa7c34d3'
SETUPTOOLS = 'setuptools==80.9.0'
NAME = re.compile(r'^(?P<test>test\w+ \([\w.]+\))')
OUTCOME = re.compile(r'\.\.\. (?P<outcome>ok|FAIL|ERROR|skipped)\b')
NAMES = {'ok': 'pass', 'FAIL': 'fail', 'ERROR': 'fail', 'skipped': 'skip'}
LEAST = 230


def outcomes_of(text):
    """Return {test: 'pass', 'fail', 'skip' or 'run'} of what unittest has printed: a test's name, its docstring, what
    it prints, its outcome."""
    found, test = {}, None
    for line in text.splitlines():
        name = NAME.match(line)
        if name:
            test = name['test']
            found[test] = 'run'
        outcome = OUTCOME.search(line)
        if outcome and test:
            found[test] = NAMES[outcome['outcome']]
    return found


@pytest.fixture(scope='module')
def command(stock_library):
    """The command (list of str) that runs APSW's tests."""
    python = tiers.newest_cpython()
    if python is None:
        pytest.skip('there is no CPython environment in build/: `make test-env` makes them')
    folder = os.path.join(running.FOLDER, 'apsw-%s' % VERSION)
    if not os.path.isdir(folder):
        tree = os.path.join(running.FOLDER, 'apsw-build')
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(sources.from_pypi('apsw', VERSION, DIGEST), tree)
        os.remove(os.path.join(tree, 'setup.apsw'))      # asks for an own SQLite
        os.mkdir(os.path.join(tree, 'sqlite3'))
        shutil.copy(os.path.join(running.PATHS.upstream, 'sqlite3.h'), os.path.join(tree, 'sqlite3'))
        tools = os.path.join(running.FOLDER, 'setuptools')
        running.build([python, '-m', 'pip', '--quiet', 'install', '--upgrade', '--target', tools, SETUPTOOLS])
        running.build([python, 'setup.py', 'build_ext', '--inplace', '--include-dirs', os.path.join(tree, 'sqlite3'),
                       '--library-dirs', running.linking(), '--use-system-sqlite-config'], tree,
                      {'PYTHONPATH': tools, 'LD_LIBRARY_PATH': os.path.dirname(running.PATHS.stock_link)})
        os.mkdir(folder + '.part')
        shutil.move(os.path.join(tree, 'apsw'), os.path.join(folder + '.part', 'apsw'))
        os.rename(folder + '.part', folder)
    return ['env', 'PYTHONPATH=' + folder, python, '-m', 'apsw.tests', '-v']


@pytest.fixture(scope='module')
def expected(command, tmp_path_factory):
    """The outcomes on stock."""
    code, said, errors, seen = running.run('stock', command, tmp_path_factory.mktemp('stock'))
    assert seen.version == running.version() and not seen.ours
    found = outcomes_of(errors)
    assert len(outcomes.passed(found)) >= LEAST, errors[-3000:]
    return found


@pytest.mark.parametrize('way', sorted(running.WAYS))
def test_suite(command, expected, vm_library, way, tmp_path):
    code, said, errors, seen = running.run('ours', command, tmp_path, running.WAYS[way])
    assert not outcomes.differences(expected, outcomes_of(errors)), errors[-5000:]
    assert seen.version == running.version() and seen.ours
    assert way == 'default' or seen.served > 500 and seen.code > 0
    print('%s: %d tests pass on both; %r' % (way, len(outcomes.passed(expected)), seen))
    count("tests of APSW's", len(outcomes.passed(expected)))
