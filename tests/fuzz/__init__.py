"""Fuzzers: generated work, done in many ways, must give one answer.

`python -m tests.fuzz --seconds 600 --seed 1` runs all kinds in turns; `make fuzz SECONDS=600` is that.
A failing case is shrunk and kept under build/fuzz/failures, with the command that runs it again.

    scripts      generated schemas and statements over the C API, ours against stock
    module       the same over the DB-API, with functions written in Python
    callbacks    what Python code that SQLite calls may do, on two connections
    oracles      three queries that must agree with one another, without a second engine
    writers      stock and ours taking turns as writers of one file
    kills        writers of one file, killed in the middle

    chance.py, literals.py, expressions.py, schema.py,
    selects.py, writes.py, scripts.py                       the grammar
    ways.py                                                 in which configuration ours runs
    session.py, module_session.py, child.py                 the worker's side
    kinds.py                                                what a kind is; scripts and module
    callbacks.py, callback_session.py                       callbacks
    oracles.py, oracle_cases.py                             oracles
    transactions.py, writers.py, kills.py                   writers and kills
    shrink.py, failures.py                                  making a failure small, and keeping it
    campaign.py, __main__.py                                the loop, and the command line
    test_*.py                                               a short part, and the oracles by hypothesis
"""
