/*
** C helpers of the RPython VM. Included by engine.c, in SQLite's translation
** unit. Each does one thing that must be upstream's own code (writing a
** register, converting text, the sorter), or that C does without branches in
** the trace (writing a record).
*/

/* How deep triggers' programs are entered in the VM, each on the C stack above the one that fires it (half a KB). Deeper
** ones run in C, whose frames are in the heap. */
#define SQPYTE_MOST_FRAMES 100

/* The row that the VM's last Column in C has read. What that has left in the cursor, the record's header and a large
** column out of overflow pages, holds for the next such Column if that is of the same row: `sum(big<'a'), sum(big<'b')`
** copies the overflow pages once. The VM moves cursors without a word of it, so the row is known by its place in the
** B-tree, and by the stamps of its pager and its connection. One statement is in the VM at a time, and needs no lock for
** this. */
typedef struct SqpyteColumnRow SqpyteColumnRow;
static struct SqpyteColumnRow {
  const Vdbe *p;                  /* 0: none */
  const VdbeCursor *pC;
  const MemPage *pPage;
  Pgno pgno;
  u16 ix;
  u32 cacheCtr;
  u64 pagerStamp;
  u64 stamp;
} sqpyteColumnRow;

/* The row that a B-tree's cursor is on, and its caches are of; none if it, or no cursor (0), is on none. */
static SqpyteColumnRow sqpyteRowOfCursor(const Vdbe *p, const VdbeCursor *pC){
  SqpyteColumnRow row;
  const BtCursor *pCur;
  memset(&row, 0, sizeof(row));
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || pC->nullRow || pC->deferredMoveto ) return row;
  pCur = pC->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID ) return row;
  row.p = p;
  row.pC = pC;
  row.pPage = pCur->pPage;
  row.pgno = pCur->pPage->pgno;
  row.ix = pCur->ix;
  row.cacheCtr = p->cacheCtr;
  row.pagerStamp = SQPYTE_CURSOR_STAMP(pCur);
  row.stamp = p->db->nSqpyteStamp;
  return row;
}

static int sqpyteIsColumnRow(const Vdbe *p, const VdbeCursor *pC){
  SqpyteColumnRow row = sqpyteRowOfCursor(p, pC);
  return row.p && memcmp(&row, &sqpyteColumnRow, sizeof(row))==0;     /* its padding is zero, too */
}

/* Notes it; returns whether there is one. */
static int sqpyteNoteColumnRow(const Vdbe *p, const VdbeCursor *pC){
  SqpyteColumnRow row = sqpyteRowOfCursor(p, pC);
  memcpy(&sqpyteColumnRow, &row, sizeof(row));
  return row.p!=0;
}

/* Runs one opcode, and the program of the trigger that it fires. */
static int sqpyteExecOne(Vdbe *p, int counted){
  VdbeFrame *pFrame = p->pFrame;
  int rc;
  do{
    int nFrame = p->nFrame;
    p->sqpyteUncounted = !counted;
    rc = sqpyteVdbeExecOne(p);
    p->sqpyteUncounted = 0;
    p->sqpyteResumed = 1;
    if( rc==SQPYTE_STOP && p->nFrame>nFrame && p->sqpyteTier==SQPYTE_TIER_VM && sqpyteVm.mode==SQPYTE_MODE_ALWAYS
     && p->nFrame<=SQPYTE_MOST_FRAMES && !sqpyteIndivisible(p) ){
      rc = sqpyteRunVm(p);
    }
  }while( rc==SQPYTE_STOP && p->pFrame!=pFrame );
  return rc;
}

/* The same, after which no cursor's caches hold, as colCacheCtr starts anew; but pC's, the cursor of a Column in the VM. */
static int sqpyteStepOne(Vdbe *p, int counted, const VdbeCursor *pC){
  int rc;
  if( !sqpyteIsColumnRow(p, pC) ) p->cacheCtr = (p->cacheCtr + 2)|1;
  rc = sqpyteExecOne(p, counted);
  if( pC==0 || rc!=SQPYTE_STOP || !sqpyteNoteColumnRow(p, pC) ) p->cacheCtr = (p->cacheCtr + 2)|1;
  return rc;
}

