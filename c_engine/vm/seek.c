/*
** Seeks for the RPython VM: each helper does what one opcode of upstream's does to the cursor,
** and returns 0 or 1 (which way the opcode goes) or minus a result code. Those that leave the cursor
** on a row store in pRow, which has room for two 64-bit integers, where the row's record is and its
** size, or 0 if it isn't a local record (see sqpyteRow). Included by engine.c.
*/

/* Where the record under a cursor lies, if it is within the page, and its header and size are
** plain: the checks of Frame.find_row. */
static void sqpyteRow(BtCursor *pCur, void *pRow){
  i64 *aOut = (i64*)pRow;
  MemPage *pPage = pCur->pPage;
  const u8 *p, *pEnd;
  u32 size, n;
  aOut[0] = 0;
  if( pCur->eState!=CURSOR_VALID || !pPage->isInit || !pPage->leaf || pCur->ix>=pPage->nCell ) return;
  p = findCell(pPage, pCur->ix);
  pEnd = pPage->aDataEnd;
  if( p+4>pEnd || p<pPage->aData+8 ) return;
  size = *(p++);
  if( size>=0x80 ){
    if( *p>=0x80 ) return;
    size = ((size & 0x7f)<<7) | *(p++);
  }
  if( pPage->intKeyLeaf ){
    for(n=0; n<8 && p<pEnd && *p>=0x80; n++) p++;
    p++;
  }
  if( size==0 || size>pPage->maxLocal || p+size>pEnd ) return;
  if( *p<2 || *p>=0x80 || *p>size ) return;     /* of an empty header upstream reads the first type, too */
  aOut[0] = (i64)p;
  aOut[1] = size;
}

/* The cursor's parsed row is stale, and it stands on a row (or with nullRow, on none). */
static void sqpyteMoved(VdbeCursor *pC, int nullRow){
  pC->nullRow = (u8)nullRow;
  pC->deferredMoveto = 0;
  pC->cacheStatus = CACHE_STALE;
}

/* The first column of cell i of an index's interior page, if it is an integer, as the search below sees it;
** 0 if it isn't plain. NULL is below every integer, a text or blob above: *pv is the end of their range. */
static int sqpyteFirstInteger(MemPage *pPage, int i, int bBefore, i64 *pv){
  const u8 *p = findCellPastPtr(pPage, i);
  u32 n, nHeader, type;
  Mem m;
  if( p+4>pPage->aDataEnd ) return 0;
  n = *p;
  if( n>pPage->max1bytePayload ){
    if( p[1]>=0x80 || (n = ((n & 0x7f)<<7) + p[1])>pPage->maxLocal ) return 0;
    p++;
  }
  p++;
  nHeader = p[0];
  type = p[1];
  if( p+n>pPage->aDataEnd || nHeader<2 || nHeader>=0x40 || nHeader>n ) return 0;
  if( type==0 ){
    *pv = SMALLEST_INT64;
    return bBefore;
  }
  if( type>=12 ){
    *pv = LARGEST_INT64;
    return !bBefore;
  }
  if( type==7 || type>9 || nHeader+sqlite3SmallTypeSizes[type]>n ) return 0;
  sqlite3VdbeSerialGet(p+nHeader, type, &m);
  *pv = m.u.i;
  return 1;
}

/* Which of its children is gone to in each page above the leaf where the cursor stands. (It needs not say how many
** these are: where a way ends depends on the pages.) */
#define SQPYTE_PATH_PAGES 4
static inline u64 sqpytePath(const BtCursor *pCur){
  u64 path;
  assert( pCur->iPage<=SQPYTE_PATH_PAGES && sizeof(path)==SQPYTE_PATH_PAGES*sizeof(pCur->aiIdx[0]) );
  memcpy(&path, pCur->aiIdx, sizeof(path));
  return pCur->iPage<SQPYTE_PATH_PAGES ? path & (((u64)1<<(16*pCur->iPage))-1) : path;
}

/* Finds the bounds within which a search from the root comes to the leaf page where the cursor stands, by
** the pages on its stack: from the cells that such a search compares, and those only, so that it is right
** in damaged pages, too. Returns whether the key is within; if it isn't, they aren't found to the end. */
static int sqpyteFindBounds(BtCursor *pCur, i64 key, int bIndex){
  i64 lo = SMALLEST_INT64, hi = LARGEST_INT64, k;
  int i;
  pCur->iSqpyteLeaf = 0;
  for(i=pCur->iPage-1; i>=0; i--){
    MemPage *pPage = pCur->apPage[i];
    int ix = pCur->aiIdx[i], lwr = 0, upr = pPage->nCell-1;
    while( lwr<=upr ){
      int idx = (lwr+upr)>>1;
      if( !bIndex ){
        k = sqpyteInteriorKey(pPage->pBt, pPage->aData, pPage->aCellIdx, idx);
      }else if( !sqpyteFirstInteger(pPage, idx, idx<ix, &k) ){
        return 0;
      }
      if( idx<ix ){
        lwr = idx+1;
        if( k>lo ) lo = k;
      }else{
        upr = idx-1;
        if( k<hi ) hi = k;
      }
    }
    if( key<=lo || key>=hi ) return 0;
  }
  SQPYTE_COUNT(LEAF_SEEKS);
  pCur->iSqpyteLo = lo;
  pCur->iSqpyteHi = hi;
  pCur->iSqpyteLeaf = pCur->pPage->pgno;
  pCur->iSqpytePath = sqpytePath(pCur);
  pCur->nSqpyteStamp = SQPYTE_CURSOR_STAMP(pCur);
  return key>lo && key<hi;
}

