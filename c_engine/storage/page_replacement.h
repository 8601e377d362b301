/*
** Which page goes when the page cache is full. Included by the edited sqlite3.c in the middle of
** pcache1.c.
**
** Upstream moves a page out of its list by last use when it is pinned and to the list's head when it is
** unpinned, and so writes to both neighbours twice for each visit of a page, four lines of memory that
** are in no processor's cache when the page cache is large. Here a pinned page stays where it is,
** marked, and how often a page has been asked for again is counted; when a page has to go, the list is
** looked through from its end: pinned pages leave it, pages asked for begin anew at its head (the "second
** chance", or clock), as often as they were, up to a bound. So pages of many visits, a B-tree's interior
** pages, outlast those of one, rows fetched at random; with one chance they were 4 to 7 percent of the
** pages that some of TPC-H's joins read.
*/

#include "core/mechanisms.h"
#define SQPYTE_CHANCES 7

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

/* Marks a page that is in the list as pinned. Switched off, it leaves the list, as upstream has it. */
static PgHdr1 *sqpytePin(PgHdr1 *pPage){
  if( SQPYTE_OFF(PAGE_REPLACEMENT) ){
    sqpyteLeaveList(pPage);
    return pPage;
  }
  pPage->bSqpytePinned = 1;
  if( pPage->nSqpyteUsed<SQPYTE_CHANCES ) pPage->nSqpyteUsed++;
  pPage->pCache->nRecyclable--;
  return pPage;
}

/* Takes the mark off, or puts the page into the list if it isn't in it. */
static void sqpyteUnpin(PGroup *pGroup, PgHdr1 *pPage){
  if( pPage->pLruNext && SQPYTE_OFF(PAGE_REPLACEMENT) ) sqpyteLeaveList(pPage);     /* marked before that */
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
    if( !p->bSqpytePinned && !p->nSqpyteUsed ) break;
    SQPYTE_COUNT(PAGE_REPLACEMENT);
    if( p->bSqpytePinned ){
      sqpyteLeaveList(p);
    }else{
      p->nSqpyteUsed--;
      sqpyteLeaveList(p);
      sqpyteEnterList(pGroup, p);
    }
  }
  return p;
}
