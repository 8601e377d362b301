/*
** Tapes (see tapes.h). Compiled as the tail of engine.c, after cuts.c.
*/
#include "rows/tapes.h"

#define SQPYTE_MOST_DELETES 4096  /* rows to be deleted later */

static const i64 *sqpyteTapeOf(const SqpyteRows *pRows){
  return pRows->aSpec + pRows->aSpec[SQPYTE_AHEAD_CUT];
}

/* The entry of the opcode at pc, 0 if it isn't late. */
static const i64 *sqpyteTapeEntry(const SqpyteRows *pRows, int pc){
  const i64 *aTape = sqpyteTapeOf(pRows);
  i64 i;
  if( pc<aTape[SQPYTE_TAPE_FIRST] || pc>aTape[SQPYTE_TAPE_LAST] ) return 0;
  i = aTape[SQPYTE_TAPE_HEAD + pc - aTape[SQPYTE_TAPE_FIRST]];
  return i ? &aTape[i] : 0;
}

/* Whether the late opcode with this entry is watched in the present manner: what
** is deleted in its time isn't, but while running ahead. */
static int sqpyteTapeWatches(const SqpyteRows *pRows, const i64 *aEntry){
  return aEntry && (pRows->eCut==SQPYTE_CUT_FILL || aEntry[SQPYTE_ENTRY_KIND]<SQPYTE_KIND_DELETE);
}

/* Puts something else in place of the late opcodes, or puts them back. */
static void sqpyteTapePatch(SqpyteRows *pRows, int bPut){
  const i64 *aTape = sqpyteTapeOf(pRows);
  u8 *aOpcode = pRows->aOpcode + pRows->aSpec[SQPYTE_AHEAD_WATCHED];
  int pc;
  for(pc=(int)aTape[SQPYTE_TAPE_FIRST]; pc<=aTape[SQPYTE_TAPE_LAST]; pc++){
    Op *pOp = &pRows->p->aOp[pc];
    if( !sqpyteTapeWatches(pRows, sqpyteTapeEntry(pRows, pc)) ) continue;
    if( bPut ){
      *aOpcode++ = pOp->opcode;
      pOp->opcode = SQPYTE_OP_WATCHED;
    }else{
      pOp->opcode = *aOpcode++;
    }
  }
}

/* A cursor of the statement on a rowid table of its own; 0 if it is something else. */
static VdbeCursor *sqpyteOwnTable(Vdbe *p, int iCursor){
  VdbeCursor *pC = iCursor<p->nCursor ? p->apCsr[iCursor] : 0;
  return pC && pC->eCurType==CURTYPE_BTREE && pC->isEphemeral && pC->isTable ? pC : 0;
}

/* Notes the row to be deleted that a cursor is on; 0 if that can't be done. */
static int sqpyteDeleteLater(SqpyteRows *pRows, int iCursor){
  VdbeCursor *pC = sqpyteOwnTable(pRows->p, iCursor);
  BtCursor *pCur;
  if( pC==0 || pRows->nDelete==SQPYTE_MOST_DELETES
   || !sqpyteRoom((void**)&pRows->aDelete, &pRows->nDeleteAlloc,
                  pRows->nDelete<128 ? 128 : 2*(i64)pRows->nDelete, 2*sizeof(i64))
  ){
    return 0;
  }
  pCur = pC->uc.pCursor;
  if( pCur->eState>=CURSOR_REQUIRESEEK && btreeRestoreCursorPosition(pCur) ) return 0;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  pRows->aDelete[2*pRows->nDelete] = iCursor;
  pRows->aDelete[2*pRows->nDelete+1] = sqlite3BtreeIntegerKey(pCur);
  pRows->nDelete++;
  return 1;
}

