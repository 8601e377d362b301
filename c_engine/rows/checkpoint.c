/*
** Checkpoints of a statement that runs ahead: its registers and the positions of its cursors, noted before; and a
** roll-back to there, which also takes keys out of DISTINCT's index, and rows out of its own tables. Included by
** call_log.c.
*/

/* Where a cursor is. */
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

/* The IdxInsert of DISTINCT's index, of a key that Found has not found; noted,
** so that it can be taken out again. 0 if upstream has to do it. */
static int sqpyteInsertKey(SqpyteLog *pLog, const Op *pOp){
  Vdbe *p = pLog->p;
  VdbeCursor *pC = p->apCsr[pOp->p1];
  Mem *pKey = &p->aMem[pOp->p2];
  BtreePayload x;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || !pC->isEphemeral || pC->seekResult==0
   || (pKey->flags & (MEM_Blob|MEM_Zero))!=MEM_Blob
  ){
    return 0;
  }
  if( pLog->bCheckpoint ){
    i64 nNew = pLog->nKey + sizeof(i64) + ROUND8((i64)pKey->n);
    i64 head = (i64)pOp->p1 | (i64)pKey->n<<32;
    if( nNew>pLog->nKeyAlloc
     && !sqpyteRoom((void**)&pLog->aKey, &pLog->nKeyAlloc, 2*nNew, 1)
    ){
      return 0;
    }
    memcpy(pLog->aKey + pLog->nKey, &head, sizeof(head));
    memcpy(pLog->aKey + pLog->nKey + sizeof(head), pKey->z, pKey->n);
    pLog->nKey = nNew;
  }
  memset(&x, 0, sizeof(x));
  x.nKey = pKey->n;
  x.pKey = pKey->z;
  x.aMem = &p->aMem[pOp->p3];
  x.nMem = (u16)pOp->p4.i;
  pC->cacheStatus = CACHE_STALE;
  return sqlite3BtreeInsert(pC->uc.pCursor, &x, 0, pC->seekResult)==SQLITE_OK;
}

/* Takes the noted keys out of their indexes. */
static int sqpyteDeleteKeys(SqpyteLog *pLog){
  i64 i = 0;
  int rc = SQLITE_OK;
  while( i<pLog->nKey && rc==SQLITE_OK ){
    i64 head;
    BtCursor *pCur;
    int res;
    memcpy(&head, pLog->aKey + i, sizeof(head));
    i += sizeof(head);
    pCur = pLog->p->apCsr[head & 0x7fffffff]->uc.pCursor;
    rc = btreeMoveto(pCur, pLog->aKey + i, head>>32, 0, &res);
    if( rc==SQLITE_OK && res==0 ) rc = sqlite3BtreeDelete(pCur, 0);
    i += ROUND8(head>>32);
  }
  pLog->nKey = 0;
  return rc;
}

/* What is noted of a VdbeCursor as it is, and put back so. */
#define SQPYTE_SAVED_FIELDS(X) \
  X(movetoTarget) X(seqCount) X(seekResult) X(seekHit) X(nullRow) X(deferredMoveto)
#define SQPYTE_SAVE(field) pSaved->field = pC->field;
#define SQPYTE_RESTORE(field) pC->field = pSaved->field;

/* The position of the cursor number i; 0 if it can't be noted. bByKey: in a rowid
** table of the statement's own by the rowid, for rows are inserted and deleted. */
static int sqpyteSaveCursor(Vdbe *p, int i, SqpyteSavedCursor *pSaved, int bByKey){
  VdbeCursor *pC = i<p->nCursor ? p->apCsr[i] : 0;
  BtCursor *pCur;
  int j;
  pSaved->pC = 0;
  if( pC==0 || pC->eCurType==CURTYPE_PSEUDO ) return 1;
  if( pC->eCurType!=CURTYPE_BTREE ) return 0;
  pCur = pC->uc.pCursor;
  pSaved->bByKey = bByKey && pC->isEphemeral && pC->isTable;
  if( pSaved->bByKey && pCur->eState==CURSOR_REQUIRESEEK ){
    if( btreeRestoreCursorPosition(pCur) ) return 0;
  }
  if( pCur->eState>=CURSOR_REQUIRESEEK ) return 0;
  pSaved->pC = pC;
  SQPYTE_SAVED_FIELDS(SQPYTE_SAVE)
  pSaved->aAltMap = pC->isEphemeral ? 0 : pC->ub.aAltMap;
  pSaved->iAlt = -1;
  if( pC->deferredMoveto ){
    for(j=0; j<p->nCursor && p->apCsr[j]!=pC->pAltCursor; j++){}
    if( j<p->nCursor ) pSaved->iAlt = j;
  }
  pSaved->eState = pCur->eState;
  pSaved->skipNext = pCur->skipNext;
  pSaved->iPage = pCur->iPage;
  if( pSaved->bByKey ){
    if( pCur->eState==CURSOR_SKIPNEXT ) return 0;
    if( pCur->eState==CURSOR_VALID ) pSaved->iKey = sqlite3BtreeIntegerKey(pCur);
  }else if( pCur->eState!=CURSOR_INVALID ){
    memcpy(pSaved->aiIdx, pCur->aiIdx, sizeof(u16)*pCur->iPage);
    pSaved->aiIdx[pCur->iPage] = pCur->ix;
  }
  return 1;
}

