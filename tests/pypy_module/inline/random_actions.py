"""Runs random queries (random_queries.py) on random tables, and records all that a program could see.

`action(seed)` runs two queries on a Side (inlining.py). It records every call of Python's functions with its arguments,
and what comes of the rows: all at once, one by one with a write between, given up, or of two cursors in turn. What the
program sets varies: the encoding, how many rows there are, factories of texts and rows, an authorizer.
"""
from tests.pypy_module.inline.inlining import outcome
from tests.pypy_module.inline.random_queries import Choices, Queries

STATEMENTS = [
    'DELETE FROM u WHERE rowid = 5', 'UPDATE t SET b = b + 1 WHERE a = 3', 'INSERT INTO w VALUES(99, 3)',
    'DELETE FROM w', 'DELETE FROM t WHERE a > 15', 'UPDATE u SET x = x + 1 WHERE x > 40',
    'INSERT INTO other.p VALUES(3, 4)', 'DELETE FROM e WHERE a < 5', "UPDATE l SET b = 'short' WHERE a = 2",
    'SAVEPOINT q', 'ROLLBACK TO q', 'ROLLBACK', 'BEGIN', 'COMMIT', 'DETACH other', 'CREATE TABLE IF NOT EXISTS z(a)',
    'DROP TABLE IF EXISTS z', 'DROP INDEX ux', 'CREATE INDEX IF NOT EXISTS tb ON t(b)',
    'ALTER TABLE u ADD COLUMN more', 'REINDEX', 'VACUUM', 'ANALYZE', 'PRAGMA user_version = 7',
    'PRAGMA case_sensitive_like = 1', 'SELECT f(a) FROM t LIMIT 3', 'SELECT s(a) FROM t',
    'SELECT count(*) FROM u WHERE g(x) > 3', 'nothing']
# What else a program does: see `Sharing.do`.
DEEDS = ['commit', 'rollback', 'interrupt', 'functions', 'collation', 'text_factory', 'row_factory', 'trace',
         'authorizer', 'progress', 'backup', 'dump', 'limit', 'blob', 'another', 'writer', 'reader', 'checkpoint']
ODD = [float('nan'), float('inf'), -0.0, 2 ** 63 - 1, -2 ** 63, True, 'a\0b', '', b'', bytearray(b'ab'),
       memoryview(b'cd'), '\U0001f40d', 1.0, 2 ** 53 + 1.0, b'\xff']
RAISED = [2 ** 63, '\ud800', object(), (1,), 2 ** 70]
PARAMETERS = [(1, 'x'), (2, None), (7.5, b'y'), (0, '12'), (float('nan'), ''), (2 ** 40, -1)]


class Setting(Choices):
    """What the program does beside its queries, by a seed (int)."""

    def __init__(self, seed):
        super().__init__(seed)
        self.late = self.among(0, 0, 0, 0, 0, 20, 70)      # the call that raises an error
        self.encoding = self.among('UTF-16le', 'UTF-16be') if self.rarely(.05) else 'UTF-8'
        self.times = self.among(1, 1, 1, 1, 6)          # how many rows there are
        self.texts = self.among('bytes', 'noting', 'refusing', 'bytearray') if self.rarely(.08) else ''
        self.rows = self.among('', '', '', 'noting', 'Row')
        # 'close' isn't among them: C goes on to the end of its step, inlined code doesn't.
        self.deed = self.among(*STATEMENTS) if self.rarely(.6) else self.among(*DEEDS)
        self.deed_at = self.among(1, 2, 9)
        self.parameters = self.among(*PARAMETERS)
        self.authorizer = self.rarely(.1)
        self.column_names = self.rarely(.05)
        self.page_size = self.among(4096, 4096, 512)
        self.cache_size = self.among(-2000, -2000, 3)
        self.journal = self.among('memory', 'memory', 'memory', 'wal', 'delete', 'shared')
        self.isolation_level = self.among(None, None, '', 'IMMEDIATE')


