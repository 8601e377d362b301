/*
** Correlated scalar subqueries and EXISTS, whose results are kept by the values of the outer columns that
** they read: for values that come again the result is copied instead of computed. TPC-H's query 17
** averages the same 30 rows for each of these rows. Databases that plan by cost call it scalar subquery
** caching (Oracle) or Memoize (PostgreSQL).
**
** Two opcodes of our own stand around the subquery's code (memoize.py):
**
**   Memoize    P1 P2 P3 P4 P5   r[P1@P5] = what MemoizeStore kept for r[P3@P4], and jump to P2; else go on
**   MemoizeStore  P1 *  *  *  P5   keep r[P1@P5] for the values that the last Memoize of P1 did not know
**
** They are only made where that can't be seen: the subquery reads ordinary tables, calls only functions and
** collations of SQLite's own that give the same for the same arguments, and is not in a trigger. What is kept is
** forgotten when the run ends, and holds under its stamp (validity.h), so a statement that has expired computes
** the next result, and is told so there. A shared cache, which other connections write to, keeps nothing. Where
** the values don't come again it pauses.
**
** The subquery may not read an outer column at all, so reading it for the key has no error: the Columns of the key have
** SQPYTE_QUIET in P5, and one that fails gives a value for which nothing is kept. Included by engine.c.
*/

#include "core/bytes_hash.h"
#include "rows/call_log.h"

#define SQPYTE_MEMO_CURSORS 32        /* tables in the subquery, at most */
#define SQPYTE_MEMO_COLUMNS 8         /* outer columns, at most */
#define SQPYTE_MEMO_MEMORY (1<<20)    /* for all results of one subquery, at most */
#define SQPYTE_MEMO_SLOTS 16          /* at first; a power of two */
#define SQPYTE_MEMO_LOOK 256          /* after so many it is asked whether it pays: ... */
#define SQPYTE_MEMO_WORTH 4           /* ... one in so many was known; if not, ... */
#define SQPYTE_MEMO_PAUSE 4096        /* ... it pauses for so many, and then for four times as many, ... */
#define SQPYTE_MEMO_MOST_PAUSE (1<<16) /* ... until there are so many */

typedef struct SqpyteMemo SqpyteMemo;
typedef struct SqpyteResult SqpyteResult;

struct SqpyteResult {
  u32 hash;
  u16 nKey, nResult;      /* Bytes of what follows: the key, the result */
};

/* What is known of one subquery: of this run of the statement the results, of all runs whether it pays. */
struct SqpyteMemo {
  SqpyteMemo *pNext;
  int iResult;            /* Its first result register: its name */
  u64 stamp;              /* Under which what is kept was computed (validity.h) */
  SqpyteResult **a;       /* The results by hash, one in each slot */
  u32 nSlot;              /* A power of two */
  u32 nLost;              /* Results that had to go for another since there were as many slots */
  i64 nByte;              /* Memory of the results and slots */
  SqpyteBackOff back;     /* An occasion is a Memoize */
  int nAsked, nKnown;     /* Since it was last asked whether it pays */
  u32 hash;               /* The key that the last Memoize did not know, ... */
  int nKey;               /* ... its size, -1 if there is none, ... */
  u8 aKey[SQPYTE_MEMO_BYTES];   /* ... and the key itself */
};

/* ---- the opcodes' code ---- */

typedef struct SqpyteOuter SqpyteOuter;
struct SqpyteOuter {
  Walker walker;                          /* First: callbacks get a pointer to it */
  int nCursor, nColumn;
  int aCursor[SQPYTE_MEMO_CURSORS];     /* Cursors of the subquery's own tables */
  Expr *aColumn[SQPYTE_MEMO_COLUMNS];   /* The outer columns */
};

/* Notes the subquery's tables; stops at one whose content isn't the database's. */
static int sqpyteMemoizeTables(Walker *pWalker, Select *pSelect){
  SqpyteOuter *p = (SqpyteOuter*)pWalker;
  int i;
  if( pSelect->pWin || (pSelect->selFlags & SF_Recursive) ) return WRC_Abort;
  for(i=0; i<pSelect->pSrc->nSrc; i++){
    const SrcItem *pItem = &pSelect->pSrc->a[i];
    if( p->nCursor==SQPYTE_MEMO_CURSORS || pItem->pSTab==0
     || pItem->fg.isTabFunc || pItem->fg.isRecursive || pItem->fg.isCte ) return WRC_Abort;
    if( !pItem->fg.isSubquery
     && (!IsOrdinaryTable(pItem->pSTab) || (pItem->pSTab->tabFlags & TF_Ephemeral)) ) return WRC_Abort;
    p->aCursor[p->nCursor++] = pItem->iCursor;
  }
  return WRC_Continue;
}