int sqpyte_step_one(void *pVdbe, int counted){
  Vdbe *p = (Vdbe*)pVdbe;
  const Op *pOp = &p->aOp[p->pc];
  if( sqpyteOpcodeSets[pOp->opcode] & SQPYTE_SET_CALLS ) return sqpyteExecOne(p, counted);   /* has no cursor */
  return sqpyteStepOne(p, counted, pOp->opcode==OP_Column ? p->apCsr[pOp->p1] : 0);
}

/* The VM counts opcodes down to the next call of the progress handler, from what this returns, which may be negative: the
** call is due, but upstream makes none before the program jumps. Of a handler that has removed itself it is asked now and
** then whether there is another; one that was set within this step is called from the next on. */
#define SQPYTE_LOOK_AGAIN 1000
long long sqpyte_until_progress(void *pVdbe){
  Vdbe *p = (Vdbe*)pVdbe;
  sqlite3 *db = p->db;
  if( p->sqpyteLimit==LARGEST_UINT64 ){
    p->sqpyteUntil = LARGEST_INT64;
  }else{
    p->sqpyteUntil = (i64)(p->sqpyteLimit - p->sqpyteSteps);
    if( p->sqpyteUntil<=0 && db->xProgress==0 ) p->sqpyteUntil = SQPYTE_LOOK_AGAIN;
  }
  return p->sqpyteUntil;
}

/* Counts the opcodes that the VM has passed, of which nLeft are left; both until that is asked again. */
void sqpyte_count_steps(void *pVdbe, long long nLeft){
  Vdbe *p = (Vdbe*)pVdbe;
  p->sqpyteSteps += (u64)(p->sqpyteUntil - nLeft);
}

/* The same, and calls the progress handler as upstream does where a program jumps. Returns 0, or SQLITE_INTERRUPT if it
** says so. */
int sqpyte_progress(void *pVdbe, long long nLeft){
  Vdbe *p = (Vdbe*)pVdbe;
  sqlite3 *db = p->db;
  int rc = SQLITE_OK;
  sqpyte_count_steps(pVdbe, nLeft);
  while( rc==SQLITE_OK && p->sqpyteSteps>=p->sqpyteLimit && db->xProgress!=0 ){
    p->sqpyteLimit += db->nProgressOps;
    if( db->xProgress(db->pProgressArg) ){
      p->sqpyteLimit = LARGEST_UINT64;
      rc = SQLITE_INTERRUPT;
    }
  }
  return rc;
}

/* The next sqlite3VdbeExec raises rc at the opcode pc. */
void sqpyte_fail(void *pVdbe, int pc, int rc){
  ((Vdbe*)pVdbe)->pc = pc;
  ((Vdbe*)pVdbe)->sqpyteError = rc;
}

void sqpyte_complain(void){
  fprintf(stderr, "sqpyte: SQPYTE_JIT=%s ignored; it takes the JIT's parameters as name=number,...\n",
          secure_getenv("SQPYTE_JIT"));
}

void sqpyte_set_null(void *pMem){ sqlite3VdbeMemSetNull((Mem*)pMem); }
void sqpyte_set_int(void *pMem, long long v){
  sqlite3VdbeMemSetInt64((Mem*)pMem, v);
}
/* Texts get their terminator at once, as from upstream's Column: else sqlite3_column_text would
** have to make room for it. The value is one that upstream has in this register, whatever the limit
** of lengths is now. */
int sqpyte_set_bytes(void *pMem, long addr, long n, int form){
  Mem *p = (Mem*)pMem;
  if( sqlite3VdbeMemClearAndResize(p, (int)n+2<32 ? 32 : (int)n+2) ) return SQLITE_NOMEM;
  memcpy(p->z, (const char*)addr, n);
  p->z[n] = p->z[n+1] = 0;
  p->n = (int)n;
  p->enc = SQPYTE_ENCODING(form);
  p->flags = (form & SQPYTE_BLOB) ? MEM_Blob : MEM_Str|MEM_Term;
  return SQLITE_OK;
}

int sqpyte_collation_kind(void *pColl){
  CollSeq *p = (CollSeq*)pColl;
  if( p==0 || sqlite3IsBinary(p) ) return 0;
  if( p->xCmp==nocaseCollatingFunc ) return 1;
  if( p->xCmp==rtrimCollFunc ) return 2;
  return 3;
}

