"""The edits that turn upstream's sqlite3.c into the engine's: a short declared list.

Each edit replaces one text that must occur exactly once in the pinned file; an edit that
matches never or twice stops the build with the edit's name, so an upgrade of SQLite can't
slip past a changed spot.  Everything else of upstream stays as it is.

What the edits give `engine.c`:

* a place in each `Vdbe` for the tier's state (`sqpyte*` fields);
* a way out of `sqlite3VdbeExec` at a taken loop back-edge, to leave for the RPython VM when
  a loop is hot, with the two things that upstream carries between opcodes, `iCompare` and
  the statement's clock, kept;
* the same function once more as `sqpyteVdbeExecOne`, which stops before its second opcode:
  the VM runs single opcodes in it. (Asking in sqlite3VdbeExec itself whether to stop made
  programs of cheap opcodes 6 % slower.)
* a way to raise the error of a C function that the VM called, as upstream raises it;
* while a statement runs ahead of its caller (rows.h): an opcode that stands for those that are
  watched, and errors kept until the row that fails is asked for;
* `sqlite3Step` calling `sqpyteVdbeExec`, where the tier is chosen;
* in the sorter, a sort key of 16 bytes for each record in memory and for the current record of
  each sorted run (sort_key.h), compared before the records are;
* a search beginning in the leaf page where the cursor stands, if it would come there from the root
  (seek.c);
* texts that can't be numbers, dates above all, not converted to be compared as numbers;
* a cursor that is open on the B-tree that OpenRead asks for left open, at its place (seek.c);
* scans reading ahead (read_ahead.h);
* the page cache's list by last use written when a page has to go, not at each visit (page_clock.h);
* a table's rows brought nearer when an index leads to them (look_ahead.c);
* two opcodes of our own, Recall and Remember, around correlated subqueries (recall.c).
"""
import collections
import re

Edit = collections.namedtuple("Edit", "name find replace")


class EditError(Exception):
    """An edit did not match upstream's text exactly once."""


