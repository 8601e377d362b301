/*
** The micro-benchmarks of micro.py, as a C programmer writes them: statements are prepared once and
** reset, values are read with the type they have. WHAT (see harness.h) is a benchmark's name.
**
** `answers` are the distinct ones of all runs, as JSON: a number, a list of numbers, an object for a
** dictionary, or a list of lists for rows. Making that text isn't timed.
*/
#include "harness.h"
#include "answers.h"

/* ---- answers ------------------------------------------------------------------------------ */

static void *grown(void *memory, size_t bytes) {
  memory = realloc(memory, bytes);
  if (!memory) fail("out of memory", "realloc");
  return memory;
}

static char *copy_of(const unsigned char *text, int size) {
  char *copy = grown(0, size + 1);
  memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

static void print_text(const char *text) {
  print_string((const unsigned char *)text, strlen(text));
}

/* A dictionary of texts that keeps the order of insertion, as Python's does. */
typedef struct { uint64_t hash; char *key, *value; } Pair;
static struct { Pair *pairs; size_t count, room; uint32_t *slots; size_t size; } dict;

static void dict_clear(void) {
  for (size_t i = 0; i < dict.count; i++) {
    free(dict.pairs[i].key);
    free(dict.pairs[i].value);
  }
  free(dict.pairs);
  free(dict.slots);
  memset(&dict, 0, sizeof dict);
}

static void dict_grow(void) {
  dict.size = dict.size ? 4 * dict.size : 64;
  dict.slots = grown(dict.slots, dict.size * sizeof *dict.slots);
  memset(dict.slots, 0, dict.size * sizeof *dict.slots);
  for (size_t i = 0; i < dict.count; i++) {
    size_t slot = dict.pairs[i].hash & (dict.size - 1);
    while (dict.slots[slot]) slot = (slot + 1) & (dict.size - 1);
    dict.slots[slot] = i + 1;
  }
}

static void dict_set(const unsigned char *key, int key_size, char *value) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < key_size; i++) hash = (hash ^ key[i]) * 0x100000001B3u;
  hash ^= hash >> 32;
  if (3 * dict.count >= 2 * dict.size) dict_grow();
  size_t slot = hash & (dict.size - 1);
  for (; dict.slots[slot]; slot = (slot + 1) & (dict.size - 1)) {
    Pair *pair = &dict.pairs[dict.slots[slot] - 1];
    if (pair->hash == hash && !strcmp(pair->key, (const char *)key)) {
      free(pair->value);
      pair->value = value;
      return;
    }
  }
  if (dict.count == dict.room) {
    dict.room = dict.room ? 2 * dict.room : 64;
    dict.pairs = grown(dict.pairs, dict.room * sizeof *dict.pairs);
  }
  dict.pairs[dict.count] = (Pair){hash, copy_of(key, key_size), value};
  dict.slots[slot] = ++dict.count;
}

static void print_dict(void) {
  for (size_t i = 0; i < dict.count; i++) {
    fprintf(out, i ? ", " : "{");
    print_text(dict.pairs[i].key);
    fprintf(out, ": ");
    print_text(dict.pairs[i].value);
  }
  fprintf(out, dict.count ? "}" : "{}");
  dict_clear();
}

/* Rows of texts. */
static struct { char **texts; size_t count, room; int columns; } rows;

static void print_table(void) {
  fprintf(out, "[");
  for (size_t i = 0; i < rows.count; i++) {
    int column = i % rows.columns;
    fprintf(out, column ? ", " : i ? ", [" : "[");
    print_text(rows.texts[i]);
    if (column == rows.columns - 1) fprintf(out, "]");
    free(rows.texts[i]);
  }
  fprintf(out, "]");
  free(rows.texts);
  memset(&rows, 0, sizeof rows);
}

static int64_t integer, integer2;
static double real, real2;

static void print_integer(void) { fprintf(out, "%lld", (long long)integer); }
static void print_the_real(void) { print_real(real); }