int sqpyte_aggregate_kind(void *pFuncDef){
  FuncDef *p = (FuncDef*)pFuncDef;
  if( p->xSFunc==countStep ) return SQPYTE_AGG_COUNT;
  if( p->xSFunc==sumStep ){
    if( p->xFinalize==sumFinalize ) return SQPYTE_AGG_SUM;
    if( p->xFinalize==totalFinalize ) return SQPYTE_AGG_TOTAL;
    if( p->xFinalize==avgFinalize ) return SQPYTE_AGG_AVG;
  }
  if( p->xSFunc==minmaxStep ){
    return p->pUserData ? SQPYTE_AGG_MAX : SQPYTE_AGG_MIN;
  }
  return 0;
}

/* Whether an address lies in the memory that a register owns. */
static int sqpyteOwns(const Mem *p, long addr){
  return p->szMalloc>0 && (char*)addr>=p->zMalloc && (char*)addr<p->zMalloc+p->szMalloc;
}

/* Concat of two texts or blobs, a text: pMemOut = a || b. Returns 0, SQLITE_TOOBIG or
** SQLITE_NOMEM; a and b may lie in pMemOut. The text is terminated, as upstream's: who asks for it
** with sqlite3_value_text needs no memory. A byte order mark at its beginning stays. */
int sqpyte_concat(void *pMemOut, long a, long na, long b, long nb){
  Mem *p = (Mem*)pMemOut;
  u8 enc = ENC(p->db);
  i64 n = (i64)na + nb;
  char *z;
  if( n>p->db->aLimit[SQLITE_LIMIT_LENGTH] ) return SQLITE_TOOBIG;
  if( (p->flags & MEM_Dyn) || sqpyteOwns(p, a) || sqpyteOwns(p, b) ){
    z = sqlite3DbMallocRaw(p->db, n+2);
    if( z==0 ) return SQLITE_NOMEM;
    memcpy(z, (const char*)a, na);
    memcpy(z+na, (const char*)b, nb);
    sqlite3VdbeMemRelease(p);
    p->z = p->zMalloc = z;
    p->szMalloc = sqlite3DbMallocSize(p->db, z);
  }else{
    if( sqlite3VdbeMemClearAndResize(p, (int)n+2) ) return SQLITE_NOMEM;
    z = p->z;
    memcpy(z, (const char*)a, na);
    memcpy(z+na, (const char*)b, nb);
  }
  p->enc = enc;
  if( enc!=SQLITE_UTF8 ) n &= ~(i64)1;
  p->n = (int)n;
  z[n] = z[n+1] = 0;
  p->flags = MEM_Str|MEM_Term;
  return SQLITE_OK;
}

/* Eight bytes as a number that compares as they do. */
static u64 sqpyteGet8byte(const u8 *a){
  return ((u64)sqlite3Get4byte(a)<<32) | sqlite3Get4byte(a+4);
}

int sqpyte_compare_bytes(long a, long na, long b, long nb){
  int c;
  if( na>=8 && nb>=8 ){                 /* nearly always enough, and cheaper than memcmp */
    u64 x = sqpyteGet8byte((const u8*)a), y = sqpyteGet8byte((const u8*)b);
    if( x!=y ) return x<y ? -1 : 1;
  }
  c = memcmp((const void*)a, (const void*)b, na<nb ? na : nb);
  if( c ) return c;
  return na<nb ? -1 : na>nb;
}
int sqpyte_compare_nocase(long a, long na, long b, long nb){
  return nocaseCollatingFunc(0, (int)na, (const void*)a, (int)nb, (const void*)b);
}
int sqpyte_compare_rtrim(long a, long na, long b, long nb){
  return rtrimCollFunc(0, (int)na, (const void*)a, (int)nb, (const void*)b);
}
int sqpyte_compare_int_real(long long i, double r){
  return sqlite3IntFloatCompare(i, r);
}

/* A text or blob outside of any register, as upstream's conversions want it. */
typedef struct SqpyteBytes SqpyteBytes;
struct SqpyteBytes { Mem m; char zBuf[128]; };

