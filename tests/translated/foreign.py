"""Code of the program's that SQLite calls in the middle of an opcode, and that runs SQL: scenarios of test_hooks.py.

A virtual table's xRowid, a function that it has in place of SQLite's own, an aggregate's xFinalize where nobody has
asked the result, the destructor of a text.
"""
from tests.differential.sessions.capi import ffi, text_bytes
from tests.translated.sample import attempt

ffi.cdef("""
typedef struct { const void *module; int references; char *message; } sqpyte_vtab;
typedef struct { sqpyte_vtab *table; int64_t at; } sqpyte_vtab_cursor;
typedef struct {
    int version;
    int (*create)(sqlite3 *, void *, int, const char *const *, sqpyte_vtab **, char **);
    int (*connect)(sqlite3 *, void *, int, const char *const *, sqpyte_vtab **, char **);
    int (*best_index)(sqpyte_vtab *, void *);
    int (*disconnect)(sqpyte_vtab *);
    int (*destroy)(sqpyte_vtab *);
    int (*open)(sqpyte_vtab *, sqpyte_vtab_cursor **);
    int (*close)(sqpyte_vtab_cursor *);
    int (*filter)(sqpyte_vtab_cursor *, int, const char *, int, sqlite3_value **);
    int (*next)(sqpyte_vtab_cursor *);
    int (*eof)(sqpyte_vtab_cursor *);
    int (*column)(sqpyte_vtab_cursor *, sqlite3_context *, int);
    int (*rowid)(sqpyte_vtab_cursor *, int64_t *);
    void *update, *begin, *sync, *commit, *rollback;
    int (*find_function)(sqpyte_vtab *, int, const char *,
        void (**)(sqlite3_context *, int, sqlite3_value **), void **);
    void *rename, *savepoint, *release, *rollback_to, *shadow_name, *integrity;
} sqpyte_vtab_module;
int sqlite3_create_module(sqlite3 *, const char *, const sqpyte_vtab_module *, void *);
int sqlite3_declare_vtab(sqlite3 *, const char *);
int64_t sqlite3_value_int64(sqlite3_value *);
void sqlite3_result_int64(sqlite3_context *, int64_t);
int sqlite3_create_window_function(sqlite3 *, const char *, int, int, void *,
    void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *),
    void (*)(sqlite3_context *), void (*)(sqlite3_context *, int, sqlite3_value **), void *);
""")

CALL = "void(sqlite3_context *, int, sqlite3_value **)"
RESULT = "void(sqlite3_context *)"
MOST = 40           # calls that run SQL


def virtual_table(s, rows, rowid, function=None):
    """Register the module v, a table of so many rows x.

    Args: s, a Scenario; rowid, called with each rowid that is asked for; function, what LIKE calls where its first
        argument is the table's, or None.
    """
    module = ffi.new("sqpyte_vtab_module *")
    s.kept.append(module)

    def set_callback(name, implementation):
        setattr(module, name, s.callback(ffi.typeof(getattr(module, name)), implementation))

    def connect(db, _, count, words, out, message):
        table = ffi.new("sqpyte_vtab *")
        s.kept.append(table)
        out[0] = table
        return s.c.sqlite3_declare_vtab(db, b"CREATE TABLE x(x)")

    def opened(_, out):
        cursor = ffi.new("sqpyte_vtab_cursor *")
        s.kept.append(cursor)
        out[0] = cursor
        return 0

    def first(cursor, *_):
        cursor.at = 0
        return 0

    def following(cursor):
        cursor.at += 1
        return 0

    def column(cursor, context, _):
        s.c.sqlite3_result_int64(context, cursor.at)
        return 0

    def row(cursor, out):
        out[0] = cursor.at
        rowid(cursor.at)
        return 0

    def find(table, count, name, out, _):
        if ffi.string(name) != b"like" or function is None:
            return 0
        out[0] = function
        return 1

    for name, implementation in (
            ("connect", connect), ("best_index", lambda *_: 0), ("disconnect", lambda _: 0), ("open", opened),
            ("close", lambda _: 0), ("filter", first), ("next", following), ("eof", lambda cursor: cursor.at >= rows),
            ("column", column), ("rowid", row), ("find_function", find)):
        set_callback(name, implementation)
    s.connection.check(s.c.sqlite3_create_module(s.db, b"v", module, ffi.NULL))


def writer(s, after):
    """Return a function that changes a row of t at each of MOST of its calls, after so many of them."""
    calls = [0]

    def write():
        calls[0] += 1
        if after < calls[0] <= after + MOST:
            n = calls[0] - after
            for sql in ("UPDATE t SET d = 'new %d ' || d WHERE a = %d", "DELETE FROM t WHERE a = %d * 61 %% (%d + 900)",
                        "INSERT OR REPLACE INTO t VALUES (%d + 5000, %d, 2.5, 'inserted')"):
                s.seen.append(attempt(s.connection, sql % (n, n)))
    return write


QUERIES = ["SELECT count(*), sum(t.a + v.rowid), max(t.d), min(t.b) FROM v CROSS JOIN t",
           "SELECT t.d, v.rowid, t.d FROM v CROSS JOIN t WHERE t.b >= -30",
           "SELECT sum(length(t.d) + v.rowid), max(t.d || v.rowid || t.d) FROM v CROSS JOIN t"]