/* Notes an outer column. One that is computed where it is read, a virtual generated column, would be computed for the
** key though the subquery may not read it, with its errors, and in a number of opcodes that isn't known here. One that
** a comparison of the outer query fixes is a constant in some places and the column in others, whose type may differ. */
static int sqpyteMemoizeColumn(SqpyteOuter *p, Expr *pExpr){
  int i;
  for(i=0; i<p->nCursor; i++){
    if( p->aCursor[i]==pExpr->iTable ) return WRC_Continue;
  }
  if( ExprHasProperty(pExpr, EP_FixedCol) ) return WRC_Abort;
  for(i=0; i<p->nColumn; i++){
    if( p->aColumn[i]->iTable==pExpr->iTable && p->aColumn[i]->iColumn==pExpr->iColumn ) return WRC_Continue;
  }
  if( p->nColumn==SQPYTE_MEMO_COLUMNS || pExpr->iTable<0 || !ExprUseYTab(pExpr) || pExpr->y.pTab==0
   || IsVirtual(pExpr->y.pTab) ) return WRC_Abort;
  if( pExpr->iColumn>=0 && (pExpr->y.pTab->aCol[pExpr->iColumn].colFlags & COLFLAG_VIRTUAL) ) return WRC_Abort;
  p->aColumn[p->nColumn++] = pExpr;
  return WRC_Continue;
}

/* Notes the outer columns; stops at what may give another value, or isn't an outer table's column. */
static int sqpyteMemoizeTerms(Walker *pWalker, Expr *pExpr){
  Parse *pParse = pWalker->pParse;
  switch( pExpr->op ){
    case TK_COLUMN:
      return sqpyteMemoizeColumn((SqpyteOuter*)pWalker, pExpr);
    case TK_AGG_FUNCTION:
      if( pExpr->op2>0 || pExpr->pAggInfo ) return WRC_Abort;
      /* fall through */
    case TK_FUNCTION: {
      const FuncDef *pDef;
      int n = ExprUseXList(pExpr) && pExpr->x.pList ? pExpr->x.pList->nExpr : 0;
      if( ExprHasProperty(pExpr, EP_WinFunc) ) return WRC_Abort;
      pDef = sqlite3FindFunction(pParse->db, pExpr->u.zToken, n, ENC(pParse->db), 0);
      return pDef && sqpyte_pure_function((long)pDef) ? WRC_Continue : WRC_Abort;
    }
    case TK_AGG_COLUMN:
    case TK_IF_NULL_ROW:
    case TK_RAISE:
    case TK_REGISTER:
    case TK_TRIGGER:
      return WRC_Abort;
  }
  return WRC_Continue;
}

/* Codes a Memoize before a subquery's code; returns its address, or 0 if the subquery isn't fit for one.
** Its P1 and P5 are set when the result's registers are known. Where the outer query reads an expression from an index, the
** table itself may not be needed, as it would be for the key. The ids of EXPLAIN QUERY PLAN are addresses. */
static int sqpyteCodeMemoize(Parse *pParse, Select *pSelect){
  SqpyteOuter outer;
  int i, fit, iKey, iFirst;
  if( SQPYTE_OFF(MEMOIZE) || pParse->pToplevel || pParse->pTriggerTab || pParse->nested || pParse->pIdxEpr
   || pParse->explain==2 || pParse->db->aLimit[SQLITE_LIMIT_VDBE_OP]<SQLITE_MAX_VDBE_OP
   || pSelect->pSrc==0 || pSelect->pSrc->nSrc==0 ) return 0;
  memset(&outer, 0, sizeof(outer));
  outer.walker.pParse = pParse;
  outer.walker.xExprCallback = sqlite3ExprWalkNoop;
  outer.walker.xSelectCallback = sqpyteMemoizeTables;
  fit = sqlite3WalkSelect(&outer.walker, pSelect)!=WRC_Abort;
  if( fit ){
    outer.walker.xExprCallback = sqpyteMemoizeTerms;
    outer.walker.xSelectCallback = sqlite3SelectWalkNoop;
    fit = sqlite3WalkSelect(&outer.walker, pSelect)!=WRC_Abort && outer.nColumn>0;
  }
  if( !fit ) return 0;
  SQPYTE_COUNT(MEMOIZE);
  iFirst = sqlite3VdbeCurrentAddr(pParse->pVdbe);
  iKey = pParse->nMem + 1;
  pParse->nMem += outer.nColumn;
  for(i=0; i<outer.nColumn; i++) sqlite3ExprCode(pParse, outer.aColumn[i], iKey+i);
  for(i=iFirst; i<sqlite3VdbeCurrentAddr(pParse->pVdbe); i++){
    Op *pOp = sqlite3VdbeGetOp(pParse->pVdbe, i);
    if( pOp->opcode==OP_Column ) pOp->p5 |= SQPYTE_QUIET;
  }
  /* P1 is to be the result's register; as yet, how many opcodes upstream hasn't. */
  return sqlite3VdbeAddOp4Int(pParse->pVdbe, OP_Memoize, sqlite3VdbeCurrentAddr(pParse->pVdbe)+1-iFirst, 0, iKey,
                              outer.nColumn);
}

