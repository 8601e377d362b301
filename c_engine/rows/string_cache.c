/*
** Texts that come again: a table of short texts that the reader of a batch has
** objects of (see call_log.h). Included by call_log.c.
**
** A column is served as long as enough of its texts are found; else it is left
** alone for some thousand rows, longer each time, so that texts that never
** come again cost nothing. The table is small: what is beyond the CPU's nearest
** caches takes as long as a new object.
*/

#include "core/bytes_hash.h"

#define SQPYTE_STRING_SLOTS (1<<SQPYTE_STRING_BITS)
#define SQPYTE_WAYS 4         /* slots that a text can be in, one behind the other */
#define SQPYTE_TRIAL 256      /* values of a trial, of which */
#define SQPYTE_ENOUGH 64      /* so many have to be found texts, */
#define SQPYTE_HOPELESS 64    /* at least one of the first so many */
#define SQPYTE_LEAVE 16384    /* rows that a column is left alone for, */
#define SQPYTE_LEAVE_MOST 5   /* doubled up to so often */

/* What is known of a column. */
typedef struct SqpyteTrial SqpyteTrial;
struct SqpyteTrial {
  i64 iRow;                   /* it is left alone up to this row */
  u32 iLast;                  /* slot of its last text */
  u16 nTried;
  u16 nFound;
  u8 nFailed;                 /* trials that failed, one after the other */
};

/* The table. */
typedef struct SqpyteStringCache SqpyteStringCache;
struct SqpyteStringCache {
  i64 nRow;                   /* rows so far */
  i64 iRow;                   /* the row up to which all columns are left alone */
  SqpyteTrial *aTrial;        /* of each column */
  u32 aHash[SQPYTE_STRING_SLOTS];                       /* 0: none is there */
  u8 aOldest[SQPYTE_STRING_SLOTS/SQPYTE_WAYS];          /* who has to go */
  struct { u8 n; char z[SQPYTE_STRING_BYTES]; } aText[SQPYTE_STRING_SLOTS];
};

/* Returns a table for rows of a statement, to be freed by sqlite3_free; 0 if there is no memory. */
static SqpyteStringCache *sqpyteInternOpen(const Vdbe *v){
  i64 nByte = sizeof(SqpyteStringCache) + (i64)v->nResColumn*sizeof(SqpyteTrial);
  SqpyteStringCache *p = SQPYTE_SPARE(sqlite3_malloc64(nByte));
  if( p ){
    SQPYTE_COUNT(STRING_CACHE);
    memset(p, 0, nByte);
    p->aTrial = (SqpyteTrial*)&p[1];
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
  }else{
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
