"""Where the inliner joins in.

`planner` is None until the inliner installs itself (see policy.py): an object with

* `considers(statement)`: how the inliner is interested in a statement: NOT, LATER or AT_ONCE;
* `begin(connection, cursor, statement)`: for AT_ONCE, in place of the statement's first step. It is
  bound and hasn't been stepped;
* `take_over(connection, cursor, statement)`: in place of a later step, when the statement's
  `tier_up` has come to an end: it has returned so many rows from C;
* `explain(connection, statement)`: whether the statement is inlined (bool), why or why not, details
  such as the generated code (both str), and by pc where opcodes run (dict of int to str).

`begin` and `take_over` return what the step returned, or INLINED: then a runner stands in the
cursor for its statement. A runner is an iterator over the rows as tuples, and is one row ahead of
what it hands out as far as anybody can see. When it is at its end, or can't go on, it puts the
statement back into the cursor. It has

* `deoptimize()`: called before anything that may write, move pages or change the schema: the statement
  goes on in C from now on;
* `abandon()`: its rows aren't wanted any more;
* `pass_row(cursor)`, if it leaves rows with the cursor: the one that the cursor had kept, because making it
  failed at first, has been handed out.
"""

from pypy_module.dbapi.mixin import Any

INLINED = -1  # beside SQLite's codes: the inliner has taken the statement
NOT, LATER, AT_ONCE = range(3)

planner: Any = None
