/*
** Reading ahead: a scan reads one page after the other, each in a system call of its own, which
** costs more than the copy of its bytes. From the eighth page in a row on, 64 KiB are read at once
** and the pages that follow are copied from there. A join looks for rows elsewhere between two pages of its
** scan: so some rows of reads are followed at a time. Included by the edited sqlite3.c in the middle of
** os_unix.c.
**
** What was read ahead is what a read would give now: it is used only while this file has exactly
** a shared lock, under which nobody writes pages of the database that this reader may ask for (in WAL
** mode a checkpoint leaves those alone, too), and is forgotten with every lock, unlock, write or
** truncation through this file. That is known of files with POSIX locks only: under all other styles of locking
** (unix-dotfile, unix-none, flock ...) nothing is read ahead.
*/
#include "core/mechanisms.h"
#include "core/spare.h"
#define SQPYTE_AHEAD_SIZE 65536
#define SQPYTE_AHEAD_AFTER 8        /* reads in a row */
#define SQPYTE_AHEAD_GAP 4          /* pages that may be left out between two of them */
#define SQPYTE_AHEAD_PAUSE 64       /* reads to wait after one that wasn't worth it */

typedef struct SqpyteStream SqpyteStream;   /* See struct unixFile */
#define SQPYTE_STREAMS (int)ArraySize(((unixFile*)0)->aSqpyteStream)

#define SQPYTE_FORGET_AHEAD(pFile) ((pFile)->nSqpyteAhead = 0)

/* The row of reads that one continues. If there is none it begins a new one, in place of one that didn't go on
** lately, nor was the one that was read ahead for; then it returns 0. */
static SqpyteStream *sqpyteStream(unixFile *pFile, int amt, i64 offset){
  SqpyteStream *p;
  for(p=pFile->aSqpyteStream; p<&pFile->aSqpyteStream[SQPYTE_STREAMS]; p++){
    i64 gap = offset - p->iNext;
    if( gap>=0 && gap<=(i64)SQPYTE_AHEAD_GAP*amt ){
      p->iNext = offset + amt;
      p->bUsed = 1;
      return p;
    }
  }
  for(;;){
    p = &pFile->aSqpyteStream[pFile->iSqpyteOldest];
    pFile->iSqpyteOldest = (pFile->iSqpyteOldest+1) % SQPYTE_STREAMS;
    if( p!=pFile->pSqpyteStream && !p->bUsed ) break;
    p->bUsed = 0;
  }
  p->iNext = offset + amt;
  p->nRun = 0;
  return 0;
}

static const sqlite3_io_methods posixIoMethods;   /* upstream's, defined further down */

/* Serves a read from what was read ahead, or reads ahead; false if it is an ordinary read. */
static int sqpyteReadAhead(unixFile *pFile, void *pBuf, int amt, i64 offset){
  SqpyteStream *p;
  int got;
  if( pFile->eFileLock!=SHARED_LOCK || pFile->pMethod!=&posixIoMethods || SQPYTE_OFF(READ_AHEAD) ) return 0;
  if( offset>=pFile->iSqpyteAhead && offset+amt<=pFile->iSqpyteAhead+pFile->nSqpyteAhead ){
    p = pFile->pSqpyteStream;
    if( p->iNext<offset+amt ) p->iNext = offset + amt;
    pFile->nSqpyteServed += amt;
    memcpy(pBuf, pFile->aSqpyteAhead + (offset - pFile->iSqpyteAhead), amt);
    return 1;
  }
  p = sqpyteStream(pFile, amt, offset);
  if( p==0 || ++p->nRun<SQPYTE_AHEAD_AFTER || amt>SQPYTE_AHEAD_SIZE/4 ) return 0;
  if( pFile->nSqpyteAhead && pFile->nSqpyteServed<pFile->nSqpyteAhead/2 ){
    p->nRun = -SQPYTE_AHEAD_PAUSE;
    pFile->nSqpyteAhead = 0;
    return 0;
  }
  if( pFile->aSqpyteAhead==0 ){
    pFile->aSqpyteAhead = SQPYTE_SPARE(sqlite3_malloc(SQPYTE_AHEAD_SIZE));
    if( pFile->aSqpyteAhead==0 ) return 0;
  }
  pFile->nSqpyteAhead = 0;
  got = seekAndRead(pFile, offset, pFile->aSqpyteAhead, SQPYTE_AHEAD_SIZE);
  if( got<amt ) return 0;           /* at the end, or an error that the ordinary read will meet */
  SQPYTE_COUNT(READ_AHEAD);
  pFile->pSqpyteStream = p;
  pFile->iSqpyteAhead = offset;
  pFile->nSqpyteAhead = got;
  pFile->nSqpyteServed = amt;
  memcpy(pBuf, pFile->aSqpyteAhead, amt);
  return 1;
}
