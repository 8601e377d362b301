/*
** The content of a VDBE program as a string of bytes, and whether the VM has
** handlers for a loop of it. Included by engine.c.
**
** Two programs with the same key are the same to the VM and share machine
** code. What differs from run to run (the counters of Init and Once, the
** changes that a first run in C makes to opcodes) or from statement to
** statement (pointers) is left out; constants are in.
*/

typedef struct SqpyteKey SqpyteKey;
struct SqpyteKey { u8 *a; i64 n; i64 nMax; };

static void sqpyteKeyAdd(SqpyteKey *p, const void *data, i64 n){
  if( p->n+n<=p->nMax ) memcpy(p->a+p->n, data, n);
  p->n += n;
}
static void sqpyteKeyAddInt(SqpyteKey *p, int v){ sqpyteKeyAdd(p, &v, 4); }
static void sqpyteKeyAddText(SqpyteKey *p, const char *z, int n){
  sqpyteKeyAddInt(p, n);
  sqpyteKeyAdd(p, z, n);
}

/* P4 of a Column: the default of a column added later. */
static void sqpyteKeyAddMem(SqpyteKey *p, const Mem *pMem){
  int f = pMem->flags & (MEM_Null|MEM_Str|MEM_Int|MEM_Real|MEM_Blob|MEM_IntReal);
  sqpyteKeyAddInt(p, f);
  if( f & (MEM_Int|MEM_Real|MEM_IntReal) ) sqpyteKeyAdd(p, &pMem->u.i, 8);
  if( f & (MEM_Str|MEM_Blob) ) sqpyteKeyAddText(p, pMem->z, pMem->n);
}

/* What comparisons may use of a KeyInfo: of all of its columns, as a seek's key and the opcodes that
** compare with it may reach beyond the nKeyField that make an entry unique. */
static void sqpyteKeyAddKeyInfo(SqpyteKey *p, const KeyInfo *pInfo){
  int j, n = sqpyteCollations(pInfo);
  sqpyteKeyAddInt(p, n);
  for(j=0; j<n; j++){
    sqpyteKeyAddInt(p, sqpyte_collation_kind(pInfo->aColl[j]));
    sqpyteKeyAddInt(p, pInfo->aSortFlags[j]);
  }
}

/* In a UTF-16 database the first run of each String8 in C translates its text and makes it a String: that is done here
** for all of them, so that a program has the same content before and after. What can't be had, as too long or for want
** of memory, stays a String8, which raises the error when it runs. It is done before the key is measured, and not again
** before it is written: what can be had then would make another key, for which there isn't room. */
static void sqpyteTranslateStrings(Vdbe *v){
  sqlite3 *db = v->db;
  int i, rc;
  if( ENC(db)==SQLITE_UTF8 ) return;
  for(i=0; i<v->nOp; i++){
    VdbeOp *pOp = &v->aOp[i];
    Mem text;
    if( pOp->opcode!=OP_String8 || (i64)strlen(pOp->p4.z)*2>db->aLimit[SQLITE_LIMIT_LENGTH] ) continue;
    /* Without the connection, which would take a failure for the statement's. */
    sqlite3VdbeMemInit(&text, 0, MEM_Null);
    sqlite3VdbeMemSetStr(&text, pOp->p4.z, -1, SQLITE_UTF8, SQLITE_STATIC);
    sqlite3BeginBenignMalloc();
    rc = sqlite3VdbeChangeEncoding(&text, ENC(db));
    sqlite3EndBenignMalloc();
    if( rc ) continue;
    if( pOp->p4type==P4_DYNAMIC ) sqlite3DbFree(db, pOp->p4.z);
    pOp->opcode = OP_String;
    pOp->p4type = P4_DYNAMIC;
    pOp->p4.z = text.z;                 /* its own, of the size that it has */
    pOp->p1 = text.n;
  }
}

