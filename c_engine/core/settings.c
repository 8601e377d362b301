/*
** Settings: the VM's mode and threshold, how much memory it may hold, and which mechanisms are switched off
** (mechanisms.h). Included by engine.c.
**
** They come from the environment when the library is loaded (SQPYTE_VM, SQPYTE_VM_THRESHOLD, SQPYTE_VM_MEMORY,
** SQPYTE_WITHOUT), and later from sqpyte_configure(), in C, or in SQL as a function, which the PyPy module's
** configure() calls. All are the process's. A switch that the VM reads, it reads when it starts; the others act at
** once, or on what is prepared or opened afterwards (docs/environment.md).
*/
#define SQPYTE_DEFAULT_MEMORY (64<<20)
#define SQPYTE_MOST_MEMORY (1<<20)          /* MiB */
#define SQPYTE_LAST_OPCODE OP_MemoizeStore

static struct {
  long long aMemory[SQPYTE_MEMORY_COUNT];   /* by SQPYTE_MEMORY_...; all but the limit are the VM's */
  u8 aInC[SQPYTE_LAST_OPCODE+1];            /* opcodes that are switched off by their own names */
} sqpyteSettings = { { SQPYTE_DEFAULT_MEMORY } };

/* Who reads a mechanism's switch. */
#define SQPYTE_READ_BY_VM 0
#define SQPYTE_READ_BY_ENGINE 1
#define SQPYTE_READ_BY_MODULE 2

#define SQPYTE_ROW_OF_MECHANISM(id, reader, zName, zOpcodes, zWithout) { SQPYTE_READ_BY_##reader, zName, zOpcodes },
static const struct {
  int eReader;
  const char *zName;
  const char *zOpcodes;
} sqpyteMechanisms[] = { SQPYTE_MECHANISMS(SQPYTE_ROW_OF_MECHANISM) };

/* What a list of names switches off. */
typedef struct SqpyteSwitches SqpyteSwitches;
struct SqpyteSwitches {
  u8 aOff[SQPYTE_MECHANISM_COUNT];
  u8 aInC[SQPYTE_LAST_OPCODE+1];
};

static int sqpyteIsWord(const char *z, int n, const char *zName){
  return n==(int)strlen(zName) && memcmp(z, zName, n)==0;
}

/* The number of a mechanism, or -1. */
static int sqpyteMechanism(const char *z, int n){
  int i;
  for(i=0; i<SQPYTE_MECHANISM_COUNT; i++) if( sqpyteIsWord(z, n, sqpyteMechanisms[i].zName) ) return i;
  return -1;
}

/* The number of an opcode, or -1. IsType looks at what Column, in the same tier, has noted in the cursor: alone in C it
** has no meaning. */
static int sqpyteOpcode(const char *z, int n){
  int i;
  for(i=0; i<=SQPYTE_LAST_OPCODE; i++){
    if( i!=OP_IsType && sqpyteIsWord(z, n, sqlite3OpcodeName(i)) ) return i;
  }
  return -1;
}

/* The next word of a list with commas, blanks around it left out: its size; the list begins behind it then. */
static int sqpyteNextWord(const char **pzList, const char **pzWord){
  const char *z = *pzList + strspn(*pzList, " ,");
  int n = (int)strcspn(z, ",");
  *pzList = z + n;
  *pzWord = z;
  while( n>0 && z[n-1]==' ' ) n--;
  return n;
}

/* Adds what a list names. Returns 0, or the first word that names nothing, its size in *pn. */
static const char *sqpyteReadNames(const char *zList, SqpyteSwitches *pTo, int *pn){
  const char *zWord, *zUnknown = 0;
  int n, i;
  while( (n = sqpyteNextWord(&zList, &zWord))>0 ){
    if( (i = sqpyteMechanism(zWord, n))>=0 ){
      pTo->aOff[i] = 1;
    }else if( (i = sqpyteOpcode(zWord, n))>=0 ){
      pTo->aInC[i] = 1;
    }else if( zUnknown==0 ){
      zUnknown = zWord;
      *pn = n;
    }
  }
  return zUnknown;
}

