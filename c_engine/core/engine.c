/*
** The C engine: upstream SQLite (edited, see apply.py) and, in the same
** translation unit, the choice of tier and the helpers for the RPython VM
** (tiering.c, settings.c, helpers.c, functions.c, texts.c,
** patterns.c, convert.c, rowset.c, seek.c, index_prefetch.c, memoize.c,
** row_cache.c, program_key.c), the fused calls (fused.c, busy.c), the page batches (page_batch.c,
** cardinality.c) and the call logs (call_log.c)
** of the PyPy module.
*/
#include "sqlite3.c"
#include "core/engine.h"
#include "core/backoff.h"
#include "core/cardinality.h"
#include "core/mechanisms.h"
#include "core/opcode_sets.h"
#include "rows/fused.h"
#include <pthread.h>
#include <string.h>

/* Back-edges within one sqlite3_step before it is asked whether the loop is worth the VM. */
#define SQPYTE_DEFAULT_THRESHOLD 3000
/* After this many refusals within its life a statement stays in C. */
#define SQPYTE_MAX_REFUSALS 8
/* The VM reads a column in its page, where upstream copies it, and looks at the limit of lengths when
** it makes room for the copy. With at least this limit, twice the largest page, no column of a page
** meets it, and no register's memory has become larger than it by such a copy. */
#define SQPYTE_LEAST_LENGTH (2*SQLITE_MAX_PAGE_SIZE)
/* Opcodes times registers of the largest program that is analysed: of 1 000 subqueries or arms of a
** CASE, but not of 10 000. The VM keeps lists of the live registers, at most 8 bytes for each. */
#define SQPYTE_MOST_LIVE (8<<20)

/* Present when linked into libsqpyte.so (the translated VM). */
extern int sqpyte_vm_run(void*) __attribute__((weak));
extern char *rpython_startup_code(void) __attribute__((weak));

static struct {
  int mode;
  int threshold;
  int exact;                /* the threshold was given: loops without seeks are hot just then */
  sqpyte_vm_run_fn xRun;
  int started;              /* rpython_startup_code has been called */
  int owned;                /* some thread has `mine` of sqpyteThread set */
  unsigned installed;       /* counts sqpyte_set_vm: what a thread had before isn't its any more */
  pthread_mutex_t mutex;
} sqpyteVm = { SQPYTE_MODE_HOT, SQPYTE_DEFAULT_THRESHOLD, 0, 0, 0, 0, 0,
               PTHREAD_MUTEX_INITIALIZER };

/* Whether the VM serves the calling thread. A thread's own memory is nobody else's, and is new in a
** new thread; a pthread_t may be that of a thread that has ended. */
static __thread struct { int mine; unsigned installed; } sqpyteThread;
static pthread_key_t sqpyteThreadEnds;
static pthread_once_t sqpyteThreadOnce = PTHREAD_ONCE_INIT;
static int sqpyteHasKey;

static void sqpyteSetThreshold(int n){
  if( n==0 ) return;
  sqpyteVm.threshold = n>0 ? n : SQPYTE_DEFAULT_THRESHOLD;
  sqpyteVm.exact = n>0;
}

/* SQPYTE_VM=off|hot|always and SQPYTE_VM_THRESHOLD=n, read when loaded. */
static void __attribute__((constructor)) sqpyteReadEnvironment(void){
  const char *z = getenv("SQPYTE_VM");
  if( z ){
    if( strcmp(z, "off")==0 ) sqpyteVm.mode = SQPYTE_MODE_OFF;
    else if( strcmp(z, "always")==0 ) sqpyteVm.mode = SQPYTE_MODE_ALWAYS;
    else if( strcmp(z, "hot")==0 ) sqpyteVm.mode = SQPYTE_MODE_HOT;
    else fprintf(stderr, "sqpyte: SQPYTE_VM=%s ignored; "
                         "it takes off, hot or always\n", z);
  }
  z = getenv("SQPYTE_VM_THRESHOLD");
  if( z ) sqpyteSetThreshold(atoi(z));
}

