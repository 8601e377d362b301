/*
** Fused calls (see fused.h). Compiled as the tail of engine.c, so the result
** row is read from its registers directly: a row of three integers costs one
** call instead of seven, and no mutex beyond the one that sqlite3_step() takes.
**
** An empty text or blob is given the address of "", never NULL.
*/
#include "rows/fused.h"
#include "rows/datum.h"

int sqpyte_fused_version(void){ return SQPYTE_FUSED_VERSION; }

/* Stores column i, which has to be converted: a text in UTF-16, a blob with zeros. */
static int sqpyteColumn(sqlite3_stmt *pStmt, int i, sqlite3_int64 *aCell){
  int eType = sqlite3_column_type(pStmt, i);
  const void *z = eType==SQLITE_TEXT ? (const void*)sqlite3_column_text(pStmt, i) : sqlite3_column_blob(pStmt, i);
  int n = sqlite3_column_bytes(pStmt, i);
  if( z==0 && sqlite3_errcode(sqlite3_db_handle(pStmt))==SQLITE_NOMEM ) return SQLITE_NOMEM;
  aCell[0] = SQPYTE_TAG(eType, n);
  aCell[1] = (sqlite3_int64)(intptr_t)(n ? z : "");
  return SQLITE_OK;
}

/* The present row into aOut. SQLITE_ROW, SQPYTE_GROW or SQLITE_NOMEM. */
int sqpyte_row(sqlite3_stmt *pStmt, sqlite3_int64 *aOut){
  Vdbe *p = (Vdbe*)pStmt;
  Mem *pMem = p->pResultRow;
  int n = pMem ? p->nResColumn : 0;
  sqlite3_int64 *aCell = aOut + SQPYTE_ROW_CELLS;
  int i;
  aOut[SQPYTE_ROW_COLUMNS] = n;
  aOut[SQPYTE_ROW_REPREPARES] = p->aCounter[SQLITE_STMTSTATUS_REPREPARE];
  aOut[SQPYTE_ROW_ROWID] = p->db->lastRowid;
  if( SQPYTE_ROW_CELLS + 2*n > aOut[SQPYTE_ROW_CAPACITY] ) return SQPYTE_GROW;
  for(i=0; i<n; i++, pMem++, aCell+=2){
    if( !sqpyteDatum(pMem, aCell) && sqpyteColumn(pStmt, i, aCell) ) return SQLITE_NOMEM;
  }
  return SQLITE_ROW;
}

/* Steps, stores a row, resets a statement that is done. */
int sqpyte_step(sqlite3_stmt *pStmt, sqlite3_int64 *aOut){
  int rc = sqlite3_step(pStmt);
  if( rc==SQLITE_ROW ) return sqpyte_row(pStmt, aOut);
  if( rc==SQLITE_DONE ){
    sqlite3 *db = ((Vdbe*)pStmt)->db;
    aOut[SQPYTE_ROW_COLUMNS] = 0;
    aOut[SQPYTE_ROW_REPREPARES] =
        ((Vdbe*)pStmt)->aCounter[SQLITE_STMTSTATUS_REPREPARE];
    aOut[SQPYTE_ROW_CHANGES] = db->nChange;
    aOut[SQPYTE_ROW_ROWID] = db->lastRowid;
    sqlite3_reset(pStmt);
  }
  return rc;
}

