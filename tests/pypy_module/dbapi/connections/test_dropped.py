"""What is collected while SQLite calls a function of another connection of a shared cache is closed when that
function has ended: it would wait for the cache, which that function's statement has locked."""

import os
import subprocess
import sys

import pytest

from pypy_module.ffi import place

SHARED = '''
import gc, sys
import sqpyte
from pypy_module.dbapi.connections.session import POSTPONED
name = 'file:shared?mode=memory&cache=shared'
first = sqpyte.connect(name, uri=True)
first.execute('CREATE TABLE t(x)')
first.execute('INSERT INTO t VALUES(1)')
first.commit()
'''
CONNECTION = SHARED + '''
class Mine(sqpyte.Connection):
    pass
def make():
    second = sqpyte.connect(name, uri=True, factory=Mine)
    second.execute('SELECT * FROM t').fetchall()
    second.cycle = second
seen = []
def collect(x):
    for i in range(3):
        gc.collect()
    seen.append(len(POSTPONED))
    return x
first.create_function('collect', 1, collect)
make()
print(first.execute('SELECT collect(x) FROM t').fetchall(), seen, len(POSTPONED))
first.execute('SELECT 1')
print(len(POSTPONED))
first.close()
'''

CURSOR_AND_BLOB = SHARED + '''
second = sqpyte.connect(name, uri=True)
second.execute('INSERT INTO t VALUES(?)', (b'abcd',))
second.commit()
class Holder:
    pass
def make():
    holder = Holder()
    holder.cursor = second.execute('SELECT * FROM t')
    holder.cursor.fetchone()
    holder.blob = second.blobopen('t', 'x', 2, readonly=True)
    holder.cycle = holder
def collect(x):
    for i in range(3):
        gc.collect()
    return x
first.create_function('collect', 1, collect)
make()
print(first.execute('SELECT collect(x) FROM t').fetchall())
gc.collect()
gc.collect()
second.execute('DELETE FROM t')
second.commit()
first.execute('DROP TABLE t')
print('dropped')
'''


def run(program):
    """What a program prints; it has a minute."""
    environment = dict(os.environ, PYTHONPATH=place.ROOT, SQPYTE_BACKEND='cffi', SQPYTE_INLINE='0')
    done = subprocess.run([sys.executable, '-c', program], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_connection():
    assert run(CONNECTION) == '[(1,)] [1] 1\n0\n'


@pytest.mark.skipif(sys.implementation.name != 'pypy', reason='CPython hangs with sqlite3, too')
def test_a_cursor_in_the_middle_of_its_rows_and_a_blob():
    assert run(CURSOR_AND_BLOB) == "[(1,), (b'abcd',)]\ndropped\n"
