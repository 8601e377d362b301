"""The programs of examples/ on small data, with sqpyte and sqlite3: they find the same."""

import os
import re
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.ffi.place import ROOT

MODULES = ('sqpyte', 'sqlite3')
TIMES = re.compile(r'\d+\.\d+ s\b.*')


def run(name, *arguments):
    """What an example prints, without the times."""
    done = subprocess.run([sys.executable, os.path.join(ROOT, 'examples', name), *arguments],
                          check=True, stdout=subprocess.PIPE, universal_newlines=True, timeout=1800,
                          env=dict(os.environ, PYTHONPATH=ROOT))
    return TIMES.sub('', done.stdout)


@pytest.fixture(scope='module')
def tpch_database(tmp_path_factory):
    """The path of a database with the columns of TPC-H's tables that the examples use."""
    path = str(tmp_path_factory.mktemp('examples') / 'tpch.db')
    connection = sqpyte.connect(path)
    connection.executescript('''
        CREATE TABLE lineitem(quantity INTEGER, extendedprice REAL, discount REAL);
        CREATE TABLE part(partkey INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE supplier(suppkey INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE partsupp(partkey INTEGER, suppkey INTEGER);
        WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r LIMIT 3000)
        INSERT INTO lineitem SELECT n % 50, n * 1.25, n % 11 / 100.0 FROM r;
        INSERT INTO part SELECT rowid, 'part ' || rowid FROM lineitem LIMIT 200;
        INSERT INTO supplier SELECT rowid, 'supplier ' || rowid FROM lineitem LIMIT 20;
        INSERT INTO partsupp SELECT rowid % 200 + 1, rowid % 20 + 1 FROM lineitem LIMIT 800''')
    connection.close()
    return path


@pytest.mark.parametrize('name', ['figure3.py', 'figure13.py', 'figure14.py'])
def test_figures(name, tpch_database):
    first, second = [run(name, tpch_database, '--module', module) for module in MODULES]
    assert first == second
    assert re.search(r'\d', first)


def test_log_analysis(tmp_path):
    arguments = ['--rows', '20000', '--database', str(tmp_path / 'log.db')]
    first, second = [run('log_analysis.py', '--module', module, *arguments) for module in MODULES]
    assert first == second
    for expected in ('asset', 'failure', 'probe', '1 % took longer than', 'requests in a minute'):
        assert expected in first
    both = run('log_analysis.py', *arguments)
    assert both.count('in all') == 2