/* Whether a search for a key, a rowid or the first column of an index, comes to the leaf page where the
** cursor stands. What has been found about a page holds under its stamp. After some seeks in
** a row that led away, most aren't looked at. */
#define SQPYTE_AWAY 4           /* so many in a row, ... */
#define SQPYTE_AWAY_PAUSE 32    /* ... and so many aren't looked at */
static int sqpyteLeadsHere(BtCursor *pCur, i64 key, int bIndex){
  MemPage *pPage = pCur->pPage;
  int here;
  if( SQPYTE_OFF(LEAF_SEEKS) ) return 0;
  if( pCur->nSqpyteAway>=SQPYTE_AWAY && pCur->nSqpyteAway<SQPYTE_AWAY+SQPYTE_AWAY_PAUSE ){
    pCur->nSqpyteAway++;
    return 0;
  }
  if( pCur->eState!=CURSOR_VALID || !pPage->isInit || !pPage->leaf || pPage->nCell<1 || pCur->iPage>SQPYTE_PATH_PAGES
   || (pCur->curFlags & (BTCF_Incrblob|BTCF_WriteFlag))!=0 ) return 0;
  if( pPage->pgno==pCur->iSqpyteLeaf && pCur->iSqpytePath==sqpytePath(pCur)
   && pCur->nSqpyteStamp==SQPYTE_CURSOR_STAMP(pCur) ){
    here = key>pCur->iSqpyteLo && key<pCur->iSqpyteHi;
  }else{
    here = sqpyteFindBounds(pCur, key, bIndex);
  }
  if( here ){
    pCur->nSqpyteAway = 0;
  }else{
    pCur->nSqpyteAway = pCur->nSqpyteAway<SQPYTE_AWAY ? pCur->nSqpyteAway+1 : SQPYTE_AWAY;
  }
  return here;
}

/* Whether a search in an index can begin, and so end, in the leaf page where the cursor stands. */
static int sqpyteIndexLeadsHere(BtCursor *pCur, const UnpackedRecord *pKey){
  if( (pKey->aMem[0].flags & MEM_Int)==0 || pKey->nField==0 || pCur->pKeyInfo->aSortFlags==0
   || pCur->pKeyInfo->aSortFlags[0] || !sqpyteLeadsHere(pCur, pKey->aMem[0].u.i, 1) ) return 0;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
  pCur->info.nSize = 0;
  return 1;
}

/* Looks for a rowid in the leaf page where the cursor stands: rows that follow each other in a
** join often lie in the same page. Returns 1 if that page is where the rowid belongs: the cursor
** is on it or on a neighbour of it then, and *pRes as sqlite3BtreeTableMoveto has it. */
static int sqpyteSeekInLeaf(BtCursor *pCur, i64 key, int *pRes){
  MemPage *pPage = pCur->pPage;
  const u8 *p;
  int i;
  if( !sqpyteLeadsHere(pCur, key, 0) || !pPage->intKeyLeaf ) return 0;
  i = sqpyteSearchLeaf(pPage->pBt, pPage->aData, pPage->aCellIdx, pPage->nCell, key, pRes, &p);
  if( i<0 ) return 0;
  pCur->ix = (u16)i;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
  pCur->info.nSize = 0;
  if( *pRes==0 ){
    pCur->info.nKey = key;
    pCur->curFlags |= BTCF_ValidNKey;
  }
  return 1;
}