def rowid_runs_sql(s):
    """xRowid writes the table whose rows the query reads."""
    write = [lambda: None]
    virtual_table(s, 3, lambda _: write[0]())
    for sql in QUERIES:
        write[0] = lambda: None
        s.run(sql)
        for after in (3, 1500):
            write[0] = writer(s, after)
            s.run(sql)
            s.run("SELECT count(*), sum(a), max(d) FROM t")


def overloaded_function_runs_sql(s):
    """A virtual table's LIKE writes, and isn't called less often for being SQLite's elsewhere."""
    write = [lambda: None]
    calls = [0]

    def like(context, _, values):
        calls[0] += 1
        write[0]()
        s.c.sqlite3_result_int64(context, calls[0] % 3)
    virtual_table(s, 4, lambda _: None, s.callback(CALL, like))
    for sql in ("SELECT t.d, v.x LIKE 'x', t.d, t.a FROM v CROSS JOIN t WHERE t.b > 20",
                "SELECT v.x, (SELECT count(*) FROM t WHERE v.x LIKE 'x' AND t.a < 100) FROM v",
                "SELECT sum(v.x LIKE 'x' AND t.a), max(t.d) FROM v CROSS JOIN t"):
        calls[0] = 0
        write[0] = writer(s, 5)
        s.run(sql)
        s.seen.append(calls[0])
        s.run("SELECT count(*), sum(a), max(d) FROM t")


def unfinished_accumulators_run_sql(s):
    """xFinalize of an aggregate whose result nobody asks, as the window ends before its last row."""
    sums = {}
    calls = [0]
    write = [lambda: None]

    def key(context):
        return int(ffi.cast("intptr_t", s.c.sqlite3_aggregate_context(context, 8)))

    def step(context, _, values):
        k = key(context)
        sums[k] = sums.get(k, 0) + s.c.sqlite3_value_int64(values[0])

    def inverse(context, _, values):
        sums[key(context)] -= s.c.sqlite3_value_int64(values[0])

    def value(context):
        s.c.sqlite3_result_int64(context, sums.get(key(context), 0))

    def final(context):
        s.c.sqlite3_result_int64(context, sums.pop(key(context), 0))
        calls[0] += 1
        if calls[0] % 50 == 0:
            s.seen.append(attempt(s.connection, "SELECT sum(b), max(d) FROM t WHERE a < 300"))
        write[0]()
    s.connection.check(s.c.sqlite3_create_window_function(
        s.db, b"total_of", 1, 1, ffi.NULL, s.callback(CALL, step), s.callback(RESULT, final), s.callback(RESULT, value),
        s.callback(CALL, inverse), ffi.NULL))
    s.connection.execute("CREATE TABLE u(x, y)")
    s.connection.execute("INSERT INTO u SELECT a % 7, a FROM t WHERE a < 9")
    for after in (10 ** 9, 200):
        write[0] = writer(s, after)
        calls[0] = 0
        s.run("SELECT sum(a), max(d), sum((SELECT total_of(x) OVER (ORDER BY x) FROM u WHERE u.y <= t.b + 30 LIMIT 1)) "
              "FROM t WHERE a < 1000")
        s.run("SELECT d, (SELECT total_of(x) OVER (ORDER BY y) FROM u WHERE u.y >= t.b % 5 LIMIT 1), a FROM t "
              "WHERE a < 400")
        s.seen.append(calls[0])


def destructors_run_sql(s):
    """The destructor of a function's result reads the table."""
    texts = {}
    calls = [0]

    def freed(address):
        del texts[int(ffi.cast("intptr_t", address))]
        calls[0] += 1
        if calls[0] % 100 == 0:
            s.seen.append(attempt(s.connection, "SELECT sum(b), max(d) FROM t WHERE a < 300"))
    freed = s.callback("void(void *)", freed)

    def made(context, _, values):
        n = s.c.sqlite3_value_int64(values[0])
        text = ffi.new("char[]", text_bytes("made of %d, and so long that it is kept" % n))
        texts[int(ffi.cast("intptr_t", text))] = text
        s.c.sqlite3_result_text(context, text, len(text) - 1, int(ffi.cast("intptr_t", freed)))
    s.connection.check(s.c.sqlite3_create_function_v2(
        s.db, b"made", 1, 1, ffi.NULL, s.callback(CALL, made), ffi.NULL, ffi.NULL, ffi.NULL))
    for sql in ("SELECT max(made(a)), count(*) FROM t", "SELECT made(a), made(b) || d FROM t WHERE b > 20",
                "SELECT CASE WHEN b > 5 THEN made(b) ELSE a END, d FROM t",
                "SELECT count(*) FROM t WHERE made(a) < made(b)", "SELECT made(b), count(*) FROM t GROUP BY made(b)"):
        s.run(sql)
    assert calls[0] > 1000 and not texts


SCENARIOS = [rowid_runs_sql, overloaded_function_runs_sql, unfinished_accumulators_run_sql, destructors_run_sql]
