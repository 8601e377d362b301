"""A small driver over SQLite's C API, by cffi, for any library that exports it.

One `Library` a shared object: stock, the engine, the translated VM.  Values come back as they
are stored, with exact types, bytes and bits: `None`, `int`, `float`, `bytes` for blobs and
`str` for texts, in which bytes that aren't UTF-8 are surrogate escapes (PEP 383).
"""
import cffi

ffi = cffi.FFI()
ffi.cdef("""
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
const char *sqlite3_libversion(void);
int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int sqlite3_close(sqlite3 *);
int sqlite3_extended_errcode(sqlite3 *);
const char *sqlite3_errmsg(sqlite3 *);
int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int sqlite3_finalize(sqlite3_stmt *);
int sqlite3_reset(sqlite3_stmt *);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_bind_parameter_count(sqlite3_stmt *);
int sqlite3_bind_null(sqlite3_stmt *, int);
int sqlite3_bind_int64(sqlite3_stmt *, int, int64_t);
int sqlite3_bind_double(sqlite3_stmt *, int, double);
int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, intptr_t);
int sqlite3_bind_blob(sqlite3_stmt *, int, const char *, int, intptr_t);
int sqlite3_column_count(sqlite3_stmt *);
int sqlite3_column_type(sqlite3_stmt *, int);
int sqlite3_column_int(sqlite3_stmt *, int);
int64_t sqlite3_column_int64(sqlite3_stmt *, int);
double sqlite3_column_double(sqlite3_stmt *, int);
const char *sqlite3_column_text(sqlite3_stmt *, int);
const char *sqlite3_column_blob(sqlite3_stmt *, int);
int sqlite3_column_bytes(sqlite3_stmt *, int);
int64_t sqlite3_changes64(sqlite3 *);
int64_t sqlite3_total_changes64(sqlite3 *);
int64_t sqlite3_last_insert_rowid(sqlite3 *);
int sqlite3_get_autocommit(sqlite3 *);
int sqlite3_stmt_status(sqlite3_stmt *, int, int);
int sqlite3_db_status(sqlite3 *, int, int *, int *, int);
typedef struct sqlite3_blob sqlite3_blob;
int sqlite3_blob_open(sqlite3 *, const char *, const char *, const char *, int64_t, int, sqlite3_blob **);
int sqlite3_blob_reopen(sqlite3_blob *, int64_t);
int sqlite3_blob_bytes(sqlite3_blob *);
int sqlite3_blob_read(sqlite3_blob *, void *, int, int);
int sqlite3_blob_close(sqlite3_blob *);
void sqlite3_interrupt(sqlite3 *);
unsigned char *sqlite3_serialize(sqlite3 *, const char *, int64_t *, unsigned int);
int sqlite3_deserialize(sqlite3 *, const char *, unsigned char *, int64_t, int64_t, unsigned);
void *sqlite3_malloc64(uint64_t);
void sqlite3_free(void *);
char *sqlite3_mprintf(const char *, ...);
int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *,
    void (*)(sqlite3_context *, int, sqlite3_value **),
    void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *), void *);
int sqlite3_create_collation(sqlite3 *, const char *, int, void *,
    int (*)(void *, int, const void *, int, const void *));
const char *sqlite3_value_text(sqlite3_value *);
int sqlite3_value_bytes(sqlite3_value *);
int sqlite3_value_type(sqlite3_value *);
int sqlite3_value_numeric_type(sqlite3_value *);
int sqlite3_value_frombind(sqlite3_value *);
int sqlite3_value_nochange(sqlite3_value *);
unsigned sqlite3_value_subtype(sqlite3_value *);
sqlite3_value *sqlite3_column_value(sqlite3_stmt *, int);
void *sqlite3_aggregate_context(sqlite3_context *, int);
int sqlite3_aggregate_count(sqlite3_context *);
sqlite3 *sqlite3_context_db_handle(sqlite3_context *);
void sqlite3_result_value(sqlite3_context *, sqlite3_value *);
void sqlite3_result_text(sqlite3_context *, const char *, int, intptr_t);
void sqlite3_result_error(sqlite3_context *, const char *, int);
void sqlite3_result_error_nomem(sqlite3_context *);
void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
int sqlite3_set_authorizer(sqlite3 *, int (*)(void *, int, const char *, const char *,
    const char *, const char *), void *);
int sqlite3_trace_v2(sqlite3 *, unsigned, int (*)(unsigned, void *, void *, void *), void *);
void *sqlite3_update_hook(sqlite3 *, void (*)(void *, int, const char *, const char *, int64_t),
    void *);
void *sqlite3_commit_hook(sqlite3 *, int (*)(void *), void *);
void *sqlite3_rollback_hook(sqlite3 *, void (*)(void *), void *);
void *sqlite3_wal_hook(sqlite3 *, int (*)(void *, sqlite3 *, const char *, int), void *);
int sqlite3_busy_handler(sqlite3 *, int (*)(void *, int), void *);
const char *sqlite3_sql(sqlite3_stmt *);
int sqlite3_limit(sqlite3 *, int, int);
int sqlite3_test_control(int, ...);
int sqpyte_set_mode(int mode, int threshold);
int sqpyte_set_memory(long long limit);
long long sqpyte_memory(int what);
int sqpyte_tier(sqlite3_stmt *);
int sqpyte_why(sqlite3_stmt *);
long long sqpyte_entries(sqlite3_stmt *);
""")