/* Deletes them now, through a cursor that nobody else uses. */
static int sqpyteDeleteNow(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  VdbeCursor *pOpen = 0;
  BtCursor *pCur = 0;
  int rc = SQLITE_OK;
  int i, res;
  int n = pRows->nDelete;
  pRows->nDelete = 0;
  if( n==0 || p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_OK;
  pCur = sqlite3_malloc(sqlite3BtreeCursorSize());
  if( pCur==0 ) return SQLITE_NOMEM;
  for(i=0; i<n && rc==SQLITE_OK; i++){
    VdbeCursor *pC = sqpyteOwnTable(p, (int)pRows->aDelete[2*i]);
    if( pC==0 ) continue;
    if( pOpen!=pC ){
      if( pOpen ) sqlite3BtreeCloseCursor(pCur);
      sqlite3BtreeCursorZero(pCur);
      rc = sqlite3BtreeCursor(pC->ub.pBtx, pC->pgnoRoot, BTREE_WRCSR, 0, pCur);
      pOpen = rc==SQLITE_OK ? pC : 0;
      if( rc ) break;
    }
    rc = sqlite3BtreeTableMoveto(pCur, pRows->aDelete[2*i+1], 0, &res);
    if( rc==SQLITE_OK && res==0 ) rc = sqlite3BtreeDelete(pCur, BTREE_SAVEPOSITION);
  }
  if( pOpen ) sqlite3BtreeCloseCursor(pCur);
  sqlite3_free(pCur);
  p->cacheCtr = (p->cacheCtr + 2)|1;
  return rc;
}

/* Notes the last rowid of each table that rows are inserted into; 0 if that can't
** be done. */
static int sqpyteCheckpointInserts(SqpyteRows *pRows){
  const i64 *aTape = sqpyteTapeOf(pRows);
  int n = (int)aTape[SQPYTE_TAPE_INSERTS];
  const i64 *aCursor = &aTape[SQPYTE_TAPE_HEAD + aTape[SQPYTE_TAPE_LAST]
                              - aTape[SQPYTE_TAPE_FIRST] + 1];
  int i, res;
  if( !sqpyteRoom((void**)&pRows->aLast, &pRows->nLastAlloc, n, sizeof(i64)) ) return 0;
  for(i=0; i<n; i++){
    VdbeCursor *pC = sqpyteOwnTable(pRows->p, (int)aCursor[i]);
    if( pC==0 || sqlite3BtreeLast(pC->uc.pCursor, &res) ) return 0;
    pRows->aLast[i] = res ? 0 : sqlite3BtreeIntegerKey(pC->uc.pCursor);
    pC->cacheStatus = CACHE_STALE;
  }
  return 1;
}

/* Takes out again what has been inserted since. */
static int sqpyteRollBackInserts(SqpyteRows *pRows){
  const i64 *aTape = sqpyteTapeOf(pRows);
  const i64 *aCursor = &aTape[SQPYTE_TAPE_HEAD + aTape[SQPYTE_TAPE_LAST]
                              - aTape[SQPYTE_TAPE_FIRST] + 1];
  int rc = SQLITE_OK;
  int i, res;
  for(i=0; i<aTape[SQPYTE_TAPE_INSERTS] && rc==SQLITE_OK; i++){
    VdbeCursor *pC = sqpyteOwnTable(pRows->p, (int)aCursor[i]);
    if( pC==0 ) return SQLITE_MISUSE;
    pC->cacheStatus = CACHE_STALE;
    while( (rc = sqlite3BtreeLast(pC->uc.pCursor, &res))==SQLITE_OK && res==0
        && sqlite3BtreeIntegerKey(pC->uc.pCursor)>pRows->aLast[i]
    ){
      rc = sqlite3BtreeDelete(pC->uc.pCursor, 0);
      if( rc ) break;
    }
  }
  return rc;
}

/* Keeps the registers of an entry as an event; 0 if there is no room. */
static int sqpyteTapeEvent(SqpyteRows *pRows, const i64 *aEntry){
  int n = (int)aEntry[SQPYTE_ENTRY_COUNT];
  int nTag = (n+15)/16;
  i64 *aEvent = pRows->aNext;
  i64 *aEnd;
  int i;
  if( !pRows->bInRow ) aEvent += SQPYTE_TAPE_EVENTS;
  aEnd = aEvent + 1 + nTag + n;
  if( pRows->zFree<(char*)aEnd ){
    pRows->nNeed = (SQPYTE_TAPE_EVENTS + 1 + nTag + n)*sizeof(i64);
    return 0;
  }
  aEvent[0] = aEntry[SQPYTE_ENTRY_NUMBER];
  memset(&aEvent[1], 0, nTag*sizeof(i64));
  pRows->iSlot = 0;
  for(i=0; i<n; i++){
    Mem *pMem = &pRows->p->aMem[aEntry[SQPYTE_ENTRY_REGISTERS+i]];
    if( !sqpyteKeepValue(pRows, pMem, aEvent+1, nTag, (char*)aEnd) ) return 0;
  }
  if( !pRows->bInRow ){
    pRows->aRow = pRows->aNext;
    pRows->aRow[SQPYTE_TAPE_SHAPE] = 0;
    pRows->nEvent = 0;
    pRows->bInRow = 1;
  }
  pRows->aNext = aEnd;
  pRows->nEvent++;
  pRows->aRow[SQPYTE_TAPE_SHAPE] = pRows->nEvent>SQPYTE_MOST_EVENTS ? -1
      : pRows->aRow[SQPYTE_TAPE_SHAPE]<<5 | (aEvent[0]+1);
  return 1;
}

/* Ends the present row. */
static void sqpyteTapeRow(SqpyteRows *pRows){
  pRows->aRow[SQPYTE_TAPE_SIZE] = pRows->aNext - pRows->aRow;
  pRows->nRow++;
  pRows->bInRow = 0;
}

/* What sqpyteWatched() does for a late opcode. */
static int sqpyteTapeWatched(SqpyteRows *pRows, int pc, const i64 *aEntry){
  Vdbe *p = pRows->p;
  Op *pOp = &p->aOp[pc];
  int eKind = (int)aEntry[SQPYTE_ENTRY_KIND];
  int i;
  if( pRows->eCut==SQPYTE_CUT_TO ) return -1 - pc;
  if( pRows->eCut==SQPYTE_CUT_BACK ){
    if( pRows->nSkip==0 ) return -1 - pc;
    pRows->nSkip--;
  }else if( eKind==SQPYTE_KIND_DELETE ){
    return sqpyteDeleteLater(pRows, pOp->p1) ? pc+1 : -1 - pc;
  }else if( eKind==SQPYTE_KIND_RESET ){
    VdbeCursor *pC = sqpyteOwnTable(p, pOp->p1);
    if( pC==0 || sqlite3BtreeClearTableOfCursor(pC->uc.pCursor) ) return -1 - pc;
    pRows->nDelete = 0;
    return pc+1;
  }else{
    if( pRows->nRow==pRows->nMost || !sqpyteTapeEvent(pRows, aEntry) ) return -1 - pc;
    if( eKind==SQPYTE_KIND_ROW ) sqpyteTapeRow(pRows);
  }
  if( eKind==SQPYTE_KIND_NULL ){
    for(i=pOp->p2; i==pOp->p2 || i<=pOp->p3; i++) sqlite3VdbeMemSetNull(&p->aMem[i]);
  }
  return pc+1;
}

/* Whether the statement is before a late opcode with an event. */
static int sqpyteAtLate(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  const i64 *aEntry = sqpyteTapeEntry(pRows, p->pc);
  return p->eVdbeState==VDBE_RUN_STATE && p->sqpyteError==0 && aEntry
      && aEntry[SQPYTE_ENTRY_KIND]<SQPYTE_KIND_DELETE;
}

int sqpyte_tape(long rows, long spec, long cells, long out, int nMost){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  const i64 *aSpec = (const i64*)spec;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pRows->p;
  sqlite3 *db = p->db;
  int rc, bCheckpoint;
  SQPYTE_COUNT(TAPES);
  pRows->bTape = 1;
  pRows->aNext = aOut + SQPYTE_ROWS_CELLS;
  rc = sqpyteBeginBatch(pRows, aSpec, aCells, aOut, nMost);
  if( rc ) return rc;
  if( !sqpyteRoom((void**)&pRows->aOpcode, &pRows->nOpcodeAlloc, aSpec[SQPYTE_AHEAD_WATCHED]
                  + sqpyteTapeOf(pRows)[SQPYTE_TAPE_LAST] + 1, 1) ){
    return SQLITE_NOMEM;
  }
  sqlite3_mutex_enter(db->mutex);
  rc = sqpyteDeleteNow(pRows);
  sqlite3_mutex_leave(db->mutex);
  if( rc ) p->sqpyteError = rc;
  if( !sqpyteAtLate(pRows) ){
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_TO, aCells);
    if( !pRows->bClosed && rc==SQLITE_ROW && aCells[SQPYTE_ROW_COLUMNS]==0
     && !sqpyteAtLate(pRows)
    ){
      rc = sqpyte_step((sqlite3_stmt*)p, aCells);     /* has the error */
    }
    if( pRows->bClosed ){
      sqpyte_rows_close(rows);
      return rc;
    }
    if( rc!=SQLITE_ROW || aCells[SQPYTE_ROW_COLUMNS] ) return rc;
  }
  sqlite3_mutex_enter(db->mutex);
  aOut[SQPYTE_ROWS_STAMP] = db->nSqpyteStamp;
  bCheckpoint = aSpec[SQPYTE_AHEAD_UNDO]==0;
  if( nMost>0 && p->pFrame==0 && !bCheckpoint ){
    bCheckpoint = sqpyteCheckpoint(pRows) && sqpyteCheckpointInserts(pRows);
    if( !bCheckpoint ) pRows->bCheckpoint = 0;
  }
  if( nMost>0 && p->pFrame==0 && bCheckpoint ){
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_FILL, 0);
    if( rc!=SQLITE_ROW ) pRows->rc = rc;
    if( pRows->bInRow ){
      pRows->aRow[SQPYTE_TAPE_SHAPE] = -1;
      sqpyteTapeRow(pRows);
    }
  }
  sqlite3_mutex_leave(db->mutex);
  aOut[SQPYTE_ROWS_COUNT] = pRows->nRow;
  aOut[SQPYTE_ROWS_AT_CUT] = pRows->rc ? SQPYTE_TAPE_ENDED : sqpyteAtLate(pRows);
  aOut[SQPYTE_TAPE_END] = pRows->aNext - aOut;
  aOut[SQPYTE_ROWS_NEED] = pRows->nNeed;
  return SQLITE_ROW;
}

