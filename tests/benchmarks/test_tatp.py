"""TATP: its rows are the specification's, runs do the same work in every engine, and leave nothing behind."""

import glob
import itertools
import os
import sqlite3

import pytest

from benchmarks import cli
from benchmarks.data import databases, tatp_rows
from benchmarks.run import configuration, engines, turns
from benchmarks.suites import tatp

SCALE = 0.01
TWICE = engines.Settings(0, 0.0, 2, 0.0, None, None, 1800, 'wall')
LENGTH = 10000      # transactions of a run


@pytest.fixture(scope='module')
def database():
    """Path of a small TATP database."""
    return databases.TATP.ensure(SCALE)


def run(name, library, database, **environment):
    """The answer of all runs of a process."""
    engine = engines.TransactionEngine('any', lambda: library, environment)
    answer, = engine.run(name, SCALE, database, TWICE).answers
    return answer


def test_numbers_of_rows(database):
    assert tatp_rows.count('subscriber', 1) == 100000 and tatp_rows.count('call_forwarding', 1) == 375000
    found = databases.TATP.row_counts(database)
    assert found['subscriber'] == 1000
    for table in tatp_rows.TABLES:
        assert abs(found[table] / tatp_rows.count(table, SCALE) - 1) < 0.1
    assert databases.TATP.is_current(database)
    assert databases.TATP.indexes() == ['CREATE INDEX subscriber_number ON subscriber(sub_nbr);']


def test_rows_are_the_same_every_time():
    for table in tatp_rows.TABLES:
        first, again = (list(itertools.islice(tatp_rows.ROWS[table](SCALE), 100)) for _ in range(2))
        assert first == again
    assert next(tatp_rows.call_forwarding(SCALE)) == (1, 2, 0, 1, '836618847289468')


def test_rows_hang_together(connection):
    """Every key refers to a row, and values are in the specification's ranges."""
    assert connection.execute('PRAGMA foreign_key_check').fetchall() == []
    assert connection.execute('''SELECT min(s_id), max(s_id), min(sub_nbr), min(bit_1), max(bit_10), min(hex_1),
        max(hex_10), min(byte2_1), max(byte2_10), min(vlr_location) > 0, max(msc_location) < 4294967296
        FROM subscriber''').fetchone() == (1, 1000, '000000000000001', 0, 1, 0, 15, 0, 255, 1, 1)
    assert connection.execute('''SELECT min(sf_type), max(sf_type), avg(is_active) BETWEEN 0.82 AND 0.88,
        max(length(data_b)) FROM special_facility''').fetchone() == (1, 4, 1, 5)
    assert connection.execute('''SELECT sum(DISTINCT 1 << start_time), min(end_time - start_time),
        max(end_time - start_time), min(length(numberx)) FROM call_forwarding''').fetchone() == (0x10101, 1, 8, 15)


def test_there_are_no_statistics(connection):
    """With them, SQLite would compile get_new_destination for each start that is bound."""
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat%'").fetchone() == (0,)


@pytest.mark.parametrize('name', tatp.NAMES)
def test_engine_does_what_stock_does(name, database, stock_library, engine_library):
    expected = run(name, stock_library, database)
    assert run(name, engine_library, database) == expected
    if name == 'mix':
        assert expected['rows'] > 0 and expected['changes'] > 0 and expected['refused'] > 0
    elif name.startswith('get'):
        assert expected['rows'] > 0 and expected['changes'] == 0
    else:
        assert 0 < expected['changes'] <= 2 * LENGTH


@pytest.mark.parametrize('name', tatp.NAMES)
@pytest.mark.parametrize('mode', ['hot', 'always'])
def test_the_vm_does_what_stock_does(name, mode, database, stock_library, vm_library):
    assert run(name, vm_library, database, SQPYTE_VM=mode) == run(name, stock_library, database)


def test_transactions_are_as_often_refused_as_tatp_expects(database, stock_library):
    """Of reads and updates, most where there is a row; of inserts, also those of a foreign key that isn't there."""
    assert run('get_subscriber_data', stock_library, database)['rows'] == LENGTH
    assert run('update_location', stock_library, database)['changes'] == LENGTH
    assert run('get_access_data', stock_library, database)['rows'] == pytest.approx(0.625 * LENGTH, rel=0.05)
    assert run('update_subscriber_data', stock_library, database)['changes'] == pytest.approx(1.625 * LENGTH, rel=0.05)
    inserted = run('insert_call_forwarding', stock_library, database)
    assert inserted['refused'] + inserted['changes'] == LENGTH
    assert inserted['refused'] > 0.6875 * LENGTH * 0.95


def test_processes_write_to_copies_of_which_nothing_is_left(database, stock_library):
    before = configuration.sha256(database)
    files = sorted(os.listdir(os.path.dirname(database)))
    engine = engines.TATP['stock']
    found = turns.outcomes([engine, engine], 'mix', SCALE, database, TWICE)
    assert [len(one.samples_s) for one in found] == [2, 2] and found[0].answers == found[1].answers
    pragmas = found[0].configuration['pragmas']
    assert (pragmas['journal_mode'], pragmas['synchronous'], pragmas['foreign_keys']) == ('wal', 1, 1)
    with pytest.raises(engines.EngineFailure, match='no such transaction: mux'):
        engine.run('mux', SCALE, database, TWICE)
    assert configuration.sha256(database) == before
    assert sorted(os.listdir(os.path.dirname(database))) == files


def test_a_run_is_put_back(database, stock_library, tmp_path):
    """After the runs the copy has the original's rows, at their rowids."""
    copies = os.path.join(os.path.dirname(database), 'tatp-*', os.path.basename(database))
    others = set(glob.glob(copies))     # of runs that were killed

    class Seen(engines.TransactionEngine):
        """Keeps what a process has left in its copy."""

        def read(self, found):
            copy, = set(glob.glob(copies)) - others
            rows.extend(contents(copy))
            return found

    def contents(path):
        connection = sqlite3.connect(path)
        found = [connection.execute('SELECT rowid, * FROM %s ORDER BY 1' % table).fetchall()
                 for table in tatp_rows.TABLES]
        connection.close()
        return found

    rows: list = []
    Seen('stock', lambda: stock_library, {}).run('mix', SCALE, database, TWICE)
    assert rows == contents(database)


def test_names():
    assert [tatp.normal(text) for text in ('MIX', 'GET_ACCESS_DATA', 'get-access-data')] == [
        'mix', 'get_access_data', 'get_access_data']


def test_the_suite(tmp_path, capsys):
    arguments = ['tatp', '--engines', 'engine', '--queries', 'mix,GET_ACCESS_DATA', '--scale', '0.01',
                 '--processes', '2', '--warmup', '0', '--warmup-seconds', '0', '--runs', '1', '--seconds', '0']
    assert cli.main(arguments) == 0
    output = capsys.readouterr().out
    assert 'data.rows.subscriber               1000' in output and 'engines.pragmas.journal_mode       wal' in output
    assert 'get_access_data' in output and 'are the same, for 2 of 2' in output