/* Writes the key of a Vdbe's program to buf, which has room for nMax bytes; returns its size. The first call, with an
** nMax of 0, measures it. */
long sqpyte_program_key(void *pVdbe, long buf, long nMax){
  Vdbe *v = (Vdbe*)pVdbe;
  SqpyteKey key = { (u8*)buf, 0, nMax };
  int i;
  if( nMax==0 ) sqpyteTranslateStrings(v);
  sqpyteKeyAddInt(&key, v->nMem);
  sqpyteKeyAddInt(&key, ENC(v->db) | (v->pFrame!=0)<<8);
  for(i=0; i<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    int a[5];
    int p4type = pOp->p4type;
    a[0] = pOp->opcode | (pOp->p5<<8);
    a[1] = pOp->p1;
    a[2] = pOp->p2;
    a[3] = pOp->p3;
    switch( pOp->opcode ){
      case OP_Init:
      case OP_Once:     a[1] = 0; p4type = P4_NOTUSED; break;
      case OP_String8:  if( ENC(v->db)!=SQLITE_UTF8 ) break;
                        a[0] = OP_String | (pOp->p5<<8);
                        a[1] = sqlite3Strlen30(pOp->p4.z); break;
      case OP_AggStep1: a[0] = (pOp->p1 ? OP_AggInverse : OP_AggStep) | (pOp->p5<<8);
                        break;
    }
    a[4] = p4type;
    switch( p4type ){
      case P4_FUNCCTX:
      case P4_FUNCDEF: {
        FuncDef *pDef = p4type==P4_FUNCCTX ? pOp->p4.pCtx->pFunc : pOp->p4.pFunc;
        a[4] = P4_FUNCDEF;
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAddInt(&key, p4type==P4_FUNCCTX ? pOp->p4.pCtx->argc : pOp->p5);
        sqpyteKeyAddInt(&key, sqpyte_aggregate_kind(pDef));
        sqpyteKeyAddInt(&key, sqpyte_function_kind(pDef, ENC(v->db)));
        break;
      }
      case P4_COLLSEQ:
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAddInt(&key, sqpyte_collation_kind(pOp->p4.pColl));
        break;
      case P4_KEYINFO:
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAddKeyInfo(&key, pOp->p4.pKeyInfo);
        break;
      case P4_INT32:
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAddInt(&key, pOp->p4.i);
        break;
      case P4_MEM:
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAddMem(&key, pOp->p4.pMem);
        break;
      case P4_STATIC:
      case P4_DYNAMIC:
        a[4] = P4_STATIC;
        sqpyteKeyAdd(&key, a, sizeof(a));
        if( a[0]==(OP_String | (pOp->p5<<8)) ){
          sqpyteKeyAddText(&key, pOp->p4.z, a[1]);
        }else if( pOp->p4.z ){
          sqpyteKeyAddText(&key, pOp->p4.z, sqlite3Strlen30(pOp->p4.z));
        }
        break;
      case P4_INTARRAY:       /* its first element is its size */
        sqpyteKeyAdd(&key, a, sizeof(a));
        sqpyteKeyAdd(&key, pOp->p4.ai, (i64)(pOp->p4.ai[0]+1)*sizeof(u32));
        break;
      default:
        sqpyteKeyAdd(&key, a, sizeof(a));
    }
  }
  return key.n;
}

/* Functions that hot loops may call in the VM: those with a handler. Any other is called by a C
** helper, which takes up to 5 ns longer than upstream's own opcode. */
static int sqpyteFunctionPays(sqlite3 *db, FuncDef *pDef){
  int kind = sqpyte_function_kind(pDef, ENC(db));
  return kind!=SQPYTE_FUNC_OTHER && kind!=SQPYTE_FUNC_USER;
}

/* Whether the VM has a handler for an opcode, which hot loops may use. */
static int sqpyteIsCovered(const Vdbe *p, const VdbeOp *pOp){
  if( (pOp->opcode==OP_Function || pOp->opcode==OP_PureFunc)
   && !sqpyteFunctionPays(p->db, pOp->p4.pCtx->pFunc) ) return 0;
  if( SQPYTE_IS(pOp->opcode, CALLS_MODULE) && p->apCsr[pOp->p1] && p->apCsr[pOp->p1]->eCurType==CURTYPE_VTAB ) return 0;
  if( pOp->opcode==OP_AggStep1 ) return SQPYTE_IS(OP_AggStep, HANDLED);
  if( pOp->opcode==OP_String8 ) return SQPYTE_IS(OP_String, HANDLED);
  return SQPYTE_IS(pOp->opcode, HANDLED);
}

/* A trace goes on where a Yield leads it, and a coroutine of more Yields than this, as of VALUES with
** many rows, would take a trace for each. */
#define SQPYTE_MOST_YIELDS 16

static int sqpyteYieldsPay(const Vdbe *p, int r){
  int i, n = 0;
  for(i=0; i<p->nOp && n<=SQPYTE_MOST_YIELDS; i++){
    n += p->aOp[i].opcode==OP_Yield && p->aOp[i].p1==r;
  }
  return n<=SQPYTE_MOST_YIELDS;
}

/* Whether the VM has handlers for all opcodes of the loops that begin at the opcode head. What they
** call as subroutines, and what they do once, isn't asked. */
int sqpyte_covers_loop(void *pVdbe, int head){
  Vdbe *p = (Vdbe*)pVdbe;
  int i, end = -1, found = SQPYTE_COVERED;
  for(i=head; i<p->nOp; i++){
    if( SQPYTE_IS(p->aOp[i].opcode, LOOP) && p->aOp[i].p2==head ) end = i;
  }
  if( end<0 ) return SQPYTE_COVERED_NOT;
  for(i=head; i<=end; i++){
    const VdbeOp *pOp = &p->aOp[i];
    if( pOp->opcode==OP_Once && pOp->p2>i && pOp->p2<=end ){
      i = pOp->p2 - 1;
    }else{
      if( !sqpyteIsCovered(p, pOp) ) return SQPYTE_COVERED_NOT;
      if( pOp->opcode==OP_Yield && !sqpyteYieldsPay(p, pOp->p1) ) return SQPYTE_COVERED_NOT;
      if( SQPYTE_IS(pOp->opcode, SEEKS) ) found = SQPYTE_COVERED_SEEKS;
    }
  }
  return found;
}
