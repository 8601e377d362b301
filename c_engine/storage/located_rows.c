/*
** Rows by location: where a table's pages are a map (file_map.h), the row of a rowid is found by going down the tree in
** the map itself. No page is asked of the pager, no B-tree cursor moves: three binary searches in memory, and the record
** is an address in the map.
**
** And index prefetch: an index leads to rows all over a table, and each costs a handful of waits for memory, one after
** the other. While a row is visited, the rows of the index entries that follow are located, and the processor is asked
** to fetch them, so that the waits of several overlap. What was located ahead is used when its row is visited. In a file
** of 4 MB there is nothing to wait for, and ranges of 200 entries took 1.2 times as long: small files have it in the mode
** `always` alone, for tests.
**
** The cursor stays where it was, with deferredMoveto==SQPYTE_KNOWN_ROW, as with a row that is copied (row_cache.c); what
** needs its place does the seek then.
**
** Invariants. The same cells are compared in the same order as by sqlite3BtreeTableMoveto (raw_page.h), with its checks
** and those of btreeInitPage, so a damaged tree gives the same row; whatever isn't usual is left to upstream, with its
** errors. All of it holds under the connection's stamp, in one read transaction in which nothing is written, where no page
** is in the WAL. The map stays as long as the cursor: it counts as a page that is out (nFetchOut). Only cursors for which
** sqpyteMayKeep() is true have it, and none of a shared cache, whose files other threads may have in hand when a cursor is
** closed. Included by engine.c.
*/

#define SQPYTE_LOCATE_AFTER 32         /* seeks of a cursor before it begins */
#define SQPYTE_LOCATE_RUN 16           /* rowids, each one behind the last, after which upstream steps from row to row */
#define SQPYTE_PREFETCH_LEAST (64<<20) /* bytes of the smallest map: of a smaller one, the processor's cache has much */
#define SQPYTE_PREFETCH_RING 16        /* a power of two, more than it is ahead */
#define SQPYTE_PREFETCH_LEAF 12        /* entries ahead: the leaf page is located, ... */
#define SQPYTE_PREFETCH_CELL 6         /* ... and the cells in it that a search compares */
#define SQPYTE_PREFETCH_BAD 96         /* so much more lost than gained: it pauses, ... */
#define SQPYTE_PREFETCH_PAUSE 256      /* ... for so many seeks the first time, ... */
#define SQPYTE_PREFETCH_LONGEST 65536  /* ... twice as many the next time, and so on up to so many */
#define SQPYTE_PREFETCH_GOOD 64        /* so many entries of use, and the next pause is short again */
/* What is gained or lost by an entry: of use; prepared in vain; in the same leaf page as the one before, as where the
** table is in the index's order. */
#define SQPYTE_PREFETCH_GAIN 4
#define SQPYTE_PREFETCH_LOSS 4
#define SQPYTE_PREFETCH_SAME 1

/* A leaf page of the table: in the map, 0 if there is none, and what the keys are between that belong there. */
typedef struct SqpyteLeaf SqpyteLeaf;
struct SqpyteLeaf {
  const u8 *a;
  i64 lo, hi;
};

/* Whether a search for a rowid ends in it. */
static inline int sqpyteLeafHas(const SqpyteLeaf *p, i64 key){
  return p->a && key>p->lo && key<p->hi;
}

typedef struct SqpyteLocator SqpyteLocator;
struct SqpyteLocator {
  unixFile *pFile;        /* Whose map it is */
  const u8 *aMap;
  u64 stamp;              /* Under which all this was read (validity.h) */
  i64 sought;             /* The rowid that was sought last, ... */
  int nRun;               /* ... and how many have been, each one behind the last */
  SqpyteLeaf leaf;        /* The leaf page of the row that was sought last */
  i64 key;                /* The row that was located last, ... */
  const u8 *aRow;         /* ... its record, 0 if there is none, ... */
  u32 nRow;               /* ... the record's size, ... */
  const u8 *aRowLeaf;     /* ... its leaf page, ... */
  int ixRow;              /* ... and which of its cells it is */
  /* Index prefetch */
  SqpyteLeaf ahead;       /* The leaf page that was located last, ahead */
  Pgno pgnoIndex;         /* The leaf page of the index, ... */
  int nIndexCell;         /* ... how many entries it has, ... */
  int iFirst, iLast;      /* ... those of this range's first and of the last visit, ... */
  int iLeaf, iCell;       /* ... and the next one to be located, and to be fetched */
  int nUsual;             /* Entries of the last range, with which the index was elsewhere; 0: none has ended */
  int nBad;               /* Lost, less what was gained */
  int nGood;              /* Entries of use since the last pause */
  SqpyteBackOff back;     /* An occasion is a visit */
  struct {
    i64 key;              /* The entry's rowid */
    SqpyteLeaf leaf;      /* The leaf page that has its row; a: 0 if it isn't known */
    int bNew;             /* It is another one than that of the entry before */
  } a[SQPYTE_PREFETCH_RING];
};

