/*
** Index prefetch: a table's rows in an index's order lie anywhere in the table, and where the
** table is larger than the processor's caches each costs a handful of waits for memory, one after the
** other: the page's entry in the page cache, its header, the cell's address, the cell. While a row is
** visited, the rows of the index entries that follow are brought nearer, each a little per visit, so
** that the waits of several overlap. It only reads: interior pages and headers that are in the page cache,
** with upstream's bounds, and only asks the processor to fetch the rest. Pages that aren't in the
** cache are left alone. Included by engine.c.
*/

#define SQPYTE_PREFETCH_AFTER 32      /* seeks of a cursor before it begins, ... */
#define SQPYTE_PREFETCH_PAGES 2000    /* ... and pages in the cache: fewer are near anyway */
#define SQPYTE_PREFETCH_RING 16       /* a power of two */
#define SQPYTE_PREFETCH_BAD 96        /* so much more lost than gained: it pauses, ... */
#define SQPYTE_PREFETCH_PAUSE 256     /* ... for so many seeks the first time, ... */
#define SQPYTE_PREFETCH_LONGEST 65536 /* ... twice as many the next time, and so on up to so many */
#define SQPYTE_PREFETCH_GOOD 64       /* so many entries of use, and the next pause is short again */
/* What is gained or lost by an entry: of use; prepared in vain or not in time; in the same leaf page
** as the one before, as where the table is in the index's order. */
#define SQPYTE_PREFETCH_GAIN 4
#define SQPYTE_PREFETCH_LOSS 4
#define SQPYTE_PREFETCH_SAME 1
/* How many entries ahead: the page is found, its entry in the cache is, its header, its cell. */
static const int sqpyteDistance[4] = { 12, 9, 6, 3 };

struct SqpytePrefetch {
  MemPage *pIndex;        /* The leaf page of the index, ... */
  int iLast;              /* ... the entry of the last visit, ... */
  int aNext[4];           /* ... and the next one for each step */
  i64 lo, hi;             /* What the rowids of the last entry's leaf page lie between */
  int nBad;               /* Lost, less what was gained */
  int nGood;              /* Entries of use since the last pause */
  SqpyteBackOff back;     /* An occasion is a visit */
  struct {
    i64 key, lo, hi;      /* The rowid, and what those of its page lie between */
    Pgno pgno;            /* Its leaf page, 0 if not known, or that of the entry before */
    int bCached;          /* It was in the cache at the third step */
  } a[SQPYTE_PREFETCH_RING];
};

/* The page cache's entry for a page, if it is there. Doesn't count as a use of it. */
static PgHdr1 *sqpytePeek(PCache1 *pCache, Pgno pgno){
  PgHdr1 *p = pCache->apHash[pgno & (pCache->nHash-1)];
  while( p && p->iKey!=pgno ) p = p->pNext;
  return p;
}

/* The B-tree's header of a page in the cache; 0 if it has none or isn't of pBt. */
static MemPage *sqpytePeekPage(PCache1 *pCache, BtShared *pBt, Pgno pgno){
  PgHdr1 *pEntry = sqpytePeek(pCache, pgno);
  PgHdr *pHdr;
  MemPage *pPage;
  if( pEntry==0 ) return 0;
  pHdr = (PgHdr*)pEntry->page.pExtra;
  if( pHdr->pPage==0 ) return 0;
  pPage = (MemPage*)pHdr->pExtra;
  if( !pPage->isInit || pPage->pBt!=pBt || pPage->pgno!=pgno || pPage->nCell<1 ) return 0;
  return pPage;
}

/* The rowid at the end of an index record in a leaf page, into *pRowid; false if it is unusual. */
static int sqpyteEntryRowid(MemPage *pPage, int i, i64 *pRowid){
  const u8 *p = findCell(pPage, i), *pEnd = pPage->aDataEnd;
  u32 size, type, n;
  if( p+4>pEnd || p<pPage->aData+8 ) return 0;
  size = *(p++);
  if( size>=0x80 ){
    if( *p>=0x80 ) return 0;
    size = ((size & 0x7f)<<7) | *(p++);
  }
  if( size<2 || size>pPage->maxLocal || p+size>pEnd || *p<2 || *p>=0x80 || *p>size ) return 0;
  type = p[*p - 1];
  if( type<1 || type>9 || type==7 ) return 0;
  n = sqlite3SmallTypeSizes[type];
  if( *p+n>size ) return 0;
  if( type>=8 ){
    *pRowid = type-8;
  }else{
    Mem m;
    sqlite3VdbeSerialGet(p+size-n, type, &m);
    *pRowid = m.u.i;
  }
  return 1;
}

