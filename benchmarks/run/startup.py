"""`python -m benchmarks startup`: what short programs cost, whole processes of them.

Each program is run by `sqlite3` and by `sqpyte` under the same interpreter, in turn, in processes of their
own. What counts is CPU time of the program, from its first import to its end, so without
the start of the interpreter itself, and beside it that of the whole process; the medians are shown.

Under PyPy it is the checkout's `sqpyte`, under CPython an installed copy's, as only that one's library has the
name by which the interpreter's own module asks for it.
"""

import os
import statistics
import subprocess
import tempfile

from benchmarks import places
from benchmarks.run.engines import EngineFailure, clean_environment

MODULES = ('sqlite3', 'sqpyte')
# Of each host: its interpreter, and the folder that has `sqpyte` (functions that raise places.Missing).
HOSTS = {'pypy': (places.pypy, lambda: places.ROOT), 'cpython': (places.cpython, places.installed)}
ROOMS = ('pypy_module', 'sqpyte', 'c_engine')

HEAD = '''
import sys, time
start = time.process_time()
module = __import__(sys.argv[1])
connection = module.connect(':memory:')
'''
TAIL = '''
connection.close()
print(time.process_time() - start)
'''
TABLE = '''
connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL)')
connection.executemany('INSERT INTO t VALUES(?, ?, ?)',
                       [(i, 'name %d' % i, i / 3) for i in range(ROWS)])
'''

PROGRAMS = {
    'import and connect': '',
    'import and SELECT 1': '''
connection.execute('SELECT 1').fetchone()
''',
    '20 queries of 10 rows': TABLE.replace('ROWS', '10') + '''
for k in range(20):
    columns = ('a, b, c', 'a', 'c, b', 'a, c, b || a', 'count(*), max(c)')[k % 5]
    for row in connection.execute('SELECT %s FROM t WHERE a >= ? AND %d < 99' % (columns, k), (0,)):
        len(row)
''',
    '1 000 point queries': TABLE.replace('ROWS', '100') + '''
for k in range(1000):
    connection.execute('SELECT b FROM t WHERE a = ?', (k % 100,)).fetchone()
''',
    '1 000 inserts': TABLE.replace('ROWS', '1') + '''
for k in range(1000):
    connection.execute('INSERT INTO t VALUES(?, ?, ?)', (k + 1, 'x', 0.5))
''',
    'a loop over 2 000 rows': TABLE.replace('ROWS', '2000') + '''
total = 0
for a, b, c in connection.execute('SELECT a, b, c FROM t'):
    total += a + c
''',
    'a loop over 50 000 rows': TABLE.replace('ROWS', '50000') + '''
total = 0
for a, b, c in connection.execute('SELECT a, b, c FROM t'):
    total += a + c
''',
    'a function on 50 000 rows': TABLE.replace('ROWS', '50000') + '''
connection.create_function('f', 1, lambda value: value + 1)
for value, in connection.execute('SELECT f(a) FROM t'):
    pass
''',
    'fetchall of 10 000 texts': TABLE.replace('ROWS', '10000') + '''
connection.execute('SELECT b FROM t').fetchall()
''',
}


def compile_modules(python, folder):
    """Compile the package's modules, as `make` and pip do: else each process would, where Python is told
    to write none."""
    rooms = [os.path.join(folder, room) for room in ROOMS if os.path.exists(os.path.join(folder, room))]
    subprocess.run([python, '-m', 'compileall', '-q', *rooms], check=True)


def run(python, folder, module, program):
    """Return CPU time of one process that runs `program` (its source), the program's own and all of
    the process's (seconds)."""
    environment = clean_environment(PYTHONPATH=folder)
    with tempfile.TemporaryFile() as output:
        # In that folder, as Python looks for modules where it is started before it looks in PYTHONPATH.
        process = subprocess.Popen([python, '-c', HEAD + program + TAIL, module], cwd=folder, env=environment,
                                   stdout=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        if status:
            raise EngineFailure('%s: a program of `startup` failed' % module)
        output.seek(0)
        return float(output.read()), used.ru_utime + used.ru_stime


def measure(program, processes, step=lambda: None, host='pypy'):
    """Return the times (dict of lists of pairs of float, seconds: see `run`) of a program by module.

    Args:
        program: its source (str).
        processes: how many for each module (int), one uncounted one before them.
        step: called after each process.
        host: a name in HOSTS.
    Raises:
        places.Missing: there is no such interpreter, or no installed copy.
        EngineFailure: a program failed.
    """
    python, folder = [find() for find in HOSTS[host]]
    compile_modules(python, folder)
    times: dict = {module: [] for module in MODULES}
    for number in range(processes + 1):
        for module in MODULES:
            seconds = run(python, folder, module, program)
            if number:
                times[module].append(seconds)
            step()
    return times


def main(console, bar, processes, names, host):
    """Measure the programs of these names, `processes` (int) for each and module, on a host; print a table."""
    from rich.table import Table
    table = Table('program', *['%s, ms' % module for module in MODULES], 'ratio',
                  *['whole process with %s, ms' % module for module in MODULES], 'ratio')
    with bar(console) as progress:
        task = progress.add_task('startup', note='',
                                 total=len(names) * len(MODULES) * (processes + 1))
        for name in names:
            def step(name=name):
                progress.update(task, advance=1, note=name)
            times = measure(PROGRAMS[name], processes, step, host)
            cells = []
            for which in (0, 1):
                stock, ours = [statistics.median(pair[which] for pair in times[module]) for module in MODULES]
                cells += ['%.1f' % (1000 * stock), '%.1f' % (1000 * ours), '%.2f' % (stock / ours)]
            table.add_row(name, *cells)
    console.print(table)
