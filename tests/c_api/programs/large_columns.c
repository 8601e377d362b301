/* A large column is copied out of its overflow pages once for each row, however often the row uses it: there is room for
** one copy of it, and not for one each use. */
#include "program.h"

static sqlite3_mem_methods methods;
static int nLarge;

static void *allocate(int n){
  nLarge += n>60000 && n<70000;
  return methods.xMalloc(n);
}

int main(void){
  static const char *const azSql[] = {
    "SELECT sum(big<'a'), sum(big<'b'), sum(big<'c'), sum(big<'d'), sum(big<'e'), sum(big<'f') FROM o",
    "SELECT sum(length(big)), sum(substr(big,59000,3)<>'q'), max(big>'zz'), sum(instr(big,'b')) FROM o",
    "SELECT count(*) FROM o WHERE big<>'a' AND big<>'b' AND big NOT LIKE 'a%' AND length(big)>7",
    "SELECT sum(big>x), sum(x>big), sum(big IS NOT x) FROM o",
    "SELECT id, length(big), substr(big,5000,3), big>'a' FROM o WHERE id%40=0",
  };
  sqlite3_mem_methods mine;
  sqlite3 *db;
  int i, j;
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods);
  mine = methods;
  mine.xMalloc = allocate;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
  db = open_database(":memory:");
  execute(db, "CREATE TABLE o(id INTEGER PRIMARY KEY, x, big);"
              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<400)"
              "INSERT INTO o SELECT i, i, printf('%.*c', 60100, 'z') FROM c");
  for(i=0; i<5; i++){
    for(j=0; j<6; j++){
      nLarge = 0;
      query(db, azSql[i]);
      printf("%d %d: %s\n", i, j, nLarge<=420 ? "once" : "more often");
    }
  }
  sqlite3_close(db);
  return 0;
}
