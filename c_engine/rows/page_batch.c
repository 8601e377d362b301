/*
** Page batches (see page_batch.h). Compiled as the tail of engine.c, after fused.c.
*/
#include "rows/page_batch.h"

/* Words of a row: its datums, and its rowid. */
#define SQPYTE_BATCH_STRIDE(nValue) (2*(nValue) + 1)

/* What of a page the texts and blobs of a batch take: it is copied. */
struct SqpyteSpan {
  const u8 *pFirst, *pEnd;
};

/* Decodes the record of nPayload bytes, of which nLocal are at a, into the
** row at aRow. Returns 0 if upstream has to do it. */
static int sqpyteRecord(
  const u8 *a,
  u32 nPayload,
  u32 nLocal,
  i64 iKey,
  i64 iCopy,                  /* from a byte of the page to its copy */
  const i64 *aSpec,
  int nValue,
  i64 *aDatum,
  struct SqpyteSpan *pSpan    /* grows by the texts and blobs */
){
  u64 offset;                 /* of the content of column iCol */
  u32 nHdr = a[0];            /* size of the header */
  const u8 *zHdr;
  const u8 *zEnd;
  int iCol = 0;
  int i;
  if( nHdr<0x80 ){
    zHdr = a + 1;
  }else{
    zHdr = a + sqlite3GetVarint32(a, &nHdr);
  }
  /* Upstream tolerates an empty header, and reads past it. */
  if( nHdr<2 || nHdr>nLocal ) return 0;
  zEnd = a + nHdr;
  offset = nHdr;
  for(i=0; i<nValue; i++, aDatum+=2){
    i64 spec = aSpec[i];
    int iWanted = (int)(spec & 0xffff);
    u32 t, n;
    u64 end;
    const u8 *z;
    if( iWanted==SQPYTE_ROWID ){
      aDatum[0] = SQLITE_INTEGER;
      aDatum[1] = iKey;
      continue;
    }
    while( iCol<iWanted && zHdr<zEnd ){
      if( (t = zHdr[0])<0x80 ){
        zHdr++;
        offset += sqlite3SmallTypeSizes[t];
      }else{
        zHdr += sqlite3GetVarint32(zHdr, &t);
        offset += sqlite3VdbeSerialTypeLen(t);
      }
      iCol++;
    }
    if( zHdr>=zEnd ){
      /* The record ends before this column. */
      if( zHdr>zEnd || offset!=nPayload ) return 0;
      aDatum[0] = SQPYTE_MISSING;
      continue;
    }
    if( (t = zHdr[0])<0x80 ){
      zHdr++;
      n = sqlite3SmallTypeSizes[t];
    }else{
      zHdr += sqlite3GetVarint32(zHdr, &t);
      n = sqlite3VdbeSerialTypeLen(t);
    }
    end = offset + n;
    if( end>nLocal
     || (zHdr>=zEnd && (zHdr>zEnd || end!=nPayload))
    ){
      return 0;
    }
    z = a + offset;
    offset = end;
    iCol++;
    if( t>=12 ){
      aDatum[0] = SQPYTE_TAG((t & 1) ? SQLITE_TEXT : SQLITE_BLOB, n);
      aDatum[1] = (i64)(intptr_t)z + iCopy;
      if( z<pSpan->pFirst ) pSpan->pFirst = z;
      if( z+n>pSpan->pEnd ) pSpan->pEnd = z+n;
    }else{
      i64 v;
      switch( t ){
        case 1: v = ONE_BYTE_INT(z); break;
        case 2: v = TWO_BYTE_INT(z); break;
        case 3: v = THREE_BYTE_INT(z); break;
        case 4: v = FOUR_BYTE_INT(z); break;
        case 5: v = SIX_BYTE_INT(z); break;
        case 6: v = (i64)sqlite3Get8byte(z); break;
        case 8: v = 0; break;
        case 9: v = 1; break;
        case 7: {
          u64 x = sqlite3Get8byte(z);
          swapMixedEndianFloat(x);
          aDatum[0] = IsNaN(x) ? SQLITE_NULL : SQLITE_FLOAT;
          aDatum[1] = (i64)x;
          continue;
        }
        case 10: return 0;          /* upstream's internal use only */
        default:
          aDatum[0] = SQLITE_NULL;
          continue;
      }
      if( spec & SQPYTE_AS_REAL ){
        double r = (double)v;
        aDatum[0] = SQLITE_FLOAT;
        memcpy(&aDatum[1], &r, sizeof(r));
      }else{
        aDatum[0] = SQLITE_INTEGER;
        aDatum[1] = v;
      }
    }
  }
  return 1;
}

