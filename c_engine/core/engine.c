/*
** The C engine: upstream SQLite (edited, see patches/apply.py), the choice of tier, the VM's helpers and the Python
** module's calls, in one translation unit. The includes below say what.
*/
#include "sqlite3.c"
#include "core/engine.h"
#include "core/spare.h"
#include "core/backoff.h"
#include "core/cardinality.h"
#include "core/mechanisms.h"
#include "core/opcode_sets.h"
#include "rows/fused.h"
#include "storage/raw_page.h"
#include "vm/system_memory.c"
#include "vm/system_environment.c"
#include "vm/late_relocations.c"
#include "storage/other_thread.c"
#include <limits.h>
#include <pthread.h>
#include <string.h>

/* Back-edges within one sqlite3_step before it is asked whether the loop is worth the VM. */
#define SQPYTE_DEFAULT_THRESHOLD 3000
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
  pthread_mutex_t mutex;    /* of what is changed here, and of tiering.c's histories */
  char taken;               /* a statement is in the VM */
} sqpyteVm = { SQPYTE_MODE_HOT, SQPYTE_DEFAULT_THRESHOLD, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER, 0 };

static void sqpyteSetThreshold(int n){
  if( n==0 ) return;
  sqpyteVm.threshold = n>0 ? n : SQPYTE_DEFAULT_THRESHOLD;
  sqpyteVm.exact = n>0;
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

/* Enters the VM, which one statement at a time may be in, whoever's it is; returns 0 if another one is. Nobody waits:
** what finds it taken goes on in C, so no lock of SQLite's or of the program's is ever waited for by who holds this one
** and the other way round. Between two runs nothing of a thread is left in it: its stack of roots is empty, and all else
** is the process's. What a statement in the VM calls (a function, a progress handler, a destructor) finds it taken, too:
** RPython's registers and objects may be in the middle of a change; and a fiber or greenlet may go on with the statement
** before the one that it called has ended, where RPython's one stack of roots has the two in each other's place.
** In a child of fork() that was taken by a thread that the child hasn't, it stays so, as it does after a longjmp out
** of a callback. */
static int sqpyteEnterVm(void){
  return !__atomic_exchange_n(&sqpyteVm.taken, 1, __ATOMIC_ACQUIRE);
}
static void sqpyteLeaveVm(void){
  __atomic_store_n(&sqpyteVm.taken, 0, __ATOMIC_RELEASE);
}

/* Starts the VM, when it is asked for first. Returns SQPYTE_WHY_HOT if it has started, or why it hasn't. */
static int sqpyteStartVm(void){
  int why = SQPYTE_WHY_HOT;
  if( AtomicLoad(&sqpyteVm.started) ) return why;
  if( !sqpyteEnterVm() ) return SQPYTE_WHY_THREAD;
  if( !sqpyteVm.started ){
    why = sqpyteTakeReserve();
    if( why==SQPYTE_WHY_HOT ){
      sqpyteRelocateVm();
      rpython_startup_code();
      sqpyteVm.xRun = sqpyte_vm_run;
      sqpyte_vm_run(0);                /* prepares it */
      AtomicStore(&sqpyteVm.started, 1);
    }
  }
  sqpyteLeaveVm();
  return why;
}

void sqpyte_set_vm(sqpyte_vm_run_fn xRun){
  pthread_mutex_lock(&sqpyteVm.mutex);
  sqpyteVm.xRun = xRun;
  AtomicStore(&sqpyteVm.started, xRun!=0);
  pthread_mutex_unlock(&sqpyteVm.mutex);
}

/* How many collations a KeyInfo has. The sort flags lie behind them; UPDATE FROM and sorters raise nAllField
** above what there is. */
static int sqpyteCollations(const KeyInfo *pInfo){
  int n;
  if( pInfo->aSortFlags==0 ) return 0;
  n = (int)((CollSeq**)pInfo->aSortFlags - (CollSeq**)pInfo->aColl);
  return MIN(n, pInfo->nAllField);
}

/* Whether one of the first n fields of keys is compared by a collation that isn't SQLite's own. */
static int sqpyteForeignKey(const KeyInfo *pInfo, int n){
  int i;
  for(i=0; i<n; i++){
    if( sqpyte_collation_kind(pInfo->aColl[i])==3 ) return 1;
  }
  return 0;
}

/* Whether an opcode compares by a collation that isn't SQLite's own. */
static int sqpyteForeignCollation(const Op *pOp){
  if( pOp->p4type==P4_COLLSEQ ) return sqpyte_collation_kind(pOp->p4.pColl)==3;
  return pOp->p4type==P4_KEYINFO && sqpyteForeignKey(pOp->p4.pKeyInfo, sqpyteCollations(pOp->p4.pKeyInfo));
}

/* Whether a program has opcodes between which the VM may not come and go: IsType of a cursor takes the header that
** the Column before it has read, without a look at cacheStatus; and a collation that isn't SQLite's own may run
** any SQL, and so move cursors and free pages whose addresses the VM has. */
static int sqpyteIndivisible(const Vdbe *p){
  int i;
  for(i=0; i<p->nOp; i++){
    const Op *pOp = &p->aOp[i];
    if( (pOp->opcode==OP_IsType && pOp->p1>=0) || sqpyteForeignCollation(pOp) ) return 1;
  }
  return 0;
}

/* What keeps this statement out of the VM, whatever its loops: one of SQPYTE_WHY_*, or SQPYTE_WHY_HOT if nothing does. The VM
** needn't have started, which takes a millisecond: a program of few rows never enters it. */
static int sqpyteObstacle(Vdbe *p){
  sqlite3 *db = p->db;
  if( sqpyteVm.xRun==0 && (sqpyte_vm_run==0 || rpython_startup_code==0) ){
    return SQPYTE_WHY_NO_VM;
  }
  /* sqlite3_blob_open's statement, the only one without a text: it looks at what Column has
  ** noted in the cursor. */
  if( p->zSql==0 ) return SQPYTE_WHY_OPCODE;
  if( db->aLimit[SQLITE_LIMIT_LENGTH]<SQPYTE_LEAST_LENGTH ) return SQPYTE_WHY_LIMIT;
  if( (i64)p->nOp*p->nMem>SQPYTE_MOST_LIVE ) return SQPYTE_WHY_LARGE;
  if( sqpyteIndivisible(p) ) return SQPYTE_WHY_OPCODE;
  if( p->sqpyteRefused>=SQPYTE_MAX_REFUSALS ){
    int why = p->sqpyteReason;
    return why==SQPYTE_WHY_FULL || why==SQPYTE_WHY_LARGE || why==SQPYTE_WHY_FALLS ? why : SQPYTE_WHY_REFUSED;
  }
  return SQPYTE_WHY_HOT;
}

static int sqpyteStepOne(Vdbe*, int, const VdbeCursor*);       /* helpers.c */

/* Runs up to a given opcode, for the PyPy inliner, which takes over there: to the caller it is as a row
** without columns. The step is in its middle then: when the inliner hands the statement back, C goes on
** with the step's time, and looks for an interrupt where the program jumps, not at once. Where each row is
** a step of its own, the inliner says that one has begun. */
static int sqpyteRunTo(Vdbe *p){
  int rc;
  int stop = p->sqpyteStopPc;
  p->pResultRow = 0;
  do{
    rc = sqpyteStepOne(p, 1, 0);
  }while( rc==SQPYTE_STOP && p->pc!=stop );
  p->sqpyteStopPc = 0;
  p->sqpyteMidStep = rc==SQPYTE_STOP ? SQPYTE_STEP_MID : 0;
  return rc==SQPYTE_STOP ? SQLITE_ROW : rc;
}

/* Runs a statement in the VM, which it has entered. Each trigger's program has its own number there. */
static int sqpyteRunVm(Vdbe *p){
  SubProgram *pSub = p->pFrame ? p->pFrame->pSqpyteProgram : 0;
  int rc, number = p->sqpyteProgram;
  if( pSub ) p->sqpyteProgram = pSub->sqpyteNumber;
  p->cacheCtr = (p->cacheCtr + 2)|1;
  rc = sqpyteVm.xRun(p);
  p->cacheCtr = (p->cacheCtr + 2)|1;
  if( pSub ){
    pSub->sqpyteNumber = p->sqpyteProgram;
    p->sqpyteProgram = number;
  }
  return rc;
}

/* Whether a read of any of the connection's files has failed in a page by map (pager_map.h). */
static int sqpyteReadsFailed(sqlite3 *db){
  int i;
  for(i=0; i<db->nDb; i++){
    if( db->aDb[i].pBt && sqpytePagerFailed(sqlite3BtreePager(db->aDb[i].pBt)) ) return 1;
  }
  return 0;
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
  p->sqpyteSteps = 0;
  p->sqpyteLimit = LARGEST_UINT64;
  if( p->db->xProgress ){
    p->sqpyteLimit = p->db->nProgressOps - p->aCounter[SQLITE_STMTSTATUS_VM_STEP] % p->db->nProgressOps;
  }
  p->sqpyteResetSchema = 0;
}

/* Whether a step begins as steps mostly do: without an error or an interrupt, which sqlite3VdbeExec
** raises at its head. */
static int sqpyteBeginsWell(const Vdbe *p){
  return p->rc==SQLITE_OK && p->sqpyteError==SQLITE_OK && !AtomicLoad(&p->db->u1.isInterrupted);
}

/* Runs in C until a row, the end, or a loop that is hot (SQPYTE_HOT). */
static int sqpyteExecInC(Vdbe *p, int allowHot){
  int rc;
  p->sqpyteBudget = allowHot ? sqpyteVm.threshold : 0;
  rc = sqlite3VdbeExec(p);
  p->sqpyteBudget = 0;
  return rc;
}

/* Goes on in the tier that is set, or in C after a loop was hot there (rc is SQPYTE_HOT); changes the tier when a loop
** is hot or when the VM hands the statement back. */
static SQLITE_NOINLINE int sqpyteChangeTiers(Vdbe *p, int rc, int allowHot){
  int why;
  for(;;){
    if( p->sqpyteTier==SQPYTE_TIER_VM && !sqpyteEnterVm() ){
      p->sqpyteTier = SQPYTE_TIER_C;
      p->sqpyteReason = SQPYTE_WHY_THREAD;      /* its next hot loop tries again */
      p->sqpyteSeeks = 0;
    }
    if( p->sqpyteTier==SQPYTE_TIER_VM ){
      if( !p->sqpyteResumed ) sqpyteBeginStep(p);
      p->sqpyteResumed = 1;
      p->sqpyteEntries++;
      rc = sqpyteRunVm(p);
      sqpyteLeaveVm();
      /* After a row the state is in C: it goes on there until hot again. */
      if( rc!=SQLITE_ROW || allowHot!=SQPYTE_MODE_ALWAYS ) p->sqpyteTier = SQPYTE_TIER_C;
      if( rc!=SQPYTE_STOP ) break;
    }
    if( rc!=SQPYTE_HOT ) rc = sqpyteExecInC(p, allowHot);
    p->sqpyteResumed = 1;
    if( rc!=SQPYTE_HOT ) break;
    rc = SQLITE_OK;
    p->cacheCtr = (p->cacheCtr + 2)|1;   /* colCacheCtr starts anew in sqlite3VdbeExec */
    why = sqpyteObstacle(p);
    if( why==SQPYTE_WHY_HOT ){
      int covered = sqpyte_covers_loop(p, p->pc);
      if( covered==SQPYTE_COVERED_NOT ) why = SQPYTE_WHY_OPCODE;
      else why = sqpyteRepaysTracing(p, p->pc, covered==SQPYTE_COVERED_SEEKS);
    }
    if( why==SQPYTE_WHY_HOT && (why = sqpyteStartVm())!=SQPYTE_WHY_HOT ) p->sqpyteSeeks = 0;
    if( why==SQPYTE_WHY_HOT ){
      p->sqpyteTier = SQPYTE_TIER_VM;
    }else if( why!=SQPYTE_WHY_OPCODE && why!=SQPYTE_WHY_SEEKS && why!=SQPYTE_WHY_SHORT && why!=SQPYTE_WHY_THREAD ){
      allowHot = 0;
    }
    /* A statement of several loops has run in the VM if one of them has. */
    if( p->sqpyteReason!=SQPYTE_WHY_HOT ) p->sqpyteReason = why;
  }
  p->sqpyteResumed = 0;
  p->sqpyteMidStep = 0;
  return rc;
}

/* A step of which the inliner has asked something (it is to run ahead, or up to an opcode, or is in its middle), or that
** begins in the VM. */
static SQLITE_NOINLINE int sqpyteExecAsAsked(Vdbe *p){
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
  if( sqpyteVm.mode==SQPYTE_MODE_ALWAYS ){
    p->sqpyteReason = sqpyteObstacle(p);
    if( p->sqpyteReason==SQPYTE_WHY_HOT ) p->sqpyteReason = sqpyteStartVm();
    if( p->sqpyteReason==SQPYTE_WHY_HOT && sqpyteBeginsWell(p) ) p->sqpyteTier = SQPYTE_TIER_VM;
  }
  return sqpyteChangeTiers(p, SQLITE_OK, sqpyteVm.mode);
}

/* Whether a step is more than to go on in C. */
static int sqpyteIsAsked(const Vdbe *p){
#ifdef SQPYTE_CHECK_EFFECTS
  return 1;
#else
  return (p->sqpyteMidStep | p->sqpyteStopPc)!=0 || p->sqpyteLog || sqpyteVm.mode==SQPYTE_MODE_ALWAYS;
#endif
}

/* Runs the statement in its tier. Most steps go on in C and end there: a row costs no more than it must. */
static SQLITE_INLINE int sqpyteExecInTier(Vdbe *p){
  int rc;
  p->sqpyteTier = SQPYTE_TIER_C;
  if( sqpyteIsAsked(p) ){
    rc = sqpyteExecAsAsked(p);
  }else{
    p->sqpyteResumed = 0;
    rc = sqpyteExecInC(p, sqpyteVm.mode);
    if( rc==SQPYTE_HOT ) rc = sqpyteChangeTiers(p, rc, sqpyteVm.mode);
  }
  if( p->sqpyteHotSince ) sqpyteNoteRun(p);
  return rc;
}

/* A row that was computed from a page that couldn't be read isn't handed out (bus_error.h), nor what has been run ahead. */
static SQLITE_NOINLINE int sqpyteFailRow(Vdbe *p){
  SqpyteLog *pLog = p->sqpyteLog;
  int rc;
  p->sqpyteLog = 0;               /* it would keep the error for later */
  sqpyte_raise((long)p, p->pc, SQLITE_IOERR_READ, sqlite3ErrStr(SQLITE_IOERR_READ));
  rc = sqlite3VdbeExec(p);
  p->sqpyteLog = pLog;
  return rc;
}

/* Counts the opcodes that the VM, or what has stopped between two of them, has passed. */
static void sqpyteCountSteps(Vdbe *p){
  p->aCounter[SQLITE_STMTSTATUS_VM_STEP] += (u32)p->sqpyteSteps;
  if( p->sqpyteLimit!=LARGEST_UINT64 ) p->sqpyteLimit -= MIN(p->sqpyteLimit, p->sqpyteSteps);
  p->sqpyteSteps = 0;
}

/* Whether a step only reads, locks no shared cache, and goes on in C in the thread of the connection's last call: most do.
** They have a way of their own through sqpyteVdbeExec, as the general one costs a row that a program reads by sqlite3_step
** 13 ns, a tenth of its time. */
static SQLITE_INLINE int sqpyteIsPlain(const Vdbe *p){
  if( !p->readOnly || DbMaskNonZero(p->lockMask) || sqpyteIsAsked(p) ) return 0;
  return !sqpyteBus.bInstalled || p->db->nSqpyteThread==sqpyteThread();
}

/* What follows a plain step that hasn't just ended in C. */
static SQLITE_NOINLINE int sqpyteEndPlain(Vdbe *p, int rc){
  if( rc==SQPYTE_HOT ) rc = sqpyteChangeTiers(p, rc, sqpyteVm.mode);
  if( p->sqpyteHotSince ) sqpyteNoteRun(p);
  if( p->sqpyteSteps ) sqpyteCountSteps(p);
  if( rc==SQLITE_ROW && SQPYTE_READS_FAILED(p->db) ) rc = sqpyteFailRow(p);
  return rc;
}

/* In place of sqlite3VdbeExec. Of a statement that writes each step is a change (validity.h). The B-trees of a
** shared cache stay locked for the whole step, as upstream has it, wherever the step leaves sqlite3VdbeExec and
** enters it again: in between, another thread's failing ATTACH would clear the schema that they have in common. */
static int sqpyteVdbeExec(Vdbe *p){
  sqlite3 *db = p->db;
  int rc, bUnblocked, bWrites = !p->readOnly;
  if( sqpyteIsPlain(p) ){
    p->sqpyteTier = SQPYTE_TIER_C;
    p->sqpyteResumed = 0;
    rc = sqpyteExecInC(p, sqpyteVm.mode);
    if( rc!=SQPYTE_HOT && !sqpyteBus.nFailed && !p->sqpyteHotSince ) return rc;
    return sqpyteEndPlain(p, rc);
  }
  sqlite3VdbeEnter(p);
  bUnblocked = sqpyteBeginCall(db);
  if( bWrites ){
    sqpyteBeforeChange(db);
    db->nSqpyteWriting++;
  }
  rc = sqpyteExecInTier(p);
  if( bWrites ) db->nSqpyteWriting--;
  if( p->sqpyteSteps ) sqpyteCountSteps(p);
  if( rc==SQLITE_ROW && SQPYTE_READS_FAILED(db) ) rc = sqpyteFailRow(p);
  sqpyteEndCall(db, bUnblocked);
  sqlite3VdbeLeave(p);
  return rc;
}

/* Whether the VM may run opcodes that go down a B-tree. */
int sqpyte_may_seek(void *pVdbe){
  return sqpyteVm.mode==SQPYTE_MODE_ALWAYS || ((Vdbe*)pVdbe)->sqpyteSeeks;
}

#include "core/settings.c"
#include "vm/helpers.c"
#include "vm/seek.c"
#include "storage/memoize.c"
static int sqpyteMayKeep(VdbeCursor*);
#include "storage/located_rows.c"
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
