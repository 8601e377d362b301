/*
** The command `sqpyte`: runs SQL against a database file and prints the rows as the sqlite3 shell
** does by default (list mode).
**
**     sqpyte [--timer] [--readonly] FILE [SQL...]
**
** SQL comes from the arguments or, without any, from standard input. An error goes to standard error
** in the shell's words; SQL arguments end at the first error, standard input is read to its end. The
** exit code is 1 if anything failed. It uses SQLite's public API only, so it links with any of the
** three libraries.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "sqlite3.h"

static const char USAGE[] =
  "usage: sqpyte [--timer] [--readonly] FILE [SQL...]\n"
  "Runs SQL, from the arguments or from standard input, against the database FILE.\n"
  "  --timer     print each statement's time\n"
  "  --readonly  open the database for reading only\n"
  "  --version   print the version of SQLite\n";

typedef struct Session {
  sqlite3 *db;
  int timer;        /* print times */
  int errors;       /* statements that failed */
} Session;

/* ---- times ---- */

typedef struct Moment {
  double real, user, sys;  /* seconds */
} Moment;

static double seconds(struct timeval t){
  return t.tv_sec + t.tv_usec*1e-6;
}

static Moment now(void){
  struct timeval wall;
  struct rusage usage;
  Moment m;
  gettimeofday(&wall, 0);
  getrusage(RUSAGE_SELF, &usage);
  m.real = seconds(wall);
  m.user = seconds(usage.ru_utime);
  m.sys = seconds(usage.ru_stime);
  return m;
}

static void print_time(Moment start){
  Moment end = now();
  printf("Run Time: real %.3f user %f sys %f\n", end.real - start.real, end.user - start.user,
         end.sys - start.sys);
}

/* ---- errors ---- */

/* Shows the place of a syntax error: up to 78 bytes of the SQL around it and a pointer below,
** to the left of the words or to the right of them. */
static void print_context(sqlite3 *db, const char *sql){
  int offset = sqlite3_error_offset(db);
  int i, n;
  if( offset<0 ) return;
  while( offset>50 ){
    do{ sql++; offset--; }while( (*sql & 0xc0)==0x80 );
  }
  n = (int)strlen(sql);
  if( n>78 ){
    n = 78;
    while( (sql[n] & 0xc0)==0x80 ) n--;
  }
  fputs("  ", stderr);
  for(i=0; i<n; i++) fputc(strchr("\t\n\v\f\r", sql[i]) ? ' ' : sql[i], stderr);
  if( offset<25 ){
    fprintf(stderr, "\n  %*s^--- error here\n", offset, "");
  }else{
    fprintf(stderr, "\n  %*serror here ---^\n", offset - 14, "");
  }
}

/* line: where the SQL starts in standard input, or 0 for an argument. */
static void print_error(Session *s, int rc, int line, const char *sql, int prepared){
  s->errors++;
  fflush(stdout);
  if( line ){
    fprintf(stderr, "%s near line %d: ", prepared ? "Runtime error" : "Parse error", line);
  }else{
    fprintf(stderr, "Error: %s, ", prepared ? "stepping" : "in prepare");
  }
  fputs(sqlite3_errmsg(s->db), stderr);
  if( rc>1 ) fprintf(stderr, " (%d)", rc);
  fputc('\n', stderr);
  print_context(s->db, sql);
}

/* ---- statements ---- */

static void print_row(sqlite3_stmt *stmt){
  int n = sqlite3_column_count(stmt);
  int i;
  for(i=0; i<n; i++){
    const char *text = (const char*)sqlite3_column_text(stmt, i);
    if( i ) putchar('|');
    if( text ) fputs(text, stdout);
  }
  putchar('\n');
}

/* Runs every statement in sql; returns 0, or 1 at the first that fails. */
static int run(Session *s, const char *sql, int line){
  while( *sql ){
    sqlite3_stmt *stmt;
    const char *rest;
    Moment start = now();
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, &rest);
    if( rc!=SQLITE_OK ){
      print_error(s, rc, line, sql, 0);
      return 1;
    }
    if( stmt!=0 ){
      while( (rc = sqlite3_step(stmt))==SQLITE_ROW ) print_row(stmt);
      rc = sqlite3_finalize(stmt);
      if( rc!=SQLITE_OK ){
        print_error(s, rc, line, sql, 1);
        return 1;
      }
      if( s->timer ) print_time(start);
    }
    sql = rest;
  }
  return 0;
}

static int is_blank(const char *text){
  return text[strspn(text, " \t\r\n\v\f")]==0;
}

/* Reads standard input to its end, running each statement when it is complete. */
static void run_input(Session *s){
  char *buffer = 0, *line = 0;
  size_t used = 0, capacity = 0;
  int number = 0, start = 0;
  ssize_t n;
  while( (n = getline(&line, &capacity, stdin))>=0 ){
    number++;
    if( used==0 && is_blank(line) ) continue;
    if( used==0 && line[0]=='.' ){
      fprintf(stderr, "Error near line %d: dot commands belong to the sqlite3 shell\n", number);
      s->errors++;
      continue;
    }
    if( used==0 ) start = number;
    buffer = realloc(buffer, used + n + 1);
    if( buffer==0 ){
      fprintf(stderr, "Error: out of memory\n");
      exit(1);
    }
    memcpy(&buffer[used], line, n + 1);
    used += n;
    if( strchr(line, ';') && sqlite3_complete(buffer) ){
      run(s, buffer, start);
      used = 0;
    }
  }
  if( used && !is_blank(buffer) ) run(s, buffer, start);
  free(buffer);
  free(line);
}

int main(int argc, char **argv){
  Session s = {0, 0, 0};
  int flags = SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE;
  int i, rc;
  for(i=1; i<argc && argv[i][0]=='-'; i++){
    if( strcmp(argv[i], "--timer")==0 ){
      s.timer = 1;
    }else if( strcmp(argv[i], "--readonly")==0 ){
      flags = SQLITE_OPEN_READONLY;
    }else if( strcmp(argv[i], "--version")==0 ){
      printf("%s %s\n", sqlite3_libversion(), sqlite3_sourceid());
      return 0;
    }else if( strcmp(argv[i], "--help")==0 ){
      fputs(USAGE, stdout);
      return 0;
    }else{
      fprintf(stderr, "sqpyte: unknown option: %s\n%s", argv[i], USAGE);
      return 1;
    }
  }
  if( i==argc ){
    fputs(USAGE, stderr);
    return 1;
  }
  rc = sqlite3_open_v2(argv[i], &s.db, flags, 0);
  if( rc!=SQLITE_OK ){
    fprintf(stderr, "Error: unable to open database \"%s\": %s\n", argv[i],
            s.db ? sqlite3_errmsg(s.db) : sqlite3_errstr(rc));
    sqlite3_close(s.db);
    return 1;
  }
  if( ++i==argc ){
    run_input(&s);
  }else{
    while( i<argc && run(&s, argv[i], 0)==0 ) i++;
  }
  sqlite3_close(s.db);
  if( fflush(stdout)!=0 || ferror(stdout) ){
    perror("sqpyte: standard output");
    return 1;
  }
  return s.errors ? 1 : 0;
}
