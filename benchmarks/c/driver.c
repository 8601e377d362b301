/*
** Runs one query, the argument WHAT of harness.h. One run prepares the statement, steps it to the end,
** reads every column of every row, and finalizes it; that is what is timed. An answer is the list of
** rows; it is taken in an extra run that isn't timed, and holds for the others if their checksums
** (`checksums`: the distinct ones of all runs) are equal.
*/
#include "harness.h"
#include "checksum.h"

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
  return end(argv[1]);
}
