/*
** Cuts (see cuts.h). Compiled as the tail of engine.c, after rows.c.
*/
#include "rows/cuts.h"

static const i64 *sqpyteCutOf(const SqpyteRows *pRows){
  return pRows->aSpec + pRows->aSpec[SQPYTE_AHEAD_CUT];
}

static const i64 *sqpyteTailOf(SqpyteRows *pRows){
  const i64 *aCut = sqpyteCutOf(pRows);
  return aCut + aCut[SQPYTE_CUT_TAIL];
}

/* The lists of a tail's part. */
#define SQPYTE_TAIL_REGISTERS(aTail) ((aTail) + SQPYTE_TAIL_HEAD)
#define SQPYTE_TAIL_COUNT(aTail) \
    ((aTail)[SQPYTE_TAIL_VALUES] + (aTail)[SQPYTE_TAIL_CELLS] + (aTail)[SQPYTE_TAIL_WRITTEN])

/* The register number i of those that the tail's rows change. */
static Mem *sqpyteTailRegister(SqpyteRows *pRows, const i64 *aTail, int i){
  const i64 *a = SQPYTE_TAIL_REGISTERS(aTail);
  int n = (int)aTail[SQPYTE_TAIL_VALUES];
  return &pRows->p->aMem[i<n ? a[3*i] : a[2*n+i]];
}

/* Whether a register gets a kept value from an early opcode among the tail's. */
static int sqpyteTailLoads(const i64 *aTail, int pc){
  const i64 *a = SQPYTE_TAIL_REGISTERS(aTail);
  int i;
  for(i=0; i<aTail[SQPYTE_TAIL_VALUES]; i++){
    if( a[3*i+2]==pc ) return 1;
  }
  return 0;
}

/* The same as sqpyteCutPatch(), for running the tail. */
static void sqpyteTailPatch(SqpyteRows *pRows, int bPut){
  const i64 *aTail = sqpyteTailOf(pRows);
  const i64 *a = SQPYTE_TAIL_REGISTERS(aTail)
      + SQPYTE_TAIL_COUNT(aTail) + 2*aTail[SQPYTE_TAIL_VALUES];
  int n = (int)aTail[SQPYTE_TAIL_EARLY];
  u8 *aOpcode = pRows->aOpcode;
  int i;
  for(i=0; i<=n; i++){
    int pc = (int)(i<n ? a[i] : aTail[SQPYTE_TAIL_END]);
    Op *pOp = &pRows->p->aOp[pc];
    if( bPut ){
      aOpcode[i] = pOp->opcode;
      pOp->opcode = i<n && !sqpyteTailLoads(aTail, pc) ? OP_Noop : SQPYTE_OP_WATCHED;
    }else{
      pOp->opcode = aOpcode[i];
    }
  }
}

/* Puts something else in place of the late opcodes, or puts them back. */
static void sqpyteCutPatch(SqpyteRows *pRows, int bPut){
  const i64 *aCut = sqpyteCutOf(pRows);
  const i64 *a = &aCut[SQPYTE_CUT_HEAD];
  int n = pRows->eCut==SQPYTE_CUT_TO ? 1 : (int)aCut[SQPYTE_CUT_LATE];
  u8 *aOpcode = pRows->aOpcode + pRows->aSpec[SQPYTE_AHEAD_WATCHED];
  int i;
  if( pRows->eCut==SQPYTE_CUT_REST ){
    sqpyteTailPatch(pRows, bPut);
    return;
  }
  for(i=0; i<n; i++){
    Op *pOp = &pRows->p->aOp[a[0]];
    if( bPut ){
      aOpcode[i] = pOp->opcode;
      pOp->opcode = SQPYTE_OP_WATCHED;
      if( pRows->eCut==SQPYTE_CUT_FILL && a[1]==0
       && a[0]!=aCut[SQPYTE_CUT_FIRST] && a[0]!=aCut[SQPYTE_CUT_LAST]
      ){
        pOp->opcode = OP_Noop;
      }
    }else{
      pOp->opcode = aOpcode[i];
    }
    a += 2 + a[1];
  }
}

