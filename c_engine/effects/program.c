/*
** What the opcodes of a program are declared to do: from the table that
** tools/effects.py generates of the opcode table, or, if a provider is set,
** from the VM's own analysis of the program (sqpyte/vm/program/liveness.py), with the
** registers that are live.
*/
#include "declared.h"   /* generated: sqpyteDeclared[], SQPYTE_SPECIAL_*, SQPYTE_JUMP_* */

static int (*sqpyteEffectsProvider)(void*);
static SqpyteProgram *sqpyteEffectsAsked;     /* the program that the provider is asked for */

/* xProvider(pVdbe) is called for each program; it calls sqpyte_effects_give and returns 0, or returns
** anything else: the program is judged by the generated table. */
SQPYTE_EXPORT void sqpyte_effects_set_provider(int (*xProvider)(void*)){
  sqpyteEffectsProvider = xProvider;
}

static void sqpyteEffectsPut(SqpyteProgram *pProgram, int value){
  if( pProgram->nData>=pProgram->nAlloc ){
    pProgram->nAlloc = pProgram->nAlloc*2 + 256;
    pProgram->aData = realloc(pProgram->aData, sizeof(int)*pProgram->nAlloc);
    if( pProgram->aData==0 ) abort();
  }
  pProgram->aData[pProgram->nData++] = value;
}

/* The provider's answer: the records of all opcodes, and where each begins. */
SQPYTE_EXPORT void sqpyte_effects_give(const int *aData, int nData, const int *aAt, int nOp){
  int i;
  for(i=0; i<nData; i++) sqpyteEffectsPut(sqpyteEffectsAsked, aData[i]);
  if( nOp!=sqpyteEffectsAsked->nOp ) abort();
  memcpy(sqpyteEffectsAsked->aAt, aAt, sizeof(int)*nOp);
}

/* An opcode as the VM decodes it. */
static int sqpyteEffectsOpcode(const Op *pOp){
  if( pOp->opcode==OP_AggStep1 ) return pOp->p1 ? OP_AggInverse : OP_AggStep;
  return pOp->opcode;
}

static int sqpyteEffectsP3(const Op *aOp, int pc){
  const Op *pOp = &aOp[pc];
  int i, last = pOp->p3;
  if( pOp->opcode==OP_Compare && (pOp->p5 & OPFLAG_PERMUTE) && pc>0 ) pOp--;
  if( pOp->opcode==OP_Permutation && pOp->p4type==P4_INTARRAY ){
    last = pOp->p3;
    for(i=1; i<=(int)pOp->p4.ai[0]; i++){
      if( (int)pOp->p4.ai[i]+1>last ) last = pOp->p4.ai[i] + 1;
    }
  }
  return last;
}

static int sqpyteEffectsOperand(const Op *aOp, int pc, int number){
  const Op *pOp = &aOp[pc];
  switch( number ){
    case 1: return pOp->p1;
    case 2: return pOp->p2;
    case 3: return sqpyteEffectsP3(aOp, pc);
    case 4: return pOp->p4type==P4_INT32 ? pOp->p4.i : 0;
    default: return pOp->p5;
  }
}

/* The function that an opcode calls, or 0, and how many arguments it gets. */
static FuncDef *sqpyteEffectsFunction(const Op *pOp, int *pnArg){
  *pnArg = 0;
  if( pOp->p4type==P4_FUNCCTX ){
    *pnArg = pOp->p4.pCtx->argc;
    return pOp->p4.pCtx->pFunc;
  }
  if( pOp->p4type!=P4_FUNCDEF ) return 0;
  *pnArg = pOp->p5;
  return pOp->p4.pFunc;
}