/* OpenRead, where cursor P1 is open to read just that B-tree: a subquery's tables are opened each time that
** it is evaluated. The cursor is as a new one to the program, but keeps its pages, in which the next
** seek may begin: with other comparisons, which a collation that isn't SQLite's own could see. SeekScan, which asks
** whether a cursor stands on a row, takes one with nullRow for one that doesn't (patches/cursors.py). 0 if it isn't such
** a cursor, or the schema's: whether that has a root page, in a database that had none or loses all, is asked when a
** cursor is opened. */
static VdbeCursor *sqpyteReopen(Vdbe *p, const Op *pOp, Btree *pBtree, KeyInfo *pKeyInfo, int nField){
  VdbeCursor *pC = p->apCsr[pOp->p1];
  BtCursor *pCur;
  if( SQPYTE_OFF(CURSOR_REUSE) || pC->eCurType!=CURTYPE_BTREE || pC->isEphemeral || pC->colCache
   || pOp->p2<=1 || pC->pgnoRoot!=(Pgno)pOp->p2 || pC->iDb!=pOp->p3 || pC->pKeyInfo!=pKeyInfo || pC->nField!=nField
   || pC->isTable!=(pOp->p4type!=P4_KEYINFO) || sqpyteForeignCollation(pOp) ) return 0;
  pCur = pC->uc.pCursor;
  if( pCur->pBtree!=pBtree || (pCur->curFlags & (BTCF_WriteFlag|BTCF_Incrblob|BTCF_Pinned)) ) return 0;
  SQPYTE_COUNT(CURSOR_REUSE);
  if( pCur->eState!=CURSOR_VALID ) sqlite3BtreeClearCursor(pCur);
  pC->nullRow = 1;
  pC->deferredMoveto = 0;
  pC->useRandomRowid = 0;
  pC->isOrdered = 1;
  pC->noReuse = 0;
  pC->seekHit = 0;
  pC->seqCount = 0;
  pC->cacheStatus = CACHE_STALE;
  pC->seekResult = 0;
  return pC;
}

/* For the VM, where the row is on which sqpyteRowCacheSeek or sqpyteRowCacheColumn has put a cursor. */
static void sqpyteRowCacheAddress(const VdbeCursor *pC, void *pRow){
  ((i64*)pRow)[0] = (i64)pC->aRow;
  ((i64*)pRow)[1] = pC->szRow;
}

/* SeekRowid and NotExists: 0 the cursor is on the row, 1 there is none. */
int sqpyte_seek_rowid(void *pVdbeCursor, long long key, void *pRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  int res = 0, rc;
  if( sqpyteRowCacheSeek(pC, key, CACHE_STALE) ){
    sqpyteRowCacheAddress(pC, pRow);
    return 0;
  }
  rc = sqlite3BtreeTableMoveto(pC->uc.pCursor, key, 0, &res);
  pC->movetoTarget = key;
  sqpyteMoved(pC, 0);
  pC->seekResult = res;
  if( rc ) return -rc;
  if( res==0 ){
    sqpyteRow(pC->uc.pCursor, pRow);
    sqpyteRowCacheAdd(pC, key, (const i64*)pRow);
  }
  return res!=0;
}

/* The seek that a DeferredSeek has left to be done; of a row that is kept (row_cache.c), where it is. */
int sqpyte_finish_seek(void *pVdbeCursor, void *pRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  int rc, res = 0;
  if( pC->deferredMoveto==SQPYTE_KNOWN_ROW ){
    rc = sqpyteRowCacheColumn(pC);
    ((i64*)pRow)[0] = 0;
    if( rc==SQLITE_OK && pC->deferredMoveto ) sqpyteRowCacheAddress(pC, pRow);
    else if( rc==SQLITE_OK && !pC->nullRow ) sqpyteRow(pC->uc.pCursor, pRow);
    return -rc;
  }
  if( sqpyteLocateDeferred(pC) ){
    pC->cacheStatus = CACHE_STALE;
    sqpyteRowCacheAddress(pC, pRow);
    return 0;
  }
  rc = sqlite3BtreeTableMoveto(pC->uc.pCursor, pC->movetoTarget, 0, &res);
  if( rc ) return -rc;
  if( res ) return -SQLITE_CORRUPT_BKPT;
  pC->deferredMoveto = 0;
  pC->cacheStatus = CACHE_STALE;
  sqpyteRow(pC->uc.pCursor, pRow);
  return 0;
}

/* After a seek: SeekGE and SeekGT go on to the next row, SeekLE and SeekLT to the previous one,
** if the one found isn't it. 1: there is none. */
static int sqpyteSettle(BtCursor *pCur, int opcode, int res, void *pRow){
  int rc = SQLITE_OK;
  if( opcode>=OP_SeekGE ){
    if( res<0 || (res==0 && opcode==OP_SeekGT) ) rc = sqlite3BtreeNext(pCur, 0);
  }else if( res>0 || (res==0 && opcode==OP_SeekLT) ){
    rc = sqlite3BtreePrevious(pCur, 0);
  }else if( sqlite3BtreeEof(pCur) ){
    rc = SQLITE_DONE;
  }
  if( rc==SQLITE_DONE ) return 1;
  if( rc==SQLITE_OK ) sqpyteRow(pCur, pRow);
  return -rc;
}