/* Binds without a call and a mutex for each value, a fifth of an INSERT's time.
** Returns 0 where sqlite3_bind_...() has to do it, all of it: a statement that
** runs, one whose plan depends on its parameters, UTF-16, a value too large. */
static int sqpyteBindDirectly(Vdbe *p, sqlite3_int64 *aIn, const char *zText){
  sqlite3 *db = p->db;
  int rc = 1;
  int i;
  sqlite3_mutex_enter(db->mutex);
  if( p->eVdbeState!=VDBE_READY_STATE || p->expmask || ENC(db)!=SQLITE_UTF8 ){
    rc = 0;
  }
  for(i=0; rc && i<p->nVar; i++, aIn+=2){
    Mem *pVar = &p->aVar[i];
    int eType = (int)(aIn[0] & 7);
    if( VdbeMemDynamic(pVar) ) sqlite3VdbeMemRelease(pVar);
    pVar->flags = MEM_Null;
    switch( eType ){
      case SQLITE_INTEGER:
        pVar->u.i = aIn[1];
        pVar->flags = MEM_Int;
        break;
      case SQLITE_FLOAT: {
        double r;
        memcpy(&r, &aIn[1], sizeof(r));
        if( r==r ){     /* NaN is NULL */
          pVar->u.r = r;
          pVar->flags = MEM_Real;
        }
        break;
      }
      case SQLITE_TEXT:
      case SQLITE_BLOB:
        if( (aIn[0]>>3)>db->aLimit[SQLITE_LIMIT_LENGTH] || zText==0 ){
          rc = 0;
          break;
        }
        pVar->z = (char*)zText + aIn[1];
        pVar->n = (int)(aIn[0]>>3);
        pVar->enc = SQLITE_UTF8;
        pVar->xDel = SQLITE_STATIC;
        pVar->flags = MEM_Static | (eType==SQLITE_TEXT ? MEM_Str : MEM_Blob);
        break;
    }
  }
  if( rc ) db->errCode = SQLITE_OK;
  sqlite3_mutex_leave(db->mutex);
  return rc;
}

int sqpyte_bind(sqlite3_stmt *pStmt, sqlite3_int64 *aIn, const char *zText){
  int n = ((Vdbe*)pStmt)->nVar;
  int rc = SQLITE_OK;
  int i;
  if( n==0 || sqpyteBindDirectly((Vdbe*)pStmt, aIn, zText) ) return SQLITE_OK;
  for(i=1; i<=n && rc==SQLITE_OK; i++, aIn+=2){
    switch( (int)(aIn[0] & 7) ){
      case SQLITE_INTEGER:
        rc = sqlite3_bind_int64(pStmt, i, aIn[1]);
        break;
      case SQLITE_FLOAT: {
        double r;
        memcpy(&r, &aIn[1], sizeof(r));
        rc = sqlite3_bind_double(pStmt, i, r);
        break;
      }
      case SQLITE_TEXT:
        rc = sqlite3_bind_text(pStmt, i, zText + aIn[1], (int)(aIn[0]>>3),
                               SQLITE_STATIC);
        break;
      case SQLITE_BLOB:
        rc = sqlite3_bind_blob(pStmt, i, zText + aIn[1], (int)(aIn[0]>>3),
                               SQLITE_STATIC);
        break;
      default:
        rc = sqlite3_bind_null(pStmt, i);
    }
  }
  return rc;
}

/* Ends a statement whose only row is in aOut: its texts and blobs move to the
** buffer's tail, because the reset frees them. Leaves it as it is if they
** don't fit there. */
static int sqpyteFinish(sqlite3_stmt *pStmt, sqlite3_int64 *aOut){
  int n = (int)aOut[SQPYTE_ROW_COLUMNS];
  sqlite3_int64 *aCell = aOut + SQPYTE_ROW_CELLS;
  char *zTail = (char*)(aCell + 2*n);
  sqlite3_int64 nFree = (char*)(aOut + aOut[SQPYTE_ROW_CAPACITY]) - zTail;
  int rc;
  int i;
  for(i=0; i<n; i++){
    nFree -= aCell[2*i]>>3;
  }
  if( nFree<0 ) return SQLITE_ROW;
  for(i=0; i<n; i++, aCell+=2){
    int nByte = (int)(aCell[0]>>3);
    if( nByte ){
      memcpy(zTail, (const void*)(intptr_t)aCell[1], nByte);
      aCell[1] = (sqlite3_int64)(intptr_t)zTail;
      zTail += nByte;
    }
  }
  rc = sqlite3_step(pStmt);
  if( rc!=SQLITE_DONE ) return rc==SQLITE_ROW ? SQLITE_INTERNAL : rc;
  aOut[SQPYTE_ROW_ROWID] = ((Vdbe*)pStmt)->db->lastRowid;
  sqlite3_reset(pStmt);
  return SQPYTE_LAST;
}

