/* A sorter that is opened again before its rows have all been read: texts of its rows are still needed. */
#include "program.h"

int main(void){
  static const char *const azSub[] = {
    "SELECT DISTINCT y, z FROM u WHERE u.a>=t.a ORDER BY z",
    "SELECT DISTINCT y, z FROM u WHERE u.a<=t.a ORDER BY z",
    "SELECT y, z, sum(a) FROM u WHERE u.a<=t.a GROUP BY y ORDER BY z",
    "SELECT y, z FROM u WHERE u.a<=t.a UNION ALL SELECT y, z FROM u WHERE u.a<=t.a ORDER BY 2",
    "SELECT y, row_number() OVER (ORDER BY z) FROM u WHERE u.a<=t.a",
  };
  sqlite3 *db = open_database(":memory:");
  char z[600];
  int i, j;
  execute(db, "CREATE TABLE t(i INTEGER PRIMARY KEY, a, v); CREATE TABLE u(a, y, z);"
              "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<30) INSERT INTO t SELECT i, i, (i*7)%31 FROM c;"
              "INSERT INTO u SELECT a, printf('%s-%d', 'text', a)||hex(zeroblob(60)), 100-a FROM t");
  for(i=0; i<5; i++){
    snprintf(z, sizeof(z), "SELECT max(v), g FROM (SELECT t.v AS v, (SELECT y FROM (%s) LIMIT 1) AS g FROM t LIMIT 1000)",
             azSub[i]);
    for(j=0; j<3; j++) query(db, z);
  }
  sqlite3_close(db);
  return 0;
}