/* Keeps a register as the next value of the row, whose words end at zEnd; 0 if
** there is no room. */
static int sqpyteKeepValue(SqpyteRows *pRows, Mem *pMem, i64 *aRow, int nTag, char *zEnd){
  int i = pRows->iSlot++;
  int f = pMem->flags;
  i64 *pValue = &aRow[nTag+i];
  int eTag;
  if( f & MEM_Int ){
    *pValue = pMem->u.i;
    eTag = SQLITE_INTEGER;
  }else if( f & MEM_Real ){
    memcpy(pValue, &pMem->u.r, sizeof(double));
    eTag = SQLITE_FLOAT;
  }else if( f & MEM_IntReal ){
    double r = (double)pMem->u.i;
    memcpy(pValue, &r, sizeof(double));
    eTag = SQLITE_FLOAT;
  }else if( (f & (MEM_Str|MEM_Blob)) && (f & MEM_Null)==0 ){
    int n;
    if( (f & MEM_Zero) && sqlite3VdbeMemExpandBlob(pMem) ) return 0;
    n = pMem->n;
    if( pRows->zFree - zEnd<n ){
      pRows->nNeed = n;
      return 0;
    }
    pRows->zFree -= n;
    if( n ) memcpy(pRows->zFree, pMem->z, n);
    *pValue = (pRows->zFree - (char*)pRows->aOut) | (i64)n<<SQPYTE_PLACE_BITS;
    eTag = f & MEM_Str ? SQLITE_TEXT : SQLITE_BLOB;
  }else{
    eTag = SQLITE_NULL;
  }
  aRow[i/16] |= (i64)((u64)eTag << (i%16*4));
  return 1;
}

/* Puts the registers that were kept at the cut's first opcode back into place:
** the row is done again from there on. */
static void sqpyteCutAgain(SqpyteRows *pRows){
  const i64 *aCut = sqpyteCutOf(pRows);
  const i64 *a = &aCut[SQPYTE_CUT_HEAD];
  const i64 *aRow = pRows->aOut + SQPYTE_ROWS_CELLS + pRows->nRow*aCut[SQPYTE_CUT_STRIDE];
  const i64 *aValue = aRow + aCut[SQPYTE_CUT_TAGS];
  Vdbe *p = pRows->p;
  int i;
  for(i=0; i<a[1] && i<pRows->iSlot; i++){
    Mem *pMem = &p->aMem[a[2+i]];
    int eTag = (int)(aRow[i/16]>>(i%16*4)) & 15;
    double r;
    switch( eTag ){
      case SQLITE_INTEGER:
        sqlite3VdbeMemSetInt64(pMem, aValue[i]);
        break;
      case SQLITE_FLOAT:
        memcpy(&r, &aValue[i], sizeof(r));
        sqlite3VdbeMemSetDouble(pMem, r);
        break;
      case SQLITE_TEXT: case SQLITE_BLOB: {
        const char *z = (char*)pRows->aOut + (aValue[i] & ((1<<SQPYTE_PLACE_BITS)-1));
        sqlite3VdbeMemSetStr(pMem, z, aValue[i]>>SQPYTE_PLACE_BITS,
                             eTag==SQLITE_TEXT ? SQLITE_UTF8 : 0, SQLITE_TRANSIENT);
        break;
      }
      case SQLITE_NULL:
        sqlite3VdbeMemSetNull(pMem);
    }
  }
  pRows->bInRow = 0;
  p->pc = (int)aCut[SQPYTE_CUT_FIRST];
}

/* Sets a register to a value of type eType: value, a double's bits, or n bytes at z, which are the caller's:
** who keeps them copies them. */
static void sqpyteTailSet(Mem *pMem, int eType, i64 value, const char *z, i64 n){
  if( eType==SQLITE_TEXT || eType==SQLITE_BLOB ){
    sqpyte_lend(pMem, (long)z, n, eType==SQLITE_TEXT);
    return;
  }
  if( VdbeMemDynamic(pMem) ) sqlite3VdbeMemSetNull(pMem);
  if( eType==SQLITE_INTEGER ){
    pMem->u.i = value;
    pMem->flags = MEM_Int;
  }else if( eType==SQLITE_FLOAT ){
    memcpy(&pMem->u.r, &value, sizeof(double));
    pMem->flags = MEM_Real;
  }else{
    pMem->flags = MEM_Null;
  }
}

/* Has registers hold the row's kept values that they have behind the opcode at
** pc, 0 for the tail's beginning. Returns the end of their list. */
static const i64 *sqpyteTailValues(SqpyteRows *pRows, const i64 *aRow, int pc){
  const i64 *aCut = sqpyteCutOf(pRows);
  const i64 *aTail = aCut + aCut[SQPYTE_CUT_TAIL];
  const i64 *a = SQPYTE_TAIL_REGISTERS(aTail);
  const i64 *aEnd = a + 3*aTail[SQPYTE_TAIL_VALUES];
  for(; a<aEnd; a+=3){
    Mem *pMem = &pRows->p->aMem[a[0]];
    int i = (int)a[1];
    i64 value = aRow[aCut[SQPYTE_CUT_TAGS]+i];
    int eTag = (int)(aRow[i/16]>>(i%16*4)) & 15;
    if( a[2]!=pc ) continue;
    sqpyteTailSet(pMem, eTag, value, (char*)pRows->aOut + (value & ((1<<SQPYTE_PLACE_BITS)-1)),
                  value>>SQPYTE_PLACE_BITS);
  }
  return aEnd;
}

