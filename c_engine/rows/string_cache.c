/*
** Texts that come again: a table of short texts that the reader of a batch has
** objects of (see call_log.h). Included by call_log.c.
**
** A column is served as long as enough of its texts are found; else it is left
** alone for some thousand rows, longer each time, so that texts that never
** come again cost nothing. The table is small: what is beyond the CPU's nearest
** caches takes as long as a new object.
**
** Texts of a table that a join comes back to are found by their rowids, without a
** look at the text, if the column depends on a cursor's present row alone. What is
** known so of a column holds under its stamp. Whether enough of
** such rows come again is found out before the reader keeps any of them.
*/

#include "core/bytes_hash.h"

#define SQPYTE_STRING_SLOTS (1<<SQPYTE_STRING_BITS)
#define SQPYTE_ROWIDS (1<<SQPYTE_ROWID_BITS)
#define SQPYTE_WAYS 4         /* slots that a text can be in, one behind the other */
#define SQPYTE_TRIAL 256      /* values of a trial, of which */
#define SQPYTE_ENOUGH 64      /* so many have to be found texts, */
#define SQPYTE_HOPELESS 64    /* at least one of the first so many */
#define SQPYTE_ROWID_TRIAL 4096     /* rows of a trial of a column's rowids, of which */
#define SQPYTE_ROWID_ENOUGH 1024    /* so many have to be found */
#define SQPYTE_ROWID_STEP 2531      /* between the slots of a row's columns */
#define SQPYTE_ROWID_GIVEN 0x8000   /* the reader has it */
#define SQPYTE_LEAVE 16384    /* rows that a column is left alone for, */
#define SQPYTE_LEAVE_MOST 5   /* doubled up to so often */

/* What is known of a column. */
typedef struct SqpyteTrial SqpyteTrial;
struct SqpyteTrial {
  i64 iRow;                   /* it is left alone up to this row */
  u64 stamp;                  /* under which what is known by rowids holds (validity.h) */
  u32 iLast;                  /* slot of its last text */
  int iCursor;                /* on whose row it depends, or -1 */
  u16 nTried;
  u16 nFound;
  u8 eBy;                  /* SQPYTE_BY_* */
  u8 nFailed;                 /* trials that failed, one after the other */
};

#define SQPYTE_BY_TEXT 0      /* its texts are looked up */
#define SQPYTE_BY_TRIAL 1     /* its rowids are, but the reader isn't told yet */
#define SQPYTE_BY_ROW 2       /* its rowids are */

/* The table. */
typedef struct SqpyteStringCache SqpyteStringCache;
struct SqpyteStringCache {
  Vdbe *p;
  i64 nRow;                   /* rows so far */
  i64 iRow;                   /* the row up to which all columns are left alone */
  SqpyteTrial *aTrial;        /* of each column */
  u32 aHash[SQPYTE_STRING_SLOTS];                       /* 0: none is there */
  u8 aOldest[SQPYTE_STRING_SLOTS/SQPYTE_WAYS];          /* who has to go */
  struct { u8 n; char z[SQPYTE_STRING_BYTES]; } aText[SQPYTE_STRING_SLOTS];
  i64 aRowid[SQPYTE_ROWIDS];
  u16 aColumn[SQPYTE_ROWIDS];                           /* column + 1, and SQPYTE_ROWID_GIVEN */
};

/* Returns a table for rows of a statement, to be freed by sqlite3_free; 0 if there is no memory.
** aSource: see call_log.h. */
static SqpyteStringCache *sqpyteInternOpen(Vdbe *v, const i64 *aSource){
  i64 nByte = sizeof(SqpyteStringCache) + (i64)v->nResColumn*sizeof(SqpyteTrial);
  SqpyteStringCache *p = SQPYTE_SPARE(sqlite3_malloc64(nByte));
  if( p ){
    int i, bByRow = aSource!=0 && !SQPYTE_OFF(ROWID_STRINGS);
    SQPYTE_COUNT(STRING_CACHE);
    memset(p, 0, nByte);
    p->p = v;
    p->aTrial = (SqpyteTrial*)&p[1];
    for(i=0; i<v->nResColumn; i++) p->aTrial[i].iCursor = bByRow ? (int)aSource[i] : -1;
  }
  return p;
}

static int sqpyteIsText(const SqpyteStringCache *p, u32 slot, const char *z, int n){
  return p->aText[slot].n==n && memcmp(p->aText[slot].z, z, n)==0;
}

/* The slot of a text, which is put there if it is in none. */
static u32 sqpyteTextSlot(SqpyteStringCache *p, const char *z, int n, int *pbFound){
  u64 h = sqpyteBytesHash(z, n);
  u32 hash = (u32)(h>>24) | 1;
  u32 set = (u32)(h>>48) % (SQPYTE_STRING_SLOTS/SQPYTE_WAYS);
  u32 slot = set*SQPYTE_WAYS;
  int i;
  for(i=0; i<SQPYTE_WAYS; i++){
    if( p->aHash[slot+i]==hash && sqpyteIsText(p, slot+i, z, n) ){
      *pbFound = 1;
      return slot+i;
    }
  }
  slot += p->aOldest[set]++ % SQPYTE_WAYS;
  p->aHash[slot] = hash;
  p->aText[slot].n = (u8)n;
  memcpy(p->aText[slot].z, z, n);
  *pbFound = 0;
  return slot;
}

/* Leaves a column alone for some time. */
static void sqpyteLeave(const SqpyteStringCache *p, SqpyteTrial *pTrial){
  pTrial->iRow = p->nRow + ((i64)SQPYTE_LEAVE << pTrial->nFailed);
  if( pTrial->nFailed<SQPYTE_LEAVE_MOST ) pTrial->nFailed++;
}

