/*
** A loadable extension for the micro-benchmark `cfunction`: c_abs(X) is what micro.absolute is, in C.
**
** It takes its functions from the very library that loads it: the API's table of functions, which that
** hands over, begins with one of them.
*/
#define _GNU_SOURCE
#include "api.h"

static void c_abs(sqlite3_context *context, int count, sqlite3_value **values) {
  double value = value_double(values[0]);
  (void)count;
  result_double(context, value < 0 ? -value : value);
}

int sqlite3_extension_init(sqlite3 *db, char **message, void **functions) {
  Dl_info where;
  void *library;
  (void)message;   /* without one, SQLite says that the extension failed */
  if (!dladdr(functions[0], &where)) return 1;
  library = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!library || find_api(library)) return 1;
  return create_function_v2(db, "c_abs", 1, UTF8, 0, c_abs, 0, 0, 0);
}
