/* Between two rows of a statement the program calls what the C API lets it call then. The rows that follow, and how the
** statement ends, are stock's, whatever is kept or located ahead. */
#include "program.h"
#include <errno.h>

#define BEFORE 120          /* rows before the call */

static const char *const azQuery[] = {
  "SELECT id, (SELECT 'x'||r FROM u WHERE u.k=t.k) FROM t",
  "SELECT id, (SELECT r+(CASE WHEN u.k>=0 THEN ?1 ELSE 0 END) FROM u WHERE u.k=t.k) FROM t",
  "SELECT id, EXISTS(SELECT 1 FROM u WHERE u.k=t.k AND (CASE WHEN t.k>=0 THEN ?1 END)) FROM t",
  "SELECT id, (SELECT zeroblob(u.k*900) FROM u WHERE u.k=t.k) FROM t",
  "SELECT id, r||'', ?1, y FROM t JOIN u ON u.k=t.k",
  "SELECT b.rowid, t.y, ?1+t.k FROM b CROSS JOIN t ON t.id=b.r",
  "SELECT t.id, v.y FROM t CROSS JOIN t AS v ON v.y=t.y",
  "SELECT y, count(*), max(1.0/id)||'' FROM t GROUP BY y",
  "SELECT id, 1.0/id||'' FROM t ORDER BY y DESC, ?1",
  "SELECT DISTINCT y, ?1 FROM t WHERE id IN (SELECT r FROM b) OR k=?1",
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300) SELECT i, ?1, 1.0/i||y FROM c JOIN t ON t.id=i",
  "SELECT id, sum(k) OVER (ORDER BY id ROWS 3 PRECEDING), ?1 FROM t",
  "SELECT id FROM t WHERE y LIKE 'Y%' AND substr(y||1.0/7, 2)<>?1",
  "SELECT id, last_insert_rowid(), changes(), total_changes() FROM t WHERE (SELECT k FROM u WHERE u.k=t.k)>=0",
};