/* Which child of an interior page, whose header is at aHeader, a search for a rowid goes to. */
static Pgno sqpyteRawChild(const BtShared *pBt, const u8 *a, const u8 *aHeader, int nCell, i64 key, SqpyteLeaf *pLeaf){
  const u8 *aPointer = aHeader + 12;
  int lwr = 0, upr = nCell-1;
  while( lwr<=upr ){
    int idx = (lwr+upr)>>1;
    i64 k = sqpyteInteriorKey(pBt, a, aPointer, idx);
    if( k<key ){
      lwr = idx+1;
      pLeaf->lo = MAX(pLeaf->lo, k);
    }else{
      pLeaf->hi = MIN(pLeaf->hi, k);
      if( k==key ){
        lwr = idx;
        break;
      }
      upr = idx-1;
    }
  }
  return get4byte(lwr<nCell ? sqpyteRawCell(pBt, a, aPointer, lwr) : aHeader+8);
}

/* A page in the map that may be a child of another; 0 if there is none. */
static inline const u8 *sqpyteRawPage(const SqpyteLocator *p, const BtShared *pBt, Pgno pgno){
  if( pgno<2 || pgno>pBt->nPage || (i64)pgno*pBt->pageSize+SQPYTE_MAP_BUFFER>p->pFile->mmapSize ) return 0;
  return p->aMap + (i64)(pgno-1)*pBt->pageSize;
}

/* The number of a page's cells, if it is of a kind (PTF_...), else 0. */
static inline int sqpyteRawCells(const BtShared *pBt, const u8 *a, int eKind){
  int nCell = get2byte(&a[3]);
  return a[0]==eKind && nCell<=(int)MX_CELL(pBt) ? nCell : 0;
}

/* The leaf page in which a search for a rowid ends, as deep in the tree as the one where the cursor is. The page itself
** isn't read: whoever reads it looks what it is. Returns 0, with pLeaf->a 0, if upstream is to look for it. */
static int sqpyteLocateLeaf(const SqpyteLocator *p, const BtCursor *pCur, i64 key, SqpyteLeaf *pLeaf){
  const BtShared *pBt = pCur->pBt;
  const MemPage *pRoot = pCur->iPage ? pCur->apPage[0] : pCur->pPage;
  const u8 *a;
  int depth;
  pLeaf->a = 0;
  pLeaf->lo = SMALLEST_INT64;
  pLeaf->hi = LARGEST_INT64;
  if( pCur->iPage<1 || pRoot->leaf || !pRoot->intKey || pRoot->nCell<1 ) return 0;
  a = sqpyteRawPage(p, pBt, sqpyteRawChild(pBt, pRoot->aData, pRoot->aData+pRoot->hdrOffset, pRoot->nCell, key, pLeaf));
  for(depth=1; depth<pCur->iPage && a; depth++){
    int nCell = sqpyteRawCells(pBt, a, PTF_INTKEY|PTF_LEAFDATA);
    if( nCell==0 ) return 0;
    a = sqpyteRawPage(p, pBt, sqpyteRawChild(pBt, a, a, nCell, key, pLeaf));
  }
  pLeaf->a = a;
  return a!=0;
}

/* Notes the record of a cell, which is behind its rowid at aRowid, if it is local and its header plain: the checks of
** sqpyteRow(). */
static int sqpyteNoteRecord(SqpyteLocator *p, const BtShared *pBt, const u8 *a, int ix, i64 key, const u8 *aRowid){
  const u8 *pCell = sqpyteRawCell(pBt, a, a+8, ix), *aEnd = a+pBt->pageSize, *q = sqpyteBehindVarint(aRowid);
  u32 n;
  if( pCell+4>aEnd || pCell<a+8 ) return 0;
  n = *pCell;
  if( n>=0x80 ){
    if( pCell[1]>=0x80 ) return 0;
    n = ((n & 0x7f)<<7) | pCell[1];
  }
  if( n==0 || n>pBt->maxLeaf || q+n>aEnd ) return 0;
  if( *q<2 || *q>=0x80 || *q>n ) return 0;
  p->key = key;
  p->aRow = q;
  p->nRow = n;
  p->aRowLeaf = a;
  p->ixRow = ix;
  return 1;
}