/* Writes text behind what is in a buffer of n bytes; *pnUsed counts on where there is no room. */
static void sqpyteAppend(char *z, int n, int *pnUsed, const char *zText){
  int nText = (int)strlen(zText);
  if( *pnUsed+nText<n ) memcpy(&z[*pnUsed], zText, nText+1);
  *pnUsed += nText;
}

/* The same with a name of a list. */
static void sqpyteAppendName(char *z, int n, int *pnUsed, const char *zName, const char *zBetween){
  if( *pnUsed ) sqpyteAppend(z, n, pnUsed, zBetween);
  sqpyteAppend(z, n, pnUsed, zName);
}

/* Which names there are, for messages. */
static void sqpyteNames(char *z, int n, int eMost){
  int i, nUsed = 0;
  for(i=0; i<SQPYTE_MECHANISM_COUNT; i++){
    if( sqpyteMechanisms[i].eReader<=eMost ) sqpyteAppendName(z, n, &nUsed, sqpyteMechanisms[i].zName, ", ");
  }
  sqpyteAppend(z, n, &nUsed, ", or an opcode that the VM implements, as Column");
}

/* Whether a text is a number within bounds; if so *pn is set. */
static int sqpyteReadNumber(const char *z, long nLeast, long nMost, long *pn){
  char *zEnd;
  long n = strtol(z, &zEnd, 10);
  if( zEnd==z || *zEnd || n<nLeast || n>nMost ) return 0;
  *pn = n;
  return 1;
}

/* A variable of the environment; 0 if it isn't set, or empty. */
static const char *sqpyteVariable(const char *zName){
  const char *z = secure_getenv(zName);
  return z && *z ? z : 0;
}

static void __attribute__((constructor)) sqpyteReadSettings(void){
  const char *z = sqpyteVariable("SQPYTE_VM");
  long n;
  if( z ){
    if( strcmp(z, "off")==0 ) sqpyteVm.mode = SQPYTE_MODE_OFF;
    else if( strcmp(z, "always")==0 ) sqpyteVm.mode = SQPYTE_MODE_ALWAYS;
    else if( strcmp(z, "hot")==0 ) sqpyteVm.mode = SQPYTE_MODE_HOT;
    else fprintf(stderr, "sqpyte: SQPYTE_VM=%s ignored; it takes off, hot or always\n", z);
  }
  z = sqpyteVariable("SQPYTE_VM_THRESHOLD");
  if( z ){
    if( sqpyteReadNumber(z, 1, INT_MAX, &n) ) sqpyteSetThreshold((int)n);
    else fprintf(stderr, "sqpyte: SQPYTE_VM_THRESHOLD=%s ignored; it takes a number of rounds, from 1 to %d\n", z, INT_MAX);
  }
  z = sqpyteVariable("SQPYTE_VM_MEMORY");
  if( z ){
    if( sqpyteReadNumber(z, 0, SQPYTE_MOST_MEMORY, &n) ) sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] = (long long)n<<20;
    else fprintf(stderr, "sqpyte: SQPYTE_VM_MEMORY=%s ignored; it takes MiB, from 0 to %d\n", z, SQPYTE_MOST_MEMORY);
  }
  z = sqpyteVariable("SQPYTE_WITHOUT");
  if( z ){
    SqpyteSwitches found;
    char zNames[2000];
    int n = 0;
    const char *zUnknown;
    memset(&found, 0, sizeof(found));
    zUnknown = sqpyteReadNames(z, &found, &n);
    memcpy(sqpyteOff, found.aOff, sizeof(found.aOff));
    memcpy(sqpyteSettings.aInC, found.aInC, sizeof(found.aInC));
    if( zUnknown ){
      sqpyteNames(zNames, sizeof(zNames), SQPYTE_READ_BY_MODULE);
      fprintf(stderr, "sqpyte: SQPYTE_WITHOUT: \"%.*s\" ignored, as there is no such name; there are %s\n",
              n, zUnknown, zNames);
    }
  }
}

