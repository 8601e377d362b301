"""What a program's code may do to its connection where SQLite, or this module, calls it: every deed in every call.

`python -m tests.pypy_module.user_code.deeds FIRST COUNT` runs so many cases of a shuffled list of all of them, each
named before it is run. A case is a call (CALLS), a deed (DEEDS) that is done in it, and an action (ACTIONS) in which
it comes. Whatever it raises is right: what counts is that the process lives, and that the connection can be left.
"""

import gc
import itertools
import os
import random
import sys
import tempfile

import sqpyte

MOST_DEEDS = 3          # in one case: else a row factory that begins its query anew would never come to the last row
ROWS = 120
ERRORS = (sqpyte.Error, sqpyte.Warning, ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError,
          TimeoutError, TypeError, ValueError)


class Given:
    """A parameter that needs an adapter, and stands for a number."""

    def __init__(self, call):
        self.call = call

    def __conform__(self, protocol):
        self.call()
        return 1

    def __index__(self):
        self.call()
        return 1


class Parameters:
    """A sequence whose methods call."""

    def __init__(self, call):
        self.call = call

    def __len__(self):
        self.call()
        return 3

    def __getitem__(self, number):
        self.call()
        return number


class Count:
    """An aggregate and window function; `calls` are those of its methods that call."""

    def __init__(self, call, calls):
        self.call, self.calls, self.count = call, calls, 0
        self._do('init')

    def _do(self, method):
        if method in self.calls:
            self.call()

    def step(self, value):
        """See sqlite3."""
        self.count += 1
        if self.count == 3:
            self._do('step')

    def inverse(self, value):
        """See sqlite3."""
        self.count -= 1
        self._do('inverse')

    def value(self):
        """See sqlite3."""
        self._do('value')
        return self.count

    def finalize(self):
        """See sqlite3."""
        self._do('finalize')
        return self.count


class Program:
    """A program with a connection, and a call in which it does something to it.

    Args: folder, for files (str); call, one of CALLS; deed, one of DEEDS.
    """

    def __init__(self, folder, call, deed):
        self.path = os.path.join(folder, 'other.db')
        self.image = sqpyte.connect(':memory:').serialize()
        self.deed, self.left, self.within = DEEDS[deed], MOST_DEEDS, True      # until all is in place
        self.calls = call
        self.blob = None
        self.connection = connection = sqpyte.connect(
            ':memory:', detect_types=sqpyte.PARSE_DECLTYPES, isolation_level=None if len(call + deed) % 2 else '')
        connection.execute('CREATE TABLE t(a INTEGER, b noted, c TEXT)')
        connection.executemany('INSERT INTO t VALUES(?, ?, ?)', [
            (i, 'b%d' % i, 'text %d' % (i % 7) if i % 11 else b'\xff') for i in range(ROWS)])
        connection.executescript("INSERT INTO t VALUES(5, 'x', CAST(x'41ff' AS TEXT)); CREATE INDEX t_a ON t(a); "
                                 'CREATE TABLE blobs(x); INSERT INTO blobs VALUES(zeroblob(20))')
        self.cursor = connection.cursor()
        self._prepare(connection)
        connection.commit()
        self.blob = connection.blobopen('blobs', 'x', 1)
        self.within = False

    def _prepare(self, connection):
        """Have what SQLite calls in place."""
        sqpyte.register_converter('noted', lambda data: (self.do('converter'), data)[1])
        connection.create_function('f', 1, self._function(itertools.count()))
        connection.create_window_function('n', 1, lambda: Count(self.do, self.calls.split()))
        connection.create_collation('c', self._collation)
        if self.calls == 'authorizer':
            connection.set_authorizer(lambda *what: (self.do('authorizer'), sqpyte.SQLITE_OK)[1])
        elif self.calls == 'progress':
            connection.set_progress_handler(lambda: self.do('progress'), 5)
        elif self.calls == 'trace':
            connection.set_trace_callback(lambda sql: self.do('trace'))
        elif self.calls == 'text_factory':
            connection.text_factory = lambda data: (self.do('text_factory'), data)[1]
        elif self.calls == 'row_factory':
            self.cursor.row_factory = connection.row_factory = lambda cursor, row: (self.do('row_factory'), row)[1]

    def _function(self, numbers):
        late = int(self.calls.partition(' ')[2] or 0) if self.calls.startswith('function') else -1

        def function(value):
            if next(numbers) == late:
                self.do(self.calls)
            return value
        return function

    def _collation(self, one, other):
        self.do('collation')
        return (one > other) - (one < other)

    def do(self, call=None):
        """Do the deed, if this call (str) is to do it; None: it is."""
        if self.within or not self.left or call not in (None, self.calls):
            return
        self.left -= 1
        self.within = True
        try:
            self.deed(self)
        finally:
            self.within = False

    def given(self):
        """A Given that calls if that is the case's call."""
        return Given(lambda: self.do('parameter'))


