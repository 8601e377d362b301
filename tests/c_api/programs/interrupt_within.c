/* A function interrupts its own statement: the row that stock gives last is the last, whatever is known of a subquery. */
#include "program.h"

static int nCall, nLimit;

static void interrupts(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  if( ++nCall==nLimit ) sqlite3_interrupt(sqlite3_context_db_handle(pCtx));
  sqlite3_result_value(pCtx, apValue[0]);
}

int main(void){
  static const char *const azSql[] = {
    "SELECT f(id), (SELECT count(*) FROM u WHERE u.k=t.a) FROM t",
    "SELECT sum(f(id)), sum((SELECT count(*) FROM u WHERE u.k=t.a)) FROM t",
    "SELECT f(id), (SELECT max(v) FROM u WHERE u.k=t.a), (SELECT count(*) FROM u WHERE u.k<>t.a) FROM t",
    "SELECT (SELECT count(*) FROM u WHERE u.k=t.a), f(id) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k=t.a)",
    "SELECT id FROM t WHERE f(id) IN (SELECT v FROM u WHERE u.k=t.a) OR id>0",
  };
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *pStmt;
  int i, nRow, rc;
  sqlite3_create_function(db, "f", 1, SQLITE_UTF8, 0, interrupts, 0, 0);
  execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(k, v); INSERT INTO u VALUES(0,5),(1,6),(2,7);"
              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<900) INSERT INTO t SELECT i, i%3 FROM c");
  for(i=0; i<5; i++){
    for(nLimit=1; nLimit<900; nLimit+=107){
      pStmt = prepare(db, azSql[i]);
      nCall = nRow = 0;
      while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ) nRow++;
      printf("%d %d: %d rows, %d calls, %d %s\n", i, nLimit, nRow, nCall, rc, sqlite3_errmsg(db));
      sqlite3_finalize(pStmt);
    }
  }
  sqlite3_close(db);
  return 0;
}