/* Notes the record of a rowid in a leaf page of the map, if a search finds it there. */
static int sqpyteRowInLeaf(SqpyteLocator *p, const BtShared *pBt, const u8 *a, i64 key){
  int nCell = sqpyteRawCells(pBt, a, PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF), i, res;
  const u8 *q;
  if( nCell==0 ) return 0;
  i = sqpyteSearchLeaf(pBt, a, a+8, nCell, key, &res, &q);
  return i>=0 && res==0 && sqpyteNoteRecord(p, pBt, a, i, key, q);
}

/* The rowid behind that of the row that was located last: upstream goes to the next row, and searches only if that isn't
** it. Returns whether it is, in the same leaf page, and then it is noted. */
static int sqpyteRowBehind(SqpyteLocator *p, const BtShared *pBt, i64 key){
  const u8 *a = p->aRowLeaf, *q;
  int ix = p->ixRow+1;
  return ix<get2byte(&a[3]) && sqpyteRawRowid(sqpyteRawCell(pBt, a, a+8, ix), a+pBt->pageSize, &q)==key && q!=0
      && sqpyteNoteRecord(p, pBt, a, ix, key, q);
}

/* Before upstream's cursor is to look for a rowid: it hasn't moved to the rows that were located. From the last one
** it would step to the rowid behind; where it still stands means nothing. */
static void sqpyteLeaveLocated(SqpyteLocator *p, BtCursor *pCur, i64 key){
  int res;
  if( p->aRow==0 || pCur->eState!=CURSOR_VALID ) return;
  p->aRow = 0;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
  pCur->info.nSize = 0;
  if( (u64)key-(u64)p->key==1 ){
    (void)sqlite3BtreeTableMoveto(pCur, p->key, 0, &res);   /* an error: the seek that follows has it, too */
  }
}

/* Whether all pages of this read transaction are in the file, none in the WAL: as sqlite3WalFindFrame asks. */
static int sqpyteNoFrames(const Pager *pPager){
  const Wal *pWal = pPager->pWal;
  return pWal==0 || pWal->hdr.mxFrame==0 || (pWal->readLock==0 && pWal->bShmUnreliable==0);
}

