"""Analyses a web server's log of a few million requests, with a classifier and an aggregate in Python.

    build/pypy-env/bin/python examples/log_analysis.py [--rows 3000000] [--module sqpyte|sqlite3]

Without --module both modules do it, one after the other, each in a process of its own. The log is
made up, and kept in build/data; the same number of rows always gives the same log.

* `kind(path, status, agent)`, a Python function, tells what sort of request one is; the loop that
  asks for it counts requests and bytes by kind, in Python.
* `quantile(ms, q)`, a Python class, is an aggregate that SQLite doesn't have: about how long the
  slowest requests took. It keeps a histogram, no values.
* The busiest minute is found by a scan in order of time, with a window of 60 seconds in Python.
"""

import argparse
import collections
import importlib
import math
import os
import random
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ['/', '/about', '/shop', '/shop/tea', '/shop/cake', '/blog', '/blog/jit', '/contact']
ASSETS = ['/static/site.css', '/static/app.js', '/img/logo.png', '/img/tea.jpg', '/favicon.ico']
CALLS = ['/api/cart', '/api/price', '/api/search', '/api/login']
PROBES = ['/wp-login.php', '/.env', '/admin/setup', '/cgi-bin/test']
AGENTS = ['Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0', 'Mozilla/5.0 (Macintosh) Safari/605.1',
          'Mozilla/5.0 (Windows NT 10.0) Chrome/126.0', 'examplebot/2.1 (+https://example.org/bot)',
          'curl/8.5.0']


def requests(rows):
    """Yield the rows of the table: time (seconds), path, status, bytes, milliseconds, agent."""
    rng = random.Random(rows)
    at = 1700000000
    for _ in range(rows):
        at += rng.random() < 0.3
        sort = rng.random()
        paths = (ASSETS if sort < 0.5 else PAGES if sort < 0.8 else CALLS if sort < 0.97 else PROBES)
        path = paths[int(rng.random() * len(paths))]
        status = 404 if paths is PROBES else 500 if sort > 0.965 else 304 if sort < 0.1 else 200
        milliseconds = 2.0 + 300.0 * rng.random() ** 8 + (400.0 if status == 500 else 0.0)
        yield (at, path, status, 0 if status == 304 else int(200 + 40000 * sort), milliseconds,
               AGENTS[int(rng.random() * len(AGENTS))])


def with_progress(rows, total):
    """Yield `rows` on, telling on stderr how many of `total` there were."""
    shown = sys.stderr.isatty()
    for number, row in enumerate(rows):
        if shown and number % 50000 == 0:
            print('\rmaking the log: %3d %%' % (100 * number // total), end='', file=sys.stderr,
                  flush=True)
        yield row
    print('%smaking the log: done ' % ('\r' if shown else ''), file=sys.stderr)


def make(module, path, rows):
    """Make the database at `path` unless it is there."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    partial = '%s.%d.part' % (path, os.getpid())
    conn = module.connect(partial)
    conn.execute('CREATE TABLE request(id INTEGER PRIMARY KEY, at INTEGER, path TEXT, '
                 'status INTEGER, bytes INTEGER, ms REAL, agent TEXT)')
    conn.executemany('INSERT INTO request(at, path, status, bytes, ms, agent) '
                     'VALUES(?, ?, ?, ?, ?, ?)', with_progress(requests(rows), rows))
    conn.commit()
    conn.close()
    os.replace(partial, path)


def kind(path, status, agent):
    """What sort of request one is."""
    if status >= 500:
        return 'failure'
    if status == 404:
        return 'probe' if path.endswith('.php') or path.startswith('/.') else 'missing'
    if 'bot' in agent or agent.startswith('curl'):
        return 'robot'
    if path.startswith('/static/') or path.startswith('/img/') or path.endswith('.ico'):
        return 'asset'
    return 'call' if path.startswith('/api/') else 'page'


class Quantile:
    """About the q-th quantile of positive numbers, from a histogram with 24 classes an octave."""

    def __init__(self):
        self.counts = [0] * 1024
        self.total = 0
        self.q = 0.5

    def step(self, value, q):
        self.counts[min(1023, int(24 * math.log2(1.0 + value)))] += 1
        self.total += 1
        self.q = q

    def finalize(self):
        wanted = self.q * self.total
        seen = 0
        for number, count in enumerate(self.counts):
            seen += count
            if seen >= wanted:
                return 2.0 ** ((number + 0.5) / 24) - 1.0
        return None


def kinds(conn):
    """By kind, how many requests and how many bytes."""
    counts = collections.Counter()
    sizes = collections.Counter()
    for name, size in conn.execute('SELECT kind(path, status, agent), bytes FROM request'):
        counts[name] += 1
        sizes[name] += size
    return ', '.join('%s %d (%.1f MB)' % (name, counts[name], sizes[name] / 1e6)
                     for name in sorted(counts))


def slowest(conn):
    """How long the slowest hundredth of the requests that succeeded took, at least."""
    value, = conn.execute('SELECT quantile(ms, 0.99) FROM request WHERE status < 400').fetchone()
    return '1 %% took longer than %.0f ms' % value


def busiest(conn):
    """The most requests within 60 seconds."""
    window = collections.deque()
    most = start = 0
    for at, in conn.execute('SELECT at FROM request'):
        window.append(at)
        while window[0] <= at - 60:
            window.popleft()
        if len(window) > most:
            most, start = len(window), window[0]
    return '%d requests in a minute, from %d on' % (most, start)


def analyse(module, path):
    """Run the three analyses, each twice, and print what they found and how long they took."""
    conn = module.connect(path)
    conn.create_function('kind', 3, kind)
    conn.create_aggregate('quantile', 2, Quantile)
    total = 0.0
    for question in (kinds, slowest, busiest):
        times = []
        for _ in range(2):
            start = time.perf_counter()
            answer = question(conn)
            times.append(time.perf_counter() - start)
        total += sum(times)
        print('%-8s %s' % (question.__name__, answer))
        print('         %.2f s, again %.2f s' % tuple(times))
    conn.close()
    print('in all   %.2f s with %s' % (total, module.__name__), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rows', type=int, default=3000000, help='how many requests')
    parser.add_argument('--module', choices=['sqpyte', 'sqlite3'], help='DB-API module')
    parser.add_argument('--database', help='where the log is kept')
    options = parser.parse_args()
    path = options.database or os.path.join(ROOT, 'build', 'data', 'log-%d.db' % options.rows)
    if options.module:
        module = importlib.import_module(options.module)
        make(module, path, options.rows)
        analyse(module, path)
        return 0
    # Two SQLite libraries in one process must not open the same file.
    for name in ('sqpyte', 'sqlite3'):
        code = subprocess.call([sys.executable, __file__, '--rows', str(options.rows),
                                '--module', name, '--database', path])
        if code:
            return code
    return 0


if __name__ == '__main__':
    sys.exit(main())
