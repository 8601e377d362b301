/* A transaction goes on in another thread, which blocks all signals, when the file has been cut off. */
#include "program.h"
#include <pthread.h>
#include <signal.h>

static sqlite3 *db;

static void *work(void *pUnused){
  sigset_t all, now;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, 0);
  query(db, "SELECT sum(v) FROM t");
  pthread_sigmask(SIG_BLOCK, 0, &now);
  printf("%d\n", sigismember(&now, SIGBUS));
  return 0;
}

int main(void){
  pthread_t thread;
  make_table("a.db");
  db = open_database("a.db");
  execute(db, "PRAGMA cache_size=10; BEGIN");
  query(db, "SELECT sum(v) FROM t");
  if( truncate("a.db", 40960) ) return 1;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  execute(db, "ROLLBACK");
  return 0;
}