/* Whether a list of opcodes with blanks between them has one. */
static int sqpyteListsOpcode(const char *zOpcodes, const char *zName){
  int n = (int)strlen(zName);
  const char *z = zOpcodes;
  while( (z = strstr(z, zName))!=0 ){
    if( (z==zOpcodes || z[-1]==' ') && (z[n]==0 || z[n]==' ') ) return 1;
    z += n;
  }
  return 0;
}

int sqpyte_left_in_c(int opcode){
  int i;
  if( opcode<0 || opcode>SQPYTE_LAST_OPCODE ) return 0;
  for(i=0; i<SQPYTE_MECHANISM_COUNT; i++){
    if( sqpyteOff[i] && sqpyteListsOpcode(sqpyteMechanisms[i].zOpcodes, sqlite3OpcodeName(opcode)) ) return 1;
  }
  return sqpyteSettings.aInC[opcode];
}
int sqpyte_numbers_in_mem(void){ return SQPYTE_OFF(TYPE_SPECIALISATION); }

int sqpyte_switched_off(const char *zName){
  int i = sqpyteMechanism(zName, (int)strlen(zName));
  return i<0 ? -1 : sqpyteOff[i];
}
long long sqpyte_used(const char *zName){
  int i = sqpyteMechanism(zName, (int)strlen(zName));
  return i<0 ? -1 : (long long)AtomicLoad(&sqpyteUsed[i]);
}

/* What is switched off, of the mechanisms whose reader is at most eMost. */
static int sqpyteWithout(char *z, int n, int eMost){
  int i, nUsed = 0;
  if( n>0 ) z[0] = 0;
  for(i=0; i<SQPYTE_MECHANISM_COUNT; i++){
    if( sqpyteOff[i] && sqpyteMechanisms[i].eReader<=eMost ){
      sqpyteAppendName(z, n, &nUsed, sqpyteMechanisms[i].zName, ",");
    }
  }
  for(i=0; i<=SQPYTE_LAST_OPCODE; i++){
    if( sqpyteSettings.aInC[i] ) sqpyteAppendName(z, n, &nUsed, sqlite3OpcodeName(i), ",");
  }
  return nUsed;
}
int sqpyte_without(char *z, int n){ return sqpyteWithout(z, n, SQPYTE_READ_BY_MODULE); }

/* Reads the names for sqpyte_configure(); the mutex is held. With eMost below SQPYTE_READ_BY_MODULE what the module
** reads stays as it is. Returns 0, or a result code with a message. */
static int sqpyteChangeWithout(const char *zWithout, int eMost, SqpyteSwitches *pTo, char *zError, int nError){
  const char *zUnknown;
  char zNames[2000];
  int i, n = 0;
  memset(pTo, 0, sizeof(*pTo));
  zUnknown = sqpyteReadNames(zWithout, pTo, &n);
  for(i=0; i<SQPYTE_MECHANISM_COUNT && zUnknown==0; i++){
    if( sqpyteMechanisms[i].eReader<=eMost ) continue;
    if( pTo->aOff[i] ){
      snprintf(zError, nError, "without: \"%s\" is the Python module's: sqpyte.configure() and SQPYTE_WITHOUT take it",
               sqpyteMechanisms[i].zName);
      return SQLITE_ERROR;
    }
    pTo->aOff[i] = sqpyteOff[i];
  }
  if( zUnknown ){
    sqpyteNames(zNames, sizeof(zNames), eMost);
    snprintf(zError, nError, "without has no \"%.*s\"; there are %s", n>100 ? 100 : n, zUnknown, zNames);
    return SQLITE_ERROR;
  }
  if( !sqpyteVm.started ) return SQLITE_OK;
  for(i=0; i<SQPYTE_MECHANISM_COUNT; i++){
    if( sqpyteMechanisms[i].eReader==SQPYTE_READ_BY_VM && pTo->aOff[i]!=sqpyteOff[i] ){
      snprintf(zError, nError, "without: it is too late for \"%s\": the VM read it when it started",
               sqpyteMechanisms[i].zName);
      return SQLITE_MISUSE;
    }
  }
  for(i=0; i<=SQPYTE_LAST_OPCODE; i++){
    if( pTo->aInC[i]!=sqpyteSettings.aInC[i] ){
      snprintf(zError, nError, "without: it is too late for \"%s\": the VM read it when it started",
               sqlite3OpcodeName(i));
      return SQLITE_MISUSE;
    }
  }
  return SQLITE_OK;
}

