/*
** The checking build: what an opcode does is compared with what the opcode
** table (sqpyte/vm/opcodes/table.py) declares of it. Built by tools/effects.py with
** SQPYTE_CHECK_EFFECTS into build/effects/; no part of the product.
**
** program.c    what the opcodes of a program are declared to read, write, move and reach
** cursors.c    a cursor's state before and after
** report.c     the message at a violation, counts, the handler of SIGSEGV
** check.c      runs the opcodes one by one and compares
*/
#ifndef SQPYTE_EFFECTS_H
#define SQPYTE_EFFECTS_H

/* A program's declared effects, one record of ints for each opcode, at aData[aAt[pc]]:
** nRead, (first, end)*, nWrite, (first, end)*, nConvert, (first, end)*, nMove or SQPYTE_ANY, cursor*,
** nTouch or SQPYTE_ANY, cursor*, nNext or SQPYTE_ANY, address*, nLive or SQPYTE_ANY, (first, end)* */
#define SQPYTE_ANY (-1)
typedef struct SqpyteProgram SqpyteProgram;
struct SqpyteProgram {
  Op *aOp;                  /* whose it is */
  int nOp;
  int nLast;                /* the last register */
  int *aAt;
  int *aData;
  int nData, nAlloc;
  SqpyteProgram *pNext;
};

/* A list within a record, and where the next one begins. */
typedef struct SqpyteList { int n; const int *a; } SqpyteList;
typedef struct SqpyteOpEffects {
  SqpyteList read, write, convert, move, touch, next, live;
} SqpyteOpEffects;

/* What is compared of a cursor. */
#define SQPYTE_CURSOR_FIELDS(F) \
  F(object, "the cursor object") F(type, "its type") F(nullRow, "nullRow") \
  F(deferred, "the deferred seek") F(target, "the deferred seek's rowid") \
  F(alternate, "the deferred seek's index") F(handle, "the handle") F(state, "the B-tree cursor's state") \
  F(page, "the page") F(number, "the page's number") F(index, "the index in the page") \
  F(path, "the way from the root") F(row, "the row's bytes") F(sorted, "the sorter's record")
#define SQPYTE_CURSOR_COUNTS(F) \
  F(sequence, "the sequence number") F(hit, "seekHit") F(cache, "the decoded header's validity") \
  F(result, "seekResult")
typedef struct SqpyteCursorState {
#define F(name, text) u64 name;
  SQPYTE_CURSOR_FIELDS(F)
  SQPYTE_CURSOR_COUNTS(F)
#undef F
} SqpyteCursorState;

/* One frame of a running program: its main program, or a trigger's. */
typedef struct SqpyteCheckedFrame SqpyteCheckedFrame;
struct SqpyteCheckedFrame {
  SqpyteCheckedFrame *pParent;
  SqpyteProgram *pProgram;
  VdbeFrame *pFrame;        /* Vdbe.pFrame while it runs */
  Op *aOp;
  Mem *aMem;
  int n;                    /* registers 1..n are the program's */
  int pc;                   /* the opcode that is executed */
  int iScan;                /* where the next scan of a large frame begins */
  Mem *aKept;               /* the register's value while poison is in its place */
  u8 *aOut;                 /* whether that is so: SQPYTE_POISON_* */
  u8 *aRole;                /* of the opcode that is executed: SQPYTE_READ | SQPYTE_WRITE */
  u64 *aDigest;             /* of the value kept; of a register that is only read, before the opcode */
  int *aDead;               /* 1 + address at which liveness says that nobody reads it */
  int *aConverted;          /* 1 + address of the opcode that has converted it */
  SqpyteCursorState *aCursor;
  int nCursor;
};
#define SQPYTE_READ 1
#define SQPYTE_WRITE 2
#define SQPYTE_POISON_TEXT 1
#define SQPYTE_POISON_NULL 2

/* A sqlite3_step that is being checked. */
typedef struct SqpyteCheckedRun SqpyteCheckedRun;
struct SqpyteCheckedRun {
  Vdbe *p;
  SqpyteCheckedFrame *pTop;
  SqpyteCheckedRun *pOuter; /* of the same thread: a function of it runs this one */
  int halted;               /* sqlite3VdbeHalt has the registers */
};

/* Beside each Vdbe. */
typedef struct SqpyteEffects {
  SqpyteProgram *pPrograms;
  SqpyteCheckedRun *pRun;
  int *aDead;               /* of the main program's registers, between two sqlite3_step */
  int nDead;
} SqpyteEffects;

#endif
