/*
** Back-off: a mechanism that doesn't pay pauses, and each time for longer. Included by engine.c.
*/
#ifndef SQPYTE_BACKOFF_H
#define SQPYTE_BACKOFF_H

typedef struct SqpyteBackOff SqpyteBackOff;
struct SqpyteBackOff {
  i64 nPause;             /* So many occasions to let pass */
  i64 nNext;              /* How long the next pause is; 0: as the first */
};

/* Whether this occasion is to pass. */
static int sqpytePauses(SqpyteBackOff *p){
  if( p->nPause==0 ) return 0;
  p->nPause--;
  return 1;
}

/* It hasn't paid: the first pause has nFirst occasions, each one after it nTimes as many, up to about nMost. */
static void sqpyteBackOff(SqpyteBackOff *p, i64 nFirst, int nTimes, i64 nMost){
  p->nPause = p->nNext ? p->nNext : nFirst;
  p->nNext = p->nPause<nMost ? p->nPause*nTimes : p->nPause;
}

#endif
