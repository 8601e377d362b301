"""Edits of how SQLite reads pages.

* scans reading ahead (read_ahead.h);
* reads timed (io_timer.h).
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
]
