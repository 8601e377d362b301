"""DuckDB beside SQLite: its texts, its copy of the data, how its answers are compared, and what is printed."""

import io
import json
import os
import re

import pytest
from rich.console import Console

from benchmarks import cli, places
from benchmarks.data import databases, duckdb_copy
from benchmarks.results import beside
from benchmarks.run import answers, engines
from benchmarks.suites import duckdb_text, queries
from tests.extent import everything
from tools import environments

SCALE = 0.01
ONCE = engines.Settings(0, 0.0, 1, 0.0, None, None, 1800, 'wall')


@pytest.fixture(scope='module')
def database():
    """Path of a small TPC-H database, of which DuckDB has a copy."""
    if everything():
        environments.make_duckdb()
    elif not os.path.exists(os.path.join(places.build_folder(), 'duckdb-env')):
        pytest.skip('DuckDB is installed when it is asked for: `make test-all` does')
    path = databases.TPCH.ensure(SCALE)
    duckdb_copy.ensure(path)
    return path


def test_texts_have_nothing_that_duckdb_lacks():
    """Each replacement is needed, and what is left has none of what it replaces."""
    texts = [queries.text(name, 1.0) for name in queries.NAMES]
    for pattern, _ in duckdb_text.REPLACEMENTS:
        assert any(pattern.search(text) for text in texts)
    for name in queries.NAMES:
        assert not re.search(r"date\(|strftime|\d\.\d+(?!e0)\b", duckdb_text.text(name, 1.0))
    assert duckdb_text.translated("d < date('1993-07-01', '+3 months') AND x < 0.06 - 0.01") == \
        "d < CAST(DATE '1993-07-01' + INTERVAL '3 months' AS DATE) AND x < 0.06e0 - 0.01e0"
    assert duckdb_text.translated("date('1998-12-01', '-90 days')") == \
        "CAST(DATE '1998-12-01' + INTERVAL '-90 days' AS DATE)"
    assert duckdb_text.translated("CAST(strftime('%Y', l.shipdate) AS INTEGER)") == 'year(l.shipdate)'


def test_ties_are_in_columns_of_the_order():
    """The columns are those of the text's ORDER BY."""
    orders = {name: re.findall(r'ORDER BY (.*?)(?:;|\n)', queries.text(name, 1.0))[-1] for name in duckdb_text.TIES}
    assert {name: len(order.split(',')) for name, order in orders.items()} == {
        name: len(columns) for name, columns in duckdb_text.TIES.items()}


def test_the_schema_has_sqlites_columns_without_keys():
    text = duckdb_copy.schema()
    assert 'REAL' not in text and 'KEY' not in text
    assert 'regionkey INTEGER, name TEXT' in text and 'comment TEXT);\nCREATE TABLE orders' in text


@pytest.mark.parametrize('left, right, keys, near', [
    ([[1.0]], [[1.0000000001]], (), True), ([[1.0]], [[1.00000001]], (), False), ([[0.0]], [[1e-12]], (), False),
    ([[1]], [[1.0]], (), False), ([['a', None]], [['a', None]], (), True), ([['a']], [['b']], (), False),
    ([[1]], [[1], [1]], (), False), ([[1, 2]], [[1]], (), False),
    ([['a', 1], ['b', 1]], [['b', 1], ['a', 1]], (), False), ([['a', 1], ['b', 1]], [['b', 1], ['a', 1]], (1,), True),
    ([['a', 1], ['b', 2]], [['b', 2], ['a', 1]], (1,), False),
    ([['a', 1], ['a', 1]], [['a', 1], ['b', 1]], (1,), False),
    ([['a', 1.0], ['b', 1.0]], [['b', 1.0000000001], ['a', 1.0]], (1,), True),
])
def test_a_billionth_and_ties_may_differ(left, right, keys, near):
    assert answers.near_rows(left, right, keys) == near


def test_other_engines_are_compared_exactly():
    both = {'stock': [engines.Outcome({}, 0.0, 1.0, [1.0], 0, [[[1.0]]], ['a'])],
            'other': [engines.Outcome({}, 0.0, 1.0, [1.0], 0, [[[1.0000000001]]], [])]}
    assert answers.differences(both, 'stock', {'other': answers.near_rows}) == []
    assert answers.differences(both, 'stock', {'stock': answers.near_rows})
    assert engines.TPCH['duckdb'].agrees('q1', [[1.0]], [[1.0000000001]])
    assert not engines.TPCH['vm'].agrees('q1', [[1.0]], [[1.0000000001]])


def test_two_engines_beside_each_other():
    rows = [{'query': query, 'engine': engine, 'ratio': ratio, 'samples_s': [[1 / ratio] * 3] * 2}
            for query, vm, duckdb in (('q1', 2.0, 8.0), ('q2', 3.0, 1.5))
            for engine, ratio in (('stock', 1.0), ('vm', vm), ('duckdb', duckdb))]
    found = beside.times(rows, 'vm', 'duckdb')
    assert [found[query][0] for query in ('q1', 'q2')] == [pytest.approx(4), pytest.approx(0.5)]
    output = io.StringIO()
    beside.show(Console(file=output, width=150), rows, 'vm', 'duckdb')
    text = output.getvalue()
    assert 'Geometric mean of the time of vm over that of duckdb: 1.41. vm is ahead in 1 of 2 queries: q2.' in text
    cells = [cell.strip() for cell in text.splitlines()[4].split('│')[1:-1]]
    assert cells == ['q1', '2.00', '8.00', '4.00 (4.00 to 4.00)']


def test_duckdb_is_asked_for(monkeypatch, tmp_path, capsys):
    assert 'duckdb' not in cli.SUITES['tpch'].default
    monkeypatch.setattr(places, 'build_folder', lambda: str(tmp_path))
    assert cli.main(['tpch', '--engines', 'duckdb']) == 2
    assert 'type `' in capsys.readouterr().err


@pytest.mark.parametrize('name', queries.NAMES)
def test_query_gives_stocks_answer_on_duckdb(name, database, stock_library):
    expected, = engines.LibraryEngine('stock', lambda: stock_library).run(name, SCALE, database, ONCE).answers
    found, = engines.TPCH['duckdb'].run(name, SCALE, database, ONCE).answers
    assert engines.TPCH['duckdb'].agrees(name, expected, found), answers.explain(expected, found)


def test_the_suite(database, tmp_path, capsys):
    path = tmp_path / 'results.json'
    arguments = ['tpch', '--engines', 'duckdb', '--queries', '1,6', '--scale', '0.01', '--processes', '2',
                 '--warmup', '0', '--warmup-seconds', '0', '--runs', '2', '--seconds', '0', '--json', str(path)]
    assert cli.main(arguments) == 0
    found = json.loads(path.read_text())
    configuration = found['configuration']['engines']['duckdb']
    assert configuration['settings']['threads'] == 1 and configuration['bytes'] > 1000000
    assert configuration['database'] == database.replace('.db', '.duckdb')
    assert list(configuration['library_sha256']) == configuration['libraries'] != []
    assert [row['engine'] for row in found['results']] == ['stock', 'duckdb'] * 2


def test_a_copy_is_made_again_of_another_database(database):
    path = duckdb_copy.path_of(database)
    made = os.stat(path)
    assert duckdb_copy.ensure(database) == path and os.stat(path).st_mtime_ns == made.st_mtime_ns
    environments.write(path + '.inputs', 'another database')
    assert duckdb_copy.ensure(database) == path and os.stat(path).st_mtime_ns != made.st_mtime_ns
