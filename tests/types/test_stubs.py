"""sqpyte/*.pyi say of every public name what our own module has, on PyPy and each CPython. (Where CPython's own sqlite3
serves, the names are sqlite3's: typeshed's own tests see to those.)"""
import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUBTEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stubtest.py')
PYTHONS = [sys.executable] + sorted(glob.glob(os.path.join(ROOT, 'build', 'cpython-env-3.*', 'bin', 'python')))

# What differs, as regular expressions, and why. Each has to be found by one Python at least.
MEANT = {
    r'(__main__|vm)(\.\S+)? failed to find stubs': 'not for programs to import',
    r'SQLITE_\w+ is not present in stub': 'of a newer SQLite, or sqlite3, than this Python has',
    r'(__dir__|dbapi2\.__all__) (is not present|is inconsistent)': 'how the names are loaded',
    r'(LEGACY_TRANSACTION_CONTROL|Blob) is not present in stub': 'of a newer sqlite3',
    r'Connection\.(autocommit|blobopen|create_window_function|(de)?serialize|[gs]et(config|limit)) is not present':
        'of a newer sqlite3',
    r'Connection\.(iterdump|load_extension) is inconsistent, stub does not have parameter "(filter|entrypoint)"':
        'of a newer sqlite3',
    r'(connect|Connection\.__init__) is inconsistent, stub does not have parameter "autocommit"': 'of a newer sqlite3',
    r'(connect|Connection\.__init__) is inconsistent, runtime parameter "\w+" has a default value':
        'typeshed has the value that the default stands for',
    r'Connection\.__init__ is inconsistent, stub parameter "autocommit" is not keyword-only': 'it is in sqlite3',
    r'Connection\.cursor is inconsistent, runtime parameter "factory"': 'typeshed has None for the default',
    r'Cursor\.fetchmany is inconsistent, runtime parameter "size"': 'its default is arraysize',
    r'(Cursor\.__init__|register_\w+|PrepareProtocol\.__init__) is inconsistent, stub parameter "\w+" differs':
        'positional only in sqlite3, too',
    r'(enable_shared_cache|OptimizedUnicode) is not present at runtime': 'it is loaded when asked for, with a warning',
    r'(PrepareProtocol\.__init__|Blob\.__new__) is inconsistent, (runtime|stub) does not have \*': 'they take nothing',
    r'adapt is inconsistent, runtime parameter "proto" has a default value': 'as in sqlite3; typeshed has overloads',
    r'(Connection|Cursor|Row|Blob|Statement) is marked as @disjoint_base': 'written in C there',
    r'(Connection|Blob)\.__del__ is not present in stub': 'written in C there',
    r'Blob\.__(iter|delitem)__ is not present in stub': 'as in sqlite3: they say why not',
    r'dbapi2\.Timestamp is not present in stub': 'typeshed has it in sqlite3 alone'}


def differences(python, folder):
    """Return what stubtest finds (list of str), without the package's name."""
    for path in glob.glob(os.path.join(ROOT, 'sqpyte', '*.pyi')):
        os.makedirs(os.path.join(folder, 'sqpyte'), exist_ok=True)
        shutil.copy(path, os.path.join(folder, 'sqpyte'))
    done = subprocess.run([python, STUBTEST, 'sqpyte', '--concise'], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True,
                          env=dict(os.environ, PYTHONPATH=ROOT, MYPYPATH=str(folder)))
    lines = done.stdout.splitlines()
    assert lines and all(line.startswith('sqpyte') for line in lines), done.stdout[-3000:]
    return [re.sub(r'^sqpyte\.(dbapi2\.(?!__all__|Timestamp))?', '', line) for line in lines]


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    return {python: differences(python, str(tmp_path_factory.mktemp('stubs'))) for python in PYTHONS}


def test_the_stubs_are_right(found):
    wrong = {python: [line for line in lines if not any(re.match(meant, line) for meant in MEANT)]
             for python, lines in found.items()}
    assert {python: lines for python, lines in wrong.items() if lines} == {}


def test_nothing_is_meant_in_vain(found):
    everything = [line for lines in found.values() for line in lines]
    assert [meant for meant in MEANT if not any(re.match(meant, line) for line in everything)] == []


PROGRAM = '''
import sqlite3
import sqpyte
from sqpyte import dbapi2

connection = sqpyte.connect(':memory:')
reveal_type(connection)
reveal_type(connection.execute('SELECT 1').fetchone())
reveal_type(sqpyte.explain(connection, 'SELECT 1')[0].tier)
reveal_type(sqpyte.status())
reveal_type(dbapi2.Row)
taken: sqlite3.Connection = connection
sqpyte.configure(vm=3)
'''


def test_a_program_is_checked(tmp_path):
    """Connections are sqlite3's to a type checker: a library that is typed with those takes ours."""
    path = tmp_path / 'program.py'
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, '-m', 'mypy', '--no-incremental', str(path)], cwd=str(tmp_path),
                          stdout=subprocess.PIPE, universal_newlines=True, env=dict(os.environ, MYPYPATH=ROOT))
    told = re.findall(r'(?:Revealed type is|error:) (.*)', done.stdout)
    assert [re.sub(r'"|builtins\.', '', line) for line in told[:3]] == ['sqlite3.Connection', 'Any', 'str']
    assert len(told) == 6 and 'configure' in told[5] and 'incompatible type' in told[5]