/* How many events there are before a word of the buffer. */
static int sqpyteEventsBefore(SqpyteRows *pRows, int iWord){
  const i64 *aTape = sqpyteTapeOf(pRows);
  const i64 *aEntries[SQPYTE_MOST_LATE];
  int pc, i, iEnd;
  int n = 0;
  for(pc=(int)aTape[SQPYTE_TAPE_FIRST]; pc<=aTape[SQPYTE_TAPE_LAST]; pc++){
    const i64 *aEntry = sqpyteTapeEntry(pRows, pc);
    if( aEntry && aEntry[SQPYTE_ENTRY_KIND]<SQPYTE_KIND_DELETE ){
      aEntries[aEntry[SQPYTE_ENTRY_NUMBER]] = aEntry;
    }
  }
  for(i=SQPYTE_ROWS_CELLS; i<iWord; i=iEnd){
    iEnd = i + (int)pRows->aOut[i+SQPYTE_TAPE_SIZE];
    for(i+=SQPYTE_TAPE_EVENTS; i<iEnd && i<iWord; n++){
      int nKept = (int)aEntries[pRows->aOut[i]][SQPYTE_ENTRY_COUNT];
      i += 1 + (nKept+15)/16 + nKept;
    }
  }
  return n;
}

int sqpyte_tape_back(long rows, int iWord){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  Vdbe *p = pRows->p;
  int n = sqpyteEventsBefore(pRows, iWord);
  int rc;
  sqlite3_mutex_enter(p->db->mutex);
  rc = sqpyteRollBack(pRows);
  if( rc==SQLITE_OK && p->sqpyteError==SQLITE_OK && n>0 ){
    pRows->nSkip = n;
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_BACK, 0);
    pRows->nSkip = 0;
    if( rc==SQLITE_ROW ){
      rc = sqpyteAtLate(pRows) ? SQLITE_OK : SQLITE_MISUSE;
    }else{
      pRows->rc = rc;         /* out of memory: the statement has ended */
    }
  }
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}