/* SeekLT, SeekLE, SeekGE, SeekGT of a table. */
int sqpyte_seek_table(void *pVdbeCursor, long long key, int opcode, void *pRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  int res = 0, rc;
  sqpyteMoved(pC, 0);
  rc = sqlite3BtreeTableMoveto(pC->uc.pCursor, key, 0, &res);
  pC->movetoTarget = key;
  if( rc ) return -rc;
  return sqpyteSettle(pC->uc.pCursor, opcode, res, pRow);
}

/* The same of an index, for the n values at aMem. 2: on the row, and the IdxGT or IdxLT that
** follows needs not be asked. */
int sqpyte_seek_index(void *pVdbeCursor, void *aMem, int n, int opcode, void *pRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  BtCursor *pCur = pC->uc.pCursor;
  int eqOnly = sqlite3BtreeCursorHasHint(pCur, BTREE_SEEK_EQ);
  UnpackedRecord r;
  int res = 0, rc;
  sqpyteMoved(pC, 0);
  memset(&r, 0, sizeof(r));
  r.pKeyInfo = pC->pKeyInfo;
  r.nField = (u16)n;
  r.default_rc = (1 & (opcode - OP_SeekLT)) ? -1 : +1;
  r.aMem = (Mem*)aMem;
  rc = sqlite3BtreeIndexMoveto(pCur, &r, &res);
  if( rc ) return -rc;
  if( eqOnly && r.eqSeen==0 ) return 1;
  rc = sqpyteSettle(pCur, opcode, res, pRow);
  return rc==0 && eqOnly ? 2 : rc;
}

/* Found, NotFound, NoConflict: whether the index has the n values at aMem, or with n 0 the
** record in aMem. 0 it has, 1 it has not. */
int sqpyte_seek_exact(void *pVdbe, void *pVdbeCursor, void *aMem, int n){
  sqlite3 *db = ((Vdbe*)pVdbe)->db;
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  Mem *pKey = (Mem*)aMem;
  UnpackedRecord r, *pIdxKey;
  int rc;
  if( n>0 ){
    memset(&r, 0, sizeof(r));
    r.pKeyInfo = pC->pKeyInfo;
    r.nField = (u16)n;
    r.aMem = pKey;
    rc = sqlite3BtreeIndexMoveto(pC->uc.pCursor, &r, &pC->seekResult);
  }else{
    if( ExpandBlob(pKey) ) return -SQLITE_NOMEM_BKPT;
    pIdxKey = sqlite3VdbeAllocUnpackedRecord(pC->pKeyInfo);
    if( pIdxKey==0 ) return -SQLITE_NOMEM_BKPT;
    sqlite3VdbeRecordUnpack(pKey->n, pKey->z, pIdxKey);
    pIdxKey->default_rc = 0;
    rc = sqlite3BtreeIndexMoveto(pC->uc.pCursor, pIdxKey, &pC->seekResult);
    sqlite3DbFreeNN(db, pIdxKey);
  }
  if( rc ) return -rc;
  sqpyteMoved(pC, pC->seekResult!=0);
  return pC->seekResult!=0;
}

/* Last: 1 if the B-tree is empty. */
int sqpyte_last(void *pVdbeCursor){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  int res = 0;
  int rc = sqlite3BtreeLast(pC->uc.pCursor, &res);
  sqpyteMoved(pC, res);
  return rc ? -rc : res;
}

/* IfEmpty: 1 if it is. */
int sqpyte_is_empty(void *pVdbeCursor){
  int res = 0;
  int rc = sqlite3BtreeIsEmpty(((VdbeCursor*)pVdbeCursor)->uc.pCursor, &res);
  return rc ? -rc : res!=0;
}

/* NullRow */
void sqpyte_null_row(void *pVdbeCursor, int nullRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  pC->nullRow = (u8)nullRow;
  pC->cacheStatus = CACHE_STALE;
  if( pC->eCurType==CURTYPE_BTREE ) sqlite3BtreeClearCursor(pC->uc.pCursor);
}

/* The share of a text in the hash of a Bloom filter (see upstream's filterHash). */
long long sqpyte_filter_text(long a, long n){
  u64 x = 0, h = (u64)n;
  if( n>=(long)sizeof(x) ){
    memcpy(&x, (const u8*)a, sizeof(x));
    h += x;
    memcpy(&x, (const u8*)a + n - sizeof(x), sizeof(x));
  }else{
    memcpy(&x, (const u8*)a, n);
  }
  return (i64)(h + x);
}

/* The bit for the hash h in the Bloom filter in pMem, which is set afterwards if add is. */
int sqpyte_filter_bit(void *pMem, long long h, int add){
  Mem *p = (Mem*)pMem;
  u64 i = (u64)h, n = (u64)p->n*8;
  int bit;
  if( i>=n ) i %= n;
  bit = ((u8)p->z[i/8] >> (i&7)) & 1;
  if( add ) p->z[i/8] |= 1<<(i&7);
  return bit;
}
