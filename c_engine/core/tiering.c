/*
** When a hot loop is worth the VM: a choice by what is left to do, and by what earlier runs of the same
** program have shown. Included by engine.c.
**
** Tracing takes time: some milliseconds for each opcode of a loop, 20 to 300 ms for a join. A first run
** pays that only if much more is left, which the place of the scan around the loop in its B-tree tells.
** Later runs of a program that has taken as long in C as tracing may take enter the VM at once. A loop that
** seeks may turn out not to be faster there, seeks being most of its time: then it goes back to C.
*/
#include <time.h>

/* Tracing a loop without seeks takes about this long for each of its opcodes, bridges included: counted
** on loops of 5 to 30 opcodes. */
#define SQPYTE_TRACING_NS 1500000
/* Each branch of a loop gets a trace of its own, as long as what is left of the loop: of a loop with more opcodes than
** this the cost grows with the cube. 150 terms of BETWEEN, or sums of a CASE, take 5 to 20 s to trace. */
#define SQPYTE_LONG_LOOP 150
/* A program that the VM hasn't seen is decoded and analysed first: about this long for each opcode. */
#define SQPYTE_DECODING_NS 4000
/* A first run traces such a loop if so many times the cost is left to do in C: the VM is then ahead in the
** end if it is a third faster. */
#define SQPYTE_WORTH_TIMES 4
/* Or if so many times the cost has been spent, whatever seems to be left: the mistake would be small. */
#define SQPYTE_SPENT_TIMES 32
/* A first run enters the VM for a loop that seeks if it is expected to take this much longer. */
#define SQPYTE_WORTH_NS 2000000000
/* Later runs enter it, for any loop, if the program has taken this long in C, and as long as tracing may
** take: so a program of 15 ms isn't twice as slow in its second run. */
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
  int runsC, runsVm;      /* runsVm: with loops that seek in the VM */
  int entered;            /* the VM has been entered for a loop without seeks */
};
#define SQPYTE_HISTORIES 1024     /* a power of two */
static SqpyteHistory sqpyteHistories[SQPYTE_HISTORIES];

/* The thread's processor time: while others had the processor nothing was done. */
static i64 sqpyteNow(void){
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (i64)t.tv_sec*1000000000 + t.tv_nsec;
}

/* The history of a statement's program; an old one is overwritten when the table is crowded. */
static SqpyteHistory *sqpyteHistoryOf(Vdbe *p){
  SqpyteHistory *pFound;
  u64 h = 14695981039346656037u;
  long i, n = sqpyte_program_key(p, 0, 0);
  u8 *a = SQPYTE_SPARE(sqlite3_malloc64(n));
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

/* A loop: its opcodes; how far it has come, from 0 to 1, or -1 if it isn't a scan; how many opcodes are
** done in it again and again, and whether some of them seek. */
typedef struct SqpyteScan SqpyteScan;
struct SqpyteScan { int head, end; double at; int nOp, seeks; };

static int sqpyteClosesLoop(const Vdbe *p, int i){
  int opcode = p->aOp[i].opcode;
  if( opcode==OP_Goto ) return i+1<p->nOp;      /* the last one goes to the program's beginning */
  return SQPYTE_ENDS_LOOP(opcode);
}

/* How far a cursor of a B-tree has come: from 0 to 1, or -1. */
static double sqpyteProgress(const VdbeCursor *pC){
  i64 n, nBefore;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || pC->uc.pCursor->eState!=CURSOR_VALID ) return -1;
  n = sqpyteEntries(pC->uc.pCursor, &nBefore);
  return n ? (double)nBefore/(double)n : 0.0;
}