/* ---- the paper's six ---------------------------------------------------------------------- */

static void run_select(void) {
  sqlite3_stmt *s = prepare("SELECT quantity, extendedprice, discount FROM lineitem");
  int64_t quantity = 0;
  double base_price = 0, disc_price = 0;
  int code;
  while ((code = step(s)) == ROW) {
    double price = column_double(s, 1);
    quantity += column_int64(s, 0);
    base_price += price;
    disc_price += price * (1 - column_double(s, 2));
  }
  finish(s, code);
  integer = quantity;
  real = base_price;
  real2 = disc_price;
}

static void print_select(void) {
  fprintf(out, "[%lld, ", (long long)integer);
  print_real(real);
  fprintf(out, ", ");
  print_real(real2);
  fprintf(out, "]");
}

/* Set dict[key's column 0] to value's column `column`. */
static void remember(sqlite3_stmt *key, sqlite3_stmt *value, int column) {
  const unsigned char *text = column_text(value, column);
  char *copy = copy_of(text, column_bytes(value, column));
  text = column_text(key, 0);
  dict_set(text, column_bytes(key, 0), copy);
}

static void run_innerjoin(void) {
  sqlite3_stmt *s = prepare(
      "SELECT part.name, supplier.name FROM partsupp, part, supplier "
      "WHERE partsupp.partkey = part.partkey AND partsupp.suppkey = supplier.suppkey");
  int code;
  while ((code = step(s)) == ROW) remember(s, s, 1);
  finish(s, code);
}

static void run_pythonjoin(void) {
  sqlite3_stmt *keys = prepare("SELECT partkey, suppkey FROM partsupp");
  sqlite3_stmt *part = prepare("SELECT part.name FROM part WHERE part.partkey = ?");
  sqlite3_stmt *supplier =
      prepare("SELECT supplier.name FROM supplier WHERE supplier.suppkey = ?");
  int code;
  while ((code = step(keys)) == ROW) {
    bind_int64(part, 1, column_int64(keys, 0));
    if (step(part) != ROW) fail("no such part", errmsg(db));
    bind_int64(supplier, 1, column_int64(keys, 1));
    if (step(supplier) != ROW) fail("no such supplier", errmsg(db));
    remember(part, supplier, 0);
    reset(part);
    reset(supplier);
  }
  finish(keys, code);
  finish(part, DONE);
  finish(supplier, DONE);
}

static void absolute(sqlite3_context *context, int count, sqlite3_value **values) {
  double value = value_double(values[0]);
  (void)count;
  result_double(context, value < 0 ? -value : value);
}

static void sum_reals(const char *sql) {
  sqlite3_stmt *s = prepare(sql);
  double total = 0;
  int code;
  while ((code = step(s)) == ROW) total += column_double(s, 0);
  finish(s, code);
  real = total;
}

static void run_pyfunction(void) { sum_reals("SELECT py_abs(extendedprice) FROM lineitem"); }

static void sum_step(sqlite3_context *context, int count, sqlite3_value **values) {
  int64_t *sum = aggregate_context(context, sizeof *sum);
  (void)count;
  if (sum) *sum += value_int64(values[0]);
}

static void sum_inverse(sqlite3_context *context, int count, sqlite3_value **values) {
  int64_t *sum = aggregate_context(context, sizeof *sum);
  (void)count;
  if (sum) *sum -= value_int64(values[0]);
}

static void sum_value(sqlite3_context *context) {
  int64_t *sum = aggregate_context(context, sizeof *sum);
  if (sum) result_int64(context, *sum);
}

static void one_integer(const char *sql) {
  sqlite3_stmt *s = prepare(sql);
  if (step(s) != ROW) fail("step", errmsg(db));
  integer = column_int64(s, 0);
  finish(s, step(s));
}

static void run_pyaggregate(void) { one_integer("SELECT py_sum(quantity) FROM lineitem"); }