static void clear(sqlite3 *db, sqlite3_stmt *pStmt){ printf("%d\n", sqlite3_clear_bindings(pStmt)); }
static void move(sqlite3 *db, sqlite3_stmt *pStmt){
  sqlite3_stmt *pOther = prepare(db, sqlite3_sql(pStmt));
  int i;
  for(i=1; i<=sqlite3_bind_parameter_count(pOther); i++) sqlite3_bind_text(pOther, i, "another", -1, SQLITE_STATIC);
  printf("%d\n", sqlite3_transfer_bindings(pOther, pStmt));
  sqlite3_finalize(pOther);
}
static void digits(sqlite3 *db, sqlite3_stmt *pStmt){
  int n = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_FP_DIGITS, 5, &n);
  printf("%d\n", n);
}
static void no_file(sqlite3 *db, sqlite3_stmt *pStmt){
  printf("%d\n", sqlite3_file_control(db, "main", SQLITE_FCNTL_NULL_IO, 0));
}
static void no_map(sqlite3 *db, sqlite3_stmt *pStmt){
  static const sqlite3_int64 aSize[] = { 0, 200000, 100000, 0, 50000 };
  int i;
  for(i=0; i<5; i++){
    sqlite3_int64 n = aSize[i];
    printf("%d ", sqlite3_file_control(db, "main", SQLITE_FCNTL_MMAP_SIZE, &n));
    n = -1;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_MMAP_SIZE, &n);
    printf("%lld\n", (long long)n);
    if( i==3 ) sqlite3_step(pStmt);
  }
}
static ssize_t no_pread(int fd, void *p, size_t n, off_t at){
  errno = EIO;
  return -1;
}
static void system_calls(sqlite3 *db, sqlite3_stmt *pStmt){
  sqlite3_vfs *pVfs = sqlite3_vfs_find(0);
  pVfs->xSetSystemCall(pVfs, "pread", (sqlite3_syscall_ptr)no_pread);
  pVfs->xSetSystemCall(pVfs, "pread64", (sqlite3_syscall_ptr)no_pread);
}
static void reset_cache(sqlite3 *db, sqlite3_stmt *pStmt){
  printf("%d\n", sqlite3_file_control(db, "main", SQLITE_FCNTL_RESET_CACHE, 0));
}
static void release(sqlite3 *db, sqlite3_stmt *pStmt){
  printf("%d %d\n", sqlite3_db_release_memory(db), sqlite3_db_cacheflush(db));
  sqlite3_release_memory(1<<24);
}
static void short_texts(sqlite3 *db, sqlite3_stmt *pStmt){ sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1500); }
static void short_patterns(sqlite3 *db, sqlite3_stmt *pStmt){ sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1); }
static void rowid(sqlite3 *db, sqlite3_stmt *pStmt){ sqlite3_set_last_insert_rowid(db, 77); }
static void interrupt(sqlite3 *db, sqlite3_stmt *pStmt){ sqlite3_interrupt(db); }
static int stop(void *pCount){ return --*(int*)pCount<0; }
static void progress(sqlite3 *db, sqlite3_stmt *pStmt){
  static int nLeft;
  nLeft = 20;
  sqlite3_progress_handler(db, 7, stop, &nLeft);
}
static int deny(void *p, int a, const char *b, const char *c, const char *d, const char *e){ return SQLITE_DENY; }
static void authorizer(sqlite3 *db, sqlite3_stmt *pStmt){ sqlite3_set_authorizer(db, deny, 0); }
static void seven(sqlite3_context *pContext, int n, sqlite3_value **ap){ sqlite3_result_int(pContext, 7); }
static void function(sqlite3 *db, sqlite3_stmt *pStmt){
  printf("%d\n", sqlite3_create_function(db, "substr", 2, SQLITE_UTF8, 0, seven, 0, 0));
  printf("%d\n", sqlite3_create_function(db, "max", 1, SQLITE_UTF8, 0, 0, seven, 0));
}
static int backwards(void *p, int n, const void *z, int m, const void *y){
  int rc = memcmp(z, y, n<m ? n : m);
  return rc ? -rc : m-n;
}
static void collation(sqlite3 *db, sqlite3_stmt *pStmt){
  printf("%d\n", sqlite3_create_collation(db, "BINARY", SQLITE_UTF8, 0, backwards));
}
static void blob(sqlite3 *db, sqlite3_stmt *pStmt){
  sqlite3_blob *p = 0;
  printf("%d ", sqlite3_blob_open(db, "main", "t", "y", 290, 1, &p));
  printf("%d\n", p ? sqlite3_blob_write(p, "yy", 2, 0) : -1);
  sqlite3_blob_close(p);
}
/* Of those of which there are several: which one, and the text of a pragma. */
static int iWhich;
static char zPragma[100];
static void flag(sqlite3 *db, sqlite3_stmt *pStmt){
  int n = 0;
  printf("%d ", sqlite3_db_config(db, iWhich, -1, &n));
  printf("%d\n", sqlite3_db_config(db, iWhich, !n, &n));
}
static void limit(sqlite3 *db, sqlite3_stmt *pStmt){ printf("%d\n", sqlite3_limit(db, iWhich, 2)); }
static void pragma(sqlite3 *db, sqlite3_stmt *pStmt){
  execute(db, zPragma);
  sqlite3_hard_heap_limit64(0);
  sqlite3_soft_heap_limit64(0);
}