OK, NOMEM, ROW, DONE = 0, 7, 100, 101
OPEN_READWRITE, OPEN_CREATE, OPEN_URI = 2, 4, 0x40
INTEGER, REAL, TEXT, BLOB = 1, 2, 3, 4
TRANSIENT = -1
UTF8, SUBTYPE = 1, 0x100000
FREE_ON_CLOSE, RESIZEABLE = 1, 2
PRNG_SEED = 28


class Error(Exception):
    """An error of SQLite: `code` is the extended result code, `message` its text."""

    def __init__(self, code, message):
        Exception.__init__(self, code, message)
        self.code = code
        self.message = message


def text_bytes(text):
    """The bytes of a text (str with surrogate escapes)."""
    return text.encode("utf-8", "surrogateescape")


def _text(address, size):
    return ffi.buffer(address, size)[:].decode("utf-8", "surrogateescape") if size else ""


class Library:
    """A shared library with SQLite's C API.

    Args: path, the shared object's path (str).
    """

    def __init__(self, path):
        self.path = path
        self.c = ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL)

    def version(self):
        """SQLite's version (str)."""
        return ffi.string(self.c.sqlite3_libversion()).decode()

    def seed(self):
        """Start SQLite's random numbers anew, always the same: rowids may be random."""
        self.c.sqlite3_test_control(PRNG_SEED, ffi.cast("int", 1), ffi.NULL)

    def has_tiers(self):
        """Whether it is a library of ours, with a choice of tiers."""
        return hasattr(self.c, "sqpyte_set_mode")

    def set_mode(self, mode, threshold):
        """Choose the tiers (see c_engine/core/engine.h); only in libraries of ours."""
        assert self.c.sqpyte_set_mode(mode, threshold) == OK

    def set_memory(self, limit):
        """Choose how many bytes the VM may hold; only in libraries of ours."""
        assert self.c.sqpyte_set_memory(limit) == OK

    def memory(self, what):
        """One of SQPYTE_MEMORY_* of c_engine/core/engine.h; only in libraries of ours."""
        return self.c.sqpyte_memory(what)


