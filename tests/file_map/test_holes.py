"""A database with holes on a tmpfs that is full, perhaps under an overlay: a hole that is read by map would take a
page, and there is none."""

import os
import subprocess
import sys

import pytest

import sqpyte

SCRIPT = '''
set -e
mkdir mnt
mount -t tmpfs -o size=3m tmpfs mnt
if test $OVERLAY = yes; then
    mkdir mnt/upper mnt/work mnt/lower over
    mount -t overlay overlay -o lowerdir=mnt/lower,upperdir=mnt/upper,workdir=mnt/work over
else
    ln -s mnt over
fi
touch mounted
cp --sparse=always a.db over/a.db
dd if=/dev/zero of=mnt/fill bs=4k 2>/dev/null || true
"$PYTHON" -c "$PROGRAM"
test $OVERLAY = no || umount over
umount mnt
'''
PROGRAM = '''
import sqpyte
connection = sqpyte.connect('over/a.db')
for _ in range(3):
    print(connection.execute('SELECT sum(hex(y) = hex(zeroblob(2000))) FROM t').fetchone()[0])
print(connection.execute('PRAGMA integrity_check').fetchone()[0])
'''
ROWS = 300


@pytest.mark.parametrize('overlay', ['no', 'yes'])
def test_rows_are_read(tmp_path, overlay):
    connection = sqpyte.connect(str(tmp_path / 'a.db'), isolation_level=None)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, x, y)')
    connection.execute('BEGIN')
    connection.executemany('INSERT INTO t VALUES(?, zeroblob(6200), zeroblob(2000))', ((i,) for i in range(ROWS)))
    connection.execute('COMMIT')
    connection.close()
    done = subprocess.run(['unshare', '-Urm', 'sh', '-c', SCRIPT], cwd=str(tmp_path), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, env=dict(
                              os.environ, PYTHON=sys.executable, PROGRAM=PROGRAM, OVERLAY=overlay,
                              PYTHONPATH=os.pathsep.join(path for path in sys.path if path)))
    if not (tmp_path / 'mounted').exists():
        pytest.skip('no tmpfs, or overlay, can be mounted here: %s' % done.stderr.decode(errors='replace')[-200:])
    assert done.stdout.decode().split() == [str(ROWS)] * 3 + ['ok'], done.stderr.decode()[-500:]
