/* What fits in sqlite3_hard_heap_limit64() in stock fits here. */
#include "program.h"

int main(void){
  sqlite3 *db = open_database("a.db");
  sqlite3_int64 limit;
  int i;
  execute(db, "PRAGMA cache_size=-500; BEGIN");
  for(i=0; i<6; i++){
    char z[300];
    sprintf(z, "CREATE TABLE d%d(id INTEGER PRIMARY KEY, v TEXT); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 "
               "FROM c WHERE x<2000) INSERT INTO d%d SELECT x, hex(zeroblob(120)) FROM c", i, i);
    execute(db, z);
  }
  execute(db, "CREATE TABLE o(a); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<40000) "
              "INSERT INTO o SELECT (x*7919)%2000+1 FROM c; COMMIT");
  sqlite3_close(db);
  db = open_database("a.db");
  execute(db, "PRAGMA cache_size=-500");
  for(limit=2200000; limit<=6000000; limit+=700000){
    sqlite3_hard_heap_limit64(limit);
    query(db, "SELECT length(group_concat(substr(d0.v,1,3)||substr(d1.v,1,3)||substr(d2.v,1,3)||substr(d3.v,1,2)"
              "||substr(d4.v,1,2)||substr(d5.v,1,2))) FROM o CROSS JOIN d0 ON d0.id=a CROSS JOIN d1 ON d1.id=a "
              "CROSS JOIN d2 ON d2.id=a CROSS JOIN d3 ON d3.id=a CROSS JOIN d4 ON d4.id=a CROSS JOIN d5 ON d5.id=a");
    sqlite3_hard_heap_limit64(0);
  }
  sqlite3_close(db);
  return 0;
}