int sqpyte_set_mode(int mode, int threshold){
  if( mode<SQPYTE_MODE_OFF || mode>SQPYTE_MODE_ALWAYS ) return SQLITE_MISUSE;
  sqpyteVm.mode = mode;
  sqpyteSetThreshold(threshold);
  return SQLITE_OK;
}
int sqpyte_mode(void){ return sqpyteVm.mode; }
int sqpyte_why(void *pStmt){ return ((Vdbe*)pStmt)->sqpyteReason; }
long long sqpyte_entries(void *pStmt){ return ((Vdbe*)pStmt)->sqpyteEntries; }
int sqpyte_tier(void *pStmt){ return ((Vdbe*)pStmt)->sqpyteTier; }

/* The thread that the VM serves ends: the next one that asks is served. */
static void sqpyteThreadHasEnded(void *pInstalled){
  pthread_mutex_lock(&sqpyteVm.mutex);
  if( (unsigned)(size_t)pInstalled==sqpyteVm.installed ) sqpyteVm.owned = 0;
  pthread_mutex_unlock(&sqpyteVm.mutex);
}
static void sqpyteMakeKey(void){
  sqpyteHasKey = pthread_key_create(&sqpyteThreadEnds, sqpyteThreadHasEnded)==0;
}
/* The library may be unloaded before its threads end. */
static void __attribute__((destructor)) sqpyteDeleteKey(void){
  if( sqpyteHasKey ) pthread_key_delete(sqpyteThreadEnds);
}

/* The VM serves the calling thread from now on; the mutex is held. If nobody tells when that thread
** ends, it stays the only one. */
static void sqpyteTakeVm(void){
  pthread_once(&sqpyteThreadOnce, sqpyteMakeKey);
  sqpyteVm.owned = 1;
  sqpyteVm.installed++;
  sqpyteThread.mine = 1;
  sqpyteThread.installed = sqpyteVm.installed;
  if( sqpyteHasKey ) pthread_setspecific(sqpyteThreadEnds, (void*)(size_t)sqpyteVm.installed);
}

void sqpyte_set_vm(sqpyte_vm_run_fn xRun){
  pthread_mutex_lock(&sqpyteVm.mutex);
  sqpyteVm.xRun = xRun;
  sqpyteTakeVm();
  sqpyteVm.started = xRun!=0;
  pthread_mutex_unlock(&sqpyteVm.mutex);
}

/* Starts the VM in the first thread that has a hot loop, and tells whether
** the calling thread is the one that it serves. */
static int sqpyteServesThisThread(void){
  if( sqpyteThread.mine && sqpyteThread.installed==sqpyteVm.installed && sqpyteVm.started ) return 1;
  if( sqpyteVm.owned && sqpyteVm.started ) return 0;
  pthread_mutex_lock(&sqpyteVm.mutex);
  if( !sqpyteVm.started ){
    sqpyteTakeVm();
    rpython_startup_code();
    sqpyteVm.xRun = sqpyte_vm_run;
    sqpyte_vm_run(0);                /* fills the table of covered opcodes */
    sqpyteVm.started = 1;
  }else if( !sqpyteVm.owned ){
    sqpyteTakeVm();
  }
  pthread_mutex_unlock(&sqpyteVm.mutex);
  return sqpyteThread.mine && sqpyteThread.installed==sqpyteVm.installed;
}

/* How many collations a KeyInfo has. The sort flags lie behind them; UPDATE FROM and sorters raise nAllField
** above what there is. */
static int sqpyteCollations(const KeyInfo *pInfo){
  int n;
  if( pInfo->aSortFlags==0 ) return 0;
  n = (int)((CollSeq**)pInfo->aSortFlags - (CollSeq**)pInfo->aColl);
  return MIN(n, pInfo->nAllField);
}

/* Whether a program has opcodes between which the VM may not come and go: IsType of a cursor takes the header that
** the Column before it has read, without a look at cacheStatus; and a collation that isn't SQLite's own may run
** any SQL, and so move cursors and free pages whose addresses the VM has. */
static int sqpyteIndivisible(const Vdbe *p){
  int i, j;
  for(i=0; i<p->nOp; i++){
    const Op *pOp = &p->aOp[i];
    if( pOp->opcode==OP_IsType && pOp->p1>=0 ) return 1;
    if( pOp->p4type==P4_COLLSEQ && sqpyte_collation_kind(pOp->p4.pColl)==3 ) return 1;
    if( pOp->p4type!=P4_KEYINFO ) continue;
    for(j=0; j<sqpyteCollations(pOp->p4.pKeyInfo); j++){
      if( sqpyte_collation_kind(pOp->p4.pKeyInfo->aColl[j])==3 ) return 1;
    }
  }
  return 0;
}