/* Whether the opcodes of a subquery, from iFirst on, call something that isn't SQLite's own, or may not give the
** same again: a collation, or a function in a virtual column, which the expressions don't show. A subroutine before
** them may. (A label is negative here.) */
static int sqpyteCallsOthers(Vdbe *v, int iFirst){
  int i;
  for(i=iFirst; i<v->nOp; i++){
    const Op *pOp = &v->aOp[i];
    const FuncDef *pDef = pOp->p4type==P4_FUNCDEF ? pOp->p4.pFunc : pOp->p4type==P4_FUNCCTX ? pOp->p4.pCtx->pFunc : 0;
    if( sqpyteForeignCollation(pOp) || (pDef && !sqpyte_pure_function((long)pDef)) ) return 1;
    if( pOp->opcode==OP_Gosub && pOp->p2>=0 && pOp->p2<iFirst ) return 1;
  }
  return 0;
}

/* Codes the MemoizeStore behind the subquery's code. Its P2 is how many opcodes that upstream hasn't end with the
** Memoize: they aren't counted, so that a progress handler is called when it would be there. P5 of both is 0, and
** nothing is kept, if the subquery calls what isn't SQLite's. */
static void sqpyteCodeMemoizeStore(Parse *pParse, int addrMemoize, int iResult, int nResult){
  Vdbe *v = pParse->pVdbe;
  u16 nKept;
  if( pParse->nErr ) return;
  nKept = sqpyteCallsOthers(v, addrMemoize) ? 0 : (u16)nResult;
  sqlite3VdbeAddOp2(v, OP_MemoizeStore, iResult, sqlite3VdbeGetOp(v, addrMemoize)->p1);
  sqlite3VdbeChangeP5(v, nKept);
  sqlite3VdbeChangeP1(v, addrMemoize, iResult);
  sqlite3VdbeGetOp(v, addrMemoize)->p5 = nKept;
  sqlite3VdbeJumpHere(v, addrMemoize);
}

/* ---- the opcodes ---- */

/* A Column of a key has failed, or its value is too long for one: what it would have given is unknown, which Pack takes
** for a value that it doesn't keep.
** Without memory, or interrupted, the statement ends. OP_Program sets pOp before the first opcode of the trigger and
** looks whether it is interrupted, so what pOp points to is only read where there was no interrupt. */
static int sqpyteQuiet(Vdbe *p, const Op *pOp, int rc){
  if( rc==SQLITE_INTERRUPT || rc==SQLITE_NOMEM || p->db->mallocFailed || pOp->opcode!=OP_Column
   || (pOp->p5 & SQPYTE_QUIET)==0 ) return 0;
  sqlite3DbFree(p->db, p->zErrMsg);
  p->zErrMsg = 0;
  sqlite3VdbeMemSetNull(&p->aMem[pOp->p3]);
  p->aMem[pOp->p3].flags |= MEM_Cleared;
  return 1;
}

/* Writes registers as bytes to z, at most SQPYTE_MEMO_BYTES; returns how many, or -1 if they are too
** large or of an unusual kind. Equal bytes stand for the same values, and for values that came from a parameter nothing does. */
static int sqpyteMemoizePack(const Mem *pMem, int n, u8 enc, u8 *z){
  int at = 0;
  for(; n>0; n--, pMem++){
    int f = pMem->flags;
    if( at+16>SQPYTE_MEMO_BYTES || (f & (MEM_Subtype|MEM_Cleared|MEM_FromBind)) ) return -1;
    if( (f & MEM_Blob) && enc!=SQLITE_UTF8 ) return -1;         /* has an encoding, too, as which it may be read */
    if( f & MEM_Null ){
      z[at++] = 0;
    }else if( f & (MEM_Str|MEM_Blob) ){
      if( (f & MEM_Zero) || ((f & MEM_Str) && pMem->enc!=enc)
       || (f & (MEM_Int|MEM_Real|MEM_IntReal)) || pMem->n>SQPYTE_MEMO_BYTES-at-16 ) return -1;
      z[at++] = (f & MEM_Str) ? 3 : 4;
      memcpy(z+at, &pMem->n, 4);
      memcpy(z+at+4, pMem->z, pMem->n);
      at += 4 + pMem->n;
    }else if( f & (MEM_Int|MEM_Real|MEM_IntReal) ){
      z[at++] = (f & MEM_Int) ? 1 : (f & MEM_Real) ? 2 : 5;
      memcpy(z+at, &pMem->u, 8);
      at += 8;
    }else{
      return -1;
    }
  }
  return at;
}

