/*
** LIKE and GLOB for the VM. A pattern that has no wildcards but % (of GLOB: *) is taken apart once; its
** parts are looked for 16 bytes at a time. Included by engine.c.
*/
#if defined(__SSE2__)
# include <emmintrin.h>
#endif

/* Whether the n bytes at z are those of the pattern at p; with noCase p has
** no capital letters. */
static int sqpyteSame(const u8 *z, const u8 *p, long n, int noCase){
  long i;
  if( !noCase ) return memcmp(z, p, n)==0;
  for(i=0; i<n; i++){
    if( sqlite3UpperToLower[z[i]]!=p[i] ) return 0;
  }
  return 1;
}

/* Where the n>0 bytes of a pattern are first found in z up to zEnd, or 0.
** Sixteen places at a time: those where its first and last byte fit are
** looked at. */
static const u8 *sqpyteFind(const u8 *z, const u8 *zEnd, const u8 *p, long n, int noCase){
  const u8 *zLast = zEnd - n;
#if defined(__SSE2__)
  u8 cFirst = p[0], cLast = p[n-1];
  __m128i first = _mm_set1_epi8((char)cFirst), last = _mm_set1_epi8((char)cLast);
  __m128i foldFirst = _mm_set1_epi8(noCase && sqlite3Isalpha(cFirst) ? 0x20 : 0);
  __m128i foldLast = _mm_set1_epi8(noCase && sqlite3Isalpha(cLast) ? 0x20 : 0);
  for(; zLast-z>=15; z+=16){
    __m128i a = _mm_or_si128(_mm_loadu_si128((const __m128i*)z), foldFirst);
    __m128i b = _mm_or_si128(_mm_loadu_si128((const __m128i*)(z+n-1)), foldLast);
    int m = _mm_movemask_epi8(
        _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));
    for(; m; m &= m-1){
      const u8 *zAt = z + __builtin_ctz(m);
      if( sqpyteSame(zAt, p, n, noCase) ) return zAt;
    }
  }
#endif
  for(; z<=zLast; z++){
    if( sqpyteSame(z, p, n, noCase) ) return z;
  }
  return 0;
}

/* A prepared pattern that has no wildcards but % (of GLOB: *), in ASCII:
**   u8 flags        1: begins with %, 2: ends with %, 4: case is ignored
**   u8 nPart        the parts between the wildcards
**   then each part: u8 size, and its bytes, in small letters if case is ignored.
*/
#define SQPYTE_OPEN_START 1
#define SQPYTE_OPEN_END 2
#define SQPYTE_NO_CASE 4

/* Prepares the n bytes of a pattern of LIKE or GLOB in the 2*n+8 bytes at
** out. Returns whether it is of that form. */
int sqpyte_prepare_pattern(long addr, long n, int kind, long out){
  const u8 *z = (const u8*)addr;
  u8 *zOut = (u8*)out;
  u8 *zPart = 0;
  int noCase = kind==SQPYTE_FUNC_LIKE;
  int isGlob = kind==SQPYTE_FUNC_GLOB;
  int nPart = 0, bAll = 0;
  u8 flags = noCase ? SQPYTE_NO_CASE : 0;
  u8 *zTo = zOut + 2;
  long i;
  if( n>120 || SQPYTE_OFF(PREPARED_PATTERNS) ) return 0;
  SQPYTE_COUNT(PREPARED_PATTERNS);
  for(i=0; i<n; i++){
    u8 c = z[i];
    if( c==0 || c>=0x80 || c==(isGlob ? '?' : '_') || (isGlob && c=='[') ) return 0;
    bAll = c==(isGlob ? '*' : '%');
    if( bAll ){
      if( i==0 ) flags |= SQPYTE_OPEN_START;
      zPart = 0;
    }else{
      if( zPart==0 ){
        zPart = zTo++;
        *zPart = 0;
        nPart++;
      }
      *zTo++ = noCase ? sqlite3UpperToLower[c] : c;
      (*zPart)++;
    }
  }
  if( bAll ) flags |= SQPYTE_OPEN_END;
  zOut[0] = flags;
  zOut[1] = (u8)nPart;
  return 1;
}

/* Whether a text is like the prepared pattern. It ends at its first NUL. */
int sqpyte_match_prepared(long pattern, long addr, long n){
  const u8 *p = (const u8*)pattern + 2;
  const u8 *z = (const u8*)addr;
  const u8 *zEnd;
  int flags = p[-2];
  int nPart = p[-1];
  int noCase = flags & SQPYTE_NO_CASE;
  if( nPart==1 && (flags & (SQPYTE_OPEN_START|SQPYTE_OPEN_END))==SQPYTE_OPEN_END ){
    return n>=p[0] && sqpyteSame(z, p+1, p[0], noCase);
  }
  zEnd = memchr(z, 0, n);
  if( zEnd==0 ) zEnd = z + n;
  if( nPart==0 ) return (flags & SQPYTE_OPEN_END)!=0 || z==zEnd;
  if( (flags & SQPYTE_OPEN_START)==0 ){
    if( zEnd-z<p[0] || !sqpyteSame(z, p+1, p[0], noCase) ) return 0;
    z += p[0];
    p += 1 + p[0];
    nPart--;
    if( nPart==0 && (flags & SQPYTE_OPEN_END)==0 ) return z==zEnd;
  }
  for(; nPart>1 || (nPart==1 && (flags & SQPYTE_OPEN_END)); nPart--){
    z = sqpyteFind(z, zEnd, p+1, p[0], noCase);
    if( z==0 ) return 0;
    z += p[0];
    p += 1 + p[0];
  }
  if( nPart==0 ) return 1;
  return zEnd-z>=p[0] && sqpyteSame(zEnd-p[0], p+1, p[0], noCase);
}

/* LIKE or GLOB of texts by upstream's function: 0 or 1, or -1 for texts that
** are left to the call on registers. */
int sqpyte_like(long pattern, long nPattern, long addr, long n, int kind){
  u8 zPattern[256], zText[1024];
  const struct compareInfo *pInfo = kind==SQPYTE_FUNC_GLOB ? &globInfo
      : kind==SQPYTE_FUNC_LIKE ? &likeInfoNorm : &likeInfoAlt;
  if( nPattern>=(long)sizeof(zPattern) || n>=(long)sizeof(zText) ) return -1;
  memcpy(zPattern, (const void*)pattern, nPattern);
  zPattern[nPattern] = 0;
  memcpy(zText, (const void*)addr, n);
  zText[n] = 0;
  return patternCompare(zPattern, zText, pInfo, pInfo->matchSet)==SQLITE_MATCH;
}
