/*
** Calls in another thread than the connection's last one. A transaction asks at its beginning whether a failing read of
** its map would be caught (bus_error.h): in the thread that begins it. A thread that goes on with the connection may
** block the signal; it has it unblocked for the length of a call. Included by engine.c.
**
** Invariant. Every function that reads pages in a transaction that was begun before it is bracketed: a step
** (sqpyteVdbeExec), preparing (patches/file_map.py), and the functions of the API below.
*/

/* Whether the calling thread, another one than that of the connection's last call, blocks the signal of a failing read
** while a transaction uses a map that another thread has begun (pager_map.h). Then the signal isn't blocked any more. */
static SQLITE_NOINLINE int sqpyteOtherThread(sqlite3 *db){
  int i, blocked = 0;
  for(i=0; i<db->nDb && !blocked; i++){
    Pager *pPager = db->aDb[i].pBt ? sqlite3BtreePager(db->aDb[i].pBt) : 0;
    if( pPager && pPager->eState>=PAGER_READER && pPager->nSqpyteThread!=sqpyteThread() && sqpyteMappedFile(pPager) ){
      blocked = sqpyteUnblockBusErrors();
    }
  }
  db->nSqpyteThread = blocked ? 0 : sqpyteThread();
  return blocked;
}

/* Around a call, with the connection's mutex held: what the first returns, the second is given. Calls within the call
** find nothing to do; the thread is as unknown afterwards as before. */
static SQLITE_INLINE int sqpyteBeginCall(sqlite3 *db){
  return sqpyteBus.bInstalled && db->nSqpyteThread!=sqpyteThread() && sqpyteOtherThread(db);
}
static void sqpyteEndCall(sqlite3 *db, int bUnblocked){
  if( !bUnblocked ) return;
  sqpyteBlockBusErrors();
  db->nSqpyteThread = 0;
}

/* The same for functions that take the mutex themselves; it is recursive. Without a connection there is nothing to do:
** upstream's function says what is wrong. */
static int sqpyteEnterCall(sqlite3 *db){
  if( db==0 ) return 0;
  sqlite3_mutex_enter(db->mutex);
  return sqpyteBeginCall(db);
}
static void sqpyteLeaveCall(sqlite3 *db, int bUnblocked){
  if( db==0 ) return;
  sqpyteEndCall(db, bUnblocked);
  sqlite3_mutex_leave(db->mutex);
}

int sqlite3_blob_read(sqlite3_blob *pBlob, void *z, int n, int iOffset){
  sqlite3 *db = pBlob ? ((Incrblob*)pBlob)->db : 0;
  int bUnblocked = sqpyteEnterCall(db);
  int rc = sqpyteBlobRead(pBlob, z, n, iOffset);
  sqpyteLeaveCall(db, bUnblocked);
  return rc;
}

int sqlite3_blob_write(sqlite3_blob *pBlob, const void *z, int n, int iOffset){
  sqlite3 *db = pBlob ? ((Incrblob*)pBlob)->db : 0;
  int bUnblocked = sqpyteEnterCall(db);
  int rc = sqpyteBlobWrite(pBlob, z, n, iOffset);
  sqpyteLeaveCall(db, bUnblocked);
  return rc;
}

int sqlite3_blob_reopen(sqlite3_blob *pBlob, sqlite3_int64 iRow){
  sqlite3 *db = pBlob ? ((Incrblob*)pBlob)->db : 0;
  int bUnblocked = sqpyteEnterCall(db);
  int rc = sqpyteBlobReopen(pBlob, iRow);
  sqpyteLeaveCall(db, bUnblocked);
  return rc;
}

int sqlite3_backup_step(sqlite3_backup *p, int nPage){
  sqlite3 *db = p ? p->pSrcDb : 0;
  int bUnblocked = sqpyteEnterCall(db);
  int rc = sqpyteBackupStep(p, nPage);
  sqpyteLeaveCall(db, bUnblocked);
  return rc;
}

unsigned char *sqlite3_serialize(sqlite3 *db, const char *zSchema, sqlite3_int64 *piSize, unsigned int mFlags){
  int bUnblocked = sqpyteEnterCall(db);
  unsigned char *pOut = sqpyteSerialize(db, zSchema, piSize, mFlags);
  sqpyteLeaveCall(db, bUnblocked);
  return pOut;
}
