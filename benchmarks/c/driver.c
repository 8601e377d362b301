/*
** Runs one query, the argument WHAT of harness.h. One run prepares the statement, steps it to the end,
** reads every column of every row, and finalizes it; that is what is timed. An answer is the list of
** rows; it is taken in an extra run that isn't timed, and holds for the others if their checksums
** (`checksums`: the distinct ones of all runs) are equal.
*/
#include "harness.h"

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

int main(int argc, char **argv) {
  start_up(argc, argv);
  repeat(checked_run, argv);
  fprintf(out, "\"answers\": [");
  print_rows(argv[3], 0);
  fprintf(out, "], \"checksums\": [");
  checked_run(argv[3]);
  for (int i = 0; i < checksum_count; i++) {
    fprintf(out, "%s\"%016llx\"", i ? ", " : "", (unsigned long long)checksums[i]);
  }
  fprintf(out, "], ");
  print_configuration(argv[1]);
  fprintf(out, "}\n");
  if (close(db) != OK) fail("close", errmsg(db));
  return 0;
}
