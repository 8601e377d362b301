"""libsqpyte.so in libsqlite3's place: LD_PRELOAD makes programs that know nothing of it use it,
and they behave as with the stock build."""
import json
import os
import subprocess

import pytest

from tests.corruption.guard import library as compiled
from tests.differential import tiers
from tests.translated.preloaded import with_preloaded

ROOM = os.path.dirname(os.path.abspath(__file__))

# How libsqpyte.so is run: as it comes, with all in the VM, with every loop hot.
WAYS = {'default': {}, 'always': dict(tiers.EAGER, SQPYTE_VM='always'),
        'hot': dict(tiers.EAGER, SQPYTE_VM='hot', SQPYTE_VM_THRESHOLD='1')}

SUITE = '''
import json, sqlite3, sys, unittest
class Result(unittest.TextTestResult):
    found = {}
    def note(self, test, what):
        # A test with subtests may fail more than once.
        self.found.setdefault(test.id(), []).append(what)
    def addSuccess(self, test): self.note(test, "passed")
    def addError(self, test, error): self.note(test, "error " + error[0].__name__)
    def addFailure(self, test, error): self.note(test, "failed " + error[0].__name__)
    def addSkip(self, test, reason): self.note(test, "skipped " + reason)
    def addExpectedFailure(self, test, error): self.note(test, "failed as expected")
    def addUnexpectedSuccess(self, test): self.note(test, "passed unexpectedly")
    def addSubTest(self, test, subtest, error):
        if error: self.note(test, "subtest " + error[0].__name__)
suite = unittest.defaultTestLoader.loadTestsFromName("test.test_sqlite3")
unittest.TextTestRunner(stream=sys.stderr, resultclass=Result).run(suite)
print(json.dumps([sqlite3.sqlite_version, Result.found]))
'''


def suite(python, library, directory, environment=()):
    """The outcomes of CPython's tests, {test: list of str}, with that library."""
    directory.mkdir()
    code, out, err = with_preloaded([python, '-c', SUITE], [library], directory, environment)
    assert code == 0, err[-3000:]
    version, found = json.loads(out.splitlines()[-1])
    return version, found, err


@pytest.fixture(scope='module')
def suite_on_stock(python, stock_library, tmp_path_factory):
    return suite(python, stock_library, tmp_path_factory.mktemp('dropin') / 'stock')


@pytest.mark.parametrize('way', sorted(WAYS))
def test_cpythons_tests_of_sqlite3(python, suite_on_stock, vm_library, tmp_path, way):
    version, expected, _ = suite_on_stock
    mine, actual, err = suite(python, vm_library, tmp_path / 'vm', WAYS[way])
    assert mine == version
    assert len(expected) > 300
    different = {test: (expected.get(test), actual.get(test))
                 for test in set(expected) | set(actual) if expected.get(test) != actual.get(test)}
    assert not different, err[-3000:]


def test_pypy(vm_library, stock_library, tmp_path):
    """Another program that RPython has translated: its functions are its own."""
    program = 'import sqlite3; print(sqlite3.connect(":memory:").execute("SELECT 6 * 7").fetchone())'
    for library in (stock_library, vm_library):
        assert with_preloaded(['pypy3', '-c', program], [library], tmp_path) == (0, '(42,)\n', '')


# A failed ATTACH clears the schemas of its connection, which a shared cache's connections have in common.
SHARED = '''
import sqlite3, sys, threading, time
def connect():
    return sqlite3.connect('file:shared?mode=memory&cache=shared', uri=True, isolation_level=None, timeout=0)
kept = connect()
kept.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b)')
kept.execute("""WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 100)
    INSERT INTO t SELECT i, i % 7 FROM n""")
expected = ('file is not a database', 'database schema is locked: main', 'database table is locked',
            'database main is locked', 'database is locked')
wrong, done = [], {}
wanted = [("ATTACH 'garbage' AS other", 'file is not a database'), ('CREATE INDEX IF NOT EXISTS i ON t(b)', 'done')]
begun = time.monotonic()
def go_on():
    took = time.monotonic() - begun
    return not wrong and (took < 2 or took < 120 and any(done.get(one, 0) <= 100 for one in wanted))
def repeat(*statements):
    connection = connect()
    while go_on():
        for sql in statements:
            try:
                connection.execute(sql)
                what = 'done'
            except sqlite3.Error as error:
                what = str(error)
                if not what.startswith(expected):
                    wrong.append((sql, what))
            done[sql, what] = done.get((sql, what), 0) + 1
threads = [threading.Thread(target=repeat, args=statements) for statements in
           [('CREATE INDEX IF NOT EXISTS i ON t(b)', 'DROP INDEX IF EXISTS i'), ("ATTACH 'garbage' AS other",)]]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
assert all(done[one] > 100 for one in wanted), done
print(kept.execute('PRAGMA integrity_check').fetchall())
'''


