/*
** How long this thread has waited for pages that it read one by one, for tiering.c: in a program that does
** little else the VM can save little. Included by the edited sqlite3.c in the middle of os_unix.c.
**
** One of 32 reads is timed and stands for all, so that the clock costs nothing that can be measured. A read
** that goes to the disk, or in which another thread had the processor, counts as the processor's time of a
** slow one: what it is compared with is processor's time.
*/
#include <time.h>

#define SQPYTE_READS_TIMED 32       /* a power of two */
#define SQPYTE_READ_NS 10000        /* the most that a read counts */

static __thread i64 sqpyteReadingNs;
static __thread u32 nSqpyteReads;

/* seekAndRead, timed. */
static int sqpyteRead(unixFile *pFile, i64 offset, void *pBuf, int amt){
  struct timespec begun, done;
  i64 ns;
  int got;
  if( ++nSqpyteReads % SQPYTE_READS_TIMED ) return seekAndRead(pFile, offset, pBuf, amt);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  got = seekAndRead(pFile, offset, pBuf, amt);
  clock_gettime(CLOCK_MONOTONIC, &done);
  ns = (i64)(done.tv_sec - begun.tv_sec)*1000000000 + (done.tv_nsec - begun.tv_nsec);
  sqpyteReadingNs += SQPYTE_READS_TIMED * (ns<SQPYTE_READ_NS ? ns : SQPYTE_READ_NS);
  return got;
}
