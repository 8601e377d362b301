"""A program around queries that call Python's functions (generate/calling.py), and all that it could see.

That is each call of a function with its arguments, and what comes of the rows: all at once, one by one with
something done between or after each, given up, or of two cursors in turn. SETTINGS says what else the program does.
"""
import contextlib
import os
import tempfile

from tests.mechanisms import without
from tests.outcome import outcome

STATEMENTS = [
    'DELETE FROM u WHERE rowid = 5', 'UPDATE t SET b = b + 1 WHERE a = 3', 'INSERT INTO w VALUES(99, 3)',
    'DELETE FROM w', 'DELETE FROM t WHERE a > 15', 'UPDATE u SET x = x + 1 WHERE x > 40',
    'INSERT INTO other.p VALUES(3, 4)', 'DELETE FROM e WHERE a < 5', "UPDATE l SET b = 'short' WHERE a = 2",
    'SAVEPOINT q', 'ROLLBACK TO q', 'ROLLBACK', 'BEGIN', 'COMMIT', 'DETACH other', 'CREATE TABLE IF NOT EXISTS z(a)',
    'DROP TABLE IF EXISTS z', 'DROP INDEX ux', 'CREATE INDEX IF NOT EXISTS tb ON t(b)',
    'ALTER TABLE u ADD COLUMN more', 'REINDEX', 'VACUUM', 'ANALYZE', 'PRAGMA user_version = 7',
    'PRAGMA case_sensitive_like = 1', 'SELECT f(a) FROM t LIMIT 3', 'SELECT s(a) FROM t',
    'SELECT count(*) FROM u WHERE g(x) > 3', "UPDATE k SET b = 'kx' WHERE c = 1", 'DROP INDEX kd', 'nothing']
# What else a program does: see `Session.do`.
DEEDS = ['commit', 'rollback', 'interrupt', 'functions', 'collation', 'text_factory', 'row_factory', 'trace',
         'authorizer', 'progress', 'backup', 'dump', 'limit', 'blob', 'another', 'writer', 'reader', 'checkpoint']
# What has statements planned anew amid their rows, beside the hooks of DEEDS.
PLANNING = ['new_function', 'trace', 'authorizer', 'progress', 'text_factory', 'row_factory']
ODD = [float('nan'), float('inf'), -0.0, 2 ** 63 - 1, -2 ** 63, True, 'a\0b', '', b'', bytearray(b'ab'),
       memoryview(b'cd'), '\U0001f40d', 1.0, 2 ** 53 + 1.0, b'\xff']
RAISED = [2 ** 63, '\ud800', object(), (1,), 2 ** 70]
# What ?1 and ?2 are.
PARAMETERS = [(1, 'x'), (2, None), (7.5, b'y'), (0, '12'), (float('nan'), ''), (2 ** 40, -1)]
# What a program does beside its queries: the plainest, and what is drawn from.
SETTINGS = {
    'late': [0, 0, 0, 0, 0, 3, 20, 70],                 # the call that raises an error
    'encoding': ['UTF-8'] * 20 + ['UTF-16le', 'UTF-16be'],
    'times': [1, 1, 1, 1, 6],                           # how many rows there are
    'texts': [''] * 45 + ['bytes', 'noting', 'refusing', 'bytearray'],      # the text factory
    'rows': ['', '', '', 'noting', 'Row'],              # the row factory
    'deed': ['nothing'] + STATEMENTS + DEEDS,           # what a function does, ...
    'deed_at': [1, 2, 9],                               # ... in its call of this number
    'parameters': range(len(PARAMETERS)),
    'authorizer': [False] * 9 + [True],
    'collations': [False, True],                        # whether the calls of a collation are noted
    'column_names': [False] * 9 + [True],               # types in the names of columns
    'same_thread': [True, True, True, False],           # only one thread may use the connections
    'page_size': [4096, 4096, 512],
    'cache_size': [-2000, -2000, 3],
    'journal': ['memory', 'memory', 'memory', 'wal', 'delete', 'shared'],
    'isolation_level': [None, None, '', 'IMMEDIATE'],
    'fetching': ['all', 'all', 'all twice', 'between', 'between', 'after each', 'given up', 'in turn'],
    # When the inliner takes a loop over, if not as the way says: its rows from C, the shortest loop, the rows that pay.
    'planner': [None] * 4 + [(1, 1, 1), (3, 2, 20), (10, 5, 100), (40, 20, 300)],
    'rows_before': range(12),                           # how many rows are fetched before ...
    'between': ['nothing'] + STATEMENTS + DEEDS + ['close'],                # ... this is done, or after each, ...
    'then': ['nothing'] * 3 + PLANNING,                 # ... and this a row later
}