typedef struct Call Call;
struct Call { const char *zName; void (*x)(sqlite3*, sqlite3_stmt*); const char *zSql; };
static const Call aCall[] = {
  { "nothing" },
  { "clear_bindings", clear },
  { "transfer_bindings", move },
  { "FP_DIGITS", digits },
  { "NULL_IO", no_file },
  { "MMAP_SIZE", no_map },
  { "SetSystemCall", system_calls },
  { "RESET_CACHE", reset_cache },
  { "release_memory", release },
  { "LIMIT_LENGTH", short_texts },
  { "LIKE_PATTERN_LENGTH", short_patterns },
  { "set_last_insert_rowid", rowid },
  { "interrupt", interrupt },
  { "progress_handler", progress },
  { "set_authorizer", authorizer },
  { "create_function", function },
  { "create_collation", collation },
  { "blob_write", blob },
  { "cell_size_check", 0, "PRAGMA cell_size_check=ON" },
  { "cache", 0, "PRAGMA cache_size=1; PRAGMA shrink_memory; PRAGMA mmap_size=0; PRAGMA cache_spill=0" },
  { "case_sensitive_like", 0, "PRAGMA case_sensitive_like=ON" },
  { "reversed", 0, "PRAGMA reverse_unordered_selects=ON; PRAGMA automatic_index=OFF" },
  { "temp_store", 0, "PRAGMA temp_store=MEMORY" },
  { "update", 0, "UPDATE u SET r=r+1; UPDATE t SET y='z'||y WHERE id%3=0" },
  { "roll back", 0, "BEGIN; DELETE FROM t WHERE id>200; UPDATE u SET r=0; ROLLBACK" },
  { "savepoint", 0, "SAVEPOINT s; DELETE FROM u; INSERT INTO u VALUES(0, 5); ROLLBACK TO s; RELEASE s" },
  { "schema", 0, "CREATE TABLE later(a); DROP TABLE later" },
  { "analyze", 0, "ANALYZE" },
};

/* A file of small pages; where `bad`, the first row of each of the last leaves of t is said to end behind its page, which
** cell_size_check alone sees. */
static void make_file(const char *zName, int bad){
  sqlite3 *db = open_database(zName);
  execute(db, "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, k, y); CREATE TABLE u(k, r); CREATE TABLE b(r);"
              "INSERT INTO u VALUES(0, 1.0/3), (1, 2.0/3), (2, 1.0/7);"
              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300) "
              "INSERT INTO t SELECT i, i%3, printf('y%.60c%d', 'y', i%40) FROM c;"
              "INSERT INTO b SELECT 1+id*7%110 FROM t; INSERT INTO b SELECT 200+id*7%90 FROM t;");
  sqlite3_close(db);
  if( bad ){
    unsigned char a[1024];
    FILE *pFile = fopen(zName, "r+b");
    while( fread(a, 1, 1024, pFile)==1024 ){
      int nCell = a[3]*256+a[4], iCell = a[8]*256+a[9];
      if( a[0]==13 && nCell>3 && iCell<1000 && a[iCell]>40 && a[iCell+1]>=0x81 && a[iCell+1]<0x90 ){
        a[iCell]++;
        fseek(pFile, -1024, SEEK_CUR);
        fwrite(a, 1, 1024, pFile);
        fseek(pFile, 0, SEEK_CUR);
      }
    }
    fclose(pFile);
  }
}

static void copy_file(const char *zFrom, const char *zTo){
  static char a[1<<18];
  FILE *p = fopen(zFrom, "rb");
  size_t n = fread(a, 1, sizeof(a), p);
  fclose(p);
  p = fopen(zTo, "wb");
  fwrite(a, 1, n, p);
  fclose(p);
}

/* The rows as one number. */
static unsigned hashed(sqlite3_stmt *pStmt, unsigned h, int nMost, int *pnRow, int *prc){
  while( nMost-- && (*prc = sqlite3_step(pStmt))==SQLITE_ROW ){
    int i, j;
    for(i=0; i<sqlite3_column_count(pStmt); i++){
      const unsigned char *z = sqlite3_column_blob(pStmt, i);
      h = h*31 + sqlite3_column_type(pStmt, i);
      for(j=0; j<sqlite3_column_bytes(pStmt, i); j++) h = h*31 + z[j];
    }
    ++*pnRow;
  }
  return h;
}

