/*
** Runs one query through the sqlite3 C API of a library that is loaded by path, so that two engines
** differ in nothing but the library:
**
**   driver LIBRARY DATABASE SQL WARMUP-RUNS WARMUP-SECONDS RUNS SECONDS CLOCK [CACHE-SIZE]
**
** CLOCK is `wall`, or `cpu` for the time this process had a processor.
** One run prepares the statement, steps it to the end, reads every column of every row, and
** finalizes it; that is what is timed. Prints one JSON object like benchmarks/worker.py does:
** configuration, startup_s, first_run_s, samples_s, warmup_runs, answers. An answer is the list of
** rows; it is taken in an extra run that isn't timed, and holds for the others if their checksums
** (`checksums`: the distinct ones of all runs) are equal.
*/
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
enum { OK = 0, ROW = 100, DONE = 101, INTEGER = 1, FLOAT = 2, TEXT = 3, BLOB = 4 };

/* The functions of the sqlite3 C API that a run uses. */
#define API(X) \
  X(int, open_v2, (const char *, sqlite3 **, int, const char *)) \
  X(int, close, (sqlite3 *)) \
  X(int, exec, (sqlite3 *, const char *, void *, void *, char **)) \
  X(int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **)) \
  X(int, step, (sqlite3_stmt *)) \
  X(int, finalize, (sqlite3_stmt *)) \
  X(int, column_count, (sqlite3_stmt *)) \
  X(int, column_type, (sqlite3_stmt *, int)) \
  X(int64_t, column_int64, (sqlite3_stmt *, int)) \
  X(double, column_double, (sqlite3_stmt *, int)) \
  X(const unsigned char *, column_text, (sqlite3_stmt *, int)) \
  X(const void *, column_blob, (sqlite3_stmt *, int)) \
  X(int, column_bytes, (sqlite3_stmt *, int)) \
  X(const char *, errmsg, (sqlite3 *)) \
  X(const char *, libversion, (void)) \
  X(const char *, sourceid, (void))

#define DECLARE(result, name, arguments) static result (*name) arguments;
API(DECLARE)