static int sqpyteRestoreCursor(Vdbe *p, int i, const SqpyteSavedCursor *pSaved){
  VdbeCursor *pC = p->apCsr[i];
  BtCursor *pCur;
  int rc, iPage;
  if( pSaved->pC==0 || pC==0 ) return SQLITE_OK;
  SQPYTE_SAVED_FIELDS(SQPYTE_RESTORE)
  pC->cacheStatus = CACHE_STALE;
  if( !pC->isEphemeral ) pC->ub.aAltMap = pSaved->aAltMap;
  if( pSaved->iAlt>=0 ) pC->pAltCursor = p->apCsr[pSaved->iAlt];
  pCur = pC->uc.pCursor;
  sqlite3BtreeClearCursor(pCur);
  if( pSaved->eState==CURSOR_INVALID ){
    btreeReleaseAllCursorPages(pCur);
    return SQLITE_OK;
  }
  if( pSaved->bByKey ){
    int res;
    rc = sqlite3BtreeTableMoveto(pCur, pSaved->iKey, 0, &res);
    return rc==SQLITE_OK && res ? SQLITE_CORRUPT_BKPT : rc;
  }
  rc = moveToRoot(pCur);
  /* An empty root page has made the one step down already. */
  for(iPage=pCur->iPage; rc==SQLITE_OK && iPage<pSaved->iPage; iPage++){
    MemPage *pPage = pCur->pPage;
    int ix = pSaved->aiIdx[iPage];
    pCur->ix = (u16)ix;
    rc = moveToChild(pCur, ix<pPage->nCell
        ? get4byte(findCell(pPage, ix))
        : get4byte(&pPage->aData[pPage->hdrOffset+8]));
  }
  if( rc==SQLITE_OK ){
    pCur->ix = pSaved->aiIdx[pSaved->iPage];
    pCur->info.nSize = 0;
    pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
    pCur->eState = pSaved->eState;
    pCur->skipNext = pSaved->skipNext;
  }
  return rc;
}

/* The accumulator of a sum or a count, which points at nothing, as a blob, with its function; 0 if
** it is of another aggregate. It is marked in uTemp, which copying a value leaves
** alone; eSubtype may be anything. */
#define SQPYTE_NOTED_SUM 0xA6
static int sqpyteNoteSum(Mem *pTo, const Mem *pFrom){
  FuncDef *pDef = pFrom->u.pDef;
  if( pDef->xSFunc!=sumStep && pDef->xSFunc!=countStep ) return 0;
  if( sqlite3VdbeMemSetStr(pTo, pFrom->z, pFrom->szMalloc, 0, SQLITE_TRANSIENT) ) return 0;
  pTo->u.pDef = pDef;
  pTo->uTemp = SQPYTE_NOTED_SUM;
  return 1;
}

/* Puts it back where AggFinal may have made a value of it, and another group may have begun. */
static int sqpyteRestoreSum(Mem *pTo, const Mem *pFrom){
  if( (pTo->flags & MEM_Agg)==0 || pTo->u.pDef!=pFrom->u.pDef || pTo->szMalloc<pFrom->n ){
    sqlite3VdbeMemSetNull(pTo);
    if( sqlite3VdbeMemClearAndResize(pTo, pFrom->n) ) return SQLITE_NOMEM;
    pTo->flags = MEM_Agg;
    pTo->u.pDef = pFrom->u.pDef;
  }
  memcpy(pTo->z, pFrom->z, pFrom->n);
  return SQLITE_OK;
}

