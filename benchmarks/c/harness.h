/*
** What the harness's C programs share: arguments, clock, repeated runs, JSON output.
**
**   PROGRAM LIBRARY DATABASE WHAT WARMUP-RUNS WARMUP-SECONDS RUNS SECONDS CLOCK [PRAGMA...]
**
** LIBRARY is loaded by path. CLOCK is `wall`, or `cpu` for the time this process had a processor. Each
** PRAGMA, such as `cache_size=-9000`, is given to the connection first. A program prints one JSON
** object like benchmarks/run/worker.py does: configuration, startup_s, first_run_s, samples_s, warmup_runs,
** answers. With RUNS `turns` each line on stdin (`first`, `warmup` or `run`) asks for one run, and is
** answered by a line with its seconds; the JSON follows when stdin ends.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* RTLD_DEFAULT */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api.h"

static sqlite3 *db;
static FILE *out;   /* where the functions below print */

static void fail(const char *what, const char *why) {
  fprintf(stderr, "benchmarks: %s: %s\n", what, why);
  exit(1);
}

static clockid_t timer = CLOCK_MONOTONIC;
static double startup_seconds;

static double now(void) {
  struct timespec t;
  clock_gettime(timer, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- statements --------------------------------------------------------------------------- */

static sqlite3_stmt *prepare_on(sqlite3 *connection, const char *sql) {
  sqlite3_stmt *statement;
  if (prepare_v2(connection, sql, -1, &statement, 0) != OK) fail("prepare", errmsg(connection));
  return statement;
}

static sqlite3_stmt *prepare(const char *sql) { return prepare_on(db, sql); }

/* Free a statement, whose last step returned `code`. */
static void finish(sqlite3_stmt *statement, int code) {
  if (code != DONE) fail("step", errmsg(db));
  if (finalize(statement) != OK) fail("finalize", errmsg(db));
}

/* ---- output ------------------------------------------------------------------------------- */

static void print_string(const unsigned char *text, int size) {
  putc('"', out);
  for (int i = 0; i < size; i++) {
    unsigned char c = text[i];
    if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
    else if (c < 0x20) fprintf(out, "\\u%04x", c);
    else putc(c, out);
  }
  putc('"', out);
}

static void print_real(double value) {
  char digits[40];
  snprintf(digits, sizeof digits, "%.17g", value);
  if (!strcmp(digits, "inf")) fprintf(out, "Infinity");
  else if (!strcmp(digits, "-inf")) fprintf(out, "-Infinity");
  else fprintf(out, strpbrk(digits, ".e") ? "%s" : "%s.0", digits);   /* stays a real in JSON */
}

static void print_value(sqlite3_stmt *statement, int i) {
  switch (column_type(statement, i)) {
    case INTEGER: fprintf(out, "%lld", (long long)column_int64(statement, i)); break;
    case FLOAT: print_real(column_double(statement, i)); break;
    case TEXT: {
      const unsigned char *text = column_text(statement, i);
      print_string(text, column_bytes(statement, i));
      break;
    }
    case BLOB: {
      const unsigned char *data = column_blob(statement, i);
      int size = column_bytes(statement, i);
      fprintf(out, "{\"blob\": \"");
      for (int k = 0; k < size; k++) fprintf(out, "%02x", data[k]);
      fprintf(out, "\"}");
      break;
    }
    default: fprintf(out, "null");
  }
}

static void print_row(sqlite3_stmt *statement, int columns) {
  for (int i = 0; i < columns; i++) {
    fprintf(out, i ? ", " : "[");
    print_value(statement, i);
  }
  fprintf(out, "]");
}

/* Run a statement and print its rows as a JSON list; of one value or of lists of values. */
static void print_rows(const char *sql, int flat) {
  sqlite3_stmt *statement = prepare(sql);
  int columns = column_count(statement), code;
  const char *separator = "";
  fprintf(out, "[");
  while ((code = step(statement)) == ROW) {
    fprintf(out, "%s", separator);
    if (flat) print_value(statement, 0); else print_row(statement, columns);
    separator = ", ";
  }
  fprintf(out, "]");
  finish(statement, code);
}

static void print_pragma(const char *name, const char *separator) {
  char sql[100];
  snprintf(sql, sizeof sql, "PRAGMA %s", name);
  sqlite3_stmt *statement = prepare(sql);
  int code = step(statement);
  fprintf(out, "%s\"%s\": ", separator, name);
  if (code == ROW) {
    print_value(statement, 0);
    code = step(statement);
  } else {
    fprintf(out, "0");
  }
  finish(statement, code);
}

static void print_configuration(const char *library) {
  static const char *const pragmas[] = {"journal_mode", "synchronous", "page_size", "cache_size",
                                        "mmap_size", "temp_store", "locking_mode", "foreign_keys"};
  fprintf(out, "\"configuration\": {\"sqlite_version\": \"%s\", \"sqlite_source_id\": \"%s\", "
          "\"compiler\": \"%s\", \"libraries\": [", libversion(), sourceid(), __VERSION__);
  print_string((const unsigned char *)library, strlen(library));
  fprintf(out, "], \"compile_options\": ");
  print_rows("PRAGMA compile_options", 1);
  fprintf(out, ", \"pragmas\": ");
  for (unsigned i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
    print_pragma(pragmas[i], i ? ", " : "{");
  }
  fprintf(out, "}}");
}

/* Print the rest of the JSON object, and close the database. Returns main's result. */
static int end(const char *library) {
  print_configuration(library);
  fprintf(out, "}\n");
  if (close(db) != OK) fail("close", errmsg(db));
  return 0;
}

/* ---- runs --------------------------------------------------------------------------------- */

/* Load the library and open the database as the arguments say. */
static void start_up(int argc, char **argv) {
  out = stdout;
  if (argc < 9) fail("usage", "LIBRARY DATABASE WHAT WARMUP-RUNS WARMUP-SECONDS "
                               "RUNS SECONDS CLOCK [PRAGMA...]");
  if (!strcmp(argv[8], "cpu")) timer = CLOCK_PROCESS_CPUTIME_ID;
  double start = now();
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("cannot load the library", dlerror());
  const char *missing = find_api(library);
  if (missing) fail("the library lacks a function", missing);
  if (open_v2(argv[2], &db, 2 /* SQLITE_OPEN_READWRITE */, 0) != OK) fail("open", argv[2]);
  for (int i = 9; i < argc; i++) {
    char pragma[100];
    snprintf(pragma, sizeof pragma, "PRAGMA %s", argv[i]);
    if (exec(db, pragma, 0, 0, 0) != OK) fail(pragma, errmsg(db));
  }
  startup_seconds = now() - start;
}

/* Tell sampler.c, if it is there, that the first or the warm runs begin or end. */
static void phase(const char *name, int begins) {
  static void (*sampler)(const char *, int);
  if (!sampler) *(void **)&sampler = dlsym(RTLD_DEFAULT, "sqpyte_phase");
  if (sampler) sampler(name, begins);
}

/* Call `run` when stdin asks for it. */
static void take_turns(double (*run)(const char *), const char *what) {
  char line[20], *samples;
  size_t size;
  int warmups = 0, measured = 0;
  double first = 0;
  FILE *list = open_memstream(&samples, &size);
  if (!list) fail("out of memory", "open_memstream");
  while (fgets(line, sizeof line, stdin)) {
    double seconds = run(what);
    if (line[0] == 'f') first = seconds;
    else if (line[0] == 'w') warmups++;
    else fprintf(list, "%s%.9f", measured++ ? ", " : "", seconds);
    printf("%.9f\n", seconds);
    fflush(stdout);
  }
  fclose(list);
  fprintf(out, "{\"startup_s\": %.9f, \"first_run_s\": %.9f, \"warmup_runs\": %d, \"samples_s\": [%s], ",
          startup_seconds, first, warmups, samples);
  free(samples);
}

/* Call `run` as often and as long as the arguments say; it returns the seconds that it took. */
static void repeat(double (*run)(const char *), char **argv) {
  if (!strcmp(argv[6], "turns")) {
    take_turns(run, argv[3]);
    return;
  }
  int warmup_runs = atoi(argv[4]), runs = atoi(argv[6]), done = 0;
  double warmup_seconds = atof(argv[5]), seconds = atof(argv[7]);
  phase("first", 1);
  double first = run(argv[3]);
  phase("first", 0);
  fprintf(out, "{\"startup_s\": %.9f, \"first_run_s\": %.9f", startup_seconds, first);
  double start = now();
  for (; done < warmup_runs || now() - start < warmup_seconds; done++) run(argv[3]);
  fprintf(out, ", \"warmup_runs\": %d, \"samples_s\": [", done);
  phase("warm", 1);
  start = now();
  for (done = 0; done < runs || now() - start < seconds; done++) {
    fprintf(out, "%s%.9f", done ? ", " : "", run(argv[3]));
  }
  phase("warm", 0);
  fprintf(out, "], ");
}
