"""SIGBUS is the program's: its handlers are called, before and after ours; where ours is gone nothing is mapped."""

import os
import signal
import subprocess
import sys

import pytest

import sqpyte

HEAD = r'''
import faulthandler, os, resource, signal, sys, threading
import sqpyte
path = sys.argv[1]

def mapped():
    with open('/proc/self/maps') as file:
        return any(path in line for line in file)

def connect():
    return sqpyte.connect(path, isolation_level=None)

def scan(connection):
    return connection.execute('SELECT count(*), sum(length(filler)) FROM t').fetchone()

def cut(connection):
    """Truncate the file in the middle of a scan; return the error."""
    rows = connection.execute('SELECT id, filler FROM t')
    for _ in range(300):
        next(rows)
    os.truncate(path, 4096 * 100)
    try:
        list(rows)
    except sqpyte.DatabaseError as error:
        return str(error)

caught = []
'''
CUT = ('disk I/O error', 'database disk image is malformed')
PROGRAMS = {
    'a handler that was there before': '''
signal.signal(signal.SIGBUS, lambda number, frame: caught.append(number))
connection = connect()
scan(connection)
assert mapped()
os.kill(os.getpid(), signal.SIGBUS)
assert caught == [signal.SIGBUS]
assert cut(connection) in CUT
assert caught == [signal.SIGBUS]
''',
    'a handler that came later': '''
connection = connect()
scan(connection)
assert mapped()
signal.signal(signal.SIGBUS, lambda number, frame: caught.append(number))
expected = scan(connection)
assert not mapped()
assert cut(connection) in CUT
os.kill(os.getpid(), signal.SIGBUS)
assert caught == [signal.SIGBUS]
other = sqpyte.connect(path)
assert not mapped()
''',
    'faulthandler before': '''
faulthandler.enable()
connection = connect()
scan(connection)
assert mapped()
assert cut(connection) in CUT
''',
    'faulthandler later': '''
connection = connect()
scan(connection)
faulthandler.enable()
scan(connection)
assert not mapped()
assert cut(connection) in CUT
''',
    'a thread that blocks the signal': '''
connection = sqpyte.connect(path, isolation_level=None, check_same_thread=False)
scan(connection)
assert mapped()
def work():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGBUS})
    scan(connection)
    caught.append(mapped())
    caught.append(cut(connection))
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert caught[0] is False and caught[1] in CUT
''',
    'a child': '''
connection = connect()
scan(connection)
child = os.fork()
if child == 0:
    try:
        other = connect()
        scan(other)
        assert mapped() and cut(other) in CUT
        os._exit(0)
    finally:
        os._exit(1)
assert os.waitpid(child, 0)[1] == 0
try:
    scan(connection)
except sqpyte.DatabaseError as error:
    assert str(error) in CUT
''',
    'an address space that is limited': '''
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))
connection = connect()
scan(connection)
assert not mapped()
''',
    'what the program says of mmap_size': '''
connection = connect()
scan(connection)
assert mapped() and connection.execute('PRAGMA mmap_size').fetchone() == (0,)
rows = connection.execute('SELECT id FROM t')
next(rows)
assert connection.execute('PRAGMA mmap_size=0').fetchone() == (0,)
assert len(list(rows)) == scan(connection)[0] - 1
assert not mapped()
assert connection.execute('PRAGMA mmap_size=1000000').fetchone() == (1000000,)
scan(connection)
assert mapped()
connection.close()
assert not mapped()
connection = connect()
rows = connection.execute('SELECT id, filler FROM t')
for _ in range(300):
    next(rows)
assert mapped()
for size in (5000000, 0, 5000000):
    assert connection.execute('PRAGMA mmap_size=%d' % size).fetchone() == (size,)
for _ in range(100):
    next(rows)
# A page of stock's own map would be out now: it refuses.
assert connection.execute('PRAGMA mmap_size=0').fetchone() == (5000000,)
assert len(list(rows)) + 400 == scan(connection)[0]
connection.close()
assert not mapped()
''',
    'the switch': '''
sqpyte.configure(without='mmap')
connection = connect()
scan(connection)
assert not mapped()
sqpyte.configure(without='')
other = connect()
scan(other)
assert mapped()
sqpyte.configure(without='mmap')
scan(other)
assert not mapped()
''',
    'a transaction that writes': '''
connection = connect()
scan(connection)
connection.execute('BEGIN')
connection.execute('UPDATE t SET filler = filler || 1 WHERE id < 1000')
try:
    cut(connection)
    connection.execute('COMMIT')
except sqpyte.DatabaseError as error:
    assert str(error) in CUT
connection.close()
''',
}