/* The registers [*pFirst, *pEnd) of an entry that is no operand. */
static void sqpyteEffectsSpecial(const Op *aOp, int nOp, int pc, int special, int *pFirst, int *pEnd){
  const Op *pOp = &aOp[pc];
  int i, n = 1;
  *pFirst = 0;
  switch( special ){
    case SQPYTE_SPECIAL_RECORD:
      for(i=0; i<nOp && pOp->opcode==OP_Column; i++){
        if( aOp[i].opcode==OP_OpenPseudo && aOp[i].p1==pOp->p1 ) *pFirst = aOp[i].p2;
      }
      break;
    case SQPYTE_SPECIAL_SKIP:
      if( sqpyteEffectsOpcode(pOp)==OP_AggStep && pc>0 && pOp[-1].opcode==OP_CollSeq ) *pFirst = pOp[-1].p1;
      break;
    case SQPYTE_SPECIAL_P2REG:
      if( pOp->p5 & OPFLAG_P2ISREG ) *pFirst = pOp->p2;
      break;
    case SQPYTE_SPECIAL_P3VALUE:
      if( pOp->p1<0 ) *pFirst = pOp->p3;
      break;
    case SQPYTE_SPECIAL_NEXT_KEY:
      if( pc+1<nOp ) *pFirst = pOp[1].p3;
      n = pc+1<nOp ? sqpyteEffectsOperand(aOp, pc+1, 4) : 0;
      break;
    case SQPYTE_SPECIAL_FROM_P1:
      *pFirst = pOp->p1>0 ? pOp->p1 : 1;
      n = 1<<24;
      break;
    case SQPYTE_SPECIAL_UNDECODED:
      if( aOp[0].opcode==OP_Init && aOp[0].p3>0 ) *pFirst = pOp->p3;
      break;
    case SQPYTE_SPECIAL_ARGUMENTS:
      *pFirst = pOp->p2;
      sqpyteEffectsFunction(pOp, &n);
      break;
    default:
      fprintf(stderr, "sqpyte effects: table.SPECIAL (sqpyte/vm/opcodes) has an entry that effects/program.c doesn't know\n");
      abort();
  }
  *pEnd = *pFirst + n;
}

/* Append the registers of these entries. */
static void sqpyteEffectsPutSpans(SqpyteProgram *pProgram, int pc, const SqpyteOperands *aSpan){
  const Op *aOp = pProgram->aOp;
  int at = pProgram->nData, first, end;
  sqpyteEffectsPut(pProgram, 0);
  for(; aSpan->base || aSpan->special>=0; aSpan++){
    if( aSpan->special>=0 ){
      sqpyteEffectsSpecial(aOp, pProgram->nOp, pc, aSpan->special, &first, &end);
    }else{
      first = sqpyteEffectsOperand(aOp, pc, aSpan->base);
      if( aSpan->count==SQPYTE_TO_THE_END ) end = first>0 ? pProgram->nLast + 1 : 0;
      else if( aSpan->form==2 ) end = sqpyteEffectsOperand(aOp, pc, aSpan->count) + 1;
      else if( aSpan->count ) end = first + sqpyteEffectsOperand(aOp, pc, aSpan->count) + aSpan->form;
      else end = first + aSpan->constant + aSpan->form;
    }
    if( first<1 ) first = 1;
    if( end>pProgram->nLast+1 ) end = pProgram->nLast + 1;
    if( end<=first ) continue;
    pProgram->aData[at]++;
    sqpyteEffectsPut(pProgram, first);
    sqpyteEffectsPut(pProgram, end);
  }
}

/* Whether nothing but cursor c moves when it writes: it is an ephemeral table that no other cursor is on. */
static int sqpyteEffectsAlone(const SqpyteProgram *pProgram, int c){
  int i, found = 0;
  for(i=0; i<pProgram->nOp; i++){
    const Op *pOp = &pProgram->aOp[i];
    switch( pOp->opcode ){
      case OP_OpenEphemeral: case OP_OpenAutoindex:
        if( pOp->p1==c ) found = 1;
        break;
      case OP_OpenDup:
        if( pOp->p1==c || pOp->p2==c ) return 0;
        break;
      case OP_OpenRead: case OP_OpenWrite: case OP_ReopenIdx:
        if( pOp->p1==c ) return 0;
        break;
    }
  }
  return found;
}

/* Append the cursors of these entries (table.py's `moves`). */
static void sqpyteEffectsPutCursors(SqpyteProgram *pProgram, int pc, const signed char *aMoved, int all){
  const Op *pOp = &pProgram->aOp[pc];
  int at = pProgram->nData;
  sqpyteEffectsPut(pProgram, 0);
  for(; *aMoved!=SQPYTE_MOVED_END; aMoved++){
    if( *aMoved==SQPYTE_MOVED_ALL ) all = 1;
    else if( *aMoved==SQPYTE_MOVED_WRITTEN ){
      if( !sqpyteEffectsAlone(pProgram, pOp->p1) ) all = 1;
      else{
        pProgram->aData[at]++;
        sqpyteEffectsPut(pProgram, pOp->p1);
      }
    }else{
      pProgram->aData[at]++;
      sqpyteEffectsPut(pProgram, sqpyteEffectsOperand(pProgram->aOp, pc, *aMoved));
    }
  }
  if( all ){
    pProgram->nData = at;
    sqpyteEffectsPut(pProgram, SQPYTE_ANY);
  }
}

