/* A row that was sought by its rowid, of a cursor that has an index beside it: while a function writes elsewhere, so that
** what is kept of the row doesn't hold any more, the index is on another row. */
#include "program.h"

static sqlite3 *db;
static int nSeen[300];

static void writes(sqlite3_context *pCtx, int n, sqlite3_value **apValue){
  int i = sqlite3_value_int(apValue[0]);
  if( i>=0 && i<300 && ++nSeen[i]==2 && i%50==0 ) execute(db, "INSERT INTO u VALUES(1)");
  sqlite3_result_int(pCtx, i);
}

int main(void){
  const char *az[] = { ":memory:", "a.db" };
  int i;
  for(i=0; i<2; i++){
    db = open_database(az[i]);
    sqlite3_create_function(db, "f", 1, SQLITE_UTF8, 0, writes, 0, 0);
    execute(db, "CREATE TABLE a(id INTEGER PRIMARY KEY, x, y); CREATE TABLE t(id INTEGER PRIMARY KEY, k, v);"
                "CREATE INDEX tk ON t(k); CREATE TABLE u(z);"
                "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<200) "
                "INSERT INTO a SELECT i, 500+(i%7), 1+i%5 FROM c;"
                "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<1000) "
                "INSERT INTO t SELECT i, i, 'v'||i FROM c");
    memset(nSeen, 0, sizeof(nSeen));
    query(db, "SELECT a.id, f(a.id), t.k FROM a CROSS JOIN t WHERE t.k=a.x OR t.id=a.y");
    memset(nSeen, 0, sizeof(nSeen));
    query(db, "SELECT a.id, f(a.id), (SELECT max(x) FROM a AS b WHERE b.id<=a.id), t.k FROM a CROSS JOIN t "
              "WHERE t.k=a.x OR t.id=a.y");
    sqlite3_close(db);
  }
  return 0;
}