static sqlite3 *in_memory(const char *sql) {
  sqlite3 *own;
  if (open_v2(":memory:", &own, 6 /* READWRITE, CREATE */, 0) != OK) fail("open", ":memory:");
  if (exec(own, sql, 0, 0, 0) != OK) fail(sql, errmsg(own));
  return own;
}

static void run_filltable(void) {
  sqlite3 *own = in_memory("CREATE TABLE filled(a INTEGER, b INTEGER); BEGIN");
  sqlite3_stmt *s = prepare_on(own, "INSERT INTO filled VALUES(?, ?)");
  int64_t total = 0;
  for (int number = 0; number < 100000; number++) {
    bind_int64(s, 1, number);
    bind_int64(s, 2, number + 1);
    if (step(s) != DONE) fail("insert", errmsg(own));
    reset(s);
  }
  finalize(s);
  s = prepare_on(own, "SELECT a, b FROM filled");
  int code;
  while ((code = step(s)) == ROW) total += column_int64(s, 0) + column_int64(s, 1);
  finish(s, code);
  if (close(own) != OK) fail("close", errmsg(own));
  integer = total;
}

/* ---- more functions, more idioms ----------------------------------------------------------- */

static void run_cfunction(void) { sum_reals("SELECT c_abs(extendedprice) FROM lineitem"); }
static void run_builtin(void) { sum_reals("SELECT abs(extendedprice) FROM lineitem"); }

static void run_executemany(void) {
  sqlite3 *own = in_memory("CREATE TABLE wide(a INTEGER, b REAL, c TEXT, d INTEGER, e TEXT); BEGIN");
  sqlite3_stmt *s = prepare_on(own, "INSERT INTO wide VALUES(?, ?, ?, ?, ?)");
  for (int number = 0; number < 100000; number++) {
    char name[20];
    int size = snprintf(name, sizeof name, "name %d", number);
    bind_int64(s, 1, number);
    bind_double(s, 2, number / 7.0);
    bind_text(s, 3, name, size, 0 /* static: until the next one is bound */);
    bind_int64(s, 4, number % 97);
    if (number % 3) bind_null(s, 5); else bind_text(s, 5, "third", 5, 0);
    if (step(s) != DONE) fail("insert", errmsg(own));
    reset(s);
  }
  finalize(s);
  s = prepare_on(own, "SELECT sum(a + d), sum(length(c)) + count(e), sum(b) FROM wide");
  if (step(s) != ROW) fail("step", errmsg(own));
  integer = column_int64(s, 0);
  integer2 = column_int64(s, 1);
  real = column_double(s, 2);
  finish(s, step(s));
  if (close(own) != OK) fail("close", errmsg(own));
}

static void print_executemany(void) {
  fprintf(out, "[%lld, %lld, ", (long long)integer, (long long)integer2);
  print_real(real);
  fprintf(out, "]");
}

static void run_fetchall(void) {
  sqlite3_stmt *s = prepare("SELECT name, address, phone, mktsegment, comment FROM customer");
  int code;
  rows.columns = column_count(s);
  while ((code = step(s)) == ROW) {
    if (rows.count + rows.columns > rows.room) {
      rows.room = rows.room ? 2 * rows.room : 1000;
      rows.texts = grown(rows.texts, rows.room * sizeof *rows.texts);
    }
    for (int i = 0; i < rows.columns; i++) {
      const unsigned char *text = column_text(s, i);
      rows.texts[rows.count++] = copy_of(text, column_bytes(s, i));
    }
  }
  finish(s, code);
}

static void sum_integers(const char *sql) {
  sqlite3_stmt *s = prepare(sql);
  int64_t total = 0;
  int code;
  while ((code = step(s)) == ROW) total += column_int64(s, 0) ^ column_int64(s, 1);
  finish(s, code);
  integer = total;
}

static void run_window(void) {
  sum_integers("SELECT availqty, py_moving(availqty) OVER (ORDER BY partkey, suppkey "
               "ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM partsupp");
}

