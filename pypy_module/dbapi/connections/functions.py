"""SQL functions, aggregates and window functions written in Python.

A call from SQLite finds the arguments decoded to tags and words in a buffer of the function (its
frame), and leaves the result there, so that it makes no call back into C (see c_engine/rows/fused.h).
Calls may nest: C gives each the frame as it has left it, whatever a call within it has done to it.
"""


from pypy_module.dbapi import errors
from pypy_module.dbapi.arguments import c_int, checked_text, folded
from pypy_module.dbapi.connections.callbacks import UTF8, context_of, fail, result_blob, result_bytes
from pypy_module.dbapi.connections.session import Owner
from pypy_module.dbapi.deprecation import by_position
from pypy_module.dbapi.mixin import Any, exclusive
from pypy_module.dbapi.statements import cell_values, variety
from pypy_module.dbapi.statements.cell_values import FLOAT, INTEGER
from pypy_module.dbapi.statements.cell_values import NULL as NULL_TAG
from pypy_module.dbapi.statements.locks import tried
from pypy_module.ffi.library import NULL, NUMBERS, address_of, ffi, lib, text

KEY, RESULT = NUMBERS['SQPYTE_CALL_KEY'], NUMBERS['SQPYTE_CALL_RESULT']
FAILED = NUMBERS['SQPYTE_CALL_FAILED']
COUNT, ARGS = NUMBERS['SQPYTE_CALL_COUNT'], NUMBERS['SQPYTE_CALL_ARGS']
KINDS_SEEN, VARIETY = NUMBERS['SQPYTE_CALL_KINDS'], NUMBERS['SQPYTE_CALL_VARIETY']
DO_FUNCTION, DO_STEP = NUMBERS['SQPYTE_DO_FUNCTION'], NUMBERS['SQPYTE_DO_STEP']
DO_FINAL, DO_VALUE = NUMBERS['SQPYTE_DO_FINAL'], NUMBERS['SQPYTE_DO_VALUE']
DO_INVERSE = NUMBERS['SQPYTE_DO_INVERSE']
DETERMINISTIC = NUMBERS['SQLITE_DETERMINISTIC']
KINDS = {DO_FUNCTION: 'function', DO_FINAL: 'aggregate', DO_INVERSE: 'window_function'}
UNROLLED = 10  # most arguments that a generated reader takes


class Frame:
    """The buffer of one function, in three views: int64, double and `char *`."""

    def __init__(self, narg):
        """Make room for `narg` arguments (int), or for as many as there can be if it is -1."""
        most = lib.sqpyte_max_function_args()
        count = narg if 0 <= narg <= most else most
        self.words = ARGS + 2 * count
        self.cells = ffi.new('int64_t[]', self.words)
        self.cells[VARIETY] = variety.before()
        self.doubles = ffi.cast('double *', self.cells)
        self.texts = ffi.cast('char **', self.cells)


def read_any(cells, doubles, texts):
    """Return the arguments of the call in a frame, however many there are (tuple)."""
    return tuple([cell_values.value(cells, doubles, texts, tag) for tag in range(ARGS, ARGS + 2 * cells[COUNT], 2)])


_readers: dict = {}


def reader(narg):
    """Return the function that reads `narg` arguments from a frame's three views, as a tuple."""
    if not 0 <= narg <= UNROLLED:
        return read_any
    function = _readers.get(narg)
    if function is None:
        function = _readers[narg] = cell_values.reader('arguments', narg, ARGS, KINDS_SEEN, VARIETY)
    return function


def give_int(frame, value):
    """Put an int in a frame; return its tag. Raises OverflowError."""
    try:
        frame.cells[RESULT] = value
    except OverflowError:
        raise errors.out_of_range() from None
    return INTEGER


def give(frame, value):
    """Put a function's result in its frame, or hand it to SQLite; return its tag, or 0.

    Raises:
        OverflowError: an int or a text or blob is too large.
        ProgrammingError: SQLite has no such type.
    """
    kind = type(value)
    if kind is float:
        frame.doubles[RESULT] = value
        return FLOAT
    if kind is int:
        return give_int(frame, value)
    if value is None:
        return NULL_TAG
    if issubclass(kind, str):
        return result_bytes(context_of(frame.cells), str.encode(value), True)
    if issubclass(kind, int):
        return give_int(frame, int.__add__(value, 0))
    if issubclass(kind, float):
        frame.doubles[RESULT] = float.__mul__(value, 1.0)
        return FLOAT
    return result_bytes(context_of(frame.cells), result_blob(value), False)


def scalar(function, narg, frame, calls):
    """Return what SQLite calls for a scalar function written as `function`; see Calls."""
    cells, doubles, texts = frame.cells, frame.doubles, frame.texts
    read = reader(narg)

    def called(what):
        calls.depth += 1
        try:
            calls.hear_at_times()
            return give(frame, function(*read(cells, doubles, texts)))
        except BaseException as error:
            return fail(context_of(cells), error, 'user-defined function raised exception', function)
        finally:
            calls.depth -= 1
    return called


def ignore(kind, error, traceback):
    """Called when a callback has raised; at the end of the stack `fail` does, in its turn."""