/* Notes the state that the spec names; 0 if that can't be done, or a statement that writes is being stepped. */
static int sqpyteCheckpoint(SqpyteLog *pLog){
  Vdbe *p = pLog->p;
  const i64 *aSpec = pLog->aSpec;
  const i64 *a = sqpyteLists(pLog);
  int nMem = (int)aSpec[SQPYTE_AHEAD_REGISTERS];
  int nSaved = (int)aSpec[SQPYTE_AHEAD_CURSORS];
  int i;
  if( !sqpyteMayRunAhead(p->db) ) return 0;
  if( !sqpyteRoom((void**)&pLog->aMem, &pLog->nMemAlloc, nMem, sizeof(Mem))
   || !sqpyteRoom((void**)&pLog->aSaved, &pLog->nSavedAlloc, nSaved, sizeof(SqpyteSavedCursor))
  ){
    return 0;
  }
  for(i=0; i<nMem; i++){
    Mem *pFrom = &p->aMem[a[i]];
    sqlite3VdbeMemInit(&pLog->aMem[i], p->db, MEM_Null);
    pLog->aMem[i].uTemp = 0;
    pLog->nMem = i+1;
    if( pFrom->flags & MEM_Agg ){
      if( !sqpyteNoteSum(&pLog->aMem[i], pFrom) ) return 0;
      continue;
    }
    if( pFrom->flags & MEM_Dyn ) return 0;
    if( sqlite3VdbeMemCopy(&pLog->aMem[i], pFrom) ) return 0;
  }
  for(i=0; i<nSaved; i++){
    if( !sqpyteSaveCursor(p, (int)a[nMem+i], &pLog->aSaved[i], sqpyteIsNumbered(pLog)) ) return 0;
  }
  if( !sqpyteCheckpointInserts(pLog) ) return 0;
  pLog->iStart = p->pc;
  pLog->stamp = p->db->nSqpyteStamp;
  pLog->nSaved = nSaved;
  pLog->bCheckpoint = 1;
  return 1;
}

/* Puts back what has been noted: the statement is where running ahead began.
** Returns SQLITE_MISUSE if that can't be done any more: the rest of the program would not find what it
** has found. */
static int sqpyteRollBack(SqpyteLog *pLog){
  Vdbe *p = pLog->p;
  const i64 *a;
  int i;
  int rc = SQLITE_OK;
  if( !pLog->bCheckpoint || p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_MISUSE;
  if( pLog->stamp!=p->db->nSqpyteStamp ) return SQLITE_MISUSE;
  /* Cursors that have been saved: their pages may be gone. */
  for(i=0; i<pLog->nSaved; i++){
    VdbeCursor *pC = pLog->aSaved[i].pC
        ? p->apCsr[sqpyteLists(pLog)[pLog->nMem+i]] : 0;
    if( pC && !pLog->aSaved[i].bByKey && pC->uc.pCursor->eState>=CURSOR_REQUIRESEEK ){
      return SQLITE_MISUSE;
    }
  }
  a = sqpyteLists(pLog);
  for(i=0; i<pLog->nMem && rc==SQLITE_OK; i++){
    Mem *pTo = &p->aMem[a[i]];
    Mem *pFrom = &pLog->aMem[i];
    if( pFrom->uTemp==SQPYTE_NOTED_SUM ){
      rc = sqpyteRestoreSum(pTo, pFrom);
    }else{
      sqlite3VdbeMemMove(pTo, pFrom);
    }
  }
  if( rc==SQLITE_OK ) rc = sqpyteRollBackInserts(pLog);
  for(i=0; i<pLog->nSaved && rc==SQLITE_OK; i++){
    rc = sqpyteRestoreCursor(p, (int)a[pLog->nMem+i], &pLog->aSaved[i]);
  }
  if( rc==SQLITE_OK ) rc = sqpyteDeleteKeys(pLog);
  sqpyteForget(pLog);
  /* An error is of what is stepped next. */
  p->sqpyteError = rc;
  sqlite3DbFree(p->db, p->zErrMsg);
  p->zErrMsg = 0;
  p->pc = pLog->iStart;
  p->pResultRow = 0;
  p->cacheCtr = (p->cacheCtr + 2)|1;
  return SQLITE_OK;
}
