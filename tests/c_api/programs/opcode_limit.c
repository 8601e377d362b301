/* SQLITE_LIMIT_VDBE_OP: as many statements fit in it. And the ids of EXPLAIN QUERY PLAN. */
#include "program.h"

int main(void){
  sqlite3 *db = open_database(":memory:");
  int n, i;
  execute(db, "CREATE TABLE o(a, b); CREATE TABLE t(x); CREATE INDEX oi ON o(a+1)");
  query(db, "EXPLAIN QUERY PLAN SELECT (SELECT count(*) FROM t WHERE t.x=o.a), b FROM o");
  query(db, "EXPLAIN QUERY PLAN SELECT (SELECT count(*) FROM t WHERE t.x=o.a+1) FROM o WHERE o.a+1>3");
  sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 60);
  for(n=1; n<14; n++){
    char z[500] = "SELECT ";
    sqlite3_stmt *pStmt = 0;
    for(i=0; i<n; i++) strcat(z, "a+b, ");
    strcat(z, "(SELECT count(*) FROM t WHERE t.x=o.a) FROM o");
    printf("%d: %d\n", n, sqlite3_prepare_v2(db, z, -1, &pStmt, 0));
    sqlite3_finalize(pStmt);
  }
  sqlite3_close(db);
  return 0;
}
