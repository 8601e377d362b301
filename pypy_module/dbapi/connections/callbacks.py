"""What all calls from SQLite into Python share: the exceptions that can't pass through C."""

import sys
import types

from pypy_module.dbapi import errors, versions
from pypy_module.dbapi.deprecation import is_ours
from pypy_module.dbapi.mixin import Any
from pypy_module.ffi.library import NUMBERS, TRANSIENT, bytes_of, ffi, lib

ERROR, NOMEM, TOOBIG = NUMBERS['SQLITE_ERROR'], NUMBERS['SQLITE_NOMEM'], NUMBERS['SQLITE_TOOBIG']

DEAF = 64   # calls of functions from one `hear` to the next: it takes 55 ns, which is most of a short function's call
REFERENCE_COUNTS = sys.implementation.name == 'cpython'
UTF8 = 1  # SQLITE_UTF8


class Tracebacks:
    """Whether exceptions in callbacks are shown (see `enable_callback_tracebacks`)."""

    enabled = False


class TooBig(OverflowError):
    """A text or blob is longer than SQLite's limit: its own error, which no version of Python has made another."""


class Calls:
    """The calls of a connection's callbacks.

    Attributes:
        depth: how many are going on, one inside the other (int).
        raised: what a collation raised during the present call of SQLite, or None.
        deaf: calls of functions and collations that are left before signals are heard (int).
    """

    def __init__(self):
        self.depth = 0
        self.raised = None
        self.deaf = DEAF

    def hear(self):
        """Have Python deal with signals that have come: the machine code of PyPy's JIT looks for them only where a loop
        jumps back. Else neither Ctrl-C nor a signal's handler would be heard as long as a statement calls functions."""
        self.deaf = DEAF
        for _ in (None,):
            pass

    def hear_at_times(self):
        """The same, in one of DEAF calls."""
        self.deaf -= 1
        if self.deaf < 0:
            self.hear()


def enable_callback_tracebacks(enable, /):
    """Have exceptions in functions that SQLite calls shown, or not: by `sys.excepthook` in Python 3.9 and 3.10, by
    `sys.unraisablehook` from 3.11 on.

    Args:
        enable: bool; at first they aren't.
    """
    Tracebacks.enabled = bool(enable)


def _arguments_type():
    """Return the class of the arguments that CPython's own unraisable hook insists on."""
    class Failing:
        def __del__(self):
            raise RuntimeError

    found = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: found.append(type(unraisable))
    try:
        Failing()
    finally:
        sys.unraisablehook = hook
    return found[0]


def _traceback_here():
    """A traceback of the innermost frame that isn't this package's, or None."""
    frame: Any = sys._getframe()
    while frame is not None and is_ours(frame.f_globals.get('__name__', '')):
        frame = frame.f_back
    return frame and types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


def report(error, callable):
    """Show an exception that a callback raised, if such are to be shown.

    Args:
        error: the exception.
        callable: the user's object that was called.
    """
    if not Tracebacks.enabled:
        return
    traceback = error.__traceback__
    while traceback is not None and is_ours(traceback.tb_frame.f_globals.get('__name__', '')):
        traceback = traceback.tb_next
    if traceback is None:   # the user's code wasn't entered, or had returned: where SQL was run
        traceback = _traceback_here()
    try:
        _show(error, traceback, callable)
    except BaseException as other:      # the hook's own
        sys.__excepthook__(type(other), other, other.__traceback__)


def _show(error, traceback, callable):
    """Call the hook by which this version of Python shows an exception of a callback; see `report`."""
    if not versions.UNRAISABLE:
        sys.excepthook(type(error), error, traceback)
        return
    if REFERENCE_COUNTS:
        unraisable = _arguments_type()((type(error), error, traceback, None, callable))
    else:
        unraisable = types.SimpleNamespace(exc_type=type(error), exc_value=error,
                                           exc_traceback=traceback,
                                           err_msg='Exception ignored in', object=callable,
                                           extra_line='')
    sys.unraisablehook(unraisable)


def error_code(error):
    """Return SQLite's code (int) for what a user's function raised."""
    if isinstance(error, MemoryError) and versions.ERRORS_OF_FUNCTIONS:
        return NOMEM
    if isinstance(error, OverflowError) and (versions.ERRORS_OF_FUNCTIONS or type(error) is TooBig):
        return TOOBIG
    return ERROR


def error_message(error, message):
    """Return what SQLite is to say (str) when `error` was raised, for which this version of Python has `message`."""
    if message.endswith("'step' method not defined") and not versions.NO_STEP:
        return errors.ATTRIBUTE + str(error)
    if message.endswith("'finalize' method not defined") and not versions.NO_FINALIZE:
        return message.replace('not defined', 'raised error')
    return message


def fail(context, error, message, callable):
    """Have a function's call fail.

    Args:
        context: the `sqlite3_context *`.
        error: what the user's code raised.
        message: what SQLite is to say (str).
        callable: the user's object that was called.
    Returns:
        0, which tells the caller in C that the result is set.
    """
    code = error_code(error)
    if code == NOMEM:
        lib.sqlite3_result_error_nomem(context)
    elif code == TOOBIG:
        lib.sqlite3_result_error_toobig(context)
    else:
        lib.sqlite3_result_error(context, error_message(error, message).encode(), -1)
    report(error, callable)
    return 0


def result_blob(value):
    """Return the bytes of a function's result that is neither number nor text; raises ProgrammingError, BufferError."""
    try:
        return bytes_of(value)
    except TypeError:
        raise errors.ProgrammingError("User-defined functions cannot return '%s' values to SQLite"
                                      % errors.c_name(type(value))) from None


def result_bytes(context, data, is_text):
    """Set a text or blob (bytes) as a function's result; returns 0."""
    if len(data) > 2 ** 31 - 1:
        raise OverflowError('%s longer than INT_MAX bytes' % ('string is' if is_text else 'BLOB'))
    if is_text:
        lib.sqlite3_result_text(context, data, len(data), TRANSIENT)
    else:
        lib.sqlite3_result_blob(context, data, len(data), TRANSIENT)
    return 0


def context_of(cells):
    """Return the `sqlite3_context *` of the call whose frame (int64 array) this is."""
    return ffi.cast('sqlite3_context *', cells[0])
