/*
** Settings of the VM beside its mode: how much memory it may hold, and what a measurement switches
** off. Included by engine.c.
**
** SQPYTE_VM_MEMORY=n, in MiB, and SQPYTE_WITHOUT=sort-keys,iso-dates are read when the library is
** loaded. The VM reads SQPYTE_WITHOUT for its own part (sqpyte/vm/ablation.py).
*/
#define SQPYTE_DEFAULT_MEMORY (64<<20)

static struct {
  long long aMemory[SQPYTE_MEMORY_COUNT];  /* by SQPYTE_MEMORY_...; all but the limit are the VM's */
  int noSortKeys;
  int noIsoDates;
  int noMemoize;
  int noRowCache;
} sqpyteSettings = { { SQPYTE_DEFAULT_MEMORY } };

static int sqpyteIsWithout(const char *zName){
  const char *z = getenv("SQPYTE_WITHOUT");
  size_t n = strlen(zName);
  while( z && *z ){
    size_t nWord = strcspn(z, ",");
    if( nWord==n && memcmp(z, zName, n)==0 ) return 1;
    z += nWord + (z[nWord]==',');
  }
  return 0;
}

static void __attribute__((constructor)) sqpyteReadSettings(void){
  const char *z = getenv("SQPYTE_VM_MEMORY");
  if( z ){
    char *zEnd;
    long n = strtol(z, &zEnd, 10);
    if( zEnd==z || *zEnd || n<0 || n>(1<<20) ){
      fprintf(stderr, "sqpyte: SQPYTE_VM_MEMORY=%s ignored; it takes MiB\n", z);
    }else{
      sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] = (long long)n<<20;
    }
  }
  sqpyteSettings.noSortKeys = sqpyteIsWithout("sort-keys");
  sqpyteSettings.noIsoDates = sqpyteIsWithout("iso-dates");
  sqpyteSettings.noMemoize = sqpyteIsWithout("memoize");
  sqpyteSettings.noRowCache = sqpyteIsWithout("row-cache");
}

int sqpyte_set_memory(long long limit){
  if( limit<0 ) return SQLITE_MISUSE;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] = limit;
  return SQLITE_OK;
}
long long sqpyte_memory(int what){
  return what>=0 && what<SQPYTE_MEMORY_COUNT ? sqpyteSettings.aMemory[what] : -1;
}
long sqpyte_memory_limit(void){
  return (long)sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT];
}
/* What the VM holds now. */
void sqpyte_note_memory(long nUsed, long nCode, long nProgram, long nForgotten){
  sqpyteSettings.aMemory[SQPYTE_MEMORY_USED] = nUsed;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_CODE] = nCode;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_PROGRAMS] = nProgram;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_FORGOTTEN] = nForgotten;
}
