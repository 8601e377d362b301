"""What stops a statement in the translated VM from outside: interrupts, locks, another connection's
changes of the schema; and many threads."""
import os
import random
import subprocess
import sys
import threading

import pytest

from tests.at_once import at_once
from tests.differential.sessions.capi import Connection, Error, Library, ffi
from tests.differential.tiers import ROOT
from tests.interrupting import interrupted
from tests.translated.sample import GROUPED, ROWS, SCAN, attempt, filled

HOT, ALWAYS = 1, 2
WHY_HOT, WHY_THREAD = 1, 3
BUSY, LOCKED, INTERRUPT, SCHEMA = 5, 6, 9, 17
SLOW = "SELECT sum(x.b * y.b), count(*), max(x.d) FROM t AS x, t AS y WHERE x.b + y.b > 3"
INSERTING = "INSERT INTO log SELECT x.d, y.a FROM t AS x, t AS y WHERE x.b + 0 = y.b + 0"


@pytest.fixture(scope="module")
def stock(stock_library):
    return Library(stock_library)


@pytest.fixture(params=[HOT, ALWAYS], ids=["hot", "always"])
def library(request, vm_library):
    library = Library(vm_library)
    library.set_mode(request.param, 20)
    yield library
    library.set_mode(HOT, 3000)


def interrupted_after(connection, sql, delay):
    """Run a statement and interrupt it after so many seconds: its error, or its rows."""
    with interrupted(lambda: connection.c.sqlite3_interrupt(connection.db), delay):
        return attempt(connection, sql)


@pytest.mark.parametrize("sql", [SLOW, INSERTING], ids=["reading", "writing"])
def test_interrupts_at_any_moment(stock, library, sql):
    expected = {text: attempt(filled(stock), text) for text in (SCAN, GROUPED)}
    connection = filled(library)
    rng = random.Random(7)
    stopped = 0
    for _ in range(12):
        outcome = interrupted_after(connection, sql, rng.random() * 0.08)
        if outcome[:2] == (INTERRUPT, "interrupted"):
            stopped += 1
        for text in expected:
            assert attempt(connection, text) == expected[text]
        if sql is INSERTING and outcome[:1] == (INTERRUPT,):
            assert attempt(connection, "SELECT count(*) FROM log") == [(0,)]
        attempt(connection, "DELETE FROM log")
    assert stopped >= 6
    connection.close()


def test_an_interrupt_inside_a_transaction_keeps_what_was_done(library):
    connection = filled(library)
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET b = b + 1")
    assert interrupted_after(connection, SLOW, 0.02)[0] == INTERRUPT
    assert connection.c.sqlite3_get_autocommit(connection.db) == 0
    connection.execute("ROLLBACK")
    assert attempt(connection, "SELECT sum(b) FROM t WHERE a <= 97") == [(sum(range(-40, 57)),)]
    connection.close()


def files(library, directory, name):
    """Two connections to one file."""
    path = str(directory / name)
    first = filled(library, path)
    return first, Connection(library, path)


def busy(library, directory):
    """A reader in mid-scan keeps a writer from its commit, a writer keeps others from theirs;
    busy handlers are asked."""
    found = []
    reader, writer = files(library, directory, "busy.db")
    scan = reader.prepare("SELECT a, b FROM t WHERE b > -30")
    found.append(scan.step())
    found.append(attempt(writer, "UPDATE t SET b = b + 1"))
    scan.finalize()
    found.append(attempt(writer, "UPDATE t SET b = b + 1"))
    found.append(attempt(writer, "BEGIN IMMEDIATE"))
    found.append(attempt(reader, INSERTING + " AND x.a < 100"))
    found.append(attempt(reader, SCAN))
    found.append(attempt(writer, "INSERT INTO log SELECT d, b FROM t"))
    found.append(attempt(writer, "COMMIT"))
    found.append(attempt(writer, "BEGIN EXCLUSIVE"))
    asked = []
    handler = ffi.callback("int(void *, int)", lambda _, n: asked.append(n) or int(n < 3))
    reader.c.sqlite3_busy_handler(reader.db, handler, ffi.NULL)
    found.append(attempt(reader, SCAN))
    found.append(list(asked))
    found.append(attempt(writer, "ROLLBACK"))
    found.append(attempt(reader, SCAN))
    found.append(attempt(reader, "SELECT count(*) FROM log"))
    reader.close()
    writer.close()
    return found


