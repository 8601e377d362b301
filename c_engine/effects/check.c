/*
** Runs a statement's opcodes one by one and compares what each does with
** what it is declared to do.
**
** Invariant: between two opcodes every register of a running program is
** poison in its Mem, and its value is kept in aKept. Before an opcode only the
** registers that it is declared to read come back. So
**   * a read that isn't declared meets poison: a text where nothing can be read,
**     or a NULL that the statement's answer shows, both recognised when they are copied;
**   * a write that isn't declared overwrites poison, which is seen; so is a
**     declared write that isn't done;
**   * a register that is only read must hold the same value afterwards;
**   * a cursor that isn't declared to move must stand where it stood;
**   * the next opcode must be a declared successor;
**   * with liveness from the VM's own analysis, a register that it has called dead
**     must not be read before it is written again.
** What isn't checked: statements under a progress handler, which counts opcodes; programs that run ahead
** of their caller (call_log.h).
*/
#include "effects.h"
#include "report.c"
#include "program.c"
#include "cursors.c"

/* Registers of a frame that are looked at after each opcode for undeclared writes. */
#define SQPYTE_SCAN 400

static unsigned sqpyteEffectsSeed = 1;

static void *sqpyteEffectsAlloc(size_t n){
  void *p = calloc(1, n ? n : 1);
  if( p==0 ) abort();
  return p;
}

/* ---- values ---- */

static u8 sqpyteEffectsByte(const Mem *pMem, int i){
  return i<pMem->n ? (u8)pMem->z[i] : 0;        /* MEM_Zero */
}

/* A hash of a text or blob: its size, its first and its last bytes. */
static u64 sqpyteEffectsContent(const Mem *pMem){
  int n = pMem->n + ((pMem->flags & MEM_Zero) ? pMem->u.nZero : 0);
  u64 h = SQPYTE_HASH_START + n;
  int i;
  for(i=0; i<n; i++){
    u8 c;
    if( i==64 && n>128 ) i = n - 64;
    c = sqpyteEffectsByte(pMem, i);
    h = sqpyteEffectsHash(h, &c, 1);
  }
  return h;
}

/* A hash of a register's value, whatever the representations that it has; its last two bits are a text's
** encoding, so that it can be told whether the hashes of two texts can be compared. */
static u64 sqpyteEffectsValue(const Mem *pMem){
  int flags = pMem->flags;
  u64 h = SQPYTE_HASH_START;
  int kind = flags & (MEM_Null|MEM_Int|MEM_Real|MEM_IntReal|MEM_Agg);
  if( kind==0 ) kind = flags & (MEM_Str|MEM_Blob);
  h = sqpyteEffectsHash(h, &kind, sizeof(kind));
  if( flags & MEM_Subtype ) h = sqpyteEffectsHash(h, &pMem->eSubtype, 1);
  if( flags & MEM_Agg ) return ~(u64)3 & sqpyteEffectsHash(h, &pMem->z, sizeof(pMem->z));
  if( flags & (MEM_Null|MEM_Cleared) ){
    int marks = flags & (MEM_Cleared|MEM_Zero|MEM_Term);
    return ~(u64)3 & sqpyteEffectsHash(h, &marks, sizeof(marks));
  }
  if( flags & (MEM_Int|MEM_Real|MEM_IntReal) ) return ~(u64)3 & sqpyteEffectsHash(h, &pMem->u, sizeof(pMem->u));
  if( flags & MEM_Dyn ) return ~(u64)3 & sqpyteEffectsHash(h, &pMem->z, sizeof(pMem->z));     /* or a set, a frame */
  if( flags & (MEM_Str|MEM_Blob) ){
    /* A Column for length() or typeof() alone points a large value at this in place of its content. */
    if( pMem->z==(const char*)sqlite3CtypeMap ) h = sqpyteEffectsHash(h, &pMem->n, sizeof(pMem->n));
    else h ^= sqpyteEffectsContent(pMem);
    if( flags & MEM_Str ) return (h & ~(u64)3) | (pMem->enc & 3);
  }
  return h & ~(u64)3;
}

