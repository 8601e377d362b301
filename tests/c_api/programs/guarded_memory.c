/* Statements of many kinds are interrupted at each of their opcodes, and then run to their end, on guarded memory:
** no byte is accessed before or after any piece of it, nor when it has been freed. */
#include "program.h"
#include <sys/wait.h>
#include "../../corruption/guard.c"

static const char *const aSetup[] = {
  "PRAGMA page_size=512; PRAGMA cache_size=20",
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL, d BLOB)",
  "CREATE INDEX ta ON t(a, b)",
  "CREATE TABLE u(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
  "CREATE TABLE log(x, y)",
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60) "
    "INSERT INTO t SELECT i, i%7, 'name '||(i%9), i/3.0, CASE WHEN i%20=0 THEN zeroblob(1500) ELSE x'00ff' END FROM n",
  "INSERT INTO u SELECT 'key '||id, CASE WHEN id%5=0 THEN NULL ELSE date('2020-01-01', id||' days') END FROM t",
  "CREATE TRIGGER ti AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.id, new.b); "
    "UPDATE u SET v=v||'x' WHERE k='key '||(new.id%3); END",
  "CREATE TRIGGER td BEFORE DELETE ON t WHEN old.a<6 BEGIN INSERT INTO log SELECT old.id, count(*) FROM u; END",
  "CREATE VIRTUAL TABLE f USING fts5(body)",
  "INSERT INTO f SELECT b FROM t",
};

static const char *const aStatement[] = {
  "SELECT count(*), sum(a), total(c), group_concat(b), min(c), max(d), avg(a) FROM t WHERE c<15 AND b LIKE 'name%'",
  "SELECT a, count(*), sum(c), max(b) FROM t GROUP BY a HAVING count(*)>3 ORDER BY 3 DESC",
  "SELECT b, length(d), typeof(c) FROM t ORDER BY b COLLATE NOCASE, c DESC LIMIT 9",
  "SELECT t.id, u.v FROM t JOIN u ON u.k='key '||t.id WHERE t.a IN (1, 2, 3) AND u.v>'2020-01-20' ORDER BY u.v",
  "SELECT x.a, count(*) FROM t x JOIN t y ON x.a=y.a AND x.b<y.b LEFT JOIN log ON log.x=y.id GROUP BY x.a",
  "SELECT id, (SELECT avg(c) FROM t s WHERE s.a=t.a), EXISTS(SELECT 1 FROM t s WHERE s.b=t.b AND s.a>t.a) FROM t WHERE id<25",
  "SELECT DISTINCT a, b FROM t UNION SELECT v, k FROM u WHERE v IS NULL ORDER BY 1, 2",
  "SELECT a, sum(c) OVER (PARTITION BY a ORDER BY id ROWS 2 PRECEDING), rank() OVER (ORDER BY b) FROM t LIMIT 30",
  "WITH RECURSIVE n(i, z) AS (VALUES(1, 'a') UNION ALL SELECT i+1, z||i FROM n WHERE i<40) SELECT sum(length(z)) FROM n",
  "SELECT substr(d, 3, 4), hex(substr(d, -2)), b||c, a+id*2, a/2, c*c, ~a, a&3, -c, CAST(c AS INT) FROM t WHERE id%4=0",
  "SELECT strftime('%Y-%m', v), count(v) FROM u WHERE v BETWEEN '2020-01-05' AND '2020-02-20' GROUP BY 1",
  "SELECT json_extract(json_object('a', a, 'b', b), '$.b'), printf('%05d|%s', a, b) FROM t WHERE id<20",
  "SELECT count(*) FROM f WHERE f MATCH 'name AND 3'",
  "INSERT INTO t SELECT id+100, a, b, c, d FROM t WHERE id<12",
  "UPDATE t SET b=b||'!', c=c+1 WHERE a=(SELECT max(a) FROM t)",
  "DELETE FROM t WHERE id IN (SELECT id FROM t WHERE a=2)",
  "INSERT INTO u VALUES('key 3', 1), ('new', 2) ON CONFLICT(k) DO UPDATE SET v=excluded.v RETURNING k, v",
};

static int nLeft;     /* calls of the handler until it interrupts */
static int interrupts(void *pUnused){ return --nLeft<=0; }

/* Interrupts a statement at its 1st, 2nd, ... opcode; those far from its beginning in larger steps. */
static void interrupt_everywhere(sqlite3 *db, const char *zSql){
  int n, rc = SQLITE_INTERRUPT;
  sqlite3_stmt *pStmt = prepare(db, zSql);
  for(n=1; rc==SQLITE_INTERRUPT; n += 1+n/12){
    nLeft = n;
    sqlite3_progress_handler(db, 1, interrupts, 0);
    sqlite3_exec(db, "SAVEPOINT s", 0, 0, 0);
    nLeft = n;
    while( sqlite3_step(pStmt)==SQLITE_ROW );
    rc = sqlite3_reset(pStmt);
    sqlite3_progress_handler(db, 0, 0, 0);
    sqlite3_exec(db, "ROLLBACK TO s; RELEASE s", 0, 0, 0);
    if( rc && rc!=SQLITE_INTERRUPT ) printf("error: %d %s\n", rc, sqlite3_errmsg(db));
  }
  sqlite3_finalize(pStmt);
}

static int run_guarded(int side){
  sqlite3 *db;
  int i;
  if( guard_install(sqlite3_config, side) ) return 2;
  db = open_database(side==GUARD_AFTER ? "after.db" : "before.db");
  for(i=0; i<(int)(sizeof(aSetup)/sizeof(aSetup[0])); i++) execute(db, aSetup[i]);
  for(i=0; i<(int)(sizeof(aStatement)/sizeof(aStatement[0])); i++){
    interrupt_everywhere(db, aStatement[i]);
    query(db, aStatement[i]);
    for(; guard_count(); guard_rearm()) printf("accessed: %s, %s\n", guard_note(0)->what, aStatement[i]);
  }
  query(db, "SELECT count(*), sum(a), group_concat(b) FROM t");
  query(db, "SELECT count(*), sum(y) FROM log");
  query(db, "PRAGMA integrity_check");
  sqlite3_close(db);
  fflush(stdout);
  return 0;
}

int main(void){
  int side, status = 0;
  for(side=GUARD_AFTER; side<=GUARD_BEFORE && status==0; side++){
    fflush(stdout);
    if( fork()==0 ) _exit(run_guarded(side));
    wait(&status);
  }
  return status;
}