static int sqpyteOneRow(Vdbe*);

int sqpyte_execute(
  sqlite3_stmt *pStmt,
  sqlite3_int64 *aIn,
  const char *zText,
  int flags,
  sqlite3_int64 *aOut
){
  sqlite3 *db = ((Vdbe*)pStmt)->db;
  sqlite3_int64 aBusy[SQPYTE_BUSY_WORDS];
  const u32 *pCompiled = &((Vdbe*)pStmt)->aCounter[SQLITE_STMTSTATUS_REPREPARE];
  u32 nCompiled = *pCompiled;
  int rc;
  if( (flags & SQPYTE_IN_TRANSACTION) && db->autoCommit ) return SQPYTE_BEGIN;
  rc = sqpyte_bind(pStmt, aIn, zText);
  if( rc!=SQLITE_OK ) return rc;
  if( flags & SQPYTE_ASK ) sqpyte_ask_before_waiting(db, aBusy);
  rc = sqpyte_step(pStmt, aOut);
  if( flags & SQPYTE_ASK ) sqpyte_ask_no_more(db, aBusy);
  if( rc==SQLITE_ROW ){
    /* A statement that has been compiled again may have more rows than it had. */
    if( (flags & SQPYTE_ONE_ROW) && (*pCompiled==0 || sqpyteOneRow((Vdbe*)pStmt))
     && ((flags & SQPYTE_AS_COMPILED)==0 || *pCompiled==nCompiled)
    ){
      rc = sqpyteFinish(pStmt, aOut);
    }
  }
  return rc;
}

/* Whether the program can return no second row: its one ResultRow is inside no
** loop. The jump from the end of the program back to opcode 1 runs once only;
** jumps whose target is in a register, or not in P2 alone, count as loops. */
static int sqpyteOneRow(Vdbe *p){
  int iRow = -1;
  int i;
  for(i=0; i<p->nOp; i++){
    if( !SQPYTE_IS(p->aOp[i].opcode, GOES_ON) ) return 0;
    switch( p->aOp[i].opcode ){
      case OP_ResultRow:
        if( iRow>=0 ) return 0;
        iRow = i;
        break;
      case OP_Program: case OP_VUpdate: case OP_IncrVacuum:   /* run programs of their own */
        return 0;
      case OP_Expire:         /* PRAGMA expires just itself */
        if( p->aOp[i].p1==0 ) return 0;
        break;
      case OP_Transaction:    /* PRAGMA journal_mode and wal_checkpoint have none that writes */
        if( p->aOp[i].p2 ) return 0;
        break;
    }
  }
  if( iRow<0 || p->explain ) return 0;
  for(i=iRow; i<p->nOp; i++){
    Op *pOp = &p->aOp[i];
    if( (sqlite3OpcodeProperty[pOp->opcode] & OPFLG_JUMP)
     && pOp->p2<=iRow
     && !(pOp->opcode==OP_Goto && pOp->p2==1)
    ){
      return 0;
    }
  }
  return 1;
}

void sqpyte_facts(sqlite3_stmt *pStmt, sqlite3_int64 *aOut){
  Vdbe *p = (Vdbe*)pStmt;
  memset(aOut, 0, SQPYTE_FACT_COUNT*sizeof(aOut[0]));
  if( p==0 ) return;
  aOut[SQPYTE_FACT_PARAMETERS] = p->nVar;
  aOut[SQPYTE_FACT_COLUMNS] = sqlite3_column_count(pStmt);
  aOut[SQPYTE_FACT_READONLY] = sqlite3_stmt_readonly(pStmt);
  aOut[SQPYTE_FACT_ONE_ROW] = sqpyteOneRow(p);
  aOut[SQPYTE_FACT_NAMES] = p->pVList!=0;
}

