/*
** How a sort key is made: see sort_key.h. Included by engine.c.
**
** The fields of the record's key are written one after the other as bytes whose order, compared as
** unsigned numbers, is that of the fields: a byte for the storage class, then for a number the bits
** of its double, for a text or blob its bytes and a zero. Where that isn't all (the 16 bytes are
** full, a number of more than 53 bits, a zero within a text, a collation other than BINARY), the
** key is inexact: it orders records whose keys differ, and says nothing of those whose keys don't.
** A field that has been ranked (sort_rank.c) has its rank in place of its text.
*/
#define SQPYTE_KEY_BYTES 15             /* the 16th has the flag */
#define SQPYTE_KEY_TEXT 3               /* storage class; a blob is the next */

typedef struct SqpyteKeyWriter SqpyteKeyWriter;
struct SqpyteKeyWriter {
  u8 a[16];
  int n;                                /* bytes written */
  int inexact;
};

static void sqpytePut(SqpyteKeyWriter *p, u8 byte){
  if( p->n<SQPYTE_KEY_BYTES ) p->a[p->n++] = byte; else p->inexact = 1;
}

static void sqpytePutReal(SqpyteKeyWriter *p, double r, u8 invert){
  u64 u;
  int i;
  if( r==0.0 ) r = 0.0;                 /* no -0.0 */
  memcpy(&u, &r, sizeof(u));
  u = (u>>63) ? ~u : u | ((u64)1<<63);
  for(i=56; i>=0; i-=8) sqpytePut(p, (u8)(u>>i) ^ invert);
}

static void sqpytePutBytes(SqpyteKeyWriter *p, const u8 *a, int n, u8 invert){
  int i;
  for(i=0; i<n && !p->inexact; i++){
    sqpytePut(p, a[i] ^ invert);
    if( a[i]==0 ){                      /* above the end of a text, below any other byte */
      while( p->n<SQPYTE_KEY_BYTES ) sqpytePut(p, 0xff ^ invert);
      p->inexact = 1;
    }
  }
  sqpytePut(p, 0 ^ invert);
}

/* One field of serial type t at a, with the tag of its storage class. */
static void sqpytePutField(SqpyteKeyWriter *p, const u8 *a, u32 t, CollSeq *pColl, u8 invert){
  if( t>=12 ){
    sqpytePut(p, (SQPYTE_KEY_TEXT + ((t&1)==0)) ^ invert);
    if( (t&1) && pColl && !sqlite3IsBinary(pColl) ){
      p->inexact = 1;
    }else{
      sqpytePutBytes(p, a, (int)(t-12)/2, invert);
    }
  }else{
    Mem m;
    double r;
    sqlite3VdbeSerialGet(a, t, &m);
    if( (m.flags & (MEM_Int|MEM_Real))==0 ){
      sqpytePut(p, 1 ^ invert);
      return;
    }
    r = (m.flags & MEM_Int) ? (double)m.u.i : m.u.r;
    sqpytePut(p, 2 ^ invert);
    sqpytePutReal(p, r, invert);
    /* From here on an integer and another one, or a real, may have the same double. Whatever has
    ** it must end here: the fields that follow would decide between unequal numbers. */
    if( r>=9007199254740992.0 || r<=-9007199254740992.0 ) p->inexact = 1;
  }
}

/* The key of a record. If its field iRanked is a text, rank is that text's place among others. */
static void sqpyteRankedKey(
  const KeyInfo *pInfo, const u8 *aRec, int nRec, int iRanked, u32 rank, SqpyteSortKey *pKey
){
  SqpyteKeyWriter w;
  u32 nHdr, t, n;
  u32 iHdr = getVarint32(aRec, nHdr);
  u32 iData = nHdr;
  u8 invert;
  int i, shift;
  memset(&w, 0, sizeof(w));
  if( sqpyteSettings.noSortKeys ) w.inexact = 1;
  if( pInfo->enc!=SQLITE_UTF8 ) w.inexact = 1;
  for(i=0; i<pInfo->nKeyField && !w.inexact; i++){
    u8 flags = pInfo->aSortFlags ? pInfo->aSortFlags[i] : 0;
    if( iHdr>=nHdr || (flags & KEYINFO_ORDER_BIGNULL) ){ w.inexact = 1; break; }
    iHdr += getVarint32(&aRec[iHdr], t);
    n = sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || (u64)iData+n>(u64)nRec ){ w.inexact = 1; break; }
    invert = (flags & KEYINFO_ORDER_DESC) ? 0xff : 0;
    if( i==iRanked && t>=12 && (t&1) ){
      sqpytePut(&w, SQPYTE_KEY_TEXT ^ invert);
      for(shift=24; shift>=0; shift-=8) sqpytePut(&w, (u8)(rank>>shift) ^ invert);
    }else{
      sqpytePutField(&w, &aRec[iData], t, pInfo->aColl[i], invert);
    }
    iData += n;
  }
  w.a[15] = (u8)w.inexact;
  pKey->a = ((u64)sqlite3Get4byte(w.a)<<32) | sqlite3Get4byte(w.a+4);
  pKey->b = ((u64)sqlite3Get4byte(w.a+8)<<32) | sqlite3Get4byte(w.a+12);
}

static void sqpyteSortKey(const KeyInfo *pInfo, const u8 *aRec, int nRec, SqpyteSortKey *pKey){
  sqpyteRankedKey(pInfo, aRec, nRec, -1, 0, pKey);
}
