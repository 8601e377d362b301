/*
** SQL functions and conversions for the RPython VM. Included by engine.c.
**
** Any function or aggregate can be called on registers, as upstream's opcodes
** do it. The hot ones have a helper on plain bytes besides, so that a text in
** a page needs no Mem: each says what it leaves to the call on registers.
*/

#if defined(__SSE2__)
# include <emmintrin.h>
#endif

/* ---- calls on registers ---- */

/* Whether the function is one of SQLite's own that leaves the connection's
** cursors alone: it can't run SQL. */
static int sqpyteIsOwn(const FuncDef *p){
  return (p->funcFlags & SQLITE_FUNC_BUILTIN)!=0 && (p->funcFlags & SQLITE_FUNC_UNSAFE)==0;
}

int sqpyte_function_kind(void *pFuncDef){
  FuncDef *p = (FuncDef*)pFuncDef;
  if( p->xSFunc==likeFunc && p->nArg==2 ){
    const struct compareInfo *pInfo = (const struct compareInfo*)p->pUserData;
    if( pInfo->matchSet==0 && pInfo->matchAll=='%' ){
      return pInfo->noCase ? SQPYTE_FUNC_LIKE : SQPYTE_FUNC_LIKE_CASE;
    }
    if( pInfo->matchSet=='[' && pInfo->matchAll=='*' ) return SQPYTE_FUNC_GLOB;
  }
  if( !sqpyteIsOwn(p) ) return SQPYTE_FUNC_USER;
  if( p->xSFunc==substrFunc ) return SQPYTE_FUNC_SUBSTR;
  if( p->xSFunc==lengthFunc ) return SQPYTE_FUNC_LENGTH;
  if( p->xSFunc==bytelengthFunc ) return SQPYTE_FUNC_OCTET_LENGTH;
  if( p->xSFunc==absFunc ) return SQPYTE_FUNC_ABS;
  if( p->xSFunc==roundFunc ) return SQPYTE_FUNC_ROUND;
  if( p->xSFunc==upperFunc ) return SQPYTE_FUNC_UPPER;
  if( p->xSFunc==lowerFunc ) return SQPYTE_FUNC_LOWER;
  if( p->xSFunc==instrFunc ) return SQPYTE_FUNC_INSTR;
  if( p->xSFunc==minmaxFunc ) return p->pUserData ? SQPYTE_FUNC_MAX : SQPYTE_FUNC_MIN;
  if( p->xSFunc==typeofFunc ) return SQPYTE_FUNC_TYPEOF;
  if( p->xSFunc==nullifFunc ) return SQPYTE_FUNC_NULLIF;
  if( p->xSFunc==dateFunc ) return SQPYTE_FUNC_DATE;
  if( p->xSFunc==strftimeFunc ) return SQPYTE_FUNC_STRFTIME;
  return SQPYTE_FUNC_OTHER;
}

/* OP_Function of the opcode at pc: 0, or a result code whose message is in
** the statement. The arguments are in their registers. */
int sqpyte_function(void *pVdbe, int pc){
  Vdbe *p = (Vdbe*)pVdbe;
  const Op *pOp = &p->aOp[pc];
  sqlite3_context *pCtx = pOp->p4.pCtx;
  Mem *pOut = &p->aMem[pOp->p3];
  int i, rc = SQLITE_OK;
  if( pCtx->pOut!=pOut ){
    pCtx->pVdbe = p;
    pCtx->pOut = pOut;
    pCtx->enc = ENC(p->db);
    for(i=pCtx->argc-1; i>=0; i--) pCtx->argv[i] = &p->aMem[pOp->p2+i];
  }
  MemSetTypeFlag(pOut, MEM_Null);
  pCtx->pFunc->xSFunc(pCtx, pCtx->argc, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ){
      sqlite3VdbeError(p, "%s", sqlite3_value_text(pOut));
      rc = pCtx->isError;
    }
    sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, pCtx->iOp, pOp->p1);
    pCtx->isError = 0;
  }
  return rc;
}
int sqpyte_user_function(void *pVdbe, int pc){ return sqpyte_function(pVdbe, pc); }

/* Turns a first OP_AggStep or OP_AggInverse into the OP_AggStep1 that it is
** from then on. Returns the context, 0 without memory. */
static sqlite3_context *sqpyteStepContext(Vdbe *p, Op *pOp){
  int n = pOp->p5;
  u64 nAlloc = ROUND8P(SZ_CONTEXT(n));
  sqlite3_context *pCtx;
  if( pOp->p4type==P4_FUNCCTX ) return pOp->p4.pCtx;
  pCtx = sqlite3DbMallocRawNN(p->db, nAlloc + sizeof(Mem));
  if( pCtx==0 ) return 0;
  pCtx->pOut = (Mem*)((u8*)pCtx + nAlloc);
  sqlite3VdbeMemInit(pCtx->pOut, p->db, MEM_Null);
  pCtx->pMem = 0;
  pCtx->pFunc = pOp->p4.pFunc;
  pCtx->iOp = (int)(pOp - p->aOp);
  pCtx->pVdbe = p;
  pCtx->skipFlag = 0;
  pCtx->isError = 0;
  pCtx->enc = ENC(p->db);
  pCtx->argc = n;
  pOp->p4type = P4_FUNCCTX;
  pOp->p4.pCtx = pCtx;
  pOp->opcode = OP_AggStep1;
  return pCtx;
}