EDITS = [
    Edit(
        "vdbe-fields",
        # The fields after aOp are zeroed when a Vdbe is made.
        "  SubProgram *pProgram;   /* Linked list of all sub-programs used by VM */\n"
        "  AuxData *pAuxData;      /* Linked list of auxdata allocations */\n",
        "  SubProgram *pProgram;   /* Linked list of all sub-programs used by VM */\n"
        "  AuxData *pAuxData;      /* Linked list of auxdata allocations */\n"
        "  i64 sqpyteBudget;       /* Back-edges to go before leaving with SQPYTE_HOT */\n"
        "  i64 sqpyteEntries;      /* How often the VM has been entered */\n"
        "  int sqpyteCompare;      /* iCompare, kept while outside sqlite3VdbeExec */\n"
        "  int sqpyteStopPc;       /* Stop as with a row before this opcode, if not 0 */\n"
        "  struct SqpyteRows *sqpyteRows;  /* It runs ahead of its caller (rows.h), if not 0 */\n"
        "  int sqpyteError;        /* Raised on entry: a C call of the VM failed */\n"
        "  int sqpyteProgram;      /* The VM's number of the decoded program, if not 0 */\n"
        "  int sqpyteRefused;      /* How often the VM has handed this statement back */\n"
        "  int sqpyteReason;       /* SQPYTE_WHY_*: why it runs where it runs */\n"
        "  void *pSqpyteHistory;   /* What is known of the program from its runs (tier.c) */\n"
        "  i64 sqpyteHotSince;     /* When the first loop was hot in this step, or 0 */\n"
        "  i64 sqpyteScanSince;    /* When the loop that was hot last was first hot */\n"
        "  double sqpyteScanAt;    /* How far it had come then (tier.c) */\n"
        "  int sqpyteScanHead;     /* Its first opcode */\n"
        "  struct SqpyteRecalled *pSqpyteRecalled;  /* Results of subqueries (recall.c) */\n"
        "  u8 sqpyteSeeks;         /* The VM may go down B-trees */\n"
        "  u8 sqpyteTier;          /* SQPYTE_TIER_C or SQPYTE_TIER_VM */\n"
        "  u8 sqpyteResumed;       /* Within one sqlite3_step: keep iCurrentTime */\n",
    ),
    Edit(
        "exec-locals",
        "  int iCompare = 0;          /* Result of last comparison */\n",
        "  int iCompare = p->sqpyteCompare; /* Result of last comparison */\n"
        "  i64 nSqpyteBudget = p->sqpyteBudget;\n",
    ),
    Edit(
        "exec-clock",
        "  p->iCurrentTime = 0;\n",
        "  if( !p->sqpyteResumed ) p->iCurrentTime = 0;\n"
        "  if( p->sqpyteError ){\n"
        "    rc = p->sqpyteError;\n"
        "    p->sqpyteError = 0;\n"
        "    pOp = &aOp[p->pc];\n"
        "    goto abort_due_to_error;\n"
        "  }\n",
    ),
    Edit(
        "exec-stop",
        "    nVmStep++;\n",
        "    SQPYTE_BEFORE_OPCODE\n"
        "    nVmStep++;\n",
    ),
    Edit(
        "exec-hot",
        "jump_to_p2_and_check_for_interrupt:\n"
        "  pOp = &aOp[pOp->p2 - 1];\n",
        "jump_to_p2_and_check_for_interrupt:\n"
        "  pOp = &aOp[pOp->p2 - 1];\n"
        "  if( (--nSqpyteBudget)==0 ){\n"
        "    p->pc = (int)(pOp - aOp) + 1;\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_HOT;\n"
        "    goto vdbe_return;\n"
        "  }\n",
    ),
    Edit(
        "exec-watched",
        "default: {          /* This is really OP_Noop, OP_Explain */\n",
        "case SQPYTE_OP_WATCHED: {\n"
        "  int iSqpyteNext = sqpyteWatched(p, (int)(pOp - aOp));\n"
        "  if( iSqpyteNext<0 ){\n"
        "    p->pc = -1 - iSqpyteNext;\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_STOP;\n"
        "    goto vdbe_return;\n"
        "  }\n"
        "  pOp = &aOp[iSqpyteNext-1];\n"
        "  break;\n"
        "}\n"
        "default: {          /* This is really OP_Noop, OP_Explain */\n",
    ),
    Edit(
        "exec-error",
        # Nobody has asked for the row that fails: the error waits until somebody does.
        "abort_due_to_error:\n"
        "  if( db->mallocFailed ){\n",
        "abort_due_to_error:\n"
        "  if( p->sqpyteRows && !db->mallocFailed && rc!=SQLITE_NOMEM ){\n"
        "    p->sqpyteError = rc;\n"
        "    p->pc = (int)(pOp - aOp);\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_STOP;\n"
        "    goto vdbe_return;\n"
        "  }\n"
        "  if( db->mallocFailed ){\n",
    ),
    Edit(
        "step-start",
        "      p->pc = 0;\n"
        "      p->eVdbeState = VDBE_RUN_STATE;\n",
        "      p->pc = 0;\n"
        "      p->sqpyteTier = SQPYTE_TIER_C;\n"
        "      p->sqpyteCompare = 0;\n"
        "      p->sqpyteError = 0;\n"
        "      p->eVdbeState = VDBE_RUN_STATE;\n",
    ),
    Edit(
        "step-exec",
        "    db->nVdbeExec++;\n"
        "    rc = sqlite3VdbeExec(p);\n",
        "    db->nVdbeExec++;\n"
        "    rc = sqpyteVdbeExec(p);\n",
    ),
    Edit(
        "exec-declared",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "int sqpyteVdbeExec(Vdbe*);\n"
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n"
        "typedef struct SqpyteRows SqpyteRows;\n"
        "int sqpyteWatched(Vdbe*, int);\n"
        "#define SQPYTE_OP_WATCHED 255  /* in place of an opcode, while running ahead */\n"
        "#define SQPYTE_STOP 1001       /* stopped before the opcode at p->pc */\n"
        "#define SQPYTE_HOT 1002        /* a loop is hot; p->pc is its head */\n"
        "#define SQPYTE_TIER_C 0\n"
        "#define SQPYTE_TIER_VM 1\n",
    ),
    Edit(
        "sorter-reader",
        "struct PmaReader {\n",
        "#include \"sort_key.h\"\n"
        "struct PmaReader {\n"
        "  SqpyteSortKey sqpyteKey;    /* Sort key of the current record, if bSqpyteKey */\n"
        "  int bSqpyteKey;\n",
    ),
    Edit(
        "sorter-record",
        "struct SorterRecord {\n",
        "struct SorterRecord {\n"
        "  SqpyteSortKey sqpyteKey;\n",
    ),
    Edit(
        "sorter-write",
        "  memcpy(SRVAL(pNew), pVal->z, pVal->n);\n",
        "  memcpy(SRVAL(pNew), pVal->z, pVal->n);\n"
        "  sqpyteSortKey(pSorter->pKeyInfo, (const u8*)pVal->z, pVal->n, &pNew->sqpyteKey);\n",
    ),
    Edit(
        "sorter-merge",
        "    res = pTask->xCompare(\n"
        "        pTask, &bCached, SRVAL(p1), p1->nVal, SRVAL(p2), p2->nVal\n"
        "    );\n",
        "    if( !SQPYTE_KEYS_TELL(&p1->sqpyteKey, &p2->sqpyteKey, res) ){\n"
        "      res = pTask->xCompare(\n"
        "          pTask, &bCached, SRVAL(p1), p1->nVal, SRVAL(p2), p2->nVal\n"
        "      );\n"
        "    }\n",
    ),
    Edit(
        "sorter-ranks-declared",
        "static int vdbeSorterSort(SortSubtask *pTask, SorterList *pList){\n",
        "static void sqpyteRankTexts(const VdbeSorter*, SorterList*);\n"
        "static int vdbeSorterSort(SortSubtask *pTask, SorterList *pList){\n",
    ),
    Edit(
        "sorter-ranks",
        "  p = pList->pList;\n"
        "  pTask->xCompare = vdbeSorterGetCompare(pTask->pSorter);\n",
        "  sqpyteRankTexts(pTask->pSorter, pList);\n"
        "  p = pList->pList;\n"
        "  pTask->xCompare = vdbeSorterGetCompare(pTask->pSorter);\n",
    ),
    Edit(
        "sorter-reader-next",
        "static int vdbePmaReaderNext(PmaReader *pReadr){\n"
        "  int rc = SQLITE_OK;             /* Return Code */\n"
        "  u64 nRec = 0;                   /* Size of record in bytes */\n",
        "static int vdbePmaReaderNext(PmaReader *pReadr){\n"
        "  int rc = SQLITE_OK;             /* Return Code */\n"
        "  u64 nRec = 0;                   /* Size of record in bytes */\n"
        "  pReadr->bSqpyteKey = 0;\n",
    ),
    Edit(
        "sorter-step",
        "static int vdbeMergeEngineStep(\n",
        "static int sqpyteCompareReaders(\n"
        "  SortSubtask *pTask, int *pbCached, PmaReader *p1, PmaReader *p2\n"
        "){\n"
        "  const KeyInfo *pInfo = pTask->pSorter->pKeyInfo;\n"
        "  int res;\n"
        "  if( !p1->bSqpyteKey ) sqpyteSortKey(pInfo, p1->aKey, p1->nKey, &p1->sqpyteKey);\n"
        "  if( !p2->bSqpyteKey ) sqpyteSortKey(pInfo, p2->aKey, p2->nKey, &p2->sqpyteKey);\n"
        "  p1->bSqpyteKey = p2->bSqpyteKey = 1;\n"
        "  if( SQPYTE_KEYS_TELL(&p1->sqpyteKey, &p2->sqpyteKey, res) ) return res;\n"
        "  return pTask->xCompare(pTask, pbCached, p1->aKey, p1->nKey, p2->aKey, p2->nKey);\n"
        "}\n"
        "static int vdbeMergeEngineStep(\n",
    ),
    Edit(
        "sorter-step-compare",
        "        iRes = pTask->xCompare(pTask, &bCached,\n"
        "            pReadr1->aKey, pReadr1->nKey, pReadr2->aKey, pReadr2->nKey\n"
        "        );\n",
        "        iRes = sqpyteCompareReaders(pTask, &bCached, pReadr1, pReadr2);\n",
    ),
    Edit(
        "seek-in-leaf",
        "#ifdef SQLITE_DEBUG\n"
        "  pCur->pBtree->nSeek++;   /* Performance measurement during testing */\n"
        "#endif\n"
        "\n"
        "  rc = moveToRoot(pCur);\n"
        "  if( rc ){\n"
        "    if( rc==SQLITE_EMPTY ){\n"
        "      assert( pCur->pgnoRoot==0 || pCur->pPage->nCell==0 );\n"
        "      *pRes = -1;\n"
        "      return SQLITE_OK;\n"
        "    }\n"
        "    return rc;\n"
        "  }\n"
        "  assert( pCur->pPage );\n"
        "  assert( pCur->pPage->isInit );\n"
        "  assert( pCur->eState==CURSOR_VALID );\n"
        "  assert( pCur->pPage->nCell > 0 );\n"
        "  assert( pCur->iPage==0 || pCur->apPage[0]->intKey==pCur->curIntKey );\n",
        "  if( sqpyteSeekInLeaf(pCur, intKey, pRes) ) return SQLITE_OK;\n"
        "  rc = moveToRoot(pCur);\n"
        "  if( rc ){\n"
        "    if( rc==SQLITE_EMPTY ){\n"
        "      *pRes = -1;\n"
        "      return SQLITE_OK;\n"
        "    }\n"
        "    return rc;\n"
        "  }\n",
    ),
    Edit(
        "no-number",
        "  double rValue;\n"
        "  int rc;\n"
        "  assert( (pRec->flags & (MEM_Str|MEM_Int|MEM_Real|MEM_IntReal))==MEM_Str );\n",
        "  double rValue;\n"
        "  int rc;\n"
        "  assert( (pRec->flags & (MEM_Str|MEM_Int|MEM_Real|MEM_IntReal))==MEM_Str );\n"
        "  if( pRec->enc==SQLITE_UTF8\n"
        "   && !sqpyteMayBeNumber((const u8*)pRec->z, (const u8*)pRec->z+pRec->n) ) return;\n",
    ),
    Edit(
        "no-number-declared",
        "static void applyNumericAffinity(Mem *pRec, int bTryForInt){\n",
        "static int sqpyteMayBeNumber(const u8 *z, const u8 *zEnd);\n"
        "static void applyNumericAffinity(Mem *pRec, int bTryForInt){\n",
    ),
    Edit(
        "seek-in-leaf-fields",
        "  void *pKey;               /* Saved key that was cursor last known position */\n",
        "  void *pKey;               /* Saved key that was cursor last known position */\n"
        "  int nSqpyteAway;          /* Seeks in a row that led to another leaf (seek.c) */\n"
        "  Pgno iSqpyteLeaf;         /* Leaf page whose bounds are known, or 0: ... */\n"
        "  i64 iSqpyteLo, iSqpyteHi; /* ... keys between them belong there ... */\n"
        "  u64 nSqpyteChange;        /* ... as long as the pager has written nothing */\n",
    ),
    Edit(
        "seek-in-leaf-declared",
        "SQLITE_PRIVATE int sqlite3BtreeTableMoveto(\n"
        "  BtCursor *pCur,          /* The cursor to be moved */\n",
        "static int sqpyteSeekInLeaf(BtCursor *pCur, i64 key, int *pRes);\n"
        "SQLITE_PRIVATE int sqlite3BtreeTableMoveto(\n"
        "  BtCursor *pCur,          /* The cursor to be moved */\n",
    ),
    Edit(
        "seek-in-index-leaf",
        "  xRecordCompare = sqlite3VdbeFindCompare(pIdxKey);\n"
        "  pIdxKey->errCode = 0;\n",
        "  xRecordCompare = sqlite3VdbeFindCompare(pIdxKey);\n"
        "  pIdxKey->errCode = 0;\n"
        "  if( sqpyteIndexLeadsHere(pCur, pIdxKey) ) goto bypass_moveto_root;\n",
    ),
    Edit(
        "seek-in-index-leaf-declared",
        "SQLITE_PRIVATE int sqlite3BtreeIndexMoveto(\n"
        "  BtCursor *pCur,          /* The cursor to be moved */\n",
        "static int sqpyteIndexLeadsHere(BtCursor *pCur, const UnpackedRecord *pKey);\n"
        "SQLITE_PRIVATE int sqlite3BtreeIndexMoveto(\n"
        "  BtCursor *pCur,          /* The cursor to be moved */\n",
    ),
    Edit(
        "reopen",
        "  testcase( nField==0 );  /* Table with INTEGER PRIMARY KEY and nothing else */\n"
        "  pCur = allocateCursor(p, pOp->p1, nField, CURTYPE_BTREE);\n",
        "  if( wrFlag==0 && (pCur = sqpyteReopen(p, pOp, pX, pKeyInfo, nField))!=0 ){\n"
        "    goto open_cursor_set_hints;\n"
        "  }\n"
        "  pCur = allocateCursor(p, pOp->p1, nField, CURTYPE_BTREE);\n",
    ),
    Edit(
        "read-ahead-fields",
        "  int szChunk;                        /* Configured by FCNTL_CHUNK_SIZE */\n",
        "  int szChunk;                        /* Configured by FCNTL_CHUNK_SIZE */\n"
        "  u8 *aSqpyteAhead;                   /* What was read ahead (read_ahead.h) ... */\n"
        "  i64 iSqpyteAhead;                   /* ... from this offset on */\n"
        "  i64 iSqpyteNext;                    /* Where the last read ended */\n"
        "  int nSqpyteAhead;                   /* Bytes read ahead */\n"
        "  int nSqpyteServed;                  /* Bytes of them that were asked for */\n"
        "  int nSqpyteRun;                     /* Reads in a row */\n",
    ),
    Edit(
        "read-ahead",
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
        "static int seekAndRead(unixFile*, sqlite3_int64, void*, int);\n"
        "#include \"read_ahead.h\"\n"
        "static int unixLock(sqlite3_file *id, int eFileLock){\n",
    ),
    Edit(
        "read-ahead-read",
        "  got = seekAndRead(pFile, offset, pBuf, amt);\n"
        "  if( got==amt ){\n",
        "  if( sqpyteReadAhead(pFile, pBuf, amt, offset) ) return SQLITE_OK;\n"
        "  got = seekAndRead(pFile, offset, pBuf, amt);\n"
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
        "look-ahead-fields",
        "  ** on this cursor\" and \"the most recent seek was an exact match\".\n"
        "  ** For CURTYPE_PSEUDO, seekResult is the register holding the record */\n",
        "  ** on this cursor\" and \"the most recent seek was an exact match\".\n"
        "  ** For CURTYPE_PSEUDO, seekResult is the register holding the record */\n"
        "  struct SqpyteLook *pSqpyteLook;  /* Where look_ahead.c is, or 0 */\n"
        "  int nSqpyteSeeks;                /* Deferred seeks done before that */\n",
    ),
    Edit(
        "look-ahead-free",
        "      assert( pCx->uc.pCursor!=0 );\n"
        "      sqlite3BtreeCloseCursor(pCx->uc.pCursor);\n",
        "      sqlite3_free(pCx->pSqpyteLook);\n"
        "      sqlite3BtreeCloseCursor(pCx->uc.pCursor);\n",
    ),
    Edit(
        "look-ahead-seek",
        "  rc = sqlite3BtreeTableMoveto(p->uc.pCursor, p->movetoTarget, 0, &res);\n"
        "  if( rc ) return rc;\n"
        "  if( res!=0 ) return SQLITE_CORRUPT_BKPT;\n",
        "  sqpyteLookAhead(p);\n"
        "  rc = sqlite3BtreeTableMoveto(p->uc.pCursor, p->movetoTarget, 0, &res);\n"
        "  if( rc ) return rc;\n"
        "  if( res!=0 ) return SQLITE_CORRUPT_BKPT;\n",
    ),
    Edit(
        "look-ahead-declared",
        "SQLITE_PRIVATE int SQLITE_NOINLINE sqlite3VdbeFinishMoveto(VdbeCursor *p){\n",
        "static void sqpyteLookAhead(VdbeCursor *pTab);\n"
        "SQLITE_PRIVATE int SQLITE_NOINLINE sqlite3VdbeFinishMoveto(VdbeCursor *p){\n",
    ),
    Edit(
        "page-clock-fields",
        "                            /* NB: pLruPrev is only valid if pLruNext!=0 */\n"
        "};\n",
        "                            /* NB: pLruPrev is only valid if pLruNext!=0 */\n"
        "  u32 bSqpytePinned;        /* Pinned, though in the list (page_clock.h) */\n"
        "  u32 bSqpyteUsed;          /* Asked for again since it was put into the list */\n"
        "};\n",
    ),
    Edit(
        "page-clock-pinned",
        "#define PAGE_IS_PINNED(p)    ((p)->pLruNext==0)\n"
        "#define PAGE_IS_UNPINNED(p)  ((p)->pLruNext!=0)\n",
        "#define PAGE_IS_PINNED(p)    ((p)->pLruNext==0 || (p)->bSqpytePinned)\n"
        "#define PAGE_IS_UNPINNED(p)  (!PAGE_IS_PINNED(p))\n",
    ),
    Edit(
        "page-clock",
        "static PgHdr1 *pcache1AllocPage(PCache1 *pCache, int benignMalloc){\n",
        "#include \"page_clock.h\"\n"
        "static PgHdr1 *pcache1AllocPage(PCache1 *pCache, int benignMalloc){\n",
    ),
    Edit(
        "page-clock-fetch",
        "    if( PAGE_IS_UNPINNED(pPage) ){\n"
        "      return pcache1PinPage(pPage);\n",
        "    if( PAGE_IS_UNPINNED(pPage) ){\n"
        "      return sqpytePin(pPage);\n",
    ),
    Edit(
        "page-clock-unpin",
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
        "page-clock-truncate",
        "        if( PAGE_IS_UNPINNED(pPage) ) pcache1PinPage(pPage);\n",
        "        if( pPage->pLruNext ) sqpyteLeaveList(pPage);\n",
    ),
    Edit(
        "page-clock-enforce",
        "  while( pGroup->nPurgeable>pGroup->nMaxPage\n"
        "      && (p=pGroup->lru.pLruPrev)->isAnchor==0\n"
        "  ){\n",
        "  while( pGroup->nPurgeable>pGroup->nMaxPage\n"
        "      && (p=sqpyteVictim(pGroup))->isAnchor==0\n"
        "  ){\n",
    ),
    Edit(
        "page-clock-recycle",
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
        "page-clock-recycle-none",
        "  /* Step 5. If a usable page buffer has still not been found,\n"
        "  ** attempt to allocate a new one.\n"
        "  */\n",
        "  if( pPage && pPage->isAnchor ) pPage = 0;\n"
        "  /* Step 5. If a usable page buffer has still not been found,\n"
        "  ** attempt to allocate a new one.\n"
        "  */\n",
    ),
    Edit(
        "page-clock-new",
        "    pPage->pLruNext = 0;\n"
        "    /* pPage->pLruPrev = 0;\n"
        "    ** No need to clear pLruPrev since it is not accessed when pLruNext==0 */\n",
        "    pPage->pLruNext = 0;\n"
        "    pPage->bSqpytePinned = pPage->bSqpyteUsed = 0;\n",
    ),
    Edit(
        "recall-opcodes",
        "#define OP_Abortable     190\n",
        "#define OP_Abortable     190\n"
        "#define OP_Recall        191 /* synopsis: r[P1@P5] = known for r[P3@P4]    */\n"
        "#define OP_Remember      192 /* synopsis: keep r[P1@P5]                    */\n",
    ),
    Edit(
        "recall-properties",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,}\n",
        "/* 184 */ 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,\\\n"
        "/* 192 */ 0x00,}\n",
    ),
    Edit(
        "recall-names",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n",
        "    /* 190 */ \"Abortable\"        OpHelp(\"\"),\n"
        "    /* 191 */ \"Recall\"           OpHelp(\"r[P1@P5] = known for r[P3@P4]\"),\n"
        "    /* 192 */ \"Remember\"         OpHelp(\"keep r[P1@P5]\"),\n",
    ),
    Edit(
        "recall-exec",
        "case SQPYTE_OP_WATCHED: {\n",
        "case OP_Recall: {\n"
        "  int known = sqpyteRecall(p, pOp);\n"
        "  if( known<0 ) goto no_mem;\n"
        "  if( known ) goto jump_to_p2;\n"
        "  break;\n"
        "}\n"
        "case OP_Remember: {\n"
        "  sqpyteRemember(p, pOp);\n"
        "  break;\n"
        "}\n"
        "case SQPYTE_OP_WATCHED: {\n",
    ),
    Edit(
        "recall-declared",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "int sqpyteVdbeExec(Vdbe*);\n",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "static VdbeCursor *sqpyteReopen(Vdbe*, const Op*, Btree*, KeyInfo*, int);\n"
        "static int sqpyteRecall(Vdbe*, const Op*);\n"
        "static void sqpyteRemember(Vdbe*, const Op*);\n"
        "static void sqpyteForgetRecalled(Vdbe*);\n"
        "int sqpyteVdbeExec(Vdbe*);\n",
    ),
    Edit(
        "recall-forget",
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
        "  if( p->pSqpyteRecalled ) sqpyteForgetRecalled(p);\n"
        "  /* Delete any auxdata allocations made by the VM */\n"
        "  if( p->pAuxData ) sqlite3VdbeDeleteAuxData(p->db, &p->pAuxData, -1, 0);\n",
    ),
    Edit(
        "recall-code-declared",
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
        "static int sqpyteCodeRecall(Parse*, Select*);\n"
        "static void sqpyteCodeRemember(Parse*, int, int, int);\n"
        "SQLITE_PRIVATE int sqlite3CodeSubselect(Parse *pParse, Expr *pExpr){\n"
        "  int addrRecall = 0;         /* Address of OP_Recall, if there is one */\n"
        "  int addrOnce = 0;           /* Address of OP_Once at top of subroutine */\n",
    ),
    Edit(
        "recall-code",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
        "  if( !ExprHasProperty(pExpr, EP_VarSelect) ){\n"
        "    addrOnce = sqlite3VdbeAddOp0(v, OP_Once); VdbeCoverage(v);\n"
        "  }else{\n"
        "    addrRecall = sqpyteCodeRecall(pParse, pSel);\n"
        "  }\n"
        "\n"
        "  /* For a SELECT, generate code to put the values for all columns of\n",
    ),
    Edit(
        "recall-code-end",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "\n"
        "  /* Subroutine return */\n",
        "    sqlite3VdbeAddOp1(v, OP_ClrSubtype, rReg);\n"
        "  }\n"
        "  if( addrRecall ) sqpyteCodeRemember(pParse, addrRecall, rReg, nReg);\n"
        "\n"
        "  /* Subroutine return */\n",
    ),
    Edit(
        "recall-version-field",
        "  u32 iDataVersion;           /* Changes whenever database content changes */\n",
        "  u32 iDataVersion;           /* Changes whenever database content changes */\n"
        "  u64 nSqpyteChange;          /* Changes of pages, and roll-backs (recall.c) */\n",
    ),
    Edit(
        "recall-version-write",
        "SQLITE_PRIVATE int sqlite3PagerWrite(PgHdr *pPg){\n"
        "  Pager *pPager = pPg->pPager;\n",
        "SQLITE_PRIVATE int sqlite3PagerWrite(PgHdr *pPg){\n"
        "  Pager *pPager = pPg->pPager;\n"
        "  pPager->nSqpyteChange++;\n",
    ),
    Edit(
        "recall-version-rollback",
        "  PAGERTRACE((\"ROLLBACK %d\\n\", PAGERID(pPager)));\n",
        "  PAGERTRACE((\"ROLLBACK %d\\n\", PAGERID(pPager)));\n"
        "  pPager->nSqpyteChange++;\n",
    ),
    Edit(
        "recall-version-savepoint",
        "SQLITE_PRIVATE int sqlite3PagerSavepoint(Pager *pPager, int op, int iSavepoint){\n"
        "  int rc = pPager->errCode;\n",
        "SQLITE_PRIVATE int sqlite3PagerSavepoint(Pager *pPager, int op, int iSavepoint){\n"
        "  int rc = pPager->errCode;\n"
        "  pPager->nSqpyteChange++;\n",
    ),
]


