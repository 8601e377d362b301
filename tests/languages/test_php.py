"""The tests of PHP's SQLite3 and PDO classes, on stock's library and on ours: Debian's are linked to libsqlite3.so.0.

PHP loads its modules so that their own libraries come before what is preloaded, witness.c too. So it is asked in SQL
which library it has.
"""

import pytest

from c_engine.build import pin
from tests.extent import count
from tests.languages import outcomes, running, sources

HOW = 'apt-get install php-cli php-sqlite3'
ROOMS = ['ext/sqlite3', 'ext/pdo_sqlite']
NAMES = {'PASSED': 'pass', 'FAILED': 'fail', 'SKIPPED': 'skip'}
LEAST = 190
PROBE = """$found = new SQLite3(":memory:"); new PDO("sqlite::memory:"); echo SQLite3::version()["versionString"], " ",
           @$found->querySingle("SELECT sqpyte_configure('vm')"), " ", PHP_VERSION;"""


def outcomes_of(path):
    """Return {test: 'pass', 'fail', 'skip' or what run-tests.php says else}, of the file that it writes."""
    found = {}
    for line in path.read_text().splitlines():
        outcome, name = line.split('\t', 1)
        found[name.split('/ext/')[-1]] = NAMES.get(outcome, outcome)
    return found


def asked(library, directory, settings=()):
    """Return what PHP says of the library that it has: SQLite's version, and our mode ('' on stock)."""
    code, said, errors, _ = running.run(library, ['php', '-r', PROBE], directory, settings)
    assert code == 0, said + errors
    return said.split(' ')[:2]


def run(library, folder, directory, settings=()):
    """Run the tests in a tree: see running.run. What became of them is in `results` in the directory."""
    command = ['sh', '-c', 'cd "$0" && exec php run-tests.php -q --set-timeout 300 -W "$@"', folder,
               str(directory / 'results')] + ROOMS
    php = sources.installed(['sh', '-c', 'command -v php'], HOW)
    return running.run(library, command, directory, dict(settings, TEST_PHP_EXECUTABLE=php, NO_INTERACTION='1'))


@pytest.fixture(scope='module')
def suite(stock_library, tmp_path_factory):
    """The folder of the tests (path), and their outcomes on stock."""
    version = sources.installed(['php', '-r', PROBE], HOW).split(' ')[2]
    package = 'php' + '.'.join(version.split('.')[:2])
    folder = sources.unpacked(package, version, r'/ext/(?:pdo|pdo_sqlite|sqlite3)/tests/|/run-tests\.php$')
    directory = tmp_path_factory.mktemp('stock')
    assert asked('stock', directory) == [pin.VERSION, '']
    code, said, errors, _ = run('stock', folder, directory)
    found = outcomes_of(directory / 'results')
    assert len(outcomes.passed(found)) >= LEAST, said[-3000:] + errors[-3000:]
    return folder, found


@pytest.mark.parametrize('way', sorted(running.WAYS))
def test_suite(suite, vm_library, way, tmp_path):
    folder, expected = suite
    assert asked('ours', tmp_path, running.WAYS[way]) == [pin.VERSION, running.WAYS[way].get('SQPYTE_VM', 'hot')]
    code, said, errors, _ = run('ours', folder, tmp_path, running.WAYS[way])
    assert not outcomes.differences(expected, outcomes_of(tmp_path / 'results')), said[-5000:] + errors[-3000:]
    print('%s: %d tests pass on both' % (way, len(outcomes.passed(expected))))
    count("tests of PHP's", len(outcomes.passed(expected)))