/* The loop around the opcode pc that lies furthest out; what is done only once is for itself. Where a scan of a range
** ends its place in the B-tree doesn't tell. */
static int sqpyteEndsEarly(const Vdbe*, int);       /* cardinality.c */
static SqpyteScan sqpyteScanAround(Vdbe *p, int pc){
  SqpyteScan scan = { pc, pc, -1, 0, 0 };
  int i, first = 0, last = p->nOp, step = -1;
  for(i=0; i<pc; i++){
    if( p->aOp[i].opcode==OP_Once && p->aOp[i].p2>pc && p->aOp[i].p2<=last ){
      first = i;
      last = p->aOp[i].p2;
    }
  }
  for(i=pc; i<last; i++){
    int head = p->aOp[i].p2;
    if( sqpyteClosesLoop(p, i) && head<=pc && head>first && (step<0 || head<scan.head) ){
      scan.head = head;
      scan.end = step = i;
    }
  }
  if( step>=0 && SQPYTE_IS(p->aOp[step].opcode, STEP_BTREE)
   && p->aOp[step].p1<p->nCursor ){
    scan.at = sqpyteProgress(p->apCsr[p->aOp[step].p1]);
    if( p->aOp[step].opcode==OP_Prev && scan.at>=0 ) scan.at = 1 - scan.at;
    if( sqpyteEndsEarly(p, step) ) scan.at = -1;
  }
  for(i=scan.head; i<=scan.end; i++){
    const VdbeOp *pOp = &p->aOp[i];
    if( pOp->opcode==OP_Once && pOp->p2>i && pOp->p2<=scan.end ){
      i = pOp->p2 - 1;
    }else if( SQPYTE_IS(pOp->opcode, SEEKS) ){
      scan.seeks = 1;
    }
    scan.nOp++;
  }
  return scan;
}

/* Notes when and where a loop was first seen hot in this step, to tell its speed. */
static void sqpyteNoteScan(Vdbe *p, const SqpyteScan *pScan, i64 now){
  if( p->sqpyteHotSince==0 ){
    p->sqpyteHotSince = now;
    p->sqpyteScanHead = -1;
  }
  if( p->sqpyteScanHead!=pScan->head ){
    p->sqpyteScanHead = pScan->head;
    p->sqpyteScanSince = now;
    p->sqpyteScanAt = pScan->at;
  }else if( pScan->at<p->sqpyteScanAt ){
    p->sqpyteScanAt = 2;                /* it began again: its place tells nothing */
  }
}

/* Nanoseconds that the loop will take in C. If it isn't known, as much as it has taken. */
static i64 sqpyteLeft(Vdbe *p, const SqpyteScan *pScan, i64 now, i64 unknown){
  double at = p->sqpyteScanAt;
  if( at<0 || pScan->at<=at || SQPYTE_OFF(CARDINALITY) ) return unknown;
  return (i64)((now - p->sqpyteScanSince) * (1-pScan->at) / (pScan->at-at));
}

/* What the long loops of a program add to the opcodes that are to be traced: the VM goes on from the loop that it has
** entered for into all that follow. */
static double sqpyteLongLoops(const Vdbe *p){
  double sum = 0;
  int i;
  for(i=p->nOp-1; i>=0; i--){
    int head = p->aOp[i].p2;
    double n = i - head + 1;
    if( n>SQPYTE_LONG_LOOP && head>0 && sqpyteClosesLoop(p, i) ){
      sum += n * (n/SQPYTE_LONG_LOOP) * (n/SQPYTE_LONG_LOOP);
      i = head;                 /* those within it are counted */
    }
  }
  return sum;
}

/* About how long tracing a loop takes, and decoding its program. */
static i64 sqpyteTracingCost(const Vdbe *p, const SqpyteScan *pScan){
  i64 decoding = p->sqpyteProgram ? 0 : (i64)p->nOp * SQPYTE_DECODING_NS;
  return (i64)((pScan->nOp + sqpyteLongLoops(p)) * SQPYTE_TRACING_NS) + decoding;
}

/* Whether the program's runs in C have taken as long as tracing a loop of it may. */
static int sqpyteRepeated(const SqpyteHistory *pHistory, i64 cost){
  return pHistory->runsC>0 && pHistory->inC>=(cost>SQPYTE_REPEATED_NS ? cost : SQPYTE_REPEATED_NS);
}