# sqlite3VdbeExec, from its head to the end of its file within the amalgamation.
_EXEC_HEAD = "SQLITE_PRIVATE int sqlite3VdbeExec(\n  Vdbe *p"
_EXEC_END = "\n/************** End of vdbe.c *"

_STOP = """
#undef SQPYTE_BEFORE_OPCODE
#define SQPYTE_BEFORE_OPCODE \\
    if( nVmStep ){ \\
      p->pc = (int)(pOp - aOp); \\
      p->sqpyteCompare = iCompare; \\
      rc = SQPYTE_STOP; \\
      goto vdbe_return; \\
    }
"""


def _exactly_once(text, find, name):
    count = text.count(find)
    if count != 1:
        raise EditError(
            "edit %r matches %d times in sqlite3.c, it must match exactly once: "
            "upstream changed there; read the new code and adapt c_engine/edits.py"
            % (name, count)
        )


# What is SQLite's own and called or read from elsewhere (engine.h); all else stays `static` as in
# upstream's amalgamation, for gcc puts a static function that is called once into its caller.
VISIBLE = [
    "sqlite3BtreeFirst",
    "sqlite3BtreeIntegerKey",
    "sqlite3BtreeNext",
    "sqlite3BtreePrevious",
    "sqlite3OpcodeName",        # what tests compare generated/opcodes.py with
    "sqlite3OpcodeProperty",    # the same
]


