"""All libraries and ways to run them give the answers that SQLite's own scripts hold.

`make test` runs a part of ../shared/sqllogictest, `make test-all` all of it. Where that folder isn't
there these tests are skipped; test_runner.py has scripts of our own.
"""

import os

import pytest

from tests.differential import tiers
from tests.extent import count, everything
from tests.sqllogictest import cli, processes
from tests.sqllogictest.processes import Options

# The scripts' tables are small.
EAGER = tiers.EAGER['SQPYTE_JIT']
# Which library, mode, threshold and JIT parameters; and how many records of each script make a
# representative part (None: all of them), those of large joins apart.
WAYS = {
    'stock': ('stock', None, 0, None, None, 1000),
    'engine': ('engine', 'off', 0, None, None, 1000),
    'vm-always': ('vm', 'always', 0, None, None, 500),
    'vm-always-eager': ('vm', 'always', 0, EAGER, 150, 50),
    'vm-hot': ('vm', 'hot', 0, None, None, 1000),
    'vm-hot-eager': ('vm', 'hot', 1, EAGER, 150, 50),
}
JOINS = ('select3.test', 'select4.test', 'select5.test')

needs_scripts = pytest.mark.skipif(
    not os.path.isdir(cli.FOLDER),
    reason='no %s: name the folder of the scripts in SQPYTE_SQLLOGICTEST' % cli.FOLDER)


def groups(records, records_of_joins):
    """Return [(records or None, paths)] of what is to be run."""
    paths = cli.scripts_of([])
    if everything():
        return [(None, paths)]
    joins = [path for path in paths if os.path.basename(path) in JOINS]
    return [(records_of_joins, joins), (records, [path for path in paths if path not in joins])]


def described(outcome):
    """Return in words what a script's failures are."""
    lines = [outcome.error] if outcome.error else []
    for failure in outcome.failures[:3]:
        lines.append('%s:%d\n%s\nexpected:\n%s\ngot:\n%s' % ((outcome.path,) + failure))
    if len(outcome.failures) > 3:
        lines.append('and %d more' % (len(outcome.failures) - 3))
    return '\n\n'.join(lines)


@needs_scripts
@pytest.mark.parametrize('way', WAYS)
def test_scripts(way, request):
    name, mode, threshold, jit, *part = WAYS[way]
    library = request.getfixturevalue(name + '_library')
    outcomes = []
    for records, paths in groups(*part):
        outcomes += processes.run(paths, Options(library, mode, threshold, jit, records, 120),
                                  os.cpu_count() or 1)
    wrong = [described(outcome) for outcome in outcomes if outcome.failures or outcome.error]
    count('records of sqllogictest', sum(outcome.passed for outcome in outcomes))
    assert not wrong, '\n\n'.join(wrong)
    assert sum(outcome.passed for outcome in outcomes) > 2000
    if mode == 'always':
        words = cli.vm_words(outcomes)
        assert sum(outcome.in_vm for outcome in outcomes) == \
            sum(outcome.statements for outcome in outcomes), words
