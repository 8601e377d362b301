"""What we call of the C library: declarations for cffi, and the numbers from sqlite3.h.

Parsing C declarations takes cffi 0.1 s on CPython and more on a cold PyPy, so it is done once: the
result is a generated Python module (cffi's out-of-line ABI mode). In a checkout it is in the build folder,
named by a checksum of everything that it depends on.
"""

import os
import sys
from binascii import crc32

from pypy_module.ffi import place

DECLARATIONS = """
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_blob sqlite3_blob;
typedef struct sqlite3_backup sqlite3_backup;
typedef struct sqlite3_mutex sqlite3_mutex;

const char *sqlite3_libversion(void);
int sqlite3_threadsafe(void);
int sqlite3_complete(const char *sql);
const char *sqlite3_errstr(int rc);
void sqlite3_free(void *p);
void *sqlite3_malloc64(uint64_t n);
int sqlite3_sleep(int ms);
int sqlite3_enable_shared_cache(int on);

int sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs);
int sqlite3_close_v2(sqlite3 *db);
int sqlite3_busy_timeout(sqlite3 *db, int ms);
int sqlite3_errcode(sqlite3 *db);
int sqlite3_extended_errcode(sqlite3 *db);
const char *sqlite3_errmsg(sqlite3 *db);
int sqlite3_set_errmsg(sqlite3 *db, int errcode, const char *message);
int sqlite3_get_autocommit(sqlite3 *db);
int sqlite3_txn_state(sqlite3 *db, const char *schema);
int sqlite3_is_interrupted(sqlite3 *db);
sqlite3_mutex *sqlite3_db_mutex(sqlite3 *db);
int sqlite3_mutex_try(sqlite3_mutex *mutex);
void sqlite3_mutex_leave(sqlite3_mutex *mutex);
int64_t sqlite3_total_changes64(sqlite3 *db);
int64_t sqlite3_changes64(sqlite3 *db);
int64_t sqlite3_last_insert_rowid(sqlite3 *db);
int sqlite3_limit(sqlite3 *db, int id, int value);
int sqlite3_db_config(sqlite3 *db, int op, ...);
const char *sqlite3_db_filename(sqlite3 *db, const char *name);
const char *sqlite3_db_name(sqlite3 *db, int number);
int sqlite3_enable_load_extension(sqlite3 *db, int onoff);
int sqlite3_load_extension(sqlite3 *db, const char *file, const char *entry, char **message);

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, sqlite3_stmt **stmt, const char **tail);
int sqlite3_step(sqlite3_stmt *stmt);
int sqlite3_reset(sqlite3_stmt *stmt);
int sqlite3_finalize(sqlite3_stmt *stmt);
const char *sqlite3_bind_parameter_name(sqlite3_stmt *stmt, int i);
const char *sqlite3_column_name(sqlite3_stmt *stmt, int i);
const char *sqlite3_column_decltype(sqlite3_stmt *stmt, int i);
const void *sqlite3_column_blob(sqlite3_stmt *stmt, int i);
const unsigned char *sqlite3_column_text(sqlite3_stmt *stmt, int i);
int64_t sqlite3_column_int64(sqlite3_stmt *stmt, int i);
double sqlite3_column_double(sqlite3_stmt *stmt, int i);
int sqlite3_column_type(sqlite3_stmt *stmt, int i);
int sqlite3_data_count(sqlite3_stmt *stmt);
int sqlite3_stmt_status(sqlite3_stmt *stmt, int op, int reset);
sqlite3 *sqlite3_db_handle(sqlite3_stmt *stmt);
int sqlite3_bind_parameter_count(sqlite3_stmt *stmt);
int sqlite3_bind_int64(sqlite3_stmt *stmt, int i, int64_t value);
int sqlite3_bind_double(sqlite3_stmt *stmt, int i, double value);
int sqlite3_bind_text(sqlite3_stmt *stmt, int i, const char *z, int n, intptr_t destructor);
int sqlite3_bind_blob(sqlite3_stmt *stmt, int i, const void *z, int n, intptr_t destructor);
int sqlite3_bind_null(sqlite3_stmt *stmt, int i);
int sqlite3_column_bytes(sqlite3_stmt *stmt, int i);
int sqlite3_column_count(sqlite3_stmt *stmt);
char *sqlite3_expanded_sql(sqlite3_stmt *stmt);
const char *sqlite3_sql(sqlite3_stmt *stmt);
sqlite3_stmt *sqlite3_next_stmt(sqlite3 *db, sqlite3_stmt *stmt);

int sqlite3_result_text(sqlite3_context *ctx, const char *z, int n, intptr_t destructor);
int sqlite3_result_blob(sqlite3_context *ctx, const char *z, int n, intptr_t destructor);
void sqlite3_result_error(sqlite3_context *ctx, const char *message, int n);
void sqlite3_result_error_nomem(sqlite3_context *ctx);
void sqlite3_result_error_toobig(sqlite3_context *ctx);
int sqlite3_create_function_v2(sqlite3 *db, const char *name, int narg, int flags, void *p,
    void *f, void *step, void *final, void *destroy);
int sqlite3_create_window_function(sqlite3 *db, const char *name, int narg, int flags, void *p,
    void *step, void *final, void *value, void *inverse, void *destroy);
int sqlite3_create_collation_v2(sqlite3 *db, const char *name, int flags, void *p,
    void *compare, void *destroy);
int sqlite3_set_authorizer(sqlite3 *db,
    int (*f)(void *, int, const char *, const char *, const char *, const char *), void *p);
void sqlite3_progress_handler(sqlite3 *db, int n, int (*f)(void *), void *p);
int sqlite3_trace_v2(sqlite3 *db, unsigned mask, int (*f)(unsigned, void *, void *, void *),
    void *p);

int sqlite3_blob_open(sqlite3 *db, const char *schema, const char *table, const char *column,
    int64_t row, int flags, sqlite3_blob **blob);
int sqlite3_blob_close(sqlite3_blob *blob);
int sqlite3_blob_bytes(sqlite3_blob *blob);
int sqlite3_blob_read(sqlite3_blob *blob, void *z, int n, int offset);
int sqlite3_blob_write(sqlite3_blob *blob, const void *z, int n, int offset);

sqlite3_backup *sqlite3_backup_init(sqlite3 *to, const char *to_name, sqlite3 *from,
    const char *from_name);
int sqlite3_backup_step(sqlite3_backup *backup, int pages);
int sqlite3_backup_finish(sqlite3_backup *backup);
int sqlite3_backup_remaining(sqlite3_backup *backup);
int sqlite3_backup_pagecount(sqlite3_backup *backup);
unsigned char *sqlite3_serialize(sqlite3 *db, const char *schema, int64_t *size, unsigned flags);
int sqlite3_deserialize(sqlite3 *db, const char *schema, void *data, int64_t size,
    int64_t capacity, unsigned flags);

typedef struct { int (*xCall)(int what); int64_t *aFrame; int nFrame; int nUsed; } SqpyteFunction;
int sqpyte_fused_version(void);
int sqpyte_execute(sqlite3_stmt *stmt, int64_t *in, const char *text, int flags, int64_t *out);
void sqpyte_free_locks_by(int (*free_locks)(void *));
void sqpyte_ask_before_waiting(sqlite3 *db, int64_t *busy);
void sqpyte_ask_no_more(sqlite3 *db, int64_t *busy);
int sqpyte_bind(sqlite3_stmt *stmt, int64_t *in, const char *text);
int sqpyte_step(sqlite3_stmt *stmt, int64_t *out);
int sqpyte_row(sqlite3_stmt *stmt, int64_t *out);
void sqpyte_facts(sqlite3_stmt *stmt, int64_t *out);
int sqpyte_create_function(sqlite3 *db, const char *name, int narg, int flags, int what,
    SqpyteFunction *f);
int sqpyte_create_collation(sqlite3 *db, const char *name, SqpyteFunction *f);
int sqpyte_max_function_args(void);
int sqpyte_why(void *stmt);
int sqpyte_configure(int mode, int64_t threshold, int64_t memory, const char *without, char *error, int size);
int sqpyte_threshold(void);
int64_t sqpyte_memory(int what);
int sqpyte_without(char *names, int size);
int sqpyte_switched_off(const char *name);
int64_t sqpyte_used(const char *name);
int sqpyte_tier(void *stmt);
int sqpyte_covers_loop(intptr_t stmt, int head);

int sqpyte_loops(intptr_t stmt);
int64_t sqpyte_rows_left(intptr_t stmt);
int sqpyte_begin(sqlite3_stmt *stmt, int64_t *out, int64_t least);
int sqpyte_batch(intptr_t cursor, intptr_t spec, intptr_t out, int next);
void sqpyte_batch_seek(intptr_t cursor, int ix, int64_t rowid);
int sqpyte_page_size(intptr_t cursor);
intptr_t sqpyte_python_function(intptr_t funcdef);
intptr_t sqpyte_python_collation(intptr_t coll);
void sqpyte_raise(intptr_t vdbe, int pc, int rc, const char *message);
int sqpyte_accumulator(intptr_t mem, intptr_t funcdef, int64_t key);

intptr_t sqpyte_log_open(intptr_t stmt);
void sqpyte_log_close(intptr_t log);
void sqpyte_log_intern(intptr_t log);
int sqpyte_log_rows(intptr_t log, intptr_t spec, intptr_t cells, intptr_t out, int most);
int sqpyte_log_fill(intptr_t log, intptr_t spec, intptr_t cells, intptr_t out, int most, int pass);
int sqpyte_log_back(intptr_t log, int deferred);
int sqpyte_log_one(intptr_t log, int pc, intptr_t cells, intptr_t values, int result);
int sqpyte_log_sink(intptr_t log, int from, int to);
int64_t sqpyte_take_accumulator(intptr_t mem);
int sqpyte_pure_function(intptr_t funcdef);
void sqpyte_interrupt(sqlite3 *db);
void sqpyte_roll_back_by(sqlite3 *db, void (*roll_back)(void *));
"""
# Declares the VM's functions. Only `generate` imports it.
FURTHER = os.path.join(place.ROOT, 'sqpyte', 'vm', 'base', 'capi.py')


