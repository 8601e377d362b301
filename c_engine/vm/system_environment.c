/*
** What the VM may know of the process's environment, and what it leaves of the process as it finds it.
**
** RPython reads PYPYLOG, JITLOG and PYPY_GC_*, which are PyPy's: a program that has this library as its SQLite, which may
** have more rights than who calls it, would write a file where they say, or end for want of memory. So RPython's getenv
** comes here (SYSTEM_CALLS of tools/translate.py), and knows what is ours alone; a program with more rights gives it
** nothing. Included by engine.c.
*/
#include <stdlib.h>

#ifndef SQPYTE_HIDDEN
#define SQPYTE_HIDDEN __attribute__((visibility("hidden")))
#endif

SQPYTE_HIDDEN char *sqpyte_system_getenv(const char *zName){
  if( strcmp(zName, "PYPYLOG")==0 ) return secure_getenv("SQPYTE_JIT_LOG");
  return strncmp(zName, "SQPYTE_", 7)==0 ? secure_getenv(zName) : 0;
}

/* PYPYLOG, once it is read, for the sake of a PyPy that starts others: it isn't ours to remove. */
SQPYTE_HIDDEN int sqpyte_system_unsetenv(const char *zName){
  (void)zName;
  return 0;
}

/* RPython's own random numbers: a program that has called srand() wants those that it would have had without us. */
SQPYTE_HIDDEN int sqpyte_system_rand(void){
  static u32 state = 1;
  state = state*1103515245 + 12345;
  return (int)(state>>16);
}
