/*
** Call logs (see call_log.h). Compiled as the tail of engine.c, after fused.c.
**
** While the statement runs ahead, the watched opcodes of its program are SQPYTE_OP_WATCHED: sqlite3VdbeExec asks
** sqpyteWatched() at each of them, and needs no test at any other.
*/
#include "rows/call_log.h"
#include "rows/string_cache.c"

/* Back-edges of loops after which a log ends, however few records it has: the caller hasn't asked for them yet, and the
** VM may be faster. */
#define SQPYTE_AHEAD_BUDGET 10000

/* How a statement runs. */
#define SQPYTE_RUN_TO 0      /* as it is, to an opcode that begins an event */
#define SQPYTE_RUN_FILL 1    /* ahead */
#define SQPYTE_RUN_BACK 2    /* over what has been run ahead, after it was rolled back */
#define SQPYTE_RUN_SINK 3    /* the sink, record by record */

typedef struct SqpyteSavedCursor SqpyteSavedCursor;     /* checkpoint.c */

struct SqpyteLog {
  Vdbe *p;
  const i64 *aSpec;           /* of what is noted */
  const i64 *aTable;          /* its table, ... */
  int iFirst;                 /* ... from this pc on ... */
  int iLast;                  /* ... to this one */
  i64 *aOut;
  char *zFree;                /* the end of what is free in aOut */
  i64 *aNext;                 /* where the log goes on */
  i64 *aRecord;               /* the present record, if bInRecord */
  int nRecord;                /* records of the log */
  int nMost;
  int nValue;                 /* values of the present record of a plain log */
  i64 nNeed;                  /* bytes of a record that didn't fit in */
  int nSkip;                  /* SQPYTE_RUN_BACK: deferred opcodes to run over */
  int iRecord;                /* SQPYTE_RUN_SINK: the next record, ... */
  int iEnd;                   /* ... the one before which it ends */
  const i64 *aSinkRecord;     /* ... and the present one */
  int rc;                     /* how running ahead has failed, to be told later */
  u8 eMode;                   /* SQPYTE_RUN_* */
  u8 bInRecord;               /* between the first event of a record and its last */
  u8 bRunning;                /* the statement is running */
  u8 bClosed;                 /* and has been closed meanwhile */
  u8 bBeyond;                 /* it is beyond the last row of a row batch */
  u8 bCheckpoint;             /* it can be rolled back */
  int nOpcodeAlloc;
  u8 *aOpcode;                /* the watched opcodes */
  int nMem;                   /* aMem[] in use */
  int nSaved;                 /* aSaved[] in use */
  int nMemAlloc;
  int nSavedAlloc;
  Mem *aMem;                  /* the checkpoint: registers, ... */
  SqpyteSavedCursor *aSaved;  /* ... positions of cursors, ... */
  int iStart;                 /* ... the pc, ... */
  u64 stamp;                  /* ... and the stamp (validity.h) */
  char *aKey;                 /* keys inserted since: for each an i64 with the cursor's number and above 32 bits its
                              ** size, the key */
  i64 nKey;                   /* bytes of it in use */
  int nKeyAlloc;
  i64 *aDelete;               /* rows to be deleted: numbers of cursors, rowids */
  int nDelete;
  int nDeleteAlloc;
  i64 *aLast;                 /* the last rowids of tables that rows are inserted into */
  int nLastAlloc;
  Mem *aAside;                /* registers of a sink, while it runs, or of one opcode */
  int nAsideAlloc;
  Mem result;                 /* of such an opcode, until the next one */
  SqpyteStringCache *pStrings;    /* 0: no texts are looked up */
};

long sqpyte_log_open(long pStmt){
  SqpyteLog *pLog = sqlite3_malloc(sizeof(*pLog));
  if( pLog ){
    memset(pLog, 0, sizeof(*pLog));
    pLog->p = (Vdbe*)pStmt;
    sqlite3VdbeMemInit(&pLog->result, pLog->p->db, MEM_Null);
  }
  return (long)pLog;
}