/* Whether two such hashes are of one value. A function may have its arguments in another encoding. */
static int sqpyteEffectsSame(u64 a, u64 b){
  return a==b || ((a & 3) && (b & 3) && (a & 3)!=(b & 3));
}

/* A hash of what must stay as it is while the register isn't touched: memory of its own. */
static u64 sqpyteEffectsOwned(const Mem *pMem){
  if( (pMem->flags & (MEM_Str|MEM_Blob))==0 || (pMem->flags & (MEM_Dyn|MEM_Agg|MEM_Static|MEM_Ephem))
   || pMem->szMalloc==0 || pMem->z!=pMem->zMalloc ) return 0;
  return sqpyteEffectsContent(pMem);
}

/* ---- poison ---- */

/* No opcode makes a NULL with these flags of what it finds in a register. */
#define SQPYTE_POISON_FLAGS(kind) \
  ((kind)==SQPYTE_POISON_NULL ? MEM_Null|MEM_Cleared|MEM_Static : MEM_Str|MEM_Static)

static void sqpyteEffectsSetPoison(Mem *pMem, int r, int kind, sqlite3 *db){
  memset(pMem, 0, sizeof(*pMem));
  pMem->db = db;
  pMem->enc = SQLITE_UTF8;
  pMem->flags = SQPYTE_POISON_FLAGS(kind);
  pMem->z = sqpyteEffectsPoison + 64*(r % (SQPYTE_POISON_SIZE/64));
  pMem->n = 33;
}

static int sqpyteEffectsIsPoison(const Mem *pMem, int r, int kind){
  return pMem->flags==SQPYTE_POISON_FLAGS(kind)
      && pMem->n==33 && pMem->u.i==0 && pMem->szMalloc==0 && pMem->zMalloc==0
      && pMem->z==sqpyteEffectsPoison + 64*(r % (SQPYTE_POISON_SIZE/64));
}

/* The register whose poison this value has been made of, or 0. */
static int sqpyteEffectsTaint(const Mem *pMem){
  int null = SQPYTE_POISON_FLAGS(SQPYTE_POISON_NULL);
  int copied = (pMem->flags & (MEM_Str|MEM_Blob)) || (pMem->flags & null)==null;
  if( !copied || pMem->z<sqpyteEffectsPoison
   || pMem->z>=sqpyteEffectsPoison + SQPYTE_POISON_SIZE ) return 0;
  return (int)((pMem->z - sqpyteEffectsPoison)/64);
}

static void sqpyteEffectsSwapOut(SqpyteCheckedFrame *pFrame, int r){
  Mem *pMem = &pFrame->aMem[r];
  pFrame->aKept[r] = *pMem;
  pFrame->aDigest[r] = sqpyteEffectsOwned(pMem);
  sqpyteEffectsSeed = sqpyteEffectsSeed*1103515245 + 12345;
  pFrame->aOut[r] = ((sqpyteEffectsSeed>>16) & 7)==0 ? SQPYTE_POISON_NULL : SQPYTE_POISON_TEXT;
  sqpyteEffectsSetPoison(pMem, r, pFrame->aOut[r], pMem->db);
}

static void sqpyteEffectsSwapIn(SqpyteCheckedRun *pRun, SqpyteCheckedFrame *pFrame, int r){
  pFrame->aMem[r] = pFrame->aKept[r];
  pFrame->aOut[r] = 0;
  if( pRun && sqpyteEffectsOwned(&pFrame->aMem[r])!=pFrame->aDigest[r] ){
    sqpyteEffectsFail(pRun, "reads register %d, whose text or blob has changed since it was set", r);
  }
}