/* What sqpyteWatched() does while the tail runs: to the next row that it is to be
** done for, if pc is its end. */
static int sqpyteTailWatched(SqpyteRows *pRows, int pc){
  const i64 *aCut = sqpyteCutOf(pRows);
  const i64 *aTail = aCut + aCut[SQPYTE_CUT_TAIL];
  const i64 *aRow, *aCell, *a;
  int i;
  if( pc!=aTail[SQPYTE_TAIL_END] ){
    sqpyteTailValues(pRows, pRows->aTailRow, pc);
    return pc+1;
  }
  do{
    if( pRows->iSlot>=pRows->nSkip ) return -1 - pc;
    aRow = pRows->aOut + SQPYTE_ROWS_CELLS + pRows->iSlot++*aCut[SQPYTE_CUT_STRIDE];
  }while( aRow[aTail[SQPYTE_TAIL_ROW]]==0 );
  pRows->aTailRow = aRow;
  a = sqpyteTailValues(pRows, aRow, 0);
  aCell = aRow + aTail[SQPYTE_TAIL_ROW] + 1;
  for(i=0; i<aTail[SQPYTE_TAIL_CELLS]; i++, a++, aCell+=2){
    sqpyteTailSet(&pRows->p->aMem[a[0]], (int)(aCell[0] & 7), aCell[1],
                  (const char*)(intptr_t)aCell[1], aCell[0]>>3);
  }
  return (int)aTail[SQPYTE_TAIL_PC];
}

/* What sqpyteWatched() does for a late opcode. */
static int sqpyteCutWatched(SqpyteRows *pRows, int pc){
  const i64 *aCut = sqpyteCutOf(pRows);
  Vdbe *p = pRows->p;
  const i64 *a;
  i64 *aRow;
  int i;
  if( pRows->eCut==SQPYTE_CUT_TO ) return -1 - pc;
  if( pRows->eCut==SQPYTE_CUT_REST ) return sqpyteTailWatched(pRows, pc);
  if( pRows->eCut==SQPYTE_CUT_BACK ){
    if( pRows->nSkip==0 && pc==pRows->iStop ) return -1 - pc;
    if( pc==aCut[SQPYTE_CUT_LAST] ) pRows->nSkip--;
    return pc+1;
  }
  aRow = pRows->aOut + SQPYTE_ROWS_CELLS + pRows->nRow*aCut[SQPYTE_CUT_STRIDE];
  if( pc==aCut[SQPYTE_CUT_FIRST] ){
    i64 nByte = aCut[SQPYTE_CUT_STRIDE]*sizeof(i64);
    if( pRows->nRow==pRows->nMost ) return -1 - pc;
    if( pRows->zFree - (char*)aRow<nByte ){
      pRows->nNeed = nByte;
      return -1 - pc;
    }
    memset(aRow, 0, aCut[SQPYTE_CUT_TAGS]*sizeof(i64));
    if( aCut[SQPYTE_CUT_TAIL] ) aRow[sqpyteTailOf(pRows)[SQPYTE_TAIL_ROW]] = 0;
    pRows->iSlot = 0;
    pRows->aLate = &aCut[SQPYTE_CUT_HEAD];
    pRows->bInRow = 1;
  }
  for(a=pRows->aLate; a[0]!=pc; a+=2+a[1]){}
  for(i=0; i<a[1]; i++){
    if( !sqpyteKeepValue(pRows, &p->aMem[a[2+i]], aRow, (int)aCut[SQPYTE_CUT_TAGS],
                         (char*)(aRow + aCut[SQPYTE_CUT_STRIDE])) ){
      return -1 - (int)aCut[SQPYTE_CUT_FIRST];
    }
  }
  pRows->aLate = a + 2 + a[1];
  if( pc==aCut[SQPYTE_CUT_LAST] ){
    pRows->nRow++;
    pRows->bInRow = 0;
  }
  return pc+1;
}

