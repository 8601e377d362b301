"""What the system and the program around the library allow, and what they notice of it: limits of memory, policies that
forbid machine code, dlclose, random numbers. A CPython of its own for each, with libsqpyte.so in SQLite's place."""
import pytest

from tests.differential import tiers
from tests.translated.preloaded import with_preloaded

HOT = {'SQPYTE_VM_THRESHOLD': '20'}

# HEAD is before each program: a table, queries that are hot at once, and whether the VM has a program of them.
HEAD = '''
import ctypes, resource, sqlite3, sys
PROGRAMS, ROWS = 3, 4000
library = ctypes.CDLL(None)
connection = sqlite3.connect(':memory:')
connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER)')
connection.executemany('INSERT INTO t VALUES (?, ?)', [(n, n % 97) for n in range(ROWS)])

CHOSEN = []         # what b >= n chooses: the sum of b, and how many rows
for least in range(50):
    found = [n % 97 for n in range(ROWS) if n % 97 >= least]
    CHOSEN.append((sum(found), len(found)))

def run(numbers):
    """Ask queries unlike the others; each gives the right answer or has no memory. Returns how many failed."""
    failed = 0
    for i in numbers:
        try:
            found = connection.execute('SELECT sum(b + %d), count(*) FROM t WHERE b >= %d' % (i, i % 50)).fetchone()
        except (MemoryError, sqlite3.OperationalError):
            failed += 1
            continue
        total, count = CHOSEN[i % 50]
        assert found == (total + i * count, count), (i, found)
    return failed

def forbid_machine_code():
    """PR_SET_MDWE, which is what systemd's MemoryDenyWriteExecute does; or end, if this kernel hasn't it."""
    if library.prctl(65, 1, 0, 0, 0):
        print('not to be had')
        sys.exit()
'''

CASES = {
    'no machine code': '''
forbid_machine_code()
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) == 0
''',
    'no machine code from now on': '''
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) > 0
forbid_machine_code()
assert run(range(600)) == 0
''',
    'a small address space': '''
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, -1))
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) == 0
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) > 0
''',
    'little memory': '''
resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, -1))
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) == 0
''',
    'no memory from now on': '''
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) > 0
used = int(open('/proc/self/statm').read().split()[0]) * 4096
for more in (1 << 16, 1 << 18, 1 << 20, 1 << 22):
    resource.setrlimit(resource.RLIMIT_AS, (used + more, -1))
    run(range(300))
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    assert run(range(30)) == 0
''',
    "the program's random numbers": '''
library.srand(7)
expected = [library.rand() for _ in range(20)]
library.srand(7)
assert run(range(30)) == 0 and library.sqpyte_memory(PROGRAMS) > 0
assert [library.rand() for _ in range(20)] == expected
''',
}


@pytest.mark.parametrize('name', list(CASES))
@pytest.mark.parametrize('eager', [False, True], ids=['', 'eager'])
def test_what_the_process_may(python, vm_library, tmp_path, name, eager):
    code, out, err = with_preloaded([python, '-c', HEAD + CASES[name]], [vm_library], tmp_path,
                                    dict(HOT, **tiers.EAGER) if eager else HOT)
    assert code == 0, err[-2000:]
    if out.strip() == 'not to be had':
        pytest.skip('this kernel has no PR_SET_MDWE')


CLOSED = '''
import _ctypes, ctypes, mmap, os, sys
path = %r
def loaded():
    with open('/proc/self/maps') as maps:
        return path in maps.read()
database = os.path.join(%r, 'closed.db')
for _ in range(3):
    library = ctypes.CDLL(path)
    db, sql = ctypes.c_void_p(), b"""CREATE TABLE t(a, b);
        INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20000) SELECT n, n FROM r;"""
    assert library.sqlite3_open(database.encode(), ctypes.byref(db)) == 0
    assert library.sqlite3_exec(db, sql, None, None, None) == 0
    for _ in range(20):
        assert library.sqlite3_exec(db, b'SELECT sum(a + b) FROM t WHERE a > 3', None, None, None) == 0
    assert library.sqlite3_close(db) == 0
    os.remove(database)
    _ctypes.dlclose(library._handle)
    print(loaded())
with open(database, 'wb+') as file:
    file.truncate(mmap.PAGESIZE)
    pages = mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ)
    file.truncate(0)
    sys.stdout.flush()
    pages[0]
'''


def test_it_stays_when_it_is_closed(python, vm_library, stock_library, tmp_path):
    """A library that handles SIGBUS must not be gone when the signal comes."""
    found = []
    for library in (stock_library, vm_library):
        code, out, err = with_preloaded([python, '-c', CLOSED % (library, str(tmp_path))], [], tmp_path, HOT)
        found.append((code, out.split(), err))
    assert found == [(-7, ['False'] * 3, ''), (-7, ['True'] * 3, '')]


# A hard limit so low that a text of 200 bytes can't be copied; what stock SQLite does without a copy of its own has an
# answer, the right one, or there is no memory.
SHORT = """
import ctypes, sqlite3, sys
library = ctypes.CDLL(None)
library.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_longlong]
library.sqlite3_memory_used.restype = ctypes.c_longlong
for encoding in 'UTF-8', 'UTF-16le':
    connection = sqlite3.connect(':memory:', isolation_level=None)
    connection.execute("PRAGMA encoding='%s'" % encoding)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INTEGER, x)')
    connection.execute('CREATE TABLE u(v INTEGER)')
    connection.execute("INSERT INTO t VALUES(0, printf('%-900s', '7'), 7, printf('%-900s', '7'))")
    connection.execute('''INSERT INTO t WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 2000)
        SELECT i, printf('%-200s', i % 10), 7, printf('%-200s', i % 10) FROM r''')
    for query in ('SELECT count(*) FROM t WHERE a = n', 'SELECT count(*) FROM t WHERE x',
                  'SELECT count(*) FROM t WHERE NOT x',
                  'SELECT count(*) FROM t WHERE n BETWEEN a AND a', 'SELECT count(*) FROM t WHERE x AND n',
                  'SELECT count(*) FROM t WHERE x IS TRUE', 'SELECT count(*) FROM t WHERE a < x + 0'):
        expected = connection.execute(query).fetchall()
        for room in range(0, 1200, 150):
            library.sqlite3_hard_heap_limit64(library.sqlite3_memory_used() + room)
            try:
                found = connection.execute(query).fetchall()
            except (MemoryError, sqlite3.OperationalError):
                found = None
            finally:
                library.sqlite3_hard_heap_limit64(0)
            assert found in (expected, None), (encoding, query, room, found, expected)
    for room in range(0, 60000, 1500):
        library.sqlite3_hard_heap_limit64(library.sqlite3_memory_used() + room)
        try:
            connection.execute('INSERT INTO u SELECT a FROM t')
        except (MemoryError, sqlite3.OperationalError):
            pass
        finally:
            library.sqlite3_hard_heap_limit64(0)
        found = connection.execute('SELECT DISTINCT typeof(v) FROM u').fetchall()
        assert found in ([], [('integer',)]), (encoding, room)
"""


@pytest.mark.parametrize('mode', ['hot', 'always'])
def test_numbers_in_long_texts_without_memory(python, vm_library, tmp_path, mode):
    code, out, err = with_preloaded([python, '-c', SHORT], [vm_library], tmp_path,
                                    dict(tiers.EAGER, SQPYTE_VM=mode, SQPYTE_VM_THRESHOLD='1'))
    assert code == 0, err[-2000:]