/* Have the program's own values in all registers again: it stops here, or ends. */
static void sqpyteEffectsRestore(SqpyteCheckedFrame *pFrame){
  int r;
  for(r=1; r<=pFrame->n; r++){
    if( pFrame->aOut[r]==0 ) continue;
    if( sqpyteEffectsIsPoison(&pFrame->aMem[r], r, pFrame->aOut[r]) ){
      sqpyteEffectsSwapIn(0, pFrame, r);
    }else{
      sqlite3VdbeMemRelease(&pFrame->aKept[r]);     /* the opcode has written it */
      pFrame->aOut[r] = 0;
    }
  }
}

/* ---- frames ---- */

static void sqpyteEffectsPush(SqpyteCheckedRun *pRun, SqpyteEffects *pEffects){
  Vdbe *p = pRun->p;
  SqpyteCheckedFrame *pFrame = sqpyteEffectsAlloc(sizeof(*pFrame));
  int r, n;
  pFrame->pProgram = sqpyteEffectsProgram(p, pEffects);
  pFrame->pFrame = p->pFrame;
  pFrame->aOp = p->aOp;
  pFrame->aMem = p->aMem;
  n = pFrame->n = p->nMem - (p->nCursor>0 ? p->nCursor : 1);
  pFrame->nCursor = p->nCursor;
  pFrame->pc = p->pc;
  pFrame->aKept = sqpyteEffectsAlloc(sizeof(Mem)*(n+1));
  pFrame->aOut = sqpyteEffectsAlloc(n+1);
  pFrame->aRole = sqpyteEffectsAlloc(n+1);
  pFrame->aDigest = sqpyteEffectsAlloc(sizeof(u64)*(n+1));
  pFrame->aDead = sqpyteEffectsAlloc(sizeof(int)*(n+1));
  pFrame->aConverted = sqpyteEffectsAlloc(sizeof(int)*(n+1));
  pFrame->aCursor = sqpyteEffectsAlloc(sizeof(SqpyteCursorState)*p->nCursor);
  for(r=1; r<=n; r++) sqpyteEffectsSwapOut(pFrame, r);
  pFrame->pParent = pRun->pTop;
  pRun->pTop = pFrame;
}

static void sqpyteEffectsPop(SqpyteCheckedRun *pRun){
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  pRun->pTop = pFrame->pParent;
  free(pFrame->aKept);
  free(pFrame->aOut);
  free(pFrame->aRole);
  free(pFrame->aDigest);
  free(pFrame->aDead);
  free(pFrame->aConverted);
  free(pFrame->aCursor);
  free(pFrame);
}

/* sqlite3VdbeHalt is about to release all registers and frames. */
static void sqpyteEffectsHalting(Vdbe *p){
  SqpyteEffects *pEffects = p->pSqpyteEffects;
  SqpyteCheckedFrame *pFrame;
  if( pEffects==0 || pEffects->pRun==0 || pEffects->pRun->halted ) return;
  for(pFrame=pEffects->pRun->pTop; pFrame; pFrame=pFrame->pParent) sqpyteEffectsRestore(pFrame);
  pEffects->pRun->halted = 1;
}

static void sqpyteEffectsForget(Vdbe *p){
  SqpyteEffects *pEffects = p->pSqpyteEffects;
  if( pEffects==0 ) return;
  while( pEffects->pPrograms ){
    SqpyteProgram *pProgram = pEffects->pPrograms;
    pEffects->pPrograms = pProgram->pNext;
    free(pProgram->aAt);
    free(pProgram->aData);
    free(pProgram);
  }
  free(pEffects->aDead);
  free(pEffects);
  p->pSqpyteEffects = 0;
}

/* ---- one opcode ---- */

/* Do `code` for each register r of a list of pairs. */
#define SQPYTE_EACH(list, code) do{ \
    int i_, r; \
    for(i_=0; i_<(list).n; i_++) for(r=(list).a[2*i_]; r<(list).a[2*i_+1] && r<=pFrame->n; r++){ code } \
  }while(0)

