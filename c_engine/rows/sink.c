/*
** The sink of a slice (see call_log.h): its last opcodes, done for many records in one call. Included by call_log.c.
**
** The sink touches only the statement's own sorters, temporary tables and registers. The statement itself is ahead, so
** the registers that the sink changes are put aside before, and put back after.
*/

static const i64 *sqpyteSinkOf(const SqpyteLog *pLog){
  return pLog->aSpec + pLog->aSpec[SQPYTE_AHEAD_SINK];
}

/* How many opcodes may be patched. */
static i64 sqpyteMostPatched(const SqpyteLog *pLog){
  const i64 *aSpec = pLog->aSpec;
  i64 n = aSpec[SQPYTE_AHEAD_LAST] - aSpec[SQPYTE_AHEAD_FIRST] + 1;
  return aSpec[SQPYTE_AHEAD_SINK] ? n + sqpyteSinkOf(pLog)[SQPYTE_SINK_EAGER] + 1 : n;
}

/* The register number i of those that the sink changes. */
static Mem *sqpyteSinkRegister(SqpyteLog *pLog, int i){
  const i64 *aSink = sqpyteSinkOf(pLog);
  const i64 *a = aSink + SQPYTE_SINK_LISTS;
  int n = (int)aSink[SQPYTE_SINK_VALUES];
  return &pLog->p->aMem[i<n ? a[3*i] : a[2*n+i]];
}

/* Has registers hold the values of the present record that they have behind the eager opcode at pc, 0 for the sink's
** beginning; returns how many. Without bSet it only counts them. */
static int sqpyteSinkValues(SqpyteLog *pLog, int pc, int bSet){
  const i64 *aSink = sqpyteSinkOf(pLog);
  const i64 *a = aSink + SQPYTE_SINK_LISTS;
  const i64 *aEnd = a + 3*aSink[SQPYTE_SINK_VALUES];
  int n = 0;
  for(; a<aEnd; a+=3){
    if( a[2]!=pc ) continue;
    if( bSet ) sqpyteSetDatum(&pLog->p->aMem[a[0]], pLog->aSinkRecord + a[1]);
    n++;
  }
  return n;
}

/* The same as sqpyteLogPatch(), for running the sink. */
static void sqpyteSinkPatch(SqpyteLog *pLog, int bPut){
  const i64 *aSink = sqpyteSinkOf(pLog);
  const i64 *aEager = aSink + SQPYTE_SINK_LISTS + 3*aSink[SQPYTE_SINK_VALUES] + aSink[SQPYTE_SINK_WRITTEN];
  int n = (int)aSink[SQPYTE_SINK_EAGER];
  int i;
  for(i=0; i<=n; i++){
    int pc = (int)(i<n ? aEager[i] : aSink[SQPYTE_SINK_END]);
    Op *pOp = &pLog->p->aOp[pc];
    if( bPut ){
      pLog->aOpcode[i] = pOp->opcode;
      pOp->opcode = i<n && !sqpyteSinkValues(pLog, pc, 0) ? OP_Noop : SQPYTE_OP_WATCHED;
    }else{
      pOp->opcode = pLog->aOpcode[i];
    }
  }
}

/* What sqpyteWatched() does while the sink runs: at its end, to the next record that it is to be done for. */
static int sqpyteSinkWatched(SqpyteLog *pLog, int pc){
  const i64 *aSink = sqpyteSinkOf(pLog);
  if( pc!=aSink[SQPYTE_SINK_END] ){
    sqpyteSinkValues(pLog, pc, 1);
    return pc+1;
  }
  do{
    if( pLog->iRecord>=pLog->iEnd ) return -1 - pc;
    pLog->aSinkRecord = pLog->aOut + SQPYTE_LOG_RECORDS + pLog->iRecord++*pLog->aSpec[SQPYTE_AHEAD_STRIDE];
  }while( pLog->aSinkRecord[aSink[SQPYTE_SINK_WANTED]]==0 );
  sqpyteSinkValues(pLog, 0, 1);
  return (int)aSink[SQPYTE_SINK_PC];
}

static int sqpyteLogRun(SqpyteLog*, int, i64*);

int sqpyte_log_sink(long log, int iFrom, int iTo){
  SqpyteLog *pLog = (SqpyteLog*)log;
  Vdbe *p = pLog->p;
  const i64 *aSink = sqpyteSinkOf(pLog);
  int n = (int)(aSink[SQPYTE_SINK_VALUES] + aSink[SQPYTE_SINK_WRITTEN]);
  int place = p->pc;
  int error = p->sqpyteError;
  int compare = p->sqpyteCompare;
  int rc = SQLITE_OK;
  int i;
  SQPYTE_COUNT(SINKS);
  if( p->eVdbeState!=VDBE_RUN_STATE ) return SQLITE_MISUSE;
  if( !sqpyteRoom((void**)&pLog->aAside, &pLog->nAsideAlloc, n, sizeof(Mem)) ) return SQLITE_NOMEM;
  sqlite3_mutex_enter(p->db->mutex);
  for(i=0; i<n; i++){
    Mem *pMem = sqpyteSinkRegister(pLog, i);
    pLog->aAside[i] = *pMem;
    sqlite3VdbeMemInit(pMem, p->db, MEM_Null);
  }
  pLog->iRecord = iFrom;
  pLog->iEnd = iTo;
  i = sqpyteSinkWatched(pLog, (int)aSink[SQPYTE_SINK_END]);
  if( i>=0 ){
    p->sqpyteError = 0;
    p->pc = i;
    rc = sqpyteLogRun(pLog, SQPYTE_RUN_SINK, 0);
    if( rc==SQLITE_ROW ){
      rc = p->sqpyteError;
      p->pc = place;
      p->sqpyteError = error;
      p->sqpyteCompare = compare;
    }else{
      pLog->rc = rc;          /* out of memory: the statement has ended */
    }
  }
  for(i=n-1; i>=0; i--){
    Mem *pMem = sqpyteSinkRegister(pLog, i);
    sqlite3VdbeMemRelease(pMem);
    *pMem = pLog->aAside[i];
  }
  sqlite3_mutex_leave(p->db->mutex);
  return rc;
}
