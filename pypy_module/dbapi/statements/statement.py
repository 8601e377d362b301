"""A prepared statement with the buffers through which a fused call binds, steps and fetches.

Statements belong to their session, which keeps them for their SQL; a cursor acquires one while it
runs (`busy`). A statement knows its cursor's ResultSet only weakly, so one whose cursor was dropped can be
told, reset and used again.
"""

from pypy_module.dbapi import errors
from pypy_module.dbapi.columns import Columns
from pypy_module.dbapi import versions
from pypy_module.dbapi.mixin import Any
from pypy_module.dbapi.statements import binding, decoding, variety
from pypy_module.dbapi.statements.dropped import REFERENCE_COUNTS
from pypy_module.ffi.library import NULL, NUMBERS, ffi, lib

DML = ('insert', 'update', 'delete', 'replace')
QUERY = ('select', 'values', 'with', 'explain')
BEGINNING = ('begin', 'savepoi')      # as `beginning` has them
COMMITTING = ('commit', 'end', 'release')       # a savepoint that is the outermost

CELLS, VARIETY = NUMBERS['SQPYTE_ROW_CELLS'], NUMBERS['SQPYTE_ROW_VARIETY']
REPREPARES = NUMBERS['SQPYTE_ROW_REPREPARES']
ONE_ROW = NUMBERS['SQPYTE_ONE_ROW']
FACTS = NUMBERS['SQPYTE_FACT_COUNT']
# Room behind the cells of a statement that returns one row, for its texts and blobs.
TAIL = 64
LONGEST_TAIL = 8192
LIMIT_SQL_LENGTH = NUMBERS['SQLITE_LIMIT_SQL_LENGTH']
GROW = NUMBERS['SQPYTE_GROW']


def skip(sql, start=0):
    """Return where in `sql` (str) the first token from `start` on is, behind blanks and comments (int)."""
    end = len(sql)
    while start < end:
        if sql[start] in ' \t\f\r\n':
            start += 1
        elif sql.startswith('--', start):
            start = sql.find('\n', start) + 1 or end
        elif sql.startswith('/*', start):
            start = sql.find('*/', start + 2) + 2
            if start == 1:
                return end
        else:
            break
    return start


def beginning(sql):
    """Return the letters by which a statement (str) is known: seven, in lower case, from the first token on (str)."""
    start = skip(sql)
    return sql[start:start + 7].lower()


def explains(sql):
    """Whether a statement (str) is an EXPLAIN."""
    return beginning(sql) == 'explain'


def refuse_null_character(data):
    """Raise what SQL (bytes) with a null character, where SQLite's ends, is refused with."""
    if b'\0' in data:
        refusal = errors.ProgrammingError if versions.NULL_CHARACTER else ValueError
        raise refusal('the query contains a null character')


def prepare(db, sql):
    """Compile one statement.

    Args:
        db: the `sqlite3 *`.
        sql: its text (str).
    Returns:
        the `sqlite3_stmt *`; NULL if the text is empty.
    Raises:
        Error: SQLite rejects it, it is too long, or there is more than one statement.
    """
    data = sql.encode()
    if len(data) > lib.sqlite3_limit(db, LIMIT_SQL_LENGTH, -1):
        raise errors.DataError('query string is too large')
    refuse_null_character(data)
    source = ffi.new('char[]', data)
    result = ffi.new('sqlite3_stmt *[1]')
    tail = ffi.new('const char *[1]')
    if lib.sqlite3_prepare_v2(db, source, len(data) + 1, result, tail):
        raise errors.from_database(db)
    rest = data[tail[0] - source:].decode()
    if skip(rest) < len(rest):
        lib.sqlite3_finalize(result[0])
        raise (errors.ProgrammingError if versions.SEVERAL_STATEMENTS else errors.Warning)(
            'You can only execute one statement at a time.')
    return result[0]


def facts_of(pointer):
    """Return what C knows of a `sqlite3_stmt *`, which may be NULL: `int64_t[]`, see sqpyte_facts in fused.h."""
    facts = ffi.new('int64_t[]', FACTS)
    lib.sqpyte_facts(pointer, facts)
    return facts