/* A step of the aggregate (or, with P1, its inverse) at pc. Returns 0, or a
** result code whose message is in the statement, or SQPYTE_SKIPPED: min() or
** max() has not taken the row's value. */
int sqpyte_agg_step(void *pVdbe, int pc){
  Vdbe *p = (Vdbe*)pVdbe;
  Op *pOp = &p->aOp[pc];
  Mem *pMem = &p->aMem[pOp->p3];
  sqlite3_context *pCtx = sqpyteStepContext(p, pOp);
  int i, rc = SQLITE_OK;
  if( pCtx==0 ) return SQLITE_NOMEM;
  if( pCtx->pMem!=pMem ){
    pCtx->pMem = pMem;
    for(i=pCtx->argc-1; i>=0; i--) pCtx->argv[i] = &p->aMem[pOp->p2+i];
  }
  pMem->n++;
  (pOp->p1 ? pCtx->pFunc->xInverse : pCtx->pFunc->xSFunc)(pCtx, pCtx->argc, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ){
      sqlite3VdbeError(p, "%s", sqlite3_value_text(pCtx->pOut));
      rc = pCtx->isError;
    }else if( pCtx->skipFlag ){
      rc = SQPYTE_SKIPPED;
    }
    pCtx->skipFlag = 0;
    sqlite3VdbeMemRelease(pCtx->pOut);
    pCtx->pOut->flags = MEM_Null;
    pCtx->isError = 0;
  }
  return rc;
}
int sqpyte_user_agg_step(void *pVdbe, int pc){ return sqpyte_agg_step(pVdbe, pc); }

/* OP_AggFinal, or OP_AggValue, at pc: 0, or a result code whose message is in
** the statement. */
int sqpyte_agg_result(void *pVdbe, int pc){
  Vdbe *p = (Vdbe*)pVdbe;
  const Op *pOp = &p->aOp[pc];
  Mem *pMem = &p->aMem[pOp->p1];
  int rc;
  if( pOp->p3 ){
    rc = sqlite3VdbeMemAggValue(pMem, &p->aMem[pOp->p3], pOp->p4.pFunc);
    pMem = &p->aMem[pOp->p3];
  }else{
    rc = sqlite3VdbeMemFinalize(pMem, pOp->p4.pFunc);
  }
  if( rc ){
    sqlite3VdbeError(p, "%s", sqlite3_value_text(pMem));
  }else{
    sqlite3VdbeChangeEncoding(pMem, ENC(p->db));
  }
  return rc;
}
int sqpyte_user_agg_result(void *pVdbe, int pc){ return sqpyte_agg_result(pVdbe, pc); }

/* The text or blob at addr becomes the register's value without being copied,
** for as long as C looks at it. */
void sqpyte_lend(void *pMem, long addr, long n, int isText){
  Mem *p = (Mem*)pMem;
  if( VdbeMemDynamic(p) ) sqlite3VdbeMemSetNull(p);
  p->z = (char*)addr;
  p->n = (int)n;
  p->enc = SQLITE_UTF8;
  p->flags = MEM_Ephem | (isText ? MEM_Str : MEM_Blob);
}

/* ---- texts, from and to plain bytes ---- */

/* One of the literals of typeof(). */
long sqpyte_type_name(int iType){
  static const char *const azType[] = { "integer", "real", "text", "blob", "null" };
  return (long)azType[iType-1];
}

/* upper() or lower() of a text, in the register pMemOut. */
int sqpyte_fold(void *pMemOut, long addr, long n, int toUpper){
  Mem *p = (Mem*)pMemOut;
  const u8 *z = (const u8*)addr;
  u8 *zOut;
  long i;
  if( n>=p->db->aLimit[SQLITE_LIMIT_LENGTH] ) return SQLITE_TOOBIG;
  if( sqlite3VdbeMemClearAndResize(p, (int)n+2) ) return SQLITE_NOMEM;
  zOut = (u8*)p->z;
  if( toUpper ){
    for(i=0; i<n; i++) zOut[i] = sqlite3Toupper(z[i]);
  }else{
    for(i=0; i<n; i++) zOut[i] = sqlite3Tolower(z[i]);
  }
  zOut[n] = zOut[n+1] = 0;
  p->n = (int)n;
  p->enc = SQLITE_UTF8;
  p->flags = MEM_Str | MEM_Term;
  return SQLITE_OK;
}