/* First step: which leaf page of the table has the row. The interior pages are in the cache. */
static void sqpytePrefetchUp(struct SqpytePrefetch *p, BtCursor *pCur, PCache1 *pCache, int i){
  MemPage *pPage = pCur->apPage[0];
  i64 key, lo = SMALLEST_INT64, hi = LARGEST_INT64;
  int depth;
  p->a[i & (SQPYTE_PREFETCH_RING-1)].pgno = 0;
  p->a[i & (SQPYTE_PREFETCH_RING-1)].bCached = 0;
  if( !sqpyteEntryRowid(p->pIndex, i, &key) ) return;
  if( key>p->lo && key<=p->hi ){
    p->nBad += SQPYTE_PREFETCH_SAME;
    return;
  }
  for(depth=pCur->iPage; depth>0; depth--){
    int lwr = 0, upr = pPage->nCell-1;
    Pgno child;
    if( pPage->leaf || !pPage->intKey ) return;
    while( lwr<=upr ){
      int idx = (lwr+upr)>>1;
      i64 k = sqpyteInteriorKey(pPage, idx);
      if( k<key ){
        lwr = idx+1;
        lo = k;
      }else{
        upr = idx-1;
        hi = k;
      }
    }
    child = get4byte(lwr<pPage->nCell ? findCell(pPage, lwr) : pPage->aData+pPage->hdrOffset+8);
    if( depth==1 ){
      i &= SQPYTE_PREFETCH_RING-1;
      p->a[i].key = key;
      p->a[i].lo = p->lo = lo;
      p->a[i].hi = p->hi = hi;
      p->a[i].pgno = child;
      __builtin_prefetch(&pCache->apHash[child & (pCache->nHash-1)]);
      return;
    }
    pPage = sqpytePeekPage(pCache, pCur->pBt, child);
    if( pPage==0 ) return;
  }
}

/* Second step: its entry in the cache, mostly the first with its hash. */
static void sqpytePrefetchEntry(struct SqpytePrefetch *p, PCache1 *pCache, int i){
  i &= SQPYTE_PREFETCH_RING-1;
  if( p->a[i].pgno ) __builtin_prefetch(pCache->apHash[p->a[i].pgno & (pCache->nHash-1)]);
}

/* Third step: its header, and the cells' addresses. */
static void sqpytePrefetchHeader(struct SqpytePrefetch *p, PCache1 *pCache, int i){
  PgHdr1 *pEntry;
  i &= SQPYTE_PREFETCH_RING-1;
  if( p->a[i].pgno==0 ) return;
  pEntry = sqpytePeek(pCache, p->a[i].pgno);
  if( pEntry==0 ) return;
  __builtin_prefetch((u8*)pEntry+64);
  __builtin_prefetch((u8*)pEntry+128);
  __builtin_prefetch((u8*)pEntry+192);
  __builtin_prefetch((u8*)pEntry+256);
  __builtin_prefetch(pEntry->page.pBuf);
  __builtin_prefetch((u8*)pEntry->page.pBuf+64);
  p->a[i].bCached = 1;
}

/* Fourth step: the cells that a search is going to compare, and the row. The page is looked up again: the
** program has run since the third step, and the page may be gone. */
static void sqpytePrefetchCell(struct SqpytePrefetch *p, BtShared *pBt, PCache1 *pCache, int i){
  MemPage *pPage;
  u64 range, at;
  int ix, lwr, upr, idx;
  i &= SQPYTE_PREFETCH_RING-1;
  pPage = p->a[i].bCached ? sqpytePeekPage(pCache, pBt, p->a[i].pgno) : 0;
  if( pPage==0 ) return;
  range = (u64)p->a[i].hi - (u64)p->a[i].lo;
  at = (u64)p->a[i].key - (u64)p->a[i].lo - 1;
  upr = pPage->nCell-1;
  ix = at<range && (range>>40)==0 ? (int)(at*pPage->nCell/range) : upr>>1;
  for(lwr=0; lwr<=upr; ){
    const u8 *pCell;
    idx = (lwr+upr)>>1;
    pCell = findCellPastPtr(pPage, idx);
    __builtin_prefetch(pCell);
    if( idx==ix ){
      __builtin_prefetch(pCell+64);
      break;
    }
    if( idx<ix ) lwr = idx+1; else upr = idx-1;
  }
}