void sqpyte_log_intern(long log){
  SqpyteLog *pLog = (SqpyteLog*)log;
  if( pLog->pStrings || SQPYTE_OFF(STRING_CACHE) ) return;
  pLog->pStrings = sqpyteInternOpen(pLog->p);
}

static void sqpyteForget(SqpyteLog *pLog){
  int i;
  for(i=0; i<pLog->nMem; i++) sqlite3VdbeMemRelease(&pLog->aMem[i]);
  pLog->nMem = pLog->nSaved = pLog->nKey = 0;
  pLog->bCheckpoint = 0;
}

void sqpyte_log_close(long log){
  SqpyteLog *pLog = (SqpyteLog*)log;
  if( pLog->bRunning ){
    pLog->bClosed = 1;        /* whoever runs it does it */
    return;
  }
  sqpyteForget(pLog);
  sqlite3VdbeMemRelease(&pLog->result);
  sqlite3_free(pLog->aMem);
  sqlite3_free(pLog->aSaved);
  sqlite3_free(pLog->aOpcode);
  sqlite3_free(pLog->aKey);
  sqlite3_free(pLog->pStrings);
  sqlite3_free(pLog->aDelete);
  sqlite3_free(pLog->aLast);
  sqlite3_free(pLog->aAside);
  sqlite3_free(pLog);
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

/* The three lists of the spec, one behind the other. */
static const i64 *sqpyteLists(const SqpyteLog *pLog){
  return pLog->aSpec + SQPYTE_AHEAD_LISTS;
}
static int sqpyteIsNumbered(const SqpyteLog *pLog){
  return pLog->aSpec[SQPYTE_AHEAD_STRIDE]==0;
}

/* The entry of the opcode at pc, 0 if it isn't watched. */
static const i64 *sqpyteEntry(const SqpyteLog *pLog, int pc){
  i64 i = pc>=pLog->iFirst && pc<=pLog->iLast ? pLog->aTable[pc - pLog->iFirst] : 0;
  return i ? pLog->aSpec + i : 0;
}
static int sqpyteKind(const i64 *aEntry){
  return (int)aEntry[SQPYTE_ENTRY_KIND] & (SQPYTE_KINDS-1);
}
static int sqpyteBegins(const i64 *aEntry){
  return sqpyteKind(aEntry)>=SQPYTE_KIND_CALL && (aEntry[SQPYTE_ENTRY_KIND] & SQPYTE_FLAG_BEGIN);
}

#include "rows/own_tables.c"
#include "rows/checkpoint.c"
#include "rows/sink.c"
#include "rows/records.c"

/* What stands in an opcode's place in the present mode: a question, nothing to be done, or 0: the opcode itself, which may
** become another one when it is done (AggStep, Once). */
static u8 sqpyteStandIn(const SqpyteLog *pLog, const i64 *aEntry){
  int eKind = sqpyteKind(aEntry);
  switch( pLog->eMode ){
    case SQPYTE_RUN_TO:
      return sqpyteBegins(aEntry) ? SQPYTE_OP_WATCHED : 0;
    case SQPYTE_RUN_FILL:
      return eKind==SQPYTE_KIND_SKIP ? OP_Noop : SQPYTE_OP_WATCHED;
    default:      /* what was to be deleted later is deleted in its time */
      return eKind==SQPYTE_KIND_DELETE || eKind==SQPYTE_KIND_RESET ? 0 : SQPYTE_OP_WATCHED;
  }
}

/* Puts something else in place of the watched opcodes, or puts them back. */
static void sqpyteLogPatch(SqpyteLog *pLog, int bPut){
  const i64 *aSpec = pLog->aSpec;
  u8 *aOpcode = pLog->aOpcode;
  int pc;
  if( pLog->eMode==SQPYTE_RUN_SINK ){
    sqpyteSinkPatch(pLog, bPut);
    return;
  }
  for(pc=(int)aSpec[SQPYTE_AHEAD_FIRST]; pc<=aSpec[SQPYTE_AHEAD_LAST]; pc++){
    const i64 *aEntry = sqpyteEntry(pLog, pc);
    u8 standIn = aEntry ? sqpyteStandIn(pLog, aEntry) : 0;
    Op *pOp = &pLog->p->aOp[pc];
    if( standIn==0 ) continue;
    if( bPut ){
      *aOpcode++ = pOp->opcode;
      pOp->opcode = standIn;
    }else{
      pOp->opcode = *aOpcode++;
    }
  }
}

/* What the ResultRow of a row batch does: as sqpyteWatched(). */
static int sqpyteBatchRow(SqpyteLog *pLog, int pc, const Op *pOp){
  int bLast;
  if( pLog->eMode==SQPYTE_RUN_FILL ){
    if( !sqpyteNoteRow(pLog, &pLog->p->aMem[pOp->p1], pOp->p2) ) return -1 - pc;
    if( pLog->pStrings ) sqpyteInternRow(pLog->pStrings, pLog->aRecord, pOp->p2);
    bLast = pLog->nRecord==pLog->nMost;
  }else{
    bLast = --pLog->nSkip==0;
  }
  if( !bLast ) return pc+1;
  pLog->bBeyond = 0;
  return -1 - (pc+1);
}

/* What a deferred opcode does: as sqpyteWatched(). */
static int sqpyteDeferred(SqpyteLog *pLog, int pc, const i64 *aEntry){
  Vdbe *p = pLog->p;
  const Op *pOp = &p->aOp[pc];
  int i;
  if( pLog->eMode==SQPYTE_RUN_TO ) return -1 - pc;
  if( pLog->eMode==SQPYTE_RUN_BACK ){
    if( pLog->nSkip==0 ) return -1 - pc;
    pLog->nSkip--;
  }else{
    if( !(sqpyteIsNumbered(pLog) ? sqpyteNumberedEvent : sqpytePlainEvent)(pLog, aEntry) ) return -1 - pc;
    if( aEntry[SQPYTE_ENTRY_KIND] & SQPYTE_FLAG_END ) sqpyteEndRecord(pLog);
  }
  if( sqpyteKind(aEntry)==SQPYTE_KIND_NULL ){
    for(i=pOp->p2; i==pOp->p2 || i<=pOp->p3; i++) sqlite3VdbeMemSetNull(&p->aMem[i]);
  }
  return pc+1;
}

/* What an opcode that is watched does: returns the pc to go on with, or minus one minus the pc before which the statement
** stops. */
int sqpyteWatched(Vdbe *p, int pc){
  SqpyteLog *pLog = p->sqpyteLog;
  const Op *pOp = &p->aOp[pc];
  const i64 *aEntry;
  if( pLog->eMode==SQPYTE_RUN_SINK ) return sqpyteSinkWatched(pLog, pc);
  aEntry = sqpyteEntry(pLog, pc);
  switch( sqpyteKind(aEntry) ){
    case SQPYTE_KIND_ROW:
      return sqpyteBatchRow(pLog, pc, pOp);
    case SQPYTE_KIND_STOP:
      return -1 - pc;
    case SQPYTE_KIND_ONCE:
      return pOp->p1==p->aOp[0].p1 ? pOp->p2 : -1 - pc;
    case SQPYTE_KIND_KEY:
      return sqpyteInsertKey(pLog, pOp) ? pc+1 : -1 - pc;
    case SQPYTE_KIND_DELETE:
      return sqpyteDeleteLater(pLog, pOp->p1) ? pc+1 : -1 - pc;
    case SQPYTE_KIND_RESET:
      return sqpyteResetNow(pLog, pOp->p1) ? pc+1 : -1 - pc;
    default:
      return sqpyteDeferred(pLog, pc, aEntry);
  }
}

/* In place of sqlite3VdbeExec while a statement runs ahead. */
static int sqpyteRunAhead(Vdbe *p){
  SqpyteLog *pLog = p->sqpyteLog;
  int rc;
  p->pResultRow = 0;
  sqpyteLogPatch(pLog, 1);
  p->sqpyteBudget = pLog->eMode==SQPYTE_RUN_FILL ? SQPYTE_AHEAD_BUDGET : 0;
  rc = sqlite3VdbeExec(p);
  p->sqpyteBudget = 0;
  sqpyteLogPatch(pLog, 0);
  p->cacheCtr = (p->cacheCtr + 2)|1;
  /* As in sqpyteRunTo(). */
  if( pLog->eMode==SQPYTE_RUN_TO ) p->sqpyteMidStep = rc==SQPYTE_STOP ? SQPYTE_STEP_MID : 0;
  return rc==SQPYTE_STOP || rc==SQPYTE_HOT ? SQLITE_ROW : rc;
}

/* Runs the statement in a mode; aCells: see sqpyte_step(), 0 for what returns no rows. */
static int sqpyteLogRun(SqpyteLog *pLog, int eMode, i64 *aCells){
  Vdbe *p = pLog->p;
  int rc;
  pLog->eMode = (u8)eMode;
  pLog->bRunning = 1;
  p->sqpyteLog = pLog;
  rc = aCells ? sqpyte_step((sqlite3_stmt*)p, aCells) : sqlite3_step((sqlite3_stmt*)p);
  pLog->bRunning = 0;
  if( !pLog->bClosed ) p->sqpyteLog = 0;
  return rc;
}

/* Steps the statement as it is. */
static int sqpyteLogStep(SqpyteLog *pLog, i64 *aCells){
  int rc;
  pLog->bRunning = 1;
  rc = sqpyte_step((sqlite3_stmt*)pLog->p, aCells);
  pLog->bRunning = 0;
  return rc;
}

/* Whether the statement is before an opcode that begins an event. */
static int sqpyteAtEvent(const SqpyteLog *pLog){
  const Vdbe *p = pLog->p;
  const i64 *aEntry = sqpyteEntry(pLog, p->pc);
  return p->eVdbeState==VDBE_RUN_STATE && p->sqpyteError==0 && aEntry && sqpyteBegins(aEntry);
}

/* Runs the statement to such an opcode; SQLITE_ROW without columns if it is there. */
static int sqpyteToEvent(SqpyteLog *pLog, i64 *aCells, int bPass){
  Vdbe *p = pLog->p;
  int rc;
  if( bPass ){
    p->sqpyteStopPc = p->pc + 1;
    rc = sqpyteLogStep(pLog, aCells);
    if( pLog->bClosed || rc!=SQLITE_ROW || aCells[SQPYTE_ROW_COLUMNS] ) return rc;
  }
  rc = sqpyteLogRun(pLog, SQPYTE_RUN_TO, aCells);
  if( !pLog->bClosed && rc==SQLITE_ROW && aCells[SQPYTE_ROW_COLUMNS]==0 && !sqpyteAtEvent(pLog) ){
    rc = sqpyteLogStep(pLog, aCells);     /* has the error */
  }
  return rc;
}

/* Has C run ahead, if that can be rolled back or needn't be. */
static void sqpyteFill(SqpyteLog *pLog){
  int rc, nBefore = pLog->nRecord;
  if( pLog->p->pFrame || (pLog->aSpec[SQPYTE_AHEAD_REVERSIBLE] && !sqpyteCheckpoint(pLog)) ) return;
  pLog->bBeyond = 1;
  rc = sqpyteLogRun(pLog, SQPYTE_RUN_FILL, 0);
  if( rc!=SQLITE_ROW ) pLog->rc = rc;
  if( (rc & 0xff)==SQLITE_IOERR ) pLog->nRecord = nBefore;    /* computed from pages that couldn't be read */
  if( !pLog->bInRecord ) return;
  if( sqpyteIsNumbered(pLog) ){
    sqpyteEndRecord(pLog);      /* the next log goes on with it */
  }else if( rc==SQLITE_ROW ){
    sqpyteRecordAgain(pLog);    /* no room, or an error: of the row, but behind the call */
  }
}

/* An empty log of at most nMost records. Returns what has ended the statement while it ran ahead, which becomes the
** connection's error now; 0 if nothing has. */
static int sqpyteBegin(SqpyteLog *pLog, const i64 *aSpec, i64 *aCells, i64 *aOut, int nMost){
  sqlite3 *db = pLog->p->db;
  int rc = pLog->rc;
  sqpyteForget(pLog);
  pLog->aSpec = aSpec;
  pLog->aTable = sqpyteLists(pLog) + aSpec[SQPYTE_AHEAD_REGISTERS] + aSpec[SQPYTE_AHEAD_CURSORS]
      + aSpec[SQPYTE_AHEAD_INSERTS];
  pLog->iFirst = (int)aSpec[SQPYTE_AHEAD_FIRST];
  pLog->iLast = (int)aSpec[SQPYTE_AHEAD_LAST];
  pLog->aOut = aOut;
  pLog->aNext = aOut + SQPYTE_LOG_RECORDS;
  pLog->zFree = (char*)(aOut + aOut[SQPYTE_LOG_CAPACITY]);
  pLog->nRecord = pLog->nSkip = pLog->bInRecord = pLog->bBeyond = 0;
  pLog->nNeed = 0;
  pLog->nMost = nMost;
  aOut[SQPYTE_LOG_COUNT] = aOut[SQPYTE_LOG_NEED] = 0;
  aOut[SQPYTE_LOG_STAMP] = db->nSqpyteStamp;
  aOut[SQPYTE_LOG_AT_EVENT] = 1;
  aCells[SQPYTE_ROW_COLUMNS] = 0;
  if( rc ){
    pLog->rc = 0;
    sqlite3_mutex_enter(db->mutex);
    sqlite3Error(db, rc);
    sqlite3_mutex_leave(db->mutex);
  }else if( !sqpyteRoom((void**)&pLog->aOpcode, &pLog->nOpcodeAlloc, sqpyteMostPatched(pLog), 1) ){
    rc = SQLITE_NOMEM;
  }
  return rc;
}

int sqpyte_log_rows(long log, long spec, long cells, long out, int nMost){
  SqpyteLog *pLog = (SqpyteLog*)log;
  const i64 *aSpec = (const i64*)spec;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pLog->p;
  sqlite3 *db = p->db;
  int nColumn;
  int rc = sqpyteBegin(pLog, aSpec, aCells, aOut, nMost);
  if( rc ) return rc;
  rc = sqpyteLogStep(pLog, aCells);
  if( pLog->bClosed ){
    sqpyte_log_close(log);
    return rc;
  }
  if( rc!=SQLITE_ROW ) return rc;
  nColumn = (int)aCells[SQPYTE_ROW_COLUMNS];
  aOut[SQPYTE_LOG_STOPPED] = aOut[SQPYTE_LOG_UNDO] = 1;
  aOut[SQPYTE_LOG_PC] = p->pc;
  aOut[SQPYTE_LOG_STAMP] = db->nSqpyteStamp;
  if( 2*nColumn!=aSpec[SQPYTE_AHEAD_STRIDE] || !sqpyteNoteRow(pLog, p->pResultRow, nColumn) ) return SQLITE_ROW;
  aOut[SQPYTE_LOG_COUNT] = 1;
  if( nMost<2 || p->pc!=aSpec[SQPYTE_AHEAD_PC] || db->xProgress || (db->mTrace & SQLITE_TRACE_ROW) ){
    return SQLITE_ROW;
  }
  SQPYTE_COUNT(ROW_BATCHES);
  sqlite3_mutex_enter(db->mutex);
  sqpyteFill(pLog);
  sqlite3_mutex_leave(db->mutex);
  aOut[SQPYTE_LOG_COUNT] = pLog->nRecord;
  aOut[SQPYTE_LOG_STOPPED] = pLog->nRecord<nMost;
  aOut[SQPYTE_LOG_UNDO] = pLog->bCheckpoint || (!pLog->bBeyond && pLog->nRecord==1);
  return SQLITE_ROW;
}

int sqpyte_log_fill(long log, long spec, long cells, long out, int nMost, int bPass){
  SqpyteLog *pLog = (SqpyteLog*)log;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pLog->p;
  sqlite3 *db = p->db;
  int rc = sqpyteBegin(pLog, (const i64*)spec, aCells, aOut, nMost);
  if( rc ) return rc;
  sqlite3_mutex_enter(db->mutex);
  rc = sqpyteDeleteNow(pLog);
  sqlite3_mutex_leave(db->mutex);
  if( rc ) p->sqpyteError = rc;
  if( bPass || !sqpyteAtEvent(pLog) ){
    rc = sqpyteToEvent(pLog, aCells, bPass);
    if( pLog->bClosed ){
      sqpyte_log_close(log);
      return rc;
    }
    if( rc!=SQLITE_ROW || aCells[SQPYTE_ROW_COLUMNS] ) return rc;
  }
  if( sqpyteIsNumbered(pLog) ) SQPYTE_COUNT(WINDOW_LOGS);
  else SQPYTE_COUNT(SLICES);
  sqlite3_mutex_enter(db->mutex);
  aOut[SQPYTE_LOG_STAMP] = db->nSqpyteStamp;
  if( nMost>0 ) sqpyteFill(pLog);
  sqlite3_mutex_leave(db->mutex);
  aOut[SQPYTE_LOG_COUNT] = pLog->nRecord;
  aOut[SQPYTE_LOG_AT_EVENT] = sqpyteAtEvent(pLog);
  aOut[SQPYTE_LOG_END] = pLog->aNext - aOut;
  aOut[SQPYTE_LOG_NEED] = pLog->nNeed;
  return SQLITE_ROW;
}

int sqpyte_log_back(long log, int nDeferred){
  SqpyteLog *pLog = (SqpyteLog*)log;
  Vdbe *p = pLog->p;
  int rc;
  if( !pLog->bBeyond && nDeferred==pLog->nRecord-1 ) return SQLITE_OK;    /* behind the last row of a row batch */
  sqlite3_mutex_enter(p->db->mutex);
  rc = sqpyteRollBack(pLog);
  if( rc==SQLITE_OK && p->sqpyteError==SQLITE_OK && nDeferred>0 ){
    pLog->nSkip = nDeferred;
    rc = sqpyteLogRun(pLog, SQPYTE_RUN_BACK, 0);
    if( rc==SQLITE_ROW ){
      rc = pLog->nSkip ? SQLITE_MISUSE : SQLITE_OK;
      pLog->nSkip = 0;
    }else{
      pLog->rc = rc;          /* out of memory: the statement has ended */
    }
  }
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}

#include "rows/one_opcode.c"

i64 sqpyte_take_accumulator(long mem){
  Mem *pMem = (Mem*)mem;
  i64 key = 0;
  if( pMem->flags & MEM_Agg ){
    key = *(i64*)pMem->z;
    pMem->flags = MEM_Null;
  }
  return key;
}

void sqpyte_roll_back_by(sqlite3 *db, void (*xRollBack)(void*)){
  db->xSqpyteRollBack = xRollBack;
}

void sqpyte_interrupt(sqlite3 *db){
  sqlite3_interrupt(db);
  __atomic_add_fetch(&db->nSqpyteStamp, 1, __ATOMIC_RELAXED);
}

int sqpyte_pure_function(long pFuncDef){
  FuncDef *p = (FuncDef*)pFuncDef;
  if( !sqpyteIsOwn(p) ) return 0;
  if( p->xFinalize ) return 1;
  return (p->funcFlags & (SQLITE_FUNC_CONSTANT|SQLITE_FUNC_SLOCHNG))==SQLITE_FUNC_CONSTANT;
}
