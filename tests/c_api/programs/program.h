/* What the programs of this folder share: they print what SQLite's C API answers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sqlite3.h"

/* Of our library alone. */
extern long long sqpyte_used(const char*) __attribute__((weak));

static inline void execute(sqlite3 *db, const char *zSql){
  char *zError = 0;
  if( sqlite3_exec(db, zSql, 0, 0, &zError) ) printf("error: %s\n", zError);
  sqlite3_free(zError);
}

/* Prints the rows that a statement has yet, and how it ends. */
static inline void run(sqlite3_stmt *pStmt){
  int i, n;
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    n = sqlite3_column_count(pStmt);
    for(i=0; i<n; i++) printf("%s%s", i ? "|" : "", (const char*)sqlite3_column_text(pStmt, i));
    printf("\n");
  }
  printf("%d %s\n", sqlite3_errcode(sqlite3_db_handle(pStmt)), sqlite3_errmsg(sqlite3_db_handle(pStmt)));
  sqlite3_finalize(pStmt);
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = 0;
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) ) printf("prepare: %s\n", sqlite3_errmsg(db));
  return pStmt;
}

static inline void query(sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = prepare(db, zSql);
  if( pStmt ) run(pStmt);
}

static inline sqlite3 *open_database(const char *zName){
  sqlite3 *db;
  sqlite3_open(zName, &db);
  return db;
}

/* Makes a file of 545 pages, whose 20 000 rows of t have v=1. */
static inline void make_table(const char *zName){
  sqlite3 *db = open_database(zName);
  execute(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, v INT, filler TEXT)");
  execute(db, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<20000) "
              "INSERT INTO t SELECT x, 1, hex(zeroblob(50)) FROM c");
  sqlite3_close(db);
}
