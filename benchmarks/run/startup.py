"""`python -m benchmarks startup`: what short programs cost, whole processes of them.

Each program is run by `sqlite3` and by `sqpyte` under the same PyPy, in turn, in processes of their
own. What counts is the processor's time of the program, from its first import to its end, so without
the start of PyPy itself; the medians are shown.
"""

import compileall
import os
import statistics
import subprocess
import sys

from benchmarks import places
from benchmarks.run.engines import clean_environment

MODULES = ('sqlite3', 'sqpyte')

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


def compile_modules():
    """Compile the package's modules, as `make` does: else each process would, where Python is told
    to write none."""
    for room in ('pypy_module', 'sqpyte', 'c_engine'):
        compileall.compile_dir(os.path.join(places.ROOT, room), quiet=2)


def run(module, program):
    """Return the processor's time (seconds) of one process that runs `program` (its source)."""
    environment = clean_environment(PYTHONPATH=places.ROOT)
    done = subprocess.run([sys.executable, '-c', HEAD + program + TAIL, module], check=True,
                          env=environment, stdout=subprocess.PIPE, timeout=1800)
    return float(done.stdout)


def measure(program, processes, step=lambda: None):
    """Return the times (dict of lists of float, seconds) of a program by module.

    Args:
        program: its source (str).
        processes: how many for each module (int), one uncounted one before them.
        step: called after each process.
    """
    compile_modules()
    times: dict = {module: [] for module in MODULES}
    for number in range(processes + 1):
        for module in MODULES:
            seconds = run(module, program)
            if number:
                times[module].append(seconds)
            step()
    return times


def main(console, bar, processes):
    """Measure all programs, `processes` (int) for each and module, and print a table."""
    from rich.table import Table
    table = Table('program', *['%s, ms' % module for module in MODULES], 'ratio')
    with bar(console) as progress:
        task = progress.add_task('startup', note='',
                                 total=len(PROGRAMS) * len(MODULES) * (processes + 1))
        for name, program in PROGRAMS.items():
            def step(name=name):
                progress.update(task, advance=1, note=name)
            times = measure(program, processes, step)
            stock, ours = [statistics.median(times[module]) for module in MODULES]
            table.add_row(name, '%.1f' % (1000 * stock), '%.1f' % (1000 * ours),
                          '%.2f' % (stock / ours))
    console.print(table)
