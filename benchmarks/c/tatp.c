/*
** TATP's transactions, as a C programmer writes them: statements are prepared once and stay open.
**
**   tatp (arguments of harness.h) ORIGINAL
**
** WHAT is a transaction's name, or `mix` for the standard mixture; without one, the configuration alone is
** printed. A run is a list of transactions, which is drawn once, from a seed: all runs of all processes do
** the same. DATABASE is written to. It is a copy of ORIGINAL: after each run that writes, a second
** connection puts back what the run has changed, and empties the WAL, so that every run finds the same.
** Neither that nor drawing is timed.
**
** An answer says how many rows a run read and their checksum, how many it changed, and how many inserts
** were refused.
*/
#include "harness.h"
#include "answers.h"
#include "checksum.h"

enum { LENGTH = 10000 /* transactions in a run */, SEED = 2009, CONSTRAINT = 19 };

/* ---- statements --------------------------------------------------------------------------- */

#define STATEMENTS(X) \
  X(BEGIN, "BEGIN") \
  X(COMMIT, "COMMIT") \
  X(ROLLBACK, "ROLLBACK") \
  X(SUBSCRIBER, "SELECT * FROM subscriber WHERE s_id = ?") \
  X(DESTINATION, "SELECT cf.numberx FROM special_facility AS sf, call_forwarding AS cf " \
                 "WHERE sf.s_id = ? AND sf.sf_type = ? AND sf.is_active = 1 " \
                 "AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type " \
                 "AND cf.start_time <= ? AND ? < cf.end_time") \
  X(ACCESS, "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ? AND ai_type = ?") \
  X(SET_BIT, "UPDATE subscriber SET bit_1 = ? WHERE s_id = ?") \
  X(SET_DATA, "UPDATE special_facility SET data_a = ? WHERE s_id = ? AND sf_type = ?") \
  X(SET_LOCATION, "UPDATE subscriber SET vlr_location = ? WHERE sub_nbr = ?") \
  X(FIND, "SELECT s_id FROM subscriber WHERE sub_nbr = ?") \
  X(FACILITIES, "SELECT sf_type FROM special_facility WHERE s_id = ?") \
  X(INSERT, "INSERT INTO call_forwarding VALUES(?, ?, ?, ?, ?)") \
  X(DELETE, "DELETE FROM call_forwarding WHERE s_id = ? AND sf_type = ? AND start_time = ?")

#define NAME(name, sql) name,
#define SQL(name, sql) sql,
typedef enum { STATEMENTS(NAME) COUNT } Statement;
static const char *const texts[] = {STATEMENTS(SQL)};
static sqlite3_stmt *statements[COUNT];

/* What a run has done. */
static struct { uint64_t checksum; long long rows, changes, refused; } done;

/* Step a statement to its end, reading every column, and reset it. Returns the first column of its last
** row if that is an integer, or else 0. */
static int64_t read_rows(Statement which) {
  sqlite3_stmt *statement = statements[which];
  int columns = column_count(statement), code;
  int64_t first = 0;
  while ((code = step(statement)) == ROW) {
    done.rows++;
    for (int i = 0; i < columns; i++) done.checksum = read_value(statement, i, done.checksum);
    if (column_type(statement, 0) == INTEGER) first = column_int64(statement, 0);
  }
  if (code != DONE) fail(texts[which], errmsg(db));
  reset(statement);
  return first;
}

/* Execute a statement that has no rows, and reset it. Returns whether no constraint has refused it. */
static int execute(Statement which) {
  int code = step(statements[which]);
  if (code != DONE && code != CONSTRAINT) fail(texts[which], errmsg(db));
  reset(statements[which]);
  return code == DONE;
}

/* Execute a statement that changes rows. */
static int change(Statement which) {
  int fits = execute(which);
  if (fits) done.changes += changes(db);
  else done.refused++;
  return fits;
}

