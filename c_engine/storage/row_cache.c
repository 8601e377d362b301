/*
** Rows of small tables that are sought by rowid again and again: what a join to a table of dates, suppliers or
** nations does for each row of the outer table. Such rows are copied beside the B-tree, by rowid, and a
** seek for one of them is a look into a hash table: no page is asked for, no cell looked for, and Column
** reads the copy. Databases that plan by cost join by hashing for that.
**
** The copies are a cursor's own. The cursor stays where it was, with deferredMoveto==SQPYTE_KNOWN_ROW, as with a
** DeferredSeek that is still to be done; what needs its place or finds that something has been written
** (or taken back) since does the seek: sqpyteRowCacheMoved. Only cursors of statements that write nothing have
** them, and only where the program doesn't step the cursor from its row (sqpyteMayKeep). Where rowids don't come again
** it pauses. Rows that are located in the map of the file (located_rows.c) are told of in the same way. Included by
** engine.c.
*/

#include "core/bytes_hash.h"

#define SQPYTE_ROW_CACHE_AFTER 32            /* seeks that found a row, before it begins */
#define SQPYTE_ROW_CACHE_RECORD 1024         /* bytes of a record, at most */
#define SQPYTE_ROW_CACHE_MEMORY (1<<20)      /* bytes of all records, at most; ... */
#define SQPYTE_ROW_CACHE_SLOTS (1<<15)       /* ... slots, at most: half of them are filled */
#define SQPYTE_ROW_CACHE_FIRST_MEMORY 16384  /* of both at first */
#define SQPYTE_ROW_CACHE_FIRST_BITS 9
#define SQPYTE_ROW_CACHE_PROBES 16           /* slots in which a rowid may be */
#define SQPYTE_ROW_CACHE_MARGIN 16           /* bytes before and after the records that may be read */
#define SQPYTE_ROW_CACHE_FIRST_LOOK 64       /* after so many new rows it is asked whether it pays, ... */
#define SQPYTE_ROW_CACHE_LOOK 256            /* ... and after so many again; if not, ... */
#define SQPYTE_ROW_CACHE_PAUSE 4096          /* ... it pauses for so many, and then for four times as many */

typedef struct SqpyteRowCache SqpyteRowCache;
typedef struct SqpyteCachedRow SqpyteCachedRow;

struct SqpyteCachedRow {
  i64 key;                /* The rowid */
  u32 iRow;               /* Where its record begins in aRow; 0: the slot is empty */
  u32 nRow;               /* The record's size */
};

struct SqpyteRowCache {
  u64 stamp;              /* Under which what is kept was read (validity.h) */
  SqpyteCachedRow *aSlot;
  int nBits;              /* There are 1<<nBits slots */
  int nSlot;              /* Slots in use */
  u8 *aRow;               /* The records, one after the other */
  u32 nRow, nAlloc;       /* Bytes in use; bytes there are */
  int bFull;              /* No more is kept */
  int nFound, nNew;       /* Rows found here, rows not found here, since it was last asked whether it pays: without those
                          ** that a cursor finds as fast, the row on which it stands and the next one */
  int nLook;              /* After how many new rows it is */
  SqpyteBackOff back;     /* An occasion is a new row */
  int nAll;               /* Rows that are all to be kept after this pause, or 0 */
};

/* The slot that has a rowid, or the empty one for it, or 0 if neither is near enough. */
static SqpyteCachedRow *sqpyteRowCacheSlot(const SqpyteRowCache *p, i64 key){
  u32 i = (u32)(((u64)key * SQPYTE_HASH_MUL) >> (64 - p->nBits));
  int n;
  for(n=0; n<SQPYTE_ROW_CACHE_PROBES; n++){
    SqpyteCachedRow *pSlot = &p->aSlot[i];
    if( pSlot->key==key || pSlot->iRow==0 ) return pSlot;
    i = (i+1) & ((1u<<p->nBits) - 1);
  }
  return 0;
}

/* What is kept of a row, if it still holds and the cursor is on some row of the B-tree; else 0. */
static const SqpyteCachedRow *sqpyteRowCacheRow(const VdbeCursor *pC, i64 key){
  const SqpyteRowCache *p = pC->pSqpyteRowCache;
  const BtCursor *pCur = pC->uc.pCursor;
  const SqpyteCachedRow *pSlot;
  if( p==0 || p->nSlot==0 || pCur->eState!=CURSOR_VALID || p->stamp!=SQPYTE_CURSOR_STAMP(pCur) ) return 0;
  pSlot = sqpyteRowCacheSlot(p, key);
  return pSlot && pSlot->iRow ? pSlot : 0;
}

