/* A connection that reads alone sees what another process commits. argv: "make", "read" or "write", and the file; "read"
** has this program write in the middle. */
#include "program.h"

int main(int argc, char **argv){
  sqlite3 *db;
  int i;
  if( argc<3 ) return 2;
  if( strcmp(argv[1], "make")==0 ){
    make_table(argv[2]);
  }else if( strcmp(argv[1], "write")==0 ){
    db = open_database(argv[2]);
    execute(db, "UPDATE t SET v=2; DELETE FROM t WHERE id>15000");
    sqlite3_close(db);
  }else{
    char z[600];
    sqlite3_open_v2(argv[2], &db, SQLITE_OPEN_READONLY, 0);
    for(i=0; i<3; i++) query(db, "SELECT count(*), sum(v) FROM t");
    fflush(stdout);
    snprintf(z, sizeof(z), "%s write %s", argv[0], argv[2]);
    if( system(z) ) return 1;
    for(i=0; i<2; i++) query(db, "SELECT count(*), sum(v) FROM t");
    query(db, "PRAGMA data_version");
    sqlite3_close(db);
  }
  return 0;
}