static void sqpyteBytesInit(SqpyteBytes *p, long addr, long n, int form){
  static __thread sqlite3 noDb;        /* where upstream copies a long text, or one in UTF-16 */
  memset(&p->m, 0, sizeof(p->m));
  p->m.flags = (form & SQPYTE_BLOB) ? MEM_Blob : MEM_Str;
  p->m.enc = SQPYTE_ENCODING(form);
  p->m.n = (int)n;
  if( n<(long)sizeof(p->zBuf) && p->m.enc==SQLITE_UTF8 ){
    memcpy(p->zBuf, (const char*)addr, n);
    p->zBuf[n] = 0;
    p->m.z = p->zBuf;
    p->m.flags |= MEM_Term;
  }else{
    noDb.lookaside.bDisable = 1;
    noDb.mallocFailed = 0;              /* whoever calls upstream looks at it */
    p->m.z = (char*)addr;
    p->m.db = &noDb;
  }
}

/* The number that a Mem has: 1 with a 64-bit integer in *pOut, 2 with a double, 0 for none. */
static int sqpyteNumberOf(const Mem *p, void *pOut){
  if( p->flags & MEM_Int ){ *(i64*)pOut = p->u.i; return 1; }
  if( p->flags & MEM_Real ){ *(double*)pOut = p->u.r; return 2; }
  return 0;
}

int sqpyte_text_to_number(long a, long n, int form, void *pOut){
  SqpyteBytes text;
  if( n==0 ) return 0;
  sqpyteBytesInit(&text, a, n, form);
  applyNumericAffinity(&text.m, 0);
  if( text.m.db && text.m.db->mallocFailed ) return -1;
  return sqpyteNumberOf(&text.m, pOut);
}

/* What sqpyte_compare_bytes says, as -1, 0 or 1. */
static int sqpyteOrderOfBytes(long a, long na, long b, long nb){
  int c = sqpyte_compare_bytes(a, na, b, nb);
  return (c>0) - (c<0);
}

static int sqpyteCompareAsNumbers(long a, long na, long b, long nb, int form){
  union { i64 i; double r; } x, y;
  int kx = sqpyte_text_to_number(a, na, form, &x);
  int ky = sqpyte_text_to_number(b, nb, form, &y);
  if( kx<0 || ky<0 ) return SQPYTE_NO_ORDER;
  if( kx==0 && ky==0 ) return sqpyteOrderOfBytes(a, na, b, nb);
  if( kx==0 ) return 1;
  if( ky==0 ) return -1;
  if( kx==1 && ky==1 ) return x.i<y.i ? -1 : x.i>y.i;
  if( kx==1 ) return sqlite3IntFloatCompare(x.i, y.r);
  if( ky==1 ) return -sqlite3IntFloatCompare(y.i, x.r);
  return x.r<y.r ? -1 : x.r>y.r;
}

/* Whether a text begins with four digits and a '-'. */
static inline int sqpyteBeginsAsDate(long addr, long n, int form){
  const u8 *a = (const u8*)addr;
  int step = form==SQLITE_UTF8 ? 1 : 2, i;
  if( n<5*step ) return 0;
  if( form!=SQLITE_UTF8 ){
    const u8 *aHigh = a + (form==SQLITE_UTF16LE);
    a += form!=SQLITE_UTF16LE;
    for(i=0; i<5; i++) if( aHigh[2*i] ) return 0;
  }
  return a[4*step]=='-' && sqlite3Isdigit(a[3*step]) && sqlite3Isdigit(a[2*step]) && sqlite3Isdigit(a[step])
      && sqlite3Isdigit(a[0]);
}

/* Comparison of two texts of one form with numeric affinity and the collation BINARY: as
** numbers where they look like numbers. In one call, because columns of type
** DATE have that affinity; and ISO dates at once, because no number begins with
** four digits and a '-'. (One may have a 0 behind its first digit, where it ends.) */
int sqpyte_compare_numeric_texts(long a, long na, long b, long nb, int form){
  if( sqpyteBeginsAsDate(a, na, form) && sqpyteBeginsAsDate(b, nb, form) && !SQPYTE_OFF(ISO_DATES) ){
    return sqpyteOrderOfBytes(a, na, b, nb);
  }
  return sqpyteCompareAsNumbers(a, na, b, nb, form);
}

