/* sqlite3_value_frombind() of a subquery's result that comes again, and of one that is read from a table. */
#include "program.h"

static void from_bind(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  sqlite3_result_int(pCtx, sqlite3_value_frombind(apValue[0]));
}

int main(void){
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *pStmt;
  int i;
  sqlite3_create_function(db, "fb", 1, SQLITE_UTF8, 0, from_bind, 0, 0);
  execute(db, "CREATE TABLE o(a); INSERT INTO o VALUES(1),(1),(1),(2),(2); CREATE TABLE t(x); INSERT INTO t VALUES(1),(2)");
  pStmt = prepare(db, "SELECT fb((SELECT ?1 FROM t WHERE t.x=o.a)), fb((SELECT x FROM t WHERE t.x=o.a)) FROM o");
  sqlite3_bind_text(pStmt, 1, "hello", -1, SQLITE_STATIC);
  run(pStmt);
  pStmt = prepare(db, "SELECT (SELECT ?1 FROM t WHERE t.x=o.a) FROM o");
  sqlite3_bind_int(pStmt, 1, 7);
  for(i=0; i<5 && sqlite3_step(pStmt)==SQLITE_ROW; i++){
    printf("%d ", sqlite3_value_frombind(sqlite3_column_value(pStmt, 0)));
  }
  run(pStmt);
  sqlite3_close(db);
  return 0;
}
