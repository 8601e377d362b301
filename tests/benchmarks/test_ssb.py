"""The Star Schema Benchmark: its rows are the specification's, its queries use Bloom filters."""

import datetime
import itertools

import pytest

from benchmarks import cli
from benchmarks.data import databases, ssb_rows
from benchmarks.run.engines import LibraryEngine, Settings
from benchmarks.suites import ssb
from tests.differential.sessions.capi import Connection, Library

SCALE = 0.01
ONCE = Settings(warmup_runs=0, warmup_seconds=0.0, runs=1, seconds=0.0, cache_size=None,
                nursery=None, timeout=1800, clock='wall')


@pytest.fixture(scope='module')
def database():
    """Path of a small SSB database."""
    return databases.SSB.ensure(SCALE)


def one(connection, sql):
    """The only row of a query."""
    row, = connection.execute(sql)
    return row


def test_numbers_of_rows():
    assert [ssb_rows.count(table, 1) for table in ssb_rows.TABLES] == \
        [200000, 2000, 30000, 2556, 6000000]
    assert [ssb_rows.count('part', scale) for scale in (0.2, 1, 2, 3, 4, 10)] == \
        [40000, 200000, 400000, 400000, 600000, 800000]
    assert [ssb_rows.count(table, 0.2) for table in ssb_rows.TABLES] == \
        [40000, 400, 6000, 2556, 1200000]


def test_the_database_is_complete(database):
    assert databases.SSB.row_counts(database) == {
        'part': 2000, 'supplier': 20, 'customer': 300, 'date': 2556, 'lineorder': 60000}
    assert databases.SSB.is_current(database) and databases.SSB.indexes() == []


def test_rows_are_the_same_every_time():
    for table in ssb_rows.TABLES:
        first, again = (list(itertools.islice(ssb_rows.ROWS[table](SCALE), 100)) for _ in range(2))
        assert first == again
    assert next(ssb_rows.lineorder(SCALE)) == (
        1, 1, 170, 606, 6, 19950905, '4-NOT SPECIFIED', '0', 12, 1807920, 8756885, 10, 1627128, 90396,
        0, 19951116, 'RAIL')


def test_rows_hang_together(connection):
    """Every foreign key has its row, and derived values are what the specification says."""
    assert one(connection, '''SELECT count(*) FROM lineorder, date AS o, date AS c, customer, supplier,
        part WHERE lo_orderdate = o.d_datekey AND lo_commitdate = c.d_datekey
        AND lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey
        AND lo_revenue = lo_extendedprice * (100 - lo_discount) / 100
        AND lo_extendedprice / lo_quantity * 6 / 10 = lo_supplycost''') == (60000,)
    assert one(connection, '''SELECT min(lo_quantity), max(lo_quantity), min(lo_discount),
        max(lo_discount), min(lo_tax), max(lo_tax), min(lo_linenumber), max(lo_linenumber),
        count(DISTINCT lo_shipmode), count(DISTINCT lo_orderpriority) FROM lineorder''') == (
            1, 50, 0, 10, 0, 8, 1, 7, 7, 5)
    assert one(connection, '''SELECT min(lo_orderkey), sum((lo_orderkey - 1) % 32 >= 8),
        sum(lo_custkey % 3 = 0), max(lo_orderdate) <= 19980802 FROM lineorder''') == (1, 0, 0, 1)
    assert one(connection, '''SELECT max(n) FROM (SELECT count(DISTINCT lo_ordtotalprice) AS n
        FROM lineorder GROUP BY lo_orderkey)''') == (1,)


def test_cardinalities(connection):
    assert one(connection, '''SELECT count(DISTINCT p_mfgr), count(DISTINCT p_category),
        count(DISTINCT p_brand1) > 800, count(DISTINCT p_color), count(DISTINCT p_type),
        count(DISTINCT p_size), count(DISTINCT p_container), max(length(p_name)) <= 22,
        sum(p_category <> substr(p_brand1, 1, 7)) FROM part''') == (5, 25, 1, 92, 150, 50, 40, 1, 0)
    assert one(connection, '''SELECT count(DISTINCT c_nation), count(DISTINCT c_region),
        min(length(c_city)), max(length(c_city)), max(length(c_address)) <= 25 FROM customer
        ''') == (25, 5, 10, 10, 1)


def test_the_calendar(connection):
    assert connection.execute('SELECT * FROM date WHERE d_datekey = 19980327').fetchall() == [(
        19980327, 'March 27, 1998', 'Friday', 'March', 1998, 199803, 'Mar1998', 6, 27, 86, 3, 13,
        'Spring', 0, 0, 0, 1)]
    for key, day, week in connection.execute(
            'SELECT d_datekey, d_dayofweek, d_weeknuminyear FROM date WHERE d_lastdayinmonthfl'):
        there = datetime.date(key // 10000, key // 100 % 100, key % 100)
        assert (there + datetime.timedelta(1)).day == 1
        assert there.strftime('%w') == str(ssb_rows.WEEKDAYS.index(day))
        assert week == (there.timetuple().tm_yday - 1) // 7 + 1


@pytest.mark.parametrize('name', ssb.NAMES)
def test_queries_use_bloom_filters(name, database, stock_library):
    """The statistics are there, and the planner takes a filter for every table that restricts."""
    stock = Connection(Library(stock_library), database)
    opcodes = [row[1] for row in stock.execute('EXPLAIN ' + ssb.text(name, SCALE))]
    stock.close()
    filters = {'q1': 1, 'q2': 2, 'q3': 3, 'q4': 3}[name[:2]] + (name in ('q4.2', 'q4.3'))
    assert opcodes.count('Filter') == opcodes.count('FilterAdd') == filters


def test_queries_find_something(stock_library):
    """At scale 0.1 all but one have rows."""
    path = databases.SSB.ensure(0.1)
    stock = LibraryEngine('stock', lambda: stock_library, ssb.text)
    assert [name for name in ssb.NAMES if stock.run(name, 0.1, path, ONCE).answers in (
        [[]], [[[None]]])] == ['q3.4']


@pytest.mark.parametrize('name', ssb.NAMES)
def test_query_gives_the_same_answer_on_stock_and_engine(name, database, stock_library,
                                                         engine_library):
    stock, engine = (LibraryEngine('any', lambda path=path: path, ssb.text).run(
        name, SCALE, database, ONCE) for path in (stock_library, engine_library))
    assert (stock.answers, stock.checksums) == (engine.answers, engine.checksums)


def test_names_of_queries():
    assert len(ssb.NAMES) == 13
    assert [ssb.normal(text) for text in ('1.1', 'q1.1', 'Q4.3', 'x')] == ['q1.1', 'q1.1', 'q4.3', 'x']


def test_the_suite(tmp_path, capsys):
    arguments = ['ssb', '--engines', 'engine', '--queries', '1.1,q4.3', '--scale', '0.01',
                 '--processes', '2', '--warmup', '0', '--warmup-seconds', '0', '--runs', '1',
                 '--seconds', '0']
    assert cli.main(arguments) == 0
    output = capsys.readouterr().out
    assert 'data.rows.lineorder                60000' in output
    assert 'q4.3' in output and 'are the same, for 2 of 2' in output


def test_too_small_a_scale_is_refused(capsys):
    assert cli.main(['data', '--dataset', 'ssb', '--scale', '0.001']) == 2
    assert 'scale 0.01 at least' in capsys.readouterr().err