/* sqpyte_configure(), for the mechanisms whose reader is at most eMost. */
static int sqpyteConfigure(
  int mode, long long threshold, long long memory, const char *zWithout, int eMost, char *zError, int nError
){
  SqpyteSwitches changed;
  int rc = SQLITE_ERROR;
  if( mode!=SQPYTE_KEEP && (mode<SQPYTE_MODE_OFF || mode>SQPYTE_MODE_ALWAYS) ){
    snprintf(zError, nError, "vm takes 'off', 'hot' or 'always'");
    return rc;
  }
  if( threshold!=SQPYTE_KEEP && (threshold<1 || threshold>0x7fffffff) ){
    snprintf(zError, nError, "threshold takes a number of rounds, from 1 to %d", 0x7fffffff);
    return rc;
  }
  if( memory!=SQPYTE_KEEP && (memory<0 || memory>SQPYTE_MOST_MEMORY) ){
    snprintf(zError, nError, "memory takes MiB, from 0 to %d", SQPYTE_MOST_MEMORY);
    return rc;
  }
  pthread_mutex_lock(&sqpyteVm.mutex);
  rc = zWithout ? sqpyteChangeWithout(zWithout, eMost, &changed, zError, nError) : SQLITE_OK;
  if( rc==SQLITE_OK ){
    if( mode!=SQPYTE_KEEP ) sqpyteVm.mode = mode;
    if( threshold!=SQPYTE_KEEP ) sqpyteSetThreshold(threshold==SQPYTE_DEFAULT_THRESHOLD ? -1 : (int)threshold);
    if( memory!=SQPYTE_KEEP ) sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] = memory<<20;
    if( zWithout ){
      memcpy(sqpyteOff, changed.aOff, sizeof(changed.aOff));
      memcpy(sqpyteSettings.aInC, changed.aInC, sizeof(changed.aInC));
    }
  }
  pthread_mutex_unlock(&sqpyteVm.mutex);
  return rc;
}

int sqpyte_configure(int mode, long long threshold, long long memory, const char *zWithout, char *zError, int nError){
  return sqpyteConfigure(mode, threshold, memory, zWithout, SQPYTE_READ_BY_MODULE, zError, nError);
}
int sqpyte_threshold(void){ return sqpyteVm.threshold; }

static const char *const sqpyteModes[] = { "off", "hot", "always" };    /* by SQPYTE_MODE_... */
#define SQPYTE_NO_VALUE (-2)      /* of no setting; not SQPYTE_KEEP either */

/* ---- the SQL function sqpyte_configure(NAME) and sqpyte_configure(NAME, VALUE) ---- */

/* An integer argument, or one that nothing takes. */
static i64 sqpyteNumberGiven(sqlite3_value *pValue){
  i64 n = sqlite3_value_numeric_type(pValue)==SQLITE_INTEGER ? sqlite3_value_int64(pValue) : -1;
  return n<0 ? SQPYTE_NO_VALUE : n;
}

/* A mode by its name, or one that there isn't. */
static int sqpyteModeGiven(const char *z){
  int i;
  for(i=0; i<(int)ArraySize(sqpyteModes); i++) if( z && strcmp(z, sqpyteModes[i])==0 ) return i;
  return SQPYTE_NO_VALUE;
}

