/*
** Memory that its user does without if there is none: what is cached or prefetched. SQLite counts such a failure as benign,
** so a test that injects it expects no error of the statement. Included by engine.c.
*/
#ifndef SQPYTE_SPARE_H
#define SQPYTE_SPARE_H

/* The value of a call that asks for memory. */
#define SQPYTE_SPARE(call) ({ \
    void *pSqpyteSpare = 0; \
    if( mem0.hardLimit==0 ){ \
      sqlite3BeginBenignMalloc(); \
      pSqpyteSpare = (call); \
      sqlite3EndBenignMalloc(); \
    } \
    pSqpyteSpare; })

#endif
