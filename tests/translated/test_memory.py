"""Programs and machine code are bounded: what wasn't used for longest is forgotten, and a statement
for which there is no room stays in C and says so. A process of its own for each, so that memory can
be measured."""
import os
import subprocess
import sys

import pytest

from tests.differential.tiers import ROOT

# HEAD is before each program: a library with a table of ROWS rows, and how statements are run.
HEAD = """
import sys
from c_engine.generated.layout import SQPYTE_MODE_HOT as HOT
from c_engine.generated.layout import SQPYTE_MODE_OFF as OFF
from c_engine.generated.layout import SQPYTE_WHY_FULL as WHY_FULL
from c_engine.generated.layout import SQPYTE_WHY_HOT as WHY_HOT
from tests.differential.sessions.capi import Connection, Error, Library
LIMIT, USED, CODE, PROGRAMS, FORGOTTEN = range(5)
ROWS = 4000
library = Library(sys.argv[1])
library.set_mode(HOT, 500)
connection = Connection(library)
connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c REAL, d TEXT)")
connection.execute('''INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1
    FROM r LIMIT %d) SELECT n, n %% 97, n / 8.0, 'name ' || (n %% 13) FROM r''' % ROWS)

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def run(i, reruns=1):
    "A hot statement unlike the others: whether it was hot, after a check of its answer."
    sql = "SELECT sum(b + %d), count(*) FROM t WHERE b >= %d AND d <> 'x%d'" % (i, i % 9, i)
    statement = connection.prepare(sql)
    for _ in range(reruns):
        row = statement.step()
        chosen = [n % 97 for n in range(1, ROWS + 1) if n % 97 >= i % 9]
        assert row == (sum(chosen) + i * len(chosen), len(chosen)), (i, row)
        why = statement.why()
        statement.reset()
    statement.finalize()
    return why
"""


@pytest.fixture
def process(vm_library):
    def run(program, **environment):
        # PyPy's own nursery is half of the processor's cache, 240 MB on some, and is touched little by little.
        done = subprocess.run([sys.executable, '-c', HEAD + program, vm_library], cwd=ROOT,
                              env=dict(os.environ, PYPY_GC_NURSERY='1M', **environment), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=1800)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout
    return run


def test_many_statements_stay_within_the_limit(process):
    process("""
library.set_memory(4 << 20)
for i in range(150):
    assert run(i) == WHY_HOT
settled = rss()
for i in range(150, 900):
    assert run(i) == WHY_HOT
assert library.memory(FORGOTTEN) > 500
assert library.memory(USED) <= 4 << 20
assert 0 < library.memory(CODE) < library.memory(USED)
assert library.memory(PROGRAMS) < 400
grown = rss() - settled
assert grown < 6 << 20, grown
""")


def test_what_is_used_often_is_kept(process):
    """Of two loops the JIT's code stays while others come and go."""
    process("""
library.set_memory(3 << 20)
statement = connection.prepare("SELECT count(*) FROM t WHERE b > 40")
for i in range(300):
    run(i)
    statement.reset()
    assert statement.step() == (sum(n % 97 > 40 for n in range(1, ROWS + 1)),)
    assert statement.why() == WHY_HOT
assert library.memory(FORGOTTEN) > 100
""")


def test_a_statement_whose_program_was_forgotten(process):
    process("""
library.set_memory(2 << 20)
old = [connection.prepare("SELECT max(b) + %d, min(d) FROM t WHERE c > 3" % i) for i in range(40)]
for i in range(300):
    run(i)
    statement = old[i % 40]
    statement.reset()
    assert statement.step() == (96 + i % 40, "name 0")
assert library.memory(FORGOTTEN) > 100
""")


def test_without_room_statements_stay_in_c_and_say_so(process):
    process("""
library.set_memory(0)
for i in range(5):
    assert run(i, 20) == WHY_FULL
assert library.memory(PROGRAMS) == 0
library.set_memory(8 << 20)
assert run(7) == WHY_HOT and library.memory(PROGRAMS) == 1
library.set_memory(1)           # less than that one takes
assert run(8) == WHY_FULL and library.memory(PROGRAMS) == 0
""")


def test_the_environment_says_how_much(process):
    process("""
assert library.memory(LIMIT) == 3 << 20
assert library.memory(-1) == library.memory(5) == -1
assert library.c.sqpyte_set_memory(-1) == 21
for i in range(200):
    assert run(i) == WHY_HOT
assert library.memory(FORGOTTEN) > 50
""", SQPYTE_VM_MEMORY='3')


def test_what_runs_is_not_forgotten(process):
    """A trigger's program finds no room while the statement that fires it runs, which goes on in what it has."""
    process("""
library.set_mode(2, 1)
connection.execute("CREATE TABLE x(v)")
connection.execute("CREATE TABLE log(v)")
connection.execute("CREATE TRIGGER tr AFTER INSERT ON x BEGIN INSERT INTO log SELECT new.v + a FROM t WHERE a < 5; END")
calls = []
def shrink(text):
    calls.append(statement.tier())
    if len(calls) == 100:
        library.set_memory(0)
    return text
connection.create_function("shrink", shrink)
statement = connection.prepare("INSERT INTO x SELECT a FROM t WHERE a <= 200 AND shrink(d) IS NOT NULL")
assert statement.step() is None
assert statement.why() == WHY_FULL, statement.why()
statement.finalize()
assert len(calls) == 200 and calls[50] == 1, calls
total = sum(n + a for n in range(1, 201) for a in range(1, 5))
assert connection.execute("SELECT count(*), sum(v) FROM log") == [(800, total)]
""")


def test_a_text_for_which_there_is_no_memory(process):
    """The VM's copy of a large text can't be had: the statement ends with SQLITE_NOMEM (7), as it
    does in C."""
    process("""
import resource
library.set_mode(2, 1)
connection.execute("CREATE TABLE big(x)")
connection.execute("INSERT INTO big VALUES (hex(zeroblob(20000000))), ('a'), ('b')")
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), -1))
for sql in ["SELECT max(x || x || x) FROM big", "SELECT DISTINCT x || 'c' || x || x FROM big"]:
    try:
        connection.execute(sql)
        raise AssertionError("there was memory")
    except Error as error:
        assert error.code == 7, error
assert connection.execute("SELECT count(*) FROM t") == [(ROWS,)]
""")


PRIVATE = """
import resource
connection.execute("CREATE TABLE l(id INTEGER PRIMARY KEY, a, b)")
connection.execute('''INSERT INTO l WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 3000)
    SELECT n, printf('%06d%.*c', n, 100000, 'x'), n % 10 FROM r''')
library.set_mode(ALWAYS, 1)
def peak():
    with open("/proc/self/status") as file:
        return [int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM")][0]
before = peak()
for sql in ("SELECT count(*) FROM (SELECT a, count(*) FROM l GROUP BY a)",
            "SELECT sum(length(k)) FROM (SELECT DISTINCT a k FROM l ORDER BY a)",
            "SELECT max(length(x)) FROM (SELECT lag(a) OVER (ORDER BY id) x FROM l)"):
    connection.execute(sql)
    print(peak() - before)
"""


def test_private_copies_of_long_texts_are_bounded(process):
    """A text that C has loaded, and that another register has as well, is copied at the next row."""
    found = process(PRIVATE.replace('ALWAYS', '2'), SQPYTE_JIT='threshold=3,function_threshold=3')
    assert all(int(more) < 100 for more in found.split()), found      # MB; 3000 rows have 300
