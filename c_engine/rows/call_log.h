/*
** Call logs: C runs a query ahead of its caller, and notes what is the caller's to do, for many rows in one call; for
** the inliner of the PyPy module.
**
** An opcode is eager or deferred. C does the eager ones. The deferred ones are the caller's: calls of functions in its
** language, what depends on their results, and rows that go out. C leaves them out and notes events, each with the
** values of the registers that the opcode reads. The events up to a row, or up to the end of a loop's round, are a
** record. There are two kinds of logs:
**
** - In a plain log all records have the same events. Values alone are noted, in as many words for each record.
** - In a numbered log events come in any order, each with the number of its opcode's entry.
**
** A row batch is a plain log whose only event is the ResultRow. A slice is one with the opcodes of a loop from its first
** call to the last opcode that depends on one. Window functions have a numbered log.
**
** C stops early before anything that must not be done ahead: the end of the statement, an error, an opcode that the spec
** names. Of what it has done nothing is seen from outside. Either it depends on nothing outside of the statement (a
** sorter, ephemeral tables), or it is rolled back: registers and positions of cursors are in a checkpoint.
**
** Which opcodes are deferred, stop, or are in the checkpoint is for the caller to find out
** (pypy_module/inline/analysis). Pointers are passed as integers, which cost the caller no object.
*/
#ifndef SQPYTE_CALL_LOG_H
#define SQPYTE_CALL_LOG_H

/* The spec: a head; three lists: registers and cursors of the checkpoint, cursors that rows are inserted through; a table
** from the first watched opcode to the last one, with the index of the opcode's entry in the spec, 0 without; the
** entries; a sink's part. */
#define SQPYTE_AHEAD_PC 0          /* of a row batch: the opcode behind the ResultRow */
#define SQPYTE_AHEAD_REVERSIBLE 1  /* whether it is to be rolled back */
#define SQPYTE_AHEAD_REGISTERS 2   /* how many are in the lists */
#define SQPYTE_AHEAD_CURSORS 3
#define SQPYTE_AHEAD_INSERTS 4
#define SQPYTE_AHEAD_FIRST 5       /* pcs of the table's first and last opcode */
#define SQPYTE_AHEAD_LAST 6
#define SQPYTE_AHEAD_STRIDE 7      /* words of a record; 0: the log is numbered */
#define SQPYTE_AHEAD_SINK 8        /* index of the sink's part, 0 without */
#define SQPYTE_AHEAD_LISTS 9

/* An entry: its kind and flags, its number, how many registers are noted, and these. */
#define SQPYTE_ENTRY_KIND 0
#define SQPYTE_ENTRY_NUMBER 1
#define SQPYTE_ENTRY_COUNT 2
#define SQPYTE_ENTRY_REGISTERS 3

#define SQPYTE_KIND_STOP 0        /* C stops before it */
#define SQPYTE_KIND_ONCE 1        /* OP_Once: jumps if it has been done, else C stops */
#define SQPYTE_KIND_KEY 2         /* OP_IdxInsert into DISTINCT's index: can be rolled back */
#define SQPYTE_KIND_DELETE 3      /* OP_Delete from an ephemeral table: done when the log has been used up */
#define SQPYTE_KIND_RESET 4       /* OP_ResetSorter of one */
#define SQPYTE_KIND_ROW 5         /* OP_ResultRow of a row batch: a record; C stops behind the last one */
#define SQPYTE_KIND_CALL 6        /* deferred, as are those that follow: noted */
#define SQPYTE_KIND_NULL 7        /* OP_Null: both do it */
#define SQPYTE_KIND_SKIP 8        /* nothing of it is noted */
#define SQPYTE_KINDS 16
#define SQPYTE_FLAG_BEGIN 16      /* it begins an event, in a plain log a record */
#define SQPYTE_FLAG_END 32        /* it ends a record */

/* A sink: the last opcodes of a slice, which C does for many records in one call when the caller has done the others:
** what goes into a sorter, a temporary table or an aggregate of SQLite's own. Its part: a head; the values that it reads
** (a register, the word of the record with its datum, the pc of the eager opcode behind which it has it, or 0: from the
** beginning); other registers that it writes and leaves; the eager opcodes (pcs) among its own. */
#define SQPYTE_SINK_PC 0          /* pc of its first opcode */
#define SQPYTE_SINK_END 1         /* pc of the opcode behind it */
#define SQPYTE_SINK_WANTED 2      /* word of a record that isn't 0 if the sink is done for it */
#define SQPYTE_SINK_VALUES 3      /* how many are in the lists */
#define SQPYTE_SINK_WRITTEN 4
#define SQPYTE_SINK_EAGER 5
#define SQPYTE_SINK_LISTS 6

