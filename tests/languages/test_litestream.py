"""Litestream on our library replicates a database that programs on our library write and read; then it restores it."""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.differential.sessions.capi import Connection, Library
from tests.extent import count, everything
from tests.languages import running
from tests.languages.test_go import HOW, settings

PACKAGE = 'github.com/benbjohnson/litestream/cmd/litestream@v0.3.14'   # its go.mod says go-sqlite3 v1.14.17
SECONDS = 60 if everything() else 10
CONFIGURATION = '''
dbs:
  - path: %s
    monitor-interval: 200ms
    checkpoint-interval: 5s
    min-checkpoint-page-count: 500
    replicas:
      - type: file
        path: %s
        sync-interval: 500ms
        snapshot-interval: 20s
'''


@pytest.fixture(scope='module')
def litestream(stock_library):
    """Path of Litestream."""
    go = running.tool('go', (1, 21), ['version'], HOW)
    running.build([go, 'install', '-tags', 'libsqlite3', PACKAGE], settings=dict(settings(), GOBIN=running.FOLDER))
    return os.path.join(running.FOLDER, 'litestream')


def start(library, command, folder, name):
    """Start a program in a folder; what it prints goes to NAME.log, its Witness to NAME.witness."""
    started, environment = running.command_on(library, command, folder / (name + '.witness'))
    with open(str(folder / (name + '.log')), 'wb') as log:
        return subprocess.Popen(started, cwd=str(folder), env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT)


def load(*arguments):
    """Start load.py through `sqpyte-run`."""
    environment = dict(running.clean(), SQPYTE_LIBRARY=os.path.join(running.PATHS.build, 'libsqpyte.so'))
    return subprocess.Popen(running.SQPYTE_RUN + [os.path.join(running.ROOM, 'load.py')] + list(arguments),
                            cwd=running.ROOT, env=environment, stdout=subprocess.PIPE, universal_newlines=True)


def contents(library, path):
    """Return all rows of a database's tables, {table: list of tuples}, in stock's eyes; it has to be sound."""
    connection = Connection(library, path)
    try:
        assert connection.execute('PRAGMA integrity_check') == [('ok',)]
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return {name: connection.execute('SELECT rowid, * FROM "%s" ORDER BY rowid' % name) for name, in tables}
    finally:
        connection.close()


def ended(process):
    """Return what load.py found, once it has ended well."""
    said = process.communicate(timeout=SECONDS + 120)[0]
    assert process.returncode == 0
    return json.loads(said.splitlines()[-1])


def files_of(folder):
    """Return the files below a folder, with their sizes (dict)."""
    return {path: os.path.getsize(path) for top, _, names in os.walk(folder)
            for path in (os.path.join(top, name) for name in names)}


def caught_up(replica, quiet=5, limit=120):
    """Wait until nothing has been added to a replica for some seconds.

    Litestream that is stopped while it is far behind may panic ("generation name required"): its monitor and its last
    sync then write the same segment.
    """
    end, since, last = time.monotonic() + limit, time.monotonic(), files_of(replica)
    while time.monotonic() - since < quiet:
        assert time.monotonic() < end, 'the replica grows and grows'
        time.sleep(0.2)
        try:
            now = files_of(replica)
        except FileNotFoundError:       # a segment's temporary name
            now = None
        if now != last:
            since, last = time.monotonic(), now


@pytest.mark.parametrize('library', ['ours', 'stock'])
def test_a_database_is_replicated_and_restored(litestream, vm_library, stock_library, library, tmp_path):
    """library: Litestream's; that of the programs is always ours."""
    database, replica, acknowledged = (str(tmp_path / name) for name in ('ledger.db', 'replica', 'acknowledged'))
    (tmp_path / 'litestream.yml').write_text(CONFIGURATION % (database, replica))
    replicating = start(library, [litestream, 'replicate', '-config', 'litestream.yml'], tmp_path, 'replicate')
    programs = []
    try:
        programs.append(load('write', database, str(SECONDS), '1', acknowledged))
        programs.append(load('read', database, str(SECONDS)))
        written, read = map(ended, programs)
        assert replicating.poll() is None, (tmp_path / 'replicate.log').read_text()[-3000:]
        caught_up(replica)
        replicating.send_signal(signal.SIGINT)
        assert replicating.wait(60) == 0, (tmp_path / 'replicate.log').read_text()[-3000:]
    finally:
        for process in programs + [replicating]:
            if process.poll() is None:
                process.kill()
                process.wait()
    assert written['code'] > 0 and read['code'] > 0 and read['times'] > 10
    seen = running.read(str(tmp_path / 'replicate.witness'))
    assert seen.version == running.version() and seen.ours == (library == 'ours') and seen.statements > 10
    log = (tmp_path / 'replicate.log').read_text()
    assert 'level=ERROR' not in log, log[-3000:]

    for name in (library, 'stock'):
        path = str(tmp_path / ('restored-%s.db' % name))
        restoring = start(name, [litestream, 'restore', '-config', 'litestream.yml', '-o', path, database], tmp_path,
                          'restore')
        assert restoring.wait(120) == 0, (tmp_path / 'restore.log').read_text()[-3000:]
        stock = Library(stock_library)
        original, restored = contents(stock, database), contents(stock, path)
        assert restored == original
        with open(acknowledged) as file:
            told = {int(line) for line in file}
        assert {row[1] for row in restored['done']} == told and len(told) > 100
        os.remove(path)
    segments = len(files_of(replica))
    assert segments > 5
    print('%d transactions, %d files of the replica, %d checks beside; writer %r; litestream %r' % (
        len(told), segments, read['times'], written, seen))
    count('transactions that Litestream has replicated', len(told))