/* Sets registers from their bytes; false if there is no memory. */
static int sqpyteMemoizeUnpack(const u8 *z, u8 enc, Mem *pMem, int n){
  for(; n>0; n--, pMem++){
    int tag = *(z++);
    if( tag==0 ){
      sqlite3VdbeMemSetNull(pMem);
    }else if( tag>=3 && tag<=4 ){
      int n;
      memcpy(&n, z, 4);
      if( sqlite3VdbeMemClearAndResize(pMem, n+2) ) return 0;
      memcpy(pMem->z, z+4, n);
      pMem->z[n] = pMem->z[n+1] = 0;
      pMem->n = n;
      pMem->enc = enc;
      pMem->flags = tag==3 ? MEM_Str|MEM_Term : MEM_Blob;
      z += 4 + n;
    }else{
      i64 value;
      memcpy(&value, z, 8);
      sqlite3VdbeMemSetInt64(pMem, value);
      if( tag!=1 ) pMem->flags = tag==2 ? MEM_Real : MEM_IntReal;
      z += 8;
    }
  }
  return 1;
}

static void sqpyteForgetResults(SqpyteMemo *p){
  u32 i;
  for(i=0; i<p->nSlot; i++) sqlite3_free(p->a[i]);
  sqlite3_free(p->a);
  p->a = 0;
  p->nSlot = p->nLost = 0;
  p->nByte = 0;
}

/* At a run's end. A statement that visits few rows each time would else begin anew each time to learn that it doesn't
** pay: a subquery over 5 rows took 1.3 times stock's time. */
static void sqpyteMemoEnd(Vdbe *v){
  SqpyteMemo *p;
  for(p=v->pSqpyteMemo; p; p=p->pNext){
    if( p->nSlot ) sqpyteForgetResults(p);
    p->nKey = -1;
  }
}

/* With the statement. */
static void sqpyteMemoFree(Vdbe *v){
  SqpyteMemo *p = v->pSqpyteMemo;
  v->pSqpyteMemo = 0;
  while( p ){
    SqpyteMemo *pNext = p->pNext;
    sqpyteForgetResults(p);
    sqlite3_free(p);
    p = pNext;
  }
}

static SqpyteMemo *sqpyteMemoOf(Vdbe *v, int iResult, int bMake){
  SqpyteMemo *p = v->pSqpyteMemo;
  while( p && p->iResult!=iResult ) p = p->pNext;
  if( p==0 && bMake ){
    p = SQPYTE_SPARE(sqlite3_malloc64(sizeof(*p)));
    if( p ){
      memset(p, 0, offsetof(SqpyteMemo, aKey));
      p->iResult = iResult;
      p->nKey = -1;
      p->pNext = v->pSqpyteMemo;
      v->pSqpyteMemo = p;
    }
  }
  return p;
}

/* Whether too few of the last values were known: then it pauses. */
static int sqpyteMemoizeIsVain(SqpyteMemo *p){
  int vain = p->nKnown*SQPYTE_MEMO_WORTH < p->nAsked;
  p->nAsked = p->nKnown = 0;
  if( vain ){
    sqpyteBackOff(&p->back, SQPYTE_MEMO_PAUSE, 4, SQPYTE_MEMO_MOST_PAUSE);
    p->nKey = -1;
    sqpyteForgetResults(p);
  }
  return vain;
}