class Session:
    """One run of a case.

    Args: module, sqlite3 or sqpyte; case, a dict with `queries` (list of str) and a choice of each of SETTINGS;
    directory, for files (str).
    """

    def __init__(self, module, case, directory):
        self.module = module
        self.case = case
        self.queries = case['queries']
        self.calls = []
        self.late = 0           # the number of the call that raises an error
        self.depth = 0
        self.connections = []
        self.other = None       # a second connection to the same database
        in_memory = case['journal'] == 'memory'
        path = os.path.join(directory, 'queries.db')
        self.path = 'file:%s?mode=memory&cache=shared' % path if case['journal'] == 'shared' else path
        self.connection = self._connect(':memory:' if in_memory else self.path)
        self._create()
        self._fill(case['times'])
        if not in_memory:
            self.other = self._connect(self.path)
        self._set(module)
        self.calls.clear()
        self.late = case['late']

    def _connect(self, path):
        """A connection."""
        types = self.module.PARSE_COLNAMES if self.case['column_names'] else 0
        self.connections.append(self.module.connect(
            path, uri=True, timeout=0, detect_types=types, check_same_thread=self.case['same_thread'],
            isolation_level=self.case['isolation_level']))
        return self.connections[-1]

    def run(self):
        """Run the queries; returns what was seen (str: in a text 1 and 1.0, 0.0 and -0.0 differ)."""
        found = []
        # Here what writes outside of a transaction is over when it is executed.
        returning = any('RETURNING' in query for query in self.queries)
        for query in self.queries:
            if returning or self.case['fetching'].startswith('all'):
                found.append(self._all(query))
                if self.case['fetching'] == 'all twice':
                    self.do(self.case['between'])
                    found.append(self._all(query))
            else:
                found += self._one_by_one(query)
        found.append(outcome(lambda: (self.connection.total_changes, self.connection.in_transaction)))
        return repr((found, self.calls))

    def close(self):
        """Close all connections."""
        for connection in self.connections:
            connection.close()

    def _all(self, query):
        return outcome(lambda: list(map(plain, self.execute(query).fetchall())))

    def _one_by_one(self, query):
        """What comes of the rows of a query that are fetched as the case says (list)."""
        fetching, rows = self.case['fetching'], self.case['rows_before']
        if self.case['between'] == 'interrupt':
            rows = max(rows, 1)     # a query of one row has ended when it is executed, perhaps
        in_turn = fetching == 'in turn'
        cursors = [outcome(self.execute, text) for text in (query, self.queries[0])[:1 + in_turn]]
        found = [cursor for cursor in cursors if isinstance(cursor, str)]
        if found:
            return found + [outcome(cursor.close) for cursor in cursors if not isinstance(cursor, str)]
        for number in range(rows if fetching in ('between', 'given up') else 20):
            for cursor in cursors:
                found += [outcome(lambda: plain(cursor.fetchone())), len(self.calls)]
            if fetching == 'after each' or in_turn and number == rows:
                self.do(self.case['between'])
        if fetching == 'between':
            self.do(self.case['between'])
            if self.case['then'] != 'nothing':
                found.append(outcome(lambda: plain(cursors[0].fetchone())))
                self.do(self.case['then'])
            found.append(outcome(lambda: list(map(plain, cursors[0].fetchall()))))
        return found + [outcome(cursor.close) for cursor in cursors]    # else they end when garbage is collected

    def note(self, *call):
        """Note a call; fail where the case says."""
        self.calls.append(call)
        if len(self.calls) == self.late:
            raise KeyError('late')

    def execute(self, query):
        """The cursor of a query, with as many parameters as it has."""
        parameters = PARAMETERS[self.case['parameters']]
        return self.connection.execute(query, parameters if '?2' in query else parameters[:1] if '?1' in query else ())

    def _fill(self, times):
        """Make the tables: each kind that there is, with so many times the rows."""
        connection, case = self.connection, self.case
        for pragma in ('encoding = "%s"' % case['encoding'], 'page_size = %d' % case['page_size'],
                       'cache_size = %d' % case['cache_size']):
            connection.execute('PRAGMA ' + pragma)
        if case['journal'] in ('wal', 'delete'):
            connection.execute('PRAGMA journal_mode = ' + case['journal']).fetchall()
        connection.execute("ATTACH ':memory:' AS other")
        for table in ('t(a INTEGER PRIMARY KEY, b, c)', 'u(x, y, z)', 'w(k PRIMARY KEY, v) WITHOUT ROWID',
                      'other.p(a, b COLLATE nocase)', 'e(a, b)', 'l(a INTEGER, b TEXT, c BLOB DEFAULT 1)',
                      'k(a COLLATE back, b TEXT COLLATE nocase, c AS (d(b)), s AS (d(a)) STORED)'):
            connection.execute('CREATE %sTABLE %s' % ('TEMP ' if table[0] == 'e' else '', table))
        connection.execute('CREATE INDEX tc ON t(c)')
        connection.execute('CREATE INDEX ux ON u(x)')
        connection.execute('CREATE INDEX ka ON k(a)')
        connection.execute('CREATE INDEX kd ON k(d(b), b) WHERE d(a) < 2')
        connection.execute('CREATE TEMP TRIGGER et AFTER INSERT ON e WHEN d(new.a) = 1 BEGIN '
                           'UPDATE w SET v = f(new.b) WHERE k = new.a; END')
        connection.execute('CREATE VIEW v AS SELECT t.a, u.z AS c FROM t JOIN u ON u.x = t.a')
        insert = connection.executemany
        insert('INSERT INTO t VALUES(?, ?, ?)', [
            (i, i * 7 % 13 if i % 8 != 5 else str(i), 'name %d' % (i % 5)) for i in range(24 * times)])
        insert('INSERT INTO u VALUES(?, ?, ?)', [
            (i * 11 % 70, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
             'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(60 * times)])
        insert('INSERT OR IGNORE INTO w VALUES(?, ?)', [
            (i % 19 if i % 5 else 'k%d' % i, i * 3 % 31 if i % 4 else 'v') for i in range(19)])
        insert('INSERT INTO other.p VALUES(?, ?)', [(i % 7, 'pP'[i % 2] + str(i % 3)) for i in range(15 * times)])
        insert('INSERT INTO e VALUES(?, ?)', [(i * 11 % 70, i) for i in range(12 * times)])
        insert('INSERT INTO k(a, b) VALUES(?, ?)', [
            ('kK'[i % 2] + str(i % 3) if i % 4 else i % 3, 'Kk'[i // 2 % 2] + str(i % 5)) for i in range(12)])
        insert('INSERT INTO l VALUES(?, ?, ?)', [
            (i, 'l\xf6ng %d ' % i * (400 if i % 4 == 0 else 2), b'\0' * (3000 if i % 5 == 0 else i))
            for i in range(30)])
        connection.commit()

    def _create(self):
        """Define Python's functions."""
        connection, note = self.connection, self.note

        def following(value, *others):
            note('g', value, *others)
            return value + 1 if isinstance(value, (int, float)) and abs(value) < 2 ** 62 else value

        class Listing:
            def __init__(self):
                note('new')
                self.found = []

            def step(self, *given):
                note('step', *given)
                self.found.append(given)

            def finalize(self):
                note('finalize', len(self.found))
                return repr(self.found[-3:])

        class Window:
            def __init__(self):
                self.found = []

            def step(self, value):
                note('step', value)
                self.found.append(value)

            def inverse(self, value):
                note('inverse', value)
                self.found.pop(0)

            def value(self):
                note('value')
                return len(self.found)

            finalize = value
        connection.create_function('f', -1, lambda *given: note('f', *given) or given[0])
        connection.create_function('g', -1, following)
        connection.create_function('h', -1, lambda *given: note('h', *given) or (
            None if given[0] is None else str(given[0])))
        connection.create_function('d', -1, lambda *given: note('d', *given) or len(str(given[0])) % 3,
                                   deterministic=True)
        connection.create_function('o', -1, lambda *given: note('o', *given) or ODD[len(str(given)) % len(ODD)])
        connection.create_function('r', -1, lambda *given: note('r', *given) or (
            RAISED[len(str(given)) % len(RAISED)] if len(str(given)) % 7 == 0 else given[0]))
        connection.create_function('n', -1, self._nested)
        connection.create_aggregate('s', -1, Listing)
        connection.create_window_function('win', 1, Window)
        connection.create_collation('back', self._back)

    def _back(self, a, b):
        """A collation. It never fails: what CPython's sqlite3 makes of that depends on what it calls next."""
        if self.case['collations']:
            self.calls.append(('back', a, b))
        return (a < b) - (a > b)

    def _nested(self, *given):
        """A function that executes something on its connection."""
        self.note('n', *given)
        if sum(call[0] == 'n' for call in self.calls) != self.case['deed_at'] or self.depth:
            return given[0]
        self.depth += 1
        try:
            self.do(self.case['deed'])
        finally:
            self.depth -= 1
        return given[0]

    def do(self, deed):
        """Do what STATEMENTS and DEEDS have, and note what comes of it."""
        done = getattr(self, '_do_' + deed, None)
        if deed in ('commit', 'rollback', 'interrupt', 'close'):
            done = getattr(self.connection, deed)
        self.calls.append((deed, outcome(done or (lambda: list(map(plain, self.connection.execute(deed).fetchall()))))))

    def _do_functions(self):
        self.connection.create_function('f', -1, lambda *given: self.note('another f', *given))

    def _do_new_function(self):
        self.connection.create_function('f%d' % len(self.calls), 0, self.note)

    def _do_collation(self):
        self.connection.create_collation('back', lambda a, b: (a > b) - (a < b))

    def _do_text_factory(self):
        self.connection.text_factory = bytes

    def _do_row_factory(self):
        self.connection.row_factory = lambda cursor, row: list(row)

    def _do_trace(self):
        self.connection.set_trace_callback(lambda text: self.note('trace', text))

    def _do_authorizer(self):
        self.connection.set_authorizer(lambda *asked: 0)

    def _do_progress(self):
        self.connection.set_progress_handler(lambda: 0, 1000)

    def _do_backup(self):
        asked = []

        def progress(*_):
            asked.append(1)
            if len(asked) > 2:
                raise BlockingIOError('locked')     # sqlite3 waits for ever
        self.connection.backup(self._connect(':memory:'), progress=progress, sleep=.001)

    def _do_dump(self):
        return list(self.connection.iterdump())[:5]

    def _do_limit(self):
        return self.connection.setlimit(0, 5000)        # SQLITE_LIMIT_LENGTH

    def _do_blob(self):
        with self.connection.blobopen('l', 'c', 5) as blob:
            blob.write(b'more')

    def _do_writer(self):
        return self._other('UPDATE u SET x = x + 1 WHERE y > 100'), self._other('INSERT INTO t VALUES(1000, 5, 6)')

    def _do_reader(self):
        return self._other('SELECT sum(b) FROM t')

    def _do_checkpoint(self):
        return self._other('PRAGMA wal_checkpoint(TRUNCATE)')

    def _other(self, statement):
        if self.depth and self.case['journal'] == 'shared':
            return 'the cache is locked'        # by the statement whose function this is in: SQLite waits for ever
        return self.other and outcome(lambda: self.other.execute(statement).fetchall())

    def _do_another(self):
        """The same queries, by a cursor of its own."""
        found = []
        for query in self.queries:
            cursor = self.execute(query)
            found += [outcome(lambda: list(map(plain, cursor.fetchmany(5)))), outcome(cursor.close)]
        return found

    def _set(self, module):
        """Set factories and hooks."""
        connection, case = self.connection, self.case

        def noting_text(text):
            return 'text', text

        def refusing_text(text):
            if len(text) % 11 == 6:
                raise LookupError(repr(text))
            return text

        def noting_row(cursor, row):
            self.note('row', row)
            return list(row)

        def authorize(*asked):
            return module.SQLITE_IGNORE if asked[:3] == (module.SQLITE_READ, 't', 'c') else module.SQLITE_OK
        if case['texts']:
            connection.text_factory = {'bytes': bytes, 'bytearray': bytearray, 'noting': noting_text,
                                       'refusing': refusing_text}[case['texts']]
        if case['rows']:
            connection.row_factory = module.Row if case['rows'] == 'Row' else noting_row
        if case['authorizer']:
            connection.set_authorizer(authorize)
        if case['column_names']:
            module.register_converter('noted', lambda value: ('converted', value))


def run(module, case, directory):
    """What is seen of a case (str), run in a folder of its own in a directory (str). Args: as Session."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=directory))
        if case['collations'] and hasattr(module, 'configure'):     # sqpyte sorts by collations as sqlite3 does
            stack.enter_context(without(module, [*module.status()['without'], 'collation-ranks']))
        session = Session(module, case, folder)
        try:
            return session.run().replace(folder, '')
        finally:
            session.close()


def plain(row):
    """A row in a form that is the same for the same row: Row has none."""
    return ('Row', row.keys(), tuple(row)) if hasattr(row, 'keys') else row


