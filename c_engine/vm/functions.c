/*
** SQL functions and aggregates called on registers, as upstream's opcodes call them, and which function
** is which. Included by engine.c; contracts are in engine.h.
**
** A function that isn't SQLite's own may run SQL on the same connection: the
** frame is then brought to C before the call, as for an opcode in C.
*/

/* Whether the function is one of SQLite's own that leaves the connection's cursors alone: it can't run SQL. A virtual
** table's that overloads one of those (xFindFunction) is a copy with its flags, and one more. */
static int sqpyteIsOwn(const FuncDef *p){
  return (p->funcFlags & (SQLITE_FUNC_BUILTIN|SQLITE_FUNC_UNSAFE|SQLITE_FUNC_EPHEM))==SQLITE_FUNC_BUILTIN;
}

static int sqpyteFunctionKind(const FuncDef *p){
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

/* The kind of a function in a database of that encoding: the handlers of those that read or make texts know UTF-8. */
int sqpyte_function_kind(void *pFuncDef, int enc){
  FuncDef *p = (FuncDef*)pFuncDef;
  int kind = sqpyteFunctionKind(p);
  if( enc==SQLITE_UTF8 ) return kind;
  switch( kind ){
    case SQPYTE_FUNC_USER:
    case SQPYTE_FUNC_OCTET_LENGTH:
    case SQPYTE_FUNC_ABS:
    case SQPYTE_FUNC_ROUND:
    case SQPYTE_FUNC_MIN:
    case SQPYTE_FUNC_MAX:
    case SQPYTE_FUNC_NULLIF:
      return kind;
    default:
      return sqpyteIsOwn(p) ? SQPYTE_FUNC_OTHER : SQPYTE_FUNC_USER;
  }
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

/* The text or blob at addr becomes the register's value without being copied,
** for as long as C looks at it. */
void sqpyte_lend(void *pMem, long addr, long n, int form){
  Mem *p = (Mem*)pMem;
  if( VdbeMemDynamic(p) ) sqlite3VdbeMemSetNull(p);
  p->z = (char*)addr;
  p->n = (int)n;
  p->enc = SQPYTE_ENCODING(form);
  p->flags = MEM_Ephem | ((form & SQPYTE_BLOB) ? MEM_Blob : MEM_Str);
}