/* Notes the rowids of the n rows of a batch. They grow from cell to cell, so most often they are consecutive, as
** the first and the last tell; the others are decoded if they aren't. Decoding all made scans 4 % slower. */
static void sqpyteRowids(MemPage *pPage, int ix, int n, const i64 *aSpec, i64 *aOut){
  int nStride = SQPYTE_BATCH_STRIDE((int)aSpec[SQPYTE_SPEC_COUNT]);
  u64 aKey[2];
  u32 nPayload;
  int i;
  for(i=0; i<2; i++){
    const u8 *p = findCell(pPage, i ? ix+n-1 : ix);
    p += getVarint32(p, nPayload);
    sqlite3GetVarint(p, &aKey[i]);
  }
  aOut[SQPYTE_BATCH_ROWID] = (i64)aKey[0];
  aOut[SQPYTE_BATCH_CONSECUTIVE] = aKey[1]-aKey[0]==(u64)(n-1);
  if( !aOut[SQPYTE_BATCH_CONSECUTIVE] ){
    i64 *aRow = aOut + SQPYTE_BATCH_HEAD + nStride - 1;
    for(i=0; i<n; i++, aRow+=nStride){
      const u8 *p = findCell(pPage, ix+i);
      p += getVarint32(p, nPayload);
      sqlite3GetVarint(p, (u64*)aRow);
    }
  }
}

/* The rows of the leaf page from the cell ix on; how many it could do. */
static int sqpyteBatchPage(
  MemPage *pPage,
  int ix,
  const i64 *aSpec,
  i64 *aOut
){
  int nValue = (int)aSpec[SQPYTE_SPEC_COUNT];
  int nMost = (int)aSpec[SQPYTE_SPEC_ROWS];
  int nStride = SQPYTE_BATCH_STRIDE(nValue);
  int bRowid = nValue>0
      && (aSpec[SQPYTE_SPEC_HEAD+nValue-1] & 0xffff)==SQPYTE_ROWID;
  int nDone = 0;
  struct SqpyteSpan span;
  const u8 *aEnd = pPage->aDataEnd;
  const u8 *pBase = pPage->aData;
  i64 iCopy = aOut[SQPYTE_BATCH_COPY] - (i64)(intptr_t)pBase;
  const u8 *aIdx = pPage->aCellIdx + 2*ix;
  i64 *aRow = aOut + SQPYTE_BATCH_HEAD;
  int nCell = pPage->nCell;
  span.pFirst = pPage->aDataEnd;
  span.pEnd = pBase;
  aOut[SQPYTE_BATCH_FIRST] = ix;
  for(; ix<nCell && nDone<nMost; ix++, nDone++, aRow+=nStride, aIdx+=2){
    const u8 *p = pBase + (pPage->maskPage & get2byteAligned(aIdx));
    u32 nPayload;
    u32 nLocal;
    u64 iKey = 0;
    if( p+4>aEnd ) break;     /* the smallest cell takes four bytes */
    /* The page has just been read: its content is far from the CPU. */
    __builtin_prefetch(pBase + (pPage->maskPage & get2byteAligned(&aIdx[4])));
    if( (nPayload = *p)<0x80 ){
      p++;
    }else if( p[1]<0x80 ){
      nPayload = (nPayload & 0x7f)<<7 | p[1];
      p += 2;
    }else{
      p += sqlite3GetVarint32(p, &nPayload);
      if( nPayload>0x7fffffff ) break;
    }
    if( bRowid ){
      p += sqlite3GetVarint(p, &iKey);
    }else{
      const u8 *pLast = p + 8;
      while( *p>=0x80 && p<pLast ) p++;
      p++;
    }
    nLocal = nPayload;
    if( nPayload>pPage->maxLocal ){
      nLocal = (u32)btreePayloadToLocal(pPage, nPayload);
    }
    if( p+nLocal>aEnd || nLocal==0 ) break;
    if( !sqpyteRecord(p, nPayload, nLocal, (i64)iKey, iCopy,
                      aSpec+SQPYTE_SPEC_HEAD, nValue, aRow, &span) ) break;
  }
  if( span.pFirst<span.pEnd ){
    memcpy((u8*)(intptr_t)aOut[SQPYTE_BATCH_COPY] + (span.pFirst-pBase), span.pFirst, span.pEnd-span.pFirst);
  }
  return nDone;
}

