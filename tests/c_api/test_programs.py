"""C programs print what the library answers: stock's lines, on the engine alone and with the VM."""

import glob
import os
import subprocess

import pytest

from c_engine.build import build, flags

ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')
PATHS = build.Paths()
# Which library, and how it is run.
STOCK = 'stock'
WAYS = {'engine': ('libsqpyte-engine.so', {}),
        'hot': ('libsqpyte.so', {}),
        'hot-1': ('libsqpyte.so', {'SQPYTE_VM_THRESHOLD': '1'}),
        'always': ('libsqpyte.so', {'SQPYTE_VM': 'always', 'SQPYTE_JIT': 'threshold=3,trace_eagerness=2'})}
# Those that have a test of their own, as they need more than a folder.
APART = {'other_writer'}
NAMES = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(ROOM, '*.c')))


@pytest.fixture(scope='module')
def libraries(tmp_path_factory):
    """Folders in which libsqlite3.so.0 is stock's, or ours ({library: path}); skips what isn't built."""
    folder = tmp_path_factory.mktemp('libraries')
    found = {}
    for name in [PATHS.stock_library] + [os.path.join(PATHS.build, library) for library, _ in WAYS.values()]:
        if os.path.exists(name):
            where = folder / os.path.basename(name)
            where.mkdir(exist_ok=True)
            if not (where / 'libsqlite3.so.0').exists():
                (where / 'libsqlite3.so.0').symlink_to(name)
            found[os.path.basename(name)] = str(where)
    return found


@pytest.fixture(scope='module')
def compiled(tmp_path_factory):
    """Return the path of a compiled program of this folder, which finds its library by LD_LIBRARY_PATH."""
    folder = tmp_path_factory.mktemp('programs')

    def compiled(name):
        target = str(folder / name)
        if not os.path.exists(target):
            subprocess.run(flags.compiler() + [
                '-O1', '-Wall', '-Wno-unused-result', '-I', PATHS.upstream, os.path.join(ROOM, name + '.c'),
                '-o', target, PATHS.stock_library, '-pthread', '-Wl,--allow-shlib-undefined'], check=True)
        return target
    return compiled


def answers(program, library, environment, folder, arguments=()):
    """Return what a program prints in a new folder, and its exit code. Memory that is freed is overwritten."""
    folder.mkdir()
    environment = dict(os.environ, LD_LIBRARY_PATH=library, MALLOC_PERTURB_='170', **environment)
    done = subprocess.run([program, *arguments], cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=300)
    return done.stdout.decode(errors='replace').splitlines() + ['exit code %d' % done.returncode]


@pytest.mark.parametrize('name', [name for name in NAMES if name not in APART])
def test_lines_are_stocks(name, compiled, libraries, tmp_path):
    program = compiled(name)
    expected = answers(program, libraries[os.path.basename(PATHS.stock_library)], {}, tmp_path / STOCK)
    assert expected[-1] == 'exit code 0' and len(expected) > 3
    for way, (library, environment) in WAYS.items():
        if library in libraries:
            assert answers(program, libraries[library], environment, tmp_path / way) == expected, way


OVERLAY = '''
set -e
mkdir lower upper work merged
LD_LIBRARY_PATH=$STOCK $PROGRAM make lower/a.db
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged
touch mounted
$PROGRAM read merged/a.db
umount merged
'''


def test_a_file_of_an_overlay_that_another_process_writes(compiled, libraries, tmp_path):
    """It is copied up then: a map of the lower file would stay as it was."""
    outcome = []
    stock = libraries[os.path.basename(PATHS.stock_library)]
    for way, library in [(STOCK, stock)] + [(name, libraries[name]) for name, _ in WAYS.values() if name in libraries]:
        folder = tmp_path / way
        folder.mkdir(exist_ok=True)
        done = subprocess.run(['unshare', '-Urm', 'sh', '-c', OVERLAY], cwd=str(folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, env=dict(
                                  os.environ, STOCK=stock, PROGRAM=compiled('other_writer'), LD_LIBRARY_PATH=library))
        if not (folder / 'mounted').exists():
            pytest.skip('no overlay can be mounted here: %s' % done.stderr.decode(errors='replace')[-200:])
        outcome.append(done.stdout.decode().splitlines())
        if len(outcome) > 1 and way == 'libsqpyte.so':
            break
    assert all(lines == outcome[0] for lines in outcome) and '15000|30000' in outcome[0]


def test_other_processes_settings_are_not_rpythons(compiled, libraries, tmp_path):
    """PYPYLOG and PYPY_GC_* are for PyPy: the library writes no file, and has the memory that it had."""
    if 'libsqpyte.so' not in libraries:
        pytest.skip('the VM is not translated: make vm')
    log = tmp_path / 'log'
    lines = answers(compiled('unread_columns'), libraries['libsqpyte.so'],
                    {'SQPYTE_VM': 'always', 'PYPYLOG': ':%s' % log, 'PYPY_GC_MAX': '100KB', 'JITLOG': str(log)},
                    tmp_path / 'run')
    assert lines[-1] == 'exit code 0' and not [line for line in lines if 'memory' in line]
    assert not log.exists()
