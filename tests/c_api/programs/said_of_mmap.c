/* A program that has said something of mmap_size, by sqlite3_config or sqlite3_file_control, has no map of ours. */
#include "program.h"

static void scan(sqlite3 *db){
  int i;
  for(i=0; i<3; i++) query(db, "SELECT count(*) FROM t WHERE filler>''");
}

int main(int argc, char **argv){
  sqlite3 *db;
  sqlite3_int64 n = 0;
  make_table("a.db");
  db = open_database("a.db");
  printf("%d\n", sqlite3_file_control(db, "main", SQLITE_FCNTL_MMAP_SIZE, &n));
  scan(db);
  sqlite3_close(db);
  sqlite3_shutdown();
  printf("%d\n", sqlite3_config(SQLITE_CONFIG_MMAP_SIZE, (sqlite3_int64)0, (sqlite3_int64)-1));
  db = open_database("a.db");
  scan(db);
  sqlite3_close(db);
  if( sqpyte_used && sqpyte_used("mmap") ) printf("mapped\n");
  return 0;
}