static void sqpyteSeek(VdbeCursor *pC, int ix){
  BtCursor *pCur = pC->uc.pCursor;
  pCur->ix = (u16)ix;
  pCur->info.nSize = 0;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl);
  pC->cacheStatus = CACHE_STALE;
}

void sqpyte_batch_seek(long pVdbeCursor, int ix, sqlite3_int64 rowid){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  BtCursor *pCur = pC->uc.pCursor;
  if( pCur->eState==CURSOR_VALID ){
    sqpyteSeek(pC, ix);
  }else if( pCur->eState==CURSOR_REQUIRESEEK ){
    pCur->nKey = rowid;
    pCur->skipNext = 0;
    pC->cacheStatus = CACHE_STALE;
  }
}

int sqpyte_page_size(long pVdbeCursor){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  return pC->eCurType==CURTYPE_BTREE ? (int)pC->uc.pCursor->pBt->pageSize : 0;
}

int sqpyte_batch(long pVdbeCursor, long aSpec, long aOut, int iNext){
  VdbeCursor *pC = (VdbeCursor*)pVdbeCursor;
  BtCursor *pCur = pC->uc.pCursor;
  sqlite3 *db;
  int rc = 0;
  if( pC->eCurType!=CURTYPE_BTREE ) return 0;
  SQPYTE_COUNT(PAGE_BATCHES);
  db = pCur->pBtree->db;
  sqlite3_mutex_enter(db->mutex);
  if( pCur->eState!=CURSOR_VALID || pC->nullRow || pC->deferredMoveto
   || !pCur->pPage->intKeyLeaf || pCur->pBtree->sharable || !sqpyteMayRunAhead(db)
   || db->aLimit[SQLITE_LIMIT_LENGTH]<SQPYTE_LEAST_LENGTH
  ){
    rc = iNext ? SQPYTE_BATCH_STALE : 0;
  }else{
    ((i64*)aOut)[SQPYTE_BATCH_STAMP] = db->nSqpyteStamp;
    if( iNext ){
      sqpyteSeek(pC, iNext-1);
      rc = sqlite3BtreeNext(pCur, 0);
    }
    if( rc==SQLITE_DONE ){
      pC->cacheStatus = CACHE_STALE;
      pC->nullRow = 1;
      rc = -1;
    }else if( rc!=SQLITE_OK ){
      rc = -rc;
    }else if( iNext && AtomicLoad(&db->u1.isInterrupted) ){     /* as Next does */
      rc = -SQLITE_INTERRUPT;
    }else{
      int ix = pCur->ix;
      rc = sqpyteBatchPage(pCur->pPage, ix, (const i64*)aSpec, (i64*)aOut);
      if( rc>0 ) sqpyteRowids(pCur->pPage, ix, rc, (const i64*)aSpec, (i64*)aOut);
      if( SQPYTE_READS_FAILED(db) ) rc = -SQLITE_IOERR_READ;
    }
  }
  sqlite3_mutex_leave(db->mutex);
  return rc;
}

long sqpyte_python_collation(long pColl){
  CollSeq *p = (CollSeq*)pColl;
  return p && p->xCmp==sqpyteCompare ? (long)p->pUser : 0;
}

long sqpyte_python_function(long pFuncDef){
  FuncDef *p = (FuncDef*)pFuncDef;
  if( p->xSFunc==sqpyteFunctionCall || p->xSFunc==sqpyteStepCall ){
    return (long)p->pUserData;
  }
  return 0;
}

