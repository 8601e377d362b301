"""The runner itself: it finds what is wrong, in any library, and says where."""

import os
import signal

import pytest

from tests.sqllogictest import cli, processes, values
from tests.sqllogictest.processes import Options

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'scripts')
FORMAT, WRONG = (os.path.join(SCRIPTS, name) for name in ('format.test', 'wrong.test'))


def run(path, library, mode=None, **more):
    """The Outcome of one script."""
    outcome, = processes.run([str(path)], Options(library, mode, 0, None, None, 600)._replace(**more))
    return outcome


@pytest.fixture(params=['stock', 'engine', 'vm'])
def tier(request):
    """(library, mode) of a tier."""
    library = request.getfixturevalue(request.param + '_library')
    return library, {'stock': None, 'engine': 'off', 'vm': 'always'}[request.param]


def test_all_of_the_format(tier):
    outcome = run(FORMAT, *tier)
    assert (outcome.failures, outcome.error) == ([], None)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (19, 0, 4)
    if tier[1] == 'always':
        assert outcome.in_vm == outcome.statements > 15


def test_what_fails(tier):
    outcome = run(WRONG, *tier)
    assert (outcome.passed, outcome.failed) == (4, 9)
    found = {failure.line: failure[1:] for failure in outcome.failures}
    assert list(found) == [9, 16, 22, 27, 30, 33, 41, 44, 49]
    assert found[9] == ('SELECT a FROM t', '1\n2\n4', '1\n2\n3')
    assert found[16][1:] == ('1\n2', '1\n2\n3')
    assert found[22][1:] == ('2 columns', '1 columns')
    assert found[27][1:] == ('an error', 'success')
    assert found[30][1:] == ('success', 'error 1: no such column: missing')
    assert found[33][1:] == ('1', 'error 1: no such column: missing')
    assert found[41][1:] == ('as in line 38, of the same label same:\n1\n2', '1')
    assert found[44][1:] == ('3 values hashing to ' + '0' * 32,
                             '3 values hashing to %s\n1\n2\n3' % values.hashed(['1', '2', '3'])[20:])
    assert found[49][1:] == ('b', 'a')


def test_the_reference_runners_hash():
    """Of the values of evidence/in1.test's kind, as `printf '1\\n2\\n' | md5sum` has it."""
    assert values.hashed(['1', '2']) == '2 values hashing to 6ddb4095eb719e2a9f0a3f95677d24e0'


def test_a_prefix_of_a_script(stock_library):
    outcome = run(WRONG, stock_library, records=3)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 1, 0)


def test_a_library_without_tiers_counts_no_statements(stock_library):
    assert run(FORMAT, stock_library).statements == 0


def test_a_statement_that_does_not_end_is_a_failure(stock_library, tmp_path):
    script = tmp_path / 'hangs.test'
    script.write_text('statement ok\nCREATE TABLE t(a)\n\nquery I nosort\nWITH RECURSIVE r(a) AS '
                      '(SELECT 1 UNION ALL SELECT 1 FROM r) SELECT max(a) FROM r\n----\n1\n')
    process = processes.Process(str(script), Options(stock_library, None, 0, None, None, 600))
    try:
        while process.look() < 4:
            assert process.outcome() is None
        process.patience = 0
        outcome = None
        while outcome is None:
            process.look()
            outcome = process.outcome()
    finally:
        process.stop()
    failure, = outcome.failures
    assert failure.line == 4 and failure.sql.startswith('WITH RECURSIVE')
    assert failure.got.startswith('no end within 0 s')


def test_a_process_that_dies_is_a_failure_of_its_record(stock_library, tmp_path):
    script = tmp_path / 'long.test'
    script.write_text('statement ok\nWITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r '
                      'LIMIT 1000000000) SELECT max(a) FROM r\n')
    process = processes.Process(str(script), Options(stock_library, None, 0, None, None, 600))
    try:
        while not process.look():
            assert process.outcome() is None
        process.process.send_signal(signal.SIGSEGV)
        process.process.wait()
        failure, = process.outcome().failures
    finally:
        process.stop()
    assert failure.line == 1 and failure.got.startswith('the process ended with status -11')


def test_the_command_line(stock_library, capsys):
    library = ['--library', stock_library, '--jobs', '2']
    assert cli.main([FORMAT] + library) == 0
    assert '1 scripts: 19 passed, 0 failed, 4 skipped' in capsys.readouterr().out
    assert cli.main([SCRIPTS, '--failures', '1'] + library) == 1
    output = capsys.readouterr().out
    assert '2 scripts: 23 passed, 9 failed, 4 skipped' in output
    assert 'FAILED %s:9\n  SQL:\n    SELECT a FROM t\n  expected:\n    1\n    2\n    4\n  got:\n' \
        '    1\n    2\n    3\n  and 8 more of ' % WRONG in output


def test_the_command_line_and_the_vm(vm_library, capsys):
    library = ['--library', vm_library]
    for options in (['--vm', 'always'], ['--threshold', '0'], ['--vm', 'hot', '--threshold', '0']):
        assert cli.main([FORMAT] + library + options) == 0
        words = capsys.readouterr().out
        assert 'the VM always' in words
        entered, statements = words.split('in the VM: ')[1].split(' statements')[0].split(' of ')
        assert entered == statements
    assert cli.main([FORMAT, '--threshold', '100000'] + library) == 0
    assert 'in the VM: 0 of ' in capsys.readouterr().out


def test_the_untranslated_vm(engine_library, capsys):
    assert cli.main([FORMAT, '--library', engine_library, '--untranslated', '--vm', 'always']) == 0
    words = capsys.readouterr().out
    assert 'the VM untranslated, the VM always' in words and 'in the VM: 18 of 18 statements' in words


@pytest.mark.parametrize('arguments, message', [
    (['/nowhere.test'], 'no script /nowhere.test'),
    ([SCRIPTS + '/../../tools'], 'no *.test in'),
    ([FORMAT, '--library', '/nowhere.so'], 'is missing: run `make engine`'),
    ([FORMAT, '--threshold', '0', '--vm', 'off'], 'so not --vm off')])
def test_what_the_command_line_refuses(arguments, message, stock_library, capsys):
    if '--library' not in arguments:
        arguments = arguments + ['--library', stock_library]
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_library_without_tiers_has_no_modes(stock_library, capsys):
    assert cli.main([FORMAT, '--library', stock_library, '--vm', 'hot']) == 2
    assert 'has no VM' in capsys.readouterr().err


def test_what_is_not_in_the_format(stock_library, tmp_path, capsys):
    script = tmp_path / 'bad.test'
    script.write_text('statement ok\nSELECT 1\n\nselect 2\n')
    assert cli.main([str(script), '--library', stock_library]) == 2
    assert 'bad.test, line 4: no record begins with "select"' in capsys.readouterr().out