/* The choice for a loop that seeks, in a run that has begun in C. */
static int sqpyteSeekingPays(Vdbe *p, SqpyteHistory *pHistory, const SqpyteScan *pScan, i64 now){
  i64 elapsed = now - p->sqpyteHotSince;
  if( pHistory->runsVm>=SQPYTE_TRIALS ){
    if( pHistory->runsC<SQPYTE_C_TRIALS && !SQPYTE_CLEARLY(pHistory->bestVm, pHistory->bestC) ){
      return 0;
    }
    return pHistory->bestVm<=pHistory->bestC;
  }
  if( pHistory->runsVm>0 ) return 1;
  if( sqpyteRepeated(pHistory, sqpyteTracingCost(p, pScan)) ) return 1;
  return elapsed>SQPYTE_WORTH_NS/100 && sqpyteLeft(p, pScan, now, elapsed)>SQPYTE_WORTH_NS;
}

/* The choice for a loop without seeks. */
static int sqpyteTracingPays(Vdbe *p, SqpyteHistory *pHistory, const SqpyteScan *pScan, i64 now){
  i64 elapsed = now - p->sqpyteHotSince;
  i64 cost;
  if( pHistory->entered ) return 1;
  cost = sqpyteTracingCost(p, pScan);
  if( sqpyteRepeated(pHistory, cost) ) return 1;
  if( elapsed>SQPYTE_SPENT_TIMES*cost ) return 1;
  return elapsed>SQPYTE_WORTH_TIMES*cost/100
      && sqpyteLeft(p, pScan, now, now - p->sqpyteScanSince)>SQPYTE_WORTH_TIMES*cost;
}

/* See sqpyteRepaysTracing; with the mutex held. */
static int sqpyteJudged(Vdbe *p, int pc, int seeks){
  void **ppHistory = p->pFrame ? &p->pFrame->pSqpyteProgram->pSqpyteHistory : &p->pSqpyteHistory;
  SqpyteHistory *pHistory;
  SqpyteScan scan = sqpyteScanAround(p, pc);
  i64 now = sqpyteNow();
  int pays;
  if( *ppHistory==0 ) *ppHistory = sqpyteHistoryOf(p);
  pHistory = (SqpyteHistory*)*ppHistory;
  p->pSqpyteJudged = pHistory;
  if( pHistory==0 ) return SQPYTE_WHY_SHORT;
  sqpyteNoteScan(p, &scan, now);
  if( !seeks && sqpyteVm.exact ) return SQPYTE_WHY_HOT;
  if( seeks || scan.seeks ){
    pays = sqpyteSeekingPays(p, pHistory, &scan, now);
    if( pays ) p->sqpyteSeeks = 1;
    return pays ? SQPYTE_WHY_HOT : SQPYTE_WHY_SEEKS;
  }
  pays = sqpyteTracingPays(p, pHistory, &scan, now);
  if( pays ) pHistory->entered = 1;
  return pays ? SQPYTE_WHY_HOT : SQPYTE_WHY_SHORT;
}

/* A loop is hot, again and again: SQPYTE_WHY_HOT to enter the VM, or why not. A loop inside of one that
** seeks is judged with that: a few iterations at a time don't pay for entering and leaving. Histories are the
** process's: one thread at a time looks at them. Nobody waits for that one, as a child of fork() may not have it; the
** loop asks again when it is hot again. */
static int sqpyteRepaysTracing(Vdbe *p, int pc, int seeks){
  int why;
  if( pthread_mutex_trylock(&sqpyteVm.mutex) ) return SQPYTE_WHY_THREAD;
  why = sqpyteJudged(p, pc, seeks);
  pthread_mutex_unlock(&sqpyteVm.mutex);
  return why;
}

/* The end of one sqlite3_step in which a loop was hot. */
static void sqpyteNoteRun(Vdbe *p){
  SqpyteHistory *pHistory = (SqpyteHistory*)p->pSqpyteJudged;
  i64 t = sqpyteNow() - p->sqpyteHotSince;
  p->sqpyteHotSince = 0;
  if( pHistory==0 ) return;
  if( pthread_mutex_trylock(&sqpyteVm.mutex)==0 ){
    if( p->sqpyteSeeks ){
      if( pHistory->bestVm==0 || t<pHistory->bestVm ) pHistory->bestVm = t;
      pHistory->runsVm++;
    }else{
      if( pHistory->bestC==0 || t<pHistory->bestC ) pHistory->bestC = t;
      pHistory->inC += t;
      pHistory->runsC++;
    }
    pthread_mutex_unlock(&sqpyteVm.mutex);
  }
  p->sqpyteSeeks = 0;
}