/* OP_Memoize: whether the result is known; then it is in its registers. -1: there is no memory. */
static int sqpyteMemoize(Vdbe *v, const Op *pOp){
  SqpyteMemo *p;
  SqpyteResult *pFound;
  if( pOp->p5==0 || !v->readOnly || DbMaskNonZero(v->lockMask) ) return 0;
  p = sqpyteMemoOf(v, pOp->p1, 1);
  if( p==0 ) return 0;
  /* A progress handler counts the opcodes that are passed over here; an interrupt is seen by one of them. */
  if( v->db->xProgress || AtomicLoad(&v->db->u1.isInterrupted) ){
    p->nKey = -1;
    return 0;
  }
  if( sqpytePauses(&p->back) ) return 0;
  if( p->nAsked==SQPYTE_MEMO_LOOK && sqpyteMemoizeIsVain(p) ) return 0;
  p->nAsked++;
  if( p->stamp!=v->db->nSqpyteStamp ){
    sqpyteForgetResults(p);
    p->stamp = v->db->nSqpyteStamp;
  }
  p->nKey = sqpyteMemoizePack(&v->aMem[pOp->p3], pOp->p4.i, ENC(v->db), p->aKey);
  if( p->nKey<0 ) return 0;
  p->hash = (u32)(sqpyteBytesHash((const char*)p->aKey, p->nKey)>>32);
  if( p->nSlot==0 ) return 0;
  pFound = p->a[p->hash & (p->nSlot-1)];
  if( pFound==0 || pFound->hash!=p->hash || pFound->nKey!=p->nKey
   || memcmp(pFound+1, p->aKey, p->nKey)!=0 ) return 0;
  if( !sqpyteMemoizeUnpack((u8*)(pFound+1)+p->nKey, ENC(v->db), &v->aMem[pOp->p1], pOp->p5) ) return -1;
  p->nKnown++;
  p->nKey = -1;
  return 1;
}

/* More slots, where results had to go for others; the old ones' results find their new places. */
static void sqpyteMoreSlots(SqpyteMemo *p){
  u32 nSlot = p->nSlot ? p->nSlot*4 : SQPYTE_MEMO_SLOTS, i;
  i64 nMore = (i64)(nSlot - p->nSlot)*sizeof(SqpyteResult*);
  SqpyteResult **a;
  p->nLost = 0;
  if( p->nByte+nMore>SQPYTE_MEMO_MEMORY ) return;
  a = SQPYTE_SPARE(sqlite3_malloc64(nSlot*sizeof(SqpyteResult*)));
  if( a==0 ) return;
  memset(a, 0, nSlot*sizeof(SqpyteResult*));
  for(i=0; i<p->nSlot; i++){
    if( p->a[i] ) a[p->a[i]->hash & (nSlot-1)] = p->a[i];
  }
  sqlite3_free(p->a);
  p->a = a;
  p->nSlot = nSlot;
  p->nByte += nMore;
}

/* OP_MemoizeStore. */
static void sqpyteMemoizeStore(Vdbe *v, const Op *pOp){
  SqpyteMemo *p = sqpyteMemoOf(v, pOp->p1, 0);
  SqpyteResult *pNew, **ppSlot;
  u8 aResult[SQPYTE_MEMO_BYTES];
  int nKey, nResult;
  if( p==0 || p->nKey<0 ) return;
  nKey = p->nKey;
  p->nKey = -1;
  if( p->stamp!=v->db->nSqpyteStamp ) return;
  nResult = sqpyteMemoizePack(&v->aMem[pOp->p1], pOp->p5, ENC(v->db), aResult);
  if( nResult<0 ) return;
  if( p->nSlot==0 || p->nLost>p->nSlot/2 ) sqpyteMoreSlots(p);
  if( p->nSlot==0 ) return;
  ppSlot = &p->a[p->hash & (p->nSlot-1)];
  pNew = *ppSlot;
  if( pNew ){
    p->nLost++;
    if( pNew->nKey+pNew->nResult<nKey+nResult ){
      p->nByte -= sizeof(*pNew) + pNew->nKey + pNew->nResult;
      sqlite3_free(pNew);
      *ppSlot = pNew = 0;
    }
  }
  if( pNew==0 ){
    i64 n = sizeof(*pNew) + nKey + nResult;
    if( p->nByte+n>SQPYTE_MEMO_MEMORY ) return;
    pNew = SQPYTE_SPARE(sqlite3_malloc64(n));
    if( pNew==0 ) return;
    p->nByte += n;
    *ppSlot = pNew;
  }
  pNew->hash = p->hash;
  pNew->nKey = (u16)nKey;
  pNew->nResult = (u16)nResult;
  memcpy(pNew+1, p->aKey, nKey);
  memcpy((u8*)(pNew+1)+nKey, aResult, nResult);
}

/* The opcode at pc, for the VM, its registers in their Mems. */
int sqpyte_memoize(void *pVdbe, int pc){
  return sqpyteMemoize((Vdbe*)pVdbe, &((Vdbe*)pVdbe)->aOp[pc]);
}
void sqpyte_memoize_store(void *pVdbe, int pc){
  sqpyteMemoizeStore((Vdbe*)pVdbe, &((Vdbe*)pVdbe)->aOp[pc]);
}
