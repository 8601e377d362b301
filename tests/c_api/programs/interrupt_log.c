/* What sqlite3_log() is told of a statement that is interrupted: the place in its program. */
#include "program.h"

static sqlite3 *db;

static void note(void *pUnused, int rc, const char *zMessage){ printf("log %d %s\n", rc, zMessage); }
static int always(void *pCount){ return --*(int*)pCount<=0; }
static void interrupts(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  if( sqlite3_value_int(apValue[0])==5000 ) sqlite3_interrupt(db);
  sqlite3_result_value(pCtx, apValue[0]);
}

int main(void){
  static const char *const azSql[] = {
    "SELECT sum(a) FROM t", "SELECT sum(f(a)) FROM t", "SELECT a, count(*) FROM t GROUP BY a%7",
    "SELECT sum(t.a) FROM t, (VALUES(1),(2),(3)) WHERE f(a)>0", "SELECT a FROM t WHERE f(a)<0",
    "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<20000) SELECT sum(f(i)) FROM c",
    "SELECT max(f(a)) FROM t ORDER BY 1 DESC", "SELECT sum(a) FROM (SELECT a FROM t ORDER BY f(a)%10)",
  };
  int i, j, n;
  sqlite3_config(SQLITE_CONFIG_LOG, note, (void*)0);
  db = open_database(":memory:");
  sqlite3_create_function(db, "f", 1, SQLITE_UTF8, 0, interrupts, 0, 0);
  execute(db, "CREATE TABLE t(a); WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<20000) "
              "INSERT INTO t SELECT i FROM c");
  for(i=0; i<8; i++){
    query(db, azSql[i]);
    for(j=1; j<4; j++){
      n = j*j*7;
      sqlite3_progress_handler(db, 100*j, always, &n);
      query(db, azSql[i]);
    }
    sqlite3_progress_handler(db, 0, 0, 0);
  }
  sqlite3_close(db);
  return 0;
}