/* length() of a text: its characters before the first NUL. */
long sqpyte_text_length(long addr, long n){
  const u8 *z = (const u8*)addr;
  const u8 *zEnd = z + n;
  long nChar = 0;
  while( z<zEnd && *z ){
    nChar++;
    if( *z++>=0x80 ){
      while( z<zEnd && (*z & 0xc0)==0x80 ) z++;
    }
  }
  return nChar;
}

static const u8 *sqpyteSkipChars(const u8 *z, const u8 *zEnd, i64 n){
  for(; n>0 && z<zEnd && *z; n--){
    if( *z++>=0x80 ){
      while( z<zEnd && (*z & 0xc0)==0x80 ) z++;
    }
  }
  return z;
}

/* substr(): where the part begins (from addr) and, in *pn, its size, both in
** bytes. p2 is LARGEST_INT64 for a call without a length. */
long sqpyte_substr(long addr, long n, int isText, long long p1, long long p2, void *pn){
  const u8 *z = (const u8*)addr;
  const u8 *zEnd = z + n;
  const u8 *zPart;
  if( p1<0 ){
    p1 += isText ? sqpyte_text_length(addr, n) : n;
    if( p1<0 ){
      p2 = p2<0 ? 0 : p2 + p1;
      p1 = 0;
    }
  }else if( p1>0 ){
    p1--;
  }else if( p2>0 ){
    p2--;
  }
  if( p2<0 ){
    p2 = p2<-p1 ? p1 : -p2;
    p1 -= p2;
  }
  if( isText ){
    zPart = sqpyteSkipChars(z, zEnd, p1);
    *(i64*)pn = sqpyteSkipChars(zPart, zEnd, p2) - zPart;
    return zPart - z;
  }
  if( p1>=n ) p1 = p2 = 0;
  *(i64*)pn = p2>n-p1 ? n-p1 : p2;
  return (long)p1;
}

/* instr() of two texts (in characters) or of two blobs (in bytes). */
long sqpyte_instr(long a, long na, long b, long nb, int isText){
  const u8 *z = (const u8*)a;
  const u8 *zEnd = z + na;
  long N = 1;
  if( nb==0 ) return 1;
  while( zEnd-z>=nb && (*z!=*(const u8*)b || memcmp(z, (const void*)b, nb)) ){
    N++;
    do{ z++; }while( isText && z<zEnd && (*z & 0xc0)==0x80 );
  }
  return zEnd-z>=nb ? N : 0;
}

/* round() of a double by upstream's function; at most 30 digits. */
double sqpyte_round(double r, long long nDigit){
  Mem aArg[2], out;
  sqlite3_context ctx;
  sqlite3_value *apArg[2];
  memset(aArg, 0, sizeof(aArg));
  memset(&out, 0, sizeof(out));
  memset(&ctx, 0, sizeof(ctx));
  aArg[0].flags = MEM_Real;
  aArg[0].u.r = r;
  aArg[1].flags = MEM_Int;
  aArg[1].u.i = nDigit;
  out.flags = MEM_Null;
  ctx.pOut = &out;
  ctx.enc = SQLITE_UTF8;
  apArg[0] = &aArg[0];
  apArg[1] = &aArg[1];
  roundFunc(&ctx, 2, apArg);
  return out.flags & MEM_Real ? out.u.r : r;
}

