/*
** Page batches: the rows of a table's leaf page decoded in one C call, for the
** inliner of the PyPy module, whose generated code then reads native values
** from a buffer of 64-bit words.
**
** A call decodes only what the program needs (the spec) and only rows that it
** can do completely, with every bounds check that upstream has. A row that it
** can't (content on overflow pages, a corrupt record, anything unusual) ends
** the batch before it: upstream's own code deals with that row.
**
** Texts and blobs are in a copy of the page, which belongs to the buffer, so nothing in the buffer depends on what
** becomes of the page. Each row has its rowid: if pages have moved meanwhile, the cursor finds its place by it.
** While a statement of the connection that writes is being stepped there are no batches.
**
** Pointers are passed as integers, which cost the caller no object.
*/
#ifndef SQPYTE_BATCH_H
#define SQPYTE_BATCH_H

/* The spec: a head, then one word per value, by ascending column. */
#define SQPYTE_SPEC_COUNT 0       /* number of values */
#define SQPYTE_SPEC_ROWS 1        /* most rows that the buffer has room for */
#define SQPYTE_SPEC_HEAD 2
/* A value: the column's number, or SQPYTE_ROWID, and flags. */
#define SQPYTE_ROWID 0x7fff       /* comes after all columns */
#define SQPYTE_AS_REAL 0x10000    /* integers are given as reals (RealAffinity) */

/* The buffer: a head, then the rows. A row is a datum (datum.h) for each value, then
** the rowid, unless the batch's are consecutive. */
#define SQPYTE_BATCH_COPY 0       /* the address of room for a page, to which its texts
                                  ** and blobs are copied; set by the caller */
#define SQPYTE_BATCH_FIRST 1      /* cell index of the first row */
#define SQPYTE_BATCH_STAMP 2      /* the stamp that it was made under (validity.h) */
#define SQPYTE_BATCH_CONSECUTIVE 3  /* the rowids are consecutive, and no row has its own */
#define SQPYTE_BATCH_ROWID 4      /* of the first row */
#define SQPYTE_BATCH_HEAD 5
/* One more type of datums. */
#define SQPYTE_MISSING 6          /* the record has fewer columns: the default */

/* Decodes the rows of a leaf page from the one that the cursor is on.
** iNext: 0 to begin with the cursor's row, else the cell index from which to
** go on: the page's next row if there is one, else the next page's first.
** Returns the number of rows, or
**   0: the row that the cursor is now on has to be done by upstream;
**  -1: there are no more rows, the cursor is as Next leaves it then;
**  SQPYTE_BATCH_STALE: no batch is to be made, and the cursor hasn't moved: it is
**     for upstream to go on, behind the last row;
**  < -1: minus an error of SQLite's. */
#define SQPYTE_BATCH_STALE -2147483647
SQPYTE_EXPORT int sqpyte_batch(long pVdbeCursor, long aSpec, long aOut, int iNext);

/* Moves the cursor to the row of a batch before or behind which the program goes
** on in C: the cell ix, with this rowid. A cursor whose position has been saved,
** because its B-tree has changed, is as if it had been saved there. */
SQPYTE_EXPORT void sqpyte_batch_seek(long pVdbeCursor, int ix, sqlite3_int64 rowid);

/* Bytes of a page of the cursor's B-tree; 0 if it is on something else. */
SQPYTE_EXPORT int sqpyte_page_size(long pVdbeCursor);

/* What sqpyte_loops finds, added up. */
#define SQPYTE_LOOP_ROWS 1        /* a scan of a table that returns rows */
#define SQPYTE_LOOP_PYTHON 2      /* one that calls functions in the caller's
                                  ** language for more rows than it returns, or
                                  ** a window function in it */
#define SQPYTE_LOOP_MORE 4        /* it may return several rows */
#define SQPYTE_LOOP_SORTS 8       /* beside SQPYTE_LOOP_PYTHON: such a loop fills a sorter, or is one's */
/* Whether a statement has loops that may be worth inlining: 0 or SQPYTE_LOOP_*. */
SQPYTE_EXPORT int sqpyte_loops(long pStmt);

/* About how many rows the outermost loop still has that a statement, at a row or
** stopped at the head of a loop, is in; 0 if that can't be told. */
SQPYTE_EXPORT sqlite3_int64 sqpyte_rows_left(long pStmt);

/* In place of the first sqpyte_step: steps to the head of the first loop, and on
** from there unless nLeast rows or more are left to do (or, if that
** can't be told, nLeast isn't above 0).
** Returns SQLITE_ROW without columns if the statement is at the head; else what
** sqpyte_step() has. In aOut[SQPYTE_ROW_COUNT]: what is left; 0 if that can't be
** told, -1 if the first loop isn't a scan. */
SQPYTE_EXPORT int sqpyte_begin(sqlite3_stmt *pStmt, sqlite3_int64 *aOut, sqlite3_int64 nLeast);

/* The SqpyteFunction (see fused.h) of a FuncDef, 0 if it isn't written in the
** caller's language. */
SQPYTE_EXPORT long sqpyte_python_function(long pFuncDef);
/* The same of a CollSeq. */
SQPYTE_EXPORT long sqpyte_python_collation(long pColl);

/* The next sqlite3VdbeExec raises rc at the opcode pc, with this message. */
SQPYTE_EXPORT void sqpyte_raise(long pVdbe, int pc, int rc, const char *zMessage);

/* Makes a register the accumulator of an aggregate in the caller's language,
** with the key of its instance. Returns 0 or SQLITE_NOMEM. */
SQPYTE_EXPORT int sqpyte_accumulator(long pMem, long pFuncDef, sqlite3_int64 key);

#endif
