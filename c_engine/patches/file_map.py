"""Edits by which the pager reads the database file by map, and a read that fails is an error (file_map.h).

* `unixFile` and `Pager`: which map, and whether it is used (pager_map.h);
* upstream's fetching, reading, growing and unmapping know of it;
* what can be handed to the program is handed out only if no read has failed: a row, a commit, a blob's bytes,
  a backup's page. Rows are looked at in engine.c, page batches in page_batch.c;
* the functions of the API that read pages outside of a statement have their names in other_thread.c.
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "map-of-file",
        "  void *pMapRegion;                   /* Memory mapped region */\n"
        "#endif\n"
        "  int sectorSize;",
        "  void *pMapRegion;                   /* Memory mapped region */\n"
        "  struct SqpyteMap *pSqpyteMap;       /* 0 if pMapRegion isn't ours (file_map.h) */\n"
        "  u8 bSqpyteFetched;                  /* It is ours, and in stock's library a page would be out, too */\n"
        "  u8 bSqpyteNoHoles;                  /* Nothing is mapped where the file has holes */\n"
        "#endif\n"
        "  int sectorSize;",
    ),
    Edit(
        "map-of-pager",
        "  u8 bUseFetch;               /* True to use xFetch() */\n",
        "  u8 bUseFetch;               /* True to use xFetch() */\n"
        "  u8 eSqpyteMap;              /* SQPYTE_MAP_... (pager_map.h) */\n"
        "  int nSqpyteRead;            /* Pages read, ... */\n"
        "  int nSqpyteNear;            /* ... those near the one before, less twice the others, and ... */\n"
        "  Pgno iSqpyteRead;           /* ... the last one */\n"
        "  u64 nSqpyteThread;          /* In which failing reads are known to be caught */\n",
    ),
    Edit(
        "map-of-program",
        "  u8 bSqpyteAhead;              /* Something runs ahead on live B-trees */\n",
        "  u8 bSqpyteAhead;              /* Something runs ahead on live B-trees */\n"
        "  u8 bSqpyteMmapGiven;          /* The program has given mmap_size: no map of ours */\n"
        "  u64 nSqpyteThread;            /* Whose the last step was, if a map may be used */\n",
    ),
    Edit(
        "map-include",
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
        "#include \"storage/file_map.h\"\n"
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
    ),
    Edit(
        "map-pager-include",
        "/*\n"
        "** Return true if it is necessary to write page *pPg into the sub-journal.\n",
        "#include \"storage/pager_map.h\"\n"
        "/*\n"
        "** Return true if it is necessary to write page *pPg into the sub-journal.\n",
    ),
    # A read that has failed is done once more by pread, which has stock's answer.
    Edit(
        "map-read",
        "  if( offset<pFile->mmapSize ){\n"
        "    if( offset+amt <= pFile->mmapSize ){\n"
        "      memcpy(pBuf, &((u8 *)(pFile->pMapRegion))[offset], amt);\n"
        "      return SQLITE_OK;\n"
        "    }else{\n"
        "      int nCopy = pFile->mmapSize - offset;\n",
        "  if( pFile->pSqpyteMap ){\n"
        "    if( offset+amt<=pFile->mmapSize && !SQPYTE_MAP_FAILED(pFile) && !bSqpyteSystemCallsReplaced ){\n"
        "      memcpy(pBuf, &((u8 *)(pFile->pMapRegion))[offset], amt);\n"
        "      if( !pFile->pSqpyteMap->bFailed ) return SQLITE_OK;\n"
        "    }\n"
        "  }else if( offset<pFile->mmapSize ){\n"
        "    if( offset+amt <= pFile->mmapSize ){\n"
        "      memcpy(pBuf, &((u8 *)(pFile->pMapRegion))[offset], amt);\n"
        "      return SQLITE_OK;\n"
        "    }else{\n"
        "      int nCopy = pFile->mmapSize - offset;\n",
    ),
    # file_map.h has one of upstream's name around it.
    Edit(
        "map-system-calls",
        "static int unixSetSystemCall(\n",
        "static int sqpyteReplaceSystemCall(\n",
    ),
    # No more is read of the file, and so nothing of its map. What has been read is right.
    Edit(
        "map-no-file",
        "      osClose(pFile->h);\n"
        "      pFile->h = -1;\n",
        "      osClose(pFile->h);\n"
        "      pFile->h = -1;\n"
        "      if( pFile->pSqpyteMap ) pFile->pSqpyteMap->bGone = 1;\n",
    ),
    Edit(
        "map-limit",
        "      if( newLimit>=0 && newLimit!=pFile->mmapSizeMax && pFile->nFetchOut==0 ){\n"
        "        pFile->mmapSizeMax = newLimit;\n"
        "        if( pFile->mmapSize>0 ){\n"
        "          unixUnmapfile(pFile);\n",
        "      if( newLimit>=0 && pFile->nFetchOut>0 && pFile->pSqpyteMap && !pFile->bSqpyteFetched ){\n"
        "        pFile->mmapSizeMax = newLimit;    /* in stock no page would be out */\n"
        "      }\n"
        "      if( newLimit>=0 && newLimit!=pFile->mmapSizeMax && pFile->nFetchOut==0 ){\n"
        "        pFile->mmapSizeMax = newLimit;\n"
        "        if( pFile->mmapSize>0 ){\n"
        "          unixUnmapfile(pFile);\n",
    ),
    Edit(
        "map-unmapped",
        "static void unixUnmapfile(unixFile *pFd){\n"
        "  assert( pFd->nFetchOut==0 );\n",
        "static void unixUnmapfile(unixFile *pFd){\n"
        "  assert( pFd->nFetchOut==0 );\n"
        "  sqpyteForgetMap(pFd);\n",
    ),
    Edit(
        "map-mapped-by-program",
        "  assert( nNew<=pFd->mmapSizeMax );\n"
        "  assert( nNew>0 );\n",
        "  assert( nNew<=pFd->mmapSizeMax );\n"
        "  assert( nNew>0 );\n"
        "  sqpyteForgetMap(pFd);\n",
    ),
    Edit(
        "map-fetch",
        "  unixFile *pFd = (unixFile *)fd;   /* The underlying database file */\n"
        "#endif\n"
        "  *pp = 0;\n",
        "  unixFile *pFd = (unixFile *)fd;   /* The underlying database file */\n"
        "#endif\n"
        "  *pp = 0;\n"
        "  if( pFd->pSqpyteMap ){\n"
        "    if( SQPYTE_MAP_FAILED(pFd) ) return SQLITE_IOERR_READ;\n"
        "    if( pFd->mmapSize>=iOff+nAmt+SQPYTE_MAP_BUFFER && !bSqpyteSystemCallsReplaced ){\n"
        "      pFd->bSqpyteFetched = pFd->mmapSizeMax>0;\n"
        "      *pp = &((u8 *)pFd->pMapRegion)[iOff];\n"
        "      __builtin_prefetch(*pp);          /* its header, and the cell pointers behind */\n"
        "      __builtin_prefetch((u8*)*pp+64);\n"
        "      pFd->nFetchOut++;\n"
        "    }\n"
        "    return SQLITE_OK;\n"
        "  }\n",
    ),
    Edit(
        "map-getter",
        "    pPager->bUseFetch = (sz>0);\n",
        "    pPager->bUseFetch = (sz>0) || pPager->eSqpyteMap==SQPYTE_MAP_USED;\n",
    ),
    # A statement whose transaction has been rolled back within it, by a function, may go on and write where the pager
    # only reads. Stock, without a map, writes to its cache then; a page of a map it couldn't.
    Edit(
        "map-only-to-read",
        "   && (pPager->eState==PAGER_READER || (flags & PAGER_GET_READONLY))\n",
        "   && ((pPager->eState==PAGER_READER && pPager->eSqpyteMap!=SQPYTE_MAP_USED)\n"
        "      || (flags & PAGER_GET_READONLY))\n",
    ),
    Edit(
        "map-page-read",
        "      pPager->aStat[PAGER_STAT_MISS]++;\n"
        "      rc = readDbPage(pPg);\n",
        "      pPager->aStat[PAGER_STAT_MISS]++;\n"
        "      sqpytePageRead(pPager, pgno);\n"
        "      rc = readDbPage(pPg);\n",
    ),
    Edit(
        "map-transaction",
        "    pPager->eState = PAGER_READER;\n"
        "    pPager->hasHeldSharedLock = 1;\n"
        "  }\n",
        "    pPager->eState = PAGER_READER;\n"
        "    pPager->hasHeldSharedLock = 1;\n"
        "    if( pPager->eSqpyteMap>=SQPYTE_MAP_USED ) sqpyteMapTransaction(pPager);\n"
        "  }\n",
    ),
    Edit(
        "map-transaction-ends",
        "  pPager->journalOff = 0;\n"
        "  pPager->journalHdr = 0;\n"
        "  pPager->setSuper = 0;\n"
        "}\n",
        "  pPager->journalOff = 0;\n"
        "  pPager->journalHdr = 0;\n"
        "  pPager->setSuper = 0;\n"
        "  if( sqpyteBus.nFailed && sqpytePagerFailed(pPager) ) sqpyteStopMap(pPager, SQPYTE_MAP_NEVER);\n"
        "}\n",
    ),
    # Another process that has changed the file is no reason to unmap it: this map shows what the file has.
    Edit(
        "map-file-changed",
        "  }else{\n"
        "    unixUnmapfile(pFd);\n"
        "  }\n",
        "  }else if( pFd->pSqpyteMap==0 ){\n"
        "    unixUnmapfile(pFd);\n"
        "  }\n",
    ),
    Edit(
        "map-may",
        "      sqlite3PagerSetMmapLimit(pBt->pPager, db->szMmap);\n"
        "      rc = sqlite3PagerReadFileheader(",
        "      sqlite3PagerSetMmapLimit(pBt->pPager, db->szMmap);\n"
        "      sqlite3PagerMayMap(pBt->pPager, !db->bSqpyteMmapGiven && !bSqpyteMmapGiven && db->szMmap==0\n"
        "                                      && sqlite3GlobalConfig.mxMmap>0);\n"
        "      rc = sqlite3PagerReadFileheader(",
    ),
    Edit(
        "map-may-declared",
        "SQLITE_PRIVATE void sqlite3PagerSetMmapLimit(Pager *, sqlite3_int64);\n",
        "SQLITE_PRIVATE void sqlite3PagerSetMmapLimit(Pager *, sqlite3_int64);\n"
        "SQLITE_PRIVATE void sqlite3PagerMayMap(Pager *, int);\n"
        "static int bSqpyteMmapGiven;    /* The program has given SQLITE_CONFIG_MMAP_SIZE */\n"
        "static int sqpyteBeginCall(sqlite3*);\n"
        "static void sqpyteEndCall(sqlite3*, int);\n",
    ),
    Edit(
        "map-may-defined",
        "/*\n"
        "** Free as much memory as possible from the pager.\n",
        "/* Whether the pager may use a map of ours (pager_map.h). */\n"
        "SQLITE_PRIVATE void sqlite3PagerMayMap(Pager *pPager, int bMay){\n"
        "  if( pPager->eSqpyteMap>=SQPYTE_MAP_USED ) sqpyteStopMap(pPager, SQPYTE_MAP_NEVER);\n"
        "  else pPager->eSqpyteMap = bMay ? SQPYTE_MAP_MAY : SQPYTE_MAP_NEVER;\n"
        "}\n"
        "/*\n"
        "** Free as much memory as possible from the pager.\n",
    ),
    Edit(
        "map-pragma",
        "      if( pId2->n==0 ) db->szMmap = sz;\n",
        "      if( pId2->n==0 ){\n"
        "        db->szMmap = sz;\n"
        "        db->bSqpyteMmapGiven = 1;\n"
        "      }\n",
    ),
    Edit(
        "map-config",
        "      sqlite3GlobalConfig.szMmap = szMmap;\n"
        "      break;\n",
        "      sqlite3GlobalConfig.szMmap = szMmap;\n"
        "      bSqpyteMmapGiven = 1;\n"
        "      break;\n",
    ),
    Edit(
        "map-file-control",
        "      int nSave = db->busyHandler.nBusy;\n"
        "      rc = sqlite3OsFileControl(fd, op, pArg);\n",
        "      int nSave = db->busyHandler.nBusy;\n"
        "      if( op==SQLITE_FCNTL_MMAP_SIZE && *(sqlite3_int64*)pArg>=0 ) sqlite3PagerMayMap(pPager, 0);\n"
        "      rc = sqlite3OsFileControl(fd, op, pArg);\n",
    ),
    Edit(
        "map-pragma-of-pager",
        "          sqlite3BtreeSetMmapLimit(db->aDb[ii].pBt, sz);\n",
        "          sqlite3PagerMayMap(sqlite3BtreePager(db->aDb[ii].pBt), 0);\n"
        "          sqlite3BtreeSetMmapLimit(db->aDb[ii].pBt, sz);\n",
    ),
    Edit(
        "map-thread-blob-read",
        "SQLITE_API int sqlite3_blob_read(sqlite3_blob *pBlob, void *z, int n, int iOffset){\n",
        "static int sqpyteBlobRead(sqlite3_blob *pBlob, void *z, int n, int iOffset){\n",
    ),
    Edit(
        "map-thread-blob-write",
        "SQLITE_API int sqlite3_blob_write(sqlite3_blob *pBlob, const void *z, int n, int iOffset){\n",
        "static int sqpyteBlobWrite(sqlite3_blob *pBlob, const void *z, int n, int iOffset){\n",
    ),
    Edit(
        "map-thread-blob-reopen",
        "SQLITE_API int sqlite3_blob_reopen(sqlite3_blob *pBlob, sqlite3_int64 iRow){\n",
        "static int sqpyteBlobReopen(sqlite3_blob *pBlob, sqlite3_int64 iRow){\n",
    ),
    Edit(
        "map-thread-backup",
        "SQLITE_API int sqlite3_backup_step(sqlite3_backup *p, int nPage){\n",
        "static int sqpyteBackupStep(sqlite3_backup *p, int nPage){\n",
    ),
    Edit(
        "map-thread-serialize",
        "SQLITE_API unsigned char *sqlite3_serialize(\n"
        "  sqlite3 *db,              /* The database connection */\n",
        "static unsigned char *sqpyteSerialize(\n"
        "  sqlite3 *db,              /* The database connection */\n",
    ),
    Edit(
        "map-thread-prepare",
        "  sqlite3_mutex_enter(db->mutex);\n"
        "  sqlite3BtreeEnterAll(db);\n"
        "  do{\n"
        "    /* Make multiple attempts",
        "  sqlite3_mutex_enter(db->mutex);\n"
        "  sqlite3BtreeEnterAll(db);\n"
        "  bSqpyteUnblocked = sqpyteBeginCall(db);\n"
        "  do{\n"
        "    /* Make multiple attempts",
    ),
    Edit(
        "map-thread-prepare-ends",
        "  sqlite3BtreeLeaveAll(db);\n"
        "  assert( rc!=SQLITE_ERROR_RETRY );\n"
        "  rc = sqlite3ApiExit(db, rc);\n",
        "  sqpyteEndCall(db, bSqpyteUnblocked);\n"
        "  sqlite3BtreeLeaveAll(db);\n"
        "  assert( rc!=SQLITE_ERROR_RETRY );\n"
        "  rc = sqlite3ApiExit(db, rc);\n",
    ),
    Edit(
        "map-thread-prepare-local",
        "  int rc;\n"
        "  int cnt = 0;\n"
        "\n"
        "#ifdef SQLITE_ENABLE_API_ARMOR\n"
        "  if( ppStmt==0 ) return SQLITE_MISUSE_BKPT;\n",
        "  int rc;\n"
        "  int cnt = 0;\n"
        "  int bSqpyteUnblocked;\n"
        "\n"
        "#ifdef SQLITE_ENABLE_API_ARMOR\n"
        "  if( ppStmt==0 ) return SQLITE_MISUSE_BKPT;\n",
    ),
    # What a read that failed has led to isn't handed out, or committed.
    Edit(
        "map-failed-halt",
        "  p->rc = pOp->p1;\n"
        "  p->errorAction = (u8)pOp->p2;\n",
        "  if( SQPYTE_READS_FAILED(db) ){\n"
        "    rc = SQLITE_IOERR_READ;\n"
        "    goto abort_due_to_error;\n"
        "  }\n"
        "  p->rc = pOp->p1;\n"
        "  p->errorAction = (u8)pOp->p2;\n",
    ),
    Edit(
        "map-failed-blob",
        "    rc = xCall(p->pCsr, iOffset+p->iOffset, n, z);\n"
        "#endif\n"
        "\n",
        "    rc = xCall(p->pCsr, iOffset+p->iOffset, n, z);\n"
        "#endif\n"
        "    if( rc==SQLITE_OK && SQPYTE_READS_FAILED(db) ) rc = SQLITE_IOERR_READ;\n"
        "\n",
    ),
    Edit(
        "map-failed-backup",
        "          rc = backupOnePage(p, iSrcPg, sqlite3PagerGetData(pSrcPg), 0);\n"
        "          sqlite3PagerUnref(pSrcPg);\n",
        "          rc = backupOnePage(p, iSrcPg, sqlite3PagerGetData(pSrcPg), 0);\n"
        "          if( rc==SQLITE_OK && SQPYTE_READS_FAILED(p->pSrcDb) ) rc = SQLITE_IOERR_READ;\n"
        "          sqlite3PagerUnref(pSrcPg);\n",
    ),
]
