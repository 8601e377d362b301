"""Where the inliner joins in: all that the DB-API knows of it, and all that it does with the DB-API.

`planner` is None until an inliner is installed: an object with

* `tier_up`: of new statements (int);
* `considers(statement)`: how the inliner is interested in a statement: NOT, LATER or AT_ONCE;
* `begin(session, result, statement)`: for AT_ONCE, in place of the statement's first step. It is
  bound and hasn't been stepped;
* `take_over(session, result, statement)`: in place of a later step, when the statement's
  `tier_up` has come to an end: it has returned so many rows from C;
* `explain(session, statement, ran)`: whether the statement has been inlined, if it has `ran` (bool), else whether it
  can be (bool); why or why not, details such as the generated code (both str), and by pc where opcodes run (dict of int
  to str).

`begin` and `take_over` return what the step returned, or INLINED: then a runner stands in the ResultSet for
its statement. A runner is an iterator over the rows as tuples, and is one row ahead of what it hands out as
far as anybody can see. It has

* `deoptimize()`: called before anything that may write, move pages or change the schema, while the runner is
  in the session's `runners`: the statement goes on in C from now on;
* `may_be_asked()`: whether it can be asked to `deoptimize` at this moment (bool). A runner hands its statement back
  only where its state is whole: between two rows, in a call of the program's functions, and while C runs. But Python
  runs a signal's handler, and an object's finalizer, between any two instructions, also between two of a runner's. What
  writes to the database there is refused with an error: the rest of the row would be read from where something else is
  by then;
* `be_wary()`: a text factory has been set, perhaps by another thread: the next row is not to be handed out without a
  look at `plain`;
* `leave_first_row(result)`: called with the ResultSet where `execute` makes the first row (before Python 3.11): the
  runner leaves if a function has set a text factory, or a text of the row isn't UTF-8;
* `leave_row(result)`: called with it where another text factory is set (before Python 3.11), and the runner hasn't
  left: the ResultSet gets the next row, if it is one that the factory would change;
* `claimed(result)`: called with the ResultSet when the runner, asked for a row, has raised `Claim`;
* `abandon(claim)`: its rows aren't wanted any more; it gives up its statement if `claim` is the statement's `owner`;
* `give_up()`: it can't be asked, and nobody asks it for a row any more; its statement may be another runner's by now;
* `pass_row(result)`, if it leaves rows with the ResultSet: the one that the ResultSet had kept, because making
  it failed at first, has been handed out.

A Statement has for the inliner

* `tier_up`: counted down with each row from C; below 0 it never comes to an end. The inliner sets it;
* `inlinable`: its first step is the planner's (bool). The inliner may clear it;
* `inlined`: the inliner's own, None as long as it keeps nothing. It has three methods: detach, called when the
  statement is reset or finalised; forget, called when functions or hooks are others and `tier_up` has been set anew;
  and heir, which returns what a further statement of the same SQL is to have;
* `pointer`, `sql`, `queries`, `owner`, `converters`, `reprepares`: see Statement;
* `step()`, and `grown(rc)` for what a step by other means has returned;
* `cells`: its row buffer; decoding.py has a function that makes a tuple of the row there.

A ResultSet, which is what a cursor is in the middle of, has for it

* `stand_in(runner)`: the runner takes the statement's place;
* `resume(statement)`: the statement goes on in C, when a runner is at its end, or can't go on. With a row, as
  with the other, that row comes first;
* `go_on(statement, rc)`: the same where the runner has stepped the statement, which has returned `rc`; it deals with
  what isn't a row, and with what is to be raised;
* `advance()`: the next row, for a runner that has left when it was asked for one;
* `row`: the next row, if there is one already, and `decoded_early(row)`: what the text factory makes of it;
* `drop()`: nobody wants the rest.

A Session has for it

* `runners`: those that are to be told of changes (list), and `roll_back()`, which tells them;
* `raised`: what is to be raised when C has returned, or None; `error()`: SQLite's last error, in place of that;
* `give_up(statement)`: nobody uses it any more;
* `db`, `plain`, `detect_types`, `hooks`, `calls`, `python`: see Session.
"""

from pypy_module.dbapi.mixin import Any


class Claim(Exception):
    """Raised by a runner to which its ResultSet is garbage, as weak references to it are dead: a finalizer uses it."""


INLINED = -1  # beside SQLite's codes: the inliner has taken the statement
NOT, LATER, AT_ONCE = range(3)

planner: Any = None
