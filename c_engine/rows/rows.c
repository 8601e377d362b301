/*
** Row batches (see rows.h). Compiled as the tail of engine.c, after fused.c.
**
** While the statement runs ahead, the watched opcodes of its program are
** SQPYTE_OP_WATCHED: sqlite3VdbeExec asks sqpyteWatched() at each of them, and
** needs no test at any other.
*/
#include "rows/rows.h"
#include "rows/cuts.h"
#include "rows/string_cache.c"
#include "rows/tapes.h"

/* Back-edges of loops after which a batch ends, however few rows it has: the
** caller hasn't asked for them yet, and the VM may be faster. */
#define SQPYTE_AHEAD_BUDGET 10000

/* Where a cursor is. */
typedef struct SqpyteSavedCursor SqpyteSavedCursor;
struct SqpyteSavedCursor {
  VdbeCursor *pC;             /* 0: nothing noted */
  i64 movetoTarget;
  i64 seqCount;
  i64 iKey;                   /* bByKey: the row's */
  int iAlt;                   /* number of pAltCursor, -1 if there is none */
  int seekResult;
  int skipNext;
  u32 *aAltMap;
  u16 seekHit;
  u8 nullRow;
  u8 deferredMoveto;
  u8 bByKey;                  /* on a row with the rowid iKey, whatever its page */
  u8 eState;
  i8 iPage;
  u16 aiIdx[BTCURSOR_MAX_DEPTH];    /* the last one used is BtCursor.ix */
};

struct SqpyteRows {
  Vdbe *p;
  const i64 *aSpec;           /* of what is noted */
  i64 *aOut;
  char *zFree;                /* the end of what is free in aOut */
  int nRow;                   /* rows of the batch */
  int nMost;
  int nSkip;                  /* rows to run over, when it has been undone */
  int rc;                     /* how running ahead has failed, to be told later */
  int nMem;                   /* aMem[] in use */
  int nSaved;                 /* aSaved[] in use */
  int nMemAlloc;
  int nSavedAlloc;
  int nOpcodeAlloc;
  u8 eCut;                    /* SQPYTE_CUT_*: how the statement runs at present */
  u8 bInRow;                  /* between a cut's first opcode and its last */
  u8 bRunning;                /* the statement is running */
  u8 bClosed;                 /* and has been closed meanwhile */
  int iStop;                  /* SQPYTE_CUT_BACK: before which opcode it stops */
  i64 nNeed;                  /* bytes of a row that didn't fit in */
  const i64 *aLate;           /* the next of the cut's late opcodes */
  int iSlot;                  /* the next value of the row */
  u8 bCheckpoint;                  /* it can be undone */
  u8 bBeyond;                 /* the statement is beyond the last row */
  Mem *aMem;
  SqpyteSavedCursor *aSaved;
  u8 *aOpcode;                /* the watched opcodes */
  char *aLog;                 /* keys inserted: for each an i64 with the cursor's
                              ** number and above 32 bits its size, the key */
  i64 nLog;                   /* bytes of it in use */
  int nLogAlloc;
  SqpyteStringCache *pStrings;      /* 0: no texts are looked up */
  int iStart;                 /* pc where the state was noted, ... */
  u64 stamp;                  /* ... and the stamp (validity.h) */
  u8 bTape;                   /* the spec has a tape (tapes.h), not a cut */
  int nEvent;                 /* events of the present row */
  i64 *aRow;                  /* the present row, if bInRow */
  i64 *aNext;                 /* where the tape goes on */
  i64 *aDelete;               /* rows to be deleted: numbers of cursors, rowids */
  int nDelete;
  int nDeleteAlloc;
  i64 *aLast;                 /* the last rowids of tables that rows are inserted into */
  int nLastAlloc;
  Mem *aTail;                 /* the registers of a tail, while it runs */
  int nTailAlloc;
  const i64 *aTailRow;        /* the row that a tail is done for */
};

long sqpyte_rows_open(long pStmt){
  SqpyteRows *pRows = sqlite3_malloc(sizeof(*pRows));
  if( pRows ){
    memset(pRows, 0, sizeof(*pRows));
    pRows->p = (Vdbe*)pStmt;
  }
  return (long)pRows;
}

void sqpyte_rows_intern(long rows, long source){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  if( pRows->pStrings || SQPYTE_OFF(STRING_CACHE) ) return;
  pRows->pStrings = sqpyteInternOpen(pRows->p, (const i64*)source);
}

