"""A process whose database file a stranger truncates in the middle of statements.

`python -m tests.file_map.truncating FOLDER ROUNDS SEED` writes a line of JSON: how many statements ended with which
error, how many gave all of their rows. What a statement gives before its error must be what it gives of the sound
file. The caller sees whether the process lives. (Where a file ends within a page, stock reads zeros for the page's end.
Such rows aren't compared.)
"""

import collections
import json
import os
import random
import shutil
import sys

import sqpyte

ROWS = 6000
PAGE = 4096
STATEMENTS = {
    'scan': 'SELECT id, k, filler FROM t',
    'sum': 'SELECT sum(length(filler)), count(*), cut(count(*)) FROM t WHERE cut(id) >= 0',
    'join': 'SELECT u.id, t.k, t.filler FROM u JOIN t ON t.id = u.ref WHERE cut(u.id) >= 0',
    'index': 'SELECT id, filler FROM t INDEXED BY tk WHERE k > 7 AND cut(k) >= 0',
    'sort': 'SELECT filler, id FROM t WHERE cut(id) >= 0 ORDER BY filler DESC, id',
    'group': 'SELECT k % 50, max(filler), count(*) FROM t WHERE cut(id) >= 0 GROUP BY 1',
    'inlined': 'SELECT cut(id), filler FROM t',
}


def make(path):
    """Make the sound database: some 2 400 pages."""
    connection = sqpyte.connect(path, isolation_level=None)
    connection.execute('CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, filler TEXT)')
    connection.execute('CREATE TABLE u(id INTEGER PRIMARY KEY, ref INTEGER)')
    connection.execute('CREATE TABLE copy(id INTEGER PRIMARY KEY, filler TEXT)')
    connection.execute('BEGIN')
    connection.executemany('INSERT INTO t VALUES(?, ?, ?)',
                           ((i, i * 7919 % ROWS, '%05d' % i + 'x' * (900 + i % 300)) for i in range(ROWS)))
    connection.executemany('INSERT INTO u VALUES(?, ?)', ((i, i * 1117 % ROWS) for i in range(ROWS)))
    connection.execute('CREATE INDEX tk ON t(k)')
    connection.execute('COMMIT')
    connection.close()


class Truncation:
    """Truncates a file when it has been asked so many times."""

    def __init__(self, path, calls, size):
        self.path = path
        self.calls = calls
        self.size = size

    def __call__(self, value):
        """The function cut() of SQL: gives its argument."""
        self.calls -= 1
        if self.calls == 0:
            os.truncate(self.path, self.size)
        return value


def rows_of(connection, sql, after, truncate):
    """Return the rows of a query, and its error or None; the file is truncated after so many rows, if any."""
    rows = []
    try:
        for row in connection.execute(sql):
            rows.append(row)
            if len(rows) == after:
                truncate()
    except sqpyte.DatabaseError as error:
        return rows, error
    return rows, None


def attempt(path, name, chance, expected):
    """Truncate the file in the middle of a statement; return how that ended (str)."""
    size = os.path.getsize(path)
    left = chance.choice([0, 1, PAGE, PAGE * 3 + 1, chance.randrange(size), chance.randrange(size // PAGE) * PAGE])
    connection = sqpyte.connect(path, isolation_level=None)
    cut = Truncation(path, chance.choice([-1, chance.randrange(1, ROWS)]), left)
    connection.create_function('cut', 1, cut)
    after = 0 if cut.calls > 0 else chance.randrange(1, 50 if name == 'group' else ROWS)
    try:
        if name == 'insert':
            cut.calls = chance.randrange(1, ROWS)
            connection.execute('INSERT INTO copy SELECT id, filler FROM t WHERE cut(id) >= 0')
            return 'done'
        if name == 'backup':
            other = sqpyte.connect(':memory:')
            connection.backup(other, pages=300, progress=lambda *_: os.truncate(path, left))
            other.close()
            return 'done'
        rows, error = rows_of(connection, STATEMENTS[name], after, lambda: os.truncate(path, left))
        if left % PAGE == 0:
            if rows != expected[name][:len(rows)] or (error is None and len(rows) != len(expected[name])):
                return 'WRONG ROWS'
        if error is not None:
            raise error
        return 'done'
    except sqpyte.DatabaseError as error:
        return str(error)
    finally:
        connection.close()


def main(folder, rounds, seed):
    """Run the rounds; print the counts."""
    chance = random.Random(seed)
    sound, path = os.path.join(folder, 'sound.db'), os.path.join(folder, 'cut.db')
    if not os.path.exists(sound):
        make(sound)
    connection = sqpyte.connect(sound)
    connection.create_function('cut', 1, lambda value: value)
    expected = {name: connection.execute(sql).fetchall() for name, sql in STATEMENTS.items()}
    connection.close()
    counts = collections.Counter()
    for _ in range(rounds):
        shutil.copyfile(sound, path)
        name = chance.choice(sorted(STATEMENTS) + ['insert', 'backup'])
        counts['%s: %s' % (name, attempt(path, name, chance, expected))] += 1
    with open('/proc/self/maps', encoding='ascii') as file:
        counts['maps left'] = sum(folder in line for line in file)
    print(json.dumps(counts))


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
