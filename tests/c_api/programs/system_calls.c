/* A program that puts its own pread and pwrite in the place of SQLite's: the file has other bytes than the pages. */
#include "program.h"

static ssize_t read_other(int fd, void *p, size_t n, off_t offset){
  ssize_t got = pread64(fd, p, n, offset), i;
  for(i=0; i<got; i++) ((unsigned char*)p)[i] ^= 0x5a;
  return got;
}
static ssize_t write_other(int fd, const void *p, size_t n, off_t offset){
  unsigned char *a = malloc(n);
  ssize_t done;
  size_t i;
  for(i=0; i<n; i++) a[i] = ((const unsigned char*)p)[i] ^ 0x5a;
  done = pwrite64(fd, a, n, offset);
  free(a);
  return done;
}

int main(void){
  sqlite3_vfs *pVfs = sqlite3_vfs_find("unix");
  sqlite3 *db;
  int i;
  printf("%d\n", pVfs->xSetSystemCall(pVfs, "pread64", (sqlite3_syscall_ptr)read_other));
  printf("%d\n", pVfs->xSetSystemCall(pVfs, "pwrite64", (sqlite3_syscall_ptr)write_other));
  make_table("a.db");
  db = open_database("a.db");
  for(i=0; i<3; i++) query(db, "SELECT count(*), sum(v) FROM t WHERE filler>''");
  sqlite3_close(db);
  printf("%d\n", pVfs->xSetSystemCall(pVfs, 0, 0));

  /* Replaced in the middle: where the file is mapped already, too. */
  make_table("b.db");
  db = open_database("b.db");
  for(i=0; i<3; i++) query(db, "SELECT count(*), sum(v) FROM t WHERE filler>''");
  execute(db, "PRAGMA cache_size=5");
  printf("%d\n", pVfs->xSetSystemCall(pVfs, "pread64", (sqlite3_syscall_ptr)read_other));
  query(db, "SELECT count(*), sum(v) FROM t WHERE filler>''");
  sqlite3_close(db);
  return 0;
}
