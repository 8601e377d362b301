/* NULLs that carry something, a pointer or a subtype, are NULLs to a UNIQUE index. */
#include "program.h"

static void null_with_subtype(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  sqlite3_result_subtype(pCtx, 7);
}
static void null_with_pointer(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  sqlite3_result_pointer(pCtx, pCtx, "any", 0);
}

int main(void){
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *pStmt;
  int i;
  sqlite3_create_function(db, "ns", 1, SQLITE_UTF8|SQLITE_RESULT_SUBTYPE, 0, null_with_subtype, 0, 0);
  sqlite3_create_function(db, "np", 1, SQLITE_UTF8, 0, null_with_pointer, 0, 0);
  execute(db, "CREATE TABLE o(a, b); INSERT INTO o VALUES(1, 'x'), (1, 'x'), (2, 'y');"
              "CREATE TABLE t(k UNIQUE, v); CREATE TABLE w(k, v, UNIQUE(k, v)); CREATE TABLE p(k PRIMARY KEY, v)");
  for(i=0; i<2; i++){
    query(db, "INSERT INTO t SELECT np(a), b FROM o");
    query(db, "INSERT INTO t SELECT ns(a), b FROM o");
    query(db, "INSERT OR REPLACE INTO w SELECT np(a), b FROM o");
    query(db, "INSERT OR IGNORE INTO w SELECT ns(a), b FROM o");
    query(db, "INSERT INTO p SELECT ns(a), b FROM o ON CONFLICT DO NOTHING");
    pStmt = prepare(db, "INSERT INTO t VALUES(?1, 'bound')");
    sqlite3_bind_pointer(pStmt, 1, db, "any", 0);
    run(pStmt);
  }
  query(db, "SELECT 't', k, v FROM t UNION ALL SELECT 'w', k, v FROM w UNION ALL SELECT 'p', k, v FROM p");
  query(db, "SELECT count(*), count(ns(a)), count(np(a)), ns(a) IS NULL, np(a) IS NULL, coalesce(ns(a), np(a), 5) FROM o");
  query(db, "SELECT ns(a) AS n, count(*) FROM o GROUP BY n");
  query(db, "SELECT DISTINCT np(a), ns(b) FROM o ORDER BY ns(a)");
  query(db, "SELECT a IN (SELECT ns(b) FROM o), ns(a) IN (1, 2), np(a)+1, ns(a)||'x' FROM o");
  sqlite3_close(db);
  return 0;
}
