"""The driver and TPC-H's queries: stock and engine libraries give the same answers."""

import json
import sqlite3
import subprocess

import pytest

from benchmarks.run import driver, engines
from benchmarks.data import databases
from benchmarks.run.engines import LibraryEngine, Settings
from benchmarks.suites import queries

SCALE = 0.01
ONCE = Settings(warmup_runs=0, warmup_seconds=0.0, runs=1, seconds=0.0, cache_size=None,
                nursery=None, timeout=1800, clock='wall')


@pytest.fixture(scope='module')
def database():
    """Path of a small TPC-H database."""
    return databases.TPCH.ensure(SCALE)


@pytest.fixture(scope='module')
def stock(stock_library):
    """The stock engine."""
    return LibraryEngine('stock', lambda: stock_library)


@pytest.fixture(scope='module')
def engine(engine_library):
    """The edited SQLite as an engine."""
    return LibraryEngine('engine', lambda: engine_library)


@pytest.mark.parametrize('name', queries.NAMES)
def test_query_gives_the_same_answer_on_stock_and_engine(name, database, stock, engine):
    expected = stock.run(name, SCALE, database, ONCE)
    found = engine.run(name, SCALE, database, ONCE)
    assert found.answers == expected.answers
    assert found.checksums == expected.checksums
    assert len(found.checksums) == 1


def test_queries_find_something(database, stock):
    """At this scale all but one have rows; an empty answer would compare nothing."""
    empty = {name for name in queries.NAMES
             if stock.run(name, SCALE, database, ONCE).answers in ([[]], [[[None]]])}
    assert empty == {'q17'}


def test_the_driver_reads_every_type_exactly(database, stock):
    sql = ("SELECT 9223372036854775807, -9223372036854775808, 0.1, 1e300, 2.0, -0.0, 9e999, -9e999,"
           " NULL, x'00ff', 'a\"\\\n\u00e9', ''")
    assert json.dumps(stock.run_sql(sql, database, ONCE).answers) == json.dumps([[[
        9223372036854775807, -9223372036854775808, 0.1, 1e300, 2.0,
        -0.0 if str(sqlite3.connect(':memory:').execute('SELECT -0.0').fetchone()[0]) == '-0.0'
        else 0.0,
        float('inf'), float('-inf'), None, {'blob': '00ff'}, 'a"\\\n\u00e9', '']]])


@pytest.mark.parametrize('left, right', [
    ("1", "1.0"), ("'a'", "x'61'"), ("NULL", "''"), ("1, 2", "2, 1"),
    ("'abcdefgh1'", "'abcdefgh2'"), ("'a', ''", "'', 'a'"),
])
def test_checksums_tell_types_values_and_order_apart(left, right, database, stock):
    sums = [stock.run_sql('SELECT ' + text, database, ONCE).checksums for text in (left, right)]
    assert sums[0] != sums[1]


def test_the_driver_repeats_as_often_and_as_long_as_asked(database, stock):
    often = ONCE._replace(warmup_runs=4, runs=7)
    found = stock.run_sql('SELECT 1', database, often)
    assert (found.warmup_runs, len(found.samples_s)) == (4, 7)
    long = ONCE._replace(seconds=0.5)
    found = stock.run_sql('SELECT 1', database, long)
    assert len(found.samples_s) > 1 and sum(found.samples_s[:-1]) < 0.5


def test_the_driver_reads_either_clock(database, stock):
    """A query's processor time is not more than the time that passes."""
    for clock in ('wall', 'cpu'):
        found = stock.run('q6', SCALE, database, ONCE._replace(clock=clock))
        assert 0 < found.samples_s[0] < 1000      # seconds


def test_the_driver_sets_the_cache_size(database, stock):
    found = stock.run_sql('SELECT 1', database, ONCE._replace(cache_size=-9000))
    assert found.configuration['pragmas']['cache_size'] == -9000


@pytest.mark.parametrize('asked, answered', [(None, 0), (0, 0), (1 << 28, 1 << 28), (1 << 40, 0x7fff0000)])
def test_the_driver_sets_the_mmap_size(asked, answered, database, stock, engine):
    """SQLite answers with its compile-time maximum where more is asked for."""
    for one in (stock, engine):
        found = one.run_sql('SELECT 1', database, ONCE._replace(mmap_size=asked))
        assert found.configuration['pragmas']['mmap_size'] == answered


def test_a_wrong_statement_is_a_failure(database, stock):
    with pytest.raises(engines.EngineFailure, match='no such table'):
        stock.run_sql('SELECT * FROM absent', database, ONCE)


def test_the_driver_says_which_library_it_cannot_load(database):
    missing = LibraryEngine('vm', lambda: '/nowhere/libsqpyte.so')
    with pytest.raises(engines.EngineFailure, match='/nowhere/libsqpyte.so'):
        missing.run_sql('SELECT 1', database, ONCE)


def test_the_c_programs_are_compiled_without_warnings(tmp_path):
    for source in (driver.SOURCE, driver.MICRO, driver.TATP, driver.FUNCTIONS):
        subprocess.run(['cc', '-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared', source, '-o',
                        str(tmp_path / 'made'), '-ldl'], check=True)


def test_names_of_queries():
    assert [queries.normal(text) for text in ('6', 'q6', 'Q06', 'q22')] == ['q6', 'q6', 'q6', 'q22']
    assert '0.0005' in queries.text('q11', 0.2) and '{' not in queries.text('q11', 0.2)


def test_the_database_is_complete(database):
    rows = databases.TPCH.row_counts(database)
    assert list(rows) == ['region', 'nation', 'supplier', 'customer', 'part', 'partsupp', 'orders',
                          'lineitem']
    assert [rows[name] for name in list(rows)[:7]] == [5, 25, 100, 1500, 2000, 8000, 15000]
    assert rows['lineitem'] == 60175
    connection = sqlite3.connect(database)
    types = connection.execute(
        'SELECT DISTINCT typeof(quantity), typeof(extendedprice), typeof(shipdate) FROM lineitem')
    assert types.fetchall() == [('integer', 'real', 'text')]
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat4'"
                              ).fetchone() == (1,)
    connection.close()


def test_a_database_of_another_schema_is_made_again(database, tmp_path, monkeypatch):
    monkeypatch.setenv('SQPYTE_DATA', str(tmp_path))
    with open(databases.TPCH.path_of(0.02), 'wb') as file:
        file.write(b'no database at all')
    steps = []
    path = databases.TPCH.ensure(0.02, lambda step, rows, expected: steps.append(step))
    assert databases.TPCH.is_current(path) and steps[0] == 'generate' and steps[-1] == 'analyze'
    assert databases.TPCH.row_counts(path)['orders'] == 30000
    monkeypatch.setattr(databases.load, 'LOADER', -1)
    assert not databases.TPCH.is_current(path)
