/*
** A busy handler in front of the connection's own, which asks the caller's language before it waits for a lock: it may be
** held by something there that is garbage already (contract in fused.h). Included by engine.c, before fused.c.
*/
#include "rows/fused.h"

/* A busy handler in front of the connection's own. */
typedef struct SqpyteBusy SqpyteBusy;
struct SqpyteBusy {
  sqlite3 *db;
  int (*xBusy)(void*,int);      /* The connection's own, and its argument */
  void *pArg;
  sqlite3_int64 bAsked;         /* xFree has been asked, and has none left */
};
_Static_assert(sizeof(SqpyteBusy)<=8*SQPYTE_BUSY_WORDS && offsetof(SqpyteBusy, xBusy)==8*SQPYTE_BUSY_HANDLER
               && offsetof(SqpyteBusy, bAsked)==8*SQPYTE_BUSY_ASKED, "SQPYTE_BUSY_* are where its fields are");
static int (*sqpyteFreeLocks)(void*);

void sqpyte_free_locks_by(int (*xFree)(void*)){
  sqpyteFreeLocks = xFree;
}

static int sqpyteBusy(void *pArg, int nBusy){
  SqpyteBusy *p = (SqpyteBusy*)pArg;
  if( !p->bAsked ){
    if( sqpyteFreeLocks && sqpyteFreeLocks(p->db) ) return 1;
    p->bAsked = 1;
  }
  return p->xBusy ? p->xBusy(p->pArg, nBusy) : 0;
}

void sqpyte_ask_before_waiting(sqlite3 *db, sqlite3_int64 *pBusy){
  SqpyteBusy *p = (SqpyteBusy*)pBusy;
  p->db = db;
  p->xBusy = db->busyHandler.xBusyHandler;
  p->pArg = db->busyHandler.pBusyArg;
  p->bAsked = 0;
  db->busyHandler.xBusyHandler = sqpyteBusy;
  db->busyHandler.pBusyArg = p;
}

void sqpyte_ask_no_more(sqlite3 *db, sqlite3_int64 *pBusy){
  SqpyteBusy *p = (SqpyteBusy*)pBusy;
  if( db->busyHandler.xBusyHandler==sqpyteBusy && db->busyHandler.pBusyArg==p ){
    db->busyHandler.xBusyHandler = p->xBusy;
    db->busyHandler.pBusyArg = p->pArg;
  }
}