def schema_changes(library, directory):
    """By another connection, between the runs of a statement and between its rows; and by the
    same connection while a statement stands on a row."""
    found = []
    mine, other = files(library, directory, "schema.db")
    scan = mine.prepare("SELECT * FROM t WHERE b > 20")
    total = mine.prepare(SCAN)
    found += [scan.step(), total.step()]
    found.append(attempt(other, "ALTER TABLE t ADD COLUMN e DEFAULT 'new'"))
    found += [scan.step() for _ in range(30)]
    scan.reset()
    total.reset()
    found.append(attempt(other, "ALTER TABLE t ADD COLUMN e DEFAULT 'new'"))
    found += [scan.step(), total.step()]
    total.reset()
    for sql in ("CREATE INDEX tb ON t(b)", "DROP TABLE t", "VACUUM", "ALTER TABLE t DROP COLUMN e",
                "CREATE TABLE more(x)", "REINDEX", "PRAGMA user_version = 3"):
        found.append(attempt(mine, sql))
        found += [scan.step() for _ in range(5)]
        found.append(total.step())
        total.reset()
    scan.reset()
    found.append(attempt(other, "DROP TABLE t"))
    for statement in (scan, total):
        try:
            found.append(statement.step())
        except Error as error:
            found.append((error.code, error.message))
        statement.finalize()
    mine.close()
    other.close()
    return found


@pytest.mark.parametrize("scenario", [busy, schema_changes], ids=lambda scenario: scenario.__name__)
def test_two_connections(stock, library, tmp_path, scenario):
    (tmp_path / "stock").mkdir()
    expected = scenario(stock, tmp_path / "stock")
    assert any(entry and entry[0] in (BUSY, LOCKED) for entry in expected)
    for i in range(3):
        directory = tmp_path / str(i)
        directory.mkdir()
        assert scenario(library, directory) == expected


# ---- threads ----

QUERIES = [SCAN, GROUPED, "SELECT a, b, d FROM t WHERE b BETWEEN 3 AND 9 ORDER BY c DESC",
           "SELECT count(DISTINCT d), total(c) FROM t WHERE a % 3 = 1"]


def answers(connection):
    """The answers to the QUERIES, and whether the VM ran one of them."""
    found, whys = [], set()
    for sql in QUERIES:
        statement = connection.prepare(sql)
        rows = []
        while statement.step() is not None:
            rows.append(statement.row)
        whys.add(statement.why())
        statement.finalize()
        found.append(rows)
    return found, whys


@pytest.fixture(scope="module")
def expected(stock):
    connection = filled(stock)
    return [attempt(connection, sql) for sql in QUERIES]


def test_eight_threads_with_connections_of_their_own(library, expected):
    def work(i):
        connection = filled(library)
        found = [answers(connection) for _ in range(8)]
        connection.close()
        return found
    results = at_once(work)
    for result in results:
        assert not isinstance(result, Exception), result
        for found, whys in result:
            assert found == expected
            assert whys & {WHY_HOT, WHY_THREAD}
    assert any(WHY_HOT in whys for result in results for _, whys in result)


def test_eight_threads_on_one_connection(library, expected):
    """Serialized, as by default: they take turns."""
    connection = filled(library)
    connection.execute(SCAN)
    done = threading.Event()
    mine = []

    def here():
        while not done.is_set():
            mine.append(answers(connection))

    def work(i):
        found = [answers(connection) for _ in range(6)]
        if i % 2:
            attempt(connection, "INSERT INTO log SELECT d, count(*) FROM t GROUP BY d")
        return found

    results = []
    others = threading.Thread(target=lambda: (results.extend(at_once(work)), done.set()))
    others.start()
    here()
    others.join()
    for result in results + [mine]:
        assert not isinstance(result, Exception), result
        assert all(found == expected for found, _ in result)
    assert any(WHY_HOT in whys for _, whys in mine)
    assert connection.execute("SELECT sum(n), count(*) FROM log") == [(4 * ROWS, 4 * 13)]
    connection.close()


IN_THREADS_ONLY = """
import sys, threading
from tests.at_once import at_once
from tests.differential.sessions.capi import Library
from tests.translated.sample import filled
from tests.translated.test_ways_out import HOT, ALWAYS, answers
library = Library(sys.argv[1])
library.set_mode({"hot": HOT, "always": ALWAYS}[sys.argv[2]], 20)

def work(i):
    connection = filled(library)
    found = [answers(connection) for _ in range(10)]
    connection.close()
    return found

# Nobody has the VM yet: one of eight gets it, and others perhaps when that one has ended. Then threads
# that come and go, one at a time, and the main thread: each of them has it.
together = at_once(work)
alone = []
for i in range(6):
    alone += at_once(work, 1)
alone.append(work(0))
for result in together + alone:
    for found, whys in result:
        assert found == together[0][0][0]
def owners(results):
    return sum(any(1 in whys for _, whys in result) for result in results)
print(owners(together) > 0, owners(alone), together[0][0][0] and len(together[0][0][0]))
"""


@pytest.mark.parametrize("mode", ["hot", "always"])
def test_the_first_of_eight_threads_gets_the_vm_and_the_next_one_when_it_has_ended(vm_library, mode):
    done = subprocess.run([sys.executable, "-c", IN_THREADS_ONLY, vm_library, mode], cwd=ROOT,
                          env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=1800)
    assert (done.returncode, done.stdout) == (0, "True 7 4\n"), done.stderr[-3000:]
