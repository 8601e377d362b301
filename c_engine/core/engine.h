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

/* The VM, and page batches, read a column in its page, where upstream copies it, and looks at SQLITE_LIMIT_LENGTH when it
** makes room for the copy. With at least this limit, twice the largest page, no column of a page meets it, and no
** register's memory has become larger than it by such a copy. */
#define SQPYTE_LEAST_LENGTH 131072

/* Why a statement runs in the tier where it runs (sqpyte_why). */
#define SQPYTE_WHY_COLD 0       /* not hot yet */
#define SQPYTE_WHY_HOT 1        /* a loop became hot: it runs in the VM */
#define SQPYTE_WHY_NO_VM 2      /* no VM in this library */
#define SQPYTE_WHY_THREAD 3     /* another statement is in the VM */
#define SQPYTE_WHY_OPCODE 7     /* the hot loop holds opcodes left in C */
#define SQPYTE_WHY_REFUSED 8    /* it bailed out of the VM too often */
#define SQPYTE_WHY_FULL 10      /* programs and machine code take what they may, or the system has no memory for them */
#define SQPYTE_WHY_SEEKS 11     /* the hot loop seeks, and isn't expected to be faster there (tiering.c) */
#define SQPYTE_WHY_SHORT 12     /* too little seems to be left to do to pay for tracing (tiering.c) */
#define SQPYTE_WHY_LIMIT 13     /* SQLITE_LIMIT_LENGTH is so low that it may be met within a page */
#define SQPYTE_WHY_LARGE 14     /* the program is too large to be analysed, or its loops to be compiled */
#define SQPYTE_WHY_EXECUTABLE 15 /* the system forbids memory that is both written and executed */
#define SQPYTE_WHY_FALLS 16     /* its rows take more paths than can be compiled (hopeless.py) */

/* After this many refusals within its life a statement stays in C. */
#define SQPYTE_MAX_REFUSALS 8

/* What the VM holds (sqpyte_memory), as its last run left it. */
#define SQPYTE_MEMORY_LIMIT 0      /* bytes that it may hold */
#define SQPYTE_MEMORY_USED 1       /* bytes: decoded programs, machine code and what belongs to it */
#define SQPYTE_MEMORY_CODE 2       /* bytes of machine code */
#define SQPYTE_MEMORY_PROGRAMS 3   /* programs */
#define SQPYTE_MEMORY_FORGOTTEN 4  /* programs forgotten to make room, since the start */
#define SQPYTE_MEMORY_COUNT 5

/* When the VM may take a statement over (sqpyte_set_mode). */
#define SQPYTE_MODE_OFF 0       /* never */
#define SQPYTE_MODE_HOT 1       /* hot loops that it covers */
#define SQPYTE_MODE_ALWAYS 2    /* every statement from its first opcode */

/* Sets when the VM takes statements over, and after how many back-edges
** within one sqlite3_step a loop without seeks enters it. With a negative
** threshold, and at first, what is left to do decides (tiering.c); 0 keeps what
** there is. */
SQPYTE_EXPORT int sqpyte_set_mode(int mode, int threshold);
SQPYTE_EXPORT int sqpyte_mode(void);

/* Sets how many bytes programs and their machine code may take. When they take
** more, the VM forgets those that were not used for longest; a statement for
** which there is no room then stays in C (SQPYTE_WHY_FULL). */
SQPYTE_EXPORT int sqpyte_set_memory(long long limit);
/* One of SQPYTE_MEMORY_*; -1 for another number. */
SQPYTE_EXPORT long long sqpyte_memory(int what);

/* Changes settings of the process, all of them or, if one is wrong, none; from any thread. mode is one of
** SQPYTE_MODE_*; threshold a number of back-edges, whose default, 3000, has what is left to do decide again; memory is
** in MiB; zWithout names what is switched off (mechanisms.h), with commas, and all else is on. SQPYTE_KEEP and a null
** pointer keep what there is. Returns 0; or with a message in zError, which has room for nError bytes (2400 are
** enough), SQLITE_ERROR for a value that there isn't, SQLITE_MISUSE if it is too late because the VM has started. */
#define SQPYTE_KEEP -1
SQPYTE_EXPORT int sqpyte_configure(int mode, long long threshold, long long memory, const char *zWithout,
    char *zError, int nError);
