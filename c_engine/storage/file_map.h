/*
** The database file by map: a page that a reader asks for is an address in a map of the file, not a copy that a system
** call makes. The pager does the rest by its own code for PRAGMA mmap_size (getPageMMap).
**
** The map begins where it pays: once a pager has read so many pages (sqpyteMapPays). It is read-only, and shared, so it
** shows what any process writes to the file. What it lacks in SQLite, a read that fails, is an error here (bus_error.h).
** It is used only where all of this holds, and else pages are read by pread, as in stock:
**
** - the file is a database's own, in a VFS of SQLite's with POSIX locks, on a file system that keeps maps and writes
**   coherent, in a process whose address space isn't limited;
** - the program has said nothing of mmap_size, by PRAGMA, sqlite3_config or sqlite3_file_control, and has left the VFS
**   its system calls;
** - a failing read would come to our handler, which each transaction asks at its beginning.
**
** Invariant: pages are fetched below mmapSize only, which is at most the file's size when this transaction began, or
** when it was truncated since. Behind it the map has room for what the file may grow to. Included by the edited sqlite3.c
** in the middle of os_unix.c, before unixRead.
*/
#include <sys/resource.h>
#include <sys/vfs.h>
#include "core/mechanisms.h"
#include "storage/bus_error.h"

#define SQPYTE_MAP_AFTER 32                   /* pages that a pager has read, ... */
#define SQPYTE_MAP_PART 16                    /* ... and one in so many of the file's pages, ... */
#define SQPYTE_MAP_MOST 8192                  /* ... but not more than so many; ... */
#define SQPYTE_MAP_BLOCK 16                   /* ... or, of those that came within so many pages after the last one, ... */
#define SQPYTE_MAP_NEAR 64                    /* ... so many, less twice the others */
#define SQPYTE_MAP_FILE ((i64)1<<40)          /* bytes of a file at most, ... */
#define SQPYTE_MAP_ALL ((i64)1<<43)           /* ... and of all files: a sixteenth of the address space */
#define SQPYTE_MAP_ROOM ((i64)1<<24)          /* room behind the file's end: so much and a quarter of the file */
#define SQPYTE_MAP_BUFFER 256                 /* bytes behind a page that can be read, as in unixFetch */

static i64 nSqpyteMapped;                     /* bytes of address space in all maps */

/* Whether nothing is to be read of the map: a page of it has failed, or the file is gone. */
#define SQPYTE_MAP_FAILED(pFile) \
  ((pFile)->pSqpyteMap!=0 && ((pFile)->pSqpyteMap->bFailed || (pFile)->pSqpyteMap->bGone))

static const sqlite3_io_methods posixIoMethods;   /* upstream's, defined further down */

/* Whether the file takes less room than it has bytes. */
static int sqpyteHasHoles(const unixFile *pFile){
  struct stat now;
  return osFstat(pFile->h, &now)!=0 || (i64)now.st_blocks*512<now.st_size;
}

/* Whether reads of a map and writes to the file agree: local file systems of Linux whose maps are the page cache. Of
** overlayfs a file that was opened to be read alone may be the lower one, and stays so in the map when another process
** writes, which copies it to the upper one; a file that was opened to be written is there already. */
static int sqpyteIsCoherent(unixFile *pFile){
  struct statfs fs;
  if( fstatfs(pFile->h, &fs) ) return 0;
  switch( (u32)fs.f_type ){
    case 0xef53:          /* ext2, ext3, ext4 */
    case 0x58465342:      /* xfs */
    case 0x9123683e:      /* btrfs */
    case 0x01021994:      /* tmpfs: a hole that is read gets a page, and there may be none */
      pFile->bSqpyteNoHoles = 1;
      return !sqpyteHasHoles(pFile);
    case 0x858458f6:      /* ramfs */
    case 0xf2f52010:      /* f2fs */
    case 0x2fc12fc1:      /* zfs */
      return 1;
    case 0x794c7630:      /* overlayfs, on one of them, tmpfs perhaps */
      pFile->bSqpyteNoHoles = 1;
      return (pFile->ctrlFlags & UNIXFILE_RDONLY)==0 && !sqpyteHasHoles(pFile);
  }
  return 0;
}

