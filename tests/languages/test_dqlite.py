"""A dqlite cluster whose nodes have our library: TPC-H's tables, queries in the VM, and leaders that are killed.

dqlite answers queries on the leader only. So a follower's copy is dumped and read by stock; and once the leader has
been killed, one of the former followers has become leader and answers, by the VM.
"""

import itertools
import os
import time

import pytest

from benchmarks.data import load
from benchmarks.data.databases import TPCH
from benchmarks.suites import queries as tpch
from tests.differential.sessions.capi import Connection, Library
from tests.extent import count, everything
from tests.languages import cluster, running
from tests.languages.test_go import HOW

SCALE = 0.01
QUERIES = {name: tpch.text(name, SCALE) for name in ('q1', 'q6')}
BATCH = 200     # rows of an INSERT
# A query of 8 ms enters the VM when it has taken long enough in C, by its third or fourth run.
MOST_RUNS = 30
KILLS = 3 if everything() else 1


@pytest.fixture(scope='module')
def program():
    """Path of node.go, compiled."""
    go = running.tool('go', (1, 21), ['version'], HOW)
    if not cluster.installed():
        pytest.skip('no dqlite here: `tools/install.sh languages` installs %s from Debian' % cluster.PACKAGES)
    return cluster.build(go)


@pytest.fixture(scope='module')
def original(stock_library):
    """A Connection of stock's library to TPC-H's database."""
    connection = Connection(Library(stock_library), 'file:%s?mode=ro' % TPCH.ensure(SCALE))
    yield connection
    connection.close()


@pytest.fixture
def running_cluster(program, vm_library, tmp_path):
    """A Cluster that has begun."""
    made = cluster.Cluster(program, tmp_path)
    try:
        made.begin()
        yield made
    finally:
        made.close()


def statements(name):
    """Yield the statements of a file of benchmarks/data."""
    text = ''.join(line for line in load.read(name).splitlines(True) if not line.startswith('--'))
    return [statement for statement in text.split(';') if statement.strip()]


def load_tables(client, original):
    """Load TPC-H's tables through the cluster, in the order of the original's rows."""
    for statement in statements('schema.sql'):
        client.execute(statement)
    for table in load.TPCH_TABLES:
        columns = [row[1] for row in original.execute('PRAGMA table_info(%s)' % table)]
        literals = " || ',' || ".join('quote(%s)' % name for name in columns)
        rows = original.execute("SELECT '(' || %s || ')' FROM %s ORDER BY rowid" % (literals, table))
        for i in range(0, len(rows), BATCH):
            client.execute('INSERT INTO %s VALUES %s' % (table, ','.join(row for row, in rows[i:i + BATCH])))
    for statement in statements('indexes.sql'):
        client.execute(statement)


def answered_by_the_vm(nodes, client, n, expected):
    """Check that node n answers the queries as stock does, and that the VM does it in the end."""
    before = nodes.witness(n)
    for name, sql in QUERIES.items():
        served = nodes.witness(n).served
        for _ in range(MOST_RUNS):
            assert client.patient_query(sql) == expected[name]
            if nodes.witness(n).served > served:
                break
        else:
            raise AssertionError('%s has not entered the VM: %r' % (name, nodes.witness(n)))
    after = nodes.witness(n)
    assert after.version == running.version() and after.ours
    assert after.served >= before.served + len(QUERIES) and after.programs > 0 and after.code > 0
    return after


def contents(library, path):
    """Return what a copy of the cluster's database has: integrity, rows of each table, the queries' answers."""
    connection = Connection(library, path)
    try:
        found = {'integrity': connection.execute('PRAGMA integrity_check')}
        for table in load.TPCH_TABLES + ('written',):
            found[table] = connection.execute('SELECT * FROM %s ORDER BY rowid' % table)
        for name, sql in QUERIES.items():
            found[name] = connection.execute(sql)
        return found
    finally:
        connection.close()


def written(library, path):
    """Return what the newest number in a copy is, and how many there are ([(int, int)]); [] without the table."""
    connection = Connection(library, path)
    try:
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'written'"):
            return []
        return connection.execute('SELECT max(n), count(*) FROM written')
    finally:
        connection.close()


def copies(nodes, client, folder, seconds=60):
    """Return the path of each node's copy ({n: path}), once all have the newest number that was written."""
    newest, = client.patient_query('SELECT max(n), count(*) FROM written')
    library, end, found = Library(running.PATHS.stock_library), time.monotonic() + seconds, {}
    for n, address in enumerate(nodes.addresses, 1):
        for attempt in itertools.count():
            path = client.dump(address, os.path.join(str(folder), 'copy-%d-%d' % (n, attempt)))
            if written(library, path) == [newest]:
                found[n] = path
                break
            assert time.monotonic() < end, 'node %d does not catch up' % n
            time.sleep(0.5)
    return found


def test_three_nodes(running_cluster, original, vm_library, stock_library, tmp_path):
    nodes, library = running_cluster, Library(stock_library)
    client = nodes.client()
    load_tables(client, original)
    client.execute('CREATE TABLE written(n INTEGER PRIMARY KEY, text TEXT)')
    expected = {name: original.execute(sql) for name, sql in QUERIES.items()}
    assert len(expected['q1']) == 4 and expected['q6'][0][0] > 0

    leader = nodes.number(client.leader())
    print('leader %d: %r' % (leader, answered_by_the_vm(nodes, client, leader, expected)))
    follower = next(n for n in (1, 2, 3) if n != leader)
    assert nodes.witness(follower).statements == 0
    copy = contents(library, copies(nodes, client, tmp_path / 'loaded')[follower])
    assert copy['integrity'] == [('ok',)]
    assert {name: copy[name] for name in QUERIES} == expected
    for table in load.TPCH_TABLES:
        assert copy[table] == original.execute('SELECT * FROM %s ORDER BY rowid' % table)

    writer = cluster.Writer(nodes.client())
    writer.start()
    try:
        for _ in range(KILLS):
            writer.wait_for(50)
            killed = nodes.number(client.leader())
            nodes.kill(killed)
            writer.wait_for(50)
            leader = nodes.number(client.leader())
            assert leader != killed
            print('leader %d killed, leader %d: %r' % (
                killed, leader, answered_by_the_vm(nodes, client, leader, expected)))
            nodes.start(killed)
            time.sleep(3)       # until it has what it missed: with two nodes alive there is no majority without it
    finally:
        writer.stopping = True
        writer.join(90)
    assert not writer.is_alive()

    rows = client.patient_query('SELECT n, text FROM written ORDER BY n')
    found = [n for n, _ in rows]
    assert rows == [(n, 'number %d' % n) for n in found]
    assert set(writer.acknowledged) <= set(found) <= set(writer.acknowledged) | set(writer.uncertain)
    expected_copy = None
    for n, path in copies(nodes, client, tmp_path).items():
        copy = contents(library, path)
        assert copy['integrity'] == [('ok',)] and copy['written'] == rows, n
        assert {name: copy[name] for name in QUERIES} == expected
        expected_copy = expected_copy or copy
        assert copy == expected_copy
    client.close()
    writer.client.close()
    assert set(nodes.close().values()) == {0}
    nodes.nodes.clear()
    print('%d numbers acknowledged, %d uncertain, of which %d are there' % (
        len(writer.acknowledged), len(writer.uncertain), len(set(found) & set(writer.uncertain))))
    count('leaders of dqlite killed', KILLS)
    count('rows acknowledged by dqlite', len(writer.acknowledged))