/* The buffer: a head, then the records. A record of a plain log has datums (datum.h) and the words that the sink needs.
** One of a numbered log has events: the entry's number and datums; if it ends in the middle, the next log goes on with it.
** Behind the last event is a word that is the caller's.
** Texts and blobs are kept at the buffer's end. */
#define SQPYTE_LOG_CAPACITY 0     /* words of the buffer; set by the caller */
#define SQPYTE_LOG_COUNT 1        /* records that it holds */
#define SQPYTE_LOG_AT_EVENT 2     /* whether the statement is before an opcode that begins an event */
#define SQPYTE_LOG_STOPPED 2      /* of a row batch: whether it stopped before the number asked for */
#define SQPYTE_LOG_NEED 3         /* bytes that the next record needs, which didn't fit in */
#define SQPYTE_LOG_STAMP 4        /* the stamp that the records were made under (validity.h) */
#define SQPYTE_LOG_END 5          /* word behind the last record */
#define SQPYTE_LOG_PC 6           /* of a row batch: where the statement was after the first row */
#define SQPYTE_LOG_UNDO 7         /* of a row batch: whether it can be rolled back */
#define SQPYTE_LOG_RECORDS 8

/* Two more types of datums, for short texts of a row batch that come again (sqpyte_log_intern): a text that the reader
** is to keep in a slot, and one that it finds there. The tag's upper part has the number of bytes in
** SQPYTE_STRING_SHIFT bits, then the slot. The text itself is there in any case. */
#define SQPYTE_KNOWN 6
#define SQPYTE_NEW 7
#define SQPYTE_STRING_BITS 8      /* 2^n slots */
#define SQPYTE_STRING_SHIFT 6
#define SQPYTE_STRING_BYTES 63    /* of the longest such text */

/* Returns the address of what is kept for a statement that runs ahead, 0 if there is no memory. To be given back before
** the statement is finalised. */
SQPYTE_EXPORT long sqpyte_log_open(long pStmt);
SQPYTE_EXPORT void sqpyte_log_close(long pLog);

/* From now on row batches have SQPYTE_NEW and SQPYTE_KNOWN. Does nothing if there is no memory. */
SQPYTE_EXPORT void sqpyte_log_intern(long pLog);

/* A row batch: steps, and goes on for up to nMost rows in all if the statement is then at the spec's place. aCells is the
** buffer of sqpyte_step(), whose results this has. After SQLITE_ROW the rows are in aOut; if there is none, the row that
** was too long is in aCells. */
SQPYTE_EXPORT int sqpyte_log_rows(long pLog, long aSpec, long aCells, long aOut, int nMost);

/* Steps to an opcode that begins an event, if the statement isn't at one, and notes up to nMost records from there on.
** bPass: the statement is there, and the opcode is done in C first. Returns SQLITE_ROW with columns in aCells for a row
** of the statement, without for a log (of no records if the next one didn't fit in or can't be rolled back); else what
** sqpyte_step() returned. */
SQPYTE_EXPORT int sqpyte_log_fill(long pLog, long aSpec, long aCells, long aOut, int nMost, int bPass);

/* Rolls back what has been run ahead, and brings the statement to where it is behind so many deferred opcodes from the
** log's beginning on. Returns 0, or a result code if that can't be done any more. */
SQPYTE_EXPORT int sqpyte_log_back(long pLog, int nDeferred);

/* Does the one deferred opcode at pc in C. Returns SQLITE_ROW without columns in aCells if it is done. It reads and writes
** registers that C doesn't write. Or, if aValue isn't 0, it changes nothing: aValue has the number of the registers that
** it reads, and for each its number and a datum; the datum of its result, the register iResult, comes into the two words
** behind that number, with bytes that are there until the next call. */
SQPYTE_EXPORT int sqpyte_log_one(long pLog, int pc, long aCells, long aValue, int iResult);

/* Does the sink for the records iFrom up to iTo of a plain log. Returns 0 or a result code: with SQLITE_NOMEM the
** statement has ended. */
SQPYTE_EXPORT int sqpyte_log_sink(long pLog, int iFrom, int iTo);

/* Takes the accumulator of an aggregate in the caller's language out of a register. Returns its instance's key, 0 if
** there is none. */
SQPYTE_EXPORT sqlite3_int64 sqpyte_take_accumulator(long pMem);

/* Has xRollBack called, with the connection, before anything that statements which run ahead on live B-trees
** could see (validity.h): it is to roll them back. */
SQPYTE_EXPORT void sqpyte_roll_back_by(sqlite3 *db, void (*xRollBack)(void *db));

/* sqlite3_interrupt(), and whoever hands out rows that were computed ahead looks up, as the stamp has risen. Any thread may
** call it: what it adds may be lost beside what the connection's thread adds, which sees no fall. */
SQPYTE_EXPORT void sqpyte_interrupt(sqlite3 *db);

/* Whether a FuncDef is of SQLite's own functions and its results depend on nothing but the arguments. */
SQPYTE_EXPORT int sqpyte_pure_function(long pFuncDef);

#endif
