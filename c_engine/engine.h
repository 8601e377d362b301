/*
** What the engine offers beyond SQLite's own API: the tiers, and the helpers
** that the RPython VM and the PyPy module call.
*/
#ifndef SQPYTE_ENGINE_H
#define SQPYTE_ENGINE_H

#define SQPYTE_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Why a statement runs in the tier where it runs (sqpyte_why). */
#define SQPYTE_WHY_COLD 0       /* not hot yet */
#define SQPYTE_WHY_HOT 1        /* a loop became hot: it runs in the VM */
#define SQPYTE_WHY_NO_VM 2      /* no VM in this library */
#define SQPYTE_WHY_THREAD 3     /* the JIT serves another thread */
#define SQPYTE_WHY_PROGRESS 4   /* a progress handler counts opcodes */
#define SQPYTE_WHY_SHARED 5     /* shared cache: B-trees are locked per call */
#define SQPYTE_WHY_ENCODING 6   /* the database is UTF-16 */
#define SQPYTE_WHY_OPCODE 7     /* the hot loop holds opcodes left in C */
#define SQPYTE_WHY_REFUSED 8    /* the VM handed it back too often */
#define SQPYTE_WHY_TRIGGER 9    /* the loop is inside a trigger program */
#define SQPYTE_WHY_FULL 10      /* the VM holds as many programs as it may */

/* When the VM may take a statement over (sqpyte_set_mode). */
#define SQPYTE_MODE_OFF 0       /* never */
#define SQPYTE_MODE_HOT 1       /* hot loops that it covers */
#define SQPYTE_MODE_ALWAYS 2    /* every statement from its first opcode */

/* Sets when the VM takes statements over, and after how many back-edges
** within one sqlite3_step. Threshold 0 keeps the present one. */
SQPYTE_EXPORT int sqpyte_set_mode(int mode, int threshold);
SQPYTE_EXPORT int sqpyte_mode(void);

/* The VM's entry: runs the statement from p->pc until it has to leave (with 0
** it only prepares itself).
** Returns SQLITE_ROW, a final result of sqlite3VdbeExec, or SQPYTE_STOP with
** all state in C and p->pc set: go on in C. */
typedef int (*sqpyte_vm_run_fn)(void *pVdbe);

/* Installs a VM from outside the library: the untranslated one, for tests. */
SQPYTE_EXPORT void sqpyte_set_vm(sqpyte_vm_run_fn xRun);

/* One of SQPYTE_WHY_*, for the statement's last run. */
SQPYTE_EXPORT int sqpyte_why(void *pStmt);
/* 0 for the C tier, 1 for the VM: where the statement's last run was left. */
SQPYTE_EXPORT int sqpyte_tier(void *pStmt);

/* How often the statement has entered the VM since it was prepared. */
SQPYTE_EXPORT long long sqpyte_entries(void *pStmt);

/* ---- for the VM ---- */

/* Runs the one opcode at p->pc in upstream's interpreter (a trigger program
** whole). SQPYTE_STOP: done, p->pc is the next opcode; else the result of
** sqlite3VdbeExec. */
SQPYTE_EXPORT int sqpyte_step_one(void *pVdbe);
/* Writes a register. */
SQPYTE_EXPORT void sqpyte_set_null(void *pMem);
SQPYTE_EXPORT void sqpyte_set_int(void *pMem, long long v);
SQPYTE_EXPORT void sqpyte_set_real(void *pMem, double v);
/* Text or blob, copied; returns 0, or SQLITE_NOMEM / SQLITE_TOOBIG. */
SQPYTE_EXPORT int sqpyte_set_bytes(void *pMem, long addr, long n, int isText);
/* 0: BINARY, 1: NOCASE, 2: RTRIM (the built-in ones), 3: any other. */
SQPYTE_EXPORT int sqpyte_collation_kind(void *pColl);
/* 1..: count, sum, total, avg, min, max (the built-in ones); 0: any other. */
#define SQPYTE_AGG_COUNT 1
#define SQPYTE_AGG_SUM 2
#define SQPYTE_AGG_TOTAL 3
#define SQPYTE_AGG_AVG 4
#define SQPYTE_AGG_MIN 5
#define SQPYTE_AGG_MAX 6
SQPYTE_EXPORT int sqpyte_aggregate_kind(void *pFuncDef);
/* The next sqlite3VdbeExec raises rc at the opcode pc. */
SQPYTE_EXPORT void sqpyte_fail(void *pVdbe, int pc, int rc);
/* Comparison of texts or blobs by the three built-in collations: <0, 0, >0. */
SQPYTE_EXPORT int sqpyte_compare_bytes(long a, long na, long b, long nb);
SQPYTE_EXPORT int sqpyte_compare_nocase(long a, long na, long b, long nb);
SQPYTE_EXPORT int sqpyte_compare_rtrim(long a, long na, long b, long nb);
SQPYTE_EXPORT int sqpyte_compare_int_real(long long i, double r);
/* Text to number as applyNumericAffinity does: 0 not a number, 1 a 64-bit
** integer at pOut, 2 a double there. */
SQPYTE_EXPORT int sqpyte_text_to_number(long a, long n, void *pOut);
SQPYTE_EXPORT int sqpyte_compare_numeric_texts(long a, long na, long b, long nb);
SQPYTE_EXPORT int sqpyte_aggregate_final(void *pMem, void *pFuncDef);
SQPYTE_EXPORT int sqpyte_concat(void *pMemOut, long a, long na, long b, long nb);
/* The sorter: address of the current record, its size in *pn; insert the
** record in pMem; next: 0, SQLITE_DONE or an error. */
SQPYTE_EXPORT long sqpyte_sorter_row(void *pVdbeCursor, void *pn);
SQPYTE_EXPORT int sqpyte_sorter_insert(void *pVdbeCursor, void *pMem);
SQPYTE_EXPORT int sqpyte_sorter_next(void *pVdbe, void *pVdbeCursor);
/* A record of n fields, 24 bytes each: tag (0 NULL, 1 integer, 2 real, 3 text,
** 4 blob), value or address, size. Returns 0, SQLITE_TOOBIG or SQLITE_NOMEM. */
SQPYTE_EXPORT int sqpyte_make_record(void *pVdbe, void *pMemOut, long fields, int n);

/* The program's content as bytes (at most nMax of them at buf); its size. */
SQPYTE_EXPORT long sqpyte_program_key(void *pVdbe, long buf, long nMax);
/* The VM tells which opcodes it has handlers for: 1, 2 for those that close
** loops; then whether it covers the loops that begin at an opcode. */
SQPYTE_EXPORT void sqpyte_set_covered(int opcode, int value);
SQPYTE_EXPORT int sqpyte_covers_loop(void *pVdbe, int head);

/* Says on stderr that SQPYTE_JIT could not be understood. */
SQPYTE_EXPORT void sqpyte_complain(void);

/* SQLite's own, callable because of -DSQLITE_PRIVATE= */
#ifndef SQLITE_CORE
int sqlite3BtreeNext(void *pBtCursor, int flags);
int sqlite3BtreeFirst(void *pBtCursor, void *pRes);
long long sqlite3BtreeIntegerKey(void *pBtCursor);
#endif

#ifdef __cplusplus
}
#endif
#endif
