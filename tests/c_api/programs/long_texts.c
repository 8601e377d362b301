/* Characters are counted, eight at a time where they are ASCII, in texts that are long, malformed, or end early. */
#include "program.h"

static unsigned int state = 7;
static int below(int n){ state = state*1103515245 + 12345; return (int)(state>>16) % n; }

int main(void){
  static const char *const azPart[] = { "a", "12345678", "abcdefghijklmnop", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                        "\x80", "\xc3", "", "\x7f", "ABCDEFG" };
  sqlite3 *db = open_database(":memory:");
  sqlite3_stmt *pStmt;
  int i, j, n, nPart;
  char z[400];
  execute(db, "CREATE TABLE s(id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE p(p, n)");
  pStmt = prepare(db, "INSERT INTO s(x) VALUES(?)");
  for(i=0; i<260; i++){
    n = 0;
    for(j=below(14); j>0; j--){
      const char *zPart = azPart[below(11)];
      nPart = (int)strlen(zPart) + (*zPart==0);
      memcpy(&z[n], zPart, nPart);
      n += nPart;
    }
    sqlite3_bind_text(pStmt, 1, z, n, SQLITE_TRANSIENT);
    sqlite3_step(pStmt);
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);
  execute(db, "WITH RECURSIVE c(i) AS (VALUES(-70) UNION ALL SELECT i+1 FROM c WHERE i<70)"
              "INSERT INTO p SELECT i, n FROM c, (SELECT -9 AS n UNION SELECT 0 UNION SELECT 1 UNION SELECT 8 UNION SELECT 23)");
  query(db, "SELECT id, length(x), length(CAST(x AS BLOB)) FROM s");
  query(db, "SELECT sum(length(x)), sum(length(x||x)), max(length(substr(x, 3))) FROM s");
  query(db, "SELECT p, n, group_concat(hex(substr(x, p, n))) FROM p, s WHERE s.id%13=abs(p)%13 GROUP BY p, n");
  query(db, "SELECT p, group_concat(hex(substr(x, p))), sum(instr(x, substr(x, p))) FROM p, s WHERE n=1 GROUP BY p");
  sqlite3_close(db);
  return 0;
}
