/*
** A hash of some bytes, for tables in memory: of short texts (string_cache.c), of the
** values of outer columns (memoize.c).
*/
#ifndef SQPYTE_BYTES_HASH_H
#define SQPYTE_BYTES_HASH_H

#define SQPYTE_HASH_MUL 0x9e3779b97f4a7c15ULL

static u64 sqpyteBytesHash(const char *z, int n){
  u64 h = (u64)n * SQPYTE_HASH_MUL;
  u64 w = 0;
  if( n>=8 ){
    int i;
    for(i=0; i+8<=n; i+=8){
      memcpy(&w, z+i, 8);
      h = (h ^ w) * SQPYTE_HASH_MUL;
      h ^= h>>32;
    }
    memcpy(&w, z+n-8, 8);     /* the rest, and some of it again */
  }else{
    while( n-- ) w = w<<8 | (u8)z[n];
  }
  return (h ^ w) * SQPYTE_HASH_MUL;     /* its upper bits depend on all of the bytes */
}

#endif
