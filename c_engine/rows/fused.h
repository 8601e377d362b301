/*
** Fused calls: what a DB-API layer does for one row or one execution, in one
** C call. Values cross the border in buffers of 64-bit words, which the caller
** owns, so that a call passes nothing but pointers.
**
** A cell is two words: its tag and its value. The tag's low three bits are the
** SQLite type (SQLITE_INTEGER .. SQLITE_NULL), the bits above them the size in
** bytes of a text or blob. The value is the integer, the bits of the double,
** or the address of the bytes.
**
** The caller serialises the use of a connection, as sqlite3_column_text() and
** friends demand too: what they return is only valid until the next call.
*/
#ifndef SQPYTE_FUSED_H
#define SQPYTE_FUSED_H

/* The row buffer: a head, then the cells. */
#define SQPYTE_ROW_CAPACITY 0     /* set by the caller: words of the buffer */
#define SQPYTE_ROW_COLUMNS 1      /* columns of the row */
#define SQPYTE_ROW_REPREPARES 2   /* how often the statement was recompiled */
#define SQPYTE_ROW_CHANGES 3      /* sqlite3_changes64(), when it is done */
#define SQPYTE_ROW_ROWID 4        /* sqlite3_last_insert_rowid() */
#define SQPYTE_ROW_COUNT 5        /* rows left, by sqpyte_begin() */
#define SQPYTE_ROW_KINDS 6        /* the caller's own: which kinds of rows it has seen, ... */
#define SQPYTE_ROW_VARIETY 7      /* ... and how many */
#define SQPYTE_ROW_CELLS 8

/* Results beside SQLITE_ROW, SQLITE_DONE and errors. */
#define SQPYTE_LAST 102           /* a row, the only one: statement is reset */
#define SQPYTE_BEGIN 103          /* nothing done: no transaction is open */
#define SQPYTE_GROW 104           /* a row, but it needs a larger buffer */

/* Flags of sqpyte_execute(). */
#define SQPYTE_IN_TRANSACTION 1   /* SQPYTE_BEGIN unless in a transaction */
#define SQPYTE_ONE_ROW 2          /* there is at most one row: finish if there */
#define SQPYTE_ASK 4              /* ask before waiting for locks */
#define SQPYTE_AS_COMPILED 8      /* SQPYTE_ONE_ROW not if it has just been compiled again */

/* Vdbe.sqpyteMidStep: what the inliner has of an sqlite3_step, and gives back to C. */
#define SQPYTE_STEP_MID 1         /* it is in its middle */
#define SQPYTE_STEP_BEGUN 2       /* it has just begun; C has done nothing of it */

/* Version of this interface; a caller checks that it is the one it knows. */
#define SQPYTE_FUSED_VERSION 13
SQPYTE_EXPORT int sqpyte_fused_version(void);

/* Binds every parameter (its cells in aIn; text and blob values are offsets
** into zText), steps, and stores the row. The statement must be reset, and
** zText isn't copied: it may change only when the statement is reset again.
** SQLITE_ROW: a row, whose texts and blobs are valid until the next call for
** this statement. SQLITE_DONE: no row; the statement is reset. Any other
** result is an error, with sqlite3_errmsg() set and the statement not reset. */
SQPYTE_EXPORT int sqpyte_execute(sqlite3_stmt *pStmt, sqlite3_int64 *aIn,
    const char *zText, int flags, sqlite3_int64 *aOut);

/* Binds only; SQLITE_OK or an error. */
SQPYTE_EXPORT int sqpyte_bind(sqlite3_stmt *pStmt, sqlite3_int64 *aIn,
    const char *zText);

/* Steps, and stores the row; results as of sqpyte_execute(). */
SQPYTE_EXPORT int sqpyte_step(sqlite3_stmt *pStmt, sqlite3_int64 *aOut);

/* Stores the present row again, after SQPYTE_GROW. */
SQPYTE_EXPORT int sqpyte_row(sqlite3_stmt *pStmt, sqlite3_int64 *aOut);

/* Between these two calls the connection asks xFree, once, before it waits for a
** lock: whether it has freed one that another connection of this process held. Then
** it does what the connection's own busy handler says. A statement goes on where it
** met the lock, so it does nothing twice. pBusy has SQPYTE_BUSY_WORDS words, and
** has to live as long. What PRAGMA busy_timeout tells stays as it is. */
#define SQPYTE_BUSY_WORDS 4
#define SQPYTE_BUSY_HANDLER 1     /* of these: the connection's own handler, 0 if there is none */
#define SQPYTE_BUSY_ASKED 3       /* whether the caller's language has been asked, and has no lock to free */
SQPYTE_EXPORT void sqpyte_free_locks_by(int (*xFree)(void *db));
SQPYTE_EXPORT void sqpyte_ask_before_waiting(sqlite3 *db, sqlite3_int64 *pBusy);
SQPYTE_EXPORT void sqpyte_ask_no_more(sqlite3 *db, sqlite3_int64 *pBusy);

