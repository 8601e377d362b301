/* Stacks of a program's own: statements are run on a fiber after the thread's stack; fibers switch within progress
** handlers, functions and aggregates, in other orders than calls return; and a handler is left by longjmp. */
#include "sqlite3.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define FIBERS 3
#define STACK (1<<18)

static ucontext_t home, fiber[FIBERS];
static sqlite3 *db[FIBERS];
static char *said[FIBERS];
static int running, rows, ended[FIBERS], work;
static jmp_buf out;

static const char *const table =
  "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);"
  "INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r LIMIT 9000) SELECT n, n%97, n/8.0 FROM r";
static const char *const queries[] = {
  "SELECT sum(b*a), count(*) FROM t WHERE c>2", "SELECT max(b+c), total(a) FROM t WHERE b>=0",
  "SELECT b%7, count(*) FROM t GROUP BY 1 ORDER BY 2, 1" };
static const char *const calling[] = {      /* by work */
  0, "SELECT sum(turn(b)), max(a) FROM t", "SELECT turns(b), count(*) FROM t" };

/* Prints what a statement gives, in one line. */
static void run(FILE *to, sqlite3 *db, const char *zWho, const char *zSql){
  sqlite3_stmt *pStmt;
  unsigned hash = 1;
  int i, rc, n = 0;
  sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
  while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
    for(i=0; i<sqlite3_column_count(pStmt); i++){
      const unsigned char *z = sqlite3_column_text(pStmt, i);
      while( *z ) hash = hash*31 + *z++;
    }
    n++;
  }
  fprintf(to, "%s: %s: %d rows, %u, %d %s\n", zWho, zSql, n, hash, rc, sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);
}

static void all(sqlite3 *db, const char *zWho){
  int i;
  for(i=0; i<12; i++) run(stdout, db, zWho, queries[i%3]);
}

/* Has the next fiber go on, from within whatever this one does. */
static void turn(void){
  int from = running;
  swapcontext(&fiber[from], &home);
}
static int handler(void *p){ turn(); return 0; }
static void function(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  if( ++rows%700==0 ) turn();
  sqlite3_result_value(pCtx, ap[0]);
}
static void step(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  sqlite3_int64 *pSum = sqlite3_aggregate_context(pCtx, sizeof(*pSum));
  if( ++rows%700==0 ) turn();
  *pSum += sqlite3_value_int64(ap[0]);
}
static void final(sqlite3_context *pCtx){
  sqlite3_int64 *pSum = sqlite3_aggregate_context(pCtx, sizeof(*pSum));
  turn();
  sqlite3_result_int64(pCtx, *pSum);
}

static void body(int i){
  char *zSaid = 0;
  size_t nSaid = 0;
  FILE *to = open_memstream(&zSaid, &nSaid);    /* printed when all have ended: who ends first depends on single opcodes */
  int n;
  for(n=0; n<8; n++) run(to, db[i], "a fiber", calling[work] ? calling[work] : queries[n%3]);
  fclose(to);
  said[i] = zSaid;
  ended[i] = 1;
  swapcontext(&fiber[i], &home);
}

static void start(int i, void (*xBody)(int)){
  getcontext(&fiber[i]);
  fiber[i].uc_stack.ss_sp = malloc(STACK);
  fiber[i].uc_stack.ss_size = STACK;
  fiber[i].uc_link = 0;
  makecontext(&fiber[i], (void(*)(void))xBody, 1, i);
}

static void alone(int i){
  all(db[i], "a fiber");
  swapcontext(&fiber[i], &home);
}

/* Fibers by turns until all have ended. */
static void turns(void){
  int i, left;
  for(i=0; i<FIBERS; i++){
    ended[i] = 0;
    start(i, body);
  }
  do{
    left = 0;
    for(i=0; i<FIBERS; i++){
      if( ended[i] ) continue;
      running = i;
      left = 1;
      swapcontext(&home, &fiber[i]);
    }
  }while( left );
  for(i=0; i<FIBERS; i++) fputs(said[i], stdout);
}

static int leaves(void *p){ if( ++rows%3==0 ) longjmp(out, 1); return 0; }

int main(void){
  int i;
  setvbuf(stdout, 0, _IONBF, 0);
  for(i=0; i<FIBERS; i++){
    sqlite3_open(":memory:", &db[i]);
    sqlite3_exec(db[i], table, 0, 0, 0);
    sqlite3_create_function(db[i], "turn", 1, SQLITE_UTF8, 0, function, 0, 0);
    sqlite3_create_function(db[i], "turns", 1, SQLITE_UTF8, 0, 0, step, final);
  }
  all(db[0], "the thread");
  start(0, alone);
  swapcontext(&home, &fiber[0]);
  all(db[0], "the thread");
  for(work=0; work<3; work++){
    for(i=0; i<FIBERS && work==0; i++) sqlite3_progress_handler(db[i], 3000, handler, 0);
    turns();
    for(i=0; i<FIBERS; i++) sqlite3_progress_handler(db[i], 0, 0, 0);
    all(db[0], "the thread");
  }
  sqlite3_progress_handler(db[1], 3000, leaves, 0);
  for(rows=0; rows<60; ){
    if( setjmp(out)==0 ) run(stdout, db[1], "jumps", queries[0]);
    else sqlite3_finalize(sqlite3_next_stmt(db[1], 0));
  }
  sqlite3_progress_handler(db[1], 0, 0, 0);
  all(db[0], "the thread");
  all(db[1], "the thread");
  return 0;
}
