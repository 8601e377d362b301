"""SQLite's scripts of queries and answers, through the checking build."""
import os

from tests.extent import everything
from tests.sqllogictest import cli, processes
from tests.sqllogictest.processes import Options
from tests.sqllogictest.test_scripts import described, needs_scripts
from tools import effects

RECORDS = 150       # of each script, for a representative part


@needs_scripts
def test_scripts(library):
    options = Options(library, None, 0, None, None if everything() else RECORDS, 600)
    outcomes = list(processes.run(cli.scripts_of([]), options, os.cpu_count() or 1))
    wrong = [described(outcome) for outcome in outcomes if outcome.failures or outcome.error]
    assert not wrong, '\n\n'.join(wrong)
    assert sum(outcome.passed for outcome in outcomes) > 2000
    if os.environ.get('SQPYTE_EFFECTS_COUNTS'):
        assert effects.counted(os.environ['SQPYTE_EFFECTS_COUNTS'])['opcodes'] > 100000
