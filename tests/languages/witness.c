/*
** What the VM did for a program that knows nothing of it: preloaded before the library, this stands between the program
** and sqlite3_finalize, asks the library about each statement that ends, and adds it up in a file, which several
** processes may share. tests/languages/running.py reads it.
**
** The library's names are looked up when they are needed: with stock there are none of ours, and nothing but the
** statements is counted.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define REASONS 16
#define MEMORY_CODE 2           /* engine.h */
#define MEMORY_PROGRAMS 3

/* In the file, as running.py unpacks it. */
struct Witness {
  long long version;            /* sqlite3_libversion_number() */
  long long ours;               /* 1: the library has sqpyte's names */
  long long statements;         /* that were finalized */
  long long served;             /* of them, those that have entered the VM */
  long long entries;            /* how often they have */
  long long programs, code;     /* the most that the VM held: programs, bytes of machine code */
  long long why[REASONS];       /* statements by sqpyte_why */
};

static struct Witness *counts;
static int (*finalize)(void*);
static long long (*entries)(void*);
static int (*why)(void*);
static long long (*memory)(int);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The library's function of this name; a program may have loaded the library itself, for nobody else to see. */
static void *find(const char *name){
  void *found = dlsym(RTLD_NEXT, name);
  if( found==0 ){
    void *library = dlopen("libsqlite3.so.0", RTLD_LAZY|RTLD_NOLOAD);
    if( library ) found = dlsym(library, name);
  }
  return found;
}

static void begin(void){
  const char *path = getenv("SQPYTE_WITNESS");
  int (*version)(void) = (int (*)(void))find("sqlite3_libversion_number");
  int fd;
  finalize = (int (*)(void*))find("sqlite3_finalize");
  entries = (long long (*)(void*))find("sqpyte_entries");
  why = (int (*)(void*))find("sqpyte_why");
  memory = (long long (*)(int))find("sqpyte_memory");
  if( finalize==0 ) abort();
  if( path==0 || (fd = open(path, O_RDWR|O_CREAT|O_CLOEXEC, 0644))<0 ) return;
  if( ftruncate(fd, sizeof(*counts))==0 ){
    void *p = mmap(0, sizeof(*counts), PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0);
    if( p!=MAP_FAILED ){
      counts = p;
      counts->version = version ? version() : 0;
      counts->ours = entries && why && memory;
    }
  }
  close(fd);
}

static void add(long long *p, long long n){ __atomic_add_fetch(p, n, __ATOMIC_RELAXED); }

static void atLeast(long long *p, long long n){
  long long before = __atomic_load_n(p, __ATOMIC_RELAXED);
  while( before<n && !__atomic_compare_exchange_n(p, &before, n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ){}
}

/* SQLite's, by way of us. */
__attribute__((visibility("default"))) int sqlite3_finalize(void *pStmt){
  pthread_once(&once, begin);
  if( pStmt && counts ){
    add(&counts->statements, 1);
    if( entries && why && memory ){
      long long n = entries(pStmt);
      int reason = why(pStmt);
      add(&counts->entries, n);
      add(&counts->served, n>0);
      if( reason>=0 && reason<REASONS ) add(&counts->why[reason], 1);
      atLeast(&counts->programs, memory(MEMORY_PROGRAMS));
      atLeast(&counts->code, memory(MEMORY_CODE));
    }
  }
  return finalize(pStmt);
}
