"""Threads and the VM: one statement at a time is in it, nobody waits for it, and nobody keeps it who isn't in it."""
import os
import random
import threading
import time

import pytest

from c_engine.generated.layout import SQPYTE_MODE_ALWAYS as ALWAYS
from c_engine.generated.layout import SQPYTE_MODE_HOT as HOT
from c_engine.generated.layout import SQPYTE_WHY_HOT as WHY_HOT
from c_engine.generated.layout import SQPYTE_WHY_THREAD as WHY_THREAD
from tests import extent
from tests.differential.sessions.capi import Connection, Error, Library
from tests.translated.sample import GROUPED, ROWS, SCAN, attempt, filled

SECONDS = 600 if extent.everything() else 6
THREADS = 8
JOINED = "SELECT count(*), sum(x.b) FROM t AS x JOIN t AS y ON y.a = x.a + 1 WHERE y.b > 0"
SORTED = "SELECT a, d FROM t WHERE b > 10 ORDER BY d DESC, a LIMIT 40"
QUERIES = [SCAN, GROUPED, JOINED, SORTED]


@pytest.fixture(params=[HOT, ALWAYS], ids=["hot", "always"])
def library(request, vm_library):
    library = Library(vm_library)
    library.chosen = request.param
    library.set_mode(request.param, 20)
    yield library
    library.set_mode(HOT, 3000)


@pytest.fixture(scope="module")
def expected(stock_library):
    connection = filled(Library(stock_library))
    return {sql: attempt(connection, sql) for sql in QUERIES}


def outcome(connection, sql):
    """(rows, how often it has entered the VM, why it ran where it ran) of a statement."""
    statement = connection.prepare(sql)
    rows = []
    while statement.step() is not None:
        rows.append(statement.row)
    found = rows, statement.entries(), statement.why()
    statement.finalize()
    return found


def in_a_thread(work):
    """What a function returns in a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_an_idle_thread_keeps_the_vm_from_nobody(library, expected):
    connections = [filled(library) for _ in range(3)]
    done, ends = threading.Event(), threading.Event()
    idle = threading.Thread(target=lambda: (outcome(connections[0], SCAN), done.set(), ends.wait()))
    idle.start()
    try:
        assert done.wait(60)
        for connection in connections[1:] * 3:
            rows, entries, why = in_a_thread(lambda connection=connection: outcome(connection, SCAN))
            assert (rows, entries > 0, why) == (expected[SCAN], True, WHY_HOT)
            rows, entries, why = outcome(connection, SCAN)
            assert (rows, entries > 0, why) == (expected[SCAN], True, WHY_HOT)
    finally:
        ends.set()
        idle.join()


def test_who_finds_the_vm_taken_goes_on_in_c(library, expected):
    inside, leave = threading.Event(), threading.Event()
    held, other = filled(library), filled(library)

    def wait(value):
        if held.inside():
            inside.set()
            leave.wait(60)
        return value
    held.inside = lambda: statement.tier() == 1
    held.create_function("wait", wait)
    statement = held.prepare("SELECT count(wait(b)) FROM t")
    library.set_mode(ALWAYS, 20)        # a loop with such a function isn't entered when it is hot
    holder = threading.Thread(target=statement.step)
    holder.start()
    try:
        assert inside.wait(60)
        library.set_mode(library.chosen, 20)
        for _ in range(3):
            assert outcome(other, SCAN) == (expected[SCAN], 0, WHY_THREAD)
    finally:
        leave.set()
        holder.join()
    assert statement.row == (ROWS,)
    statement.finalize()
    rows, entries, why = outcome(other, SCAN)
    assert (rows, entries > 0, why) == (expected[SCAN], True, WHY_HOT)


def test_what_a_statement_in_the_vm_calls_runs_in_c(library, expected):
    """It may go on before what it has called has ended, if that is another fiber's (tests/c_api/programs/fibers.c)."""
    outer, inner = filled(library), filled(library)
    found, inside = [], []

    def nested(value):
        if len(found) < 30:
            inside.append(statement.tier() == 1)
            found.append(outcome(inner, SCAN))
        return value
    outer.create_function("nested", nested)
    statement = outer.prepare("SELECT count(nested(b)) FROM t")
    assert statement.step() is not None and statement.row == (ROWS,)
    statement.finalize()
    assert len(found) == 30 and all(rows == expected[SCAN] for rows, _, _ in found)
    for (_, entries, why), taken in zip(found, inside):
        assert (entries > 0, why) == ((False, WHY_THREAD) if taken else (True, WHY_HOT))
    assert all(inside) == (library.chosen == ALWAYS)
    assert in_a_thread(lambda: outcome(inner, SCAN))[2] == WHY_HOT


def test_eight_threads_of_all_kinds(library, expected, tmp_path):
    """Readers of a database of their own, and readers and writers of one file, in WAL mode."""
    path = str(tmp_path / "shared.db")
    first = filled(library, path)
    first.execute("PRAGMA journal_mode = wal")
    end = time.monotonic() + SECONDS / 2
    reasons, wrong, written = set(), [], [0] * THREADS

    def ask(connection, i):
        sql = random.choice(QUERIES)
        rows, _, why = outcome(connection, sql)
        reasons.add(why)
        if rows != expected[sql]:
            wrong.append((i, sql, rows[:3]))

    def own(i):
        connection = filled(library)
        while time.monotonic() < end and not wrong:
            ask(connection, i)
        connection.close()

    def common(i):
        connection = Connection(library, path)
        connection.execute("PRAGMA busy_timeout = 60000")
        while time.monotonic() < end and not wrong:
            ask(connection, i)
            if i % 2:
                try:
                    connection.execute("INSERT INTO log SELECT d, %d FROM t WHERE a <= 50" % i)
                    written[i] += 50
                except Error as error:
                    if error.code != 5:
                        wrong.append((i, "INSERT", error.message))
        connection.close()

    def guarded(work, i):
        try:
            work(i)
        except BaseException as error:
            wrong.append((i, repr(error)))
            raise
    threads = [threading.Thread(target=guarded, args=(common if i < 4 else own, i)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    assert WHY_HOT in reasons
    assert first.execute("SELECT n, count(*) FROM log GROUP BY n ORDER BY n") == [
        (i, count) for i, count in enumerate(written) if count]
    assert first.execute("PRAGMA integrity_check") == [("ok",)] and written[1] and written[3]
    first.close()
    assert os.path.exists(path)