static int sqpyteRowAt(VdbeCursor *pC, const u8 *aRow, u32 nRow){
  pC->aRow = (u8*)aRow;
  pC->payloadSize = pC->szRow = nRow;
  return 1;
}

/* Whether a row is kept or located, and still holds: then it is at aRow. */
static int sqpyteKnownRow(VdbeCursor *pC, i64 key){
  const SqpyteLocator *p = pC->pSqpyteLocator;
  const SqpyteCachedRow *pSlot;
  if( p && sqpyteIsLocated(p, pC->uc.pCursor, key) ) return sqpyteRowAt(pC, p->aRow, p->nRow);
  pSlot = sqpyteRowCacheRow(pC, key);
  return pSlot ? sqpyteRowAt(pC, &pC->pSqpyteRowCache->aRow[pSlot->iRow], pSlot->nRow) : 0;
}

/* The cursor is on a row that is known, its header about to be read by the program whose cacheCtr is given. */
static void sqpyteOnKnownRow(VdbeCursor *pC, i64 key, u32 cacheCtr){
  pC->movetoTarget = key;
  pC->nullRow = 0;
  pC->deferredMoveto = SQPYTE_KNOWN_ROW;
  pC->cacheStatus = cacheCtr;
  pC->aOffset[0] = pC->aRow[0];
  pC->iHdrOffset = 1;
  pC->nHdrParsed = 0;
}

/* SeekRowid and NotExists: whether the row is kept, or can be located; then the cursor is on it. */
static int sqpyteRowCacheSeek(VdbeCursor *pC, i64 key, u32 cacheCtr){
  const SqpyteCachedRow *pSlot = sqpyteRowCacheRow(pC, key);
  if( pSlot ){
    SqpyteRowCache *p = pC->pSqpyteRowCache;
    p->nFound += (u64)key-(u64)pC->movetoTarget>1;      /* that was sought last */
    sqpyteRowAt(pC, &p->aRow[pSlot->iRow], pSlot->nRow);
  }else if( sqpyteLocate(pC, key, 0) ){
    i64 aRow[2];
    sqpyteRowAt(pC, pC->pSqpyteLocator->aRow, pC->pSqpyteLocator->nRow);
    aRow[0] = (i64)pC->aRow;
    aRow[1] = pC->szRow;
    sqpyteRowCacheAdd(pC, key, aRow);
  }else{
    return 0;
  }
  sqpyteOnKnownRow(pC, key, cacheCtr);
  pC->seekResult = 0;
  return 1;
}

/* A Column whose cursor has a seek to be done: whether its row can be located instead. */
static int sqpyteLocateDeferred(VdbeCursor *pC){
  if( !sqpyteLocate(pC, pC->movetoTarget, 1) ) return 0;
  sqpyteRowAt(pC, pC->pSqpyteLocator->aRow, pC->pSqpyteLocator->nRow);
  pC->deferredMoveto = SQPYTE_KNOWN_ROW;
  return 1;
}

/* Something has been written, or the cursor's true place is needed. The row may be gone by now: then it is a row
** of NULLs, as in sqlite3VdbeHandleMovedCursor. */
static int sqpyteRowCacheMoved(VdbeCursor *pC){
  int rc, res = 0;
  if( pC->pSqpyteLocator ) sqpyteLeaveLocated(pC->pSqpyteLocator, pC->uc.pCursor, pC->movetoTarget);
  rc = sqlite3BtreeTableMoveto(pC->uc.pCursor, pC->movetoTarget, 0, &res);
  pC->deferredMoveto = 0;
  pC->cacheStatus = CACHE_STALE;
  if( rc==SQLITE_OK && res!=0 ) pC->nullRow = 1;
  return rc;
}

/* For Column: either the row's record is at aRow, or the seek has been done and deferredMoveto is 0. */
static int sqpyteRowCacheColumn(VdbeCursor *pC){
  return sqpyteKnownRow(pC, pC->movetoTarget) ? SQLITE_OK : sqpyteRowCacheMoved(pC);
}

/* Forgets all rows, and with bFree gives their memory back. */
static void sqpyteRowCacheForget(SqpyteRowCache *p, int bFree){
  if( bFree ){
    sqlite3_free(p->aSlot);
    sqlite3_free(p->aRow);
    p->aSlot = 0;
    p->aRow = 0;
    p->nBits = 0;
    p->nAlloc = 0;
  }else if( p->nSlot ){
    memset(p->aSlot, 0, sizeof(p->aSlot[0])<<p->nBits);
  }
  p->nSlot = 0;
  p->nRow = SQPYTE_ROW_CACHE_MARGIN;
  p->bFull = 0;
}

