/*
** Cuts: a query's rows up to its calls of functions and aggregates in the
** caller's language, many in one C call, for the inliner of the PyPy module.
**
** A cut is a run of opcodes of a loop, from the first such call to the last
** opcode that depends on one. The caller does the calls and what depends on
** them (the late opcodes). C does the rest, ahead of the caller: it runs the
** program with the late opcodes left out, and keeps the values that they need,
** each when it has been computed. It ends a batch before the cut's first opcode
** or earlier, before anything that must not be done ahead (rows.h).
**
** What has been run ahead is undone by sqpyte_cut_back(), or depends on nothing
** outside of the statement, as with rows.h.
*/
#ifndef SQPYTE_CUTS_H
#define SQPYTE_CUTS_H

/* The cut's part of a spec (rows.h): a head, then for each late opcode, by
** ascending pc: its pc, how many registers are kept there, and these. */
#define SQPYTE_CUT_FIRST 0        /* pc of the first late opcode */
#define SQPYTE_CUT_LAST 1         /* pc of the last one */
#define SQPYTE_CUT_TAGS 2         /* words of tags that a row has */
#define SQPYTE_CUT_STRIDE 3       /* words of a row */
#define SQPYTE_CUT_LATE 4         /* how many late opcodes there are */
#define SQPYTE_CUT_TAIL 5         /* words from here to the tail's part, 0 without */
#define SQPYTE_CUT_HEAD 6

/* A tail: the last opcodes of a cut, which C does for many rows in one call when
** the caller has done the others: what goes into a sorter, a temporary table or
** an aggregate of SQLite's own. Its part of the spec: a head, then the kept
** values that it reads (a register, the value's number, the pc of the early opcode
** behind which it has it, or 0), the registers of the caller's values, other
** registers that it writes and leaves, and the early opcodes (pcs) among its own. */
#define SQPYTE_TAIL_PC 0          /* pc of its first opcode */
#define SQPYTE_TAIL_END 1         /* pc of the opcode behind it */
#define SQPYTE_TAIL_ROW 2         /* word of a row that isn't 0 if the tail is done for
                                  ** it; behind it the caller's values, two words each
                                  ** as in fused.h */
#define SQPYTE_TAIL_VALUES 3      /* how many values that were kept */
#define SQPYTE_TAIL_CELLS 4       /* how many of the caller's */
#define SQPYTE_TAIL_WRITTEN 5     /* how many other registers */
#define SQPYTE_TAIL_EARLY 6       /* how many early opcodes */
#define SQPYTE_TAIL_HEAD 7

/* The buffer: a head as in rows.h, then rows as in page_batch.h, places counting
** from the buffer's beginning. */
#define SQPYTE_ROWS_AT_CUT 2      /* whether the statement is before the cut's first opcode */
#define SQPYTE_ROWS_NEED 3        /* bytes that the row needs that didn't fit in */

/* How a statement runs with a cut. */
#define SQPYTE_CUT_NONE 0
#define SQPYTE_CUT_TO 1           /* as it is, to the cut's first opcode */
#define SQPYTE_CUT_FILL 2         /* ahead */
#define SQPYTE_CUT_BACK 3         /* over what has been run ahead, after it was undone */
#define SQPYTE_CUT_REST 4         /* the tail, row by row */

/* Steps to the cut's first opcode, if the statement isn't there, and keeps up to
** nMost rows from there on. bPass: the statement is there, and the opcode is
** done in C first. Returns SQLITE_ROW with columns in aCells for a row of the
** statement, without for a batch (of no rows if the next one didn't fit in or
** can't be undone); else what sqpyte_step() returned. */
SQPYTE_EXPORT int sqpyte_cut(long pRows, long aSpec, long aCells, long aOut, int nMost,
                             int bPass);

/* Brings the statement to where it is before the late opcode at pc, for the row
** iRow of the batch. Returns 0, or a result code if that can't be done. */
SQPYTE_EXPORT int sqpyte_cut_back(long pRows, int iRow, int pc);

/* Does the one late opcode at pc, which reads no register that C writes, in C.
** Returns SQLITE_ROW without columns in aCells if it is done. */
SQPYTE_EXPORT int sqpyte_cut_one(long pRows, int pc, long aCells);

/* Does the tail for the rows iFrom up to iTo of the batch. Returns 0 or a result
** code: with SQLITE_NOMEM the statement has ended. */
SQPYTE_EXPORT int sqpyte_cut_tail(long pRows, int iFrom, int iTo);

/* Takes the accumulator of an aggregate in the caller's language out of a
** register. Returns its instance's key, 0 if there is none. */
SQPYTE_EXPORT sqlite3_int64 sqpyte_take_accumulator(long pMem);

#endif