static void sqpyteForget(SqpyteRows *pRows){
  int i;
  for(i=0; i<pRows->nMem; i++) sqlite3VdbeMemRelease(&pRows->aMem[i]);
  pRows->nMem = pRows->nSaved = pRows->nLog = 0;
  pRows->bCheckpoint = 0;
}

void sqpyte_rows_close(long rows){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  if( pRows->bRunning ){
    pRows->bClosed = 1;       /* sqpyte_cut() does it */
    return;
  }
  sqpyteForget(pRows);
  sqlite3_free(pRows->aMem);
  sqlite3_free(pRows->aSaved);
  sqlite3_free(pRows->aOpcode);
  sqlite3_free(pRows->aLog);
  sqlite3_free(pRows->pStrings);
  sqlite3_free(pRows->aDelete);
  sqlite3_free(pRows->aLast);
  sqlite3_free(pRows->aTail);
  sqlite3_free(pRows);
}

/* Makes room for n elements of nByte bytes; 0 if there is no memory. */
static int sqpyteRoom(void **ppArray, int *pnAlloc, i64 n, int nByte){
  if( n>*pnAlloc ){
    void *pNew = n>0x7fffffff/2 ? 0 : sqlite3_realloc64(*ppArray, (u64)n*nByte);
    if( pNew==0 ) return 0;
    *ppArray = pNew;
    *pnAlloc = (int)n;
  }
  return 1;
}

/* Copies cells into the buffer, texts and blobs included; 0 if there is no
** room. */
static int sqpyteKeepCells(SqpyteRows *pRows, const i64 *aFrom, int nCell){
  i64 *aTo = pRows->aOut + SQPYTE_ROWS_CELLS + pRows->nRow*2*nCell;
  char *zFree = pRows->zFree;
  int i;
  if( (char*)(aTo + 2*nCell)>zFree ) return 0;
  for(i=0; i<2*nCell; i+=2){
    i64 n = aFrom[i]>>3;
    aTo[i] = aFrom[i];
    aTo[i+1] = aFrom[i+1];
    if( n ){
      if( zFree - (char*)(aTo + 2*nCell)<n ) return 0;
      zFree -= n;
      memcpy(zFree, (const char*)(intptr_t)aFrom[i+1], n);
      aTo[i+1] = (i64)(intptr_t)zFree;
    }
  }
  pRows->zFree = zFree;
  pRows->nRow++;
  return 1;
}

/* The same for a result row in registers. */
static int sqpyteKeepRow(SqpyteRows *pRows, Mem *pMem, int nCell){
  i64 *aTo = pRows->aOut + SQPYTE_ROWS_CELLS + pRows->nRow*2*nCell;
  char *zFree = pRows->zFree;
  char *zEnd = (char*)(aTo + 2*nCell);
  int i;
  if( zEnd>zFree ) return 0;
  for(i=0; i<nCell; i++, pMem++, aTo+=2){
    int f = pMem->flags & (MEM_AffMask | MEM_Zero);
    if( f==MEM_Int ){
      aTo[0] = SQLITE_INTEGER;
      aTo[1] = pMem->u.i;
    }else if( f==MEM_Real ){
      aTo[0] = SQLITE_FLOAT;
      memcpy(&aTo[1], &pMem->u.r, sizeof(double));
    }else if( f==MEM_Null ){
      aTo[0] = SQLITE_NULL;
    }else if( (f==MEM_Str && pMem->enc==SQLITE_UTF8) || f==MEM_Blob ){
      int n = pMem->n;
      if( zFree - zEnd<n ) return 0;
      zFree -= n;
      if( n ) memcpy(zFree, pMem->z, n);
      aTo[0] = SQPYTE_TAG(f==MEM_Str ? SQLITE_TEXT : SQLITE_BLOB, n);
      aTo[1] = (i64)(intptr_t)zFree;
    }else{
      return 0;               /* sqpyte_step() knows */
    }
  }
  pRows->zFree = zFree;
  pRows->nRow++;
  if( pRows->pStrings ) sqpyteInternRow(pRows->pStrings, aTo - 2*nCell, nCell);
  return 1;
}