/* The cursor is closed. */
static void sqpyteRowCacheFree(VdbeCursor *pC){
  SqpyteRowCache *p = pC->pSqpyteRowCache;
  sqpyteRowCacheForget(p, 1);
  sqlite3_free(p);
  pC->pSqpyteRowCache = 0;
}

/* Whether a loop from the opcode at iHead to its Next at iNext seeks the cursor by rowid. */
static int sqpyteSeeksWithin(const Vdbe *v, int iHead, int iNext, int iCur){
  int i;
  for(i=iHead; i<iNext; i++){
    const Op *pOp = &v->aOp[i];
    if( (pOp->opcode==OP_SeekRowid || pOp->opcode==OP_NotExists) && pOp->p1==iCur ) return 1;
    if( pOp->opcode==OP_DeferredSeek && pOp->p3==iCur ) return 1;
  }
  return 0;
}

/* Whether the cursor's rows may be kept, or located: its program writes nothing, and leaves a row that it has sought only
** by going to a new place or to none. A loop over the table is such a place: it begins with a Rewind or a
** seek, and seeks no other row before it is done. An opcode that nobody has looked at may do anything with it. */
static int sqpyteMayKeep(VdbeCursor *pC){
  BtCursor *pCur = pC->uc.pCursor;
  Vdbe *v;
  int i, iCur = 0;
  if( pC->isEphemeral
   || (pCur->curFlags & (BTCF_WriteFlag|BTCF_Incrblob)) ) return 0;
  for(v=pCur->pBtree->db->pVdbe; v; v=v->pVNext){
    for(iCur=0; iCur<v->nCursor && v->apCsr[iCur]!=pC; iCur++){}
    if( iCur<v->nCursor ) break;
  }
  if( v==0 || !v->readOnly || v->pFrame ) return 0;
  for(i=0; i<v->nOp; i++){
    const Op *pOp = &v->aOp[i];
    int opcode = pOp->opcode;
    if( pOp->p1!=iCur || SQPYTE_IS(opcode, NO_CURSOR) ) continue;
    if( !SQPYTE_IS(opcode, ROW_CACHE) ) return 0;
    if( SQPYTE_IS(opcode, STEP_BTREE) && sqpyteSeeksWithin(v, pOp->p2, i, iCur) ) return 0;
    if( opcode==OP_NullRow && pOp->p2 ) return 0;
  }
  return 1;
}

/* About how many rows are sought. Of n that come at random out of m, n*n/2m have come before: nFound. No more come than the
** table has. */
static i64 sqpyteRowsSought(const SqpyteRowCache *p, const BtCursor *pCur){
  i64 nBefore;
  i64 nTable = sqpyteEntries(pCur, &nBefore);
  i64 nBySame = p->nFound ? (i64)p->nNew*p->nNew/(2*p->nFound) : nTable;
  return nBySame<nTable ? nBySame : nTable;
}

/* Whether too few rowids came again: then it pauses, since a copy costs half of a seek. All rows are new at first, and they
** may be new until each has come once, as where the outer table's rows lead to a small table's in turns. So rows that
** can all be kept get a second chance when as many have been sought as there are: from then on they have to come
** again, and who seeks each row once or seldom has few copies made. */
static int sqpyteRowCacheIsVain(SqpyteRowCache *p, const BtCursor *pCur, i64 nRecord){
  int vain = p->nFound<p->nNew/3;
  p->nLook = SQPYTE_ROW_CACHE_LOOK;
  if( vain ){
    i64 nAll = sqpyteRowsSought(p, pCur);
    if( p->nAll==0 && nAll<=SQPYTE_ROW_CACHE_SLOTS/2 && nAll*nRecord<=SQPYTE_ROW_CACHE_MEMORY/2 ){
      p->back.nPause = p->nAll = (int)nAll;
      p->nLook = 2*p->nAll + SQPYTE_ROW_CACHE_LOOK;
    }else{
      sqpyteBackOff(&p->back, SQPYTE_ROW_CACHE_PAUSE, 4, 1<<28);
      p->nAll = 0;
    }
    sqpyteRowCacheForget(p, 1);
  }
  p->nFound = p->nNew = 0;
  return vain;
}