/* Ends a column's trial, if it is time; returns whether. */
static int sqpyteJudge(const SqpyteStringCache *p, SqpyteTrial *pTrial){
  if( pTrial->nTried<SQPYTE_TRIAL && (pTrial->nFound || pTrial->nTried<SQPYTE_HOPELESS) ) return 0;
  if( pTrial->nFound>=SQPYTE_ENOUGH ){
    pTrial->nFailed = 0;
  }else if( pTrial->iCursor>=0 ){
    pTrial->eBy = SQPYTE_BY_TRIAL;
  }else{
    sqpyteLeave(p, pTrial);
  }
  pTrial->nTried = pTrial->nFound = 0;
  return 1;
}

/* Whether the cursor on whose row column i depends is on a row of a table that can be told by its
** rowid, which is *piRowid then. Forgets what is known if it has changed. */
static int sqpyteRowOf(SqpyteStringCache *p, int i, i64 *piRowid){
  SqpyteTrial *pTrial = &p->aTrial[i];
  VdbeCursor *pC = p->p->apCsr[pTrial->iCursor];
  BtCursor *pCur;
  int k;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || !pC->isTable || pC->isEphemeral || pC->nullRow ) return 0;
  pCur = pC->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  if( pC->deferredMoveto==SQPYTE_CACHED_ROW ){    /* on the copy of a row (row_cache.c) */
    *piRowid = pC->movetoTarget;
  }else if( pC->deferredMoveto ){
    return 0;
  }else{
    *piRowid = sqlite3BtreeIntegerKey(pCur);
  }
  if( pTrial->stamp!=SQPYTE_CURSOR_STAMP(pCur) ){
    pTrial->stamp = SQPYTE_CURSOR_STAMP(pCur);
    for(k=0; k<SQPYTE_ROWIDS; k++){
      if( (p->aColumn[k] & ~SQPYTE_ROWID_GIVEN)==i+1 ) p->aColumn[k] = 0;
    }
  }
  return 1;
}

/* Looks up the rowid of the row that the text in a cell of column i depends on;
** returns whether a trial has ended. */
static int sqpyteInternByRow(SqpyteStringCache *p, int i, i64 *aCell){
  SqpyteTrial *pTrial = &p->aTrial[i];
  i64 n = aCell[0]>>3;
  i64 iRowid;
  if( (aCell[0] & 7)==SQLITE_TEXT && n>0 && n<=SQPYTE_STRING_BYTES
   && sqpyteRowOf(p, i, &iRowid)
  ){
    u32 k = (u32)((u64)iRowid + (u64)i*SQPYTE_ROWID_STEP) % SQPYTE_ROWIDS;
    int eKind = SQPYTE_NEW;
    if( (p->aColumn[k] & ~SQPYTE_ROWID_GIVEN)==i+1 && p->aRowid[k]==iRowid ){
      if( p->aColumn[k] & SQPYTE_ROWID_GIVEN ) eKind = SQPYTE_KNOWN;
      pTrial->nFound++;
    }else{
      p->aRowid[k] = iRowid;
      p->aColumn[k] = (u16)(i+1);
    }
    if( pTrial->eBy==SQPYTE_BY_ROW ){
      p->aColumn[k] |= SQPYTE_ROWID_GIVEN;
      aCell[0] = SQPYTE_TAG(eKind, (i64)(SQPYTE_STRING_SLOTS + k)<<SQPYTE_STRING_SHIFT | n);
    }
  }
  if( ++pTrial->nTried<SQPYTE_ROWID_TRIAL ) return 0;
  if( pTrial->nFound>=SQPYTE_ROWID_ENOUGH ){
    SQPYTE_COUNT(ROWID_STRINGS);
    pTrial->eBy = SQPYTE_BY_ROW;
    pTrial->nFailed = 0;
  }else{
    pTrial->eBy = SQPYTE_BY_TEXT;
    sqpyteLeave(p, pTrial);
  }
  pTrial->nTried = pTrial->nFound = 0;
  return 1;
}

/* Makes SQPYTE_NEW or SQPYTE_KNOWN of texts in a row of nCell cells, which the
** reader is sure to get. */
static void sqpyteInternRow(SqpyteStringCache *p, i64 *aCell, int nCell){
  int bJudged = 0;
  int i;
  if( p->nRow++<p->iRow ) return;
  for(i=0; i<nCell; i++, aCell+=2){
    SqpyteTrial *pTrial = &p->aTrial[i];
    const char *z = (const char*)(intptr_t)aCell[1];
    i64 n = aCell[0]>>3;
    if( p->nRow<=pTrial->iRow ) continue;
    if( pTrial->eBy!=SQPYTE_BY_TEXT ){
      bJudged |= sqpyteInternByRow(p, i, aCell);
      continue;
    }
    pTrial->nTried++;
    if( (aCell[0] & 7)==SQLITE_TEXT && n>0 && n<=SQPYTE_STRING_BYTES ){
      int bFound = 1;
      if( !p->aHash[pTrial->iLast] || !sqpyteIsText(p, pTrial->iLast, z, (int)n) ){
        pTrial->iLast = sqpyteTextSlot(p, z, (int)n, &bFound);
      }
      aCell[0] = SQPYTE_TAG(bFound ? SQPYTE_KNOWN : SQPYTE_NEW,
                            (i64)pTrial->iLast<<SQPYTE_STRING_SHIFT | n);
      pTrial->nFound += bFound;
    }
    bJudged |= sqpyteJudge(p, pTrial);
  }
  if( bJudged ){
    p->iRow = LARGEST_INT64;
    for(i=0; i<nCell; i++) p->iRow = MIN(p->iRow, p->aTrial[i].iRow);
  }
}