/* How many words of the frame a call takes; it has room for as many arguments as the function can have. */
#define SQPYTE_CALL_WORDS(nArg) (SQPYTE_CALL_ARGS + 2*(nArg))

/* The arguments into the frame; SQLITE_OK or SQLITE_NOMEM. */
static int sqpyteArguments(
  SqpyteFunction *pFunction,
  sqlite3_context *pCtx,
  int nArg,
  sqlite3_value **apArg
){
  sqlite3_int64 *aFrame = pFunction->aFrame;
  sqlite3_int64 *aCell = aFrame + SQPYTE_CALL_ARGS;
  int i;
  aFrame[SQPYTE_CALL_CONTEXT] = (sqlite3_int64)(intptr_t)pCtx;
  aFrame[SQPYTE_CALL_COUNT] = nArg;
  if( SQPYTE_CALL_WORDS(nArg) > pFunction->nFrame ) return SQLITE_NOMEM;
  for(i=0; i<nArg; i++, aCell+=2){
    sqlite3_value *pArg = apArg[i];
    if( !sqpyteDatum(pArg, aCell) ){
      int eType = sqlite3_value_type(pArg);
      const void *z = eType==SQLITE_TEXT ? (const void*)sqlite3_value_text(pArg) : sqlite3_value_blob(pArg);
      int n = sqlite3_value_bytes(pArg);
      if( z==0 && n>0 ) return SQLITE_NOMEM;
      aCell[0] = SQPYTE_TAG(eType, n);
      aCell[1] = (sqlite3_int64)(intptr_t)(n ? z : "");
    }
  }
  return SQLITE_OK;
}

/* Calls the function and hands its result to SQLite. */
static void sqpyteCall(
  SqpyteFunction *pFunction,
  sqlite3_context *pCtx,
  int what
){
  sqlite3_int64 *aFrame = pFunction->aFrame;
  switch( pFunction->xCall(what) ){
    case SQLITE_INTEGER:
      sqlite3_result_int64(pCtx, aFrame[SQPYTE_CALL_RESULT]);
      break;
    case SQLITE_FLOAT: {
      double r;
      memcpy(&r, &aFrame[SQPYTE_CALL_RESULT], sizeof(r));
      sqlite3_result_double(pCtx, r);
      break;
    }
    case SQLITE_NULL:
      sqlite3_result_null(pCtx);
      break;
    case SQPYTE_CALL_FAILED:
      sqlite3_result_error(pCtx, "user-defined function raised exception", -1);
      break;
  }
}

static void sqpyteFunctionCall(
  sqlite3_context *pCtx,
  int nArg,
  sqlite3_value **apArg
){
  SqpyteFunction *pFunction = (SqpyteFunction*)sqlite3_user_data(pCtx);
  SQPYTE_ENTER_FRAME(pFunction, SQPYTE_CALL_WORDS(nArg));
  if( sqpyteArguments(pFunction, pCtx, nArg, apArg) ){
    sqlite3_result_error_nomem(pCtx);
  }else{
    sqpyteCall(pFunction, pCtx, SQPYTE_DO_FUNCTION);
  }
  SQPYTE_LEAVE_FRAME(pFunction);
}

