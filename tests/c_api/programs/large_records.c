/* Records of a sorter and of a queue that are larger than any in a page: their columns behind a text. */
#include "program.h"

int main(void){
  sqlite3 *db = open_database(":memory:");
  execute(db, "CREATE TABLE t(a, b, c);"
              "INSERT INTO t VALUES(printf('%.*c', 100, 'x'), 'first', 1.5), (printf('%.*c', 100, 'y'), 'second', 7)");
  query(db, "SELECT b, typeof(b), c, length(z) FROM (SELECT a, b, c, zeroblob(270000000) AS z FROM t ORDER BY a LIMIT 9)");
  query(db, "WITH RECURSIVE r(a, b, c, z) AS (SELECT a, b, c, zeroblob(270000000) FROM t WHERE b = 'first'"
            " UNION ALL SELECT a, b || '+', c + 1, z FROM r WHERE c < 2) SELECT substr(a, 1, 3), b, c, length(z) FROM r");
  query(db, "SELECT a, max(b), sum(c), max(length(z)) FROM (SELECT a, b, c, zeroblob(270000000) AS z FROM t LIMIT 9)"
            " GROUP BY a");
  sqlite3_close(db);
  return 0;
}