/* What keeps this statement out of the VM, whatever its loops:
** one of SQPYTE_WHY_*, or SQPYTE_WHY_HOT if nothing does. */
static int sqpyteObstacle(Vdbe *p){
  sqlite3 *db = p->db;
  if( sqpyteVm.xRun==0 && (sqpyte_vm_run==0 || rpython_startup_code==0) ){
    return SQPYTE_WHY_NO_VM;
  }
  /* sqlite3_blob_open's statement, the only one without a text: it looks at what Column has
  ** noted in the cursor. */
  if( p->zSql==0 ) return SQPYTE_WHY_OPCODE;
  if( db->xProgress ) return SQPYTE_WHY_PROGRESS;
  if( DbMaskNonZero(p->lockMask) ) return SQPYTE_WHY_SHARED;
  if( ENC(db)!=SQLITE_UTF8 ) return SQPYTE_WHY_ENCODING;
  if( db->aLimit[SQLITE_LIMIT_LENGTH]<SQPYTE_LEAST_LENGTH ) return SQPYTE_WHY_LIMIT;
  if( p->pFrame ) return SQPYTE_WHY_TRIGGER;
  if( (i64)p->nOp*p->nMem>SQPYTE_MOST_LIVE ) return SQPYTE_WHY_LARGE;
  if( sqpyteIndivisible(p) ) return SQPYTE_WHY_OPCODE;
  if( p->sqpyteRefused>=SQPYTE_MAX_REFUSALS ){
    return p->sqpyteReason==SQPYTE_WHY_FULL ? SQPYTE_WHY_FULL : SQPYTE_WHY_REFUSED;
  }
  if( !sqpyteServesThisThread() ) return SQPYTE_WHY_THREAD;
  return SQPYTE_WHY_HOT;
}

/* Runs up to a given opcode, for the PyPy inliner, which takes over there: to the caller it is as a row
** without columns. The step is in its middle then: when the inliner hands the statement back, C goes on
** with the step's time, and looks for an interrupt where the program jumps, not at once. Where each row is
** a step of its own, the inliner says that one has begun. */
static int sqpyteRunTo(Vdbe *p){
  int rc;
  int stop = p->sqpyteStopPc;
  p->pResultRow = 0;
  do{
    rc = sqpyte_step_one(p);
  }while( rc==SQPYTE_STOP && p->pc!=stop );
  p->sqpyteStopPc = 0;
  p->sqpyteMidStep = rc==SQPYTE_STOP ? SQPYTE_STEP_MID : 0;
  return rc==SQPYTE_STOP ? SQLITE_ROW : rc;
}

static int sqpyteRepaysTracing(Vdbe*, int, int);
static void sqpyteNoteRun(Vdbe*);
static int sqpyteRunAhead(Vdbe *p);     /* call_log.c */
#ifdef SQPYTE_CHECK_EFFECTS
static int sqpyteCheckedExec(Vdbe*);    /* effects/check.c: another build, which is all C tier */
#endif

/* What upstream sets when sqlite3_step enters sqlite3VdbeExec, and carries from opcode to opcode. */
static void sqpyteBeginStep(Vdbe *p){
  p->iCurrentTime = 0;
  p->db->busyHandler.nBusy = 0;
  p->sqpyteProgress = p->db->xProgress!=0;
  p->sqpyteResetSchema = 0;
}

/* Whether a step begins as steps mostly do: without an error or an interrupt, which sqlite3VdbeExec
** raises at its head. */
static int sqpyteBeginsWell(const Vdbe *p){
  return p->rc==SQLITE_OK && !AtomicLoad(&p->db->u1.isInterrupted);
}