BESIDES_STEPS = {
    'a blob is read': 'blob.read()',
    'a blob is written': 'blob.seek(0); blob.write(b"y"); blob.seek(0); blob.read()',
    'pages are backed up': 'connection.backup(sqpyte.connect(":memory:"))',
    'the database is serialized': 'connection.serialize()',
    'a statement is prepared': 'connection.execute("SELECT * FROM t AS a JOIN t AS b USING(id) WHERE a.id > 3000")'
                               '.fetchall()',
}
OTHER_THREAD = """
connection = sqpyte.connect(path, isolation_level=None, check_same_thread=False)
scan(connection)
assert mapped()
rows = connection.execute('SELECT id, filler FROM t ORDER BY id')
next(rows)
blob = connection.blobopen('t', 'filler', 3300, readonly=%r)
def work():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGBUS})
    os.truncate(path, 4096 * 100)
    try:
        %s
    except sqpyte.Error as error:
        caught.append(str(error))
    caught.append(signal.SIGBUS in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert caught[-1] is True and (not caught[:-1] or caught[0] in CUT), caught
os._exit(0)
"""


def make(path):
    """Make a database of some 1 200 pages."""
    connection = sqpyte.connect(path)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, filler TEXT)')
    connection.executemany('INSERT INTO t VALUES(?, ?)', ((i, 'x' * 1000) for i in range(3600)))
    connection.commit()
    connection.close()


@pytest.mark.parametrize('name', list(PROGRAMS))
def test_program(tmp_path, name):
    path = str(tmp_path / 'a.db')
    make(path)
    done = subprocess.run([sys.executable, '-c', HEAD + 'CUT = %r\n' % (CUT,) + PROGRAMS[name], path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('name', list(BESIDES_STEPS))
def test_another_thread_goes_on(tmp_path, name):
    """It blocks the signal, and finds the file cut, in a transaction that reads by map."""
    path = str(tmp_path / 'a.db')
    make(path)
    program = HEAD + 'CUT = %r\n' % (CUT,) + OTHER_THREAD % ('written' not in name, BESIDES_STEPS[name])
    done = subprocess.run([sys.executable, '-c', program, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def test_a_signal_that_nobody_handles_ends_the_process(tmp_path):
    path = str(tmp_path / 'a.db')
    make(path)
    done = subprocess.run([sys.executable, '-c', HEAD + 'scan(connect())\nos.kill(os.getpid(), signal.SIGBUS)', path])
    assert done.returncode == -signal.SIGBUS


def test_many_connections(tmp_path):
    """Address space and maps are given back; where there are too many, pages are read by pread."""
    path = str(tmp_path / 'a.db')
    make(path)
    connections = []
    for _ in range(800):
        connection = sqpyte.connect(path)
        connection.execute('PRAGMA cache_size=20')
        assert connection.execute('SELECT count(filler) FROM t WHERE id < 400').fetchone() == (400,)
        connections.append(connection)
    with open('/proc/self/maps', encoding='ascii') as file:
        assert sum(path in line for line in file) > 700
    for connection in connections:
        connection.close()
    with open('/proc/self/maps', encoding='ascii') as file:
        assert sum(path in line for line in file) == 0


def test_thirty_two_databases(tmp_path):
    connections = []
    for i in range(32):
        path = str(tmp_path / ('%d.db' % i))
        make(path) if i == 0 else os.link(str(tmp_path / '0.db'), path)
        connections.append(sqpyte.connect(path))
    for connection in connections:
        assert connection.execute('SELECT count(*), sum(length(filler)) FROM t').fetchone() == (3600, 3600000)