static int sqpyteCutWatched(SqpyteRows*, int);  /* cuts.c */
static void sqpyteCutPatch(SqpyteRows*, int);
static const i64 *sqpyteTapeEntry(const SqpyteRows*, int);    /* tapes.c */
static int sqpyteTapeWatches(const SqpyteRows*, const i64*);
static int sqpyteTapeWatched(SqpyteRows*, int, const i64*);
static void sqpyteTapePatch(SqpyteRows*, int);
static int sqpyteRollBackInserts(SqpyteRows*);
#include "rows/checkpoint.c"

/* What an opcode that is watched does: returns the pc to go on with, or minus
** one minus the pc before which the statement stops. */
int sqpyteWatched(Vdbe *p, int pc){
  SqpyteRows *pRows = p->sqpyteRows;
  const i64 *aSpec = pRows->aSpec;
  const i64 *aWatched = aSpec + SQPYTE_AHEAD_HEAD
      + aSpec[SQPYTE_AHEAD_REGISTERS] + aSpec[SQPYTE_AHEAD_CURSORS];
  const Op *pOp = &p->aOp[pc];
  int n = (int)aSpec[SQPYTE_AHEAD_WATCHED];
  int i = 0;
  if( pRows->bTape ){
    const i64 *aEntry = sqpyteTapeEntry(pRows, pc);
    if( sqpyteTapeWatches(pRows, aEntry) ) return sqpyteTapeWatched(pRows, pc, aEntry);
  }
  if( pRows->eCut==SQPYTE_CUT_REST ) return sqpyteCutWatched(pRows, pc);
  while( i<n && aWatched[i]!=pc ) i++;
  if( i==n || pRows->eCut==SQPYTE_CUT_TO ) return sqpyteCutWatched(pRows, pc);
  if( i<aSpec[SQPYTE_AHEAD_STOPS] ) return -1 - pc;
  switch( pRows->aOpcode[i] ){
    case OP_ResultRow:
      if( pRows->nSkip ){
        if( --pRows->nSkip==0 ) return -1 - (pc+1);
        return pc+1;
      }
      if( !sqpyteKeepRow(pRows, &p->aMem[pOp->p1], pOp->p2) ) return -1 - pc;
      if( pRows->nRow<pRows->nMost ) return pc+1;
      pRows->bBeyond = 0;
      return -1 - (pc+1);
    case OP_Once:
      if( pOp->p1==p->aOp[0].p1 ) return pOp->p2;
      break;
    case OP_IdxInsert:
      if( aSpec[SQPYTE_AHEAD_UNDO] && sqpyteInsertKey(pRows, pOp) ) return pc+1;
  }
  return -1 - pc;
}

/* In place of sqlite3VdbeExec while a statement runs ahead. */
static int sqpyteRunAhead(Vdbe *p){
  SqpyteRows *pRows = p->sqpyteRows;
  const i64 *aSpec = pRows->aSpec;
  const i64 *aWatched = aSpec + SQPYTE_AHEAD_HEAD
      + aSpec[SQPYTE_AHEAD_REGISTERS] + aSpec[SQPYTE_AHEAD_CURSORS];
  int n = (int)aSpec[SQPYTE_AHEAD_WATCHED];
  int rc, i;
  int nBudget = pRows->nSkip ? 0 : SQPYTE_AHEAD_BUDGET;
  p->pResultRow = 0;
  if( pRows->eCut==SQPYTE_CUT_TO || pRows->eCut==SQPYTE_CUT_REST ) n = 0;
  if( pRows->eCut!=SQPYTE_CUT_NONE && pRows->eCut!=SQPYTE_CUT_FILL ) nBudget = 0;
  for(i=0; i<n; i++){
    pRows->aOpcode[i] = p->aOp[aWatched[i]].opcode;
    p->aOp[aWatched[i]].opcode = SQPYTE_OP_WATCHED;
  }
  if( pRows->eCut ) (pRows->bTape ? sqpyteTapePatch : sqpyteCutPatch)(pRows, 1);
  p->sqpyteBudget = nBudget;
  rc = sqlite3VdbeExec(p);
  p->sqpyteBudget = 0;
  if( pRows->eCut ) (pRows->bTape ? sqpyteTapePatch : sqpyteCutPatch)(pRows, 0);
  for(i=0; i<n; i++) p->aOp[aWatched[i]].opcode = pRows->aOpcode[i];
  p->cacheCtr = (p->cacheCtr + 2)|1;
  return rc==SQPYTE_STOP || rc==SQPYTE_HOT ? SQLITE_ROW : rc;
}