CALLS = ['function 0', 'function 2', 'function 60', 'init', 'step', 'finalize', 'step inverse value', 'collation',
         'authorizer', 'progress', 'trace', 'converter', 'text_factory', 'row_factory', 'parameter', 'deleted']

DEEDS = {
    'close': lambda p: p.connection.close(),
    'open anew': lambda p: p.connection.__init__(':memory:'),
    'open a file': lambda p: p.connection.__init__(p.path),
    'close all': lambda p: (p.cursor.close(), p.blob and p.blob.close(), p.connection.close(), gc.collect()),
    'close the cursor': lambda p: p.cursor.close(),
    'make the cursor anew': lambda p: p.cursor.__init__(p.connection),
    'execute': lambda p: p.cursor.execute('SELECT a, b FROM t'),
    'executemany': lambda p: p.cursor.executemany('INSERT INTO t VALUES(?, ?, ?)', [(1, 2, 3)]),
    'executescript': lambda p: p.connection.executescript(
        'INSERT INTO t VALUES(1, 2, 3); CREATE TABLE IF NOT EXISTS u(x)'),
    'fetch': lambda p: p.cursor.fetchall(),
    'drop': lambda p: p.connection.execute('DROP TABLE t'),
    'alter': lambda p: p.connection.execute('ALTER TABLE t ADD COLUMN d DEFAULT 5'),
    'delete': lambda p: p.connection.execute('DELETE FROM t'),
    'vacuum': lambda p: p.connection.execute('VACUUM'),
    'commit': lambda p: p.connection.commit(),
    'roll back': lambda p: p.connection.rollback(),
    'interrupt': lambda p: p.connection.interrupt(),
    'close the blob': lambda p: p.blob and p.blob.close(),
    'remove functions': lambda p: (p.connection.create_function('f', 1, None),
                                   p.connection.create_collation('c', None)),
    'another function': lambda p: p.connection.create_function('f', 1, str),
    'other factories': lambda p: (setattr(p.connection, 'text_factory', bytes),
                                  setattr(p.cursor, 'row_factory', sqpyte.Row)),
    'deserialize': lambda p: p.connection.deserialize(p.image),
    'collect garbage': lambda p: gc.collect(),
    'raise': lambda p: {}['raised'],
}

QUERIES = [
    'SELECT f(a) FROM t', 'SELECT f(a), b FROM t ORDER BY c', 'SELECT a, b, c FROM t WHERE f(a) > 3',
    'SELECT n(a) FROM t', 'SELECT n(a) OVER (ORDER BY a ROWS 3 PRECEDING) FROM t',
    'SELECT a FROM t ORDER BY c COLLATE c', 'SELECT b, c FROM t',
    'SELECT c, n(a), f(max(a)) FROM t GROUP BY c COLLATE c', 'SELECT (SELECT f(a) FROM t LIMIT 1), a FROM t',
    'SELECT t.a, f(u.a) FROM t JOIN t AS u USING(a)', 'SELECT DISTINCT f(c) FROM t', 'SELECT max(f(a)) FROM t',
    'SELECT f(a) FROM t UNION SELECT a FROM t', 'SELECT f(a) FROM t LIMIT 3',
    "SELECT a FROM t WHERE c COLLATE c > 'text 3'"]
STATEMENTS = [
    'INSERT INTO t SELECT f(a), b, c FROM t LIMIT 5', 'UPDATE t SET a = f(a)', 'DELETE FROM t WHERE f(a) < 5',
    'REINDEX', 'INSERT INTO t VALUES(f(1), 2, 3) RETURNING f(a), b', 'CREATE INDEX t_c ON t(c COLLATE c)',
    'PRAGMA integrity_check', 'CREATE TABLE k AS SELECT f(a) AS x, c FROM t', 'ALTER TABLE t RENAME COLUMN c TO e',
    "ATTACH ':memory:' AS z", 'EXPLAIN SELECT f(a) FROM t']