/* Runs the statement in the manner eCut. */
static int sqpyteCutRun(SqpyteRows *pRows, int eCut, i64 *aCells){
  Vdbe *p = pRows->p;
  int rc;
  pRows->eCut = eCut;
  pRows->bRunning = 1;
  p->sqpyteRows = pRows;
  rc = aCells ? sqpyte_step((sqlite3_stmt*)p, aCells) : sqlite3_step((sqlite3_stmt*)p);
  pRows->bRunning = 0;
  if( !pRows->bClosed ) p->sqpyteRows = 0;
  pRows->eCut = SQPYTE_CUT_NONE;
  return rc;
}

/* Runs the statement to the cut's first opcode; SQLITE_ROW without columns if it
** is there. */
static int sqpyteCutTo(SqpyteRows *pRows, i64 *aCells, int bPass){
  Vdbe *p = pRows->p;
  int first = (int)sqpyteCutOf(pRows)[SQPYTE_CUT_FIRST];
  int rc;
  if( bPass ){
    p->sqpyteStopPc = first + 1;
    pRows->bRunning = 1;
    rc = sqpyte_step((sqlite3_stmt*)p, aCells);
    pRows->bRunning = 0;
    if( pRows->bClosed || rc!=SQLITE_ROW || aCells[SQPYTE_ROW_COLUMNS] ) return rc;
  }
  rc = sqpyteCutRun(pRows, SQPYTE_CUT_TO, aCells);
  if( !pRows->bClosed && rc==SQLITE_ROW && aCells[SQPYTE_ROW_COLUMNS]==0
   && (p->sqpyteError || p->pc!=first)
  ){
    rc = sqpyte_step((sqlite3_stmt*)p, aCells);     /* has the error */
  }
  return rc;
}

/* How many opcodes are replaced while a cut's tail runs. */
static i64 sqpyteTailOpcodes(const i64 *aCut){
  return aCut[SQPYTE_CUT_TAIL] ? aCut[aCut[SQPYTE_CUT_TAIL]+SQPYTE_TAIL_EARLY] + 1 : 0;
}

/* An empty batch of a cut or of a tape, at most nMost rows. Returns what ended the statement, 0 if nothing
** did. */
static int sqpyteBeginBatch(SqpyteRows *pRows, const i64 *aSpec, i64 *aCells, i64 *aOut, int nMost){
  sqpyteForget(pRows);
  pRows->aSpec = aSpec;
  pRows->aOut = aOut;
  pRows->zFree = (char*)(aOut + aOut[SQPYTE_ROWS_CAPACITY]);
  pRows->nRow = pRows->nSkip = pRows->bInRow = 0;
  pRows->nNeed = 0;
  pRows->nMost = nMost;
  aOut[SQPYTE_ROWS_COUNT] = aOut[SQPYTE_ROWS_NEED] = 0;
  aOut[SQPYTE_ROWS_STAMP] = pRows->p->db->nSqpyteStamp;
  aOut[SQPYTE_ROWS_AT_CUT] = 1;
  aCells[SQPYTE_ROW_COLUMNS] = 0;
  return sqpyteEnded(pRows);
}

int sqpyte_cut(long rows, long spec, long cells, long out, int nMost, int bPass){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  const i64 *aSpec = (const i64*)spec;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pRows->p;
  sqlite3 *db = p->db;
  const i64 *aCut;
  int rc, first;
  SQPYTE_COUNT(CUTS);
  rc = sqpyteBeginBatch(pRows, aSpec, aCells, aOut, nMost);
  if( rc ) return rc;
  aCut = sqpyteCutOf(pRows);
  first = (int)aCut[SQPYTE_CUT_FIRST];
  if( !sqpyteRoom((void**)&pRows->aOpcode, &pRows->nOpcodeAlloc,
                  aSpec[SQPYTE_AHEAD_WATCHED] + aCut[SQPYTE_CUT_LATE] + sqpyteTailOpcodes(aCut),
                  1)
  ){
    return SQLITE_NOMEM;
  }
  if( bPass || p->pc!=first || p->sqpyteError || p->eVdbeState!=VDBE_RUN_STATE ){
    rc = sqpyteCutTo(pRows, aCells, bPass);
    if( pRows->bClosed ){
      sqpyte_rows_close(rows);
      return rc;
    }
    if( rc!=SQLITE_ROW || aCells[SQPYTE_ROW_COLUMNS] ) return rc;
  }
  sqlite3_mutex_enter(db->mutex);
  aOut[SQPYTE_ROWS_STAMP] = db->nSqpyteStamp;
  if( nMost>0 && p->pFrame==0 && (aSpec[SQPYTE_AHEAD_UNDO]==0 || sqpyteCheckpoint(pRows)) ){
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_FILL, 0);
    if( rc!=SQLITE_ROW ){
      pRows->rc = rc;
    }else if( pRows->bInRow ){
      /* No room, or an error: of the row, but behind the call. */
      sqpyteCutAgain(pRows);
      p->sqpyteError = 0;
      sqlite3DbFree(db, p->zErrMsg);
      p->zErrMsg = 0;
    }
  }
  sqlite3_mutex_leave(db->mutex);
  aOut[SQPYTE_ROWS_COUNT] = pRows->nRow;
  aOut[SQPYTE_ROWS_AT_CUT] = pRows->rc==0 && p->pc==first && p->sqpyteError==0;
  aOut[SQPYTE_ROWS_NEED] = pRows->nNeed;
  return SQLITE_ROW;
}

