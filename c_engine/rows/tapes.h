/*
** Tapes: what a query with window functions calls in the caller's language, and
** the rows that it returns, in their order, for many rows in one C call; for the
** inliner of the PyPy module.
**
** Where no jump depends on what the caller's functions return, C can run the
** program ahead without them. It notes an event for each of the calls and what
** depends on them (the late opcodes), with the values that the opcode reads, in
** a list, the tape. The caller does what the events say. Other than a cut
** (cuts.h), a tape has late opcodes anywhere in the program, in the order in
** which C comes to them.
**
** Behind a sorter nothing needs to be undone; else sqpyte_tape_back() undoes it.
** Rows that the program deletes from its own ephemeral tables are deleted when
** the batch has been used up: until then they can be had back.
*/
#ifndef SQPYTE_TAPES_H
#define SQPYTE_TAPES_H

/* The tape's part of a spec (rows.h): a head; for each pc from the first late
** opcode to the last one, the index of its entry from this part's beginning, 0
** without; the cursors that rows are inserted through; the entries. */
#define SQPYTE_TAPE_FIRST 0       /* pc of the first late opcode */
#define SQPYTE_TAPE_LAST 1        /* pc of the last one */
#define SQPYTE_TAPE_INSERTS 2     /* how many cursors insert rows */
#define SQPYTE_TAPE_HEAD 3

/* An entry: the number of the late opcode from 0 on, what kind it is, and the
** registers that are kept. */
#define SQPYTE_ENTRY_NUMBER 0
#define SQPYTE_ENTRY_KIND 1
#define SQPYTE_ENTRY_COUNT 2      /* how many registers are kept */
#define SQPYTE_ENTRY_REGISTERS 3

#define SQPYTE_KIND_CALL 0        /* the caller does it */
#define SQPYTE_KIND_NULL 1        /* OP_Null: both do it */
#define SQPYTE_KIND_ROW 2         /* OP_ResultRow: ends a row */
#define SQPYTE_KIND_DELETE 3      /* OP_Delete of an ephemeral table: no event */
#define SQPYTE_KIND_RESET 4       /* OP_ResetSorter of one: no event */
#define SQPYTE_MOST_LATE 30       /* most late opcodes with events */

/* The buffer: a head as in rows.h and cuts.h, then rows: a word of the row's
** shape, one of its size in words, and its events. The shape has the numbers of
** the events plus 1 as five bits each, the last one lowest; it is -1 if the row
** has too many events, or ends in the middle: then the next row goes on with it.
** An event is its number, a word of tags for every 16 values, and the values as
** in page_batch.h, places counting from the buffer's beginning. */
#define SQPYTE_TAPE_END 4         /* the word behind the last row */
#define SQPYTE_TAPE_ENDED 2       /* as SQPYTE_ROWS_AT_CUT: the statement has failed */
#define SQPYTE_TAPE_SHAPE 0
#define SQPYTE_TAPE_SIZE 1
#define SQPYTE_TAPE_EVENTS 2
#define SQPYTE_MOST_EVENTS 12     /* in a shape */

/* Steps to a late opcode, if the statement isn't at one, and gathers up to nMost
** rows from there on. Results as of sqpyte_cut(). */
SQPYTE_EXPORT int sqpyte_tape(long pRows, long aSpec, long aCells, long aOut, int nMost);

/* Brings the statement to where it is before the event at the word iWord of the
** buffer. Returns 0, or a result code if that can't be done. */
SQPYTE_EXPORT int sqpyte_tape_back(long pRows, int iWord);

#endif
