/* A correlated subquery that doesn't come to read an outer column has no error of it: neither a limit nor damage. */
#include "program.h"

#define QUERY "SELECT (SELECT count(*) FROM t WHERE t.a=77 AND t.b=o.big) FROM o"

int main(void){
  sqlite3 *db = open_database("a.db");
  sqlite3_stmt *pStmt;
  FILE *pFile;
  int rootpage;
  execute(db, "PRAGMA page_size=4096; CREATE TABLE o(a INT, big BLOB); CREATE TABLE t(a INT, b BLOB);"
              "INSERT INTO o VALUES(1, zeroblob(100000)), (2, zeroblob(100000)), (3, x'01'); INSERT INTO t VALUES(5, x'00')");
  sqlite3_close(db);

  db = open_database("a.db");
  pStmt = prepare(db, QUERY);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000);
  run(pStmt);
  query(db, "SELECT (SELECT count(*) FROM t WHERE t.a=5 AND t.b=o.big) FROM o");
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000000);
  pStmt = prepare(db, "SELECT rootpage FROM sqlite_schema WHERE name='o'");
  sqlite3_step(pStmt);
  rootpage = sqlite3_column_int(pStmt, 0);
  sqlite3_finalize(pStmt);
  sqlite3_close(db);

  /* The first row's first overflow page: its number is at the page's end. */
  pFile = fopen("a.db", "r+");
  fseek(pFile, rootpage*4096L - 4, SEEK_SET);
  fwrite("\xee\xee\xee\xee", 1, 4, pFile);
  fclose(pFile);
  db = open_database("a.db");
  query(db, QUERY);
  query(db, "SELECT (SELECT count(*) FROM t WHERE t.a=5 AND t.b=o.big) FROM o");
  sqlite3_close(db);
  return 0;
}
