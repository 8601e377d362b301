/*
** How a sort key is made: see sort_key.h. Included by engine.c.
**
** The fields of the record's key are written one after the other as bytes whose order, compared as
** unsigned numbers, is that of the fields: a byte for the storage class, then for a number the bits
** of its double, for a text or blob its bytes and a zero. Where that isn't all (the 16 bytes are
** full, a number of more than 53 bits, a zero within a text, a collation other than BINARY and NOCASE), the
** key is inexact: it orders records whose keys differ, and says nothing of those whose keys don't.
** A field that has been ranked (collation_ranks.c) has its rank in place of its text.
*/
#include "core/bytes_hash.h"

#define SQPYTE_KEY_BYTES 15             /* the 16th has the flag */
#define SQPYTE_KEY_TEXT 3               /* storage class; a blob is the next */

/* A key being written: n bytes of it, those from SQPYTE_KEY_BYTES on lost; the rest is zero. */
typedef struct SqpyteKeyWriter SqpyteKeyWriter;
struct SqpyteKeyWriter {
  u64 a, b;
  int n;
  int inexact;
  u64 invert;                           /* all ones for a field with DESC, else 0 */
};

/* The next k bytes, 1 to 8: the upper ones of v, whose other bytes are zero. */
static SQLITE_INLINE void sqpytePut(SqpyteKeyWriter *p, u64 v, int k){
  int n = p->n;
  v ^= p->invert << (64-8*k);
  if( n<8 ){
    p->a |= v>>(8*n);
    if( n+k>8 ) p->b |= v<<(64-8*n);
  }else if( n<16 ){
    p->b |= v>>(8*n-64);
  }
  p->n = n+k;
}

static void sqpytePutByte(SqpyteKeyWriter *p, u8 byte){
  sqpytePut(p, (u64)byte<<56, 1);
}

/* The first k bytes, at most 8, at a, where nRead can be read: as the upper ones of a number. */
static SQLITE_INLINE u64 sqpyteFirstBytes(const u8 *a, int k, i64 nRead){
  u64 v = 0;
  int i;
  if( k==0 ) return 0;
  if( nRead>=8 ) return sqpyteGet8byte(a) & ~(u64)0<<(64-8*k);
  for(i=0; i<k; i++) v |= (u64)a[i]<<(56-8*i);
  return v;
}

#define SQPYTE_HAS_ZERO(x) (((x)-0x0101010101010101ULL) & ~(x) & 0x8080808080808080ULL)

/* Eight bytes as NOCASE compares them: the letters A to Z as a to z. */
static SQLITE_INLINE u64 sqpyteFolded(u64 v){
  u64 u = v & 0x7f7f7f7f7f7f7f7fULL;
  u64 above = (u + 0x3f3f3f3f3f3f3f3fULL) & ~(u + 0x2525252525252525ULL);   /* 0x80 in bytes from A to Z, but for ... */
  return v | (above & ~v & 0x8080808080808080ULL)>>2;                       /* ... their own highest bit */
}

/* A tag, the bytes of a text or blob, folded if it is compared by NOCASE, and a zero; nRead of them and of what follows can
** be read. */
static void sqpytePutBytes(SqpyteKeyWriter *p, u8 tag, const u8 *a, i64 n, i64 nRead, int folded){
  if( n<=6 ){                           /* in one */
    u64 v = sqpyteFirstBytes(a, (int)n, nRead);
    if( folded ) v = sqpyteFolded(v);
    u64 x = v | ~(u64)0>>(8*n);
    if( SQPYTE_HAS_ZERO(x)==0 ){
      sqpytePut(p, (u64)tag<<56 | v>>8, (int)n+2);
      return;
    }
  }
  sqpytePutByte(p, tag);
  while( n>0 && p->n<SQPYTE_KEY_BYTES ){
    int k = n<8 ? (int)n : 8, i;
    u64 v = sqpyteFirstBytes(a, k, nRead);
    if( folded ) v = sqpyteFolded(v);
    u64 x = k<8 ? v | ~(u64)0>>(8*k) : v;
    if( SQPYTE_HAS_ZERO(x) ){
      /* A zero: above the end of a text, below any other byte. */
      for(i=0; a[i]; i++) sqpytePutByte(p, (u8)(v>>(56-8*i)));
      sqpytePutByte(p, 0);
      while( p->n<SQPYTE_KEY_BYTES ) sqpytePutByte(p, 0xff);
      p->inexact = 1;
      return;
    }
    sqpytePut(p, v, k);
    a += k;
    n -= k;
    nRead -= k;
  }
  if( n>0 ) p->inexact = 1;
  sqpytePutByte(p, 0);
}

