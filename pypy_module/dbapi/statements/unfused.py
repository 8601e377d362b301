"""What a fused call does, by one C call for each parameter, step and column: for SQPYTE_WITHOUT=fused-calls.

The buffers are the same (c_engine/rows/fused.h), and so is what is returned.
"""

from pypy_module.ffi.library import NUMBERS, ffi, lib

OK, ROW, DONE = NUMBERS['SQLITE_OK'], NUMBERS['SQLITE_ROW'], NUMBERS['SQLITE_DONE']
NOMEM, INTERNAL = NUMBERS['SQLITE_NOMEM'], NUMBERS['SQLITE_INTERNAL']
BEGIN, GROW, LAST = NUMBERS['SQPYTE_BEGIN'], NUMBERS['SQPYTE_GROW'], NUMBERS['SQPYTE_LAST']
FACTS, FACT_ONE_ROW = NUMBERS['SQPYTE_FACT_COUNT'], NUMBERS['SQPYTE_FACT_ONE_ROW']
ONE_ROW, AS_COMPILED = NUMBERS['SQPYTE_ONE_ROW'], NUMBERS['SQPYTE_AS_COMPILED']
REPREPARE = NUMBERS['SQLITE_STMTSTATUS_REPREPARE']
IN_TRANSACTION, ASK = NUMBERS['SQPYTE_IN_TRANSACTION'], NUMBERS['SQPYTE_ASK']
BUSY_WORDS = NUMBERS['SQPYTE_BUSY_WORDS']
CAPACITY, COLUMNS = NUMBERS['SQPYTE_ROW_CAPACITY'], NUMBERS['SQPYTE_ROW_COLUMNS']
REPREPARES, CHANGES = NUMBERS['SQPYTE_ROW_REPREPARES'], NUMBERS['SQPYTE_ROW_CHANGES']
ROWID, CELLS = NUMBERS['SQPYTE_ROW_ROWID'], NUMBERS['SQPYTE_ROW_CELLS']
INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)
STATIC = 0      # the arena outlives the step

_EMPTY = ffi.new('char[1]')


def bind(pointer, cells, texts):
    """Bind all parameters; returns 0 or SQLite's code.

    Args:
        pointer: the `sqlite3_stmt *`.
        cells: of the parameters (`int64_t *`).
        texts: what they refer to (`char *`).
    """
    doubles = ffi.cast('double *', cells)
    rc = OK
    for i in range(lib.sqlite3_bind_parameter_count(pointer)):
        tag, value = cells[2 * i], 2 * i + 1
        kind = tag & 7
        if kind == INTEGER:
            rc = lib.sqlite3_bind_int64(pointer, i + 1, cells[value])
        elif kind == FLOAT:
            rc = lib.sqlite3_bind_double(pointer, i + 1, doubles[value])
        elif kind == TEXT:
            rc = lib.sqlite3_bind_text(pointer, i + 1, texts + cells[value], tag >> 3, STATIC)
        elif kind == BLOB:
            rc = lib.sqlite3_bind_blob(pointer, i + 1, texts + cells[value], tag >> 3, STATIC)
        else:
            rc = lib.sqlite3_bind_null(pointer, i + 1)
        if rc != OK:
            break
    return rc


def row(pointer, cells):
    """Store the present row; returns ROW, GROW or NOMEM."""
    count = lib.sqlite3_data_count(pointer)
    cells[COLUMNS] = count
    cells[REPREPARES] = lib.sqlite3_stmt_status(pointer, REPREPARE, 0)
    if CELLS + 2 * count > cells[CAPACITY]:
        return GROW
    doubles = ffi.cast('double *', cells)
    for i in range(count):
        tag = CELLS + 2 * i
        kind = lib.sqlite3_column_type(pointer, i)
        cells[tag] = kind
        if kind == INTEGER:
            cells[tag + 1] = lib.sqlite3_column_int64(pointer, i)
        elif kind == FLOAT:
            doubles[tag + 1] = lib.sqlite3_column_double(pointer, i)
        elif kind != NULL:
            data = (lib.sqlite3_column_text if kind == TEXT else lib.sqlite3_column_blob)(pointer, i)
            size = lib.sqlite3_column_bytes(pointer, i)
            if not data:
                if size or kind == TEXT:
                    return NOMEM
                data = _EMPTY
            cells[tag] = kind | size << 3
            cells[tag + 1] = int(ffi.cast('intptr_t', data))
    return ROW


def step(pointer, cells):
    """As sqpyte_step."""
    rc = lib.sqlite3_step(pointer)
    if rc == ROW:
        return row(pointer, cells)
    if rc == DONE:
        db = lib.sqlite3_db_handle(pointer)
        cells[COLUMNS] = 0
        cells[REPREPARES] = lib.sqlite3_stmt_status(pointer, REPREPARE, 0)
        cells[CHANGES] = lib.sqlite3_changes64(db)
        cells[ROWID] = lib.sqlite3_last_insert_rowid(db)
        lib.sqlite3_reset(pointer)
    return rc


def still_one_row(pointer, cells):
    """Whether a statement that may have been compiled again still returns one row at most."""
    if cells[REPREPARES] == 0:
        return True
    facts = ffi.new('int64_t[]', FACTS)
    lib.sqpyte_facts(pointer, facts)
    return bool(facts[FACT_ONE_ROW])


def finish(pointer, cells):
    """End a statement whose only row is in the buffer, to whose end its texts and blobs move.

    Returns:
        LAST; ROW, with nothing done, if they don't fit there; or SQLite's code.
    """
    count = cells[COLUMNS]
    places = [(CELLS + 2 * i, cells[CELLS + 2 * i] >> 3) for i in range(count)]
    free = ffi.cast('char *', cells + CELLS + 2 * count)
    if sum([size for _, size in places]) > 8 * (cells[CAPACITY] - CELLS - 2 * count):
        return ROW
    for tag, size in places:
        if size:
            ffi.memmove(free, ffi.cast('char *', cells[tag + 1]), size)
            cells[tag + 1] = int(ffi.cast('intptr_t', free))
            free += size
    rc = lib.sqlite3_step(pointer)
    if rc != DONE:
        return INTERNAL if rc == ROW else rc
    lib.sqlite3_reset(pointer)
    return LAST


def execute(pointer, cells_in, texts, flags, cells):
    """As sqpyte_execute."""
    db = lib.sqlite3_db_handle(pointer)
    if flags & IN_TRANSACTION and lib.sqlite3_get_autocommit(db):
        return BEGIN
    rc = bind(pointer, cells_in, texts)
    if rc != OK:
        return rc
    compiled = lib.sqlite3_stmt_status(pointer, REPREPARE, 0)
    if flags & ASK:
        busy = ffi.new('int64_t[]', BUSY_WORDS)
        lib.sqpyte_ask_before_waiting(db, busy)
        try:
            rc = step(pointer, cells)
        finally:
            lib.sqpyte_ask_no_more(db, busy)
    else:
        rc = step(pointer, cells)
    if rc == ROW:
        if flags & ONE_ROW and still_one_row(pointer, cells) and not (
                flags & AS_COMPILED and cells[REPREPARES] != compiled):
            rc = finish(pointer, cells)
        cells[ROWID] = lib.sqlite3_last_insert_rowid(db)
    return rc