/* Facts about a statement, each a word. */
#define SQPYTE_FACT_PARAMETERS 0
#define SQPYTE_FACT_COLUMNS 1
#define SQPYTE_FACT_READONLY 2
#define SQPYTE_FACT_ONE_ROW 3     /* it can't return a second row */
#define SQPYTE_FACT_NAMES 4       /* it has parameters with names or numbers */
#define SQPYTE_FACT_COUNT 5
SQPYTE_EXPORT void sqpyte_facts(sqlite3_stmt *pStmt, sqlite3_int64 *aOut);

/* A function, aggregate or window function in the caller's language.
** Before xCall the arguments' cells are stored from aFrame[SQPYTE_CALL_ARGS]
** on; it returns a tag, with the value in SQPYTE_CALL_RESULT, or 0 if it has
** used sqlite3_result_...() itself on the context. The frame is one for all calls: a call within a call, which a signal's
** handler may make at any time, finds it free, and leaves it as it was. */
#define SQPYTE_CALL_CONTEXT 0     /* address of the sqlite3_context */
#define SQPYTE_CALL_COUNT 1       /* number of arguments */
#define SQPYTE_CALL_KEY 2         /* in and out: the aggregate's key, 0 at first */
#define SQPYTE_CALL_RESULT 3
#define SQPYTE_CALL_KINDS 4       /* the caller's own, as in a row: which kinds of arguments it has seen, ... */
#define SQPYTE_CALL_VARIETY 5     /* ... and how many */
#define SQPYTE_CALL_ARGS 6
/* The tag of a call that has failed so badly that it couldn't even say so. */
#define SQPYTE_CALL_FAILED 6
/* What xCall is to do. */
#define SQPYTE_DO_FUNCTION 0
#define SQPYTE_DO_STEP 1
#define SQPYTE_DO_FINAL 2         /* not called if there was no step */
#define SQPYTE_DO_VALUE 3
#define SQPYTE_DO_INVERSE 4
#define SQPYTE_DO_COMPARE 5       /* returns a negative number, 0 or a positive */
#define SQPYTE_DO_RANK 6          /* see sqpyte_create_collation */

typedef struct SqpyteFunction SqpyteFunction;
struct SqpyteFunction {
  int (*xCall)(int what);
  sqlite3_int64 *aFrame;
  int nFrame;                     /* words of aFrame */
  int nUsed;                      /* of them, by the call that is going on; 0 if none is */
};
/* Before a call stores nWord words in the frame, and after it has taken the result. */
#define SQPYTE_ENTER_FRAME(pFunction, nWord) \
  int nBefore = (pFunction)->nUsed; \
  sqlite3_int64 aBefore[nBefore+1]; \
  if( nBefore ) memcpy(aBefore, (pFunction)->aFrame, nBefore*sizeof(aBefore[0])); \
  (pFunction)->nUsed = (nWord)
#define SQPYTE_LEAVE_FRAME(pFunction) \
  if( nBefore ) memcpy((pFunction)->aFrame, aBefore, nBefore*sizeof(aBefore[0])); \
  (pFunction)->nUsed = nBefore
/* Registers pFunction, which must live as long as the registration.
** what: SQPYTE_DO_FUNCTION, SQPYTE_DO_FINAL for an aggregate,
** SQPYTE_DO_INVERSE for a window function. */
SQPYTE_EXPORT int sqpyte_create_function(sqlite3 *db, const char *zName,
    int nArg, int flags, int what, SqpyteFunction *pFunction);
/* A collation: xCall compares the two texts that are its arguments. With SQPYTE_DO_RANK it
** gets SQPYTE_CALL_COUNT pairs of words at SQPYTE_CALL_RESULT, the addresses and sizes of texts,
** and replaces each address by how many different texts come before; returns 1 if it has done so
** for all of them. */
SQPYTE_EXPORT int sqpyte_create_collation(sqlite3 *db, const char *zName,
    SqpyteFunction *pFunction);
/* How many arguments a function can have at all. */
SQPYTE_EXPORT int sqpyte_max_function_args(void);

#endif
