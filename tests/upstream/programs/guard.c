/*
** What fuzzcheck has in place of a progress handler, and counts of what the VM ran.
**
** Under a progress handler nothing is memoised, and each call of it brings all registers to C: fuzzcheck is built
** without one, so that its statements run as most programs' do. Runaway
** inputs are interrupted by a timer of the process's own time: after SQPYTE_FIRST_MS, and from then on
** each SQPYTE_NEXT_MS, until the connection is no longer guarded. sqlite3_interrupt() may be called by
** a signal handler.
**
** Invariant: no signal reaches a connection that is being closed; sqpyte_guard(0) comes first.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "sqlite3.h"

#define SQPYTE_FIRST_MS 100
#define SQPYTE_NEXT_MS 20

extern long long sqpyte_entries(void *pStmt);

static sqlite3 *volatile pGuarded;
static long long nInput, nRun, nRunInVm;

static void onTimer(int signal){
  sqlite3 *db = pGuarded;
  (void)signal;
  if( db ) sqlite3_interrupt(db);
}

/* A run of a statement ends. */
static int onProfile(unsigned what, void *pArg, void *pStmt, void *pTime){
  (void)what; (void)pArg; (void)pTime;
  nRun++;
  nRunInVm += sqpyte_entries(pStmt)>0;
  return 0;
}

static void sayCounts(void){
  printf("guard: %lld inputs, %lld runs of statements, %lld of them in the VM\n", nInput, nRun, nRunInVm);
}

static void setTimer(int first, int next){
  struct itimerval timer = { { 0, next*1000 }, { 0, first*1000 } };
  setitimer(ITIMER_VIRTUAL, &timer, 0);
}

/* Guards a connection, in place of the one that was guarded; 0: none. */
void sqpyte_guard(sqlite3 *db){
  static int started = 0;
  if( !started ){
    struct sigaction action = { 0 };
    started = 1;
    action.sa_handler = onTimer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGVTALRM, &action, 0);
    atexit(sayCounts);
  }
  pGuarded = 0;
  if( db ){
    nInput++;
    sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, onProfile, 0);
    pGuarded = db;
    setTimer(SQPYTE_FIRST_MS, SQPYTE_NEXT_MS);
  }else{
    setTimer(0, 0);
  }
}