static void sqpyteEffectsPutNext(SqpyteProgram *pProgram, int at, int address){
  pProgram->aData[at]++;
  sqpyteEffectsPut(pProgram, address);
}

/* More Yields of a coroutine aren't listed for each of them (VALUES with many rows): then any opcode may follow. */
#define SQPYTE_MOST_LISTED 1000

/* Append the addresses that may follow the opcode at pc. */
static void sqpyteEffectsPutSuccessors(SqpyteProgram *pProgram, int pc, int jumps){
  const Op *aOp = pProgram->aOp, *pOp = &aOp[pc];
  int at = pProgram->nData, i;
  sqpyteEffectsPut(pProgram, 0);
  if( jumps & SQPYTE_JUMP_NEXT ) sqpyteEffectsPutNext(pProgram, at, pc+1);
  if( jumps & SQPYTE_JUMP_SECOND ) sqpyteEffectsPutNext(pProgram, at, pc+2);
  if( (jumps & SQPYTE_JUMP_NEXT_P2) && pc+1<pProgram->nOp ) sqpyteEffectsPutNext(pProgram, at, pOp[1].p2);
  if( (jumps & SQPYTE_JUMP_CORRUPT) && aOp[0].opcode==OP_Init && aOp[0].p3>0 ){
    sqpyteEffectsPutNext(pProgram, at, aOp[0].p3);
  }
  if( jumps & SQPYTE_JUMP_P1 ) sqpyteEffectsPutNext(pProgram, at, pOp->p1);
  if( jumps & SQPYTE_JUMP_P2 ) sqpyteEffectsPutNext(pProgram, at, pOp->p2 ? pOp->p2 : pc+1);
  if( jumps & SQPYTE_JUMP_P3 ) sqpyteEffectsPutNext(pProgram, at, pOp->p3);
  if( jumps & SQPYTE_JUMP_RETURN ){
    if( pOp->p3 ) sqpyteEffectsPutNext(pProgram, at, pc+1);
    for(i=0; i<pProgram->nOp; i++){
      if( aOp[i].opcode==OP_Gosub && aOp[i].p1==pOp->p1 ) sqpyteEffectsPutNext(pProgram, at, i+1);
      if( aOp[i].opcode==OP_Integer && aOp[i].p2==pOp->p1 ) sqpyteEffectsPutNext(pProgram, at, aOp[i].p1+1);
    }
  }
  if( jumps & SQPYTE_JUMP_COROUTINE ){
    int yields = pOp->opcode==OP_Yield;
    int n = 0;
    for(i=0; i<pProgram->nOp && n<=SQPYTE_MOST_LISTED; i++) n += aOp[i].opcode==OP_Yield && aOp[i].p1==pOp->p1;
    if( n>SQPYTE_MOST_LISTED ){
      pProgram->aData[at] = SQPYTE_ANY;
      pProgram->nData = at + 1;
      return;
    }
    for(i=0; i<pProgram->nOp; i++){
      if( aOp[i].p1!=pOp->p1 ) continue;
      if( aOp[i].opcode==OP_InitCoroutine && yields ) sqpyteEffectsPutNext(pProgram, at, aOp[i].p3);
      if( aOp[i].opcode==OP_EndCoroutine && yields ) sqpyteEffectsPutNext(pProgram, at, i);
      if( aOp[i].opcode==OP_Yield ) sqpyteEffectsPutNext(pProgram, at, yields ? i+1 : aOp[i].p2);
    }
  }
}