/* One field of serial type t at a, with the tag of its storage class; nRead bytes can be read there. */
static void sqpytePutField(SqpyteKeyWriter *p, const u8 *a, u32 t, CollSeq *pColl, i64 nRead){
  double r;
  u64 u;
  if( t>=12 ){
    u8 tag = SQPYTE_KEY_TEXT + ((t&1)==0);
    int folded = (t&1) && pColl && pColl->xCmp==nocaseCollatingFunc;
    if( folded || (t&1)==0 || pColl==0 || sqlite3IsBinary(pColl) ){
      sqpytePutBytes(p, tag, a, (t-12)/2, nRead, folded);
    }else{
      sqpytePutByte(p, tag);
      p->inexact = 1;
    }
    return;
  }
  if( t==0 || t>9 ){
    sqpytePutByte(p, 1);
    return;
  }
  if( t==7 ){
    u = sqpyteGet8byte(a);
    memcpy(&r, &u, sizeof(r));
    if( r!=r ){                         /* NULL */
      sqpytePutByte(p, 1);
      return;
    }
  }else if( t>=8 ){
    r = t-8;
  }else{
    i64 i = (i8)a[0];
    u32 n = sqlite3SmallTypeSizes[t], k;
    for(k=1; k<n; k++) i = (i64)((u64)i<<8) | a[k];
    r = (double)i;
  }
  if( r==0.0 ) r = 0.0;                 /* no -0.0 */
  memcpy(&u, &r, sizeof(u));
  u = (u>>63) ? ~u : u | ((u64)1<<63);
  sqpytePutByte(p, 2);
  sqpytePut(p, u, 8);
  /* From here on an integer and another one, or a real, may have the same double. Whatever has
  ** it must end here: the fields that follow would decide between unequal numbers. */
  if( r>=9007199254740992.0 || r<=-9007199254740992.0 ) p->inexact = 1;
}

/* The key of a record. If its field iRanked is a text, rank is that text's place among others. */
static void sqpyteRankedKey(
  const KeyInfo *pInfo, const u8 *aRec, int nRec, int iRanked, u32 rank, SqpyteSortKey *pKey
){
  SqpyteKeyWriter w;
  u32 nHdr, t, n;
  u32 iHdr = getVarint32(aRec, nHdr);
  u32 iData = nHdr;
  int i;
  w.a = w.b = 0;
  w.n = 0;
  w.inexact = 0;
  for(i=0; i<pInfo->nKeyField && !w.inexact; i++){
    u8 flags = pInfo->aSortFlags ? pInfo->aSortFlags[i] : 0;
    if( iHdr>=nHdr || (flags & KEYINFO_ORDER_BIGNULL) ){ w.inexact = 1; break; }
    iHdr += getVarint32(&aRec[iHdr], t);
    n = sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || (u64)iData+n>(u64)nRec ){ w.inexact = 1; break; }
    w.invert = (flags & KEYINFO_ORDER_DESC) ? ~(u64)0 : 0;
    if( i==iRanked && t>=12 && (t&1) ){
      sqpytePut(&w, (u64)SQPYTE_KEY_TEXT<<56 | (u64)rank<<24, 5);
    }else{
      sqpytePutField(&w, &aRec[iData], t, pInfo->aColl[i], (i64)nRec-iData);
    }
    if( w.n>SQPYTE_KEY_BYTES ) w.inexact = 1;
    iData += n;
  }
  pKey->a = w.a;
  pKey->b = (w.b & ~(u64)0xff) | (u64)w.inexact;
}

static void sqpyteSortKey(const KeyInfo *pInfo, const u8 *aRec, int nRec, SqpyteSortKey *pKey){
  sqpyteRankedKey(pInfo, aRec, nRec, -1, 0, pKey);
}

/* A list of the sorter begins with the record that was inserted last. */
static SorterRecord *sqpyteNextInList(const SorterList *pList, const SorterRecord *p){
  if( pList->aMemory==0 ) return p->u.pNext;
  if( (u8*)p==pList->aMemory ) return 0;
  return (SorterRecord*)&pList->aMemory[p->u.iNext];
}

/* A list whose records have fewer bytes than this is sorted by comparing them: making keys took longer (of 5 rows, a tenth
** of the statement); and one whose newest records, so many, all have the same inexact key, as URLs of one host have. */
#define SQPYTE_KEYS_FROM 256
#define SQPYTE_KEYS_LOOK 32

/* Whether keys tell the order of a list's records. */
static int sqpyteKeysPay(const KeyInfo *pInfo, const SorterList *pList){
  const SorterRecord *p = pList->pList;
  SqpyteSortKey first, key;
  int i;
  if( pList->szPMA<SQPYTE_KEYS_FROM ) return 0;
  for(i=0; p && i<SQPYTE_KEYS_LOOK; i++){
    sqpyteSortKey(pInfo, SRVAL(p), p->nVal, &key);
    if( i==0 ) first = key;
    if( (key.b & 1)==0 || key.a!=first.a || key.b!=first.b ) return 1;
    p = sqpyteNextInList(pList, p);
  }
  return 0;
}

/* Whether records in memory have room for keys. They don't where SQLite's memory is limited: a sort that fits in upstream
** must fit here. Nor where nothing is compared by keys: an index of a UTF-16 database would be sorted in more runs. */
static u8 sqpyteHasKeys(const KeyInfo *pInfo){
  return !SQPYTE_OFF(SORT_KEYS) && pInfo->enc==SQLITE_UTF8 && mem0.hardLimit==0;
}

