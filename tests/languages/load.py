"""A program that works on a ledger, or reads it, for some seconds; `sqpyte-run` gives it sqpyte for sqlite3.

usage: load.py write DATABASE SECONDS SEED ACKNOWLEDGED
       load.py read DATABASE SECONDS

The writer notes in a file the number of each transaction whose COMMIT has returned. What is always true of the ledger,
both check: an account's balance is the sum of its entries. At the end each prints what the VM held, as JSON.
"""

import json
import os
import random
import sqlite3
import sys
import time

from pypy_module.ffi.library import lib

ACCOUNTS = 200
MOST = 40000        # entries; older ones are put together into one
PAUSE_S = 0.002     # after a transaction: without it a replica falls behind, whatever library it has
SCHEMA = '''
CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER);
CREATE TABLE entry(id INTEGER PRIMARY KEY, account INTEGER, amount INTEGER, note TEXT);
CREATE INDEX entry_account ON entry(account);
CREATE TABLE done(n INTEGER PRIMARY KEY, entries INTEGER);
'''
SUMS = 'SELECT account, sum(amount), count(*) FROM entry NOT INDEXED GROUP BY account'
CODE, PROGRAMS = 2, 3       # SQPYTE_MEMORY_* of engine.h


def connect(path):
    """Return a connection (sqlite3.Connection) without transactions of Python's."""
    assert sqlite3.connect.__module__.startswith(('pypy_module', 'sqpyte')), sqlite3.connect.__module__
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute('PRAGMA synchronous = NORMAL')
    return connection


def transaction(connection, n, chance):
    """Do the work of transaction n, all but its COMMIT."""
    connection.execute('BEGIN IMMEDIATE')
    entries = chance.randrange(1, 20)
    for _ in range(entries):
        account, amount = chance.randrange(ACCOUNTS), chance.randrange(-1000, 1000)
        connection.execute('INSERT INTO entry(account, amount, note) VALUES (?, ?, ?)',
                           (account, amount, 'transaction %d ' % n + 'x' * chance.randrange(200)))
        connection.execute('UPDATE account SET balance = balance + ? WHERE id = ?', (amount, account))
    if n % 500 == 0:
        shorten(connection)
    connection.execute('INSERT INTO done VALUES (?, ?)', (n, entries))


def shorten(connection):
    """Put the older entries of each account together, if there are many."""
    if connection.execute('SELECT count(*) FROM entry').fetchone()[0] < MOST:
        return
    middle = connection.execute('SELECT max(id) FROM entry').fetchone()[0] - MOST // 2
    sums = connection.execute('SELECT account, sum(amount) FROM entry WHERE id < ? GROUP BY account',
                              (middle,)).fetchall()
    connection.execute('DELETE FROM entry WHERE id < ?', (middle,))
    connection.executemany("INSERT INTO entry(account, amount, note) VALUES (?, ?, 'before')", sums)


def check(connection):
    """Compare balances with entries; they are of one snapshot. Raises AssertionError."""
    connection.execute('BEGIN')
    sums = {account: amount for account, amount, _ in connection.execute(SUMS)}
    for account, balance in connection.execute('SELECT id, balance FROM account'):
        assert sums.get(account, 0) == balance, (account, sums.get(account, 0), balance)
    connection.execute('COMMIT')


def write(path, seconds, seed, acknowledged):
    """Write for some seconds; return the number of transactions."""
    connection = connect(path)
    connection.execute('PRAGMA journal_mode = WAL').fetchall()
    connection.executescript(SCHEMA)
    connection.executemany('INSERT INTO account VALUES (?, 0)', [(n,) for n in range(ACCOUNTS)])
    chance, n, end = random.Random(seed), 0, time.monotonic() + seconds
    with open(acknowledged, 'ab', buffering=0) as file:
        while time.monotonic() < end:
            n += 1
            transaction(connection, n, chance)
            if n % 10 == 7:
                connection.execute('ROLLBACK')
                continue
            connection.execute('COMMIT')
            file.write(b'%d\n' % n)
            time.sleep(PAUSE_S)
            if n % 200 == 0:
                check(connection)
    connection.close()
    return n


def read(path, seconds):
    """Check for some seconds, beside the writer; return how often."""
    n, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        if not os.path.exists(path):
            time.sleep(0.05)
            continue
        connection = connect(path)
        if connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'done'").fetchone()[0]:
            for _ in range(10):
                check(connection)
                n += 1
        connection.close()
    return n


if __name__ == '__main__':
    if sys.argv[1] == 'write':
        times = write(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        times = read(sys.argv[2], float(sys.argv[3]))
    print(json.dumps({'times': times, 'programs': lib.sqpyte_memory(PROGRAMS), 'code': lib.sqpyte_memory(CODE)}))
