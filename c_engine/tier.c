/*
** When a loop that seeks is worth the VM: a choice by what is left to do, and by what earlier runs of
** the same program have shown. Included by engine.c.
**
** Tracing a join takes some 20 to 300 ms. A first run pays that only if much more is left, which the
** outermost scan's place in its B-tree tells. Later runs of a program that takes long enough enter the VM
** at once; if it turns out not to be faster there, seeks being most of its time, it goes back to C.
*/
#include <time.h>

/* A first run enters the VM if it is expected to take this much longer. */
#define SQPYTE_WORTH_NS 2000000000
/* Later runs do if the program has taken this long in C. */
#define SQPYTE_REPEATED_NS 10000000
/* After so many runs in the VM, the first of which trace, its best time is compared with C's. */
#define SQPYTE_TRIALS 4
/* C's first run may have been slow for other reasons: unless the VM takes clearly less, so many runs in
** C decide. */
#define SQPYTE_C_TRIALS 3
#define SQPYTE_CLEARLY(bestVm, bestC) ((bestVm)*100<=(bestC)*70)

/* What is known of a program from its runs. Times are those from a run's first hot loop to the end of
** that sqlite3_step, in nanoseconds; the best one, 0 if there is none yet. */
typedef struct SqpyteHistory SqpyteHistory;
struct SqpyteHistory {
  u64 hash;               /* of the program's key; 0: unused */
  i64 inC;                /* all time spent in C */
  i64 bestC, bestVm;
  int runsC, runsVm;
};
#define SQPYTE_HISTORIES 1024     /* a power of two */
static SqpyteHistory sqpyteHistories[SQPYTE_HISTORIES];

static i64 sqpyteNow(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (i64)t.tv_sec*1000000000 + t.tv_nsec;
}

/* The history of a statement's program; an old one is overwritten when the table is crowded. */
static SqpyteHistory *sqpyteHistoryOf(Vdbe *p){
  SqpyteHistory *pFound;
  u64 h = 14695981039346656037u;
  long i, n = sqpyte_program_key(p, 0, 0);
  u8 *a = sqlite3_malloc64(n);
  if( a==0 ) return 0;
  sqpyte_program_key(p, (long)a, n);
  for(i=0; i<n; i++) h = (h ^ a[i]) * 1099511628211u;
  sqlite3_free(a);
  h |= 1;
  for(i=0; i<8; i++){
    pFound = &sqpyteHistories[(h/2 + i) & (SQPYTE_HISTORIES-1)];
    if( pFound->hash==h ) return pFound;
    if( pFound->hash==0 ) break;
  }
  memset(pFound, 0, sizeof(*pFound));
  pFound->hash = h;
  return pFound;
}

/* How far the scan around the opcode pc has come that lies furthest out: from 0 to 1, or -1. */
static double sqpyteProgress(Vdbe *p, int pc){
  int i, head = p->nOp;
  VdbeCursor *pC = 0;
  BtCursor *pCur;
  double at = 0.0, width = 1.0;
  for(i=pc; i<p->nOp; i++){
    const VdbeOp *pOp = &p->aOp[i];
    if( (pOp->opcode==OP_Next || pOp->opcode==OP_Prev) && pOp->p2<=pc && pOp->p2<head ){
      head = pOp->p2;
      pC = pOp->p1<p->nCursor ? p->apCsr[pOp->p1] : 0;
    }
  }
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE ) return -1;
  pCur = pC->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID ) return -1;
  for(i=0; i<=pCur->iPage; i++){
    MemPage *pPage = i<pCur->iPage ? pCur->apPage[i] : pCur->pPage;
    int ix = i<pCur->iPage ? pCur->aiIdx[i] : pCur->ix;
    width /= pPage->nCell + !pPage->leaf;
    at += ix*width;
  }
  return at;
}

/* A loop that seeks is hot, again and again: whether to enter the VM. */
static int sqpyteWorthwhile(Vdbe *p, int pc){
  SqpyteHistory *pHistory;
  i64 now, elapsed, left;
  double at;
  if( p->pSqpyteHistory==0 ) p->pSqpyteHistory = sqpyteHistoryOf(p);
  pHistory = (SqpyteHistory*)p->pSqpyteHistory;
  if( pHistory==0 ) return 0;
  now = sqpyteNow();
  if( p->sqpyteHotSince==0 ){
    p->sqpyteHotSince = now;
    p->sqpyteHotAt = sqpyteProgress(p, pc);
  }
  if( pHistory->runsVm>=SQPYTE_TRIALS ){
    if( pHistory->runsC<SQPYTE_C_TRIALS && !SQPYTE_CLEARLY(pHistory->bestVm, pHistory->bestC) ){
      return 0;
    }
    return pHistory->bestVm<=pHistory->bestC;
  }
  if( pHistory->runsVm>0 || (pHistory->runsC>0 && pHistory->inC>=SQPYTE_REPEATED_NS) ) return 1;
  elapsed = now - p->sqpyteHotSince;
  at = sqpyteProgress(p, pc);
  left = elapsed;
  if( p->sqpyteHotAt>=0 && at>p->sqpyteHotAt ){
    left = (i64)(elapsed * (1-at) / (at-p->sqpyteHotAt));
  }
  return elapsed>SQPYTE_WORTH_NS/100 && left>SQPYTE_WORTH_NS;
}

/* The end of one sqlite3_step in which a loop that seeks was hot. */
static void sqpyteNoteRun(Vdbe *p){
  SqpyteHistory *pHistory = (SqpyteHistory*)p->pSqpyteHistory;
  i64 t = sqpyteNow() - p->sqpyteHotSince;
  p->sqpyteHotSince = 0;
  if( pHistory==0 ) return;
  if( p->sqpyteSeeks ){
    if( pHistory->bestVm==0 || t<pHistory->bestVm ) pHistory->bestVm = t;
    pHistory->runsVm++;
  }else{
    if( pHistory->bestC==0 || t<pHistory->bestC ) pHistory->bestC = t;
    pHistory->inC += t;
    pHistory->runsC++;
  }
  p->sqpyteSeeks = 0;
}
