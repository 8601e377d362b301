/* Statements in threads whose stacks are small: a long expression needs no more of the stack when it is traced than stock's
** library has to run it. */
#include "program.h"
#include <pthread.h>

#define TIMES 6

static sqlite3_stmt *pStmt;

static void *step(void *pUnused){
  int i, rc;
  for(i=0; i<TIMES; i++){
    double total = 0.0;
    while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ) total += sqlite3_column_double(pStmt, 0);
    printf("%d %.17g\n", rc, total);
    sqlite3_reset(pStmt);
  }
  return 0;
}

/* SELECT sum(...) of a chain of so many operations on a column. */
static void chain(sqlite3 *db, const char *zColumn, const char *zOperators, const char *zOperand, int nDeep, int nByte){
  char *z = malloc(100 + 20*nDeep), *p = z;
  pthread_attr_t attr;
  pthread_t thread;
  int i;
  p += sprintf(p, "SELECT sum(");
  for(i=0; i<nDeep; i++) *(p++) = '(';
  p += sprintf(p, "%s", zColumn);
  for(i=0; i<nDeep; i++) p += sprintf(p, "%c%s)", zOperators[i%strlen(zOperators)], zOperand);
  sprintf(p, ") FROM t");
  pStmt = prepare(db, z);
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, nByte);
  pthread_create(&thread, &attr, step, 0);
  pthread_join(thread, 0);
  sqlite3_finalize(pStmt);
  free(z);
}

int main(void){
  static const int aDeep[] = { 50, 140, 300, 700 };
  sqlite3 *db = open_database(":memory:");
  int i;
  execute(db, "CREATE TABLE t(a, b); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<3000) "
              "INSERT INTO t SELECT i%1000, i*1.5 FROM c");
  for(i=0; i<4; i++){
    chain(db, "a", "+-", "3", aDeep[i], 48<<10);
    chain(db, "b", "+*-*", "1.5", aDeep[i], 48<<10);
    chain(db, "a", "|&", "a", aDeep[i], 48<<10);
  }
  sqlite3_close(db);
  return 0;
}
