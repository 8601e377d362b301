"""The command line end to end on small data: JSON, configuration, messages, exit codes."""

import json

import pytest

from benchmarks import cli, places
from benchmarks.results import estimate
from benchmarks.run import answers, engines, measure
from benchmarks.run import figure3, startup
from benchmarks.suites import calls, micro
from c_engine.generated.mechanisms import MECHANISMS

FAST = ['--scale', '0.01', '--processes', '2', '--warmup', '1', '--warmup-seconds', '0',
        '--runs', '2', '--seconds', '0']
FIELDS = {'suite': str, 'query': str, 'engine': str, 'baseline': str, 'median_s': float,
          'ratio': float, 'ratio_low': float, 'ratio_high': float, 'first_run_s': float,
          'first_ratio': float}


def run(arguments, tmp_path, expected_code=0):
    """Run the command line with --json; return the JSON."""
    path = tmp_path / 'results.json'
    assert cli.main(arguments + FAST + ['--json', str(path)]) == expected_code
    return json.loads(path.read_text())


def test_rounds_have_layouts_of_their_own():
    """Each round's environments have another length, which the seed and the query say."""
    found = measure.layouts(1, 'q1', 20)
    assert found == measure.layouts(1, 'q1', 20)
    assert len(set(found)) > 15 and all(0 <= padding < measure.LONGEST_PADDING for padding in found)
    assert found != measure.layouts(2, 'q1', 20) and found != measure.layouts(1, 'q2', 20)
    assert measure.layouts(None, 'q1', 3) == [0, 0, 0]


@pytest.mark.parametrize('engine', [engines.MICRO['sqpyte-pypy'], engines.MICRO['stock-pypy'],
                                    engines.TPCH['stock']], ids=lambda engine: engine.name)
def test_environments_are_longer_by_the_padding(engine, monkeypatch):
    monkeypatch.setattr(engines.driver, 'build', lambda *program: 'driver')
    lengths = []
    for padding in (1, 1001):
        settings = engines.Settings(0, 0.0, 1, 0.0, None, None, 600, 'wall', padding=padding)
        name = 'select' if engine.name.endswith('pypy') else 'q1'
        _, environment = engine.command(name, 1.0, 'path', settings)
        lengths.append(sum(len(key) + len(value) for key, value in environment.items()))
    assert lengths[1] - lengths[0] == 1000


def check_results(results, suite, baseline):
    """Check that every result object is as the harness promises."""
    medians = {(row['query'], row['engine']): row for row in results}
    for row in results:
        for name, kind in FIELDS.items():
            assert type(row[name]) is kind, name
        assert (row['suite'], row['baseline']) == (suite, baseline)
        base = medians[row['query'], baseline]
        assert row['ratio'] == estimate.ratio(base['samples_s'], row['samples_s'])
        assert row['first_ratio'] == estimate.median(
            [a / b for a, b in zip(base['first_runs_s'], row['first_runs_s'])])
        assert 0 < row['ratio_low'] <= row['ratio'] <= row['ratio_high']
        assert [len(samples) for samples in row['samples_s']] == [2, 2]


def check_configuration(configuration, names):
    """Check that nothing a reader needs is missing."""
    method = configuration['method']
    assert method['layouts'].endswith('seed 1')
    assert (method['processes_per_engine'], method['warmup_runs_at_least']) == (2, 1)
    assert configuration['data']['scale'] == 0.01
    assert configuration['data']['rows']['lineitem'] == 60175
    assert configuration['data']['file_system'] != 'unknown'
    for name in ('hostname', 'platform', 'cpu_model', 'cpus', 'memory', 'cpu_caches'):
        assert configuration['machine'][name]
    assert configuration['date'] and configuration['harness_python']
    assert 'git_commit' in configuration
    assert list(configuration['engines']) == names
    for found in configuration['engines'].values():
        assert found['sqlite_version'].startswith('3.')
        assert len(found['sqlite_source_id']) > 60
        assert 'ENABLE_STAT4' in found['compile_options']
        assert set(found['pragmas']) >= {'journal_mode', 'synchronous', 'page_size', 'cache_size',
                                         'mmap_size'}
        assert len(found['library_sha256']) == len(found['libraries'])


def test_micro(tmp_path, capsys):
    found = run(['micro', '--engines', 'stock-cpython,c-api'], tmp_path)
    names = ['stock-pypy', 'stock-cpython', 'c-api']
    assert [(row['query'], row['engine']) for row in found['results']] == \
        [(query, name) for query in micro.NAMES for name in names]
    check_results(found['results'], 'micro', 'stock-pypy')
    check_configuration(found['configuration'], names)
    pypy, cpython, c_api = (found['configuration']['engines'][name] for name in names)
    assert pypy['python'].startswith('PyPy') and cpython['python'].startswith('CPython')
    assert pypy['libraries'] == cpython['libraries'] == c_api['libraries'] == \
        [places.stock_library()]
    assert pypy['gc_nursery'] == '4M'
    output = capsys.readouterr().out
    for text in ('journal_mode', 'sqlite_source_id', 'mean of the six', 'mean of all',
                 'are the same, for %d of %d' % (len(micro.NAMES), len(micro.NAMES))):
        assert text in output


