"""DBD::SQLite's own tests, on stock's library and on ours: Debian's module is linked to libsqlite3.so.0."""

import re

import pytest

from tests.extent import count
from tests.languages import outcomes, running, sources

PACKAGE = 'libdbd-sqlite3-perl'
HOW = 'apt-get install libdbd-sqlite3-perl libtest-nowarnings-perl'
PROBE = 'require DBD::SQLite; require Test::NoWarnings; print $DBD::SQLite::VERSION'
EACH = 'cd "$0" && for file in t/*.t; do echo "file $file"; perl -Mlib=. -w "$file" 2>&1; done; true'
LINE = re.compile(r'^(?:file (?P<file>\S+)|(?P<outcome>ok|not ok) (?P<number>\d+)\b(?P<skipped>.* # skip)?)',
                  re.MULTILINE)
LEAST = 3000


def outcomes_of(text):
    """Return {'file number': 'pass', 'fail' or 'skip'} of what the test files have printed."""
    found, file = {}, ''
    for match in LINE.finditer(text):
        if match['file']:
            file = match['file']
        else:
            outcome = 'skip' if match['skipped'] else 'pass' if match['outcome'] == 'ok' else 'fail'
            found['%s %s' % (file, match['number'])] = outcome
    return found


@pytest.fixture(scope='module')
def suite(stock_library, tmp_path_factory):
    """The command (list of str) that runs the tests, and their outcomes on stock."""
    version = sources.installed(['perl', '-e', PROBE], HOW)
    command = ['sh', '-c', EACH, sources.unpacked(PACKAGE, version, r'/t/')]
    code, said, errors, seen = running.run('stock', command, tmp_path_factory.mktemp('stock'))
    assert seen.version == running.version() and not seen.ours
    found = outcomes_of(said)
    assert len(outcomes.passed(found)) >= LEAST, said[-3000:] + errors[-3000:]
    return command, found


@pytest.mark.parametrize('way', sorted(running.WAYS))
def test_suite(suite, vm_library, way, tmp_path):
    command, expected = suite
    code, said, errors, seen = running.run('ours', command, tmp_path, running.WAYS[way])
    assert not outcomes.differences(expected, outcomes_of(said)), said[-5000:] + errors[-3000:]
    assert seen.version == running.version() and seen.ours
    assert way == 'default' or seen.served > 10
    print('%s: %d tests pass on both; %r' % (way, len(outcomes.passed(expected)), seen))
    count("tests of DBD::SQLite's", len(outcomes.passed(expected)))
