"""A file that is open by two SQLite libraries of one process is warned of; nothing else is."""

import os
import subprocess
import sys

import pytest

from pypy_module.ffi import place

THEIRS_FIRST = '''
theirs = sqlite3.connect(path)
theirs.execute('CREATE TABLE t(a)')
ours = sqpyte.connect(path)
'''
OURS_FIRST = '''
ours = sqpyte.connect(path)
ours.execute('CREATE TABLE t(a)')
theirs = sqlite3.connect(path)
theirs.execute('SELECT * FROM t')
assert not caught
ours.close()
'''
ATTACHED_LATER = '''
ours, again = sqpyte.connect(path), sqpyte.connect(path)
theirs = sqlite3.connect(path)
ours.close()
assert not caught
again.close()
'''
ONE_AFTER_THE_OTHER = '''
for i in range(3):
    theirs = sqlite3.connect(path)
    theirs.execute('CREATE TABLE t%d(a)' % i)
    theirs.close()
    ours, again = sqpyte.connect(path), sqpyte.connect(path)
    assert len(ours.execute('SELECT * FROM sqlite_schema').fetchall()) == i + 1
    again.close()
    ours.close()
'''
OTHER_FILES = '''
theirs = sqlite3.connect(path + '2')
ours, memory, again = sqpyte.connect(path), sqpyte.connect(':memory:'), sqpyte.connect(path)
for connection in ours, memory, again:
    connection.execute('CREATE TABLE IF NOT EXISTS t(a)')
    connection.close()
'''
ATTACHED_BY_OURS = '''
ours = sqpyte.connect(':memory:')
ours.execute('ATTACH ? AS other', (path,))
ours.execute('CREATE TABLE other.t(a)')
again = sqpyte.connect(path)
again.close()
'''
NOT_LOADED = '''
ours = sqpyte.connect(path)
file = open(path)
again = sqpyte.connect(path)
ours.close()
again.close()
'''


@pytest.mark.parametrize('program, theirs, warned', [
    (THEIRS_FIRST, True, 1), (OURS_FIRST, True, 1), (ATTACHED_LATER, True, 1), (ONE_AFTER_THE_OTHER, True, 0),
    (OTHER_FILES, True, 0), (ATTACHED_BY_OURS, True, 0), (NOT_LOADED, False, 0)])
def test_who_is_warned(tmp_path, program, theirs, warned):
    if theirs and subprocess.run([sys.executable, '-c', 'import sqlite3'], stderr=subprocess.DEVNULL).returncode:
        pytest.skip('this Python has no sqlite3')
    code = '''
import sys, warnings
path = sys.argv[1]
import sqpyte
sqpyte.connect(':memory:').close()
%s
caught = []
warnings.showwarning = lambda message, category, *where: caught.append((category, str(message), where[0]))
warnings.simplefilter('always')
%s
for category, message, where in caught:
    print(category.__name__, where, message)
''' % ('import sqlite3' if theirs else "assert '_sqlite3' not in sys.modules", program)
    path = str(tmp_path / 'a.db')
    environment = dict(os.environ, PYTHONPATH=place.ROOT, SQPYTE_BACKEND='cffi')
    done = subprocess.run([sys.executable, '-c', code, path], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == warned, lines
    for line in lines:
        assert line.startswith('RuntimeWarning <string> this process has %s open by' % path), line
