"""Edits of how SQLite compares values and sorts.

* in the sorter, a sort key of 16 bytes for each record in memory and for the current record of
  each sorted run (sort_key.h), compared before the records are, but for sorters that have none
  (sqpyteHasKeys); records of few keys put into a list for each (sort_key.c), texts whose collation is
  Python's sorted by Python in one call (collation_ranks.c); runs written and read by more than a page;
* no division for keys below the size of a Bloom filter.
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "sorter-reader",
        "struct PmaReader {\n",
        "#include \"storage/sort_key.h\"\n"
        "struct PmaReader {\n"
        "  SqpyteSortKey sqpyteKey;    /* Sort key of the current record, if bSqpyteKey */\n"
        "  int bSqpyteKey;\n",
    ),
    Edit(
        "sorter-record",
        # In upstream's padding.
        "  int nVal;                       /* Size of the record in bytes */\n"
        "  union {\n",
        "  int nVal;                       /* Size of the record in bytes */\n"
        "  int bSqpyteKey;                 /* Its sort key is between this header and its data */\n"
        "  union {\n",
    ),
    Edit(
        "sorter-record-data",
        "#define SRVAL(p) ((void*)((SorterRecord*)(p) + 1))\n",
        "#define SRVAL(p) ((void*)((u8*)((SorterRecord*)(p) + 1) + (p)->bSqpyteKey*sizeof(SqpyteSortKey)))\n"
        "#define SQPYTE_KEY_OF(p) ((SqpyteSortKey*)((SorterRecord*)(p) + 1))\n",
    ),
    Edit(
        "sorter-keys",
        "  u8 typeMask;\n"
        "  SortSubtask aTask[FLEXARRAY];   /* One or more subtasks */\n",
        "  u8 typeMask;\n"
        "  u8 bSqpyteKeys;                 /* Records in memory have room for sort keys */\n"
        "  SortSubtask aTask[FLEXARRAY];   /* One or more subtasks */\n",
    ),
    Edit(
        "sorter-init",
        "    pSorter->bUseThreads = (pSorter->nTask>1);\n",
        "    pSorter->bUseThreads = (pSorter->nTask>1);\n"
        "    pSorter->bSqpyteKeys = sqpyteHasKeys(pKeyInfo);\n",
    ),
    Edit(
        "sorter-write-size",
        "  nReq = pVal->n + sizeof(SorterRecord);\n",
        "  nReq = pVal->n + sizeof(SorterRecord);\n"
        "  if( pSorter->bSqpyteKeys ) nReq += sizeof(SqpyteSortKey);\n",
    ),
    Edit(
        "sorter-write",
        "  memcpy(SRVAL(pNew), pVal->z, pVal->n);\n",
        "  pNew->bSqpyteKey = pSorter->bSqpyteKeys;\n"
        "  memcpy(SRVAL(pNew), pVal->z, pVal->n);\n",
    ),
    Edit(
        "sorter-task",
        "  SorterCompare xCompare;         /* Compare function to use */\n",
        "  SorterCompare xCompare;         /* Compare function to use */\n"
        "  int eSqpyteKeys;                /* What the records of its last list have (sort_key.h) */\n",
    ),
    Edit(
        "sorter-merge",
        "    res = pTask->xCompare(\n"
        "        pTask, &bCached, SRVAL(p1), p1->nVal, SRVAL(p2), p2->nVal\n"
        "    );\n",
        "    if( pTask->eSqpyteKeys==SQPYTE_NO_KEYS"
        " || !SQPYTE_KEYS_TELL(SQPYTE_KEY_OF(p1), SQPYTE_KEY_OF(p2), res) ){\n"
        "      res = pTask->xCompare(\n"
        "          pTask, &bCached, SRVAL(p1), p1->nVal, SRVAL(p2), p2->nVal\n"
        "      );\n"
        "    }\n",
    ),
    Edit(
        "sorter-few-keys",
        "  memset(aSlot, 0, sizeof(aSlot));\n"
        "\n"
        "  while( p ){\n"
        "    SorterRecord *pNext;\n",
        "  memset(aSlot, 0, sizeof(aSlot));\n"
        "\n"
        "  if( pTask->eSqpyteKeys!=SQPYTE_NO_KEYS ) p = sqpyteSortFewKeys(pTask, pList, aSlot);\n"
        "  while( p ){\n"
        "    SorterRecord *pNext;\n",
    ),
    Edit(
        "sorter-make-key",
        "      pNext = p->u.pNext;\n"
        "    }\n"
        "\n"
        "    p->u.pNext = 0;\n"
        "    for(i=0; aSlot[i]; i++){\n",
        "      pNext = p->u.pNext;\n"
        "    }\n"
        "\n"
        "    p->u.pNext = 0;\n"
        "    if( pTask->eSqpyteKeys==SQPYTE_KEYS ){\n"
        "      sqpyteSortKey(pTask->pSorter->pKeyInfo, SRVAL(p), p->nVal, SQPYTE_KEY_OF(p));\n"
        "    }\n"
        "    for(i=0; aSlot[i]; i++){\n",
    ),
    Edit(
        # A system call for each page that a sorter writes and reads again was a fifth of TPC-H's query 1.
        # A merge of the most runs that upstream merges at a time has buffers of a quarter of a run.
        "sorter-buffers",
        "      pSorter->mxPmaSize = MAX(pSorter->mnPmaSize, (int)mxCache);\n",
        "      pSorter->mxPmaSize = MAX(pSorter->mnPmaSize, (int)mxCache);\n"
        "      while( pSorter->pgsz<65536 && 64*pSorter->pgsz<=pSorter->mxPmaSize && !SQPYTE_OFF(SORTER_BUFFERS) ){\n"
        "        pSorter->pgsz *= 2;\n"
        "        SQPYTE_COUNT(SORTER_BUFFERS);\n"
        "      }\n",
    ),
    Edit(
        "sorter-ranks-declared",
        "static int vdbeSorterSort(SortSubtask *pTask, SorterList *pList){\n",
        "static int sqpyteRankTexts(const VdbeSorter*, SorterList*);\n"
        "static int vdbeSorterSort(SortSubtask *pTask, SorterList *pList){\n",
    ),
    Edit(
        "sorter-ranks",
        "  p = pList->pList;\n"
        "  pTask->xCompare = vdbeSorterGetCompare(pTask->pSorter);\n",
        "  pTask->eSqpyteKeys = sqpyteKeysOf(pTask->pSorter, pList);\n"
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
        "  if( pTask->eSqpyteKeys==SQPYTE_NO_KEYS ){\n"
        "    return pTask->xCompare(pTask, pbCached, p1->aKey, p1->nKey, p2->aKey, p2->nKey);\n"
        "  }\n"
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
    # Keys of small tables are mostly less than the filter has bits.
    Edit(
        "filter-add-modulo",
        "  h %= (pIn1->n*8);\n"
        "  pIn1->z[h/8] |= 1<<(h&7);\n",
        "  if( h>=(u64)(pIn1->n*8) ) h %= (pIn1->n*8);\n"
        "  pIn1->z[h/8] |= 1<<(h&7);\n",
    ),
    Edit(
        "filter-modulo",
        "  h %= (pIn1->n*8);\n"
        "  if( (pIn1->z[h/8] & (1<<(h&7)))==0 ){\n",
        "  if( h>=(u64)(pIn1->n*8) ) h %= (pIn1->n*8);\n"
        "  if( (pIn1->z[h/8] & (1<<(h&7)))==0 ){\n",
    ),
]