# Modules that only `generate` needs are imported there: they are not what every program waits for.

def definitions(header):
    """Return names and texts of the macros in a C header's text: a list of pairs of str."""
    import re
    return re.findall(r'^#\s*define\s+(SQ(?:LITE|PYTE)_\w+)\s+(.*?)\s*(?:/\*.*)?$', header,
                      re.MULTILINE)


def extended_code(text):
    """Return base and number of an extended result code's macro text, or None."""
    import re
    match = re.match(r'\(\s*(SQLITE_\w+)\s*\|\s*\(?(\d+)\s*<<\s*8\)?\s*\)$', text)
    return match and (match.group(1), int(match.group(2)))


def numbers(header):
    """Return the integer macros of a C header's text: a dict of name (str) to value (int)."""
    import re
    found: dict = {}
    for name, text in definitions(header):
        extended = extended_code(text)
        if extended and extended[0] in found:
            found[name] = found[extended[0]] | extended[1] << 8
        elif re.match(r'(0x[0-9a-fA-F]+|-?\d+)$', text):
            found[name] = int(text, 0)
    return found


def result_codes(header):
    """Return the names (list of str) of the result codes, primary and extended, in sqlite3.h."""
    primary = header[header.index('beginning-of-error-codes'):header.index('end-of-error-codes')]
    names = ['SQLITE_OK'] + [name for name, _ in definitions(primary)]
    for name, text in definitions(header):
        extended = extended_code(text)
        if extended and extended[0] in names:
            names.append(name)
    return names


