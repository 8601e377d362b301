"""Edits of how SQLite comes to a row.

* a search beginning in the leaf page where the cursor stands, if it would come there from the root
  (seek.c);
* a cursor that is open on the B-tree that OpenRead asks for left open, at its place (seek.c);
* rows found in the map of the file, and brought nearer when an index leads to them (located_rows.c);
* rows of small tables kept by rowid (row_cache.c).
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "seeks-declared",
        "static int sqpyteVdbeExec(Vdbe*);\n"
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n",
        "static int sqpyteVdbeExec(Vdbe*);\n"
        "static VdbeCursor *sqpyteReopen(Vdbe*, const Op*, Btree*, KeyInfo*, int);\n"
        "static int sqpyteRowCacheSeek(VdbeCursor*, i64, u32);\n"
        "static void sqpyteRowCacheAdd(VdbeCursor*, i64, const i64*);\n"
        "static int sqpyteRowCacheColumn(VdbeCursor*);\n"
        "static int sqpyteRowCacheMoved(VdbeCursor*);\n"
        "static void sqpyteRowCacheFree(VdbeCursor*);\n"
        "static int sqpyteLocateDeferred(VdbeCursor*);\n"
        "static void sqpyteLocatorFree(VdbeCursor*);\n"
        "#define SQPYTE_KNOWN_ROW 2   /* deferredMoveto: the row is kept, or located (row_cache.c) */\n"
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n",
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
        "  if( pCur->eState==CURSOR_VALID && (pCur->curFlags & BTCF_WriteFlag)==0\n"
        "   && sqpyteSeekInLeaf(pCur, intKey, pRes) ) return SQLITE_OK;\n"
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
        "seek-in-leaf-fields",
        "  void *pKey;               /* Saved key that was cursor last known position */\n",
        "  void *pKey;               /* Saved key that was cursor last known position */\n"
        "  int nSqpyteAway;          /* Seeks in a row that led to another leaf (seek.c) */\n"
        "  Pgno iSqpyteLeaf;         /* Leaf page whose bounds are known, or 0: ... */\n"
        "  u64 iSqpytePath;          /* ... on this way from the root, ... */\n"
        "  i64 iSqpyteLo, iSqpyteHi; /* ... keys between them belong there ... */\n"
        "  u64 nSqpyteStamp;         /* ... under this stamp (validity.h) */\n",
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
        "    pIdxKey->errCode = SQLITE_OK;\n"
        "  }\n"
        "\n"
        "  rc = moveToRoot(pCur);\n",
        "    pIdxKey->errCode = SQLITE_OK;\n"
        "  }\n"
        "\n"
        "  if( pCur->eState==CURSOR_VALID && sqpyteIndexLeadsHere(pCur, pIdxKey) ) goto bypass_moveto_root;\n"
        "  rc = moveToRoot(pCur);\n",
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
        "  if( wrFlag==0 && p->apCsr[pOp->p1] && (pCur = sqpyteReopen(p, pOp, pX, pKeyInfo, nField))!=0 ){\n"
        "    goto open_cursor_set_hints;\n"
        "  }\n"
        "  pCur = allocateCursor(p, pOp->p1, nField, CURTYPE_BTREE);\n",
    ),
    # The one opcode that asks where a cursor stands before anything has put it there: a reopened one stands nowhere.
    Edit(
        "seek-scan-of-reopened",
        "  if( !sqlite3BtreeCursorIsValidNN(pC->uc.pCursor) ){\n"
        "#ifdef SQLITE_DEBUG\n"
        "     if( db->flags&SQLITE_VdbeTrace ){\n"
        "       printf(\"... cursor not valid - fall through\\n\");\n",
        "  if( pC->nullRow || !sqlite3BtreeCursorIsValidNN(pC->uc.pCursor) ){\n"
        "#ifdef SQLITE_DEBUG\n"
        "     if( db->flags&SQLITE_VdbeTrace ){\n"
        "       printf(\"... cursor not valid - fall through\\n\");\n",
    ),
    Edit(
        "row-fields",
        "  ** on this cursor\" and \"the most recent seek was an exact match\".\n"
        "  ** For CURTYPE_PSEUDO, seekResult is the register holding the record */\n",
        "  ** on this cursor\" and \"the most recent seek was an exact match\".\n"
        "  ** For CURTYPE_PSEUDO, seekResult is the register holding the record */\n"
        "  struct SqpyteRowCache *pSqpyteRowCache;  /* Rows that are kept (row_cache.c), or 0 */\n"
        "  struct SqpyteLocator *pSqpyteLocator;    /* Where located_rows.c is, or 0 */\n"
        "  int nSqpyteSeeks;                /* Seeks done before there is the one, ... */\n"
        "  int nSqpyteLocates;              /* ... and the other */\n",
    ),
    Edit(
        "row-fields-free",
        "      assert( pCx->uc.pCursor!=0 );\n"
        "      sqlite3BtreeCloseCursor(pCx->uc.pCursor);\n",
        "      if( pCx->pSqpyteRowCache ) sqpyteRowCacheFree(pCx);\n"
        "      if( pCx->pSqpyteLocator ) sqpyteLocatorFree(pCx);\n"
        "      sqlite3BtreeCloseCursor(pCx->uc.pCursor);\n",
    ),
    Edit(
        "row-cache-finish",
        "  rc = sqlite3BtreeTableMoveto(p->uc.pCursor, p->movetoTarget, 0, &res);\n"
        "  if( rc ) return rc;\n"
        "  if( res!=0 ) return SQLITE_CORRUPT_BKPT;\n",
        "  if( p->deferredMoveto==SQPYTE_KNOWN_ROW ) return sqpyteRowCacheMoved(p);\n"
        "  rc = sqlite3BtreeTableMoveto(p->uc.pCursor, p->movetoTarget, 0, &res);\n"
        "  if( rc ) return rc;\n"
        "  if( res!=0 ) return SQLITE_CORRUPT_BKPT;\n",
    ),
    Edit(
        "row-located",
        "        rc = sqlite3VdbeFinishMoveto(pC);\n"
        "        if( rc ) goto abort_due_to_error;\n"
        "      }else if( sqlite3BtreeCursorHasMoved(pCrsr) ){\n",
        "        if( sqpyteLocateDeferred(pC) ) goto sqpyte_column_cached;\n"
        "        rc = sqlite3VdbeFinishMoveto(pC);\n"
        "        if( rc ) goto abort_due_to_error;\n"
        "      }else if( sqlite3BtreeCursorHasMoved(pCrsr) ){\n",
    ),
    Edit(
        "row-cache-fields",
        "  Bool colCache:1;        /* pCache pointer is initialized and non-NULL */\n",
        "  Bool colCache:1;        /* pCache pointer is initialized and non-NULL */\n"
        "  Bool bSqpyteNoRowCache:1;   /* It isn't to have a pSqpyteRowCache */\n"
        "  Bool bSqpyteNoLocator:1;    /* nor a pSqpyteLocator, if it hasn't */\n",
    ),
    Edit(
        "row-cache-seek",
        "  res = 0;\n"
        "  rc = sqlite3BtreeTableMoveto(pCrsr, iKey, 0, &res);\n"
        "  assert( rc==SQLITE_OK || res==0 );\n"
        "  pC->movetoTarget = iKey;  /* Used by OP_Delete */\n"
        "  pC->nullRow = 0;\n"
        "  pC->cacheStatus = CACHE_STALE;\n"
        "  pC->deferredMoveto = 0;\n",
        "  int bSqpyteAgain = pCrsr->eState==CURSOR_VALID;   /* else there is no row that could be known */\n"
        "  if( bSqpyteAgain && sqpyteRowCacheSeek(pC, iKey, p->cacheCtr) ) break;\n"
        "  res = 0;\n"
        "  rc = sqlite3BtreeTableMoveto(pCrsr, iKey, 0, &res);\n"
        "  pC->movetoTarget = iKey;  /* Used by OP_Delete */\n"
        "  pC->nullRow = 0;\n"
        "  pC->cacheStatus = CACHE_STALE;\n"
        "  pC->deferredMoveto = 0;\n"
        "  if( bSqpyteAgain && res==0 && rc==SQLITE_OK ) sqpyteRowCacheAdd(pC, iKey, 0);\n",
    ),
    Edit(
        "row-cache-column",
        "      if( pC->deferredMoveto ){\n"
        "        u32 iMap;\n",
        "      if( pC->deferredMoveto==SQPYTE_KNOWN_ROW ){\n"
        "        rc = sqpyteRowCacheColumn(pC);\n"
        "        if( rc ) goto abort_due_to_error;\n"
        "        if( pC->deferredMoveto==0 ) goto op_column_restart;\n"
        "        goto sqpyte_column_cached;\n"
        "      }else if( pC->deferredMoveto ){\n"
        "        u32 iMap;\n",
    ),
    Edit(
        "row-cache-column-row",
        "    pC->cacheStatus = p->cacheCtr;\n"
        "    if( (aOffset[0] = pC->aRow[0])<0x80 ){\n",
        "    sqpyte_column_cached:\n"
        "    pC->cacheStatus = p->cacheCtr;\n"
        "    if( (aOffset[0] = pC->aRow[0])<0x80 ){\n",
    ),
    Edit(
        "row-cache-rowid",
        "  }else if( pC->deferredMoveto ){\n"
        "    v = pC->movetoTarget;\n",
        "  }else if( pC->deferredMoveto ){\n"
        "    if( pC->deferredMoveto==SQPYTE_KNOWN_ROW ){\n"
        "      rc = sqpyteRowCacheColumn(pC);\n"
        "      if( rc ) goto abort_due_to_error;\n"
        "      pC->cacheStatus = CACHE_STALE;\n"
        "      if( pC->nullRow ){\n"
        "        pOut->flags = MEM_Null;\n"
        "        break;\n"
        "      }\n"
        "    }\n"
        "    v = pC->movetoTarget;\n",
    ),
    Edit(
        "row-cache-moved",
        "  int isDifferentRow, rc;\n"
        "  assert( p->eCurType==CURTYPE_BTREE );\n"
        "  assert( p->uc.pCursor!=0 );\n"
        "  assert( sqlite3BtreeCursorHasMoved(p->uc.pCursor) );\n",
        "  int isDifferentRow, rc;\n"
        "  if( p->deferredMoveto==SQPYTE_KNOWN_ROW ) return sqpyteRowCacheMoved(p);\n",
    ),
]
