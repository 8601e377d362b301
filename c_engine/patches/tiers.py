"""Edits of SQLite's interpreter for a statement that runs in two tiers (engine.c).

* a place in each `Vdbe` for the tier's state (`sqpyte*` fields);
* a way out of `sqlite3VdbeExec` at a taken loop back-edge, to leave for the RPython VM when
  a loop is hot; apply.py makes the same function once more;
* what upstream carries from opcode to opcode within one sqlite3_step, kept while the statement is
  outside of that function: `iCompare`, `resetSchemaOnFault`, the statement's clock, the count of
  the busy handler's calls, that of opcodes, and at which of them the progress handler is called
  (sqpyteBeginStep in engine.c gives them their first values);
* a way to raise the error of a C function that the VM called, as upstream raises it;
* while a statement runs ahead of its caller (call_log.h): an opcode that stands for those that are
  watched, and errors kept until the row that fails is asked for;
* `sqlite3Step` calling `sqpyteVdbeExec`, where the tier is chosen.
"""
from c_engine.patches.edit import Edit

EDITS = [
    Edit(
        "vdbe-fields",
        # The fields after aOp are zeroed when a Vdbe is made.
        "  SubProgram *pProgram;   /* Linked list of all sub-programs used by VM */\n"
        "  AuxData *pAuxData;      /* Linked list of auxdata allocations */\n",
        "  SubProgram *pProgram;   /* Linked list of all sub-programs used by VM */\n"
        "  AuxData *pAuxData;      /* Linked list of auxdata allocations */\n"
        "  i64 sqpyteBudget;       /* Back-edges to go before leaving with SQPYTE_HOT */\n"
        "  i64 sqpyteEntries;      /* How often the VM has been entered */\n"
        "  u64 sqpyteSteps;        /* nVmStep, kept while outside sqlite3VdbeExec */\n"
        "  u64 sqpyteLimit;        /* nProgressLimit, so */\n"
        "  i64 sqpyteUntil;        /* Opcodes that the VM may pass until the progress handler is called */\n"
        "  int sqpyteCompare;      /* iCompare, kept while outside sqlite3VdbeExec */\n"
        "  int sqpyteStopPc;       /* Stop as with a row before this opcode, if not 0 */\n"
        "  struct SqpyteLog *sqpyteLog;  /* It runs ahead of its caller (call_log.h), if not 0 */\n"
        "  int sqpyteError;        /* Raised on entry: a C call of the VM failed */\n"
        "  int sqpyteProgram;      /* The VM's number of the decoded program, if not 0 */\n"
        "  int sqpyteRefused;      /* How often the VM has handed this statement back */\n"
        "  int sqpyteReason;       /* SQPYTE_WHY_*: why it runs where it runs */\n"
        "  void *pSqpyteHistory;   /* What is known of the program from its runs (tiering.c) */\n"
        "  i64 sqpyteHotSince;     /* When the first loop was hot in this step, or 0 */\n"
        "  i64 sqpyteScanSince;    /* When the loop that was hot last was first hot */\n"
        "  double sqpyteScanAt;    /* How far it had come then (tiering.c) */\n"
        "  int sqpyteScanHead;     /* Its first opcode */\n"
        "  struct SqpyteMemo *pSqpyteMemo;  /* Results of subqueries (memoize.c) */\n"
        "  u8 sqpyteSeeks;         /* The VM may go down B-trees */\n"
        "  u8 sqpyteTier;          /* SQPYTE_TIER_C or SQPYTE_TIER_VM */\n"
        "  u8 sqpyteResumed;       /* Not at the beginning of an sqlite3_step */\n"
        "  u8 sqpyteMidStep;       /* The inliner has it in the middle of an sqlite3_step */\n"
        "  u8 sqpyteUncounted;     /* sqpyteVdbeExecOne runs an opcode that upstream hasn't */\n"
        "  u8 sqpyteResetSchema;   /* resetSchemaOnFault, kept while outside sqlite3VdbeExec */\n"
        "  void *pSqpyteJudged;    /* The history by which a loop was judged last in this step */\n",
    ),
    Edit(
        "trigger-program",
        "  void *token;                  /* id that may be used to recursive triggers */\n"
        "  SubProgram *pNext;            /* Next sub-program already visited */\n",
        "  void *token;                  /* id that may be used to recursive triggers */\n"
        "  SubProgram *pNext;            /* Next sub-program already visited */\n"
        "  int sqpyteNumber;             /* As Vdbe.sqpyteProgram, of this program */\n"
        "  void *pSqpyteHistory;         /* As Vdbe.pSqpyteHistory, of this program */\n",
    ),
    Edit(
        "trigger-frame",
        "  void *token;            /* Copy of SubProgram.token */\n",
        "  void *token;            /* Copy of SubProgram.token */\n"
        "  SubProgram *pSqpyteProgram;   /* The program that runs in it */\n",
    ),
    Edit(
        "trigger-framed",
        "    pFrame->token = pProgram->token;\n",
        "    pFrame->token = pProgram->token;\n"
        "    pFrame->pSqpyteProgram = pProgram;\n",
    ),
    Edit(
        "exec-locals",
        "  int iCompare = 0;          /* Result of last comparison */\n",
        "  int iCompare = p->sqpyteCompare; /* Result of last comparison */\n"
        "  i64 nSqpyteBudget = p->sqpyteBudget;\n"
        "  SQPYTE_EXEC_LOCALS\n",
    ),
    Edit(
        "exec-fault",
        "  u8 resetSchemaOnFault = 0; /* Reset schema after an error if positive */\n",
        "  u8 resetSchemaOnFault = p->sqpyteResumed ? p->sqpyteResetSchema : 0;\n",
    ),
    Edit(
        "exec-fault-kept",
        "      resetSchemaOnFault = iDb+1;\n",
        "      resetSchemaOnFault = iDb+1;\n"
        "      p->sqpyteResetSchema = resetSchemaOnFault;\n",
    ),
    Edit(
        "exec-progress",
        # sqpyteBeginStep does it: a handler that a function of this step has set is asked from the next step on.
        "  if( db->xProgress ){\n"
        "    u32 iPrior = p->aCounter[SQLITE_STMTSTATUS_VM_STEP];\n"
        "    assert( 0 < db->nProgressOps );\n"
        "    nProgressLimit = db->nProgressOps - (iPrior % db->nProgressOps);\n"
        "  }else{\n"
        "    nProgressLimit = LARGEST_UINT64;\n"
        "  }\n",
        "  if( !p->sqpyteResumed ) sqpyteBeginStep(p);\n"
        "  nProgressLimit = p->sqpyteLimit;\n",
    ),
    Edit(
        "exec-steps",
        "  u64 nVmStep = 0;           /* Number of virtual machine steps */\n",
        "  u64 nVmStep = p->sqpyteResumed ? p->sqpyteSteps : 0;  /* Number of virtual machine steps */\n",
    ),
    Edit(
        "exec-steps-handler",
        # Between two opcodes upstream looks for no handler.
        "  while( nVmStep>=nProgressLimit && db->xProgress!=0 ){\n"
        "    nProgressLimit += db->nProgressOps;\n",
        "  while( nVmStep>=nProgressLimit && rc!=SQPYTE_STOP && db->xProgress!=0 ){\n"
        "    nProgressLimit += db->nProgressOps;\n",
    ),
    Edit(
        "exec-steps-kept",
        "  p->aCounter[SQLITE_STMTSTATUS_VM_STEP] += (int)nVmStep;\n",
        "  p->sqpyteSteps = 0;\n"
        "  if( rc==SQPYTE_STOP || rc==SQPYTE_HOT ){\n"
        "    p->sqpyteSteps = nVmStep;\n"
        "    p->sqpyteLimit = nProgressLimit;\n"
        "    nVmStep = 0;\n"
        "  }\n"
        "  p->aCounter[SQLITE_STMTSTATUS_VM_STEP] += (int)nVmStep;\n",
    ),
    Edit(
        "exec-interrupt",
        # Within a step upstream counts the busy handler's calls on, and looks for an interrupt
        # where a program jumps.
        "  db->busyHandler.nBusy = 0;\n"
        "  if( AtomicLoad(&db->u1.isInterrupted) ) goto abort_due_to_interrupt;\n"
        "  sqlite3VdbeIOTraceSql(p);\n",
        "  if( !p->sqpyteResumed && AtomicLoad(&db->u1.isInterrupted) ) goto abort_due_to_interrupt;\n"
        "  sqlite3VdbeIOTraceSql(p);\n",
    ),
    Edit(
        "exec-clock",
        "  p->iCurrentTime = 0;\n",
        "  if( p->sqpyteError ){\n"
        "    rc = p->sqpyteError;\n"
        "    p->sqpyteError = 0;\n"
        "    pOp = &aOp[p->pc];\n"
        "    goto abort_due_to_error;\n"
        "  }\n",
    ),
    Edit(
        "exec-stop",
        "    nVmStep++;\n",
        "    SQPYTE_BEFORE_OPCODE\n"
        "    nVmStep++;\n",
    ),
    Edit(
        "exec-hot",
        "jump_to_p2_and_check_for_interrupt:\n"
        "  pOp = &aOp[pOp->p2 - 1];\n",
        # A Goto that leads forward, as behind an arm of CASE, ends no round.
        "jump_to_p2_and_check_for_interrupt: {\n"
        "  Op *pSqpyteFrom = pOp;\n"
        "  pOp = &aOp[pOp->p2 - 1];\n"
        "  if( pOp<pSqpyteFrom && (--nSqpyteBudget)==0 && !AtomicLoad(&db->u1.isInterrupted) ){\n"
        "    p->pc = (int)(pOp - aOp) + 1;\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_HOT;\n"
        "    goto vdbe_return;\n"
        "  }\n"
        "}\n",
    ),
    Edit(
        "exec-watched",
        "default: {          /* This is really OP_Noop, OP_Explain */\n",
        "case SQPYTE_OP_WATCHED: {\n"
        "  int iSqpyteNext = sqpyteWatched(p, (int)(pOp - aOp));\n"
        "  if( iSqpyteNext<0 ){\n"
        "    p->pc = -1 - iSqpyteNext;\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_STOP;\n"
        "    goto vdbe_return;\n"
        "  }\n"
        "  pOp = &aOp[iSqpyteNext-1];\n"
        "  break;\n"
        "}\n"
        "default: {          /* This is really OP_Noop, OP_Explain */\n",
    ),
    Edit(
        "exec-error",
        # Nobody has asked for the row that fails: the error waits until somebody does.
        "abort_due_to_error:\n"
        "  if( db->mallocFailed ){\n",
        "abort_due_to_error:\n"
        "  if( p->sqpyteLog && !db->mallocFailed && rc!=SQLITE_NOMEM ){\n"
        "    p->sqpyteError = rc;\n"
        "    p->pc = (int)(pOp - aOp);\n"
        "    p->sqpyteCompare = iCompare;\n"
        "    rc = SQPYTE_STOP;\n"
        "    goto vdbe_return;\n"
        "  }\n"
        "  if( db->mallocFailed ){\n",
    ),
    # A stop that was asked for, and not reached, isn't the next run's: a signal's exception may come between the two.
    Edit(
        "step-stop",
        "  p->nChange = 0;\n"
        "  p->cacheCtr = 1;\n"
        "  p->minWriteFileFormat = 255;\n",
        "  p->nChange = 0;\n"
        "  p->cacheCtr = 1;\n"
        "  p->sqpyteStopPc = 0;\n"
        "  p->minWriteFileFormat = 255;\n",
    ),
    Edit(
        "step-start",
        "      p->pc = 0;\n"
        "      p->eVdbeState = VDBE_RUN_STATE;\n",
        "      p->pc = 0;\n"
        "      p->sqpyteTier = SQPYTE_TIER_C;\n"
        "      p->sqpyteCompare = 0;\n"
        "      p->sqpyteError = 0;\n"
        "      p->sqpyteMidStep = 0;\n"
        "      p->eVdbeState = VDBE_RUN_STATE;\n",
    ),
    Edit(
        "step-exec",
        "    db->nVdbeExec++;\n"
        "    rc = sqlite3VdbeExec(p);\n",
        "    db->nVdbeExec++;\n"
        "    rc = sqpyteVdbeExec(p);\n",
    ),
    Edit(
        "exec-declared",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n",
        "SQLITE_PRIVATE int sqlite3VdbeExec(Vdbe*);\n"
        "static int sqpyteVdbeExec(Vdbe*);\n"
        "SQLITE_PRIVATE int sqpyteVdbeExecOne(Vdbe*);\n"
        "static void sqpyteBeginStep(Vdbe*);\n"
        "typedef struct SqpyteLog SqpyteLog;\n"
        "int sqpyteWatched(Vdbe*, int);\n"
        "#define SQPYTE_OP_WATCHED 255  /* in place of an opcode, while running ahead */\n"
        "#define SQPYTE_STOP 1001       /* stopped before the opcode at p->pc */\n"
        "#define SQPYTE_HOT 1002        /* a loop is hot; p->pc is its head */\n"
        "#define SQPYTE_TIER_C 0\n"
        "#define SQPYTE_TIER_VM 1\n",
    ),
]