/* Runs the statement in its tier, and changes
** the tier when a loop is hot or when the VM hands the statement back. */
static int sqpyteExecInTier(Vdbe *p){
  int rc, why;
  int allowHot = sqpyteVm.mode;
  if( p->sqpyteMidStep==SQPYTE_STEP_BEGUN ){
    sqpyteBeginStep(p);
    p->sqpyteMidStep = SQPYTE_STEP_MID;
  }
  p->sqpyteResumed = p->sqpyteMidStep;
  if( p->sqpyteStopPc ) return sqpyteRunTo(p);
  if( p->sqpyteLog ) return sqpyteRunAhead(p);
#ifdef SQPYTE_CHECK_EFFECTS
  return sqpyteCheckedExec(p);
#endif
  p->sqpyteTier = SQPYTE_TIER_C;
  if( allowHot==SQPYTE_MODE_ALWAYS ){
    p->sqpyteReason = sqpyteObstacle(p);
    if( p->sqpyteReason==SQPYTE_WHY_HOT && sqpyteBeginsWell(p) ) p->sqpyteTier = SQPYTE_TIER_VM;
  }
  for(;;){
    if( p->sqpyteTier==SQPYTE_TIER_VM ){
      if( !p->sqpyteResumed ) sqpyteBeginStep(p);
      p->sqpyteResumed = 1;
      p->cacheCtr = (p->cacheCtr + 2)|1;
      p->sqpyteEntries++;
      rc = sqpyteVm.xRun(p);
      p->cacheCtr = (p->cacheCtr + 2)|1;
      /* After a row the state is in C: it goes on there until hot again. */
      if( rc!=SQLITE_ROW || allowHot!=SQPYTE_MODE_ALWAYS ) p->sqpyteTier = SQPYTE_TIER_C;
      if( rc!=SQPYTE_STOP ) break;
    }
    p->sqpyteBudget = allowHot ? sqpyteVm.threshold : 0;
    rc = sqlite3VdbeExec(p);
    p->sqpyteBudget = 0;
    p->sqpyteResumed = 1;
    if( rc!=SQPYTE_HOT ) break;
    p->cacheCtr = (p->cacheCtr + 2)|1;   /* colCacheCtr starts anew in sqlite3VdbeExec */
    why = sqpyteObstacle(p);
    if( why==SQPYTE_WHY_HOT ){
      int covered = sqpyte_covers_loop(p, p->pc);
      if( covered==SQPYTE_COVERED_NOT ) why = SQPYTE_WHY_OPCODE;
      else why = sqpyteRepaysTracing(p, p->pc, covered==SQPYTE_COVERED_SEEKS);
    }
    if( why==SQPYTE_WHY_HOT ){
      p->sqpyteTier = SQPYTE_TIER_VM;
    }else if( why!=SQPYTE_WHY_TRIGGER && why!=SQPYTE_WHY_OPCODE && why!=SQPYTE_WHY_SEEKS
           && why!=SQPYTE_WHY_SHORT ){
      allowHot = 0;
    }
    /* A statement of several loops has run in the VM if one of them has. */
    if( p->sqpyteReason!=SQPYTE_WHY_HOT ) p->sqpyteReason = why;
  }
  p->sqpyteResumed = 0;
  p->sqpyteMidStep = 0;
  if( p->sqpyteHotSince ) sqpyteNoteRun(p);
  return rc;
}

/* In place of sqlite3VdbeExec. Of a statement that writes each step is a change (validity.h). */
int sqpyteVdbeExec(Vdbe *p){
  sqlite3 *db = p->db;
  int rc;
  if( p->readOnly ) return sqpyteExecInTier(p);
  sqpyteBeforeChange(db);
  db->nSqpyteWriting++;
  rc = sqpyteExecInTier(p);
  db->nSqpyteWriting--;
  return rc;
}

/* Whether the VM may run opcodes that go down a B-tree. */
int sqpyte_may_seek(void *pVdbe){
  return sqpyteVm.mode==SQPYTE_MODE_ALWAYS || ((Vdbe*)pVdbe)->sqpyteSeeks;
}

#include "core/settings.c"
#include "vm/helpers.c"
#include "vm/seek.c"
#include "storage/index_prefetch.c"
#include "storage/memoize.c"
#include "storage/row_cache.c"
#include "storage/sort_key.c"
#include "vm/functions.c"
#include "vm/texts.c"
#include "vm/patterns.c"
#include "vm/convert.c"
#include "vm/rowset.c"
#include "core/program_key.c"
#include "core/tiering.c"
#include "core/busy.c"
#include "rows/fused.c"
#include "storage/collation_ranks.c"
#include "rows/page_batch.c"
#include "core/cardinality.c"
#include "rows/call_log.c"
#ifdef SQPYTE_CHECK_EFFECTS
#include "effects/check.c"
#endif