def _visible(text, name):
    """Make a static function visible: its declaration and its definition."""
    text, count = re.subn(r"^SQLITE_PRIVATE (?=[a-z0-9 ]+[ *]%s[(\[])" % name, "", text, flags=re.M)
    if count != 2:
        raise EditError("%s stands %d times at a line's start in sqlite3.c, not in a declaration and "
                        "a definition: adapt VISIBLE in c_engine/edits.py" % (name, count))
    return text


def apply(text):
    """Apply all edits to upstream's amalgamation.

    Args: text, the content of sqlite3.c (str).
    Returns: the edited content (str).
    Raises: EditError naming the edit that doesn't match exactly once.
    """
    for edit in EDITS:
        _exactly_once(text, edit.find, edit.name)
        text = text.replace(edit.find, edit.replace)
    for name in VISIBLE:
        text = _visible(text, name)
    _exactly_once(text, _EXEC_HEAD, "exec-twice (head)")
    _exactly_once(text, _EXEC_END, "exec-twice (end)")
    head = text.index(_EXEC_HEAD)
    end = text.index(_EXEC_END, head)
    function = text[head:end]
    once_more = function.replace("sqlite3VdbeExec(", "sqpyteVdbeExecOne(", 1)
    return "".join([text[:head], "#define SQPYTE_BEFORE_OPCODE\n", function, _STOP, once_more,
                    text[end:]])
