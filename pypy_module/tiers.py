"""Where the inliner joins in: a connection asks it, once a statement is bound, to produce the rows.

`planner` is None until the inliner installs itself: an object with

* `considers(statement)`: whether it is to be asked about the statement at all (bool);
* `plan(connection, statement)`: the statement is bound and hasn't been stepped. It returns
  (runner, ''), or (None, reason), and isn't asked again before functions are registered anew.

A runner is an iterator over all rows as tuples, like a cursor one row ahead of what it hands out.
It has `statement`, and `settle()`, which brings the statement's state in C up to date and returns
the next row, or None if the statement's row buffer holds it. The connection sets its `owner`, a
weak reference to the cursor, and calls `settle()` before anything that may write, move pages or
change the schema; the cursor then goes on in C.

For `explain` the planner has `explain(connection, statement)`, which returns whether the statement
is inlined (bool), why or why not, and details such as the generated code (both str).
"""

from typing import Any

planner: Any = None