/* Called before the seek of a cursor that an index has led to. */
static void sqpytePrefetch(VdbeCursor *pTab){
  struct SqpytePrefetch *p = pTab->bSqpyteRowCache ? 0 : pTab->uSqpyte.pPrefetch;
  BtCursor *pCur = pTab->uc.pCursor, *pIdx;
  PCache1 *pCache;
  int ix, step, last;
  if( p==0 ){
    if( pTab->pAltCursor==0 || pTab->bSqpyteRowCache || ++pTab->nSqpyteSeeks<SQPYTE_PREFETCH_AFTER ) return;
    pTab->nSqpyteSeeks = 0;
    if( SQPYTE_OFF(INDEX_PREFETCH) ) return;
    if( sqlite3GlobalConfig.pcache2.xFetch!=pcache1Fetch ) return;
    pCache = (PCache1*)pCur->pBt->pPager->pPCache->pCache;
    if( pCache->nPage<SQPYTE_PREFETCH_PAGES ) return;
    p = pTab->uSqpyte.pPrefetch = SQPYTE_SPARE(sqlite3MallocZero(sizeof(*p)));
    if( p==0 ) return;
    SQPYTE_COUNT(INDEX_PREFETCH);
  }
  if( sqpytePauses(&p->back) ) return;
  if( pTab->pAltCursor->eCurType!=CURTYPE_BTREE ) return;
  pIdx = pTab->pAltCursor->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID || pCur->iPage<1 || pIdx->eState!=CURSOR_VALID
   || pIdx->pBt!=pCur->pBt || !pIdx->pPage->leaf || pIdx->pPage->intKey ) return;
  pCache = (PCache1*)pCur->pBt->pPager->pPCache->pCache;
  if( pCache->pGroup->mutex ) return;
  ix = pIdx->ix;
  if( pIdx->pPage!=p->pIndex || ix<p->iLast || ix>p->aNext[0] ){
    if( p->pIndex ) p->nBad += SQPYTE_PREFETCH_LOSS*(p->aNext[0]-1 - p->iLast);
    p->pIndex = pIdx->pPage;
    p->lo = 1;
    p->hi = 0;
    for(step=0; step<4; step++) p->aNext[step] = ix+1;
  }else if( ix<p->aNext[3] && p->a[ix & (SQPYTE_PREFETCH_RING-1)].bCached ){
    p->nGood++;
    p->nBad -= p->nBad<SQPYTE_PREFETCH_GAIN ? p->nBad : SQPYTE_PREFETCH_GAIN;
  }else if( ix>=p->aNext[3] || p->a[ix & (SQPYTE_PREFETCH_RING-1)].pgno ){
    p->nBad += SQPYTE_PREFETCH_LOSS;
  }
  p->iLast = ix;
  if( p->nBad>SQPYTE_PREFETCH_BAD ){
    if( p->nGood>SQPYTE_PREFETCH_GOOD ) p->back.nNext = 0;
    sqpyteBackOff(&p->back, SQPYTE_PREFETCH_PAUSE, 2, SQPYTE_PREFETCH_LONGEST);
    p->nBad = p->nGood = 0;
    p->pIndex = 0;
    return;
  }
  for(step=0; step<4; step++){
    last = ix + 1 + sqpyteDistance[step];
    if( last>pIdx->pPage->nCell ) last = pIdx->pPage->nCell;
    if( step==0 ){
      if( last>p->aNext[0]+2 ) last = p->aNext[0]+2;
    }else if( last>p->aNext[step-1] ){
      last = p->aNext[step-1];
    }
    if( p->aNext[step]<=ix ) p->aNext[step] = ix+1;
    for(; p->aNext[step]<last; p->aNext[step]++){
      if( step==0 ) sqpytePrefetchUp(p, pCur, pCache, p->aNext[0]);
      else if( step==1 ) sqpytePrefetchEntry(p, pCache, p->aNext[1]);
      else if( step==2 ) sqpytePrefetchHeader(p, pCache, p->aNext[2]);
      else sqpytePrefetchCell(p, pCur->pBt, pCache, p->aNext[3]);
    }
  }
}
