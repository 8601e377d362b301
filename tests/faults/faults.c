/*
** Failures on request, for tests: a malloc for sqlite3_config and a VFS, both of which count what
** they are asked for and fail the n-th time, or from then on.
*/
#include <stdlib.h>
#include <string.h>
#include "sqlite3.h"

typedef struct Fault Fault;
struct Fault {
  int count;                        /* calls so far */
  int at;                           /* the first that fails; 0: none */
  int forever;                      /* and all that follow */
  int hits;                         /* failures so far */
};
static Fault memory, io;
static int ioResult;                /* instead of the call's own SQLITE_IOERR_* */

static int failsNow(Fault *f){
  f->count++;
  if( f->at==0 || f->count<f->at || (f->count>f->at && !f->forever) ) return 0;
  f->hits++;
  return 1;
}

/* Count from 0 again; fail at the n-th call (0: never), and at all later ones if forever. */
static void arm(Fault *f, int n, int forever){
  f->count = f->hits = 0;
  f->at = n;
  f->forever = forever;
}
void faults_memory(int n, int forever){ arm(&memory, n, forever); }
void faults_io(int n, int forever, int result){
  arm(&io, n, forever);
  ioResult = result;
}
/* Calls since then, and how many of them failed. */
int faults_memory_count(void){ return memory.count; }
int faults_memory_hits(void){ return memory.hits; }
int faults_io_count(void){ return io.count; }
int faults_io_hits(void){ return io.hits; }

/* ---- malloc ---- */

static sqlite3_mem_methods real;

static void *memMalloc(int n){ return failsNow(&memory) ? 0 : real.xMalloc(n); }
static void *memRealloc(void *p, int n){ return failsNow(&memory) ? 0 : real.xRealloc(p, n); }

/* ---- files ---- */

typedef struct File File;
struct File {
  sqlite3_file base;
  sqlite3_file *file;               /* the one of the real VFS, behind this struct */
};
#define REAL(p) (((File*)(p))->file)
#define CALL(p, method) (REAL(p)->pMethods->method)
#define FAIL(code) if( failsNow(&io) ) return ioResult ? ioResult : (code)

static int fileClose(sqlite3_file *p){ return CALL(p, xClose)(REAL(p)); }
static int fileRead(sqlite3_file *p, void *z, int n, sqlite3_int64 at){
  FAIL(SQLITE_IOERR_READ);
  return CALL(p, xRead)(REAL(p), z, n, at);
}
static int fileWrite(sqlite3_file *p, const void *z, int n, sqlite3_int64 at){
  FAIL(SQLITE_IOERR_WRITE);
  return CALL(p, xWrite)(REAL(p), z, n, at);
}
static int fileTruncate(sqlite3_file *p, sqlite3_int64 n){
  FAIL(SQLITE_IOERR_TRUNCATE);
  return CALL(p, xTruncate)(REAL(p), n);
}
/* The machine doesn't fail in this test, and disks are slow. */
static int fileSync(sqlite3_file *p, int flags){
  FAIL(SQLITE_IOERR_FSYNC);
  return SQLITE_OK;
}
static int fileSize(sqlite3_file *p, sqlite3_int64 *n){
  FAIL(SQLITE_IOERR_FSTAT);
  return CALL(p, xFileSize)(REAL(p), n);
}
static int fileLock(sqlite3_file *p, int lock){
  FAIL(SQLITE_IOERR_LOCK);
  return CALL(p, xLock)(REAL(p), lock);
}
static int fileUnlock(sqlite3_file *p, int lock){ return CALL(p, xUnlock)(REAL(p), lock); }
static int fileReserved(sqlite3_file *p, int *out){
  FAIL(SQLITE_IOERR_CHECKRESERVEDLOCK);
  return CALL(p, xCheckReservedLock)(REAL(p), out);
}
static int fileControl(sqlite3_file *p, int op, void *arg){
  return CALL(p, xFileControl)(REAL(p), op, arg);
}
static int fileSector(sqlite3_file *p){ return CALL(p, xSectorSize)(REAL(p)); }
static int fileDevice(sqlite3_file *p){ return CALL(p, xDeviceCharacteristics)(REAL(p)); }
static int shmMap(sqlite3_file *p, int i, int n, int extend, void volatile **pp){
  FAIL(SQLITE_IOERR_SHMMAP);
  return CALL(p, xShmMap)(REAL(p), i, n, extend, pp);
}
static int shmLock(sqlite3_file *p, int offset, int n, int flags){
  if( flags & SQLITE_SHM_LOCK ){ FAIL(SQLITE_IOERR_SHMLOCK); }
  return CALL(p, xShmLock)(REAL(p), offset, n, flags);
}
static void shmBarrier(sqlite3_file *p){ CALL(p, xShmBarrier)(REAL(p)); }
static int shmUnmap(sqlite3_file *p, int drop){ return CALL(p, xShmUnmap)(REAL(p), drop); }

static const sqlite3_io_methods methods = {
  2, fileClose, fileRead, fileWrite, fileTruncate, fileSync, fileSize, fileLock, fileUnlock,
  fileReserved, fileControl, fileSector, fileDevice, shmMap, shmLock, shmBarrier, shmUnmap, 0, 0
};

static sqlite3_vfs vfs;
static sqlite3_vfs *realVfs;

static int vfsOpen(sqlite3_vfs *unused, sqlite3_filename name, sqlite3_file *p, int flags,
                   int *pOut){
  int rc;
  p->pMethods = 0;
  FAIL(SQLITE_CANTOPEN);
  REAL(p) = (sqlite3_file*)((File*)p + 1);
  rc = realVfs->xOpen(realVfs, name, REAL(p), flags, pOut);
  if( REAL(p)->pMethods ) p->pMethods = &methods;
  return rc;
}
static int vfsDelete(sqlite3_vfs *unused, const char *name, int sync){
  FAIL(SQLITE_IOERR_DELETE);
  return realVfs->xDelete(realVfs, name, 0);
}
static int vfsAccess(sqlite3_vfs *unused, const char *name, int flags, int *pOut){
  FAIL(SQLITE_IOERR_ACCESS);
  return realVfs->xAccess(realVfs, name, flags, pOut);
}

/* Install both, given these functions of the library; SQLite isn't initialised yet. Returns a
** result code. */
int faults_install(int (*config)(int, ...), sqlite3_vfs *(*find)(const char*),
                   int (*registerVfs)(sqlite3_vfs*, int)){
  sqlite3_mem_methods mine;
  int rc = config(SQLITE_CONFIG_GETMALLOC, &real);
  if( rc ) return rc;
  mine = real;
  mine.xMalloc = memMalloc;
  mine.xRealloc = memRealloc;
  rc = config(SQLITE_CONFIG_MALLOC, &mine);
  /* Every allocation has to be asked for, and sorters have to use their files. */
  if( rc==SQLITE_OK ) rc = config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  if( rc==SQLITE_OK ) rc = config(SQLITE_CONFIG_PMASZ, 1);
  if( rc ) return rc;
  realVfs = find(0);
  if( realVfs==0 ) return SQLITE_ERROR;
  vfs = *realVfs;
  vfs.zName = "faults";
  vfs.pNext = 0;
  vfs.szOsFile = (int)sizeof(File) + realVfs->szOsFile;
  vfs.xOpen = vfsOpen;
  vfs.xDelete = vfsDelete;
  vfs.xAccess = vfsAccess;
  return registerVfs(&vfs, 1);
}
