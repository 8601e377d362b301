/*
** A read of a mapped file that fails is a signal, SIGBUS, which ends the process: another program has truncated the
** file, or its disk fails. Here it becomes an error of the statement. The handler maps zeros over the page that can't be
** read and marks the mapping as failed, so the instruction goes on; who reads pages (file_map.h), gives a row or
** commits (patches/file_map.py) looks at the mark and raises SQLITE_IOERR_READ.
**
** Invariants. Only addresses within a registered mapping are ours: every other signal goes on to the handler that was
** there before. The handler takes no lock and asks for no memory. A mark stays until the mapping is gone, which is when
** the transaction that saw it has ended. A program that sets a handler of its own later, or that blocks the signal,
** is noticed when a transaction begins (sqpyteCatchesBusErrors), and mapping stops. A thread that goes on with a
** transaction of another one has the signal unblocked meanwhile (other_thread.c).
**
** Included by file_map.h.
*/
#ifndef SQPYTE_BUS_ERROR_H
#define SQPYTE_BUS_ERROR_H
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define SQPYTE_MAPS 4096            /* mappings of the process at a time */

/* A registered mapping. Taken under sqpyteBus.mutex, read by the handler at any time. */
typedef struct SqpyteMap SqpyteMap;
struct SqpyteMap {
  u8 *volatile pBegin;              /* 0: there is none */
  u8 *volatile pEnd;
  volatile int bFailed;             /* a page of it couldn't be read, and is zeros now */
  int bGone;                        /* nothing is read of the file any more */
};

static struct {
  SqpyteMap a[SQPYTE_MAPS];
  volatile int nUsed;               /* those from here on have never been used */
  volatile int nFailed;             /* failures in the life of the process: while there was none nobody looks further */
  int nPage;                        /* bytes of a page of memory */
  int bInstalled;                   /* the handler has been installed once */
  struct sigaction before;          /* the handler that was there */
  pthread_mutex_t mutex;
} sqpyteBus = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* What would have happened to the signal without us. By default: a failing instruction fails once more, and then
** ends the process; a signal that was sent is sent again. */
static void sqpytePassBusError(int iSignal, siginfo_t *pInfo, void *pContext){
  struct sigaction *pBefore = &sqpyteBus.before;
  if( pBefore->sa_flags & SA_SIGINFO ){
    pBefore->sa_sigaction(iSignal, pInfo, pContext);
  }else if( pBefore->sa_handler==SIG_DFL || (pBefore->sa_handler==SIG_IGN && pInfo->si_code>0) ){
    signal(iSignal, SIG_DFL);
    if( pInfo->si_code<=0 ) raise(iSignal);
  }else if( pBefore->sa_handler!=SIG_IGN ){
    pBefore->sa_handler(iSignal);
  }
}

static void sqpyteBusError(int iSignal, siginfo_t *pInfo, void *pContext){
  u8 *p = (u8*)pInfo->si_addr;
  int i, eErrno = errno;
  for(i=0; pInfo->si_code>0 && i<sqpyteBus.nUsed; i++){
    SqpyteMap *pMap = &sqpyteBus.a[i];
    u8 *pBegin = pMap->pBegin;
    /* Asked again: meanwhile another thread may have given its place to another mapping. */
    if( pBegin && p>=pBegin && p<pMap->pEnd && pMap->pBegin==pBegin ){
      u8 *pPage = p - ((uptr)p & (sqpyteBus.nPage-1));
      pMap->bFailed = 1;
      sqpyteBus.nFailed++;
      if( mmap(pPage, sqpyteBus.nPage, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0)!=MAP_FAILED ){
        errno = eErrno;
        return;
      }
    }
  }
  sqpytePassBusError(iSignal, pInfo, pContext);
}

/* The calling thread: a number that no other thread of the process has or had. */
static u64 sqpyteThread(void){
  static u64 nThread;
  static __thread u64 n;
  if( n==0 ) n = __atomic_add_fetch(&nThread, 1, __ATOMIC_RELAXED);
  return n;
}

/* Has the signal come to this thread. Returns whether it didn't: sqpyteBlockBusErrors is to be called then. */
static int sqpyteUnblockBusErrors(void){
  sigset_t bus, before;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  return pthread_sigmask(SIG_UNBLOCK, &bus, &before)==0 && sigismember(&before, SIGBUS);
}

static SQLITE_NOINLINE void sqpyteBlockBusErrors(void){
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &bus, 0);
}

/* Whether a failing read would come to the handler: it is there, and this thread doesn't block the signal. */
static int sqpyteCatchesBusErrors(void){
  struct sigaction now;
  sigset_t blocked;
  return sqpyteBus.bInstalled
      && sigaction(SIGBUS, 0, &now)==0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction==sqpyteBusError
      && pthread_sigmask(SIG_BLOCK, 0, &blocked)==0 && !sigismember(&blocked, SIGBUS);
}

/* Installs the handler, once in the life of the process: a program that has put another in its place later keeps it. */
static void sqpyteInstallBusHandler(void){
  struct sigaction ours;
  if( sqpyteBus.bInstalled ) return;
  sqpyteBus.nPage = (int)sysconf(_SC_PAGESIZE);
  memset(&ours, 0, sizeof(ours));
  ours.sa_sigaction = sqpyteBusError;
  ours.sa_flags = SA_SIGINFO|SA_ONSTACK|SA_RESTART;
  sigemptyset(&ours.sa_mask);
  if( sigaction(SIGBUS, 0, &sqpyteBus.before)==0 && sigaction(SIGBUS, &ours, 0)==0 ) sqpyteBus.bInstalled = 1;
}

/* Registers a mapping before it is read. Returns 0 if its failures wouldn't be caught, or there are too many, or another
** thread registers one just now: nobody waits here, for a child of fork() would wait for a thread that it hasn't. */
static SqpyteMap *sqpyteRegisterMap(u8 *pBegin, i64 nByte){
  SqpyteMap *pMap = 0;
  int i;
  if( pthread_mutex_trylock(&sqpyteBus.mutex) ) return 0;
  sqpyteInstallBusHandler();
  if( sqpyteCatchesBusErrors() ){
    for(i=0; i<SQPYTE_MAPS && sqpyteBus.a[i].pBegin; i++){}
    if( i<SQPYTE_MAPS ){
      pMap = &sqpyteBus.a[i];
      pMap->bFailed = pMap->bGone = 0;
      pMap->pEnd = pBegin + nByte;
      pMap->pBegin = pBegin;
      if( i>=sqpyteBus.nUsed ) sqpyteBus.nUsed = i+1;
    }
  }
  pthread_mutex_unlock(&sqpyteBus.mutex);
  return pMap;
}

/* Before it is unmapped. */
static void sqpyteUnregisterMap(SqpyteMap *pMap){
  pMap->pBegin = 0;
}

#endif