/* What ended the statement while it ran ahead: becomes the connection's error now. 0 if nothing did. */
static int sqpyteEnded(SqpyteRows *pRows){
  sqlite3 *db = pRows->p->db;
  int rc = pRows->rc;
  if( rc ){
    pRows->rc = 0;
    sqlite3_mutex_enter(db->mutex);
    sqlite3Error(db, rc);
    sqlite3_mutex_leave(db->mutex);
  }
  return rc;
}

int sqpyte_rows(long rows, long spec, long cells, long out, int nMost){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  const i64 *aSpec = (const i64*)spec;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pRows->p;
  sqlite3 *db = p->db;
  int rc;
  SQPYTE_COUNT(ROW_BATCHES);
  sqpyteForget(pRows);
  pRows->nRow = pRows->bBeyond = 0;
  aOut[SQPYTE_ROWS_COUNT] = 0;
  rc = sqpyteEnded(pRows);
  if( rc ) return rc;
  rc = sqpyte_step((sqlite3_stmt*)p, aCells);
  if( rc!=SQLITE_ROW ) return rc;
  aOut[SQPYTE_ROWS_STOPPED] = 1;
  aOut[SQPYTE_ROWS_PC] = p->pc;
  aOut[SQPYTE_ROWS_UNDO] = 1;
  aOut[SQPYTE_ROWS_STAMP] = db->nSqpyteStamp;
  pRows->aOut = aOut;
  pRows->zFree = (char*)(aOut + aOut[SQPYTE_ROWS_CAPACITY]);
  if( !sqpyteKeepCells(pRows, aCells + SQPYTE_ROW_CELLS, (int)aCells[SQPYTE_ROW_COLUMNS]) ){
    return SQLITE_ROW;
  }
  aOut[SQPYTE_ROWS_COUNT] = 1;
  pRows->aSpec = aSpec;
  if( nMost<2 || p->pc!=aSpec[SQPYTE_AHEAD_PC] || p->pFrame
   || db->xProgress || (db->mTrace & SQLITE_TRACE_ROW)
   || !sqpyteRoom((void**)&pRows->aOpcode, &pRows->nOpcodeAlloc,
                  aSpec[SQPYTE_AHEAD_WATCHED], 1)
  ){
    return SQLITE_ROW;
  }
  sqlite3_mutex_enter(db->mutex);
  if( aSpec[SQPYTE_AHEAD_UNDO]==0 || sqpyteCheckpoint(pRows) ){
    pRows->nMost = nMost;
    pRows->bBeyond = 1;
    p->sqpyteRows = pRows;
    rc = sqlite3_step((sqlite3_stmt*)p);
    p->sqpyteRows = 0;
    if( rc!=SQLITE_ROW ) pRows->rc = rc;
  }
  sqlite3_mutex_leave(db->mutex);
  aOut[SQPYTE_ROWS_COUNT] = pRows->nRow;
  aOut[SQPYTE_ROWS_STOPPED] = pRows->nRow<nMost;
  aOut[SQPYTE_ROWS_UNDO] = pRows->bCheckpoint || !pRows->bBeyond && pRows->nRow==1;
  return SQLITE_ROW;
}

int sqpyte_rows_back(long rows, int iRow){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  Vdbe *p = pRows->p;
  int rc;
  if( !pRows->bBeyond && iRow==pRows->nRow-1 ) return SQLITE_OK;
  sqlite3_mutex_enter(p->db->mutex);
  rc = sqpyteRollBack(pRows);
  if( rc==SQLITE_OK && p->sqpyteError==SQLITE_OK && iRow>0 ){
    pRows->nSkip = iRow;
    p->sqpyteRows = pRows;
    rc = sqlite3_step((sqlite3_stmt*)p);
    p->sqpyteRows = 0;
    pRows->nSkip = 0;
    if( rc==SQLITE_ROW ){
      rc = SQLITE_OK;
    }else{
      pRows->rc = rc;         /* out of memory: the statement has ended */
    }
  }
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}

void sqpyte_roll_back_by(sqlite3 *db, void (*xRollBack)(void*)){
  db->xSqpyteRollBack = xRollBack;
}

int sqpyte_pure_function(long pFuncDef){
  FuncDef *p = (FuncDef*)pFuncDef;
  if( (p->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( p->xFinalize ) return 1;
  return (p->funcFlags & (SQLITE_FUNC_CONSTANT|SQLITE_FUNC_SLOCHNG))==SQLITE_FUNC_CONSTANT;
}