class Aggregate:
    """The instances of an aggregate's class, by the keys that SQLite keeps for them."""

    def __init__(self, made_by, narg, frame, calls):
        """Take the user's class `made_by`, its number of arguments, the Frame and the Calls."""
        self.calls = calls
        self.made_by = made_by
        self.frame = frame
        self.read = reader(narg)
        self.instances: dict = {}
        self.last_key = 0

    def adopt(self, instance):
        """Take over an instance made elsewhere; return its key."""
        self.last_key = key = self.last_key + 1
        self.instances[key] = instance
        return key

    def called(self, what):
        """Do one of SQPYTE_DO_...; return the result's tag, or 0."""
        frame = self.frame
        cells = frame.cells
        key = cells[KEY]
        self.calls.depth += 1
        message = "'finalize' method raised error"
        try:
            if what == DO_FINAL or what == DO_VALUE:
                return self.result(what, key)
            message = "'step' method raised error"
            self.calls.hear_at_times()
            try:    # before any of the user's code runs: texts are read where SQLite has them
                arguments, unreadable = self.read(cells, frame.doubles, frame.texts), None
            except UnicodeDecodeError as error:     # the instance is made all the same, as sqlite3 does
                arguments, unreadable = (), error
            if key == 0:
                message = "'__init__' method raised error"
                instance = self.made_by()
                key = self.adopt(instance)
            else:
                instance = self.instances[key]
            if unreadable is not None:
                message = "'step' method raised error"
                raise unreadable
            if what == DO_STEP:
                message = "'step' method not defined"
                method = instance.step
                message = "'step' method raised error"
            else:
                message = "'inverse' method not defined"
                method = instance.inverse
                message = "'inverse' method raised error"
            method(*arguments)
            return 0
        except BaseException as error:
            return fail(context_of(cells), error, "user-defined aggregate's " + message, self.made_by)
        finally:
            self.calls.depth -= 1
            cells[KEY] = key

    def result(self, what, key):
        """Call `finalize` or `value`, and give SQLite what it returns; return its tag, or 0."""
        instance = self.instances[key]
        name = 'finalize' if what == DO_FINAL else 'value'
        problem: Any = 'raised error'
        try:
            if what == DO_FINAL:
                value = instance.finalize()
            else:
                value = instance.value()
                problem = None
            return give(self.frame, value)
        except BaseException as error:
            if isinstance(error, AttributeError):
                problem = 'not defined'
            message = "user-defined aggregate's '%s' method %s" % (name, problem)
            if problem is None:
                message = "unable to set result from user-defined aggregate's 'value' method"
            return fail(context_of(self.frame.cells), error, message, self.made_by)
        finally:
            if what == DO_FINAL:
                del self.instances[key]


class Functions(Owner):
    """The part of a connection that defines functions."""

    __slots__ = ()

    @exclusive
    def _define_(self, name, narg, flags, what, made_by):
        """Define a function (`made_by` callable), or remove it (None); return SQLite's code."""
        name = checked_text(name, 'create_%s() argument %s' % (KINDS[what], 1 if what == DO_INVERSE else "'name'"))
        narg = c_int(narg)
        session = self._session_
        session.check()
        session.before_c_call_that_may_write()
        if made_by is None:
            rc = tried(session, lambda: lib.sqlite3_create_function_v2(
                session.db, name.encode(), narg, UTF8, NULL, NULL, NULL, NULL, NULL))
            held = None
        else:
            frame = Frame(narg)
            python = made_by
            if what == DO_FUNCTION:
                called = scalar(made_by, narg, frame, session.calls)
            else:
                python = Aggregate(made_by, narg, frame, session.calls)
                called = python.called
            callback = ffi.callback('int(int)', called, error=FAILED, onerror=ignore)
            definition = ffi.new('SqpyteFunction *', [callback, frame.cells, frame.words])
            held = (definition, callback, frame)
            rc = tried(session, lambda: lib.sqpyte_create_function(
                session.db, name.encode(), narg, UTF8 | flags, what, definition))
        if rc == 0:
            key = folded(name), narg
            before = session.registered.get(key)
            if before is not None:
                del session.python[address_of(before[0])]
            if held is not None:
                session.python[address_of(held[0])] = python
            session.registered[key] = held
            session.plan_anew()
        return rc

    @by_position('name', 'narg', 'func')
    def create_function(self, name, narg, func, *, deterministic=False):
        """Define a SQL function.

        Args:
            name: its name in SQL (str).
            narg: how many arguments it has (int), -1 for any number.
            func: what is called, with int, float, str, bytes or None, and returns one of these; None removes the
                function.
            deterministic: whether equal arguments always give equal results (bool).
        Raises:
            OperationalError: the function can't be defined.
        """
        flags = DETERMINISTIC if deterministic else 0
        if self._define_(name, narg, flags, DO_FUNCTION, func):
            raise errors.OperationalError('Error creating function')

    @by_position('name', 'n_arg', 'aggregate_class')
    def create_aggregate(self, name, n_arg, aggregate_class):
        """Define an aggregate.

        Args:
            name: its name in SQL (str).
            n_arg: how many arguments `step` has (int), -1 for any number.
            aggregate_class: class with the methods `step` and `finalize`; None removes it.
        Raises:
            OperationalError: the aggregate can't be defined.
        """
        if self._define_(name, n_arg, 0, DO_FINAL, aggregate_class):
            raise errors.OperationalError('Error creating aggregate')

    def create_window_function(self, name, num_params, aggregate_class, /):
        """Define an aggregate that can be used as a window function.

        Args:
            name: its name in SQL (str).
            num_params: how many arguments `step` and `inverse` have (int), -1 for any number.
            aggregate_class: class with `step`, `inverse`, `value` and `finalize`; None removes it.
        Raises:
            ProgrammingError: it can't be defined.
        """
        rc = self._define_(name, num_params, 0, DO_INVERSE, aggregate_class)
        if rc:
            raise errors.ProgrammingError(text(lib.sqlite3_errstr(rc)))
