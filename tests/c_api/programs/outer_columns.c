/* A subquery with an outer column that it needn't read, which is long, in overflow pages: that column isn't read for the
** sake of a key of what is kept of the subquery. Its pages may be damaged, or be more than there is memory for. */
#include "program.h"

#define PAGE 1024

static const char zFile[] = "outer_columns.db";

/* Has the overflow pages that are full of 'B' lead nowhere; returns how many there were. */
static int damage(void){
  FILE *pFile = fopen(zFile, "r+b");
  unsigned char aPage[PAGE], aNowhere[4] = {0, 255, 255, 255};
  int n = 0;
  long at;
  for(at=0; fread(aPage, 1, PAGE, pFile)==PAGE; at+=PAGE, fseek(pFile, at, SEEK_SET)){
    if( aPage[4]=='B' && aPage[PAGE-100]=='B' ){
      fseek(pFile, at, SEEK_SET);
      fwrite(aNowhere, 1, 4, pFile);
      n++;
    }
  }
  fclose(pFile);
  return n;
}

int main(void){
  sqlite3 *db = open_database(zFile);
  int i;
  execute(db, "PRAGMA page_size=1024; CREATE TABLE t(k, a, b); CREATE TABLE u(x); INSERT INTO u VALUES(0),(1),(2);"
              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<20)"
              "INSERT INTO t SELECT 0, printf('%.*c', 9000, 'A'), printf('%.*c', 5000, 'B') FROM c");
  sqlite3_close(db);
  printf("%d damaged\n", damage()>=60);
  db = open_database(zFile);
  for(i=0; i<4; i++){
    query(db, "SELECT substr(a, 1, 3), (SELECT count(*) FROM u WHERE x = CASE WHEN t.k THEN t.b ELSE t.k END),"
              " length(a), length(replace(a, 'A', '')), hex(substr(a, 8990)) FROM t");
    query(db, "SELECT substr(a, 1, 3), (SELECT max(x) FROM u WHERE x < length(t.b) OR x = t.k), substr(a, 7000, 2) FROM t"
              " WHERE length(a) = 9000");
    query(db, "SELECT (SELECT count(*) FROM u WHERE x = t.b), a FROM t");
  }
  execute(db, "DROP TABLE t; CREATE TABLE t(k, b);"
              "INSERT INTO t VALUES(0, zeroblob(20000000)),(1, zeroblob(20000000)),(0, zeroblob(20000000))");
  sqlite3_close(db);
  db = open_database(zFile);
  sqlite3_hard_heap_limit64(12000000);
  for(i=0; i<4; i++){
    query(db, "SELECT (SELECT count(*) FROM u WHERE x = CASE WHEN t.k < 5 THEN t.k ELSE t.b END) FROM t");
    query(db, "SELECT (SELECT count(*) FROM u WHERE x < length(t.b)) FROM t");
  }
  sqlite3_close(db);
  return 0;
}