class Sharing:
    """The tables, and the functions and their calls, of a connection.

    Args:
        side: a Side.
        setting: a Setting.
        queries: texts (list of str).
    """

    def __init__(self, side, setting, queries):
        self.side = side
        self.setting = setting
        self.queries = queries
        self.calls = []
        self.depth = 0
        keywords = {'isolation_level': setting.isolation_level}
        if setting.column_names:
            keywords['detect_types'] = side.module.PARSE_COLNAMES
        shared = 'file:%s?mode=memory&cache=shared' % side.name
        self.path = shared if setting.journal == 'shared' else side.path
        self.other = None       # a second connection to the same database
        if setting.journal == 'memory':
            self.connection = side.connect(**keywords)
        else:
            self.connection = side.connect(self.path, uri=True, timeout=0, **keywords)
        self._fill(setting.times)
        self._create()
        self._set(side.module)

    def note(self, *call):
        """Note a call; fail where the setting says."""
        self.calls.append(call)
        if len(self.calls) == self.setting.late:
            raise KeyError('late')

    def execute(self, query):
        """The cursor of a query, with as many parameters as it has."""
        parameters = self.setting.parameters
        return self.connection.execute(query, parameters if '?2' in query else parameters[:1] if '?1' in query else ())

    def _fill(self, times):
        connection, setting = self.connection, self.setting
        for pragma in ('encoding = "%s"' % setting.encoding, 'page_size = %d' % setting.page_size,
                       'cache_size = %d' % setting.cache_size):
            connection.execute('PRAGMA ' + pragma)
        if setting.journal in ('wal', 'delete'):
            connection.execute('PRAGMA journal_mode = ' + setting.journal).fetchall()
        connection.execute("ATTACH ':memory:' AS other")
        for table in ('t(a INTEGER PRIMARY KEY, b, c)', 'u(x, y, z)', 'w(k PRIMARY KEY, v) WITHOUT ROWID',
                      'other.p(a, b COLLATE nocase)', 'e(a, b)', 'l(a INTEGER, b TEXT, c BLOB DEFAULT 1)'):
            connection.execute('CREATE %sTABLE %s' % ('TEMP ' if table[0] == 'e' else '', table))
        connection.execute('CREATE INDEX ux ON u(x)')
        connection.execute('CREATE VIEW v AS SELECT t.a, u.z AS c FROM t JOIN u ON u.x = t.a')
        insert = connection.executemany
        insert('INSERT INTO t VALUES(?, ?, ?)', [(i, i * 7 % 13, 'name %d' % (i % 5)) for i in range(24 * times)])
        insert('INSERT INTO u VALUES(?, ?, ?)', [
            (i * 11 % 70, (i * 37 % 300) if i % 9 else (i / 4.0 if i % 2 else None),
             'text %d' % i if i % 7 else b'\x01%d' % i) for i in range(60 * times)])
        insert('INSERT OR IGNORE INTO w VALUES(?, ?)', [
            (i % 19 if i % 5 else 'k%d' % i, i * 3 % 31 if i % 4 else 'v') for i in range(19)])
        insert('INSERT INTO other.p VALUES(?, ?)', [(i % 7, 'pP'[i % 2] + str(i % 3)) for i in range(15 * times)])
        insert('INSERT INTO e VALUES(?, ?)', [(i * 11 % 70, i) for i in range(12 * times)])
        insert('INSERT INTO l VALUES(?, ?, ?)', [
            (i, 'l\xf6ng %d ' % i * (400 if i % 4 == 0 else 2), b'\0' * (3000 if i % 5 == 0 else i))
            for i in range(30)])
        connection.commit()
        if setting.journal != 'memory':
            self.other = self.side.connect(self.path, uri=True, timeout=0)

    def _create(self):
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
        connection.create_collation('back', lambda a, b: (a < b) - (a > b))

    def _nested(self, *given):
        """A function that executes something on its connection."""
        self.note('n', *given)
        if sum(call[0] == 'n' for call in self.calls) != self.setting.deed_at or self.depth:
            return given[0]
        self.depth += 1
        try:
            self.do(self.setting.deed)
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
        self.connection.create_aggregate('s', -1, None)

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
        self.connection.backup(self.side.connect(), progress=progress, sleep=.001)

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
        if self.depth and self.setting.journal == 'shared':
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
        connection, setting = self.connection, self.setting

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
        if setting.texts:
            connection.text_factory = {'bytes': bytes, 'bytearray': bytearray, 'noting': noting_text,
                                       'refusing': refusing_text}[setting.texts]
        if setting.rows:
            connection.row_factory = module.Row if setting.rows == 'Row' else noting_row
        if setting.authorizer:
            connection.set_authorizer(authorize)
        if setting.column_names:
            module.register_converter('noted', lambda value: ('converted', value))


def plain(row):
    """A row in a form that is the same for the same row: Row has none."""
    return ('Row', row.keys(), tuple(row)) if hasattr(row, 'keys') else row


def action(seed, odd=.05):
    """Two queries of a seed (int) and a way to run them: (their texts, a function of a Side). odd: see Queries."""
    made, setting = Queries(seed), Setting(seed)
    made.odd = odd
    queries = [made.query(), made.query()]
    if setting.column_names:
        queries = [query.replace(' FROM', ' AS "q [noted]" FROM', 1) for query in queries]
    way = made.among('all', 'all', 'all twice', 'write', 'write', 'given up', 'in turn')
    rows, deed = made.random.randrange(12), made.among(*STATEMENTS) if made.rarely(.7) else made.among('close', *DEEDS)
    if deed == 'interrupt':
        rows = max(rows, 1)     # C has ended a query of one row before that row is fetched, inlined code hasn't

    def run(side):
        sharing = Sharing(side, setting, queries)
        connection, calls = sharing.connection, sharing.calls
        found = []
        for query in queries:
            if way.startswith('all'):
                found.append(outcome(lambda: list(map(plain, sharing.execute(query).fetchall()))))
                if way == 'all twice':
                    sharing.do(deed)
                    found.append(outcome(lambda: list(map(plain, sharing.execute(query).fetchall()))))
                continue
            cursors = [outcome(sharing.execute, text) for text in (query, queries[0])[:2 if way == 'in turn' else 1]]
            if any(isinstance(cursor, str) for cursor in cursors):
                found += [cursor for cursor in cursors if isinstance(cursor, str)]
                continue
            for number in range(20 if way == 'in turn' else rows):
                for cursor in cursors:
                    found += [outcome(lambda: plain(cursor.fetchone())), len(calls)]
                if way == 'in turn' and number == rows:
                    sharing.do(deed)
            if way == 'write':
                sharing.do(deed)
                found.append(outcome(lambda: list(map(plain, cursors[0].fetchall()))))
            found += [outcome(cursor.close) for cursor in cursors]      # else they end when garbage is collected
        found.append(outcome(lambda: (connection.total_changes, connection.in_transaction)))
        return repr((found, calls))     # as text, in which 1 and 1.0, 0.0 and -0.0 differ
    return queries, run
