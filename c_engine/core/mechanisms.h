/*
** The one table of all mechanisms that can be switched off: SQPYTE_WITHOUT=name,... C takes it from here. For Python,
** c_engine/build/mechanisms.py reads this file and makes generated/mechanisms.py of it, for the docs, the benchmarks and
** the tests. settings.c has what is switched off.
**
** A row: the name in C; who reads the switch (VM, ENGINE, MODULE); the name; the opcodes that C then executes, for the
** VM's groups; and what happens without it. To rename a mechanism for users, change the third column.
**
** Also included by the edited sqlite3.c.
*/
#ifndef SQPYTE_MECHANISMS_H
#define SQPYTE_MECHANISMS_H

#define SQPYTE_MECHANISMS(M) \
  M(AGGREGATES, VM, "aggregates", "AggStep AggStep1", "") \
  M(ARITHMETIC, VM, "arithmetic", "Add Subtract Multiply Divide Remainder", "") \
  M(COMPARISON, VM, "comparison", "Eq Ne Lt Le Gt Ge", "") \
  M(CURSORS, VM, "cursors", "Next Prev", "") \
  M(FUNCTIONS, VM, "functions", "Function PureFunc", "") \
  M(RECORD_DECODING, VM, "record-decoding", "Column", "") \
  M(SORTER, VM, "sorter", "MakeRecord SorterInsert SorterSort SorterData SorterNext", "") \
  M(TYPE_SPECIALISATION, VM, "type-specialisation", "", \
    "numbers stay in their Mem: written there at once, their type looked at at each use") \
  M(CARDINALITY, ENGINE, "cardinality", "", "what is left of a loop is not estimated: what has been done decides") \
  M(COLLATION_RANKS, ENGINE, "collation-ranks", "", "a sort calls a Python collation for each comparison") \
  M(CURSOR_REUSE, ENGINE, "cursor-reuse", "", "a subquery opens its cursors each time that it is evaluated") \
  M(INDEX_PREFETCH, ENGINE, "index-prefetch", "", "a row that an index leads to is asked for when it is visited") \
  M(ISO_DATES, ENGINE, "iso-dates", "", "dates are compared as other texts of numeric affinity, which may be numbers") \
  M(KEY_LISTS, ENGINE, "key-lists", "", "records of few different keys are merged like others") \
  M(LEAF_SEEKS, ENGINE, "leaf-seeks", "", "each seek begins at the root of the B-tree") \
  M(LOCATED_ROWS, ENGINE, "located-rows", "", "rows are sought by a B-tree's cursor, though the file is a map") \
  M(MEMOIZE, ENGINE, "memoize", "", "correlated subqueries are computed again for values that come again") \
  M(MMAP, ENGINE, "mmap", "", "each page is read by a system call, unless the program gives mmap_size") \
  M(PREPARED_PATTERNS, ENGINE, "prepared-patterns", "", "LIKE and GLOB go through their pattern for each text") \
  M(ROW_CACHE, ENGINE, "row-cache", "", \
    "rows that are sought by rowid again and again are sought in the B-tree each time") \
  M(SORT_KEYS, ENGINE, "sort-keys", "", "the sorter compares records, not keys of 16 bytes") \
  M(SORTER_BUFFERS, ENGINE, "sorter-buffers", "", "a sorter's runs are written and read by the page") \
  M(STRING_CACHE, ENGINE, "string-cache", "", "a short text that comes again is a new str each time") \
  M(CODE_CACHE, MODULE, "code-cache", "", "functions that every program needs are compiled in each process") \
  M(FUSED_CALLS, MODULE, "fused-calls", "", "one C call for each parameter, step and column") \
  M(PAGE_BATCHES, MODULE, "page-batches", "", "rows of a scan are computed in C") \
  M(ROW_BATCHES, MODULE, "row-batches", "", "one C call for each row") \
  M(SINKS, MODULE, "sinks", "", "functions written in Python whose results C stores are called back from C") \
  M(SLICES, MODULE, "slices", "", "functions written in Python are called back from C in joins, index scans and groups") \
  M(STEADY_TRACES, MODULE, "steady-traces", "", "PyPy's JIT begins traces of inlined loops where it likes") \
  M(VARYING_TYPES, MODULE, "varying-types", "", \
    "values are handled one by one, and loops inlined, however their types vary from row to row") \
  M(WINDOW_LOGS, MODULE, "window-logs", "", "window functions written in Python are called back from C")

#define SQPYTE_NUMBER_OF_MECHANISM(id, reader, zName, zOpcodes, zWithout) SQPYTE_MECHANISM_##id,
enum { SQPYTE_MECHANISMS(SQPYTE_NUMBER_OF_MECHANISM) SQPYTE_MECHANISM_COUNT };

/* What is switched off; settings.c writes it. A byte each, so that any thread may read it at any time. */
static u8 sqpyteOff[SQPYTE_MECHANISM_COUNT];
#define SQPYTE_OFF(id) (sqpyteOff[SQPYTE_MECHANISM_##id])

/* How often each mechanism has done something, where that is rare enough to be counted. No locked instruction: two
** threads at once may count one. */
static u64 sqpyteUsed[SQPYTE_MECHANISM_COUNT];
#define SQPYTE_COUNT(id) AtomicStore(&sqpyteUsed[SQPYTE_MECHANISM_##id], \
                                     AtomicLoad(&sqpyteUsed[SQPYTE_MECHANISM_##id])+1)

#endif