static void bind_integers(Statement which, int count, const int64_t *values) {
  for (int i = 0; i < count; i++) bind_int64(statements[which], i + 1, values[i]);
}
#define BIND(which, ...) \
  bind_integers(which, sizeof (int64_t[]){__VA_ARGS__} / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

/* Bind a number of 15 digits, which has to stay where it is until the statement is reset. */
static void bind_number(Statement which, int i, const char *number) {
  bind_text(statements[which], i, number, 15, 0 /* SQLITE_STATIC */);
}

/* ---- transactions ------------------------------------------------------------------------- */

typedef struct {
  int kind;
  int64_t subscriber, location;
  int type, start, end, bit, data;
  char number[21], destination[21];     /* 15 digits */
} Transaction;

static void get_subscriber_data(const Transaction *t) {
  BIND(SUBSCRIBER, t->subscriber);
  read_rows(SUBSCRIBER);
}

static void get_new_destination(const Transaction *t) {
  BIND(DESTINATION, t->subscriber, t->type, t->start, t->end);
  read_rows(DESTINATION);
}

static void get_access_data(const Transaction *t) {
  BIND(ACCESS, t->subscriber, t->type);
  read_rows(ACCESS);
}

static void update_subscriber_data(const Transaction *t) {
  execute(BEGIN);
  BIND(SET_BIT, t->bit, t->subscriber);
  change(SET_BIT);
  BIND(SET_DATA, t->data, t->subscriber, t->type);
  change(SET_DATA);
  execute(COMMIT);
}

static void update_location(const Transaction *t) {
  BIND(SET_LOCATION, t->location);
  bind_number(SET_LOCATION, 2, t->number);
  change(SET_LOCATION);
}

static void insert_call_forwarding(const Transaction *t) {
  execute(BEGIN);
  bind_number(FIND, 1, t->number);
  int64_t subscriber = read_rows(FIND);
  BIND(FACILITIES, subscriber);
  read_rows(FACILITIES);
  BIND(INSERT, subscriber, t->type, t->start, t->end);
  bind_number(INSERT, 5, t->destination);
  execute(change(INSERT) ? COMMIT : ROLLBACK);
}

static void delete_call_forwarding(const Transaction *t) {
  execute(BEGIN);
  bind_number(FIND, 1, t->number);
  BIND(DELETE, read_rows(FIND), t->type, t->start);
  change(DELETE);
  execute(COMMIT);
}

static const struct {
  const char *name;
  void (*run)(const Transaction *);
  int share;    /* of the mixture, percent */
  int writes;
} kinds[] = {
  {"get_subscriber_data", get_subscriber_data, 35, 0},
  {"get_new_destination", get_new_destination, 10, 0},
  {"get_access_data", get_access_data, 35, 0},
  {"update_subscriber_data", update_subscriber_data, 2, 1},
  {"update_location", update_location, 14, 1},
  {"insert_call_forwarding", insert_call_forwarding, 2, 1},
  {"delete_call_forwarding", delete_call_forwarding, 2, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the list of a run -------------------------------------------------------------------- */

static Transaction list[LENGTH];
static int writes;      /* whether one of them does */

/* Return a random integer from 0 to n - 1 (splitmix64). */
static int64_t below(int64_t n) {
  static uint64_t state = SEED;
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) % n;
}

/* Return a subscriber of n, some more often than others, as TATP's specification draws them. */
static int64_t uneven(int64_t n) {
  int64_t a = n <= 1000000 ? 65535 : n <= 10000000 ? 1048575 : 2097151;
  return (below(a + 1) | (1 + below(n))) % n + 1;
}

/* Return the index of the kind with this name; of `mix`, of one drawn by its share. */
static int drawn(const char *name) {
  int kind = 0;
  if (!strcmp(name, "mix")) {
    for (int percent = below(100); percent >= kinds[kind].share; kind++) percent -= kinds[kind].share;
    return kind;
  }
  while (strcmp(kinds[kind].name, name)) {
    if (++kind == KINDS) fail("no such transaction", name);
  }
  return kind;
}

static void draw(const char *name) {
  sqlite3_stmt *statement = prepare("SELECT max(s_id) FROM subscriber");
  if (step(statement) != ROW) fail("step", errmsg(db));
  int64_t subscribers = column_int64(statement, 0);
  finish(statement, step(statement));
  for (Transaction *t = list; t < list + LENGTH; t++) {
    t->kind = drawn(name);
    t->subscriber = uneven(subscribers);
    t->location = 1 + below(0xFFFFFFFF);
    t->type = 1 + below(4);
    t->start = 8 * below(3);
    t->end = 1 + below(24);
    t->bit = below(2);
    t->data = below(256);
    snprintf(t->number, sizeof t->number, "%015lld", (long long)t->subscriber);
    snprintf(t->destination, sizeof t->destination, "%015lld", (long long)below(1000000000000000));
    writes |= kinds[t->kind].writes;
  }
}

/* ---- putting back ------------------------------------------------------------------------- */

static sqlite3 *keeper;     /* the second connection to DATABASE */

static void on_keeper(const char *sql) {
  if (exec(keeper, sql, 0, 0, 0) != OK) fail(sql, errmsg(keeper));
}

/* Note which subscribers the list's transactions write to. */
static void open_keeper(const char *path, const char *original) {
  if (open_v2(path, &keeper, 2 /* SQLITE_OPEN_READWRITE */, 0) != OK) fail("open", path);
  sqlite3_stmt *statement = prepare_on(keeper, "ATTACH ? AS original");
  bind_text(statement, 1, original, -1, 0);
  finish(statement, step(statement));
  on_keeper("CREATE TEMP TABLE touched(s_id INTEGER PRIMARY KEY); BEGIN");
  statement = prepare_on(keeper, "INSERT OR IGNORE INTO touched VALUES(?)");
  for (const Transaction *t = list; t < list + LENGTH; t++) {
    if (!kinds[t->kind].writes) continue;
    bind_int64(statement, 1, t->subscriber);
    if (step(statement) != DONE) fail("touched", errmsg(keeper));
    reset(statement);
  }
  finish(statement, DONE);
  on_keeper("COMMIT");
}

/* The rows get the rowids that they had: they are where they were. */
static void put_back(void) {
  on_keeper(
      "BEGIN;"
      "UPDATE main.subscriber AS s SET bit_1 = o.bit_1, vlr_location = o.vlr_location "
      "FROM original.subscriber AS o WHERE o.s_id = s.s_id AND s.s_id IN touched;"
      "UPDATE main.special_facility AS s SET data_a = o.data_a "
      "FROM original.special_facility AS o "
      "WHERE o.s_id = s.s_id AND o.sf_type = s.sf_type AND s.s_id IN touched;"
      "DELETE FROM main.call_forwarding WHERE s_id IN touched;"
      "INSERT INTO main.call_forwarding(rowid, s_id, sf_type, start_time, end_time, numberx) "
      "SELECT rowid, * FROM original.call_forwarding WHERE s_id IN touched;"
      "COMMIT;"
      "PRAGMA main.wal_checkpoint(TRUNCATE)");
}

/* ---- runs --------------------------------------------------------------------------------- */

static double checked_run(const char *name) {
  char *answer = malloc(150);
  if (!answer) fail("out of memory", "malloc");
  (void)name;
  memset(&done, 0, sizeof done);
  double start = now();
  for (const Transaction *t = list; t < list + LENGTH; t++) kinds[t->kind].run(t);
  double seconds = now() - start;
  if (writes) put_back();
  snprintf(answer, 150,
           "{\"rows\": %lld, \"checksum\": \"%016llx\", \"changes\": %lld, \"refused\": %lld}",
           done.rows, (unsigned long long)done.checksum, done.changes, done.refused);
  note_answer(answer);
  return seconds;
}

int main(int argc, char **argv) {
  start_up(argc - 1, argv);
  if (*argv[3]) {
    draw(argv[3]);
    for (int i = 0; i < COUNT; i++) statements[i] = prepare(texts[i]);
    if (writes) open_keeper(argv[2], argv[argc - 1]);
    repeat(checked_run, argv);
    print_answers();
    for (int i = 0; i < COUNT; i++) finalize(statements[i]);
    if (writes && close(keeper) != OK) fail("close", errmsg(keeper));
  } else {
    fprintf(out, "{");
  }
  return end(argv[1]);
}
