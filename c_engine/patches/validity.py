"""Edits that raise a connection's stamp where upstream changes what its readers could see (validity.h).

Before a change, where other statements can be stepped (`sqpyteBeforeChange`); or in the middle of it,
where the stamp only rises (`SQPYTE_RAISE`, `SQPYTE_PAGER_RAISE`). The step of a statement that writes is
in engine.c.
"""
from c_engine.patches.edit import Edit


def _before(name, text, db="db", behind=True):
    """An edit that calls sqpyteBeforeChange behind (or in front of) a line of upstream's."""
    line = text.splitlines()[-1]
    indent = line[:len(line) - len(line.lstrip(" "))]
    call = "%ssqpyteBeforeChange(%s);\n" % (indent, db)
    return Edit(name, text, text + call if behind else call + text)


EDITS = [
    Edit(
        "stamp-fields",
        "  u64 nSpill;                   /* TEMP content spilled to disk */\n",
        "  u64 nSpill;                   /* TEMP content spilled to disk */\n"
        "  u64 nSqpyteStamp;             /* Rises with each change (validity.h) */\n"
        "  void (*xSqpyteRollBack)(void*);  /* Rolls back what runs ahead, if not 0 */\n"
        "  int nSqpyteWriting;           /* Statements that write, being stepped now */\n"
        "  u8 bSqpyteAhead;              /* Something runs ahead on live B-trees */\n",
    ),
    Edit(
        "stamp-declared",
        "SQLITE_PRIVATE void sqlite3ExpirePreparedStatements(sqlite3*, int);\n",
        "SQLITE_PRIVATE void sqlite3ExpirePreparedStatements(sqlite3*, int);\n"
        "static void sqpyteBeforeChange(sqlite3*);\n",
    ),
    Edit(
        "stamp-of-pager-fields",
        "  u32 iDataVersion;           /* Changes whenever database content changes */\n",
        "  u32 iDataVersion;           /* Changes whenever database content changes */\n"
        "  u64 nSqpyteStamp;           /* Of a pager that isn't a connection's alone */\n"
        "  u64 *pSqpyteStamp;          /* What its changes raise (validity.h) */\n",
    ),
    Edit(
        "stamp-of-pager",
        "  /* pPager->szMmap = SQLITE_DEFAULT_MMAP_SIZE // will be set by btree.c */\n"
        "\n"
        "  *ppPager = pPager;\n",
        "  /* pPager->szMmap = SQLITE_DEFAULT_MMAP_SIZE // will be set by btree.c */\n"
        "\n"
        "  pPager->pSqpyteStamp = &pPager->nSqpyteStamp;\n"
        "  *ppPager = pPager;\n",
    ),
    Edit(
        "stamp-of-btree",
        "    pBt->openFlags = (u8)flags;\n"
        "    pBt->db = db;\n",
        "    pBt->openFlags = (u8)flags;\n"
        "    pBt->db = db;\n"
        "    if( !p->sharable && (flags & BTREE_SINGLE)==0 ){\n"
        "      pBt->pPager->pSqpyteStamp = &db->nSqpyteStamp;\n"
        "    }\n",
    ),
    Edit(
        "stamp-include",
        "/************** Begin file pager.c ",
        "#include \"core/validity.h\"\n"
        "/************** Begin file pager.c ",
    ),
    Edit(
        "stamp-page-written",
        "SQLITE_PRIVATE int sqlite3PagerWrite(PgHdr *pPg){\n"
        "  Pager *pPager = pPg->pPager;\n",
        "SQLITE_PRIVATE int sqlite3PagerWrite(PgHdr *pPg){\n"
        "  Pager *pPager = pPg->pPager;\n"
        "  SQPYTE_PAGER_RAISE(pPager);\n",
    ),
    Edit(
        "stamp-page-moved",
        "  int rc;                      /* Return code */\n"
        "  Pgno origPgno;               /* The original page number */\n"
        "\n",
        "  int rc;                      /* Return code */\n"
        "  Pgno origPgno;               /* The original page number */\n"
        "\n"
        "  SQPYTE_PAGER_RAISE(pPager);\n",
    ),
    Edit(
        "stamp-pages-rolled-back",
        "  PAGERTRACE((\"ROLLBACK %d\\n\", PAGERID(pPager)));\n",
        "  PAGERTRACE((\"ROLLBACK %d\\n\", PAGERID(pPager)));\n"
        "  SQPYTE_PAGER_RAISE(pPager);\n",
    ),
    Edit(
        "stamp-pages-of-savepoint",
        "SQLITE_PRIVATE int sqlite3PagerSavepoint(Pager *pPager, int op, int iSavepoint){\n"
        "  int rc = pPager->errCode;\n",
        "SQLITE_PRIVATE int sqlite3PagerSavepoint(Pager *pPager, int op, int iSavepoint){\n"
        "  int rc = pPager->errCode;\n"
        "  SQPYTE_PAGER_RAISE(pPager);\n",
    ),
    Edit(
        "stamp-writer-ends",
        "  if( !p->readOnly ) db->nVdbeWrite--;\n",
        "  if( !p->readOnly ){\n"
        "    db->nVdbeWrite--;\n"
        "    SQPYTE_RAISE(db);\n"
        "  }\n",
    ),
    Edit(
        "stamp-writer-dropped",
        "  ** error, then it might not have been halted properly.  So halt\n"
        "  ** it now.\n"
        "  */\n",
        "  ** error, then it might not have been halted properly.  So halt\n"
        "  ** it now.\n"
        "  */\n"
        "  if( p->eVdbeState==VDBE_RUN_STATE && !p->readOnly ) sqpyteBeforeChange(db);\n",
    ),
    _before(
        "stamp-rollback",
        "SQLITE_PRIVATE void sqlite3RollbackAll(sqlite3 *db, int tripCode){\n"
        "  int i;\n"
        "  int inTrans = 0;\n"
        "  int schemaChange;\n"
        "  assert( sqlite3_mutex_held(db->mutex) );\n",
    ),
    _before(
        "stamp-expiry",
        "SQLITE_PRIVATE void sqlite3ExpirePreparedStatements(sqlite3 *db, int iCode){\n"
        "  Vdbe *p;\n",
    ),
    _before("stamp-attach", "  zFile = (const char *)sqlite3_value_text(argv[0]);\n"),
    _before("stamp-detach", "  detachTempTriggers(db, pDb->pSchema);\n", behind=False),
    _before("stamp-temp-store", "    sqlite3BtreeClose(db->aDb[1].pBt);\n", behind=False),
    Edit(
        "stamp-blob-written",
        "    assert( db == v->db );\n",
        "    if( xCall==sqlite3BtreePutData ) sqpyteBeforeChange(db);\n",
    ),
    Edit(
        "stamp-backup",
        "  rc = p->rc;\n"
        "  if( !isFatalError(rc) ){\n"
        "    Pager * const pSrcPager",
        "  rc = p->rc;\n"
        "  if( p->pDestDb ) sqpyteBeforeChange(p->pDestDb);\n"
        "  if( !isFatalError(rc) ){\n"
        "    Pager * const pSrcPager",
    ),
    _before("stamp-limit", "  if( newLimit>=0 ){                   /* IMP: R-52476-28732 */\n"),
    _before("stamp-digits", "      if( nIn>3 && nIn<24 ) db->nFpDigit = (u8)nIn;\n", behind=False),
    # Parameters may be cleared, and moved away, amid a run; of a statement that isn't running nothing is kept.
    Edit(
        "stamp-parameters-cleared",
        "  sqlite3_mutex_enter(mutex);\n"
        "  for(i=0; i<p->nVar; i++){\n",
        "  sqlite3_mutex_enter(mutex);\n"
        "  if( p->eVdbeState==VDBE_RUN_STATE ) sqpyteBeforeChange(p->db);\n"
        "  for(i=0; i<p->nVar; i++){\n",
    ),
    Edit(
        "stamp-parameters-moved",
        "  sqlite3_mutex_enter(pTo->db->mutex);\n"
        "  for(i=0; i<pFrom->nVar; i++){\n",
        "  sqlite3_mutex_enter(pTo->db->mutex);\n"
        "  if( pFrom->eVdbeState==VDBE_RUN_STATE || pTo->eVdbeState==VDBE_RUN_STATE ) sqpyteBeforeChange(pTo->db);\n"
        "  for(i=0; i<pFrom->nVar; i++){\n",
    ),
    _before(
        "stamp-trace",
        "  if( mTrace==0 ) xTrace = 0;\n"
        "  if( xTrace==0 ) mTrace = 0;\n",
    ),
    _before("stamp-commit", "  assert( db->nVdbeActive>0 );  /* At least this one VM is active */\n"),
    _before("stamp-savepoint", "  Savepoint *pTmp;\n  int iSavepoint;\n  int ii;\n"),
    _before("stamp-progress", "    db->nProgressOps = (unsigned)nOps;\n"),
]
