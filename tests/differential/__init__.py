"""Differential tests: every tier against the stock library, on generated tables and queries.

A *script* (scripts.py) says what to do with a database: run statements, step through several at
once, write between rows.  Every tier (tiers.py) runs it in a process of its own (worker.py), so a
crash is a failed test like any other, and no two SQLite libraries share a process.  What comes
back is a *transcript*: every row with exact types and bits, every error.  All transcripts must be
equal to stock's.

    values.py, tables.py, expressions.py, queries.py,
    interleavings.py, corruption.py                     what hypothesis generates
    capi.py, capi_session.py                            scripts over the C API
    module_session.py                                   scripts over a DB-API module
    conftest.py                                         the comparison
    budget.py                                           how many examples
    replay.py                                           failing scripts, kept and repeated

SQPYTE_DIFFERENTIAL=engine,module-inline,... leaves all other tiers out.
"""
