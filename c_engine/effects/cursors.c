/*
** A cursor's state, as far as the VM believes that it stays when an opcode
** isn't declared to move the cursor: where it stands, and the bytes there.
** What an opcode may change of a cursor without moving it (`touches`) is
** compared as well.
*/

static u64 sqpyteEffectsHash(u64 h, const void *pData, int n){
  const unsigned char *a = pData;
  int i;
  for(i=0; i<n; i++) h = (h ^ a[i]) * 0x100000001b3ULL;
  return h;
}
#define SQPYTE_HASH_START 0xcbf29ce484222325ULL

static void sqpyteEffectsBtree(const BtCursor *pCur, SqpyteCursorState *pOut){
  MemPage *pPage = pCur->pPage;
  if( pCur->pBtree->sharable ){
    pOut->state = CURSOR_REQUIRESEEK;   /* other connections' writes save it, from other threads, too */
    return;
  }
  pOut->state = pCur->eState;
  if( pCur->eState!=CURSOR_VALID && pCur->eState!=CURSOR_SKIPNEXT ) return;
  pOut->page = (u64)(size_t)pPage;
  pOut->number = pPage->pgno;
  pOut->index = pCur->ix;
  pOut->path = sqpyteEffectsHash(SQPYTE_HASH_START + pCur->iPage, pCur->apPage, sizeof(MemPage*)*pCur->iPage);
  pOut->path = sqpyteEffectsHash(pOut->path, pCur->aiIdx, sizeof(u16)*pCur->iPage);
  if( pPage->isInit && pCur->ix<pPage->nCell ){
    const u8 *pCell = findCell(pPage, pCur->ix);
    int n = (int)(pPage->aDataEnd - pCell);
    if( n>48 ) n = 48;
    if( n>0 ) pOut->row = sqpyteEffectsHash(SQPYTE_HASH_START, pCell, n);
  }
}

static void sqpyteEffectsCursor(const VdbeCursor *pC, SqpyteCursorState *pOut){
  memset(pOut, 0, sizeof(*pOut));
  if( pC==0 ) return;
  pOut->object = (u64)(size_t)pC;
  pOut->type = pC->eCurType;
  pOut->nullRow = pC->nullRow;
  pOut->deferred = pC->deferredMoveto;
  if( pC->deferredMoveto ){
    pOut->target = pC->movetoTarget;
    pOut->alternate = (u64)(size_t)pC->pAltCursor;
  }
  pOut->sequence = pC->seqCount;
  pOut->hit = pC->seekHit;
  pOut->cache = pC->cacheStatus;
  pOut->result = pC->seekResult;
  if( pC->eCurType==CURTYPE_PSEUDO ) return;
  pOut->handle = (u64)(size_t)pC->uc.pCursor;
  if( pOut->handle==0 ) return;
  if( pC->eCurType==CURTYPE_BTREE ) sqpyteEffectsBtree(pC->uc.pCursor, pOut);
  if( pC->eCurType==CURTYPE_SORTER ){
    const VdbeSorter *pSorter = pC->uc.pSorter;
    u64 h = SQPYTE_HASH_START;
    h = sqpyteEffectsHash(h, &pSorter->list, sizeof(pSorter->list));
    h = sqpyteEffectsHash(h, &pSorter->pReader, sizeof(pSorter->pReader));
    pOut->sorted = sqpyteEffectsHash(h, &pSorter->pMerger, sizeof(pSorter->pMerger));
  }
}

/* Whether the VM may know where a cursor in this state stands. */
static int sqpyteEffectsPlaced(const SqpyteCursorState *pState){
  return pState->type!=CURTYPE_BTREE
      || (pState->handle && pState->state==CURSOR_VALID && !pState->deferred && !pState->nullRow);
}

/* What differs between two states: a name, or 0. First of what a move changes, then of what a touch does. */
static const char *sqpyteEffectsMoved(const SqpyteCursorState *pA, const SqpyteCursorState *pB){
#define F(name, text) if( pA->name!=pB->name ) return text;
  SQPYTE_CURSOR_FIELDS(F)
  return 0;
}
static const char *sqpyteEffectsTouched(const SqpyteCursorState *pA, const SqpyteCursorState *pB){
  SQPYTE_CURSOR_COUNTS(F)
#undef F
  return 0;
}