/* How many bytes of a text are its ISO date YYYY-MM-DD: 10 if it is nothing
** but a date of a day that every month has, else 0. */
int sqpyte_iso_date(long addr, long n){
  const u8 *z = (const u8*)addr;
  int month, day;
  if( n!=10 || z[4]!='-' || z[7]!='-' ) return 0;
  if( !sqlite3Isdigit(z[0]) || !sqlite3Isdigit(z[1]) || !sqlite3Isdigit(z[2])
   || !sqlite3Isdigit(z[3]) || !sqlite3Isdigit(z[5]) || !sqlite3Isdigit(z[6])
   || !sqlite3Isdigit(z[8]) || !sqlite3Isdigit(z[9]) ) return 0;
  month = (z[5]-'0')*10 + z[6]-'0';
  day = (z[8]-'0')*10 + z[9]-'0';
  if( month<1 || month>12 || day<1 ) return 0;
  if( day>28 ){
    static const u8 aDays[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if( day>aDays[month-1] ) return 0;
  }
  return 10;
}

/* ---- LIKE and GLOB ---- */

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
  if( n>120 ) return 0;
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

/* ---- conversions ---- */

/* The text or blob at addr as a number. What: SQPYTE_AS_NUMERIC the affinity
** (0 if it is no number), SQPYTE_AS_CAST, SQPYTE_AS_INT, SQPYTE_AS_REAL the
** casts, SQPYTE_AS_OPERAND what arithmetic sees. Returns 1 with a 64-bit integer in *pOut, 2 with a double, 0 for no
** number, -1 without memory. */
int sqpyte_bytes_to_number(long addr, long n, int isText, int what, void *pOut){
  SqpyteBytes bytes;
  Mem *p = &bytes.m;
  int kind;
  sqpyteBytesInit(&bytes, addr, n, isText);
  switch( what ){
    case SQPYTE_AS_NUMERIC:
      if( n==0 || !sqpyteMayBeNumber((const u8*)addr, (const u8*)addr+n) ) return 0;
      applyNumericAffinity(p, 1);
      break;
    case SQPYTE_AS_CAST:    sqlite3VdbeMemNumerify(p);  break;
    case SQPYTE_AS_INT:     sqlite3VdbeMemIntegerify(p);  break;
    case SQPYTE_AS_OPERAND: p->flags = computeNumericType(p);  break;
    default:                sqlite3VdbeMemRealify(p);
  }
  kind = sqpyteNumberOf(p, pOut);
  return kind==0 && (p->flags & MEM_Null) ? -1 : kind;
}

/* The number in the register becomes a text, as the affinity TEXT or a cast
** to TEXT makes it. Returns 0 or SQLITE_NOMEM. */
int sqpyte_number_to_text(void *pMem){
  Mem *p = (Mem*)pMem;
  return sqlite3VdbeMemStringify(p, SQLITE_UTF8, 1);
}

/* The type of a column of the row under a cursor, as OP_IsType has it: 1
** integer, 2 real, 4 text, 8 blob, 16 NULL; 0 if the record is too short to
** have it. Or minus a result code. Upstream takes it from the types that its
** OP_Column has noted, which a VM that reads columns itself can't rely on. */
int sqpyte_column_type(void *pVdbeCursor, int iColumn){
  static const u8 aMask[] = { 16, 1, 1, 1, 1, 1, 1, 2, 1, 1, 16, 16 };
  BtCursor *pCrsr = ((VdbeCursor*)pVdbeCursor)->uc.pCursor;
  u32 nPayload = sqlite3BtreePayloadSize(pCrsr);
  u32 nLocal, nHeader, i, iType = 0;
  const u8 *a = sqlite3BtreePayloadFetch(pCrsr, &nLocal);
  u8 *aCopy = 0;
  int rc;
  if( nLocal==0 ) return 0;
  i = getVarint32(a, nHeader);
  if( nHeader>nPayload ) return -SQLITE_CORRUPT_BKPT;
  if( nHeader<i ) return 0;             /* damaged; for OP_Column a record without columns */
  if( nHeader>nLocal ){
    aCopy = sqlite3Malloc(nHeader + 16);
    if( aCopy==0 ) return -SQLITE_NOMEM;
    rc = sqlite3BtreePayload(pCrsr, 0, nHeader, aCopy);
    if( rc ){
      sqlite3_free(aCopy);
      return -rc;
    }
    a = aCopy;
  }
  while( i<nHeader && iColumn>=0 ){
    i += getVarint32(&a[i], iType);
    iColumn--;
  }
  sqlite3_free(aCopy);
  if( iColumn>=0 ) return 0;
  return iType<12 ? aMask[iType] : (iType & 1) ? 4 : 8;
}

/* ---- row sets ---- */

static int sqpyteRowSet(Mem *p){
  return (p->flags & MEM_Blob)==0 && sqlite3VdbeMemSetRowSet(p);
}
int sqpyte_rowset_add(void *pMem, long long v){
  if( sqpyteRowSet((Mem*)pMem) ) return SQLITE_NOMEM;
  sqlite3RowSetInsert((RowSet*)((Mem*)pMem)->z, v);
  return SQLITE_OK;
}
/* The smallest value of the set, taken out of it: 1 with it in *pOut, 0 if
** there is none. */
int sqpyte_rowset_next(void *pMem, void *pOut){
  Mem *p = (Mem*)pMem;
  if( (p->flags & MEM_Blob)==0 || !sqlite3RowSetNext((RowSet*)p->z, (i64*)pOut) ){
    sqlite3VdbeMemSetNull(p);
    return 0;
  }
  return 1;
}
/* Whether the set has v, which is added otherwise: 1 or 0, or -1 without
** memory. See OP_RowSetTest for iSet. */
int sqpyte_rowset_test(void *pMem, int iSet, long long v){
  if( sqpyteRowSet((Mem*)pMem) ) return -1;
  if( iSet && sqlite3RowSetTest((RowSet*)((Mem*)pMem)->z, iSet, v) ) return 1;
  if( iSet>=0 ) sqlite3RowSetInsert((RowSet*)((Mem*)pMem)->z, v);
  return 0;
}