/* Whether the program has put its own system calls in the place of SQLite's (xSetSystemCall): they may see other bytes
** than the file has. */
static int bSqpyteSystemCallsReplaced;

static int unixSetSystemCall(sqlite3_vfs *pVfs, const char *zName, sqlite3_syscall_ptr pNew){
  int rc = sqpyteReplaceSystemCall(pVfs, zName, pNew);
  int i, bFound = 0;
  for(i=0; i<(int)ArraySize(aSyscall); i++){
    if( aSyscall[i].pDefault && aSyscall[i].pCurrent!=aSyscall[i].pDefault ) bFound = 1;
  }
  bSqpyteSystemCallsReplaced = bFound;
  return rc;
}

/* Takes address space from what all maps may have, or gives it back with n below zero. */
static int sqpyteTakeSpace(i64 n){
  if( __atomic_add_fetch(&nSqpyteMapped, n, __ATOMIC_RELAXED)<=SQPYTE_MAP_ALL || n<0 ) return 1;
  __atomic_sub_fetch(&nSqpyteMapped, n, __ATOMIC_RELAXED);
  return 0;
}

/* Sets how much of the map can be read: as much as the file has, but not beyond the map. */
static void sqpyteMeasureMap(unixFile *pFile){
  struct stat now;
  if( osFstat(pFile->h, &now)==0 ) pFile->mmapSize = MIN(now.st_size, pFile->mmapSizeActual);
}

/* Before upstream unmaps the file. */
static void sqpyteForgetMap(unixFile *pFile){
  if( pFile->pSqpyteMap==0 ) return;
  sqpyteUnregisterMap(pFile->pSqpyteMap);
  sqpyteTakeSpace(-pFile->mmapSizeActual);
  pFile->pSqpyteMap = 0;
}

/* Maps the file. Returns whether it is mapped. */
static int sqpyteMapFile(unixFile *pFile){
  struct stat now;
  i64 nByte;
  void *p;
  if( osFstat(pFile->h, &now) || now.st_size<=0 || now.st_size>SQPYTE_MAP_FILE ) return 0;
  nByte = now.st_size + now.st_size/4 + SQPYTE_MAP_ROOM;
  nByte -= nByte % osGetpagesize();
  if( !sqpyteTakeSpace(nByte) ) return 0;
  p = mmap(0, nByte, PROT_READ, MAP_SHARED|MAP_NORESERVE, pFile->h, 0);
  if( p!=MAP_FAILED ){
    pFile->pSqpyteMap = sqpyteRegisterMap(p, nByte);
    if( pFile->pSqpyteMap ){
      pFile->pMapRegion = p;
      pFile->mmapSizeActual = nByte;
      pFile->mmapSize = now.st_size;
      SQPYTE_COUNT(MMAP);
      return 1;
    }
    munmap(p, nByte);
  }
  sqpyteTakeSpace(-nByte);
  return 0;
}

/* Whether a file that isn't mapped may be. */
static int sqpyteMayMap(sqlite3_file *pFd){
  unixFile *pFile = (unixFile*)pFd;
  struct rlimit space;
  return pFd->pMethods==&posixIoMethods && (pFile->ctrlFlags & UNIXFILE_DELETE)==0
      && pFile->mmapSizeMax==0 && pFile->pMapRegion==0 && !SQPYTE_OFF(MMAP)
      && getrlimit(RLIMIT_AS, &space)==0 && space.rlim_cur==RLIM_INFINITY
      && sqpyteIsCoherent(pFile) && !bSqpyteSystemCallsReplaced;
}
