"""A process that is forked while another thread of it is in the middle of a statement."""

import os
import subprocess
import sys

import pytest

from pypy_module.ffi.place import ROOT

PROGRAM = '''
import gc, os, signal, sys, threading, time
import sqpyte

begun, used = threading.Event(), []

def work():
    connection = sqpyte.connect(':memory:', check_same_thread=%r)
    used.append(connection.interrupt)
    begun.set()
    try:
        connection.execute('WITH c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c')
    except sqpyte.OperationalError:
        pass        # interrupted

thread = threading.Thread(target=work)
thread.start()
begun.wait()
time.sleep(0.3)     # it is in the middle of the statement now, in C
child = os.fork()
if child == 0:
    signal.alarm(60)        # ends a child that hangs
    del thread, work, used
    for _ in range(5):
        gc.collect()
    own = sqpyte.connect(':memory:')
    print(own.execute('SELECT 1').fetchall(), flush=True)
    own.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
used[0]()
thread.join()
print('status', status)
'''


@pytest.mark.parametrize('own_thread', [True, False])
def test_the_child_leaves_the_other_thread_s_connection_alone(own_thread):
    """It is garbage there, with SQLite's mutex held by a thread that isn't there."""
    command = [sys.executable, '-W', 'ignore', '-c', PROGRAM % own_thread]
    done = subprocess.run(command, env=dict(os.environ, PYTHONPATH=ROOT), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    assert done.stdout == '[(1,)]\nstatus 0\n'