int sqpyte_cut_back(long rows, int iRow, int pc){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  Vdbe *p = pRows->p;
  int rc;
  sqlite3_mutex_enter(p->db->mutex);
  rc = sqpyteRollBack(pRows);
  if( rc==SQLITE_OK && p->sqpyteError==SQLITE_OK && (iRow>0 || pc!=p->pc) ){
    pRows->nSkip = iRow;
    pRows->iStop = pc;
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_BACK, 0);
    pRows->nSkip = 0;
    if( rc==SQLITE_ROW ){
      rc = p->pc==pc ? SQLITE_OK : SQLITE_MISUSE;
    }else{
      pRows->rc = rc;         /* out of memory: the statement has ended */
    }
  }
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}

int sqpyte_cut_one(long rows, int pc, long cells){
  Vdbe *p = ((SqpyteRows*)rows)->p;
  int place = p->pc;
  int error = p->sqpyteError;
  int rc;
  p->sqpyteError = 0;
  p->pc = pc;
  p->sqpyteStopPc = pc + 1;
  rc = sqpyte_step((sqlite3_stmt*)p, (i64*)cells);
  if( rc==SQLITE_ROW && ((i64*)cells)[SQPYTE_ROW_COLUMNS]==0 ){
    p->pc = place;
    p->sqpyteError = error;
  }
  return rc;
}

int sqpyte_cut_tail(long rows, int iFrom, int iTo){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  Vdbe *p = pRows->p;
  const i64 *aTail = sqpyteTailOf(pRows);
  int n = (int)SQPYTE_TAIL_COUNT(aTail);
  int place = p->pc;
  int error = p->sqpyteError;
  int compare = p->sqpyteCompare;
  i64 nNeed = pRows->nNeed;
  int iSlot = pRows->iSlot;
  int rc = SQLITE_OK;
  int i;
  SQPYTE_COUNT(TAILS);
  if( p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_MISUSE;
  if( !sqpyteRoom((void**)&pRows->aTail, &pRows->nTailAlloc, n, sizeof(Mem)) ) return SQLITE_NOMEM;
  sqlite3_mutex_enter(p->db->mutex);
  /* The statement is ahead: what it has in these registers it needs again. */
  for(i=0; i<n; i++){
    Mem *pMem = sqpyteTailRegister(pRows, aTail, i);
    pRows->aTail[i] = *pMem;
    sqlite3VdbeMemInit(pMem, p->db, MEM_Null);
  }
  pRows->iSlot = iFrom;
  pRows->nSkip = iTo;
  i = sqpyteTailWatched(pRows, (int)aTail[SQPYTE_TAIL_END]);
  if( i>=0 ){
    p->sqpyteError = 0;
    p->pc = i;
    rc = sqpyteCutRun(pRows, SQPYTE_CUT_REST, 0);
    if( rc==SQLITE_ROW ){
      rc = p->sqpyteError;
      p->pc = place;
      p->sqpyteError = error;
      p->sqpyteCompare = compare;
    }else{
      pRows->rc = rc;         /* out of memory: the statement has ended */
    }
  }
  for(i=n-1; i>=0; i--){
    Mem *pMem = sqpyteTailRegister(pRows, aTail, i);
    sqlite3VdbeMemRelease(pMem);
    *pMem = pRows->aTail[i];
  }
  pRows->nSkip = 0;
  pRows->iSlot = iSlot;
  pRows->nNeed = nNeed;
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}

i64 sqpyte_take_accumulator(long mem){
  Mem *pMem = (Mem*)mem;
  i64 key = 0;
  if( pMem->flags & MEM_Agg ){
    key = *(i64*)pMem->z;
    pMem->flags = MEM_Null;
  }
  return key;
}
