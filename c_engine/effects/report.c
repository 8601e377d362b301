/*
** What the checking build says: a violation, with the opcode, the operand
** and the program's listing; which opcode has crashed; and the counts.
** SQPYTE_EFFECTS_REPORT=FILE goes on after a violation, and appends each kind once to FILE.
** SQPYTE_EFFECTS_COUNTS=FILE has each process append its counts to FILE.
*/
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
  long long nOpcode;        /* opcodes that were checked */
  long long nProgram;       /* programs, with each statement that is prepared */
  long long nUnchecked;     /* calls of sqlite3_step that were not checked */
  long long nViolation;
  unsigned char aSeen[256]; /* opcodes that were checked */
} sqpyteEffectsCounts;

/* A poisoned text of register r begins at this + r, where nothing can be read. */
#define SQPYTE_POISON_SIZE (1<<20)
static char *sqpyteEffectsPoison;
static FILE *sqpyteEffectsReport;         /* 0: a violation ends the process */
static FILE *sqpyteEffectsOut(void){ return sqpyteEffectsReport ? sqpyteEffectsReport : stderr; }
static char sqpyteEffectsCountsFile[1024];
static __thread SqpyteCheckedRun *sqpyteEffectsRun;
static struct sigaction sqpyteEffectsFormerly[2];

/* The program's listing on stderr, with an arrow at pc. */
static void sqpyteEffectsList(Vdbe *p, const Op *aOp, int nOp, int pc){
  int i;
  fprintf(sqpyteEffectsOut(), "SQL: %s\n", p->zSql ? p->zSql : "(none)");
  for(i=0; i<nOp; i++){
    const Op *pOp = &aOp[i];
    fprintf(sqpyteEffectsOut(), "%s %4d %-16s %6d %6d %6d  p4=%-6d p5=%d\n", i==pc ? "-->" : "   ", i,
            sqlite3OpcodeName(pOp->opcode), pOp->p1, pOp->p2, pOp->p3,
            pOp->p4type==P4_INT32 ? pOp->p4.i : 0, pOp->p5);
  }
}

/* A violation by the opcode that is executed. */
static void sqpyteEffectsFail(SqpyteCheckedRun *pRun, const char *zFormat, ...){
  static char aKnown[512][96];
  static int nKnown;
  char zText[400], zKey[96];
  int i, n = 0;
  SqpyteCheckedFrame *pFrame = pRun->pTop;
  const Op *pOp = &pFrame->aOp[pFrame->pc];
  va_list ap;
  sqpyteEffectsCounts.nViolation++;
  va_start(ap, zFormat);
  vsnprintf(zText, sizeof(zText), zFormat, ap);
  va_end(ap);
  if( sqpyteEffectsReport ){
    /* Which register, cursor or address it is doesn't make another kind of violation. */
    n = snprintf(zKey, sizeof(zKey), "%s ", sqlite3OpcodeName(pOp->opcode));
    for(i=0; zText[i] && n<(int)sizeof(zKey)-1; i++) if( zText[i]<'0' || zText[i]>'9' ) zKey[n++] = zText[i];
    zKey[n] = 0;
    for(i=0; i<nKnown; i++) if( strcmp(aKnown[i], zKey)==0 ) return;
    if( nKnown<512 ) strcpy(aKnown[nKnown++], zKey);
  }
  fprintf(sqpyteEffectsOut(), "sqpyte effects: %s at address %d (P1=%d P2=%d P3=%d P5=%d) %s\n",
          sqlite3OpcodeName(pOp->opcode), pFrame->pc, pOp->p1, pOp->p2, pOp->p3, pOp->p5, zText);
  sqpyteEffectsList(pRun->p, pFrame->aOp, pFrame->pProgram->nOp, pFrame->pc);
  fflush(sqpyteEffectsOut());
  if( sqpyteEffectsReport==0 ){
    fprintf(stderr, "sqpyte effects: the declaration in sqpyte/vm/opcodes is wrong, or the opcode has another "
                    "effect than upstream says; see docs/testing.md\n");
    abort();
  }
}

static void sqpyteEffectsCrashed(int signal, siginfo_t *pInfo, void *pContext){
  SqpyteCheckedRun *pRun = sqpyteEffectsRun;
  char *zAt = pInfo->si_addr;
  (void)pContext;
  if( pRun && pRun->pTop ){
    const Op *pOp = &pRun->pTop->aOp[pRun->pTop->pc];
    if( zAt>=sqpyteEffectsPoison && zAt<sqpyteEffectsPoison + SQPYTE_POISON_SIZE ){
      fprintf(sqpyteEffectsOut(), "sqpyte effects: %s at address %d read register %d, which isn't declared\n",
              sqlite3OpcodeName(pOp->opcode), pRun->pTop->pc, (int)((zAt - sqpyteEffectsPoison)/64));
    }else{
      fprintf(sqpyteEffectsOut(), "sqpyte effects: %s at address %d crashed\n", sqlite3OpcodeName(pOp->opcode),
              pRun->pTop->pc);
    }
    sqpyteEffectsList(pRun->p, pRun->pTop->aOp, pRun->pTop->pProgram->nOp, pRun->pTop->pc);
    fflush(sqpyteEffectsOut());
  }
  sigaction(signal, &sqpyteEffectsFormerly[signal==SIGBUS], 0);    /* it happens again, to them */
}

static void __attribute__((constructor)) sqpyteEffectsLoad(void){
  struct sigaction action;
  const char *z = getenv("SQPYTE_EFFECTS_COUNTS");
  if( z ) snprintf(sqpyteEffectsCountsFile, sizeof(sqpyteEffectsCountsFile), "%s", z);
  z = getenv("SQPYTE_EFFECTS_REPORT");
  if( z ){
    sqpyteEffectsReport = fopen(z, "ae");
    if( sqpyteEffectsReport==0 ){
      fprintf(stderr, "sqpyte effects: SQPYTE_EFFECTS_REPORT=%s can't be written\n", z);
      abort();
    }
  }
  sqpyteEffectsPoison = mmap(0, SQPYTE_POISON_SIZE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0);
  if( sqpyteEffectsPoison==MAP_FAILED ) abort();
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = sqpyteEffectsCrashed;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &sqpyteEffectsFormerly[0]);
  sigaction(SIGBUS, &action, &sqpyteEffectsFormerly[1]);
}

/* One line: opcodes, programs, unchecked steps, violations, and the opcodes seen as names. */
static void __attribute__((destructor)) sqpyteEffectsUnload(void){
  char zLine[8000];
  int i, n, fd;
  if( sqpyteEffectsCountsFile[0]==0 || sqpyteEffectsCounts.nOpcode==0 ) return;
  n = snprintf(zLine, sizeof(zLine), "%lld %lld %lld %lld", sqpyteEffectsCounts.nOpcode,
               sqpyteEffectsCounts.nProgram, sqpyteEffectsCounts.nUnchecked, sqpyteEffectsCounts.nViolation);
  for(i=0; i<256; i++){
    if( sqpyteEffectsCounts.aSeen[i] ) n += snprintf(zLine+n, sizeof(zLine)-n, " %s", sqlite3OpcodeName(i));
  }
  zLine[n++] = '\n';
  fd = open(sqpyteEffectsCountsFile, O_WRONLY|O_APPEND|O_CREAT, 0644);
  if( fd<0 ) return;
  if( write(fd, zLine, n)!=n ) fprintf(stderr, "sqpyte effects: %s is incomplete\n", sqpyteEffectsCountsFile);
  close(fd);
}
