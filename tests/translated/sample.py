"""A table, queries over it whose loops the VM takes, and how they end."""
from tests.differential.sessions.capi import Connection, Error

ROWS = 3000
SCAN = "SELECT count(*), sum(b), avg(c), min(d), max(b) FROM t WHERE b > -20"
GROUPED = "SELECT d, count(*), sum(c), max(b) FROM t WHERE a > 5 GROUP BY d"


def filled(library, name=":memory:"):
    """A connection with a table t of ROWS rows."""
    connection = Connection(library, name)
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c REAL, d TEXT)")
    connection.execute("CREATE TABLE log(text, n)")
    connection.execute("""INSERT INTO t WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL
        SELECT n + 1 FROM r LIMIT %d) SELECT n, n %% 97 - 40, n / 8.0, 'name ' || (n %% 13)
        FROM r""" % ROWS)
    return connection


def attempt(connection, sql):
    """The rows of a statement, or its error and those before it."""
    rows = []
    try:
        statement = connection.prepare(sql)
    except Error as error:
        return "prepare", error.code, error.message
    try:
        while statement.step() is not None:
            rows.append(statement.row)
    except Error as error:
        return error.code, error.message, len(rows), rows[-1:]
    finally:
        statement.finalize()
    return rows