@pytest.mark.parametrize('way', sorted(WAYS))
def test_a_shared_cache_stays_locked_for_a_step(python, vm_library, tmp_path, way):
    """Where a statement leaves sqlite3VdbeExec for the VM, no other thread's turn comes."""
    (tmp_path / 'garbage').write_text('no database ' * 999)
    assert with_preloaded([python, '-c', SHARED], [vm_library], tmp_path, WAYS[way]) == (0, "[('ok',)]\n", '')


# ---- the shell ----

SOURCE_ID = '''
#include <stdlib.h>
/* The shell refuses libraries of other versions. */
const char *sqlite3_sourceid(void){ return getenv("SQPYTE_TEST_SOURCE_ID"); }
'''

SHELL_SCRIPT = r'''
.bail off
.headers on
.mode box
CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, born DATE, score REAL, note BLOB);
INSERT INTO people WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 5000)
  SELECT n, 'person ' || (n * 7919 % 5003), date('1950-01-01', n || ' days'), n / 7.0,
         CASE n % 5 WHEN 0 THEN zeroblob(n % 40) WHEN 1 THEN 'a note' END FROM r;
SELECT count(*), sum(score), min(name), max(born) FROM people WHERE born > '1955-01-01';
.mode csv
SELECT substr(name, 1, 8) AS who, count(*), round(avg(score), 3) FROM people GROUP BY who
  ORDER BY 2 DESC, 1 LIMIT 9;
.mode json
SELECT id, name, note FROM people WHERE id % 977 = 0;
.mode insert
SELECT id, name FROM people ORDER BY name LIMIT 3;
CREATE INDEX by_name ON people(name);
SELECT no_such_column FROM people;
SELECT abs(-9223372036854775807 - 1);
SELECT sum(9223372036854775807 - id) FROM people;
EXPLAIN QUERY PLAN SELECT * FROM people WHERE name = 'person 5';
.mode list
SELECT a.id, b.id FROM people a JOIN people b ON b.name = a.name WHERE a.id < 20 AND b.id <> a.id + 1;
BEGIN; DELETE FROM people WHERE id % 2; SELECT count(*), changes() FROM people; ROLLBACK;
SELECT count(*) FROM people;
.dump people
.schema
.tables
.indexes
WITH RECURSIVE fib(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM fib LIMIT 60) SELECT max(a) FROM fib;
PRAGMA integrity_check;
.selftest --init
.sha3sum
.parameter set :least 40
SELECT count(*) FROM people WHERE score > :least;
.stats off
.backup copy.db
.open copy.db
SELECT count(*), total(score) FROM people;
.recover
'''


@pytest.mark.parametrize('way', sorted(WAYS))
def test_the_shell(stock_library, vm_library, tmp_path, way):
    shell = '/usr/bin/sqlite3'
    if not os.path.exists(shell):
        pytest.skip('needs the shell of Debian\'s package sqlite3; CI has it')
    source = tmp_path / 'sourceid.c'
    source.write_text(SOURCE_ID)
    shim = compiled('sourceid', str(source))
    own = subprocess.run([shell, ':memory:', 'SELECT sqlite_source_id()'], stdout=subprocess.PIPE,
                         universal_newlines=True, check=True).stdout.strip()
    found = {}
    for name, library, environment in [('stock', stock_library, {}), ('vm', vm_library, WAYS[way])]:
        directory = tmp_path / name
        directory.mkdir()
        found[name] = with_preloaded(
            [shell, '-init', '/dev/null', 'test.db'], [shim, library], directory,
            dict(environment, SQPYTE_TEST_SOURCE_ID=own), SHELL_SCRIPT)
    assert len(found['stock'][1].splitlines()) > 5000, found['stock']
    assert found['vm'] == found['stock']


# ---- what is exported ----

def exported(library):
    """The names of a library's dynamic symbols that it defines (set of str)."""
    listing = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                             stdout=subprocess.PIPE, universal_newlines=True).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def test_exports_are_stocks_and_a_few_of_ours(stock_library, vm_library):
    """Another library's functions, of whatever name, must not be replaced by SQLite's internal
    ones, nor the other way round."""
    stock, mine = exported(stock_library), exported(vm_library)
    assert stock - mine == set()
    assert {name for name in mine - stock if not name.startswith('sqpyte_')} == set()