/* Whether an opcode calls a function in the caller's language. */
static int sqpyteCallsPython(const Op *pOp){
  if( !SQPYTE_IS(pOp->opcode, CALLS) ) return 0;
  if( pOp->p4type==P4_FUNCDEF ) return sqpyte_python_function((long)pOp->p4.pFunc)!=0;
  return pOp->p4type==P4_FUNCCTX && sqpyte_python_function((long)pOp->p4.pCtx->pFunc)!=0;
}

/* Whether the Next, Prev or SorterNext at pc is the end of a loop with no loop
** inside it, and what kind: SQPYTE_LOOP_*. */
static int sqpyteScan(Vdbe *p, int pc){
  Op *aOp = p->aOp;
  int head = aOp[pc].p2;
  int found = 0;
  int bCalls = 0;
  int bSorts = SQPYTE_IS(aOp[pc].opcode, STEP_SORTER);
  int i;
  for(i=head; i<pc; i++){
    const Op *pOp = &aOp[i];
    if( pOp->opcode==OP_ResultRow ) found |= SQPYTE_LOOP_ROWS;
    if( pOp->opcode==OP_SorterInsert ) bSorts = 1;
    if( SQPYTE_ENDS_LOOP(pOp->opcode) || pOp->opcode==OP_Yield ) return 0;
    if( pOp->p4type==P4_COLLSEQ && (sqlite3OpcodeProperty[pOp->opcode] & OPFLG_JUMP)
     && sqpyte_python_collation((long)pOp->p4.pColl)
    ){
      bCalls = 1;
      found |= SQPYTE_LOOP_PYTHON;
    }else if( sqpyteCallsPython(pOp) ){
      bCalls = 1;
    }else if( bCalls && (sqlite3OpcodeProperty[pOp->opcode] & OPFLG_JUMP)
           && (pOp->p2>=pc || pOp->p2<head) ){
      found |= SQPYTE_LOOP_PYTHON;    /* the call may reject the row */
    }
  }
  if( bCalls && (found & SQPYTE_LOOP_ROWS)==0 ){
    found |= SQPYTE_LOOP_PYTHON;
    if( bSorts ) found |= SQPYTE_LOOP_SORTS;
  }
  return found;
}

int sqpyte_loops(long pStmt){
  Vdbe *p = (Vdbe*)pStmt;
  int found = 0;
  int pc;
  if( p==0 || p->explain ) return 0;
  for(pc=0; pc<p->nOp; pc++){
    int opcode = p->aOp[pc].opcode;
    if( (SQPYTE_IS(opcode, STEP_BTREE) || SQPYTE_IS(opcode, STEP_SORTER)) && p->aOp[pc].p2<pc ){
      found |= sqpyteScan(p, pc);
    }else if( opcode==OP_AggValue && p->aOp[pc].p4type==P4_FUNCDEF
           && sqpyte_python_function((long)p->aOp[pc].p4.pFunc) ){
      found |= SQPYTE_LOOP_PYTHON;    /* a window function */
    }
  }
  if( !sqpyteOneRow(p) ) found |= SQPYTE_LOOP_MORE;
  return found;
}

void sqpyte_raise(long pVdbe, int pc, int rc, const char *zMessage){
  Vdbe *p = (Vdbe*)pVdbe;
  sqlite3VdbeError(p, "%s", zMessage);
  p->pc = pc;
  p->sqpyteError = rc;
}

int sqpyte_accumulator(long pMem, long pFuncDef, i64 key){
  sqlite3_context ctx;
  i64 *pKey;
  memset(&ctx, 0, sizeof(ctx));
  ctx.pMem = (Mem*)pMem;
  ctx.pFunc = (FuncDef*)pFuncDef;
  if( ctx.pMem->flags & MEM_Agg ) return SQLITE_MISUSE;
  pKey = createAggContext(&ctx, sizeof(*pKey));
  if( pKey==0 ) return SQLITE_NOMEM;
  *pKey = key;
  return SQLITE_OK;
}