static void sqpyteEffectsBefore(SqpyteCheckedRun *pRun, const SqpyteOpEffects *pOf){
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  int c;
  if( pOf->live.n!=SQPYTE_ANY ){
    int r0 = 1, i;
    for(i=0; i<=pOf->live.n; i++){
      int end = i<pOf->live.n ? pOf->live.a[2*i] : pFrame->n + 1;
      for(; r0<end && r0<=pFrame->n; r0++) if( pFrame->aDead[r0]==0 ) pFrame->aDead[r0] = pFrame->pc + 1;
      if( i<pOf->live.n ) r0 = pOf->live.a[2*i+1];
    }
  }
  SQPYTE_EACH(pOf->write, { pFrame->aRole[r] |= SQPYTE_WRITE; });
  SQPYTE_EACH(pOf->read, {
    if( pFrame->aRole[r] & SQPYTE_READ ) continue;
    pFrame->aRole[r] |= SQPYTE_READ;
    if( pFrame->aDead[r] ){
      sqpyteEffectsFail(pRun, "reads register %d, which liveness holds dead at address %d", r,
                        pFrame->aDead[r]-1);
      pFrame->aDead[r] = 0;
    }
    /* A span to the last register says what may be read at most (Delete's new row), not what is. */
    if( pFrame->aConverted[r] && pFrame->aConverted[r]!=pFrame->pc+1 && pOf->read.a[2*i_+1]<=pFrame->n ){
      sqpyteEffectsFail(pRun, "reads register %d, which the opcode at address %d has converted", r,
                        pFrame->aConverted[r]-1);
      pFrame->aConverted[r] = 0;
    }
    sqpyteEffectsSwapIn(pRun, pFrame, r);
    if( (pFrame->aRole[r] & SQPYTE_WRITE)==0 ) pFrame->aDigest[r] = sqpyteEffectsValue(&pFrame->aMem[r]);
  });
  for(c=0; c<pFrame->nCursor; c++) sqpyteEffectsCursor(pRun->p->apCsr[c], &pFrame->aCursor[c]);
}

/* Look for writes that aren't declared: registers that should still be poison. */
static void sqpyteEffectsScan(SqpyteCheckedRun *pRun, SqpyteCheckedFrame *pFrame){
  int i, r = pFrame->n>SQPYTE_SCAN ? pFrame->iScan : 1;
  int n = pFrame->n>SQPYTE_SCAN ? SQPYTE_SCAN : pFrame->n;
  for(i=0; i<n; i++, r++){
    if( r<1 || r>pFrame->n ) r = 1;
    if( pFrame->aOut[r]==0 || (pFrame->aRole[r] & SQPYTE_WRITE)
     || sqpyteEffectsIsPoison(&pFrame->aMem[r], r, pFrame->aOut[r]) ) continue;
    sqpyteEffectsFail(pRun, "wrote register %d, which isn't declared%s", r,
                      pFrame->n>SQPYTE_SCAN ? " (or an opcode shortly before did)" : "");
    sqlite3VdbeMemRelease(&pFrame->aKept[r]);
    sqpyteEffectsSwapOut(pFrame, r);
  }
  pFrame->iScan = r;
}

