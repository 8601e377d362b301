/*
** Cuts (see cuts.h). Compiled as the tail of engine.c, after rows.c.
*/
#include "cuts.h"

static const i64 *sqpyteCutOf(const SqpyteRows *pRows){
  return pRows->aSpec + pRows->aSpec[SQPYTE_AHEAD_CUT];
}

/* Puts something else in place of the late opcodes, or puts them back. */
static void sqpyteCutPatch(SqpyteRows *pRows, int bPut){
  const i64 *aCut = sqpyteCutOf(pRows);
  const i64 *a = &aCut[SQPYTE_CUT_HEAD];
  int n = pRows->eCut==SQPYTE_CUT_TO ? 1 : (int)aCut[SQPYTE_CUT_LATE];
  u8 *aOpcode = pRows->aOpcode + pRows->aSpec[SQPYTE_AHEAD_WATCHED];
  int i;
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

/* What sqpyteWatched() does for a late opcode. */
static int sqpyteCutWatched(SqpyteRows *pRows, int pc){
  const i64 *aCut = sqpyteCutOf(pRows);
  Vdbe *p = pRows->p;
  const i64 *a;
  i64 *aRow;
  int i;
  if( pRows->eCut==SQPYTE_CUT_TO ) return -1 - pc;
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

int sqpyte_cut(long rows, long spec, long cells, long out, int nMost, int bPass){
  SqpyteRows *pRows = (SqpyteRows*)rows;
  const i64 *aSpec = (const i64*)spec;
  i64 *aCells = (i64*)cells;
  i64 *aOut = (i64*)out;
  Vdbe *p = pRows->p;
  sqlite3 *db = p->db;
  const i64 *aCut;
  int rc, first;
  sqpyteForget(pRows);
  pRows->aSpec = aSpec;
  pRows->aOut = aOut;
  pRows->zFree = (char*)(aOut + aOut[SQPYTE_ROWS_CAPACITY]);
  pRows->nRow = pRows->nSkip = pRows->bInRow = 0;
  pRows->nNeed = 0;
  pRows->nMost = nMost;
  aCut = sqpyteCutOf(pRows);
  first = (int)aCut[SQPYTE_CUT_FIRST];
  aOut[SQPYTE_ROWS_COUNT] = aOut[SQPYTE_ROWS_NEED] = 0;
  aOut[SQPYTE_ROWS_AT_CUT] = 1;
  aCells[SQPYTE_ROW_COLUMNS] = 0;
  rc = sqpyteEnded(pRows);
  if( rc ) return rc;
  if( !sqpyteRoom((void**)&pRows->aOpcode, &pRows->nOpcodeAlloc,
                  aSpec[SQPYTE_AHEAD_WATCHED] + aCut[SQPYTE_CUT_LATE], 1) ){
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
  if( nMost>0 && p->pFrame==0 && (aSpec[SQPYTE_AHEAD_UNDO]==0 || sqpyteNote(pRows)) ){
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
  rc = sqpyteUndo(pRows);
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

i64 sqpyte_take_accumulator(long mem){
  Mem *pMem = (Mem*)mem;
  i64 key = 0;
  if( pMem->flags & MEM_Agg ){
    key = *(i64*)pMem->z;
    pMem->flags = MEM_Null;
  }
  return key;
}
