/*
** One opcode of a statement that is run ahead, done now (see sqpyte_log_one in call_log.h): its operands are the caller's
** values, its result is the caller's. Included by call_log.c.
**
** The statement's own registers don't change: they are put aside before, and put back after.
*/

/* Has registers hold values that are the caller's (see sqpyte_log_one); theirs, and the result's, are put aside. */
static int sqpytePutAside(SqpyteLog *pLog, const i64 *aValue, int iResult){
  Vdbe *p = pLog->p;
  int n = (int)aValue[0];
  int i;
  if( !sqpyteRoom((void**)&pLog->aAside, &pLog->nAsideAlloc, n+1, sizeof(Mem)) ) return 0;
  for(i=0; i<=n; i++){
    Mem *pMem = &p->aMem[i<n ? aValue[1+3*i] : iResult];
    pLog->aAside[i] = *pMem;
    sqlite3VdbeMemInit(pMem, p->db, MEM_Null);
  }
  for(i=0; i<n; i++) sqpyteSetDatum(&p->aMem[aValue[1+3*i]], aValue + 2+3*i);
  return 1;
}

/* Puts them back; a statement that has ended has no registers any more. */
static void sqpytePutBack(SqpyteLog *pLog, const i64 *aValue, int iResult){
  Vdbe *p = pLog->p;
  int i;
  for(i=(int)aValue[0]; i>=0; i--){
    Mem *pMem = &p->aMem[i<aValue[0] ? aValue[1+3*i] : iResult];
    if( p->eVdbeState==VDBE_RUN_STATE ){
      sqlite3VdbeMemRelease(pMem);
      *pMem = pLog->aAside[i];
    }else{
      sqlite3VdbeMemRelease(&pLog->aAside[i]);
    }
  }
}

int sqpyte_log_one(long log, int pc, long cells, long values, int iResult){
  SqpyteLog *pLog = (SqpyteLog*)log;
  Vdbe *p = pLog->p;
  i64 *aCells = (i64*)cells;
  i64 *aValue = (i64*)values;
  int place = p->pc;
  int error = p->sqpyteError;
  int rc;
  p->sqpyteError = 0;
  if( aValue && !sqpytePutAside(pLog, aValue, iResult) ){
    aValue = 0;
    p->sqpyteError = SQLITE_NOMEM;
  }
  p->pc = pc;
  p->sqpyteStopPc = pc + 1;
  rc = sqpyte_step((sqlite3_stmt*)p, aCells);
  if( rc==SQLITE_ROW && aCells[SQPYTE_ROW_COLUMNS]==0 && aValue ){
    sqlite3VdbeMemRelease(&pLog->result);
    pLog->result = p->aMem[iResult];
    sqlite3VdbeMemInit(&p->aMem[iResult], p->db, MEM_Null);
    if( ExpandBlob(&pLog->result) ){
      p->sqpyteError = SQLITE_NOMEM;
      rc = sqpyte_step((sqlite3_stmt*)p, aCells);
    }
  }
  if( aValue ) sqpytePutBack(pLog, aValue, iResult);
  if( rc==SQLITE_ROW && aCells[SQPYTE_ROW_COLUMNS]==0 ){
    if( aValue ) sqpyteDatum(&pLog->result, aValue+1);    /* UTF-8, as the database is */
    p->pc = place;
    p->sqpyteError = error;
  }
  return rc;
}