/* `done`: the opcode is, and won't be run once more (SQLITE_BUSY). */
static void sqpyteEffectsAfterRegisters(SqpyteCheckedRun *pRun, const SqpyteOpEffects *pOf, int done){
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  SQPYTE_EACH(pOf->write, {
    if( (pFrame->aRole[r] & SQPYTE_WRITE)==0 ) continue;
    if( (pFrame->aRole[r] & SQPYTE_READ)==0 ){
      if( sqpyteEffectsIsPoison(&pFrame->aMem[r], r, pFrame->aOut[r]) ){
        if( done ) sqpyteEffectsFail(pRun, "left register %d as it was, which it is declared to write", r);
        sqpyteEffectsSwapIn(0, pFrame, r);
      }else{
        sqlite3VdbeMemRelease(&pFrame->aKept[r]);
      }
    }
    if( sqpyteEffectsTaint(&pFrame->aMem[r]) ){
      sqpyteEffectsFail(pRun, "copied register %d to register %d, which isn't declared",
                        sqpyteEffectsTaint(&pFrame->aMem[r]), r);
      sqlite3VdbeMemSetNull(&pFrame->aMem[r]);
    }
    pFrame->aDead[r] = 0;
    pFrame->aConverted[r] = 0;
    pFrame->aRole[r] = 0;
    sqpyteEffectsSwapOut(pFrame, r);
  });
  SQPYTE_EACH(pOf->read, {
    if( (pFrame->aRole[r] & SQPYTE_READ)==0 ) continue;
    if( !sqpyteEffectsSame(sqpyteEffectsValue(&pFrame->aMem[r]), pFrame->aDigest[r]) ){
      if( sqpyteEffectsHasRegister(&pOf->convert, r) ){
        pFrame->aConverted[r] = pFrame->pc + 1;
      }else{
        sqpyteEffectsFail(pRun, "changed register %d, which it is declared to read only (flags now %x)", r,
                          pFrame->aMem[r].flags);
      }
    }
    pFrame->aRole[r] = 0;
    sqpyteEffectsSwapOut(pFrame, r);
  });
}

static void sqpyteEffectsAfterCursors(SqpyteCheckedRun *pRun, const SqpyteOpEffects *pOf){
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  SqpyteCursorState now;
  int c;
  if( pOf->move.n==SQPYTE_ANY ) return;
  for(c=0; c<pFrame->nCursor; c++){
    const char *z;
    if( sqpyteEffectsHas(&pOf->move, c) ) continue;
    sqpyteEffectsCursor(pRun->p->apCsr[c], &now);
    z = sqpyteEffectsMoved(&pFrame->aCursor[c], &now);
    if( sqpyteEffectsHas(&pOf->touch, c) ){
      if( !sqpyteEffectsPlaced(&pFrame->aCursor[c]) ) z = 0;
    }else if( z==0 ){
      z = sqpyteEffectsTouched(&pFrame->aCursor[c], &now);
    }
    if( z ) sqpyteEffectsFail(pRun, "changed %s of cursor %d, which isn't declared", z, c);
  }
}

/* After the opcode of the top frame; the program goes on at p->pc. */
static void sqpyteEffectsAfter(SqpyteCheckedRun *pRun, int rc){
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  SqpyteOpEffects of;
  int again = rc!=SQPYTE_STOP && rc!=SQLITE_ROW && pRun->p->pc==pFrame->pc;
  sqpyteEffectsOf(pFrame->pProgram, pFrame->pc, &of);
  sqpyteEffectsScan(pRun, pFrame);
  sqpyteEffectsAfterRegisters(pRun, &of, !again);
  sqpyteEffectsAfterCursors(pRun, &of);
  if( !again && !sqpyteEffectsHas(&of.next, pRun->p->pc) ){
    sqpyteEffectsFail(pRun, "went on at address %d, which isn't declared", pRun->p->pc);
  }
}