SQPYTE_EXPORT int sqpyte_threshold(void);
/* Stores what is switched off, with commas, in zNames, which has room for nNames bytes; returns the names' size. */
SQPYTE_EXPORT int sqpyte_without(char *zNames, int nNames);
/* Of the mechanism of this name, whether it is switched off, and how often it has done something, if that is counted;
** -1 if there is none. */
SQPYTE_EXPORT int sqpyte_switched_off(const char *zName);
SQPYTE_EXPORT long long sqpyte_used(const char *zName);

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
** sqlite3VdbeExec. Not counted is what upstream hasn't: Memoize, and the opcodes for it. */
SQPYTE_EXPORT int sqpyte_step_one(void *pVdbe, int counted);
/* The progress handler: in how many opcodes it is to be called, none or fewer if it is due, the largest integer if there
** is none. When nLeft of them are left: counting those that were passed; and that with the calls that are due, which may
** run any SQL. The first is to be asked again after either. */
SQPYTE_EXPORT long long sqpyte_until_progress(void *pVdbe);
SQPYTE_EXPORT void sqpyte_count_steps(void *pVdbe, long long nLeft);
SQPYTE_EXPORT int sqpyte_progress(void *pVdbe, long long nLeft);
/* Writes a register. */
SQPYTE_EXPORT void sqpyte_set_null(void *pMem);
SQPYTE_EXPORT void sqpyte_set_int(void *pMem, long long v);
/* The form of bytes is a text's encoding (SQLITE_UTF8, SQLITE_UTF16LE, SQLITE_UTF16BE), or that with SQPYTE_BLOB: as
** which text a blob is read where a number or a text is wanted. */
#define SQPYTE_BLOB 4
#define SQPYTE_ENCODING(form) ((form) & 3)
/* Text or blob, copied; returns 0, or SQLITE_NOMEM / SQLITE_TOOBIG. */
SQPYTE_EXPORT int sqpyte_set_bytes(void *pMem, long addr, long n, int form);
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
** integer at pOut, 2 a double there, -1 no memory to say. */
SQPYTE_EXPORT int sqpyte_text_to_number(long a, long n, int form, void *pOut);
/* -1, 0 or 1, or that there is no memory to say. */
#define SQPYTE_NO_ORDER 2
SQPYTE_EXPORT int sqpyte_compare_numeric_texts(long a, long na, long b, long nb, int form);
SQPYTE_EXPORT int sqpyte_concat(void *pMemOut, long a, long na, long b, long nb);
/* The sorter: address of the current record, its size in *pn; insert the
** record in pMem; next: 0, SQLITE_DONE or an error. */
SQPYTE_EXPORT long sqpyte_sorter_row(void *pVdbeCursor, void *pn);
SQPYTE_EXPORT int sqpyte_sorter_insert(void *pVdbeCursor, void *pMem);
SQPYTE_EXPORT int sqpyte_sorter_next(void *pVdbe, void *pVdbeCursor);
/* A record of n fields, 24 bytes each: tag (0 NULL, 1 integer, 2 real, 3 text,
** 4 blob), value or address, size. Returns 0, SQLITE_TOOBIG or SQLITE_NOMEM. */
SQPYTE_EXPORT int sqpyte_make_record(void *pVdbe, void *pMemOut, long fields, int n);

/* Seeks (seek.c): 0, 1 or 2 as the helper says, or minus a result code. */
SQPYTE_EXPORT int sqpyte_seek_rowid(void *pVdbeCursor, long long key, void *pRow);
SQPYTE_EXPORT int sqpyte_finish_seek(void *pVdbeCursor, void *pRow);
SQPYTE_EXPORT int sqpyte_known_row(void *pVdbeCursor, void *pRow);
SQPYTE_EXPORT int sqpyte_seek_table(void *pVdbeCursor, long long key, int opcode, void *pRow);
SQPYTE_EXPORT int sqpyte_seek_index(void *pVdbeCursor, void *aMem, int n, int opcode,
    void *pRow);