class Connection:
    """A connection; `name` is a file name or URI (str)."""

    def __init__(self, library, name=":memory:"):
        self.c = library.c
        self.functions = []
        pointer = ffi.new("sqlite3 **")
        code = self.c.sqlite3_open_v2(
            name.encode(), pointer, OPEN_READWRITE | OPEN_CREATE | OPEN_URI, ffi.NULL)
        self.db = pointer[0]
        try:
            self.check(code)
        except Error:
            self.c.sqlite3_close(self.db)
            raise

    def check(self, code):
        """Raises Error for any result code but OK."""
        if code != OK:
            message = ffi.string(self.c.sqlite3_errmsg(self.db))
            raise Error(self.c.sqlite3_extended_errcode(self.db),
                        message.decode("utf-8", "surrogateescape"))

    def close(self):
        """Close; every statement must be finalised."""
        if self.db:
            self.check(self.c.sqlite3_close(self.db))
            self.db = ffi.NULL

    def serialize(self):
        """The database as it would be on disk (bytes)."""
        size = ffi.new("int64_t *")
        address = self.c.sqlite3_serialize(self.db, b"main", size, 0)
        if not address:
            return b""
        try:
            return ffi.buffer(address, size[0])[:]
        finally:
            self.c.sqlite3_free(address)

    def deserialize(self, image):
        """Make the main database the one in image (bytes), in memory."""
        size = len(image)
        address = self.c.sqlite3_malloc64(size + 1)
        ffi.memmove(address, image, size)
        self.check(self.c.sqlite3_deserialize(
            self.db, b"main", ffi.cast("unsigned char *", address), size, size,
            FREE_ON_CLOSE | RESIZEABLE))

    def prepare(self, sql):
        """The Statement of one SQL text (str). Raises Error."""
        return Statement(self, sql)

    def execute(self, sql, parameters=()):
        """Run one statement to its end: its rows, a list of tuples. Raises Error."""
        statement = Statement(self, sql)
        try:
            statement.bind(parameters)
            rows = []
            while True:
                row = statement.step()
                if row is None:
                    return rows
                rows.append(row)
        finally:
            statement.finalize()

    def create_function(self, name, function):
        """Register a scalar function of one argument: function(text or None) returns a text,
        or None to return the argument itself; Error becomes an SQL error."""
        @ffi.callback("void(sqlite3_context *, int, sqlite3_value **)")
        def call(context, count, values):
            address = self.c.sqlite3_value_text(values[0])
            argument = None
            if address:
                argument = _text(address, self.c.sqlite3_value_bytes(values[0]))
            try:
                result = function(argument)
            except Error as error:
                message = text_bytes(error.message)
                self.c.sqlite3_result_error(context, message, len(message))
                return
            if result is None:
                self.c.sqlite3_result_value(context, values[0])
            else:
                data = text_bytes(result)
                self.c.sqlite3_result_text(context, data, len(data), TRANSIENT)
        self.functions.append(call)
        self.check(self.c.sqlite3_create_function_v2(
            self.db, name.encode(), 1, 1, ffi.NULL, call, ffi.NULL, ffi.NULL, ffi.NULL))

    def create_probes(self):
        """Register `probe(...)`, which tells what SQLite shows of its arguments beside their values,
        `numeric(x)`, the type of x once it is looked at as a number, `steps(x)`, an aggregate that
        tells how many steps it has been told of, `interrupt(x)`, which interrupts and gives x, and
        the collation `interrupting`, which interrupts and compares as BINARY does."""
        c = self.c

        def answer(context, words):
            data = text_bytes(words)
            c.sqlite3_result_text(context, data, len(data), TRANSIENT)

        @ffi.callback("void(sqlite3_context *, int, sqlite3_value **)")
        def probe(context, count, values):
            answer(context, " ".join(self.marks(values[i]) for i in range(count)))

        @ffi.callback("void(sqlite3_context *, int, sqlite3_value **)")
        def numeric(context, count, values):
            kind = c.sqlite3_value_numeric_type(values[0])
            answer(context, "%d %d" % (kind, c.sqlite3_value_type(values[0])))

        @ffi.callback("void(sqlite3_context *, int, sqlite3_value **)")
        def step(context, count, values):
            c.sqlite3_aggregate_context(context, 8)

        @ffi.callback("void(sqlite3_context *)")
        def final(context):
            answer(context, "%d steps" % c.sqlite3_aggregate_count(context))

        @ffi.callback("void(sqlite3_context *, int, sqlite3_value **)")
        def interrupt(context, count, values):
            c.sqlite3_interrupt(self.db)
            c.sqlite3_result_value(context, values[0])

        @ffi.callback("int(void *, int, const void *, int, const void *)")
        def compare(_, left_size, left, right_size, right):
            c.sqlite3_interrupt(self.db)
            first, second = ffi.buffer(left, left_size)[:], ffi.buffer(right, right_size)[:]
            return (first > second) - (first < second)

        null = ffi.NULL
        self.functions += [probe, numeric, step, final, interrupt, compare]
        self.check(c.sqlite3_create_collation(self.db, b"interrupting", UTF8, null, compare))
        for name, count, call in ((b"probe", -1, probe), (b"numeric", 1, numeric),
                                  (b"interrupt", 1, interrupt)):
            self.check(c.sqlite3_create_function_v2(
                self.db, name, count, UTF8 | SUBTYPE, null, call, null, null, null))
        self.check(c.sqlite3_create_function_v2(
            self.db, b"steps", 1, UTF8, null, null, step, final, null))

    def interrupt_writes(self):
        """Interrupt whenever a row is written."""
        @ffi.callback("void(void *, int, const char *, const char *, int64_t)")
        def written(*_):
            self.c.sqlite3_interrupt(self.db)
        self.functions.append(written)
        self.c.sqlite3_update_hook(self.db, written, ffi.NULL)

    def marks(self, value):
        """What SQLite shows of a sqlite3_value beside what it is: whether it was bound, whether an
        UPDATE leaves it as it is, its subtype (str)."""
        return "bound %d nochange %d subtype %d" % (
            self.c.sqlite3_value_frombind(value), self.c.sqlite3_value_nochange(value),
            self.c.sqlite3_value_subtype(value))