static void sqpyteAccumulate(
  sqlite3_context *pCtx,
  int nArg,
  sqlite3_value **apArg,
  int what
){
  SqpyteFunction *pFunction = (SqpyteFunction*)sqlite3_user_data(pCtx);
  sqlite3_int64 *pKey = sqlite3_aggregate_context(pCtx, sizeof(*pKey));
  SQPYTE_ENTER_FRAME(pFunction, SQPYTE_CALL_WORDS(nArg));
  if( pKey==0 || sqpyteArguments(pFunction, pCtx, nArg, apArg) ){
    sqlite3_result_error_nomem(pCtx);
  }else{
    pFunction->aFrame[SQPYTE_CALL_KEY] = *pKey;
    sqpyteCall(pFunction, pCtx, what);
    *pKey = pFunction->aFrame[SQPYTE_CALL_KEY];
  }
  SQPYTE_LEAVE_FRAME(pFunction);
}
static void sqpyteStepCall(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  sqpyteAccumulate(pCtx, n, ap, SQPYTE_DO_STEP);
}
static void sqpyteInverseCall(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  sqpyteAccumulate(pCtx, n, ap, SQPYTE_DO_INVERSE);
}

static void sqpyteResult(sqlite3_context *pCtx, int what){
  SqpyteFunction *pFunction = (SqpyteFunction*)sqlite3_user_data(pCtx);
  sqlite3_int64 *pKey = sqlite3_aggregate_context(pCtx, 0);
  if( pKey==0 || *pKey==0 ) return;
  SQPYTE_ENTER_FRAME(pFunction, SQPYTE_CALL_WORDS(0));
  pFunction->aFrame[SQPYTE_CALL_CONTEXT] = (sqlite3_int64)(intptr_t)pCtx;
  pFunction->aFrame[SQPYTE_CALL_COUNT] = 0;
  pFunction->aFrame[SQPYTE_CALL_KEY] = *pKey;
  sqpyteCall(pFunction, pCtx, what);
  SQPYTE_LEAVE_FRAME(pFunction);
}
static void sqpyteFinalCall(sqlite3_context *pCtx){
  sqpyteResult(pCtx, SQPYTE_DO_FINAL);
}
static void sqpyteValueCall(sqlite3_context *pCtx){
  sqpyteResult(pCtx, SQPYTE_DO_VALUE);
}

int sqpyte_create_function(
  sqlite3 *db,
  const char *zName,
  int nArg,
  int flags,
  int what,
  SqpyteFunction *pFunction
){
  if( what==SQPYTE_DO_INVERSE ){
    return sqlite3_create_window_function(db, zName, nArg, flags, pFunction,
        sqpyteStepCall, sqpyteFinalCall, sqpyteValueCall, sqpyteInverseCall, 0);
  }
  if( what==SQPYTE_DO_FINAL ){
    return sqlite3_create_function_v2(db, zName, nArg, flags, pFunction,
        0, sqpyteStepCall, sqpyteFinalCall, 0);
  }
  return sqlite3_create_function_v2(db, zName, nArg, flags, pFunction,
      sqpyteFunctionCall, 0, 0, 0);
}

static int sqpyteCompare(
  void *pArg,
  int n1, const void *z1,
  int n2, const void *z2
){
  SqpyteFunction *pFunction = (SqpyteFunction*)pArg;
  sqlite3_int64 *aCell = pFunction->aFrame + SQPYTE_CALL_ARGS;
  int order;
  SQPYTE_ENTER_FRAME(pFunction, SQPYTE_CALL_WORDS(2));
  aCell[0] = SQPYTE_TAG(SQLITE_TEXT, n1);
  aCell[1] = (sqlite3_int64)(intptr_t)(n1 ? z1 : "");
  aCell[2] = SQPYTE_TAG(SQLITE_TEXT, n2);
  aCell[3] = (sqlite3_int64)(intptr_t)(n2 ? z2 : "");
  order = pFunction->xCall(SQPYTE_DO_COMPARE);
  SQPYTE_LEAVE_FRAME(pFunction);
  return order;
}

int sqpyte_create_collation(
  sqlite3 *db,
  const char *zName,
  SqpyteFunction *pFunction
){
  return sqlite3_create_collation_v2(db, zName, SQLITE_UTF8, pFunction,
                                     sqpyteCompare, 0);
}

int sqpyte_max_function_args(void){ return SQLITE_MAX_FUNCTION_ARG; }