/* Room for one more row of n bytes; 0 if there is none. */
static int sqpyteRowCacheRoom(SqpyteRowCache *p, u32 n){
  u32 nAlloc = p->nAlloc ? p->nAlloc : SQPYTE_ROW_CACHE_FIRST_MEMORY;
  while( p->nRow+n+SQPYTE_ROW_CACHE_MARGIN>nAlloc ) nAlloc *= 2;
  if( nAlloc>SQPYTE_ROW_CACHE_MEMORY ) return 0;
  if( nAlloc>p->nAlloc ){
    u8 *aRow = SQPYTE_SPARE(sqlite3_realloc64(p->aRow, nAlloc));
    if( aRow==0 ) return 0;
    memset(aRow+p->nAlloc, 0, nAlloc-p->nAlloc);
    p->aRow = aRow;
    p->nAlloc = nAlloc;
  }
  if( p->nBits==0 || p->nSlot>=1<<(p->nBits-1) ){
    SqpyteRowCache old = *p;
    int i;
    p->nBits = old.nBits ? old.nBits+1 : SQPYTE_ROW_CACHE_FIRST_BITS;
    p->aSlot = 1<<p->nBits<=SQPYTE_ROW_CACHE_SLOTS ? SQPYTE_SPARE(sqlite3_malloc64(sizeof(p->aSlot[0])<<p->nBits)) : 0;
    if( p->aSlot==0 ){
      *p = old;
      return 0;
    }
    memset(p->aSlot, 0, sizeof(p->aSlot[0])<<p->nBits);
    p->nSlot = 0;
    for(i=0; old.nBits && i<1<<old.nBits; i++){
      SqpyteCachedRow *pSlot = old.aSlot[i].iRow ? sqpyteRowCacheSlot(p, old.aSlot[i].key) : 0;
      if( pSlot ){
        *pSlot = old.aSlot[i];
        p->nSlot++;
      }
    }
    sqlite3_free(old.aSlot);
  }
  return 1;
}

/* A seek has come to the row of a rowid, which wasn't kept; aRow is what sqpyteRow says of it, or 0 if
** that wasn't asked. */
static void sqpyteRowCacheAdd(VdbeCursor *pC, i64 key, const i64 *aRow){
  BtCursor *pCur = pC->uc.pCursor;
  SqpyteRowCache *p;
  SqpyteCachedRow *pSlot;
  i64 aFound[2];
  if( pC->bSqpyteNoRowCache ) return;
  if( pC->pSqpyteRowCache==0 ){
    if( ++pC->nSqpyteSeeks<SQPYTE_ROW_CACHE_AFTER ) return;
    p = !SQPYTE_OFF(ROW_CACHE) && sqpyteMayKeep(pC) ? SQPYTE_SPARE(sqlite3MallocZero(sizeof(*p))) : 0;
    if( p==0 ){
      pC->bSqpyteNoRowCache = 1;
      return;
    }
    SQPYTE_COUNT(ROW_CACHE);
    p->nRow = SQPYTE_ROW_CACHE_MARGIN;
    p->nLook = SQPYTE_ROW_CACHE_FIRST_LOOK;
    pC->pSqpyteRowCache = p;
  }
  p = pC->pSqpyteRowCache;
  if( sqpytePauses(&p->back) ) return;
  if( p->stamp!=SQPYTE_CURSOR_STAMP(pCur) ){
    sqpyteRowCacheForget(p, 0);
    p->stamp = SQPYTE_CURSOR_STAMP(pCur);
  }
  if( aRow==0 ){
    sqpyteRow(pCur, aFound);
    aRow = aFound;
  }
  if( ++p->nNew>=p->nLook && sqpyteRowCacheIsVain(p, pCur, aRow[0] ? aRow[1] : SQPYTE_ROW_CACHE_RECORD) ) return;
  if( p->bFull || aRow[0]==0 || aRow[1]>SQPYTE_ROW_CACHE_RECORD || *(const u8*)aRow[0]<2 ) return;
  if( !sqpyteRowCacheRoom(p, (u32)aRow[1]) ){
    p->bFull = 1;
    return;
  }
  pSlot = sqpyteRowCacheSlot(p, key);
  if( pSlot==0 || pSlot->iRow ) return;
  memcpy(&p->aRow[p->nRow], (const u8*)aRow[0], aRow[1]);
  pSlot->key = key;
  pSlot->iRow = p->nRow;
  pSlot->nRow = (u32)aRow[1];
  p->nRow += (u32)aRow[1];
  p->nSlot++;
}

/* Whether a cursor is on a row that is kept or located, and nothing has been written since: then where it is. */
int sqpyte_known_row(void *pVdbeCursor, void *pRow){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  if( pC->deferredMoveto!=SQPYTE_KNOWN_ROW || pC->nullRow || !sqpyteKnownRow(pC, pC->movetoTarget) ) return 0;
  sqpyteRowCacheAddress(pC, pRow);
  return 1;
}