class Statement:
    """A prepared statement of a connection; NULL if the text holds none.

    Attributes: statement, the handle; tail, the SQL text behind the statement (bytes); row, the
    row it is at (tuple), or None.
    """

    def __init__(self, connection, sql):
        self.connection = connection
        self.c = connection.c
        pointer = ffi.new("sqlite3_stmt **")
        end = ffi.new("const char **")
        data = text_bytes(sql)
        start = ffi.new("char[]", data)
        connection.check(self.c.sqlite3_prepare_v2(
            connection.db, start, len(data), pointer, end))
        self.statement = pointer[0]
        self.tail = data[end[0] - ffi.cast("const char *", start):]
        self.row = None

    def bind(self, parameters):
        """Bind the first of parameters to the parameters the statement has."""
        for i in range(self.c.sqlite3_bind_parameter_count(self.statement)):
            value = parameters[i] if i < len(parameters) else None
            self.connection.check(self._bind(i + 1, value))

    def _bind(self, i, value):
        c, statement = self.c, self.statement
        if value is None:
            return c.sqlite3_bind_null(statement, i)
        if isinstance(value, int):
            return c.sqlite3_bind_int64(statement, i, value)
        if isinstance(value, float):
            return c.sqlite3_bind_double(statement, i, value)
        if isinstance(value, str):
            data = text_bytes(value)
            return c.sqlite3_bind_text(statement, i, data, len(data), TRANSIENT)
        return c.sqlite3_bind_blob(statement, i, value, len(value), TRANSIENT)

    def step(self):
        """The next row (tuple), or None at the end; also left in `row`. Raises Error, also
        if there is no memory for a text of the row."""
        self.row = None
        if self.advance():
            self.row = tuple(self._column(i) for i in range(self.column_count()))
        return self.row

    def advance(self):
        """Go to the next row and leave its values in C: whether there is one. Raises Error."""
        code = self.c.sqlite3_step(self.statement)
        if code not in (ROW, DONE):
            self.connection.check(code)
        return code == ROW

    def marks(self):
        """Connection.marks of the present row's columns (list of str)."""
        return [self.connection.marks(self.c.sqlite3_column_value(self.statement, i))
                for i in range(self.column_count())]

    def column_count(self):
        """How many columns a row has (int)."""
        return self.c.sqlite3_column_count(self.statement)

    def _column(self, i):
        c, statement = self.c, self.statement
        kind = c.sqlite3_column_type(statement, i)
        if kind == INTEGER:
            return c.sqlite3_column_int64(statement, i)
        if kind == REAL:
            return c.sqlite3_column_double(statement, i)
        if kind == TEXT:
            address = c.sqlite3_column_text(statement, i)
            if not address:
                raise Error(NOMEM, "no memory for a text")
            return _text(address, c.sqlite3_column_bytes(statement, i))
        if kind == BLOB:
            address = c.sqlite3_column_blob(statement, i)
            size = c.sqlite3_column_bytes(statement, i)
            return ffi.buffer(address, size)[:] if size else b""
        return None

    def reset(self):
        """Reset; the statement may be stepped again from its start."""
        self.c.sqlite3_reset(self.statement)

    def finalize(self):
        """Free the statement."""
        if self.statement:
            self.c.sqlite3_finalize(self.statement)
            self.statement = ffi.NULL

    def tier(self):
        """Where the last run was left: 0 the C tier, 1 the VM; only in libraries of ours."""
        return self.c.sqpyte_tier(self.statement)

    def entries(self):
        """How often it has entered the VM; only in libraries of ours."""
        return self.c.sqpyte_entries(self.statement)

    def why(self):
        """One of SQPYTE_WHY_* of c_engine/core/engine.h; only in libraries of ours."""
        return self.c.sqpyte_why(self.statement)