static void attempt(const char *zQuery, const Call *pCall, int bad, int isFile){
  sqlite3 *db;
  sqlite3_stmt *pStmt;
  int nRow = 0, nBefore, rc = SQLITE_OK;
  unsigned h;
  copy_file(bad ? "damaged.db" : "sound.db", "a.db");
  db = open_database(isFile ? "a.db" : ":memory:");
  if( !isFile ){
    sqlite3 *pFrom = open_database("a.db");
    sqlite3_backup *p = sqlite3_backup_init(db, "main", pFrom, "main");
    sqlite3_backup_step(p, -1);
    sqlite3_backup_finish(p);
    sqlite3_close(pFrom);
  }
  execute(db, "PRAGMA cache_size=5");
  pStmt = prepare(db, zQuery);
  if( pStmt==0 ) return;
  if( sqlite3_bind_parameter_count(pStmt) ) sqlite3_bind_int(pStmt, 1, 1);
  h = hashed(pStmt, 0, BEFORE, &nRow, &rc);
  nBefore = nRow;
  if( rc==SQLITE_ROW ){
    if( pCall->x ) pCall->x(db, pStmt);
    if( pCall->zSql ) execute(db, pCall->zSql);
    h = hashed(pStmt, h, -1, &nRow, &rc);
    sqlite3_vfs_find(0)->xSetSystemCall(sqlite3_vfs_find(0), 0, 0);
    if( (pCall->x==no_file || pCall->x==system_calls) && (rc==SQLITE_IOERR || rc==SQLITE_CORRUPT) ){    /* how many rows are in memory is each library's own */
      nRow = nBefore;
      h = 0;
    }
  }
  printf("%s%s %s: %d+%d rows %08x, %d %s | %s\n", bad ? "damaged " : "", isFile ? "file" : "memory", pCall->zName,
         nBefore, nRow-nBefore, h, rc, rc==SQLITE_DONE ? "" : sqlite3_errmsg(db), zQuery);
  sqlite3_finalize(pStmt);
  sqlite3_close(db);
  unlink("a.db");
}

/* Every limit, every flag and every pragma that there is, in some queries. */
static void attempt_all(const char *zQuery){
  Call call = { "limit", limit };
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *pStmt;
  for(iWhich=0; sqlite3_limit(db, iWhich, -1)>=0; iWhich++) attempt(zQuery, &call, 0, 1);
  call = (Call){ "flag", flag };
  for(iWhich=SQLITE_DBCONFIG_ENABLE_FKEY; iWhich<=SQLITE_DBCONFIG_MAX; iWhich++){
    if( iWhich!=SQLITE_DBCONFIG_FP_DIGITS ) attempt(zQuery, &call, 0, 1);
  }
  call = (Call){ zPragma, pragma };
  pStmt = prepare(db, "SELECT name||value FROM pragma_pragma_list, (SELECT '' AS value UNION ALL SELECT '=1' UNION ALL SELECT '=0') "
                      "WHERE name NOT LIKE '%directory' ORDER BY 1");
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    snprintf(zPragma, sizeof(zPragma), "PRAGMA %s", (const char*)sqlite3_column_text(pStmt, 0));
    attempt(zQuery, &call, 0, 1);
  }
  sqlite3_finalize(pStmt);
  sqlite3_close(db);
}

int main(void){
  int bad, isFile, i, j;
  make_file("sound.db", 0);
  make_file("damaged.db", 1);
  for(i=0; i<(int)(sizeof(azQuery)/sizeof(azQuery[0])); i++){
    for(bad=0; bad<2; bad++){
      for(isFile=bad; isFile<2; isFile++){
        for(j=0; j<(int)(sizeof(aCall)/sizeof(aCall[0])); j++) attempt(azQuery[i], &aCall[j], bad, isFile);
      }
    }
    if( i%4==0 ) attempt_all(azQuery[i]);
  }
  return 0;
}
