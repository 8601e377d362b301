/*
** Rows of a statement's own rowid tables, while it runs ahead: those that it deletes are deleted when the log has been
** used up, so until then they can be had back; those that it has inserted are taken out again by a roll-back. (Window
** functions keep a partition's rows in such a table.) Included by call_log.c.
*/
#define SQPYTE_MOST_DELETES 4096  /* rows to be deleted later */

/* A cursor of the statement on a rowid table of its own; 0 if it is something else. */
static VdbeCursor *sqpyteOwnTable(Vdbe *p, int iCursor){
  VdbeCursor *pC = iCursor<p->nCursor ? p->apCsr[iCursor] : 0;
  return pC && pC->eCurType==CURTYPE_BTREE && pC->isEphemeral && pC->isTable ? pC : 0;
}

/* Notes the row to be deleted that a cursor is on; 0 if that can't be done. */
static int sqpyteDeleteLater(SqpyteLog *pLog, int iCursor){
  VdbeCursor *pC = sqpyteOwnTable(pLog->p, iCursor);
  BtCursor *pCur;
  if( pC==0 || pLog->nDelete==SQPYTE_MOST_DELETES
   || !sqpyteRoom((void**)&pLog->aDelete, &pLog->nDeleteAlloc,
                  pLog->nDelete<128 ? 128 : 2*(i64)pLog->nDelete, 2*sizeof(i64))
  ){
    return 0;
  }
  pCur = pC->uc.pCursor;
  if( pCur->eState>=CURSOR_REQUIRESEEK && btreeRestoreCursorPosition(pCur) ) return 0;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  pLog->aDelete[2*pLog->nDelete] = iCursor;
  pLog->aDelete[2*pLog->nDelete+1] = sqlite3BtreeIntegerKey(pCur);
  pLog->nDelete++;
  return 1;
}

/* Deletes them now, through a cursor that nobody else uses. */
static int sqpyteDeleteNow(SqpyteLog *pLog){
  Vdbe *p = pLog->p;
  VdbeCursor *pOpen = 0;
  BtCursor *pCur = 0;
  int rc = SQLITE_OK;
  int i, res;
  int n = pLog->nDelete;
  pLog->nDelete = 0;
  if( n==0 || p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_OK;
  pCur = sqlite3_malloc(sqlite3BtreeCursorSize());
  if( pCur==0 ) return SQLITE_NOMEM;
  for(i=0; i<n && rc==SQLITE_OK; i++){
    VdbeCursor *pC = sqpyteOwnTable(p, (int)pLog->aDelete[2*i]);
    if( pC==0 ) continue;
    if( pOpen!=pC ){
      if( pOpen ) sqlite3BtreeCloseCursor(pCur);
      sqlite3BtreeCursorZero(pCur);
      rc = sqlite3BtreeCursor(pC->ub.pBtx, pC->pgnoRoot, BTREE_WRCSR, 0, pCur);
      pOpen = rc==SQLITE_OK ? pC : 0;
      if( rc ) break;
    }
    rc = sqlite3BtreeTableMoveto(pCur, pLog->aDelete[2*i+1], 0, &res);
    if( rc==SQLITE_OK && res==0 ) rc = sqlite3BtreeDelete(pCur, BTREE_SAVEPOSITION);
  }
  if( pOpen ) sqlite3BtreeCloseCursor(pCur);
  sqlite3_free(pCur);
  p->cacheCtr = (p->cacheCtr + 2)|1;
  return rc;
}

/* Empties a table, now: what has been in it needs no deleting any more. 0 if that can't be done. */
static int sqpyteResetNow(SqpyteLog *pLog, int iCursor){
  VdbeCursor *pC = sqpyteOwnTable(pLog->p, iCursor);
  if( pC==0 || sqlite3BtreeClearTableOfCursor(pC->uc.pCursor) ) return 0;
  pLog->nDelete = 0;
  return 1;
}

/* The cursors that rows are inserted through. */
static const i64 *sqpyteInserts(const SqpyteLog *pLog){
  return sqpyteLists(pLog) + pLog->aSpec[SQPYTE_AHEAD_REGISTERS] + pLog->aSpec[SQPYTE_AHEAD_CURSORS];
}

/* Notes the last rowid of each table that rows are inserted into; 0 if that can't be done. */
static int sqpyteCheckpointInserts(SqpyteLog *pLog){
  const i64 *aCursor = sqpyteInserts(pLog);
  int n = (int)pLog->aSpec[SQPYTE_AHEAD_INSERTS];
  int i, res;
  if( !sqpyteRoom((void**)&pLog->aLast, &pLog->nLastAlloc, n, sizeof(i64)) ) return 0;
  for(i=0; i<n; i++){
    VdbeCursor *pC = sqpyteOwnTable(pLog->p, (int)aCursor[i]);
    if( pC==0 || sqlite3BtreeLast(pC->uc.pCursor, &res) ) return 0;
    pLog->aLast[i] = res ? 0 : sqlite3BtreeIntegerKey(pC->uc.pCursor);
    pC->cacheStatus = CACHE_STALE;
  }
  return 1;
}

/* Takes out again what has been inserted since. */
static int sqpyteRollBackInserts(SqpyteLog *pLog){
  const i64 *aCursor = sqpyteInserts(pLog);
  int rc = SQLITE_OK;
  int i, res;
  pLog->nDelete = 0;
  for(i=0; i<pLog->aSpec[SQPYTE_AHEAD_INSERTS] && rc==SQLITE_OK; i++){
    VdbeCursor *pC = sqpyteOwnTable(pLog->p, (int)aCursor[i]);
    if( pC==0 ) return SQLITE_MISUSE;
    pC->cacheStatus = CACHE_STALE;
    while( (rc = sqlite3BtreeLast(pC->uc.pCursor, &res))==SQLITE_OK && res==0
        && sqlite3BtreeIntegerKey(pC->uc.pCursor)>pLog->aLast[i]
    ){
      rc = sqlite3BtreeDelete(pC->uc.pCursor, 0);
      if( rc ) break;
    }
  }
  return rc;
}