/* What the records of a list are to have, before it is sorted. */
static int sqpyteKeysOf(const VdbeSorter *pSorter, SorterList *pList){
  int eKeys = SQPYTE_NO_KEYS;
  if( !pSorter->bSqpyteKeys ) return eKeys;
  if( sqpyteRankTexts(pSorter, pList) ) eKeys = SQPYTE_RANKED_KEYS;
  else if( sqpyteKeysPay(pSorter->pKeyInfo, pList) ) eKeys = SQPYTE_KEYS;
  if( eKeys!=SQPYTE_NO_KEYS ) SQPYTE_COUNT(SORT_KEYS);
  return eKeys;
}

/*
** Few keys. GROUP BY of a few groups sorts very many records of very few keys. Those are put into
** lists, one for each key, instead of being merged level by level: TPC-H's query 1 has 1.2 million
** rows and four groups.
**
** Records are taken from the list, the newest first, until one has a key that is inexact or, when there are
** SQPYTE_BUCKETS, new. They leave in the order of their keys and, where those are equal, of their insertion, as merging
** would have left them, as one run in the slot for runs of about its length: to vdbeSorterSort it is what it has merged
** of the newest records. Returns the first record that wasn't taken, or 0. With a collation that isn't SQLite's own none
** is taken: the other records would be compared in another order, which it could see.
*/
#define SQPYTE_BUCKETS 256              /* a power of two */
#define SQPYTE_BUCKETS_FROM 4096        /* bytes of a list's records: of a shorter one, merging is as fast; ... */
#define SQPYTE_BUCKETS_LOOK 64          /* ... as it is if of its newest records, so many, ... */
#define SQPYTE_BUCKETS_MOST 60          /* ... at least so many have keys of their own */

typedef struct SqpyteBucket SqpyteBucket;
struct SqpyteBucket {
  SqpyteSortKey key;
  SorterRecord *pFirst, *pLast;         /* the record of that key that was inserted first, last */
};

static int sqpyteCompareBuckets(const void *a, const void *b){
  const SqpyteSortKey *p1 = &((const SqpyteBucket*)a)->key, *p2 = &((const SqpyteBucket*)b)->key;
  if( p1->a!=p2->a ) return p1->a<p2->a ? -1 : 1;
  return p1->b<p2->b ? -1 : p1->b>p2->b;
}

static SorterRecord *sqpyteSortFewKeys(SortSubtask *pTask, SorterList *pList, SorterRecord **aSlot){
  const KeyInfo *pInfo = pTask->pSorter->pKeyInfo;
  SqpyteBucket aBucket[SQPYTE_BUCKETS];
  u16 aHash[2*SQPYTE_BUCKETS];          /* number of a bucket, from 1 */
  SorterRecord *p = pList->pList, *pNext;
  u64 nTaken = 0;
  int n = 0, i;
  if( SQPYTE_OFF(KEY_LISTS) || pList->szPMA<SQPYTE_BUCKETS_FROM || sqpyteForeignKey(pInfo, pInfo->nKeyField) ) return p;
  memset(aHash, 0, sizeof(aHash));
  for(; p; p=pNext){
    SqpyteSortKey key;
    SqpyteBucket *pBucket;
    if( pTask->eSqpyteKeys==SQPYTE_KEYS ) sqpyteSortKey(pInfo, SRVAL(p), p->nVal, SQPYTE_KEY_OF(p));
    key = *SQPYTE_KEY_OF(p);
    if( (key.b & 1) || (nTaken==SQPYTE_BUCKETS_LOOK && n>=SQPYTE_BUCKETS_MOST) ) break;
    pNext = sqpyteNextInList(pList, p);
    u32 h = (u32)(((key.a ^ (key.b*SQPYTE_HASH_MUL))*SQPYTE_HASH_MUL)>>40);
    h &= 2*SQPYTE_BUCKETS-1;
    while( aHash[h] && (aBucket[aHash[h]-1].key.a!=key.a || aBucket[aHash[h]-1].key.b!=key.b) ){
      h = (h+1) & (2*SQPYTE_BUCKETS-1);
    }
    if( aHash[h]==0 ){
      if( n==SQPYTE_BUCKETS ) break;
      pBucket = &aBucket[n++];
      aHash[h] = (u16)n;
      pBucket->key = key;
      pBucket->pFirst = 0;
      pBucket->pLast = p;
    }else{
      pBucket = &aBucket[aHash[h]-1];
    }
    p->u.pNext = pBucket->pFirst;
    pBucket->pFirst = p;
    nTaken++;
  }
  if( n ){
    SQPYTE_COUNT(KEY_LISTS);
    qsort(aBucket, n, sizeof(aBucket[0]), sqpyteCompareBuckets);
    for(i=0; i+1<n; i++) aBucket[i].pLast->u.pNext = aBucket[i+1].pFirst;
    for(i=0; nTaken>>(i+1); i++){}
    aSlot[i] = aBucket[0].pFirst;
  }
  return p;
}
