/*
** A table's pages at their addresses, without a MemPage: cells, keys, and the search for a rowid.
**
** Invariant: a search compares the same cells in the same order as sqlite3BtreeTableMoveto. In a damaged page, where keys
** aren't in order, the answer depends on it. Nothing is read further from a cell than upstream reads. Included by engine.c.
*/

/* Cell i of a page, whose cell pointers are at aPointer. */
static inline const u8 *sqpyteRawCell(const BtShared *pBt, const u8 *a, const u8 *aPointer, int i){
  return a + ((pBt->pageSize-1) & get2byteAligned(&aPointer[2*i]));
}

/* A varint of up to nine bytes. Those of rowids are mostly short and of one size. (Not by sqlite3VarintValue, which gcc
** would put out of line for everybody then.) */
static inline i64 sqpyteVarint(const u8 *p){
  u64 k = p[0];
  int i;
  if( k<0x80 ) return (i64)k;
  k = (k & 0x7f)<<7 | (p[1] & 0x7f);
  if( p[1]<0x80 ) return (i64)k;
  k = k<<7 | (p[2] & 0x7f);
  if( p[2]<0x80 ) return (i64)k;
  k = k<<7 | (p[3] & 0x7f);
  if( p[3]<0x80 ) return (i64)k;
  for(i=4; i<8; i++){
    k = k<<7 | (p[i] & 0x7f);
    if( p[i]<0x80 ) return (i64)k;
  }
  return (i64)(k<<8 | p[8]);
}

/* The key of cell i of an interior page of a table. */
static inline i64 sqpyteInteriorKey(const BtShared *pBt, const u8 *a, const u8 *aPointer, int i){
  return sqpyteVarint(sqpyteRawCell(pBt, a, aPointer, i)+4);
}

/* The rowid of a cell of a leaf page that begins at p and doesn't go beyond aEnd; *pp is where it is, 0 if the cell is
** corrupt. */
static inline i64 sqpyteRawRowid(const u8 *p, const u8 *aEnd, const u8 **pp){
  *pp = 0;
  while( *(p++)>=0x80 ) if( p>=aEnd ) return 0;
  *pp = p;
  return sqpyteVarint(p);
}

/* What is behind a varint of up to nine bytes. */
static inline const u8 *sqpyteBehindVarint(const u8 *p){
  int i;
  for(i=0; i<8 && *p>=0x80; i++) p++;
  return p+1;
}

/* Where the search for a rowid ends in a leaf page of at least one cell, whose cell pointers are at aPointer. *pRes is
** how the rowid of that cell compares with the key (<0, 0, >0), *pp where it is. Returns -1 if a cell is corrupt. */
static inline int sqpyteSearchLeaf(const BtShared *pBt, const u8 *a, const u8 *aPointer, int nCell, i64 key, int *pRes,
                                   const u8 **pp){
  int lwr = 0, upr = nCell-1, i;
  do{
    i64 k;
    i = (lwr+upr)>>1;
    k = sqpyteRawRowid(sqpyteRawCell(pBt, a, aPointer, i), a+pBt->pageSize, pp);
    if( *pp==0 ) return -1;
    if( k==key ){
      *pRes = 0;
      break;
    }
    if( k<key ){
      lwr = i+1;
      *pRes = -1;
    }else{
      upr = i-1;
      *pRes = +1;
    }
  }while( lwr<=upr );
  return i;
}
