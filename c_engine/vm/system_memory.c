/*
** Memory that the VM asks of the system. RPython ends the process where it is refused: in the middle of a trace or of a
** garbage collection there is no way back. Stock, which needs less, would go on. So RPython's calls of malloc, free and
** mmap come here (SYSTEM_CALLS of tools/translate.py), and what the system refuses is taken out of a reserve.
**
** Invariants. The VM doesn't start without its reserve, nor in a process that may have little memory. As long as a piece
** of it is out, sqpyte_memory_limit is 0: the VM is left at the next head of a loop, forgets its programs and machine
** code, and stays empty (budget.py). What is asked for between two heads, in recording and compiling one trace, is less
** than the reserve. Who asks is the thread in the VM; a thread that ends may give back, so the reserve has a mutex.
**
** Included by engine.c.
*/
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SQPYTE_RESERVE (32<<20)         /* bytes of address space: nothing is touched until it is needed */
#define SQPYTE_CODE_RESERVE (4<<20)     /* RPython asks for a sixteenth of its code at a time, and at least 1 MB */
#define SQPYTE_LEAST_SPACE (1<<30)      /* a process that may have less (ulimit -v, -d) has all of it for its data */

#define SQPYTE_HIDDEN __attribute__((visibility("hidden")))

static struct {
  u8 *pBegin;             /* the reserve; 0: the VM has not started */
  size_t nUsed;           /* its bytes that have been given out since it was whole */
  volatile int nOut;      /* pieces that are out */
  void *volatile pCode;   /* the reserve that code may be in; 0: it is out */
  pthread_mutex_t mutex;
} sqpyteReserve = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Address space, or 0. */
static void *sqpyteMapped(size_t nByte, int prot){
  void *p = mmap(0, nByte, prot, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);
  return p==MAP_FAILED ? 0 : p;
}

static void *sqpyteMappedCode(void){
  return sqpyteMapped(SQPYTE_CODE_RESERVE, PROT_READ|PROT_WRITE|PROT_EXEC);
}

static int sqpyteIsLimited(int resource){
  struct rlimit limit;
  return getrlimit(resource, &limit)==0 && limit.rlim_cur<SQPYTE_LEAST_SPACE;
}

/* Takes the reserve from the system, before the VM starts. Returns SQPYTE_WHY_HOT, or why the VM can't start. */
static int sqpyteTakeReserve(void){
  void *pCode;
  if( sqpyteIsLimited(RLIMIT_AS) || sqpyteIsLimited(RLIMIT_DATA) ) return SQPYTE_WHY_FULL;
  pCode = sqpyteMappedCode();
  if( pCode==0 ) return errno==ENOMEM ? SQPYTE_WHY_FULL : SQPYTE_WHY_EXECUTABLE;
  sqpyteReserve.pBegin = sqpyteMapped(SQPYTE_RESERVE, PROT_READ|PROT_WRITE);
  if( sqpyteReserve.pBegin==0 ){
    munmap(pCode, SQPYTE_CODE_RESERVE);
    return SQPYTE_WHY_FULL;
  }
  sqpyteReserve.pCode = pCode;
  return SQPYTE_WHY_HOT;
}

/* Whether nothing of the reserve is out. Of the part for code another is asked for: what is out comes back never. */
static int sqpyteReserveIsWhole(void){
  if( sqpyteReserve.pBegin==0 ) return 1;      /* a VM from outside (sqpyte_set_vm) */
  if( sqpyteReserve.pCode==0 ) sqpyteReserve.pCode = sqpyteMappedCode();
  return sqpyteReserve.nOut==0 && sqpyteReserve.pCode!=0;
}

static int sqpyteInReserve(const void *p){
  return sqpyteReserve.pBegin!=0 && (uptr)p-(uptr)sqpyteReserve.pBegin<SQPYTE_RESERVE;
}

/* A piece of the reserve; 0 if it has none of this size. */
static void *sqpyteTakeFromReserve(size_t nByte){
  void *p = 0;
  nByte = (nByte + 15) & ~(size_t)15;
  pthread_mutex_lock(&sqpyteReserve.mutex);
  if( sqpyteReserve.pBegin!=0 && nByte>0 && nByte<=SQPYTE_RESERVE-sqpyteReserve.nUsed ){
    p = sqpyteReserve.pBegin + sqpyteReserve.nUsed;
    sqpyteReserve.nUsed += nByte;
    sqpyteReserve.nOut++;
  }
  pthread_mutex_unlock(&sqpyteReserve.mutex);
  return p;
}

SQPYTE_HIDDEN void *sqpyte_system_malloc(size_t nByte){
  void *p = malloc(nByte);
  return p ? p : sqpyteTakeFromReserve(nByte);
}

SQPYTE_HIDDEN void sqpyte_system_free(void *p){
  if( !sqpyteInReserve(p) ){
    free(p);
    return;
  }
  pthread_mutex_lock(&sqpyteReserve.mutex);
  if( --sqpyteReserve.nOut==0 ){
    madvise(sqpyteReserve.pBegin, sqpyteReserve.nUsed, MADV_DONTNEED);
    sqpyteReserve.nUsed = 0;
  }
  pthread_mutex_unlock(&sqpyteReserve.mutex);
}

/* RPython maps what its machine code is in, and nothing else. */
SQPYTE_HIDDEN void *sqpyte_system_mmap(void *pHint, size_t nByte, int prot, int flags, int fd, off_t offset){
  void *p = mmap(pHint, nByte, prot, flags, fd, offset);
  if( p==MAP_FAILED && (prot & PROT_EXEC) ){
    if( nByte<=SQPYTE_CODE_RESERVE && sqpyteReserve.pCode ){
      p = sqpyteReserve.pCode;
      sqpyteReserve.pCode = 0;
    }else{
      errno = ENOMEM;           /* after any other error RPython ends the process */
    }
  }
  return p;
}