static sqlite3 *db;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "driver: %s: %s\n", what, why);
  exit(1);
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("cannot load the library", dlerror());
#define FIND(result, name, arguments) \
  *(void **)&name = dlsym(library, "sqlite3_" #name); \
  if (!name) fail("the library lacks a function", "sqlite3_" #name);
  API(FIND)
}

static clockid_t timer = CLOCK_MONOTONIC;

static double now(void) {
  struct timespec t;
  clock_gettime(timer, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- output ------------------------------------------------------------------------------- */

static void print_string(const unsigned char *text, int size) {
  putchar('"');
  for (int i = 0; i < size; i++) {
    unsigned char c = text[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c < 0x20) printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}

static void print_real(double value) {
  char digits[40];
  snprintf(digits, sizeof digits, "%.17g", value);
  if (!strcmp(digits, "inf")) printf("Infinity");
  else if (!strcmp(digits, "-inf")) printf("-Infinity");
  else printf(strpbrk(digits, ".e") ? "%s" : "%s.0", digits);   /* stays a real in JSON */
}

static void print_value(sqlite3_stmt *statement, int i) {
  switch (column_type(statement, i)) {
    case INTEGER: printf("%lld", (long long)column_int64(statement, i)); break;
    case FLOAT: print_real(column_double(statement, i)); break;
    case TEXT: {
      const unsigned char *text = column_text(statement, i);
      print_string(text, column_bytes(statement, i));
      break;
    }
    case BLOB: {
      const unsigned char *data = column_blob(statement, i);
      int size = column_bytes(statement, i);
      printf("{\"blob\": \"");
      for (int k = 0; k < size; k++) printf("%02x", data[k]);
      printf("\"}");
      break;
    }
    default: printf("null");
  }
}

static void print_row(sqlite3_stmt *statement, int columns) {
  for (int i = 0; i < columns; i++) {
    printf(i ? ", " : "[");
    print_value(statement, i);
  }
  printf("]");
}

/* ---- one run ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9E3779B97F4A7C15u;
  return sum ^ (sum >> 29);
}

/* Read one value as a user would, into a checksum that depends on type, value and order. */
static uint64_t read_value(sqlite3_stmt *statement, int i, uint64_t sum) {
  int type = column_type(statement, i);
  sum = mix(sum, type);
  if (type == INTEGER) return mix(sum, column_int64(statement, i));
  if (type == FLOAT) {
    double value = column_double(statement, i);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(sum, bits);
  }
  if (type == TEXT || type == BLOB) {
    const unsigned char *data =
        type == TEXT ? column_text(statement, i) : column_blob(statement, i);
    int size = column_bytes(statement, i);
    uint64_t word;
    for (; size >= 8; size -= 8, data += 8) {
      memcpy(&word, data, 8);
      sum = mix(sum, word);
    }
    word = size;
    for (int k = 0; k < size; k++) word = word << 8 | data[k];
    sum = mix(sum, word);
  }
  return sum;
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (prepare_v2(db, sql, -1, &statement, 0) != OK) fail("prepare", errmsg(db));
  return statement;
}

static void finish(sqlite3_stmt *statement, int code) {
  if (code != DONE) fail("step", errmsg(db));
  if (finalize(statement) != OK) fail("finalize", errmsg(db));
}

/* Run the query once; return its time in seconds and set the answer's checksum. */
static double run(const char *sql, uint64_t *checksum) {
  double start = now();
  sqlite3_stmt *statement = prepare(sql);
  int columns = column_count(statement), code;
  uint64_t sum = 1;
  while ((code = step(statement)) == ROW) {
    for (int i = 0; i < columns; i++) sum = read_value(statement, i, sum);
  }
  finish(statement, code);
  *checksum = sum;
  return now() - start;
}

/* Run a statement and print its rows as a JSON list; of one value or of lists of values. */
static void print_rows(const char *sql, int flat) {
  sqlite3_stmt *statement = prepare(sql);
  int columns = column_count(statement), code;
  const char *separator = "";
  printf("[");
  while ((code = step(statement)) == ROW) {
    printf("%s", separator);
    if (flat) print_value(statement, 0); else print_row(statement, columns);
    separator = ", ";
  }
  printf("]");
  finish(statement, code);
}

/* ---- distinct checksums of all runs, at most 8 kept ---------------------------------------- */

static uint64_t checksums[8];
static int checksum_count;

static double checked_run(const char *sql) {
  uint64_t sum;
  double seconds = run(sql, &sum);
  for (int i = 0; i < checksum_count; i++) {
    if (checksums[i] == sum) return seconds;
  }
  if (checksum_count < 8) checksums[checksum_count++] = sum;
  return seconds;
}

/* ---- configuration ------------------------------------------------------------------------ */

static void print_pragma(const char *name, const char *separator) {
  char sql[100];
  snprintf(sql, sizeof sql, "PRAGMA %s", name);
  sqlite3_stmt *statement = prepare(sql);
  int code = step(statement);
  printf("%s\"%s\": ", separator, name);
  if (code == ROW) {
    print_value(statement, 0);
    code = step(statement);
  } else {
    printf("0");
  }
  finish(statement, code);
}

static void print_configuration(const char *library) {
  static const char *const pragmas[] = {"journal_mode", "synchronous", "page_size", "cache_size",
                                        "mmap_size", "temp_store", "locking_mode"};
  printf("\"configuration\": {\"sqlite_version\": \"%s\", \"sqlite_source_id\": \"%s\", "
         "\"driver_compiler\": \"%s\", \"libraries\": [", libversion(), sourceid(), __VERSION__);
  print_string((const unsigned char *)library, strlen(library));
  printf("], \"compile_options\": ");
  print_rows("PRAGMA compile_options", 1);
  printf(", \"pragmas\": ");
  for (unsigned i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
    print_pragma(pragmas[i], i ? ", " : "{");
  }
  printf("}}");
}

int main(int argc, char **argv) {
  if (argc != 9 && argc != 10) fail("usage", "LIBRARY DATABASE SQL WARMUP-RUNS WARMUP-SECONDS "
                                    "RUNS SECONDS CLOCK [CACHE-SIZE]");
  if (!strcmp(argv[8], "cpu")) timer = CLOCK_PROCESS_CPUTIME_ID;
  const char *sql = argv[3];
  int warmup_runs = atoi(argv[4]), runs = atoi(argv[6]);
  double warmup_seconds = atof(argv[5]), seconds = atof(argv[7]);
  double start = now();
  load(argv[1]);
  if (open_v2(argv[2], &db, 2 /* SQLITE_OPEN_READWRITE */, 0) != OK) fail("open", argv[2]);
  if (argc == 10) {
    char pragma[60];
    snprintf(pragma, sizeof pragma, "PRAGMA cache_size = %d", atoi(argv[9]));
    if (exec(db, pragma, 0, 0, 0) != OK) fail(pragma, errmsg(db));
  }
  printf("{\"startup_s\": %.9f", now() - start);
  printf(", \"first_run_s\": %.9f", checked_run(sql));

  int done = 0;
  for (start = now(); done < warmup_runs || now() - start < warmup_seconds; done++) checked_run(sql);
  printf(", \"warmup_runs\": %d, \"samples_s\": [", done);
  start = now();
  for (done = 0; done < runs || now() - start < seconds; done++) {
    printf("%s%.9f", done ? ", " : "", checked_run(sql));
  }
  printf("], \"answers\": [");
  print_rows(sql, 0);
  printf("], \"checksums\": [");
  checked_run(sql);
  for (int i = 0; i < checksum_count; i++) {
    printf("%s\"%016llx\"", i ? ", " : "", (unsigned long long)checksums[i]);
  }
  printf("], ");
  print_configuration(argv[1]);
  printf("}\n");
  if (close(db) != OK) fail("close", errmsg(db));
  return 0;
}