def test_calls(tmp_path):
    found = run(['calls', '--engines', 'stock-cpython'], tmp_path)
    assert [row['query'] for row in found['results']] == list(calls.NAMES)
    check_results(found['results'], 'calls', 'stock-cpython')
    check_configuration(found['configuration'], ['stock-cpython'])


def test_threads_that_get_other_rows_are_seen(monkeypatch):
    class Reader:
        """Gives each thread another row."""

        def __init__(self, number):
            self.number = number

        def execute(self, sql):
            return self

        def fetchall(self):
            return [self.number]

        def fetchone(self):
            return 0, 'main', 'path'
    monkeypatch.setattr(calls, 'readers', lambda module, path, count: list(map(Reader, range(count))))
    assert calls.threads(1, ('q6',))(None, Reader(0)) == [[0]]
    assert calls.threads(3, ('q1', 'q6'))(None, Reader(0)) == [[[0], [0]], [[1], [1]], [[2], [2]]]


@pytest.mark.parametrize('host', sorted(startup.HOSTS))
def test_startup(host, tmp_path, monkeypatch, capsys):
    """With the checkout's module under both."""
    monkeypatch.setitem(startup.HOSTS, host, (startup.HOSTS[host][0], lambda: places.ROOT))
    monkeypatch.setattr(startup, 'MODULES', ('sqlite3', 'sqlite3'))
    assert cli.main(['startup', '--host', host, '--programs', 'import and SELECT 1', '--processes', '2']) == 0
    line, = [line for line in capsys.readouterr().out.splitlines() if line.startswith('│ import and SELECT 1')]
    own, whole = [float(line.split('│')[column]) for column in (2, 5)]
    assert 0 < own < whole
    monkeypatch.setattr(startup, 'MODULES', ('no_such_module',))
    assert cli.main(['startup', '--host', host, '--programs', 'import and SELECT 1']) == 2
    assert 'no_such_module: a program of `startup` failed' in capsys.readouterr().err


def test_startup_of_what_is_not_installed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(places, 'build_folder', lambda: str(tmp_path))
    assert cli.main(['startup', '--host', 'cpython']) == 2
    assert 'type `make wheel`' in capsys.readouterr().err


def test_tpch(tmp_path):
    found = run(['tpch', '--engines', 'engine', '--queries', '1,q6,Q14', '--clock', 'cpu'],
                tmp_path)
    assert found['configuration']['method']['clock'] == 'cpu'
    assert found['configuration']['method']['mmap_size'] == 'default'
    assert [(row['query'], row['engine']) for row in found['results']] == \
        [(query, name) for query in ('q1', 'q6', 'q14') for name in ('stock', 'engine')]
    check_results(found['results'], 'tpch', 'stock')
    check_configuration(found['configuration'], ['stock', 'engine'])


@pytest.mark.parametrize('suite, others, query', [
    ('micro', 'stock-cpython,c-api', 'select'), ('calls', 'stock-cpython', 'q6-threads-1'), ('tpch', 'engine', 'q6')])
def test_every_engine_is_given_the_mmap_size(suite, others, query, tmp_path, capsys):
    found = run([suite, '--engines', others, '--queries', query, '--mmap-size', '50000000'], tmp_path)['configuration']
    assert found['method']['mmap_size'] == 50000000
    assert {one['pragmas']['mmap_size'] for one in found['engines'].values()} == {50000000}
    assert 'pragmas.mmap_size          50000000' in capsys.readouterr().out


def test_the_connections_of_threads_are_given_what_theirs_is():
    import sqlite3
    calls.give(sqlite3.connect(':memory:'), ['cache_size=-9000'])
    reader, = calls.readers(sqlite3, ':memory:', 1)
    assert reader.execute('PRAGMA cache_size').fetchone() == (-9000,)
    calls.give(reader, [])


def test_a_c_program_that_fails_is_named(tmp_path, monkeypatch):
    settings = engines.Settings(0, 0.0, 1, 0.0, None, None, 60, 'wall')
    engine = engines.ProgramEngine('c-api', places.stock_library)
    with pytest.raises(engines.EngineFailure, match='no such benchmark: selct'):
        engine.run('selct', 0.01, ':memory:', settings)
    with pytest.raises(engines.EngineFailure, match='no such table: lineitem'):
        engine.run('select', 0.01, ':memory:', settings)


def test_means_are_of_whole_groups():
    from benchmarks.results import report
    results = [{'query': name} for name in 'aabbcc']
    assert report.means(results, {'two': ('a', 'c'), 'other': ('a', 'd')}) == {'two': ('a', 'c')}
    assert report.means(results, {}) == {'geometric mean': ('a', 'b', 'c')}
    assert report.means(results[:2], {'two': ('a', 'c')}) == {}


