/*
** Row batches: one C call that runs a query on to several rows, for the
** inliner of the PyPy module.
**
** After a row the statement runs ahead of its caller, up to a number of
** further rows, and stops early before anything that must not be done ahead:
** the end of the statement, an error, an opcode that the spec names. Of that
** nothing is seen from outside: either the rows depend on nothing outside of
** the statement (a sorter, ephemeral tables), or sqpyte_rows_back() undoes it:
** when running ahead began, the positions of the cursors and the registers
** that the rest of the program needs have been noted.
**
** The spec is for one place of the program, behind a ResultRow; which opcodes
** stop, which cursors and registers are noted is for the caller to find out
** (pypy_module/inline/analysis/effects.py).
**
** Pointers are passed as integers, which cost the caller no object.
*/
#ifndef SQPYTE_ROWS_H
#define SQPYTE_ROWS_H

/* The spec: a head, then three lists: registers, cursors, pcs. */
#define SQPYTE_AHEAD_PC 0         /* behind the ResultRow */
#define SQPYTE_AHEAD_UNDO 1       /* whether it can and has to be undone */
#define SQPYTE_AHEAD_REGISTERS 2  /* how many registers are noted */
#define SQPYTE_AHEAD_CURSORS 3    /* how many cursors */
#define SQPYTE_AHEAD_WATCHED 4    /* how many opcodes are watched: a ResultRow
                                  ** gives a row, a Once that is done jumps, an
                                  ** IdxInsert is noted if need be (or stops),
                                  ** all others stop */
#define SQPYTE_AHEAD_STOPS 5      /* the first so many of them stop, whatever they are:
                                  ** what follows such a one is not watched */
#define SQPYTE_AHEAD_CUT 6        /* index of the cut's part (cuts.h), 0 without */
#define SQPYTE_AHEAD_HEAD 7

/* The buffer: a head, then the rows, one behind the other, two words a cell as
** in fused.h; texts and blobs are kept at its end. */
#define SQPYTE_ROWS_CAPACITY 0    /* words of the buffer; set by the caller */
#define SQPYTE_ROWS_COUNT 1       /* rows that it holds */
#define SQPYTE_ROWS_STOPPED 2     /* whether it stopped before the number asked for */
#define SQPYTE_ROWS_PC 3          /* where the statement was after the first row */
#define SQPYTE_ROWS_UNDO 4        /* whether sqpyte_rows_back() can be called */
#define SQPYTE_ROWS_STAMP 5       /* the stamp that the rows were made under (validity.h) */
#define SQPYTE_ROWS_CELLS 6

/* Two more kinds of cells, for short texts that come again (sqpyte_rows_intern):
** a text that the reader is to keep in a slot, and one that it finds there. The
** tag's upper part has the number of bytes in SQPYTE_STRING_SHIFT bits, then the
** slot. The text itself is there in any case. */
#define SQPYTE_KNOWN 6
#define SQPYTE_NEW 7
#define SQPYTE_STRING_BITS 8     /* 2^n slots for texts found by themselves, */
#define SQPYTE_ROWID_BITS 12     /* and then 2^n for those found by their rows */
#define SQPYTE_STRING_SHIFT 6
#define SQPYTE_STRING_BYTES 63    /* of the longest such text */

/* Returns the address of what is kept for the statement's batches, 0 if there
** is no memory. To be given back before the statement is finalised. */
SQPYTE_EXPORT long sqpyte_rows_open(long pStmt);
SQPYTE_EXPORT void sqpyte_rows_close(long pRows);

/* From now on the batches have SQPYTE_NEW and SQPYTE_KNOWN. Does nothing if there
** is no memory. aSource: for each column the number of the cursor on whose present
** row, and on nothing else, its value depends, or -1; or 0 if there is none. */
SQPYTE_EXPORT void sqpyte_rows_intern(long pRows, long aSource);

/* Steps, and goes on for up to nMost rows in all if the statement is then at
** the spec's place. aCells is the buffer of sqpyte_step(), whose results this
** has. After SQLITE_ROW the rows are in aOut; if there is none, the row that
** was too long is in aCells. */
SQPYTE_EXPORT int sqpyte_rows(long pRows, long aSpec, long aCells, long aOut, int nMost);

/* Brings the statement to where it is when the row iRow of the batch is the
** last that was computed. Returns 0, or a result code if that can't be done any
** more; what sqpyte_rows() does next is to go on, or to return the error that
** has ended the statement. */
SQPYTE_EXPORT int sqpyte_rows_back(long pRows, int iRow);

/* Has xRollBack called, with the connection, before anything that statements which run ahead on live B-trees
** could see (validity.h): it is to roll them back. */
SQPYTE_EXPORT void sqpyte_roll_back_by(sqlite3 *db, void (*xRollBack)(void *db));

/* Whether a FuncDef is of SQLite's own functions and its results depend on
** nothing but the arguments. */
SQPYTE_EXPORT int sqpyte_pure_function(long pFuncDef);

#endif