class Statement:
    """A prepared statement.

    Attributes:
        pointer: the `sqlite3_stmt *`; NULL for an empty SQL text or when finalised.
        sql: its text (str).
        busy: a cursor or an execution uses it (bool).
        owner: weak reference to the ResultSet that is in the middle of its rows, `nobody` if that is garbage, or None.
        cache: weak reference to the StatementCache that has it; where objects count references.
        era, token: when its owner was last seen (int), and a weak reference to what goes with it: see dropped.py.
        cached: the session keeps it for its SQL; else it is finalised after use (bool).
        short: the row buffer had no room for the texts of the only row (bool).
        used: it has been acquired again since the cache last looked for what to drop (bool).
        is_dml: it starts with INSERT, UPDATE, DELETE or REPLACE (bool).
        readonly: it can't write to the database (bool).
        one_row: ONE_ROW if it can't return a second row, with AS_COMPILED where that matters, else 0: flags of
            `sqpyte_execute`.
        parameters: how many it has (int); `names`, `nameless`: see binding.py.
        description: the Columns, or None if it has none.
        types: per column what its converter is looked up by (list), or None as long as nobody has asked; then there is
            `codec`, too: see `converters_codec`.
        converters: per column its converter or None (list), as they were when it was run last; None if no column has
            one.
        queries: it is a query, which can't do anything to other statements (bool).
        commits, begins: it commits, or begins a transaction, and dropped cursors aren't freed at once: see locks.py
            (bool).
        inlinable, tier_up, inlined: see tiers.py.
    """

    __reduce_ex__ = errors.not_copied('Statement')

    def __new__(cls, *args, **keywords):
        raise TypeError("cannot create '%s.%s' instances" % (cls.__module__, cls.__name__))

    @classmethod
    def of(cls, db, sql, without_type):
        """Prepare `sql` (str) for `db` (`sqlite3 *`), and return its Statement; `without_type`: see `column_names`."""
        statement = object.__new__(cls)
        statement._prepare(db, sql, without_type)
        return statement

    def _prepare(self, db, sql, without_type):
        """See `of`."""
        self.pointer = prepare(db, sql)
        self.sql = sql
        self.busy = False
        self.owner: Any = None
        self.token: Any = None
        self.cache: Any = None
        self.era = 0
        self.cached = False
        self.used = False
        self.short = False
        self.inlinable = False
        self.tier_up = -1
        self.inlined: Any = None
        self.without_type = without_type
        keyword = beginning(sql)
        if versions.COMMENTS_BEFORE_DML:
            self.is_dml = keyword.startswith(DML)
        else:
            self.is_dml = sql.lstrip(' \t\r\n')[:7].lower().startswith(DML)
        facts = facts_of(self.pointer)
        self.parameters = facts[0]
        self.readonly = bool(facts[2]) or not self.pointer
        self.queries = self.readonly and keyword.startswith(QUERY)
        self.commits = not REFERENCE_COUNTS and keyword.startswith(COMMITTING)
        self.begins = not REFERENCE_COUNTS and keyword.startswith(BEGINNING)
        self.names: Any = None
        self.nameless = True
        if facts[4]:
            self.names = binding.parameter_names(self.pointer, self.parameters)
            # Whether values by position go without a warning.
            self.nameless = not versions.USES_WARNED_OF or all(
                [name is None or name.startswith('?') for name in self.names])
        self.pack = binding.packer(self.parameters)
        self.arena = binding.Arena()
        self.cells_in = ffi.new('int64_t[]', 2 * self.parameters + 2)    # and the kinds of rows (variety.py)
        self.cells_in[2 * self.parameters + 1] = self.varieties = variety.before()
        self.doubles_in = ffi.cast('double *', self.cells_in)
        self.reprepares = 0
        self.describe(facts)
        self.allot(CELLS + 2 * facts[1] + (TAIL if facts[3] else 0))

    def allot(self, words):
        """Make the row buffer `words` (int) long."""
        self.cells = ffi.new('int64_t[]', words)
        self.cells[0] = words
        self.cells[VARIETY] = self.varieties
        self.doubles = ffi.cast('double *', self.cells)
        self.texts = ffi.cast('char **', self.cells)

    def describe(self, facts):
        """Take over the number and the names of the columns, and whether there may be a second row, as they are now;
        `facts`: see `facts_of`."""
        self.one_row = ONE_ROW if facts[3] else 0
        self.columns = columns = facts[1]
        self.decode = decoding.decoder(columns)
        self.types: Any = None
        self.codec: Any = None
        self.converters: Any = None
        self.description = None
        if columns:
            self.description = Columns(decoding.column_names(self.pointer, self.without_type))

    def recompiled(self):
        """Adapt to the new columns after SQLite has compiled the statement again."""
        self.reprepares = self.cells[REPREPARES]
        self.describe(facts_of(self.pointer))

    def grown(self, rc):
        """Return what a step has returned, `rc`. If its row didn't fit, the row buffer is enlarged, and the row stored
        again."""
        if rc != GROW:
            return rc
        self.allot(CELLS + 2 * lib.sqlite3_column_count(self.pointer))
        return lib.sqpyte_row(self.pointer, self.cells)

    def lengthen(self):
        """Enlarge the row buffer for the next row, for more text than fitted there."""
        self.short = False
        words = self.cells[0]
        if words < LONGEST_TAIL:
            self.allot(2 * words)

    def step(self):
        """Step in C; return SQLite's code, with a row in the buffer."""
        return self.grown(lib.sqpyte_step(self.pointer, self.cells))

    def forget(self):
        """Have the inliner forget what it has found out: functions or hooks are others now."""
        if self.inlined is not None:
            self.inlined.forget()

    def rewind(self):
        """End the statement's run; it stays busy. An aggregate's `finalize` may run, and execute what takes it out of
        the cache."""
        try:
            try:
                self.disown()
            finally:
                if self.inlined is not None:
                    self.inlined.detach()
        finally:    # an interrupt, no memory, or the end of the stack
            if self.pointer:
                lib.sqlite3_reset(self.pointer)

    def reset(self):
        """End the statement's run; it can be acquired again."""
        try:
            self.rewind()
        finally:
            self.busy = False

    def disown(self):
        """The rows have ended, for whichever cursor was in the middle of them."""
        owner, self.owner = self.owner, None
        if owner is not None:
            result = owner()
            if result is not None and result.sentinel is not None:
                result.sentinel.give_back(result)

    def abandon(self, token):
        """Called with the dead `token`: the cursor is gone."""
        if self.token is token and self.owner is not None:
            cache = self.cache()
            if cache is None:
                self.reset()
            else:
                cache.give_up(self)

    def finalize(self):
        """Free the statement in C; it can't be used any more."""
        if self.inlined is not None:
            self.inlined.detach()
        pointer, self.pointer = self.pointer, NULL
        self.disown()
        if pointer:
            lib.sqlite3_finalize(pointer)
