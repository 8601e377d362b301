"""`python -m sqpyte --self-test`: a few statements in each tier, with answers that are known.

It says what is installed and which tiers ran: an installed copy has no other tests.
"""

import contextlib
import os
import platform
import sys
import tempfile

import sqpyte
from pypy_module import version

ROWS = 20000
# Query: its rows. t has the numbers from 0 on, their halves, and their texts.
QUERIES = {
    'SELECT count(*), sum(a), total(b), max(c) FROM t WHERE a % 3 <> 0': [(13333, 133326667, 66663333.5, '9998')],
    'SELECT a % 5, count(*), avg(b) FROM t GROUP BY 1 ORDER BY 1': [(i, 4000, 4998.75 + i / 2) for i in range(5)],
    'SELECT x.a FROM t AS x JOIN t AS y ON y.a = x.a + 19990 ORDER BY x.b DESC LIMIT 2': [(9,), (8,)],
    'SELECT sum(twice(a)), longest(c) FROM t': [(399980000, '10000')],
    "SELECT group_concat(c, '') FROM (SELECT c FROM t ORDER BY c LIMIT 4)": [('0110100',)],
}


class Longest:
    """An aggregate: the first of the longest texts."""

    def __init__(self):
        self.found = ''

    def step(self, text):
        if len(text) > len(self.found):
            self.found = text

    def finalize(self):
        return self.found


def opened(path):
    """Return a connection to a database, with functions written in Python."""
    connection = sqpyte.connect(path)
    connection.create_function('twice', 1, lambda number: 2 * number)
    connection.create_aggregate('longest', 1, Longest)
    return connection


def fill(connection):
    """Make the table."""
    connection.execute('CREATE TABLE t(a INTEGER PRIMARY KEY, b REAL, c TEXT)')
    with connection:
        connection.executemany('INSERT INTO t VALUES(?, ?, ?)', ((i, i / 2, str(i)) for i in range(ROWS)))


def settings():
    """Yield what `configure` is to be given, one after the other (dicts)."""
    for inline in (False, 'always') if sqpyte.configure()['inline'] else (False,):
        for mode in ('off', 'hot', 'always'):
            yield {'vm': mode, 'inline': inline}


def tried(path):
    """Run the queries on a database, by a new connection in each setting.

    Returns:
        what goes wrong (list of str), the tiers that ran (set of str), and why the VM, asked to run all of them, didn't
        run the last one (str).
    """
    wrong, tiers, reason = [], set(), ''
    for setting in settings():
        sqpyte.configure(**setting)
        with contextlib.closing(opened(path)) as connection:
            for query, expected in QUERIES.items():
                for _ in range(3):
                    found = connection.execute(query).fetchall()
                    if found != expected:
                        wrong.append('%s: %s\n    gives   %r\n    and not %r' % (setting, query, found, expected))
                plan = sqpyte.explain(connection, query)[0]
                tiers.add(plan.tier)
                if setting == {'vm': 'always', 'inline': False}:
                    reason = plan.reason.partition(';')[0]
    return wrong, tiers, reason


def failures(connection):
    """Return what goes wrong with the rest of the module (list of str)."""
    wrong = []
    total = sum(a for a, in connection.execute('SELECT a FROM t'))
    if total != 199990000:
        wrong.append('the rows of t add up to %r' % total)
    try:
        connection.execute('INSERT INTO t(a) VALUES(1)')
        wrong.append('a row that is there already is inserted')
    except sqpyte.IntegrityError:
        connection.rollback()
    if connection.execute('PRAGMA integrity_check').fetchall() != [('ok',)]:
        wrong.append('the database is damaged')
    return wrong


def main(arguments):
    """Run the command line; return the exit code."""
    if arguments:
        print('usage: python -m sqpyte --self-test', file=sys.stderr)
        return 2
    before = sqpyte.configure()
    print('%s %s, sqpyte %s in %s' % (platform.python_implementation(), platform.python_version(), version.sqpyte(),
                                      os.path.dirname(sqpyte.__file__)))
    print('SQLite %s; module: %s, because %s' % (sqpyte.sqlite_version, sqpyte.backend, sqpyte.backend.reason))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'test.db')
        try:
            with contextlib.closing(opened(path)) as connection:
                fill(connection)
                found, tiers, reason = tried(path)
                found += failures(connection)
        finally:
            sqpyte.configure(**before)
    print('tiers that ran: ' + ', '.join(sorted(tiers)))
    if 'vm' not in tiers:
        print("the VM didn't run: " + reason)
    elif before['vm'] == 'off':
        print("the VM is switched off, by SQPYTE_VM=off: programs don't run in it")
    for failure in found:
        print('FAILED: ' + failure)
    print('self-test: %s' % ('%d FAILED; please report what is printed here' % len(found) if found else 'passed'))
    return 1 if found else 0
