/*
** Validity by stamp: how all that is kept of a database, or computed ahead of its caller, is known to be old.
**
** A connection has one stamp, which never falls. It rises where upstream changes what a reader of this connection
** could see: when a page is written, moved or restored, at commit, rollback and rollback to a savepoint, at the start,
** the end and each step of a statement that writes (incremental vacuum included), when statements expire (a changed
** schema, a function or collation defined anew, an authorizer), at ATTACH, DETACH and a change of temp_store, and when
** a limit, a number of digits, a trace or a progress handler is set, or the parameters of a running statement are
** cleared. What is kept holds the stamp that it was made under. Who makes it reads the stamp first, and who uses it
** compares.
**
** Each pager has a pointer to the stamp that its changes raise: the connection's. A pager that several connections
** share, and one of a statement's own temporary table, has a stamp of its own: what readers keep of one says nothing of
** the connection.
**
** sqpyteBeforeChange() stands before a change, where it is safe to step other statements: it has what runs ahead on
** live B-trees rolled back, by a function that the caller's language gives, and then raises the stamp. A roll-back reads
** pages again, and so demands the stamp under which they were read first. That no stale row is handed out rests on
** the stamp alone.
**
** Included by the edited sqlite3.c (validity.py).
*/
#ifndef SQPYTE_VALIDITY_H
#define SQPYTE_VALIDITY_H

/* For what raises the stamp in the middle of a change. */
#define SQPYTE_RAISE(db) ((db)->nSqpyteStamp++)
#define SQPYTE_PAGER_RAISE(pPager) (++*(pPager)->pSqpyteStamp)
/* The stamp under which what is kept of a cursor's B-tree is valid. */
#define SQPYTE_CURSOR_STAMP(pCur) (*(pCur)->pBt->pPager->pSqpyteStamp)

static void sqpyteBeforeChange(sqlite3 *db){
  if( db->bSqpyteAhead ){
    db->bSqpyteAhead = 0;
    if( db->xSqpyteRollBack ) db->xSqpyteRollBack(db);
  }
  SQPYTE_RAISE(db);
}

/* Whether statements of the connection may run ahead on live B-trees, or keep batches of their pages: no statement that
** writes is being stepped. (One that waits in the middle of its rows changes nothing before its next step, which begins
** with sqpyteBeforeChange.) Marks the connection as one where something runs ahead. */
static int sqpyteMayRunAhead(sqlite3 *db){
  if( db->nSqpyteWriting>0 ) return 0;
  db->bSqpyteAhead = 1;
  return 1;
}

#endif
