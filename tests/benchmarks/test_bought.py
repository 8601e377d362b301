"""What each mechanism buys, from results as suites write them."""

import json

import pytest

from benchmarks import cli
from benchmarks.results import bought


def row(engine, query, times):
    """A result as benchmarks/run/measure.py has it."""
    return {'suite': 'tpch', 'engine': engine, 'query': query, 'samples_s': times}


@pytest.fixture
def path(tmp_path):
    """A file of results: `memoize` halves query 2, `leaf-seeks` buys nothing, `sort-keys` 10 % of both queries."""
    rows = []
    for query in ('1', '2'):
        rows.append(row('stock', query, [[4.0, 4.0], [4.0, 4.0]]))
        rows.append(row('vm', query, [[2.0, 1.0], [2.0, 1.0]]))
        rows.append(row('vm-no-leaf-seeks', query, [[2.0, 1.0], [2.0, 1.0]]))
        rows.append(row('vm-no-sort-keys', query, [[2.2, 1.1], [2.2, 1.1]]))
        slower = 2.0 if query == '2' else 1.0
        rows.append(row('vm-no-memoize', query, [[2.0 * slower, slower], [2.0 * slower, slower]]))
    found = tmp_path / 'results.json'
    found.write_text(json.dumps({'results': rows}))
    return str(found)


def test_a_mechanism_buys_what_is_lost_without_it(path):
    found = {one.mechanism: one for one in bought.read(path)}
    assert sorted(found) == ['leaf-seeks', 'memoize', 'sort-keys']
    assert found['memoize'].queries == {'1': 1.0, '2': 2.0}
    assert found['memoize'].mean == pytest.approx(2 ** 0.5) and found['memoize'].earns()
    assert found['memoize'].most()[0] == (2.0, '2')
    assert found['sort-keys'].low == pytest.approx(1.1) == found['sort-keys'].high and found['sort-keys'].earns()
    assert found['leaf-seeks'].mean == 1.0 and not found['leaf-seeks'].earns()


def test_ten_per_cent_of_one_query_are_not_enough():
    rounds = {str(query): [[1.0, 1.0]] for query in range(22)}
    rounds['3'] = [[1.5, 1.5]]
    assert not bought.Bought('tpch', 'x', rounds).earns()
    rounds['4'] = [[1.1, 1.1]]
    assert bought.Bought('tpch', 'x', rounds).earns()


def test_the_command_prints_a_table(path, capsys):
    assert cli.main(['bought', path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith('| memoize | tpch | 1.414 (') and lines[2].endswith('| earns its place |')
    assert lines[-1].startswith('| leaf-seeks | tpch | 1.000 (1.000 to 1.000) |') and lines[-1].endswith('|  |')