static void run_recursion(void) {
  sum_integers("WITH RECURSIVE walk(n, x) AS (SELECT 1, 1 UNION ALL "
               "SELECT n + 1, (x * 1103515245 + 12345) % 2147483648 FROM walk WHERE n < 200000) "
               "SELECT n, x FROM walk");
}

#define JOIN " FROM orders, lineitem WHERE lineitem.orderkey = orders.orderkey"

static void run_joinfunction(void) {
  sum_reals("SELECT py_abs(lineitem.extendedprice - orders.totalprice)" JOIN);
}

static void run_joinaggregate(void) { one_integer("SELECT py_sum(lineitem.quantity)" JOIN); }

static void run_joingroups(void) {
  sum_integers("SELECT orders.custkey, py_sum(lineitem.quantity)" JOIN " GROUP BY orders.custkey");
}

static void run_groupfunction(void) {
  sum_integers("SELECT py_abs(suppkey), py_sum(quantity) FROM lineitem GROUP BY py_abs(suppkey)");
}

static int alphabetical(void *unused, int n1, const void *first, int n2, const void *second) {
  int order = memcmp(first, second, n1 < n2 ? n1 : n2);
  (void)unused;
  return order ? order : n1 - n2;
}

static void run_collation(void) {
  sqlite3_stmt *s = prepare("SELECT name FROM part ORDER BY name COLLATE py_order");
  int64_t total = 0, number = 0;
  int code;
  while ((code = step(s)) == ROW) {
    column_text(s, 0);
    total += ++number * column_bytes(s, 0);
  }
  finish(s, code);
  integer = total;
}

static const struct { const char *name; void (*run)(void); void (*print)(void); } benchmarks[] = {
  {"select", run_select, print_select},
  {"innerjoin", run_innerjoin, print_dict},
  {"pythonjoin", run_pythonjoin, print_dict},
  {"pyfunction", run_pyfunction, print_the_real},
  {"pyaggregate", run_pyaggregate, print_integer},
  {"filltable", run_filltable, print_integer},
  {"cfunction", run_cfunction, print_the_real},
  {"builtin", run_builtin, print_the_real},
  {"executemany", run_executemany, print_executemany},
  {"fetchall", run_fetchall, print_table},
  {"window", run_window, print_integer},
  {"recursion", run_recursion, print_integer},
  {"joinfunction", run_joinfunction, print_the_real},
  {"joinaggregate", run_joinaggregate, print_integer},
  {"joingroups", run_joingroups, print_integer},
  {"groupfunction", run_groupfunction, print_integer},
  {"collation", run_collation, print_integer},
};

static double checked_run(const char *name) {
  unsigned i = 0;
  char *text;
  size_t size;
  while (strcmp(benchmarks[i].name, name)) {
    if (++i == sizeof benchmarks / sizeof *benchmarks) fail("no such benchmark", name);
  }
  double start = now();
  benchmarks[i].run();
  double seconds = now() - start;
  out = open_memstream(&text, &size);
  if (!out) fail("out of memory", "open_memstream");
  benchmarks[i].print();
  fclose(out);
  out = stdout;
  note_answer(text);
  return seconds;
}

int main(int argc, char **argv) {
  start_up(argc, argv);
  create_function_v2(db, "py_abs", 1, UTF8, 0, absolute, 0, 0, 0);
  create_function_v2(db, "c_abs", 1, UTF8, 0, absolute, 0, 0, 0);
  create_function_v2(db, "py_sum", 1, UTF8, 0, 0, sum_step, sum_value, 0);
  create_collation_v2(db, "py_order", UTF8, 0, alphabetical, 0);
  create_window_function(db, "py_moving", 1, UTF8, 0, sum_step, sum_value, sum_value, sum_inverse,
                         0);
  if (*argv[3]) {   /* without a name: the configuration alone */
    repeat(checked_run, argv);
    print_answers();
  } else {
    fprintf(out, "{");
  }
  return end(argv[1]);
}
