/*
** The page cache's memory: which page goes when the cache is full, and pages of large caches within large
** pieces of memory. Included by the edited sqlite3.c in the middle of pcache1.c.
**
** Upstream moves a page out of its list by last use when it is pinned and to the list's head when it is
** unpinned, and so writes to both neighbours twice for each visit of a page, four lines of memory that
** are in no processor's cache when the page cache is large. Here a pinned page stays where it is,
** marked, and one that has been asked for again is marked, too; when a page has to go, the list is
** looked through from its end: pinned pages leave it, pages asked for since the last look begin anew at
** its head (the "second chance", or clock).
*/
#include <sys/mman.h>

/* Takes a page out of the list; it counts as pinned afterwards. */
static void sqpyteLeaveList(PgHdr1 *pPage){
  pPage->pLruPrev->pLruNext = pPage->pLruNext;
  pPage->pLruNext->pLruPrev = pPage->pLruPrev;
  pPage->pLruNext = 0;
  if( !pPage->bSqpytePinned ) pPage->pCache->nRecyclable--;
  pPage->bSqpytePinned = 0;
}

/* Puts a page at the list's head. */
static void sqpyteEnterList(PGroup *pGroup, PgHdr1 *pPage){
  PgHdr1 **ppFirst = &pGroup->lru.pLruNext;
  pPage->pLruPrev = &pGroup->lru;
  (pPage->pLruNext = *ppFirst)->pLruPrev = pPage;
  *ppFirst = pPage;
  pPage->pCache->nRecyclable++;
}

/* Marks a page that is in the list as pinned. */
static PgHdr1 *sqpytePin(PgHdr1 *pPage){
  pPage->bSqpytePinned = 1;
  pPage->bSqpyteUsed = 1;
  pPage->pCache->nRecyclable--;
  return pPage;
}

/* Takes the mark off, or puts the page into the list if it isn't in it. */
static void sqpyteUnpin(PGroup *pGroup, PgHdr1 *pPage){
  if( pPage->pLruNext ){
    pPage->bSqpytePinned = 0;
    pPage->pCache->nRecyclable++;
  }else{
    sqpyteEnterList(pGroup, pPage);
  }
}

/* Returns the page to be recycled, which stays in the list, or the anchor if none can be. */
static PgHdr1 *sqpyteVictim(PGroup *pGroup){
  PgHdr1 *p;
  while( (p = pGroup->lru.pLruPrev)->isAnchor==0 ){
    if( !p->bSqpytePinned && !p->bSqpyteUsed ) break;
    if( p->bSqpytePinned ){
      sqpyteLeaveList(p);
    }else{
      p->bSqpyteUsed = 0;
      sqpyteLeaveList(p);
      sqpyteEnterList(pGroup, p);
    }
  }
  return p;
}

/*
** The pages of a cache that is larger than SQLite's default lie in pieces of some MiB, for which the
** system is asked to use huge pages: a visit of a page anywhere in the cache waits for the processor's
** tables of addresses otherwise. A piece is freed when the cache has no page left, as upstream's bulk
** allocation is.
*/
#define SQPYTE_PIECE_AFTER 768            /* pages in the cache before the first piece */
#define SQPYTE_PIECE_LEAST ((i64)2<<20)   /* bytes */
#define SQPYTE_PIECE_MOST ((i64)16<<20)

static void pcache1Free(void *p);

/* Adds a piece of memory to the cache's free pages, a quarter of what it has, if it is to have more. */
static void sqpyteAddPiece(PCache1 *pCache){
  i64 n = pCache->nPage/4, size;
  u8 *z, *zHuge, *zEnd;
  if( pCache->nPage<SQPYTE_PIECE_AFTER || !pCache->bPurgeable || pcache1.szSlot!=0 ) return;
  if( n>SQPYTE_PIECE_MOST/pCache->szAlloc ) n = SQPYTE_PIECE_MOST/pCache->szAlloc;
  if( n*pCache->szAlloc<SQPYTE_PIECE_LEAST ) n = SQPYTE_PIECE_LEAST/pCache->szAlloc;
  if( n<8 || n>(i64)pCache->nMax - pCache->nPage ) return;
  size = 16 + n*pCache->szAlloc;
  sqlite3BeginBenignMalloc();
  z = sqlite3Malloc(size);
  sqlite3EndBenignMalloc();
  if( z==0 ) return;
#ifdef MADV_HUGEPAGE
  zHuge = (u8*)(((uptr)z + 0x1fffff) & ~(uptr)0x1fffff);
  zEnd = (u8*)(((uptr)z + size) & ~(uptr)0x1fffff);
  if( zHuge<zEnd ) (void)madvise(zHuge, zEnd-zHuge, MADV_HUGEPAGE);
#endif
  *(void**)z = pCache->pSqpytePieces;
  pCache->pSqpytePieces = z;
  for(z+=16; n>0; n--, z+=pCache->szAlloc){
    PgHdr1 *pX = (PgHdr1*)&z[pCache->szPage];
    pX->page.pBuf = z;
    pX->page.pExtra = (u8*)pX + ROUND8(sizeof(*pX));
    pX->isBulkLocal = 1;
    pX->isAnchor = 0;
    pX->pLruPrev = 0;
    pX->pNext = pCache->pFree;
    pCache->pFree = pX;
  }
}

static void sqpyteFreePieces(PCache1 *pCache){
  while( pCache->pSqpytePieces ){
    void *p = pCache->pSqpytePieces;
    pCache->pSqpytePieces = *(void**)p;
    sqlite3_free(p);
  }
}
