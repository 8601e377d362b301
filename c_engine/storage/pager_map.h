/*
** When a pager uses a map of its file (file_map.h): once that pays (sqpyteMapPays), and as long as each transaction
** finds, at its beginning, that failing reads are caught. A map that has failed is gone when the transaction that saw
** it ends, and its pager reads by pread from then on. Included by the edited sqlite3.c in the middle of pager.c.
**
** Pager.eSqpyteMap: may it be mapped, is it?
*/
#define SQPYTE_MAP_NEVER 0      /* the program has said how it is to be mapped, or a map has failed */
#define SQPYTE_MAP_MAY 1
#define SQPYTE_MAP_USED 2
#define SQPYTE_MAP_LEFT 3       /* not used any more; unmapped when no page of it is out */

/* The pager's file, if it has a map of ours, else 0. */
static unixFile *sqpyteMappedFile(Pager *pPager){
  unixFile *pFile = (unixFile*)pPager->fd;
  return isOpen(pPager->fd) && pPager->fd->pMethods==&posixIoMethods && pFile->pSqpyteMap ? pFile : 0;
}

/* Whether a page that the pager has by map has failed. */
static int sqpytePagerFailed(Pager *pPager){
  unixFile *pFile = sqpyteMappedFile(pPager);
  return pFile!=0 && pFile->pSqpyteMap->bFailed;
}

/* The same of any file of a connection, in engine.c. Nothing is asked as long as no read has failed in the process. */
static int sqpyteReadsFailed(sqlite3*);
#define SQPYTE_READS_FAILED(db) (sqpyteBus.nFailed && sqpyteReadsFailed(db))

/* Whether the file is to be mapped now. A map costs something only where it is touched: the first touch of 16 pages takes
** the kernel 5 us, a page by pread 2 us each time. So it pays at once for those who read page after page; who asks a large
** file for a few rows all over it, once, is better off without, and is mapped when the reads have cost a part of what
** touching all of the file would (TPC-H 19 at scale 0.2, its first run: 24 to 15 ms). */
static int sqpyteMapPays(Pager *pPager, Pgno pgno){
  pPager->nSqpyteNear += pgno-pPager->iSqpyteRead<=SQPYTE_MAP_BLOCK ? 1 : -2;
  pPager->iSqpyteRead = pgno;
  return ++pPager->nSqpyteRead>=MAX(SQPYTE_MAP_AFTER, (int)MIN(pPager->dbSize/SQPYTE_MAP_PART, SQPYTE_MAP_MOST))
      || pPager->nSqpyteNear>=SQPYTE_MAP_NEAR;
}

/* Called at each page that is read. */
static void sqpytePageRead(Pager *pPager, Pgno pgno){
  if( pPager->eSqpyteMap!=SQPYTE_MAP_MAY || pPager->tempFile || !sqpyteMapPays(pPager, pgno) ) return;
  pPager->nSqpyteRead = pPager->nSqpyteNear = 0;
  if( !sqpyteMayMap(pPager->fd) ) pPager->eSqpyteMap = SQPYTE_MAP_NEVER;
  else if( sqpyteMapFile((unixFile*)pPager->fd) ) pPager->eSqpyteMap = SQPYTE_MAP_USED;
  if( pPager->eSqpyteMap!=SQPYTE_MAP_USED ) return;
  pPager->nSqpyteThread = sqpyteThread();
  pPager->bUseFetch = 1;
  setGetterMethod(pPager);
}

/* Uses the map no more. Pages of it that are out stay where they are. */
static void sqpyteStopMap(Pager *pPager, int eMap){
  unixFile *pFile = sqpyteMappedFile(pPager);
  pPager->bUseFetch = pPager->szMmap>0;
  setGetterMethod(pPager);
  if( pFile && pFile->nFetchOut==0 ) unixUnmapfile(pFile);
  pPager->eSqpyteMap = pFile && pFile->pSqpyteMap ? SQPYTE_MAP_LEFT : eMap;
}

/* The beginning of a transaction, when no page is out. */
static void sqpyteMapTransaction(Pager *pPager){
  unixFile *pFile = sqpyteMappedFile(pPager);
  if( pFile==0 || pPager->eSqpyteMap==SQPYTE_MAP_LEFT || SQPYTE_OFF(MMAP) || SQPYTE_MAP_FAILED(pFile)
   || !sqpyteCatchesBusErrors() || bSqpyteSystemCallsReplaced ){
    sqpyteStopMap(pPager, SQPYTE_MAP_NEVER);
    return;
  }
  pPager->nSqpyteThread = sqpyteThread();
  if( pFile->mmapSize!=(i64)pPager->dbSize*pPager->pageSize ){
    sqpyteMeasureMap(pFile);
    if( pFile->bSqpyteNoHoles && sqpyteHasHoles(pFile) ){
      sqpyteStopMap(pPager, SQPYTE_MAP_NEVER);
    }else if( (i64)pPager->dbSize*pPager->pageSize>pFile->mmapSizeActual ){
      /* The file has outgrown the map: it is mapped anew when so many pages behind its end have been read. */
      sqpyteStopMap(pPager, SQPYTE_MAP_MAY);
    }
  }
}