/* Compute the declared effects of a program from the generated table. */
static void sqpyteEffectsEvaluate(SqpyteProgram *pProgram){
  int pc;
  for(pc=0; pc<pProgram->nOp; pc++){
    int nArg, opcode = sqpyteEffectsOpcode(&pProgram->aOp[pc]);
    FuncDef *pFunc = sqpyteEffectsFunction(&pProgram->aOp[pc], &nArg);
    const SqpyteDeclared *pDeclared = opcode<SQPYTE_NDECLARED ? &sqpyteDeclared[opcode] : 0;
    pProgram->aAt[pc] = pProgram->nData;
    if( pDeclared==0 || !pDeclared->known ){
      sqpyteEffectsPut(pProgram, 1);        /* reads everything, */
      sqpyteEffectsPut(pProgram, 1);
      sqpyteEffectsPut(pProgram, pProgram->nLast + 1);
      sqpyteEffectsPut(pProgram, 1);        /* writes everything, */
      sqpyteEffectsPut(pProgram, 1);
      sqpyteEffectsPut(pProgram, pProgram->nLast + 1);
      sqpyteEffectsPut(pProgram, 0);
      sqpyteEffectsPut(pProgram, SQPYTE_ANY);
      sqpyteEffectsPut(pProgram, SQPYTE_ANY);
      sqpyteEffectsPut(pProgram, SQPYTE_ANY);
      sqpyteEffectsPut(pProgram, SQPYTE_ANY);
      continue;
    }
    sqpyteEffectsPutSpans(pProgram, pc, pDeclared->aRead);
    sqpyteEffectsPutSpans(pProgram, pc, pDeclared->aWrite);
    sqpyteEffectsPutSpans(pProgram, pc, pDeclared->aConvert);
    sqpyteEffectsPutCursors(pProgram, pc, pDeclared->aMoved, pDeclared->userCode && pFunc
        && sqpyte_function_kind(pFunc, SQLITE_UTF8)==SQPYTE_FUNC_USER);
    sqpyteEffectsPutCursors(pProgram, pc, pDeclared->aTouched, 0);
    sqpyteEffectsPutSuccessors(pProgram, pc, pDeclared->jumps);
    sqpyteEffectsPut(pProgram, SQPYTE_ANY);
  }
}

/* The effects of the program that p executes now. */
static SqpyteProgram *sqpyteEffectsProgram(Vdbe *p, SqpyteEffects *pEffects){
  SqpyteProgram *pProgram;
  for(pProgram=pEffects->pPrograms; pProgram; pProgram=pProgram->pNext){
    if( pProgram->aOp==p->aOp ) return pProgram;
  }
  pProgram = calloc(1, sizeof(*pProgram));
  if( pProgram==0 ) abort();
  pProgram->aOp = p->aOp;
  pProgram->nOp = p->nOp;
  pProgram->nLast = p->nMem - (p->nCursor>0 ? p->nCursor : 1);
  pProgram->aAt = malloc(sizeof(int)*(p->nOp+1));
  if( pProgram->aAt==0 ) abort();
  sqpyteEffectsAsked = pProgram;
  if( sqpyteEffectsProvider==0 || sqpyteEffectsProvider(p)!=0 ) sqpyteEffectsEvaluate(pProgram);
  sqpyteEffectsAsked = 0;
  pProgram->pNext = pEffects->pPrograms;
  pEffects->pPrograms = pProgram;
  sqpyteEffectsCounts.nProgram++;
  return pProgram;
}

static const int *sqpyteEffectsTake(const int *a, SqpyteList *pList, int width){
  pList->n = *a++;
  pList->a = a;
  return pList->n>0 ? a + width*pList->n : a;
}

/* The declared effects of the opcode at pc. */
static void sqpyteEffectsOf(const SqpyteProgram *pProgram, int pc, SqpyteOpEffects *pOut){
  const int *a = &pProgram->aData[pProgram->aAt[pc]];
  a = sqpyteEffectsTake(a, &pOut->read, 2);
  a = sqpyteEffectsTake(a, &pOut->write, 2);
  a = sqpyteEffectsTake(a, &pOut->convert, 2);
  a = sqpyteEffectsTake(a, &pOut->move, 1);
  a = sqpyteEffectsTake(a, &pOut->touch, 1);
  a = sqpyteEffectsTake(a, &pOut->next, 1);
  sqpyteEffectsTake(a, &pOut->live, 2);
}

static int sqpyteEffectsHasRegister(const SqpyteList *pList, int r){
  int i;
  for(i=0; i<pList->n; i++) if( pList->a[2*i]<=r && r<pList->a[2*i+1] ) return 1;
  return 0;
}

static int sqpyteEffectsHas(const SqpyteList *pList, int value){
  int i;
  if( pList->n==SQPYTE_ANY ) return 1;
  for(i=0; i<pList->n; i++) if( pList->a[i]==value ) return 1;
  return 0;
}
