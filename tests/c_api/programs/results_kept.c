/* A group's result that somebody keeps while the next group's accumulator takes its memory; and a text of a row that is
** kept while another one takes its. */
#include "program.h"

int main(void){
  static const char *const azSql[] = {
    "SELECT max(n), g FROM (SELECT count(*) AS n, max(t) AS g FROM b GROUP BY k)",
    "SELECT max(n), g FROM (SELECT count(*) AS n, min(t) AS g FROM b NOT INDEXED GROUP BY k)",
    "WITH w AS (SELECT k, count(*) AS n, group_concat(t) AS g FROM b GROUP BY k) SELECT k, max(n), g FROM w",
    "SELECT min(n), g, h FROM (SELECT sum(i) AS n, max(t) AS g, min(t||'x') AS h FROM b GROUP BY k)",
    "SELECT max(n), upper(g), g FROM (SELECT count(*) AS n, max(t) AS g FROM b GROUP BY k)",
    "SELECT min(id), fv FROM (SELECT b.i AS id, max(t) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED "
      "FOLLOWING EXCLUDE CURRENT ROW) AS fv FROM b WHERE i<40 LIMIT 1000000)",
    "SELECT max(n), g FROM (SELECT count(*) AS n, max(t) AS g FROM b GROUP BY k ORDER BY g DESC LIMIT 10000)",
    "SELECT a.k, max(a.n), a.g, c.g FROM (SELECT k, count(*) AS n, max(t) AS g FROM b GROUP BY k) AS a "
      "JOIN (SELECT k, min(t) AS g FROM b GROUP BY k) AS c ON a.k=c.k",
    "UPDATE u SET x = CASE WHEN p%2 THEN replace(p||printf('%.40000c', 'x'), 'x', 'yyy') ELSE x END "
      "RETURNING p, length(x), substr(x, -20)",
    "DELETE FROM u WHERE p<3 RETURNING p, length(x), substr(x, 1, 20)",
  };
  sqlite3 *db = open_database(":memory:");
  int i, j;
  execute(db, "CREATE TABLE b(i INTEGER PRIMARY KEY, k INTEGER, t TEXT);"
              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000) "
              "INSERT INTO b SELECT i, i/10, 'text number '||i||' of many' FROM c;"
              "INSERT INTO b VALUES(5000, 210, 'an additional text'); CREATE INDEX bk ON b(k, t);"
              "CREATE TABLE u(p INTEGER PRIMARY KEY, x TEXT); INSERT INTO u VALUES(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
  for(i=0; i<(int)(sizeof(azSql)/sizeof(azSql[0])); i++){
    for(j=0; j<3; j++) query(db, azSql[i]);
  }
  sqlite3_close(db);
  return 0;
}