def garbage(program):
    """Have rows fetched around garbage whose `__del__` calls."""
    class Deleted:
        def __del__(self):
            program.do('deleted')
    cycle: list = [Deleted()]
    cycle.append(cycle)
    del cycle
    cursor = program.cursor.execute('SELECT a, b FROM t')
    cursor.fetchone()
    gc.collect()
    cursor.fetchall()


def in_turn(program):
    """Have two cursors fetch in turn."""
    cursors = [program.connection.execute(sql) for sql in QUERIES[:2]]
    for _ in range(70):
        for cursor in cursors:
            cursor.fetchone()


def in_blob(program):
    """Read and write a blob."""
    blob = program.blob
    blob.read(program.given())
    blob.seek(program.given())
    blob[program.given():9]
    blob[program.given()] = program.given()
    blob[program.given():3] = b'xy'


def backup(program):
    """Copy the database page by page, for a while: the blob may be in the way."""
    calls = []

    def progress(*left):
        calls.append(left)
        program.do('progress')
        if len(calls) > 20:
            raise TimeoutError
    program.connection.backup(sqpyte.connect(':memory:'), pages=1, progress=progress, sleep=0)


def within(program):
    """Insert within the connection's `with`."""
    with program.connection:
        program.connection.execute('INSERT INTO t VALUES(f(1), ?, 3)', (program.given(),))


def fetched(sql, fetch):
    """The action that executes a query and fetches its rows."""
    return lambda program: fetch(program.cursor.execute(sql))


def few(cursor):
    """Fetch six rows, one by one."""
    for _ in range(6):
        cursor.fetchone()


ACTIONS = {
    'in turn': in_turn, 'garbage': garbage, 'blob': in_blob, 'within': within,
    'executemany': lambda p: p.cursor.executemany('INSERT INTO t VALUES(f(?), ?, ?)', (
        (1, 2, p.given()) for _ in range(3))),
    'executemany of sequences': lambda p: p.cursor.executemany('INSERT INTO t VALUES(?, ?, ?)', [
        Parameters(lambda: p.do('parameter'))] * 2),
    'a sequence': lambda p: p.cursor.execute('SELECT f(?), ?, ?', Parameters(lambda: p.do('parameter'))).fetchall(),
    'executescript': lambda p: p.connection.executescript(';'.join(QUERIES[:1] + STATEMENTS[:2] + QUERIES[5:6])),
    'open a blob': lambda p: p.connection.blobopen('blobs', 'x', 1).read(),
    'limits': lambda p: p.connection.setlimit(p.given(), p.connection.getlimit(p.given())),
    'fetchmany': lambda p: p.cursor.execute(QUERIES[2]).fetchmany(p.given()),
    'iterdump': lambda p: list(p.connection.iterdump()),
    'serialize': lambda p: p.connection.deserialize(p.connection.serialize()),
    'explain': lambda p: sqpyte.explain(p.connection, QUERIES[0] + ';' + QUERIES[2]),
    'backup': backup,
    **{sql: fetched(sql, lambda cursor: cursor.fetchall()) for sql in QUERIES + STATEMENTS},
    **{sql + ' (few)': fetched(sql, few) for sql in QUERIES}}


# SQLite forbids the others where it compiles a statement, and in a progress handler: they step statements.
IN_HANDLERS = ('close', 'open anew', 'open a file', 'close all', 'close the cursor', 'make the cursor anew',
               'interrupt', 'close the blob', 'remove functions', 'other factories', 'collect garbage', 'raise')


def cases():
    """All cases (list of tuples of str), shuffled."""
    found = [(call, deed, action) for call, deed, action in itertools.product(CALLS, DEEDS, ACTIONS)
             if call not in ('authorizer', 'progress') or deed in IN_HANDLERS]
    random.Random(1).shuffle(found)
    return found


def run(folder, call, deed, action):
    """Run a case, and leave the connection."""
    program = Program(folder, call, deed)
    for step in (lambda: ACTIONS[action](program), lambda: ACTIONS[action](program), lambda: program.cursor.fetchall(),
                 lambda: program.connection.execute('SELECT count(*) FROM t').fetchall(), lambda: program.blob.read(),
                 lambda: program.cursor.close(), lambda: program.connection.close()):
        try:
            step()
        except ERRORS:
            pass


def main(first, count):
    """Run so many cases from the one of the number `first` on."""
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(itertools.islice(cases(), first, first + count)):
            print(*case, sep=', ', flush=True)
            run(folder, *case)
            if number % 50 == 49:
                gc.collect()
    print('done')


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