long sqpyte_sorter_row(void *pVdbeCursor, void *pn){
  return (long)vdbeSorterRowkey(((VdbeCursor*)pVdbeCursor)->uc.pSorter, (int*)pn);
}
/* A record that ends with a zeroblob, and was made in C, lacks these zeros. */
int sqpyte_sorter_insert(void *pVdbeCursor, void *pMem){
  if( ExpandBlob((Mem*)pMem) ) return SQLITE_NOMEM_BKPT;
  return sqlite3VdbeSorterWrite((VdbeCursor*)pVdbeCursor, (Mem*)pMem);
}
int sqpyte_sorter_next(void *pVdbe, void *pVdbeCursor){
  return sqlite3VdbeSorterNext(((Vdbe*)pVdbe)->db, (VdbeCursor*)pVdbeCursor);
}

/* One value of a record to be made: tag 0 NULL, 1 integer, 2 real (bits in v),
** 3 text, 4 blob (address in v). */
typedef struct SqpyteField SqpyteField;
struct SqpyteField { i64 tag; i64 v; i64 n; };

static u32 sqpyteSerialType(i64 i, int bFormat4){
  u64 u = i<0 ? ~(u64)i : (u64)i;
  if( u<=127 ) return (i&1)==i && bFormat4 ? 8+(u32)i : 1;
  if( u<=32767 ) return 2;
  if( u<=8388607 ) return 3;
  if( u<=2147483647 ) return 4;
  if( u<=140737488355327LL ) return 5;
  return 6;
}

/* What OP_MakeRecord has free behind a record: so the same records fit in a register's memory, for
** which upstream doesn't ask the limit of lengths. */
#define SQPYTE_OVERRUN 7

/* Makes the record of n fields in the register pMemOut (see OP_MakeRecord).
** Returns 0, SQLITE_TOOBIG or SQLITE_NOMEM. */
int sqpyte_make_record(void *pVdbe, void *pMemOut, long fields, int n){
  int b4 = ((Vdbe*)pVdbe)->minWriteFileFormat>=4;
  const SqpyteField *a = (const SqpyteField*)fields;
  Mem *pOut = (Mem*)pMemOut;
  i64 nData = 0, nByte;
  int nHdr = 0, nVarint, i, j;
  u32 t;
  u8 *zHdr, *z;
  for(i=0; i<n; i++){
    switch( a[i].tag ){
      case 0: nHdr++; break;
      case 1:
        nHdr++;
        nData += sqlite3SmallTypeSizes[sqpyteSerialType(a[i].v, b4)];
        break;
      case 2: nHdr++; nData += 8; break;
      default:
        nHdr += sqlite3VarintLen((u64)a[i].n*2 + 12);
        nData += a[i].n;
    }
  }
  if( nHdr<=126 ){
    nHdr += 1;
  }else{
    nVarint = sqlite3VarintLen(nHdr);
    nHdr += nVarint;
    if( nVarint<sqlite3VarintLen(nHdr) ) nHdr++;
  }
  nByte = nHdr + nData;
  if( nByte<=pOut->szMalloc-SQPYTE_OVERRUN ){
    pOut->z = pOut->zMalloc;            /* of whatever length, as upstream has it */
  }else{
    if( nByte>pOut->db->aLimit[SQLITE_LIMIT_LENGTH] ) return SQLITE_TOOBIG;
    if( sqlite3VdbeMemClearAndResize(pOut, (int)nByte+SQPYTE_OVERRUN) ) return SQLITE_NOMEM;
  }
  pOut->n = (int)nByte;
  pOut->flags = MEM_Blob;
  zHdr = (u8*)pOut->z;
  z = zHdr + nHdr;
  zHdr += putVarint32(zHdr, nHdr);
  for(i=0; i<n; i++){
    switch( a[i].tag ){
      case 0: *zHdr++ = 0; break;
      case 1: {
        u64 v = (u64)a[i].v;
        t = sqpyteSerialType(a[i].v, b4);
        *zHdr++ = (u8)t;
        j = sqlite3SmallTypeSizes[t];
        z += j;
        for(; j>0; j--){ *--z = (u8)v; v >>= 8; }
        z += sqlite3SmallTypeSizes[t];
        break;
      }
      case 2: {
        u64 v = (u64)a[i].v;
        *zHdr++ = 7;
        v = __builtin_bswap64(v);
        memcpy(z, &v, 8);
        z += 8;
        break;
      }
      default:
        t = (u32)a[i].n*2 + (a[i].tag==3 ? 13 : 12);
        zHdr += putVarint32(zHdr, t);
        memcpy(z, (const void*)a[i].v, a[i].n);
        z += a[i].n;
    }
  }
  return SQLITE_OK;
}
