"""Edits of how SQLite reads and keeps pages.

* scans reading ahead (read_ahead.h);
* reads timed (io_timer.h);
* the page cache's list by last use written when a page has to go, not at each visit (page_replacement.h).
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "read-ahead-fields",
        "  int szChunk;                        /* Configured by FCNTL_CHUNK_SIZE */\n",
        "  int szChunk;                        /* Configured by FCNTL_CHUNK_SIZE */\n"
        "  u8 *aSqpyteAhead;                   /* What was read ahead (read_ahead.h) ... */\n"
        "  i64 iSqpyteAhead;                   /* ... from this offset on */\n"
        "  int nSqpyteAhead;                   /* Bytes read ahead */\n"
        "  int nSqpyteServed;                  /* Bytes of them that were asked for */\n"
        "  struct SqpyteStream {\n"
        "    i64 iNext;                        /* Where its last read ended */\n"
        "    int nRun;                         /* Reads in a row; below zero, a pause */\n"
        "    int bUsed;                        /* It went on since it was last to be given up */\n"
        "  } aSqpyteStream[8];\n"
        "  struct SqpyteStream *pSqpyteStream; /* Which of them it was read ahead for */\n"
        "  int iSqpyteOldest;                  /* The next of them to be given up */\n",
    ),
    Edit(
        "read-ahead",
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
        "static int seekAndRead(unixFile*, sqlite3_int64, void*, int);\n"
        "#include \"storage/read_ahead.h\"\n"
        "#include \"storage/io_timer.h\"\n"
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
    ),
    Edit(
        "read-ahead-read",
        "  got = seekAndRead(pFile, offset, pBuf, amt);\n"
        "  if( got==amt ){\n",
        "  if( sqpyteReadAhead(pFile, pBuf, amt, offset) ) return SQLITE_OK;\n"
        "  got = sqpyteRead(pFile, offset, pBuf, amt);\n"
        "  if( got==amt ){\n",
    ),
    Edit(
        "read-ahead-write",
        "  unixFile *pFile = (unixFile*)id;\n"
        "  int wrote = 0;\n",
        "  unixFile *pFile = (unixFile*)id;\n"
        "  int wrote = 0;\n"
        "  SQPYTE_FORGET_AHEAD(pFile);\n",
    ),
    Edit(
        "read-ahead-truncate",
        "  assert( pFile );\n"
        "  SimulateIOError( return SQLITE_IOERR_TRUNCATE );\n",
        "  assert( pFile );\n"
        "  SQPYTE_FORGET_AHEAD(pFile);\n",
    ),
    Edit(
        "read-ahead-lock",
        "  if( pFile->eFileLock>=eFileLock ){\n"
        "    OSTRACE((\"LOCK    %d %s ok (already held) (unix)\\n\", pFile->h,\n",
        "  SQPYTE_FORGET_AHEAD(pFile);\n"
        "  if( pFile->eFileLock>=eFileLock ){\n"
        "    OSTRACE((\"LOCK    %d %s ok (already held) (unix)\\n\", pFile->h,\n",
    ),
    Edit(
        "read-ahead-unlock",
        "  OSTRACE((\"UNLOCK  %d %d was %d(%d,%d) pid=%d (unix)\\n\", pFile->h, eFileLock,\n",
        "  SQPYTE_FORGET_AHEAD(pFile);\n"
        "  OSTRACE((\"UNLOCK  %d %d was %d(%d,%d) pid=%d (unix)\\n\", pFile->h, eFileLock,\n",
    ),
    Edit(
        "read-ahead-wal-lock",
        "  u16 mask = (1<<(ofst+n)) - (1<<ofst); /* Mask of locks to take or release */\n"
        "  int *aLock;\n"
        "\n"
        "  p = pDbFd->pShm;\n",
        "  u16 mask = (1<<(ofst+n)) - (1<<ofst); /* Mask of locks to take or release */\n"
        "  int *aLock;\n"
        "\n"
        "  SQPYTE_FORGET_AHEAD(pDbFd);\n"
        "  p = pDbFd->pShm;\n",
    ),
    Edit(
        "read-ahead-close",
        "  sqlite3_free(pFile->pPreallocatedUnused);\n"
        "  memset(pFile, 0, sizeof(unixFile));\n",
        "  sqlite3_free(pFile->pPreallocatedUnused);\n"
        "  sqlite3_free(pFile->aSqpyteAhead);\n"
        "  memset(pFile, 0, sizeof(unixFile));\n",
    ),
    Edit(
        "page-replacement-fields",
        "                            /* NB: pLruPrev is only valid if pLruNext!=0 */\n"
        "};\n",
        "                            /* NB: pLruPrev is only valid if pLruNext!=0 */\n"
        "  u32 bSqpytePinned;        /* Pinned, though in the list (page_replacement.h) */\n"
        "  u32 nSqpyteUsed;          /* How often it was asked for again (page_replacement.h) */\n"
        "};\n",
    ),
    Edit(
        "page-replacement-pinned",
        "#define PAGE_IS_PINNED(p)    ((p)->pLruNext==0)\n"
        "#define PAGE_IS_UNPINNED(p)  ((p)->pLruNext!=0)\n",
        "#define PAGE_IS_PINNED(p)    ((p)->pLruNext==0 || (p)->bSqpytePinned)\n"
        "#define PAGE_IS_UNPINNED(p)  (!PAGE_IS_PINNED(p))\n",
    ),
    Edit(
        "page-replacement",
        "static PgHdr1 *pcache1AllocPage(PCache1 *pCache, int benignMalloc){\n",
        "#include \"storage/page_replacement.h\"\n"
        "static PgHdr1 *pcache1AllocPage(PCache1 *pCache, int benignMalloc){\n",
    ),
    Edit(
        "page-replacement-fetch",
        "    if( PAGE_IS_UNPINNED(pPage) ){\n"
        "      return pcache1PinPage(pPage);\n",
        "    if( PAGE_IS_UNPINNED(pPage) ){\n"
        "      return sqpytePin(pPage);\n",
    ),
    Edit(
        "page-replacement-unpin",
        "  assert( pPage->pLruNext==0 );\n"
        "  assert( PAGE_IS_PINNED(pPage) );\n"
        "\n"
        "  if( reuseUnlikely || pGroup->nPurgeable>pGroup->nMaxPage ){\n"
        "    pcache1RemoveFromHash(pPage, 1);\n"
        "  }else{\n"
        "    /* Add the page to the PGroup LRU list. */\n"
        "    PgHdr1 **ppFirst = &pGroup->lru.pLruNext;\n"
        "    pPage->pLruPrev = &pGroup->lru;\n"
        "    (pPage->pLruNext = *ppFirst)->pLruPrev = pPage;\n"
        "    *ppFirst = pPage;\n"
        "    pCache->nRecyclable++;\n"
        "  }\n",
        "  assert( PAGE_IS_PINNED(pPage) );\n"
        "\n"
        "  if( reuseUnlikely || pGroup->nPurgeable>pGroup->nMaxPage ){\n"
        "    if( pPage->pLruNext ) sqpyteLeaveList(pPage);\n"
        "    pcache1RemoveFromHash(pPage, 1);\n"
        "  }else{\n"
        "    sqpyteUnpin(pGroup, pPage);\n"
        "  }\n",
    ),
    Edit(
        "page-replacement-truncate",
        "        if( PAGE_IS_UNPINNED(pPage) ) pcache1PinPage(pPage);\n",
        "        if( pPage->pLruNext ) sqpyteLeaveList(pPage);\n",
    ),
    Edit(
        "page-replacement-enforce",
        "  while( pGroup->nPurgeable>pGroup->nMaxPage\n"
        "      && (p=pGroup->lru.pLruPrev)->isAnchor==0\n"
        "  ){\n",
        "  while( pGroup->nPurgeable>pGroup->nMaxPage\n"
        "      && (p=sqpyteVictim(pGroup))->isAnchor==0\n"
        "  ){\n",
    ),
    Edit(
        "page-replacement-recycle",
        "   && !pGroup->lru.pLruPrev->isAnchor\n"
        "   && ((pCache->nPage+1>=pCache->nMax) || pcache1UnderMemoryPressure(pCache))\n"
        "  ){\n"
        "    PCache1 *pOther;\n"
        "    pPage = pGroup->lru.pLruPrev;\n",
        "   && ((pCache->nPage+1>=pCache->nMax) || pcache1UnderMemoryPressure(pCache))\n"
        "   && !(pPage = sqpyteVictim(pGroup))->isAnchor\n"
        "  ){\n"
        "    PCache1 *pOther;\n",
    ),
    Edit(
        "page-replacement-recycle-none",
        "  /* Step 5. If a usable page buffer has still not been found,\n"
        "  ** attempt to allocate a new one.\n"
        "  */\n",
        "  if( pPage && pPage->isAnchor ) pPage = 0;\n"
        "  /* Step 5. If a usable page buffer has still not been found,\n"
        "  ** attempt to allocate a new one.\n"
        "  */\n",
    ),
    Edit(
        "page-replacement-new",
        "    pPage->pLruNext = 0;\n"
        "    /* pPage->pLruPrev = 0;\n"
        "    ** No need to clear pLruPrev since it is not accessed when pLruNext==0 */\n",
        "    pPage->pLruNext = 0;\n"
        "    pPage->bSqpytePinned = pPage->nSqpyteUsed = 0;\n",
    ),
]
