/* A file that the connection has mapped is taken away from it (SQLITE_FCNTL_NULL_IO) between statements, or amid a
** transaction: what is done to the other file goes on. */
#include "program.h"

static void others(sqlite3 *db){
  char zBytes[8] = "";
  sqlite3_blob *pBlob = 0;
  sqlite3 *pCopy = open_database(":memory:");
  sqlite3_backup *pBackup = sqlite3_backup_init(pCopy, "main", db, "main");
  query(db, "SELECT 1");
  query(db, "SELECT sum(v), sum(length(filler)) FROM main.t");
  execute(db, "CREATE TEMP TABLE IF NOT EXISTS x(a)");
  execute(db, "INSERT INTO x SELECT v FROM main.t WHERE id<5");
  execute(db, "UPDATE main.t SET v=v+1 WHERE id%1000=5");
  query(db, "SELECT sum(v), (SELECT count(*) FROM x) FROM main.t");
  printf("%d ", sqlite3_blob_open(db, "main", "t", "filler", 7, 1, &pBlob));
  printf("%d ", sqlite3_blob_read(pBlob, zBytes, 7, 0));
  printf("%d %s ", sqlite3_blob_write(pBlob, "bytes", 5, 0), zBytes);
  printf("%d\n", sqlite3_blob_close(pBlob));
  printf("%d ", sqlite3_backup_step(pBackup, -1));
  printf("%d\n", sqlite3_backup_finish(pBackup));
  query(pCopy, "SELECT count(*), sum(v) FROM t");
  sqlite3_close(pCopy);
}

int main(int argc, char **argv){
  int bTransaction, bDetach;
  make_table("other.db");
  make_table("gone.db");
  for(bTransaction=0; bTransaction<2; bTransaction++){
    for(bDetach=0; bDetach<2; bDetach++){
      sqlite3 *db = open_database("other.db");
      execute(db, "ATTACH 'gone.db' AS gone; PRAGMA gone.cache_size=1");
      if( bTransaction ) execute(db, "BEGIN");
      query(db, "SELECT sum(v), sum(length(filler)) FROM gone.t");
      query(db, "SELECT sum(v), sum(length(filler)) FROM gone.t");
      printf("%d\n", sqlite3_file_control(db, "gone", SQLITE_FCNTL_NULL_IO, 0));
      others(db);
      query(db, "SELECT g.v, (SELECT count(*) FROM main.t) FROM gone.t AS g WHERE g.id=9999");
      if( bTransaction ) execute(db, "COMMIT");
      query(db, "SELECT v FROM gone.t WHERE id=19999");
      others(db);
      if( bDetach ){
        execute(db, "DETACH gone");
        others(db);
      }
      sqlite3_close(db);
    }
  }
  return 0;
}