SQPYTE_EXPORT int sqpyte_seek_exact(void *pVdbe, void *pVdbeCursor, void *aMem, int n);
SQPYTE_EXPORT int sqpyte_last(void *pVdbeCursor);
SQPYTE_EXPORT int sqpyte_is_empty(void *pVdbeCursor);
SQPYTE_EXPORT void sqpyte_null_row(void *pVdbeCursor, int nullRow);
SQPYTE_EXPORT long long sqpyte_filter_text(long a, long n);
SQPYTE_EXPORT int sqpyte_filter_bit(void *pMem, long long h, int add);
/* SQL functions and conversions: functions.c, texts.c, patterns.c,
** convert.c. */
#define SQPYTE_FUNC_OTHER 0         /* SQLite's own, without a handler */
#define SQPYTE_FUNC_USER 1          /* may run SQL and move cursors */
#define SQPYTE_FUNC_LIKE 2
#define SQPYTE_FUNC_LIKE_CASE 3     /* after PRAGMA case_sensitive_like */
#define SQPYTE_FUNC_GLOB 4
#define SQPYTE_FUNC_SUBSTR 5
#define SQPYTE_FUNC_LENGTH 6
#define SQPYTE_FUNC_OCTET_LENGTH 7
#define SQPYTE_FUNC_ABS 8
#define SQPYTE_FUNC_ROUND 9
#define SQPYTE_FUNC_UPPER 10
#define SQPYTE_FUNC_LOWER 11
#define SQPYTE_FUNC_INSTR 12
#define SQPYTE_FUNC_MIN 13
#define SQPYTE_FUNC_MAX 14
#define SQPYTE_FUNC_TYPEOF 15
#define SQPYTE_FUNC_NULLIF 16
#define SQPYTE_FUNC_DATE 17
#define SQPYTE_FUNC_STRFTIME 18
#define SQPYTE_SKIPPED 1003         /* of sqpyte_agg_step: not the new extreme */
#define SQPYTE_AS_NUMERIC 1
#define SQPYTE_AS_CAST 2
#define SQPYTE_AS_INT 3
#define SQPYTE_AS_REAL 4
#define SQPYTE_AS_OPERAND 5
SQPYTE_EXPORT int sqpyte_function_kind(void *pFuncDef, int enc);
/* The opcode at pc, its operands in their registers: 0 or a result code. Of a function that isn't SQLite's own, all of
** the statement's state is in C: it may run any SQL. */
SQPYTE_EXPORT int sqpyte_function(void *pVdbe, int pc);
SQPYTE_EXPORT int sqpyte_agg_step(void *pVdbe, int pc);
SQPYTE_EXPORT int sqpyte_agg_result(void *pVdbe, int pc);
SQPYTE_EXPORT void sqpyte_lend(void *pMem, long addr, long n, int form);
SQPYTE_EXPORT long sqpyte_type_name(int iType);
SQPYTE_EXPORT int sqpyte_fold(void *pMemOut, long addr, long n, int toUpper);
SQPYTE_EXPORT long sqpyte_text_length(long addr, long n);
SQPYTE_EXPORT long sqpyte_substr(long addr, long n, int isText, long long p1, long long p2,
                                 void *pn);
SQPYTE_EXPORT long sqpyte_instr(long a, long na, long b, long nb, int isText);
SQPYTE_EXPORT double sqpyte_round(double r, long long nDigit);
SQPYTE_EXPORT int sqpyte_iso_date(long addr, long n);
SQPYTE_EXPORT int sqpyte_prepare_pattern(long addr, long n, int kind, long out);
SQPYTE_EXPORT int sqpyte_match_prepared(long pattern, long addr, long n);
SQPYTE_EXPORT int sqpyte_like(long pattern, long nPattern, long addr, long n, int kind);
SQPYTE_EXPORT int sqpyte_bytes_to_number(long addr, long n, int form, int what, void *pOut);
SQPYTE_EXPORT int sqpyte_number_to_text(void *pMem);
SQPYTE_EXPORT int sqpyte_rowset_add(void *pMem, long long v);
SQPYTE_EXPORT int sqpyte_rowset_next(void *pMem, void *pOut);
SQPYTE_EXPORT int sqpyte_rowset_test(void *pMem, int iSet, long long v);

/* The opcodes Memoize and MemoizeStore at pc (memoize.c), their registers in their Mems: whether the results
** are known, -1 without memory. */
SQPYTE_EXPORT int sqpyte_memoize(void *pVdbe, int pc);
SQPYTE_EXPORT void sqpyte_memoize_store(void *pVdbe, int pc);

/* The program's content as bytes (at most nMax of them at buf); its size. */
SQPYTE_EXPORT long sqpyte_program_key(void *pVdbe, long buf, long nMax);
/* Which of these holds for the loops that begin at the opcode head. */
#define SQPYTE_COVERED_NOT 0
#define SQPYTE_COVERED 1
#define SQPYTE_COVERED_SEEKS 2  /* with opcodes that go down a B-tree */
SQPYTE_EXPORT int sqpyte_covers_loop(void *pVdbe, int head);
SQPYTE_EXPORT int sqpyte_may_seek(void *pVdbe);

/* Says on stderr that SQPYTE_JIT could not be understood. */
SQPYTE_EXPORT void sqpyte_complain(void);
/* What is switched off of the VM (mechanisms.h), which reads it when it starts: whether C executes an opcode, and
** whether numbers stay in their Mem. */
SQPYTE_EXPORT int sqpyte_left_in_c(int opcode);
SQPYTE_EXPORT int sqpyte_numbers_in_mem(void);
/* SQPYTE_MEMORY_LIMIT; and what the others of SQPYTE_MEMORY_* are now. */
SQPYTE_EXPORT long sqpyte_memory_limit(void);
SQPYTE_EXPORT void sqpyte_note_memory(long nUsed, long nCode, long nProgram, long nForgotten);

/* SQLite's own (VISIBLE in apply.py) */
#ifndef SQLITE_CORE
int sqlite3BtreeNext(void *pBtCursor, int flags);
int sqlite3BtreePrevious(void *pBtCursor, int flags);
int sqlite3BtreeFirst(void *pBtCursor, void *pRes);
long long sqlite3BtreeIntegerKey(void *pBtCursor);
#endif

#ifdef __cplusplus
}
#endif
#endif