def test_different_answers_end_with_code_1_and_without_times(tmp_path, monkeypatch, capsys):
    class Liar(engines.LibraryEngine):
        """Gives wrong answers to Q6."""

        def command(self, query, scale, database, settings):
            self.query = query
            return super().command(query, scale, database, settings)

        def read(self, found):
            return found._replace(answers=[[[1.5]]]) if self.query == 'q6' else found

    monkeypatch.setitem(engines.TPCH, 'engine', Liar('engine', places.engine_library))
    found = run(['tpch', '--engines', 'engine', '--queries', '6,14'], tmp_path, expected_code=1)
    assert {row['query'] for row in found['results']} == {'q14'}
    assert list(found['problems']) == ['q6']
    output = capsys.readouterr().out
    assert 'q6: no times' in output and '[1.5] instead of' in output


def test_a_missing_vm_is_named_with_the_command_to_type(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(engines.TPCH['vm'], 'library',
                        lambda: places.product(str(tmp_path / 'libsqpyte.so'), 'make vm'))
    assert cli.main(['tpch', '--engines', 'vm'] + FAST) == 2
    assert 'type `make vm`' in capsys.readouterr().err


def test_a_module_that_cannot_be_imported_is_named(monkeypatch, capsys):
    monkeypatch.setattr(engines.MICRO['sqpyte-pypy'], 'module', 'no_such_module')
    assert cli.main(['micro', '--engines', 'sqpyte-pypy'] + FAST) == 2
    errors = capsys.readouterr().err
    assert 'no_such_module' in errors and 'type `make`' in errors


@pytest.mark.parametrize('arguments, message', [
    (['micro', '--queries', 'selct'], 'no query "selct"; there are: select, innerjoin'),
    (['tpch', '--engines', 'sqlite'], 'no engine "sqlite"; there are: stock, vm'),
    (['tpch', '--queries', '23'], 'no query "q23"'),
    (['data', '--scale', '0.001'], 'scale 0.01 at least'),
])
def test_unknown_names_are_refused(arguments, message, capsys):
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_stock_engine_on_another_sqlite_is_refused(monkeypatch):
    engine = engines.PythonEngine('stock-pypy', places.pypy, 'sqlite3', True, 'make')
    monkeypatch.setattr(places, 'stock_loader_folder', lambda: '/nowhere')
    settings = engines.Settings(0, 0.0, 1, 0.0, None, None, 60, 'wall')
    with pytest.raises(places.Missing, match='does not take its SQLite'):
        engine.check(':memory:', settings)


def test_slower_is_marked():
    from benchmarks.results import report
    assert 'SLOWER[' in report.marked(0.94, 0.945, '0.94')
    assert 'SLOWER?' in report.marked(0.94, 1.1, '0.94')
    assert 'SLOWER' not in report.marked(0.96, 1.1, '0.96')


def test_figure3(tmp_path, capsys):
    found = run(['figure3', '--engines', 'stock-pypy'], tmp_path)
    check_results(found['results'], 'figure3', 'stock-pypy')
    assert 'quantity 1536127, base price ' in capsys.readouterr().out


def test_figure3_reads_the_example_and_checks_its_sums():
    text = ('quantity 5, base price 1.5, discounted price 0.25: 0.300000 s\n'
            'quantity 5, base price 1.5, discounted price 0.25: 0.200000 s\n'
            'quantity 5, base price 1.5, discounted price 0.25: 0.100000 s\n')
    found = figure3.parse('sqpyte-pypy', text, 1)
    assert (found.first_run_s, found.samples_s, found.answers) == (0.3, [0.1], [[5, 1.5, 0.25]])
    other = figure3.parse('sqpyte-pypy', text.replace('0.25', '0.26'), 1)
    assert answers.differences({'base': [found], 'new': [other]}, 'base')
    with pytest.raises(engines.EngineFailure):
        figure3.parse('sqpyte-pypy', 'Traceback', 1)


def test_results_of_a_suite_without_the_baselines_name_are_impossible():
    with pytest.raises(KeyError):
        measure.results('micro', 'select', 'stock-pypy', {})


def test_ablations_have_their_switches():
    settings = engines.Settings(0, 0.0, 1, 0.0, None, None, 60, 'wall')
    assert engines.MICRO['sqpyte-pypy-no-inline'].environment(settings)['SQPYTE_INLINE'] == '0'
    for name, reader, _, _ in MECHANISMS:
        engine = 'sqpyte-pypy-no-' + name
        assert engines.MICRO[engine].environment(settings)['SQPYTE_WITHOUT'] == name
        assert engine not in cli.SUITES['micro'].default
        if reader != 'module':
            assert engines.TPCH['vm-no-' + name].environment == {'SQPYTE_WITHOUT': name}
    plain = engines.MICRO['sqpyte-pypy'].environment(settings)
    assert 'SQPYTE_INLINE' not in plain and 'SQPYTE_WITHOUT' not in plain
