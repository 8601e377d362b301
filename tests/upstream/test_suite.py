"""SQLite's own tests, beside stock: a representative part of the suite and of the fuzzer inputs.

All of them: `make test-upstream`, which `make test-all` runs.
"""

import os
import subprocess

import pytest
from rich.console import Console

from c_engine.build import build as engine
from tests.upstream import campaign, cli, files, fuzzing, running
from tests.upstream.programs import build, linking
from tests.upstream.tree import headers, sources, tree

# Of the fuzzer inputs one in so many is run.
ONE_OF = 200


@pytest.fixture(scope='module')
def origin():
    """The prepared tree (sources.Sources)."""
    try:
        found = sources.Sources(engine.Paths())
        found.prepare()
    except (tree.NoTree, headers.Malformed) as error:
        pytest.fail(str(error), pytrace=False)
    return found


def built(program):
    """Build and return a program; fail with what to do if that can't be done."""
    try:
        made = program()
        made.build()
    except linking.NotBuilt as error:
        pytest.fail(str(error), pytrace=False)
    return made


@pytest.fixture(scope='module')
def programs(origin):
    """{'stock': build.Programs, 'ours': build.Programs}, built."""
    return {which: built(lambda: build.Programs(which, engine.Paths(), origin))
            for which in (linking.STOCK, linking.OURS)}


def test_a_part_of_the_suite_in_all_configurations(origin, programs, capsys):
    chosen = files.choose(origin.directory, files.PART)
    assert len(chosen) == len(files.PART)
    work = campaign.Campaign(os.path.join(engine.Paths().build, 'upstream'), origin.directory, programs)
    names = [name for name in running.CONFIGURATIONS if running.program_of(name) == linking.OURS]
    for name in names:
        for file in chosen:
            work.results[name].forget(file)
    work.run(chosen, names, os.cpu_count(), lambda file, configuration: None)
    summaries = work.summaries(chosen, names)
    with capsys.disabled():
        fine = cli.show(Console(), summaries)
    assert fine
    for summary in summaries.values():
        assert summary.files == len(chosen) and summary.cases > 5000 and len(summary.flaky) < 200


def test_what_becomes_of_each_case_is_noted(origin, programs, tmp_path):
    path = origin.path('test', 'select1.test')
    processes = running.Processes()
    program = programs[linking.STOCK].testfixture
    one = running.run(processes, program, path, running.STOCK, 600, str(tmp_path / 'one'))
    assert one['ends'] == {running.END: 'ok', running.MEMORY: 'ok', running.FILES: 'ok'}
    script = tmp_path / 'wrong.test'
    script.write_text('set argv0 %s\nset testdir [file dirname $argv0]\nsource $testdir/tester.tcl\n'
                      'do_execsql_test wrong-1 {SELECT 1} {2}\ndo_execsql_test wrong-2 {SELECT 1} {1}\n'
                      'do_execsql_test wrong-3 {SELECT x} {}\nfinish_test\n' % path)
    wrong = running.run(processes, program, str(script), running.STOCK, 600, str(tmp_path / 'two'))
    assert wrong['cases'] == {'wrong-1': 'got 1', 'wrong-2': 'ok', 'wrong-3': 'error no such column: x'}
    assert wrong['ends'][running.END] == 'ok'


def test_a_crash_and_a_hang_are_noticed(programs, tmp_path):
    processes = running.Processes()
    script = tmp_path / 'crash.test'
    program = programs[linking.OURS].testfixture
    script.write_text('puts stderr here\nexec kill -SEGV [pid]\nafter 1000\n')
    crash = running.run(processes, program, str(script), running.C_TIER, 600, str(tmp_path / 'one'))
    assert crash['ends'][running.END] == 'signal SIGSEGV' and 'here' in crash['said']
    script.write_text('while 1 {}\n')
    hang = running.run(processes, program, str(script), running.C_TIER, 2, str(tmp_path / 'two'))
    assert hang['ends'][running.END] == running.HANG
    script.write_text('error "stops here"\n')
    stop = running.run(processes, program, str(script), running.C_TIER, 600, str(tmp_path / 'three'))
    assert stop['ends'][running.END] == 'stopped with code 1: PROGRAMS/testfixture: stops here'


@pytest.fixture(scope='module')
def fuzzcheck(origin):
    """fuzzing.Fuzzcheck, built."""
    return built(lambda: fuzzing.Fuzzcheck(engine.Paths(), origin))


def test_a_runaway_input_is_interrupted(fuzzcheck, tmp_path):
    script = tmp_path / 'runaway.sql'
    script.write_text('WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT sum(x) FROM c;')
    database = str(tmp_path / 'inputs.db')
    subprocess.run([fuzzcheck.program, database, '--load-sql', str(script)], check=True,
                   cwd=str(tmp_path), stdout=subprocess.DEVNULL)
    for mode in ('always', 'c'):
        found = fuzzing.check(running.Processes(), fuzzcheck, database, running.environment(mode),
                              str(tmp_path / 'work'))
        assert found['error'] is None and found['inputs'] == 1
        assert (found['in_vm'] > 0) == (mode == 'always')


def test_an_error_of_fuzzcheck_is_told(fuzzcheck, tmp_path):
    settings = dict(running.environment('always'), TEST_FAILURE='5')
    found = fuzzing.check(running.Processes(), fuzzcheck, fuzzing.DATABASES[3], settings,
                          str(tmp_path / 'work'), 100)
    assert 'simulated failure' in found['error'] and found['inputs'] == 0


def test_a_sample_of_the_fuzzer_inputs(fuzzcheck, capsys):
    found = fuzzing.check_all(fuzzcheck, fuzzing.MODES, ONE_OF, os.cpu_count(), again=True)
    with capsys.disabled():
        assert cli.show_fuzz(Console(), found)
    always = [one for (mode, _), one in found.items() if mode == 'always']
    assert sum(one['inputs'] for one in always) > 200
    # They are there to run in the VM: most do.
    assert sum(one['in_vm'] for one in always) > sum(one['statements'] for one in always) / 2