/* Run one opcode of p. Returns what sqlite3VdbeExec would, or SQPYTE_STOP. */
static int sqpyteEffectsStep(SqpyteCheckedRun *pRun, SqpyteEffects *pEffects){
  Vdbe *p = pRun->p;
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  SqpyteOpEffects of;
  SqpyteCheckedFrame *pMain = 0;
  int rc, kept = 0;
  int opcode = p->aOp[p->pc].opcode;
  /* In a trigger's program this register is the main program's, for AUTOINCREMENT. */
  int mains = opcode==OP_MemMax ? p->aOp[p->pc].p1 : opcode==OP_NewRowid ? p->aOp[p->pc].p3 : 0;
  pFrame->pc = p->pc;
  pFrame->nCursor = p->nCursor;
  sqpyteEffectsOf(pFrame->pProgram, p->pc, &of);
  sqpyteEffectsBefore(pRun, &of);
  sqpyteEffectsCounts.nOpcode++;
  sqpyteEffectsCounts.aSeen[opcode] = 1;
  if( mains && pFrame->pParent ){
    for(pMain=pFrame; pMain->pParent; pMain=pMain->pParent){}
    kept = pMain->aOut[mains];
    if( kept ) sqpyteEffectsSwapIn(pRun, pMain, mains);
  }
  rc = sqpyteVdbeExecOne(p);
  p->sqpyteResumed = 1;
  /* The count that these go up in is a local variable of sqlite3VdbeExec: see docs/vm.md. Nothing else may
  ** make it forget what Column has decoded, for IsType reads that of the same row. */
  if( opcode==OP_Insert || opcode==OP_Delete ) p->cacheCtr = (p->cacheCtr + 2)|1;
  if( pRun->halted ) return rc;
  if( pMain && kept ) sqpyteEffectsSwapOut(pMain, mains);
  else if( pMain ) pMain->aDigest[mains] = sqpyteEffectsValue(&pMain->aMem[mains]);
  if( opcode<SQPYTE_NDECLARED && !sqpyteDeclared[opcode].leaves && rc!=SQPYTE_STOP ){
    sqpyteEffectsFail(pRun, "ended the step with %d, which isn't declared (liveness.ENDS_STEP)", rc);
  }
  if( p->pFrame!=pFrame->pFrame && p->pFrame && p->pFrame->pParent==pFrame->pFrame ){
    sqpyteEffectsPush(pRun, pEffects);      /* compared when the trigger's program has ended */
    return rc;
  }
  if( p->pFrame!=pFrame->pFrame ){
    sqpyteEffectsScan(pRun, pFrame);
    sqpyteEffectsRestore(pFrame);
    sqpyteEffectsPop(pRun);
    if( pRun->pTop==0 || pRun->pTop->pFrame!=p->pFrame ) abort();
  }
  sqpyteEffectsAfter(pRun, rc);
  return rc;
}

/* In place of sqlite3VdbeExec in the checking build. */
static int sqpyteCheckedExec(Vdbe *p){
  SqpyteEffects *pEffects;
  SqpyteCheckedRun run;
  int rc;
  if( p->db->xProgress || p->pFrame || p->sqpyteError || p->pc<0 ){
    sqpyteEffectsCounts.nUnchecked++;
    return sqlite3VdbeExec(p);
  }
  if( p->pSqpyteEffects==0 ) p->pSqpyteEffects = sqpyteEffectsAlloc(sizeof(SqpyteEffects));
  pEffects = p->pSqpyteEffects;
  memset(&run, 0, sizeof(run));
  run.p = p;
  run.pOuter = sqpyteEffectsRun;
  sqpyteEffectsRun = &run;
  pEffects->pRun = &run;
  sqpyteEffectsPush(&run, pEffects);
  if( p->pc && pEffects->nDead==run.pTop->n ){
    memcpy(run.pTop->aDead, pEffects->aDead, sizeof(int)*(run.pTop->n+1));
  }
  do{
    rc = sqpyteEffectsStep(&run, pEffects);
  }while( rc==SQPYTE_STOP && !run.halted );
  if( !run.halted ){
    sqpyteEffectsRestore(run.pTop);
    free(pEffects->aDead);
    pEffects->nDead = run.pTop->n;
    pEffects->aDead = run.pTop->aDead;
    run.pTop->aDead = 0;
  }
  while( run.pTop ) sqpyteEffectsPop(&run);
  pEffects->pRun = 0;
  sqpyteEffectsRun = run.pOuter;
  p->sqpyteResumed = 0;
  return rc;
}
