/*
** The functions of the sqlite3 C API that the benchmarks' C programs use, found in a library that is
** loaded when they run: two engines then differ in nothing but the library. They have the API's names
** without its prefix.
*/
#include <dlfcn.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef void call_fn(sqlite3_context *, int, sqlite3_value **);
typedef void finish_fn(sqlite3_context *);
typedef int compare_fn(void *, int, const void *, int, const void *);
enum { OK = 0, ROW = 100, DONE = 101, INTEGER = 1, FLOAT = 2, TEXT = 3, BLOB = 4, UTF8 = 1 };

#define API(X) \
  X(int, open_v2, (const char *, sqlite3 **, int, const char *)) \
  X(int, close, (sqlite3 *)) \
  X(int, exec, (sqlite3 *, const char *, void *, void *, char **)) \
  X(int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **)) \
  X(int, step, (sqlite3_stmt *)) \
  X(int, reset, (sqlite3_stmt *)) \
  X(int, finalize, (sqlite3_stmt *)) \
  X(int, bind_null, (sqlite3_stmt *, int)) \
  X(int, bind_int64, (sqlite3_stmt *, int, int64_t)) \
  X(int, bind_double, (sqlite3_stmt *, int, double)) \
  X(int, bind_text, (sqlite3_stmt *, int, const char *, int, void (*)(void *))) \
  X(int, column_count, (sqlite3_stmt *)) \
  X(int, column_type, (sqlite3_stmt *, int)) \
  X(int64_t, column_int64, (sqlite3_stmt *, int)) \
  X(double, column_double, (sqlite3_stmt *, int)) \
  X(const unsigned char *, column_text, (sqlite3_stmt *, int)) \
  X(const void *, column_blob, (sqlite3_stmt *, int)) \
  X(int, column_bytes, (sqlite3_stmt *, int)) \
  X(int, create_function_v2, (sqlite3 *, const char *, int, int, void *, call_fn *, call_fn *, \
                              finish_fn *, void (*)(void *))) \
  X(int, create_collation_v2, (sqlite3 *, const char *, int, void *, compare_fn *, \
                               void (*)(void *))) \
  X(int, create_window_function, (sqlite3 *, const char *, int, int, void *, call_fn *, \
                                  finish_fn *, finish_fn *, call_fn *, void (*)(void *))) \
  X(void *, aggregate_context, (sqlite3_context *, int)) \
  X(int64_t, value_int64, (sqlite3_value *)) \
  X(double, value_double, (sqlite3_value *)) \
  X(void, result_int64, (sqlite3_context *, int64_t)) \
  X(void, result_double, (sqlite3_context *, double)) \
  X(int, changes, (sqlite3 *)) \
  X(const char *, errmsg, (sqlite3 *)) \
  X(const char *, libversion, (void)) \
  X(const char *, sourceid, (void))

#define DECLARE(result, name, arguments) static result (*name) arguments;
API(DECLARE)

/* Find all of them in a loaded library; returns the name of one that isn't there, or 0. */
static const char *find_api(void *library) {
#define FIND(result, name, arguments) \
  *(void **)&name = dlsym(library, "sqlite3_" #name); \
  if (!name) return "sqlite3_" #name;
  API(FIND)
  return 0;
}
