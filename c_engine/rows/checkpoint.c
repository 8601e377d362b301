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
  if( pRows->bNoted ){
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
#define SQPYTE_NOTE(field) pPlace->field = pC->field;
#define SQPYTE_RESTORE(field) pC->field = pPlace->field;

/* The position of the cursor number i; 0 if it can't be noted. bByKey: in a rowid
** table of the statement's own by the rowid, for rows are inserted and deleted. */
static int sqpyteNotePlace(Vdbe *p, int i, SqpytePlace *pPlace, int bByKey){
  VdbeCursor *pC = i<p->nCursor ? p->apCsr[i] : 0;
  BtCursor *pCur;
  int j;
  pPlace->pC = 0;
  if( pC==0 || pC->eCurType==CURTYPE_PSEUDO ) return 1;
  if( pC->eCurType!=CURTYPE_BTREE ) return 0;
  pCur = pC->uc.pCursor;
  pPlace->bByKey = bByKey && pC->isEphemeral && pC->isTable;
  if( pPlace->bByKey && pCur->eState==CURSOR_REQUIRESEEK ){
    if( btreeRestoreCursorPosition(pCur) ) return 0;
  }
  if( pCur->eState>=CURSOR_REQUIRESEEK ) return 0;
  pPlace->pC = pC;
  SQPYTE_PLACE_FIELDS(SQPYTE_NOTE)
  pPlace->aAltMap = pC->isEphemeral ? 0 : pC->ub.aAltMap;
  pPlace->iAlt = -1;
  if( pC->deferredMoveto ){
    for(j=0; j<p->nCursor && p->apCsr[j]!=pC->pAltCursor; j++){}
    if( j<p->nCursor ) pPlace->iAlt = j;
  }
  pPlace->eState = pCur->eState;
  pPlace->skipNext = pCur->skipNext;
  pPlace->iPage = pCur->iPage;
  if( pPlace->bByKey ){
    if( pCur->eState==CURSOR_SKIPNEXT ) return 0;
    if( pCur->eState==CURSOR_VALID ) pPlace->iKey = sqlite3BtreeIntegerKey(pCur);
  }else if( pCur->eState!=CURSOR_INVALID ){
    memcpy(pPlace->aiIdx, pCur->aiIdx, sizeof(u16)*pCur->iPage);
    pPlace->aiIdx[pCur->iPage] = pCur->ix;
  }
  return 1;
}

static int sqpyteRestorePlace(Vdbe *p, int i, const SqpytePlace *pPlace){
  VdbeCursor *pC = p->apCsr[i];
  BtCursor *pCur;
  int rc, iPage;
  if( pPlace->pC==0 || pC==0 ) return SQLITE_OK;
  SQPYTE_PLACE_FIELDS(SQPYTE_RESTORE)
  pC->cacheStatus = CACHE_STALE;
  if( !pC->isEphemeral ) pC->ub.aAltMap = pPlace->aAltMap;
  if( pPlace->iAlt>=0 ) pC->pAltCursor = p->apCsr[pPlace->iAlt];
  pCur = pC->uc.pCursor;
  sqlite3BtreeClearCursor(pCur);
  if( pPlace->eState==CURSOR_INVALID ){
    btreeReleaseAllCursorPages(pCur);
    return SQLITE_OK;
  }
  if( pPlace->bByKey ){
    int res;
    rc = sqlite3BtreeTableMoveto(pCur, pPlace->iKey, 0, &res);
    return rc==SQLITE_OK && res ? SQLITE_CORRUPT_BKPT : rc;
  }
  rc = moveToRoot(pCur);
  /* An empty root page has made the one step down already. */
  for(iPage=pCur->iPage; rc==SQLITE_OK && iPage<pPlace->iPage; iPage++){
    MemPage *pPage = pCur->pPage;
    int ix = pPlace->aiIdx[iPage];
    pCur->ix = (u16)ix;
    rc = moveToChild(pCur, ix<pPage->nCell
        ? get4byte(findCell(pPage, ix))
        : get4byte(&pPage->aData[pPage->hdrOffset+8]));
  }
  if( rc==SQLITE_OK ){
    pCur->ix = pPlace->aiIdx[pPlace->iPage];
    pCur->info.nSize = 0;
    pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
    pCur->eState = pPlace->eState;
    pCur->skipNext = pPlace->skipNext;
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
static int sqpyteNote(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  const i64 *aSpec = pRows->aSpec;
  const i64 *a = aSpec + SQPYTE_AHEAD_HEAD;
  int nMem = (int)aSpec[SQPYTE_AHEAD_REGISTERS];
  int nPlace = (int)aSpec[SQPYTE_AHEAD_CURSORS];
  int i;
  if( !sqpyteMayRunAhead(p->db) ) return 0;
  if( !sqpyteRoom((void**)&pRows->aMem, &pRows->nMemAlloc, nMem, sizeof(Mem))
   || !sqpyteRoom((void**)&pRows->aPlace, &pRows->nPlaceAlloc, nPlace, sizeof(SqpytePlace))
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
  for(i=0; i<nPlace; i++){
    if( !sqpyteNotePlace(p, (int)a[nMem+i], &pRows->aPlace[i], pRows->bTape) ) return 0;
  }
  pRows->iStart = p->pc;
  pRows->stamp = p->db->nSqpyteStamp;
  pRows->nPlace = nPlace;
  pRows->bNoted = 1;
  return 1;
}

/* Puts back what has been noted: the statement is where running ahead began.
** Returns SQLITE_MISUSE if that can't be done any more: the rest of the program would not find what it
** has found. */
static int sqpyteUndo(SqpyteRows *pRows){
  Vdbe *p = pRows->p;
  const i64 *a;
  int i;
  int rc = SQLITE_OK;
  if( !pRows->bNoted || p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_MISUSE;
  if( pRows->stamp!=p->db->nSqpyteStamp ) return SQLITE_MISUSE;
  /* Cursors that have been saved: their pages may be gone. */
  for(i=0; i<pRows->nPlace; i++){
    VdbeCursor *pC = pRows->aPlace[i].pC
        ? p->apCsr[pRows->aSpec[SQPYTE_AHEAD_HEAD+pRows->nMem+i]] : 0;
    if( pC && !pRows->aPlace[i].bByKey && pC->uc.pCursor->eState>=CURSOR_REQUIRESEEK ){
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
    rc = sqpyteUndoInserts(pRows);
    pRows->nDelete = 0;
  }
  for(i=0; i<pRows->nPlace && rc==SQLITE_OK; i++){
    rc = sqpyteRestorePlace(p, (int)a[pRows->nMem+i], &pRows->aPlace[i]);
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
