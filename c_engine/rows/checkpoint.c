/*
** What a statement has run ahead of its caller is taken back: registers,
** the places of cursors and the keys put into DISTINCT's index are noted before
** and put back after. Included by rows.c.
*/

/* The IdxInsert of DISTINCT's index, of a key that Found has not found; noted,
** so that it can be taken out again. 0 if upstream has to do it. */
static int sqpyteInsertKey(SqpyteRows *pRows, const Op *pOp){
  Vdbe *p = pRows->p;
  VdbeCursor *pC = p->apCsr[pOp->p1];
  Mem *pKey = &p->aMem[pOp->p2];
  BtreePayload x;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || !pC->isEphemeral || pC->seekResult==0
   || (pKey->flags & (MEM_Blob|MEM_Zero))!=MEM_Blob
  ){
    return 0;
  }
  if( pRows->bCheckpoint ){
    i64 nNew = pRows->nLog + sizeof(i64) + ROUND8((i64)pKey->n);
    i64 head = (i64)pOp->p1 | (i64)pKey->n<<32;
    if( nNew>pRows->nLogAlloc
     && !sqpyteRoom((void**)&pRows->aLog, &pRows->nLogAlloc, 2*nNew, 1)
    ){
      return 0;
    }
    memcpy(pRows->aLog + pRows->nLog, &head, sizeof(head));
    memcpy(pRows->aLog + pRows->nLog + sizeof(head), pKey->z, pKey->n);
    pRows->nLog = nNew;
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
static int sqpyteDeleteKeys(SqpyteRows *pRows){
  i64 i = 0;
  int rc = SQLITE_OK;
  while( i<pRows->nLog && rc==SQLITE_OK ){
    i64 head;
    BtCursor *pCur;
    int res;
    memcpy(&head, pRows->aLog + i, sizeof(head));
    i += sizeof(head);
    pCur = pRows->p->apCsr[head & 0x7fffffff]->uc.pCursor;
    rc = btreeMoveto(pCur, pRows->aLog + i, head>>32, 0, &res);
    if( rc==SQLITE_OK && res==0 ) rc = sqlite3BtreeDelete(pCur, 0);
    i += ROUND8(head>>32);
  }
  pRows->nLog = 0;
  return rc;
}

/* What is noted of a VdbeCursor as it is, and put back so. */
#define SQPYTE_PLACE_FIELDS(X) \
  X(movetoTarget) X(seqCount) X(seekResult) X(seekHit) X(nullRow) X(deferredMoveto)
#define SQPYTE_NOTE(field) pSaved->field = pC->field;
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
  SQPYTE_PLACE_FIELDS(SQPYTE_NOTE)
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
  SQPYTE_PLACE_FIELDS(SQPYTE_RESTORE)
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

/* The accumulator of a sum or a count, which points at nothing, as a blob; 0 if
** it is of another aggregate. It is marked in uTemp, which copying a value leaves
** alone; eSubtype may be anything. */
#define SQPYTE_NOTED_SUM 0xA6
static int sqpyteNoteSum(Mem *pTo, const Mem *pFrom){
  FuncDef *pDef = pFrom->u.pDef;
  if( pDef->xSFunc!=sumStep && pDef->xSFunc!=countStep ) return 0;
  if( sqlite3VdbeMemSetStr(pTo, pFrom->z, pFrom->szMalloc, 0, SQLITE_TRANSIENT) ) return 0;
  pTo->uTemp = SQPYTE_NOTED_SUM;
  return 1;
}

/* Notes the state that the spec names; 0 if that can't be done, or a statement that writes is being stepped. */
static int sqpyteCheckpoint(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  const i64 *aSpec = pRows->aSpec;
  const i64 *a = aSpec + SQPYTE_AHEAD_HEAD;
  int nMem = (int)aSpec[SQPYTE_AHEAD_REGISTERS];
  int nSaved = (int)aSpec[SQPYTE_AHEAD_CURSORS];
  int i;
  if( !sqpyteMayRunAhead(p->db) ) return 0;
  if( !sqpyteRoom((void**)&pRows->aMem, &pRows->nMemAlloc, nMem, sizeof(Mem))
   || !sqpyteRoom((void**)&pRows->aSaved, &pRows->nSavedAlloc, nSaved, sizeof(SqpyteSavedCursor))
  ){
    return 0;
  }
  for(i=0; i<nMem; i++){
    Mem *pFrom = &p->aMem[a[i]];
    sqlite3VdbeMemInit(&pRows->aMem[i], p->db, MEM_Null);
    pRows->aMem[i].uTemp = 0;
    pRows->nMem = i+1;
    if( pFrom->flags & MEM_Agg ){
      if( !sqpyteNoteSum(&pRows->aMem[i], pFrom) ) return 0;
      continue;
    }
    if( pFrom->flags & MEM_Dyn ) return 0;
    if( sqlite3VdbeMemCopy(&pRows->aMem[i], pFrom) ) return 0;
  }
  for(i=0; i<nSaved; i++){
    if( !sqpyteSaveCursor(p, (int)a[nMem+i], &pRows->aSaved[i], pRows->bTape) ) return 0;
  }
  pRows->iStart = p->pc;
  pRows->stamp = p->db->nSqpyteStamp;
  pRows->nSaved = nSaved;
  pRows->bCheckpoint = 1;
  return 1;
}

/* Puts back what has been noted: the statement is where running ahead began.
** Returns SQLITE_MISUSE if that can't be done any more: the rest of the program would not find what it
** has found. */
static int sqpyteRollBack(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  const i64 *a;
  int i;
  int rc = SQLITE_OK;
  if( !pRows->bCheckpoint || p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_MISUSE;
  if( pRows->stamp!=p->db->nSqpyteStamp ) return SQLITE_MISUSE;
  /* Cursors that have been saved: their pages may be gone. */
  for(i=0; i<pRows->nSaved; i++){
    VdbeCursor *pC = pRows->aSaved[i].pC
        ? p->apCsr[pRows->aSpec[SQPYTE_AHEAD_HEAD+pRows->nMem+i]] : 0;
    if( pC && !pRows->aSaved[i].bByKey && pC->uc.pCursor->eState>=CURSOR_REQUIRESEEK ){
      return SQLITE_MISUSE;
    }
  }
  a = pRows->aSpec + SQPYTE_AHEAD_HEAD;
  for(i=0; i<pRows->nMem; i++){
    Mem *pTo = &p->aMem[a[i]];
    Mem *pFrom = &pRows->aMem[i];
    if( pFrom->uTemp==SQPYTE_NOTED_SUM ){
      if( pTo->flags & MEM_Agg ) memcpy(pTo->z, pFrom->z, pFrom->n);
    }else{
      sqlite3VdbeMemMove(pTo, pFrom);
    }
  }
  if( pRows->bTape ){
    rc = sqpyteRollBackInserts(pRows);
    pRows->nDelete = 0;
  }
  for(i=0; i<pRows->nSaved && rc==SQLITE_OK; i++){
    rc = sqpyteRestoreCursor(p, (int)a[pRows->nMem+i], &pRows->aSaved[i]);
  }
  if( rc==SQLITE_OK ) rc = sqpyteDeleteKeys(pRows);
  sqpyteForget(pRows);
  /* An error is of what is stepped next. */
  p->sqpyteError = rc;
  sqlite3DbFree(p->db, p->zErrMsg);
  p->zErrMsg = 0;
  p->pc = pRows->iStart;
  p->pResultRow = 0;
  p->cacheCtr = (p->cacheCtr + 2)|1;
  return SQLITE_OK;
}
