"""sqllogictest: SQLite's own scripts of queries and answers, run against any library of ours.

`python -m tests.sqllogictest [FILES...]` runs scripts and says what passed (cli.py). Their format is
described at https://sqlite.org/sqllogictest/doc/trunk/about.wiki.

    records.py      a script's records: statements, queries, conditions
    values.py       a query's values as the scripts write them: rendered, sorted, hashed
    script.py       runs one script on one connection
    child.py        does so in a process of its own
    processes.py    starts such processes and watches over them
    cli.py          the command line

The scripts are in ../shared/sqllogictest, beside this repository, or in the folder that
SQPYTE_SQLLOGICTEST names; a few of our own, in scripts/, are about the runner itself.
"""
