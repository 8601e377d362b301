/*
** How much of a loop is left, for the inliner of the PyPy module, which takes
** it over if that is enough (pypy_module/inline/policy.py); contract in page_batch.h.
** Compiled as the tail of engine.c, after page_batch.c.
**
** It is read from the B-trees' cursors (cardinality.h).
*/

/* About how many entries lie behind the place of a cursor; 0 if that can't be
** told. */
static i64 sqpyteEntriesLeft(const Vdbe *p, int iCursor){
  const VdbeCursor *pC = iCursor<p->nCursor ? p->apCsr[iCursor] : 0;
  i64 nBefore;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || SQPYTE_OFF(CARDINALITY) ) return 0;
  SQPYTE_COUNT(CARDINALITY);
  if( pC->uc.pCursor->eState!=CURSOR_VALID ) return 0;
  return sqpyteEntries(pC->uc.pCursor, &nBefore) - nBefore;
}

/* Whether a loop may be left before the last row other than by LIMIT or because
** an inner one's table is empty: it scans a range. */
static int sqpyteEndsEarly(const Vdbe *p, int end){
  int i;
  for(i=p->aOp[end].p2; i<end; i++){
    const Op *pOp = &p->aOp[i];
    switch( pOp->opcode ){
      case OP_DecrJumpZero: case OP_Rewind: case OP_Last: break;
      default:
        if( (sqlite3OpcodeProperty[pOp->opcode] & OPFLG_JUMP) && pOp->p2>end ) return 1;
    }
  }
  return 0;
}

i64 sqpyte_rows_left(long pStmt){
  const Vdbe *p = (const Vdbe*)pStmt;
  i64 nFound = 0;
  i64 nMost = -1;
  int i;
  for(i=p->pc; i<p->nOp; i++){
    const Op *pOp = &p->aOp[i];
    if( pOp->opcode==OP_DecrJumpZero && nMost<0 ){      /* LIMIT */
      nMost = p->aMem[pOp->p1].u.i;
    }else if( SQPYTE_ENDS_LOOP(pOp->opcode) && pOp->p2<=p->pc ){
      nFound = 0;
      if( pOp->opcode==OP_Next && !sqpyteEndsEarly(p, i) ) nFound = sqpyteEntriesLeft(p, pOp->p1);
    }
  }
  return nMost>=0 && nMost<nFound ? nMost : nFound;
}

/* The pc at which the first loop begins; -1 if that isn't a scan. */
static int sqpyteFirstHead(const Vdbe *p){
  int i;
  for(i=0; i<p->nOp; i++){
    if( SQPYTE_ENDS_LOOP(p->aOp[i].opcode) ) return p->aOp[i].opcode==OP_Next ? p->aOp[i].p2 : -1;
  }
  return -1;
}

int sqpyte_begin(sqlite3_stmt *pStmt, i64 *aOut, i64 nLeast){
  Vdbe *p = (Vdbe*)pStmt;
  int head = sqpyteFirstHead(p);
  i64 nLeft;
  int rc;
  aOut[SQPYTE_ROW_COUNT] = -1;
  if( head<0 ) return sqpyte_step(pStmt, aOut);
  p->sqpyteStopPc = head;
  rc = sqpyte_step(pStmt, aOut);
  if( rc!=SQLITE_ROW || aOut[SQPYTE_ROW_COLUMNS] ){
    aOut[SQPYTE_ROW_COUNT] = 0;
    return rc;
  }
  nLeft = sqpyte_rows_left((long)p);
  aOut[SQPYTE_ROW_COUNT] = nLeft;
  if( nLeft ? nLeft>=nLeast : nLeast<=0 ) return rc;
  return sqpyte_step(pStmt, aOut);
}
