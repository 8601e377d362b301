/*
** Sorting by a collation written in Python: before the sorter sorts records in memory, all their
** texts of the first such column are given to Python in one call, which sorts them and returns
** each one's rank; the records' sort keys (sort_key.h) are then made with the ranks, and compared
** instead of the texts. Included by engine.c, after fused.c.
**
** A comparison through the callback takes 200 ns; in Python's own sort the collation's function is
** part of the JIT's loop. What isn't ranked is compared through the callback as ever: few
** records, runs on disk while they are merged, further columns with such collations.
*/
#define SQPYTE_RANK_LEAST 64            /* records */

/* One text, or for Python the array of them. */
typedef struct SqpyteRankedText SqpyteRankedText;
struct SqpyteRankedText {
  i64 z;                                /* its address; its rank afterwards */
  i64 n;                                /* bytes */
};

/* The column of a sorter's key that is to be ranked, -1 if there is none. Texts of a first column by the default collation
** are compared as bytes (vdbeSorterCompareText), also where BINARY has been given another function. */
static int sqpyteRankedColumn(const VdbeSorter *pSorter){
  const KeyInfo *pInfo = pSorter->pKeyInfo;
  int i;
  if( SQPYTE_OFF(COLLATION_RANKS) || pSorter->bUseThreads ) return -1;
  for(i=0; i<pInfo->nKeyField; i++){
    if( pInfo->aSortFlags && (pInfo->aSortFlags[i] & KEYINFO_ORDER_BIGNULL) ) return -1;
    if( pInfo->aColl[i] && pInfo->aColl[i]->xCmp==sqpyteCompare ){
      return i==0 && (pSorter->typeMask & SORTER_TYPE_TEXT) ? -1 : i;
    }
  }
  return -1;
}

/* The text in a field of a record; 0 if it has another type. */
static const u8 *sqpyteTextField(const u8 *aRec, int nRec, int iField, i64 *pn){
  u32 nHdr, t, n;
  u32 iHdr = getVarint32(aRec, nHdr);
  u64 iData = nHdr;
  int i;
  for(i=0; ; i++){
    if( iHdr>=nHdr || nHdr>(u32)nRec ) return 0;
    iHdr += getVarint32(&aRec[iHdr], t);
    n = sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || iData+n>(u64)nRec ) return 0;
    if( i==iField ) break;
    iData += n;
  }
  if( t<12 || (t&1)==0 ) return 0;
  *pn = n;
  return &aRec[iData];
}

/* Whether the collation has replaced the texts by their ranks. */
static int sqpyteRanked(SqpyteFunction *pFunction, SqpyteRankedText *aText, i64 nText){
  int done;
  SQPYTE_ENTER_FRAME(pFunction, SQPYTE_CALL_ARGS);
  pFunction->aFrame[SQPYTE_CALL_COUNT] = nText;
  pFunction->aFrame[SQPYTE_CALL_RESULT] = (i64)(intptr_t)aText;
  done = pFunction->xCall(SQPYTE_DO_RANK)==1;
  SQPYTE_LEAVE_FRAME(pFunction);
  return done;
}

/* Makes the sort keys of a list's records with ranks, if that can be done; returns whether it was. */
static int sqpyteRankTexts(const VdbeSorter *pSorter, SorterList *pList){
  int iColumn = sqpyteRankedColumn(pSorter);
  const KeyInfo *pInfo = pSorter->pKeyInfo;
  SqpyteFunction *pFunction;
  SqpyteRankedText *aText;
  SorterRecord *p;
  i64 nRecord = 0, nText = 0, i = 0;
  int done;
  if( iColumn<0 ) return 0;
  for(p=pList->pList; p; p=sqpyteNextInList(pList, p)) nRecord++;
  if( nRecord<SQPYTE_RANK_LEAST || nRecord>0x7fffffff ) return 0;
  aText = SQPYTE_SPARE(sqlite3_malloc64(nRecord*sizeof(*aText)));
  if( aText==0 ) return 0;
  for(p=pList->pList; p; p=sqpyteNextInList(pList, p)){
    const u8 *z = sqpyteTextField(SRVAL(p), p->nVal, iColumn, &aText[nText].n);
    if( z ) aText[nText++].z = (i64)(intptr_t)z;
  }
  pFunction = (SqpyteFunction*)pInfo->aColl[iColumn]->pUser;
  done = nText && sqpyteRanked(pFunction, aText, nText);
  if( done ){
    SQPYTE_COUNT(COLLATION_RANKS);
    for(p=pList->pList; p; p=sqpyteNextInList(pList, p)){
      i64 n;
      u32 rank = 0;
      if( sqpyteTextField(SRVAL(p), p->nVal, iColumn, &n) ) rank = (u32)aText[i++].z;
      sqpyteRankedKey(pInfo, SRVAL(p), p->nVal, iColumn, rank, SQPYTE_KEY_OF(p));
    }
  }
  sqlite3_free(aText);
  return done;
}