def generate(path, header_paths):
    """Write the generated module to `path`, by an atomic rename.

    Args:
        path: the file to make (str).
        header_paths: paths of sqlite3.h and of our own headers (list of str).
    """
    import contextlib
    import importlib
    import io
    import py_compile

    import cffi

    from sqpyte.vm.base import capi
    headers = []
    for header_path in header_paths:
        with open(header_path, encoding='utf-8') as file:
            headers.append(file.read())
    ffi = cffi.FFI()
    ffi.set_source(os.path.splitext(os.path.basename(path))[0], None)
    ffi.cdef(DECLARATIONS + capi.declarations())
    values = {}
    for header in headers:
        values.update(numbers(header))

    def write(partial):
        with contextlib.redirect_stdout(io.StringIO()):  # cffi tells what it writes
            ffi.emit_python_code(partial)
        with open(partial, 'a') as file:
            file.write('\nNUMBERS = %r\nRESULT_CODES = %r\n' % (values, result_codes(headers[0])))
    place.put(path, write)
    # Even where PYTHONDONTWRITEBYTECODE is set: compiling it takes longer than all else at import.
    py_compile.compile(path)
    importlib.invalidate_caches()


def load(folder, header_paths):
    """Return the generated module, making it first if it isn't there.

    Args:
        folder: where generated modules are kept (str).
        header_paths: paths of sqlite3.h and of our own headers (list of str).
    Returns:
        a module with `ffi` (cffi's compiled FFI), NUMBERS (dict) and RESULT_CODES (list of str).
    Raises:
        ImportError: a header can't be read, or the module can't be written.
    """
    # The files' sizes and times stand for their contents: reading the headers would cost 5 ms.
    key = []
    for header_path in header_paths + [__file__, FURTHER]:
        try:
            status = os.stat(header_path)
        except OSError as error:
            raise ImportError('sqpyte: %s, of which its declarations are made, can\'t be read: %s; `make` makes it'
                              % (header_path, error.strerror)) from None
        key.append('%s %d %d' % (header_path, status.st_size, status.st_mtime_ns))
    name = 'sqpyte_abi_%08x' % crc32('\n'.join(key).encode('utf-8', 'surrogateescape'))
    path = os.path.join(folder, name + '.py')
    if not os.path.exists(path):
        try:
            generate(path, header_paths)
        except OSError as error:
            raise ImportError('sqpyte: its declarations can\'t be written to %s: %s; import sqpyte once as a user '
                              'who may' % (folder, error.strerror)) from None
    sys.path.insert(0, folder)
    try:
        return __import__(name)
    finally:
        sys.path.remove(folder)


def made():
    """Return the generated module of an installed copy, which comes with it; see `load`."""
    name = 'sqpyte.declarations'
    __import__(name)
    return sys.modules[name]