static void sqpyteConfigureFunction(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg){
  const char *zName = (const char*)sqlite3_value_text(apArg[0]);
  const char *zValue = nArg>1 ? (const char*)sqlite3_value_text(apArg[1]) : 0;
  char zError[2400];
  int rc = SQLITE_OK;
  if( zName==0 ) zName = "NULL";
  if( strcmp(zName, "vm")==0 ){
    if( nArg>1 ) rc = sqpyteConfigure(sqpyteModeGiven(zValue), SQPYTE_KEEP, SQPYTE_KEEP, 0, 0, zError, sizeof(zError));
    if( rc==SQLITE_OK ) sqlite3_result_text(pCtx, sqpyteModes[sqpyteVm.mode], -1, SQLITE_STATIC);
  }else if( strcmp(zName, "threshold")==0 ){
    if( nArg>1 ){
      rc = sqpyteConfigure(SQPYTE_KEEP, sqpyteNumberGiven(apArg[1]), SQPYTE_KEEP, 0, 0, zError, sizeof(zError));
    }
    if( rc==SQLITE_OK ) sqlite3_result_int(pCtx, sqpyteVm.threshold);
  }else if( strcmp(zName, "memory")==0 ){
    if( nArg>1 ){
      rc = sqpyteConfigure(SQPYTE_KEEP, SQPYTE_KEEP, sqpyteNumberGiven(apArg[1]), 0, 0, zError, sizeof(zError));
    }
    if( rc==SQLITE_OK ) sqlite3_result_int64(pCtx, sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT]>>20);
  }else if( strcmp(zName, "without")==0 ){
    const int eMost = SQPYTE_READ_BY_ENGINE;
    char zNames[4000];
    if( nArg>1 && zValue==0 ){
      rc = SQLITE_ERROR;
      snprintf(zError, sizeof(zError), "without takes names with commas between them");
    }else if( nArg>1 ){
      rc = sqpyteConfigure(SQPYTE_KEEP, SQPYTE_KEEP, SQPYTE_KEEP, zValue, eMost, zError, sizeof(zError));
    }
    if( rc==SQLITE_OK ){
      sqpyteWithout(zNames, sizeof(zNames), eMost);
      sqlite3_result_text(pCtx, zNames, -1, SQLITE_TRANSIENT);
    }
  }else{
    rc = SQLITE_ERROR;
    snprintf(zError, sizeof(zError), "there is no \"%.100s\"; there are vm, threshold, memory and without", zName);
  }
  if( rc!=SQLITE_OK ){
    char *z = sqlite3_mprintf("sqpyte_configure: %s", zError);
    if( z ) sqlite3_result_error(pCtx, z, -1);
    else sqlite3_result_error_nomem(pCtx);
    sqlite3_free(z);
  }
}

/* Beside SQLite's own functions, so that each connection has it at no cost. Not in triggers, views and the like: a
** database file is not to change what a program does. */
static void sqpyteRegisterFunctions(void){
  static FuncDef aFunction[] = {
    SFUNCTION(sqpyte_configure, 1, 0, 0, sqpyteConfigureFunction),
    SFUNCTION(sqpyte_configure, 2, 0, 0, sqpyteConfigureFunction),
  };
  sqlite3InsertBuiltinFuncs(aFunction, ArraySize(aFunction));
}

/* ---- the VM's memory ---- */

int sqpyte_set_memory(long long limit){
  if( limit<0 ) return SQLITE_MISUSE;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] = limit;
  return SQLITE_OK;
}
long long sqpyte_memory(int what){
  return what>=0 && what<SQPYTE_MEMORY_COUNT ? sqpyteSettings.aMemory[what] : -1;
}
/* Nothing may be held while the system refuses memory (system_memory.c). */
long sqpyte_memory_limit(void){
  return sqpyteReserveIsWhole() ? (long)sqpyteSettings.aMemory[SQPYTE_MEMORY_LIMIT] : 0;
}
/* What the VM holds now. */
void sqpyte_note_memory(long nUsed, long nCode, long nProgram, long nForgotten){
  sqpyteSettings.aMemory[SQPYTE_MEMORY_USED] = nUsed;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_CODE] = nCode;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_PROGRAMS] = nProgram;
  sqpyteSettings.aMemory[SQPYTE_MEMORY_FORGOTTEN] = nForgotten;
}