/* Whether rows may be located now. What has been located under another stamp is forgotten. */
static int sqpyteMayLocate(SqpyteLocator *p, const BtCursor *pCur){
  const Pager *pPager = pCur->pBt->pPager;
  u64 stamp = SQPYTE_CURSOR_STAMP(pCur);
  if( pCur->eState!=CURSOR_VALID || pPager->eState!=PAGER_READER || !USEFETCH(pPager) || !sqpyteNoFrames(pPager)
   || p->pFile->pMapRegion!=p->aMap || SQPYTE_MAP_FAILED(p->pFile) || bSqpyteSystemCallsReplaced
   || (pCur->pBtree->db->flags & SQLITE_CellSizeCk) ) return 0;
  if( p->stamp!=stamp ){
    p->stamp = stamp;
    p->aRow = 0;
    p->leaf.a = 0;
    p->ahead.a = 0;
    p->pgnoIndex = 0;
  }
  return 1;
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

/* First step: the leaf page of an index entry's row is located and asked for. */
static void sqpytePrefetchLeaf(SqpyteLocator *p, BtCursor *pCur, MemPage *pIndex, int i){
  i64 key;
  int j = i & (SQPYTE_PREFETCH_RING-1);
  p->a[j].leaf.a = 0;
  p->a[j].bNew = 0;
  if( !sqpyteEntryRowid(pIndex, i, &key) ) return;
  p->a[j].key = key;
  if( sqpyteLeafHas(&p->ahead, key) ){
    p->nBad += SQPYTE_PREFETCH_SAME;
    p->a[j].leaf = p->ahead;
    return;
  }
  if( !sqpyteLocateLeaf(p, pCur, key, &p->ahead) ) return;
  p->a[j].leaf = p->ahead;
  p->a[j].bNew = 1;
  __builtin_prefetch(p->ahead.a);
  __builtin_prefetch(p->ahead.a+64);
}

/* Second step: the cells that a search in a leaf page compares, if keys are spread evenly, and the row. A search asks
** for them itself, too, as its waits are then one, not one for each cell (5 to 20 % of a join), but not where the leaves
** are the root's children: so small a table is in the processor's cache. */
static void sqpytePrefetchCells(const BtShared *pBt, const SqpyteLeaf *pLeaf, i64 key){
  int ix, lwr, upr, idx;
  u64 range, at;
  if( pLeaf->a==0 ) return;
  range = (u64)pLeaf->hi - (u64)pLeaf->lo;
  at = (u64)key - (u64)pLeaf->lo - 1;
  upr = MIN(get2byte(&pLeaf->a[3]), (int)MX_CELL(pBt)) - 1;
  ix = at<range && (range>>40)==0 ? (int)(at*(upr+1)/range) : upr>>1;
  for(lwr=0; lwr<=upr; ){
    const u8 *pCell;
    idx = (lwr+upr)>>1;
    pCell = sqpyteRawCell(pBt, pLeaf->a, pLeaf->a+8, idx);
    __builtin_prefetch(pCell);
    if( idx==ix ){
      __builtin_prefetch(pCell+64);
      break;
    }
    if( idx<ix ) lwr = idx+1; else upr = idx-1;
  }
}

/* Prepares the entries that follow the one where the index is, of a cursor whose seek is deferred (so it has pAltCursor).
** Returns the leaf page of that one's row, if it was located when its turn came, else 0. */
static const SqpyteLeaf *sqpytePrefetch(SqpyteLocator *p, const VdbeCursor *pTab, i64 key){
  BtCursor *pCur = pTab->uc.pCursor, *pIdx;
  const SqpyteLeaf *pFound = 0;
  int ix, last;
  if( pTab->pAltCursor==0 || pTab->pAltCursor->eCurType!=CURTYPE_BTREE || SQPYTE_OFF(INDEX_PREFETCH)
   || (p->pFile->mmapSize<SQPYTE_PREFETCH_LEAST && sqpyteVm.mode!=SQPYTE_MODE_ALWAYS) || sqpytePauses(&p->back) ) return 0;
  pIdx = pTab->pAltCursor->uc.pCursor;
  if( pIdx->eState!=CURSOR_VALID || pIdx->pBt!=pCur->pBt || !pIdx->pPage->leaf || pIdx->pPage->intKey ) return 0;
  ix = pIdx->ix;
  if( pIdx->pPage->pgno!=p->pgnoIndex || ix<p->iLast || ix>p->iLeaf ){
    if( p->pgnoIndex ){
      p->nBad += SQPYTE_PREFETCH_LOSS*(p->iLeaf-1 - p->iLast);
      p->nUsual = p->iLast+1<p->nIndexCell ? p->iLast+1 - p->iFirst : 0;
    }
    p->pgnoIndex = pIdx->pPage->pgno;
    p->nIndexCell = pIdx->pPage->nCell;
    p->iFirst = ix;
    p->iLeaf = p->iCell = ix+1;
  }else if( ix<p->iLeaf ){
    int j = ix & (SQPYTE_PREFETCH_RING-1);
    if( p->a[j].leaf.a && p->a[j].key==key ){
      pFound = &p->a[j].leaf;
      if( p->a[j].bNew ){
        p->nGood++;
        p->nBad -= MIN(p->nBad, SQPYTE_PREFETCH_GAIN);
      }
    }
  }
  p->iLast = ix;
  if( p->nBad>SQPYTE_PREFETCH_BAD ){
    if( p->nGood>SQPYTE_PREFETCH_GOOD ) p->back.nNext = 0;
    sqpyteBackOff(&p->back, SQPYTE_PREFETCH_PAUSE, 2, SQPYTE_PREFETCH_LONGEST);
    p->nBad = p->nGood = 0;
    p->pgnoIndex = 0;
    return pFound;
  }
  SQPYTE_COUNT(INDEX_PREFETCH);
  if( p->iLeaf<=ix ) p->iLeaf = ix+1;
  if( p->iCell<=ix ) p->iCell = ix+1;
  /* At most two a visit, and none behind the last range's length, so that short ranges of the index have few in vain. */
  last = MIN(MIN(ix+1+SQPYTE_PREFETCH_LEAF, p->iLeaf+2), pIdx->pPage->nCell);
  if( ix<p->iFirst+p->nUsual ) last = MIN(last, p->iFirst+p->nUsual);
  for(; p->iLeaf<last; p->iLeaf++) sqpytePrefetchLeaf(p, pCur, pIdx->pPage, p->iLeaf);
  last = MIN(ix+1+SQPYTE_PREFETCH_CELL, p->iLeaf);
  for(; p->iCell<last; p->iCell++){
    int j = p->iCell & (SQPYTE_PREFETCH_RING-1);
    if( p->a[j].bNew ) sqpytePrefetchCells(pCur->pBt, &p->a[j].leaf, p->a[j].key);
  }
  return pFound;
}

/* The cursor's locator, once it has done some seeks; 0 if it has none. */
static SqpyteLocator *sqpyteLocatorOf(VdbeCursor *pC){
  SqpyteLocator *p = pC->pSqpyteLocator;
  BtCursor *pCur = pC->uc.pCursor;
  unixFile *pFile;
  if( p || pC->bSqpyteNoLocator || ++pC->nSqpyteLocates<SQPYTE_LOCATE_AFTER ) return p;
  pFile = (unixFile*)pCur->pBt->pPager->fd;
  if( !USEFETCH(pCur->pBt->pPager) || pCur->eState!=CURSOR_VALID ){
    pC->nSqpyteLocates = 0;
    return 0;
  }
  pC->bSqpyteNoLocator = 1;
  if( SQPYTE_OFF(LOCATED_ROWS) || pCur->pBtree->sharable || pCur->pBt->pPager->fd->pMethods!=&posixIoMethods || pFile->pMapRegion==0
   || !pCur->curIntKey || !sqpyteMayKeep(pC) ) return 0;
  p = SQPYTE_SPARE(sqlite3MallocZero(sizeof(*p)));
  if( p==0 ) return 0;
  SQPYTE_COUNT(LOCATED_ROWS);
  p->pFile = pFile;
  p->aMap = pFile->pMapRegion;
  pFile->nFetchOut++;
  pC->pSqpyteLocator = p;
  return p;
}

/* The cursor is closed. */
static void sqpyteLocatorFree(VdbeCursor *pC){
  pC->pSqpyteLocator->pFile->nFetchOut--;
  sqlite3_free(pC->pSqpyteLocator);
  pC->pSqpyteLocator = 0;
}

/* The record that was located last, if it is the rowid's and still holds. */
static int sqpyteIsLocated(const SqpyteLocator *p, const BtCursor *pCur, i64 key){
  return p->aRow && p->key==key && p->stamp==SQPYTE_CURSOR_STAMP(pCur) && pCur->eState==CURSOR_VALID;
}

/* Locates the row of a rowid: into p->aRow and p->nRow. Returns whether it could; if not, upstream is to look for it. */
static int sqpyteLocate(VdbeCursor *pC, i64 key, int bByIndex){
  SqpyteLocator *p = sqpyteLocatorOf(pC);
  BtCursor *pCur = pC->uc.pCursor;
  if( p==0 ) return 0;
  p->nRun = (u64)key-(u64)p->sought==1 ? p->nRun+1 : 0;
  p->sought = key;
  if( p->nRun<SQPYTE_LOCATE_RUN && sqpyteMayLocate(p, pCur) ){
    const SqpyteLeaf *pAhead = bByIndex ? sqpytePrefetch(p, pC, key) : 0;
    int bEnd = 0;
    if( p->aRow && (u64)key-(u64)p->key<=1 ){
      if( key==p->key || sqpyteRowBehind(p, pCur->pBt, key) ) return 1;
      bEnd = p->ixRow+1>=get2byte(&p->aRowLeaf[3]);       /* there upstream steps to the next page */
    }
    if( pAhead ){
      p->leaf = *pAhead;
    }else if( !bEnd && !sqpyteLeafHas(&p->leaf, key) && sqpyteLocateLeaf(p, pCur, key, &p->leaf) ){
      __builtin_prefetch(p->leaf.a+64);
      if( pCur->iPage>1 ) sqpytePrefetchCells(pCur->pBt, &p->leaf, key);
    }
    if( !bEnd && p->leaf.a && sqpyteRowInLeaf(p, pCur->pBt, p->leaf.a, key) ) return 1;
  }
  sqpyteLeaveLocated(p, pCur, key);
  return 0;
}
