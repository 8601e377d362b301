/* Texts that end early, that are malformed, that begin with a byte order mark, and numbers that are texts. */
#include "program.h"

int main(void){
  static const char *const azEncoding[] = { "UTF-8", "UTF-16le", "UTF-16be" };
  int i, j;
  for(i=0; i<3; i++){
    sqlite3 *db = open_database(":memory:");
    char z[100];
    snprintf(z, sizeof(z), "PRAGMA encoding='%s'", azEncoding[i]);
    execute(db, z);
    execute(db, "CREATE TABLE d(d DATE, x); INSERT INTO d VALUES('2020-01-01', '3'||char(0)||'01-'), ('2020-01-01', ' 202-'),"
                "('2020-01-01', '2020-'), ('2020-01-01', '+020-'), ('2020-01-01', '12e1-'), ('12e1-01', '2020-01-01');"
                "CREATE TABLE n(a); INSERT INTO n VALUES('-0'), ('-0abc'), ('-0 '), (x'2d30'), ('0'), ('-0.0'), ('-00'), (0);"
                "CREATE TABLE s(x TEXT); INSERT INTO s VALUES(CAST(x'808041' AS TEXT)), (CAST(x'e2804180' AS TEXT)),"
                "(CAST(x'41808042' AS TEXT)), (CAST(x'c380' AS TEXT)), ('abc'), ('a'||char(0)||'bc');"
                "CREATE TABLE b(a, b); INSERT INTO b VALUES('x', 'y'), (char(65279), 'y'), ('', char(65534)||'z');"
                "CREATE TABLE k(a); INSERT INTO k VALUES(1), (1), (1), (2), (2)");
    for(j=0; j<3; j++){
      query(db, "SELECT quote(x), d<x, d>x, d=x FROM d");
      query(db, "SELECT quote(a), printf('%f', a*1.5) FROM n");
      query(db, "SELECT 1/(a*1.5), printf('%f %f %f %f', a*1.5, a*-1.5, a/2.0, a+(-0.0)) FROM n");
      query(db, "SELECT printf('%f %f', a*b, a+b) FROM (SELECT x.a, y.a AS b FROM n AS x, n AS y) WHERE typeof(a*b)='real'");
      query(db, "SELECT hex(substr(x,-1)), hex(substr(x,-2)), hex(substr(x,-3,2)), hex(substr(x,-1,-1)), hex(substr(x,2)), "
                "length(x) FROM s");
      query(db, "SELECT length(randomblob(4)), hex(char(65279)||a||b), length(char(65279)||a||b), hex(a||b) FROM b");
      query(db, "SELECT hex(unhex('31')||a), hex((SELECT char(65279)||b.b FROM b WHERE k.a=1 LIMIT 1)) FROM k, b");
    }
    sqlite3_close(db);
  }
  return 0;
}
