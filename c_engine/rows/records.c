/*
** The records of a call log (call_log.h): how values of registers get into the buffer, and what becomes of a record that
** can't be ended. Included by call_log.c.
*/

/* Notes a register as the next datum, at aTo, of a record whose words end at zEnd; 0 if there is no room, or upstream
** has to convert it. */
static int sqpyteNoteDatum(SqpyteLog *pLog, Mem *pMem, i64 *aTo, char *zEnd){
  i64 n;
  if( (pMem->flags & MEM_Zero) && sqlite3VdbeMemExpandBlob(pMem) ) return 0;
  if( !sqpyteDatum(pMem, aTo) ) return 0;
  n = SQPYTE_DATUM_SIZE(aTo);
  if( n ){
    if( pLog->zFree - zEnd<n ){
      pLog->nNeed = n;
      return 0;
    }
    pLog->zFree -= n;
    memcpy(pLog->zFree, SQPYTE_DATUM_BYTES(aTo), n);
    aTo[1] = (i64)(intptr_t)pLog->zFree;
  }
  return 1;
}

/* Begins a record; 0 if there is no room. */
static int sqpyteBeginRecord(SqpyteLog *pLog, int nEntry){
  const i64 *aSpec = pLog->aSpec;
  i64 nStride = aSpec[SQPYTE_AHEAD_STRIDE];
  i64 n = nStride ? nStride : 2 + 2*nEntry;
  if( pLog->nRecord==pLog->nMost ) return 0;
  if( pLog->zFree - (char*)pLog->aNext<n*(i64)sizeof(i64) ){
    pLog->nNeed = n*sizeof(i64);
    return 0;
  }
  pLog->aRecord = pLog->aNext;
  pLog->nValue = 0;
  if( nStride ){
    if( aSpec[SQPYTE_AHEAD_SINK] ) pLog->aRecord[sqpyteSinkOf(pLog)[SQPYTE_SINK_WANTED]] = 0;
    pLog->aNext += nStride;
  }
  pLog->bInRecord = 1;
  return 1;
}

/* Takes the present record back, of which nothing has been done yet. */
static void sqpyteCancelRecord(SqpyteLog *pLog){
  pLog->aNext = pLog->aRecord;
  pLog->bInRecord = 0;
}

/* Notes a row of nColumn registers as a record; 0 if there is no room, or upstream has to convert one. One loop for what
** is most of a row batch's time: 10 ns a row less than by the functions around. */
static int sqpyteNoteRow(SqpyteLog *pLog, const Mem *pMem, int nColumn){
  i64 *aTo = pLog->aNext;
  i64 *aEnd = aTo + 2*nColumn;
  char *zFree = pLog->zFree;
  if( (char*)aEnd>zFree ) return 0;
  for(; aTo<aEnd; aTo+=2, pMem++){
    i64 n;
    if( !sqpyteDatum(pMem, aTo) ) return 0;
    n = SQPYTE_DATUM_SIZE(aTo);
    if( n ){
      if( zFree - (char*)aEnd<n ) return 0;
      zFree -= n;
      memcpy(zFree, SQPYTE_DATUM_BYTES(aTo), n);
      aTo[1] = (i64)(intptr_t)zFree;
    }
  }
  pLog->aRecord = pLog->aNext;
  pLog->aNext = aEnd;
  pLog->zFree = zFree;
  pLog->nRecord++;
  return 1;
}

/* Ends the present record. */
static void sqpyteEndRecord(SqpyteLog *pLog){
  pLog->nRecord++;
  pLog->bInRecord = 0;
}

/* Notes an event of a numbered log; 0 if there is no room. */
static int sqpyteNumberedEvent(SqpyteLog *pLog, const i64 *aEntry){
  int n = (int)aEntry[SQPYTE_ENTRY_COUNT];
  i64 *aEvent, *aEnd;
  int i;
  int bNew = !pLog->bInRecord;
  if( bNew && !sqpyteBeginRecord(pLog, n) ) return 0;
  aEvent = pLog->aNext;
  aEnd = aEvent + 1 + 2*n;
  if( pLog->zFree<(char*)(aEnd+1) ){
    pLog->nNeed = (2 + 2*n)*sizeof(i64);
    return 0;
  }
  aEvent[0] = aEntry[SQPYTE_ENTRY_NUMBER];
  for(i=0; i<n; i++){
    Mem *pMem = &pLog->p->aMem[aEntry[SQPYTE_ENTRY_REGISTERS+i]];
    if( !sqpyteNoteDatum(pLog, pMem, aEvent+1+2*i, (char*)(aEnd+1)) ){
      if( bNew ) sqpyteCancelRecord(pLog);
      return 0;
    }
  }
  pLog->aNext = aEnd;
  return 1;
}

/* Notes the values of an entry of a plain log; 0 if there is no room, or no record that it belongs to. */
static int sqpytePlainEvent(SqpyteLog *pLog, const i64 *aEntry){
  int i;
  if( (aEntry[SQPYTE_ENTRY_KIND] & SQPYTE_FLAG_BEGIN)==0 ){
    if( !pLog->bInRecord ) return 0;
  }else if( pLog->bInRecord || !sqpyteBeginRecord(pLog, 0) ){
    return 0;
  }
  for(i=0; i<aEntry[SQPYTE_ENTRY_COUNT]; i++){
    Mem *pMem = &pLog->p->aMem[aEntry[SQPYTE_ENTRY_REGISTERS+i]];
    if( !sqpyteNoteDatum(pLog, pMem, pLog->aRecord + 2*pLog->nValue, (char*)pLog->aNext) ){
      if( aEntry[SQPYTE_ENTRY_KIND] & SQPYTE_FLAG_BEGIN ) sqpyteCancelRecord(pLog);
      return 0;
    }
    pLog->nValue++;
  }
  return 1;
}

/* Puts the registers that were noted at a plain record's first opcode back: the record is done again from there on. */
static void sqpyteRecordAgain(SqpyteLog *pLog){
  Vdbe *p = pLog->p;
  int pc = (int)pLog->aSpec[SQPYTE_AHEAD_FIRST];
  const i64 *aEntry;
  int rc = SQLITE_OK;
  int i;
  while( (aEntry = sqpyteEntry(pLog, pc))==0 || !sqpyteBegins(aEntry) ) pc++;
  for(i=0; i<aEntry[SQPYTE_ENTRY_COUNT] && i<pLog->nValue && rc==SQLITE_OK; i++){
    Mem *pMem = &p->aMem[aEntry[SQPYTE_ENTRY_REGISTERS+i]];
    sqpyteSetDatum(pMem, pLog->aRecord + 2*i);
    if( pMem->flags & MEM_Ephem ) rc = sqlite3VdbeMemMakeWriteable(pMem);
  }
  sqpyteCancelRecord(pLog);
  p->pc = pc;
  p->sqpyteError = rc;
  sqlite3DbFree(p->db, p->zErrMsg);
  p->zErrMsg = 0;
}
