"""The connection is closed where something is in the middle of using it: by a signal's handler at a random moment, or
by user code that a query or a method calls. What is in the middle goes on, or fails; the process doesn't crash."""
import os
import subprocess
import sys

import pytest

import sqpyte
from pypy_module.ffi.place import ROOT
from tests.outcome import outcome

PROGRAM = '''
import random, signal, sys
import sqpyte
query = sys.argv[1]
random.seed(int(sys.argv[2]))
signal.signal(signal.SIGALRM, lambda *args: connection.close())
seen = {}
for number in range(int(sys.argv[3])):
    connection = sqpyte.connect(':memory:', isolation_level=None)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, g, s)')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)', ((i, i // 7, 'text %d' % i) for i in range(300)))
    connection.create_function('f', 1, lambda value: value)
    signal.setitimer(signal.ITIMER_REAL, random.random() * 0.002 + 0.00002)
    try:
        for row in connection.execute(query):
            pass
        end = 'rows'
    except BaseException as error:
        end = '%s: %s' % (type(error).__name__, error)
    signal.setitimer(signal.ITIMER_REAL, 0)
    seen[end] = seen.get(end, 0) + 1
    connection.close()
print(sorted(seen))
'''
QUERIES = ['SELECT id, s FROM t', 'SELECT id, s FROM t ORDER BY s', 'SELECT f(id), s FROM t WHERE f(s) > 1',
           'SELECT g, sum(f(id)), total(id) FROM t GROUP BY g', 'INSERT INTO t SELECT id + 1000, g, f(s) FROM t']


@pytest.mark.parametrize('inline', ['always', '0'])
@pytest.mark.parametrize('query', QUERIES)
def test_by_a_handler_at_a_random_moment(query, inline):
    done = subprocess.run([sys.executable, '-c', PROGRAM, query, '7', '150'], cwd=ROOT, stdout=subprocess.PIPE,
                          env=dict(os.environ, MALLOC_PERTURB_='165', SQPYTE_INLINE=inline, PYTHONPATH=ROOT))
    assert done.returncode == 0
    assert set(eval(done.stdout)) <= {'rows', 'ProgrammingError: Cannot operate on a closed database.'}


class Closing:
    """An object that closes a connection when it is looked at."""

    def __init__(self, connection):
        self.connection = connection

    def __index__(self):
        self.connection.close()
        return 1

    def __bool__(self):
        self.connection.close()
        return True


CALLS = {
    'set_progress_handler': lambda connection, it: connection.set_progress_handler(lambda: 0, it),
    'setlimit, category': lambda connection, it: connection.setlimit(it, -1),
    'setlimit, limit': lambda connection, it: connection.setlimit(0, it),
    'setconfig': lambda connection, it: connection.setconfig(it, 1),
    'enable_load_extension': lambda connection, it: connection.enable_load_extension(it),
    'a collation': lambda connection, it: connection.execute(
        'SELECT s FROM t ORDER BY s COLLATE c').fetchall(),
}


@pytest.mark.parametrize('call', list(CALLS))
def test_by_an_argument(call):
    connection = sqpyte.connect(':memory:')
    connection.execute('CREATE TABLE t(s)')
    connection.executemany('INSERT INTO t VALUES(?)', [(str(i),) for i in range(9)])
    closing = Closing(connection)
    connection.create_collation('c', lambda a, b: closing)
    assert outcome(CALLS[call], connection, closing) == 'ProgrammingError: Cannot operate on a closed database.'


@pytest.mark.parametrize('rows', [1, 3, 450, 3000])
@pytest.mark.parametrize('query', ['SELECT s FROM t', 'SELECT s FROM t ORDER BY s', 'SELECT f(s) FROM t',
                                   'SELECT s, count(*) OVER (ORDER BY s) FROM t'])
def test_by_a_text_factory(query, rows):
    """It sets another one, too: nothing shows any more that it ran."""
    connection = sqpyte.connect(':memory:')
    connection.create_function('f', 1, lambda value: value)
    connection.execute('CREATE TABLE t(s)')
    connection.executemany('INSERT INTO t VALUES(?)', [(str(i),) for i in range(4000)])
    made = []

    def factory(data):
        made.append(data)
        if len(made) == rows:
            connection.close()
            connection.text_factory = str
        return data
    connection.text_factory = factory
    answer = outcome(lambda: [row for row in connection.execute(query)])
    assert answer == 'ProgrammingError: Cannot operate on a closed database.' and len(made) == rows


def test_the_database_is_closed_afterwards(tmp_path):
    """By whoever uses the connection next: its locks are gone, and its file."""
    path = str(tmp_path / 'a.db')
    connection = sqpyte.connect(path)
    connection.execute('CREATE TABLE t(s)')
    connection.executemany('INSERT INTO t VALUES(?)', [(str(i),) for i in range(9)])
    connection.commit()
    connection.execute("UPDATE t SET s = 'x'")
    connection.text_factory = lambda data: connection.close()
    assert outcome(lambda: connection.execute('SELECT s FROM t').fetchall()).startswith('ProgrammingError')
    assert outcome(lambda: connection.in_transaction and connection.execute('SELECT 1')).startswith('ProgrammingError')
    other = sqpyte.connect(path, timeout=0)
    assert other.execute('SELECT s FROM t').fetchall()[:2] == [('0',), ('1',)]
    other.execute('DELETE FROM t')
    other.commit()
    other.close()
    assert not [name for name in os.listdir('/proc/self/fd') if os.path.realpath('/proc/self/fd/' + name) == path]
